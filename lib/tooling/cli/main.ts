#!/usr/bin/env node
import { once } from 'node:events'
import { realpathSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { runCommand } from './run.js'

process.exitCode = await runCommand(process.argv.slice(2), {
  out: (text) => console.log(text),
  err: (text) => console.error(text),
  interrupted: async () => await Promise.race(['SIGTERM', 'SIGINT'].map(async (signal) => await once(process, signal)))
})

// An app that was checked may keep timers and connections, which would keep the process.
if (isProgram(String(process.argv[1]))) {
  for (const stream of [process.stdout, process.stderr]) await new Promise((resolve) => stream.write('', resolve))
  process.exit()
}

/** Whether this file was started, by whichever link, and not imported. */
function isProgram (path: string): boolean {
  return realpathSync(path) === fileURLToPath(import.meta.url)
}
