import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { Test } from 'tap'
import { startServer, type ServerProcess } from '../support/process.js'

/** The programs that pages call by `npx`. */
const programs: Readonly<Record<string, string>> = {
  'fastify-rest-models': resolve('dist/lib/tooling/cli/main.js'),
  fastify: resolve('node_modules/fastify-cli/cli.js')
}
/** Commands that go on, and what makes them take any free port. */
const servers: Readonly<Record<string, readonly string[]>> = { serve: ['--port', '0'], start: ['--port', '0'] }

interface Ran {
  /** What a terminal shows: both outputs, in their order. */
  readonly shown: () => string
  readonly server?: ServerProcess
}

/** Runs a command of a page as `npx` does in a folder, to its end or until it serves. */
export async function npx (t: Pick<Test, 'teardown'>, words: readonly string[], folder: string): Promise<Ran> {
  const [name = '', command = '', ...others] = words
  const program = programs[name]
  if (program === undefined) throw new Error(`'npx ${name}' is not run`)
  const port = servers[command]
  if (port === undefined) return { shown: await runToEnd([program, command, ...others], folder) }
  const server = await startServer(t, program, { args: [command, ...port, ...others], cwd: folder })
  // For what it prints after its address.
  await pause(500)
  return { server, shown: () => server.output().replaceAll(server.address, 'http://127.0.0.1:3000') }
}

/** Both outputs go to one file: of two pipes, nobody knows which was written to first. */
async function runToEnd (args: readonly string[], cwd: string): Promise<() => string> {
  const folder = mkdtempSync(join(tmpdir(), 'npx-'))
  const path = join(folder, 'output')
  const file = openSync(path, 'w')
  const env = { PATH: process.env['PATH'] }
  const child = spawn(process.execPath, args, { cwd, env, stdio: ['ignore', file, file] })
  await once(child, 'exit')
  closeSync(file)
  const text = readFileSync(path, 'utf8')
  rmSync(folder, { recursive: true })
  return () => text
}
