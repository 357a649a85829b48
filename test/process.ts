import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import type { Test } from 'tap'

/** A Node process that serves HTTP, and what it has printed so far. */
export interface ServerProcess {
  readonly child: ChildProcess
  readonly address: string
  output (): string
  /** Sends SIGTERM and waits: the exit code. */
  stop (): Promise<number | null>
}

/** Starts a script on a free port and waits until it says where it listens; it is stopped when the test ends. */
export async function startServer (t: Pick<Test, 'teardown'>, script: string, { args = [], cwd, env = {} }: { args?: string[], cwd: string, env?: Record<string, string> }): Promise<ServerProcess> {
  const child = spawn(process.execPath, [script, ...args], { cwd, env: { PATH: process.env['PATH'], PORT: '0', ...env }, stdio: ['ignore', 'pipe', 'pipe'] })
  let printed = ''
  const listening = new Promise<string>((resolve, reject) => {
    const read = (chunk: Buffer): void => {
      printed += chunk.toString()
      const address = /http:\/\/127\.0\.0\.1:\d+/.exec(printed)?.[0]
      if (address !== undefined) resolve(address)
    }
    child.stdout.on('data', read)
    child.stderr.on('data', read)
    child.once('exit', (code) => reject(new Error(`${script} ended with ${code}:\n${printed}`)))
  })
  const stop = async (): Promise<number | null> => {
    if (child.exitCode !== null || child.signalCode !== null) return child.exitCode
    const exit = once(child, 'exit')
    child.kill('SIGTERM')
    await exit
    return child.exitCode
  }
  t.teardown(stop)
  return { child, address: await listening, output: () => printed, stop }
}
