#!/usr/bin/env node
import { realpathSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { runCommand } from './run.js'
import { processTerminal } from './terminal.js'

process.exitCode = await runCommand(process.argv.slice(2), processTerminal)

// A checked app may leave timers and connections open, which would keep the process running.
if (isProgram(String(process.argv[1]))) {
  for (const stream of [process.stdout, process.stderr]) await new Promise((resolve) => stream.write('', resolve))
  process.exit()
}

/** True if this file was started as a program, directly or by a symbolic link, and not imported. */
function isProgram (path: string): boolean {
  return realpathSync(path) === fileURLToPath(import.meta.url)
}
