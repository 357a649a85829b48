import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import type { Test } from 'tap'

/** A Node process that serves HTTP, and what it has printed so far. */
export interface ServerProcess {
  readonly child: ChildProcess
  readonly address: string
  output (): string
  /** Sends SIGTERM and waits: the exit code. */
  stop (): Promise<number | null>
}

/** What Node needs to be told to run TypeScript. */
export const typescript = ['--import=tsx'] as const

/** What Node needs to be told for a fault of an answer to end a process: see checked-apps.ts. */
export const checked = ['--import', new URL('../../dist/test/support/checked-apps.js', import.meta.url).href] as const

/**
 * Lets a process that fails by itself, such as by a fault of an answer, fail the process that has started it, whatever
 * a client makes of it.
 */
export function requireSound (child: ChildProcess, script: string, printed = () => 'see above'): void {
  child.once('close', (code) => { if (code === 1) throw new Error(`${script} has failed: ${printed()}`) })
}

/**
 * Milliseconds in which Fastify, after it has said that it listens, looks up other addresses of its host: it throws if
 * it is closed meanwhile.
 */
const settling = 500

/** More than this of what a server prints is not kept. */
const most = 2 ** 20

interface ServerOptions {
  readonly cwd: string
  readonly args?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  /** Why answers are not compared with the app's OpenAPI document; they are if absent. */
  readonly undocumented?: string | undefined
}

/** Starts a script on a free port and waits until it says where it listens; it is stopped when the test ends. */
export async function startServer (
  t: Pick<Test, 'teardown'>, script: string, { args = [], cwd, env = {}, undocumented }: ServerOptions
): Promise<ServerProcess> {
  const child = spawn(process.execPath, [...undocumented === undefined ? checked : [], script, ...args], {
    cwd, env: { PATH: process.env['PATH'], PORT: '0', ...env }, stdio: ['ignore', 'pipe', 'pipe']
  })
  let printed = ''
  let settled: Promise<void> | undefined
  const listening = new Promise<string>((resolve, reject) => {
    const read = (chunk: Buffer): void => {
      if (printed.length > most) return
      printed += chunk.toString()
      const address = /http:\/\/127\.0\.0\.1:\d+/.exec(printed)?.[0]
      if (address === undefined) return
      settled ??= pause(settling)
      resolve(address)
    }
    child.stdout.on('data', read)
    child.stderr.on('data', read)
    child.once('exit', (code) => reject(new Error(`${script} ended with ${code}:\n${printed}`)))
  })
  const stop = async (): Promise<number | null> => {
    await settled
    if (child.exitCode !== null || child.signalCode !== null) return child.exitCode
    const exit = once(child, 'exit')
    child.kill('SIGTERM')
    await exit
    return child.exitCode
  }
  t.teardown(stop)
  const address = await listening
  requireSound(child, script, () => printed)
  return { child, address, output: () => printed, stop }
}
