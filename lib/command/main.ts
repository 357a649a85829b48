#!/usr/bin/env node
import { once } from 'node:events'
import { runCommand } from './run.js'

process.exitCode = await runCommand(process.argv.slice(2), {
  out: (text) => console.log(text),
  err: (text) => console.error(text),
  interrupted: async () => await Promise.race(['SIGTERM', 'SIGINT'].map(async (signal) => await once(process, signal)))
})
