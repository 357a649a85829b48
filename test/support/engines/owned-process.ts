import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import type { Socket } from 'node:net'
import { atExit } from './at-exit.js'

export interface ServerUser { readonly uid: number, readonly gid: number }

/** A program to run as a server, and how to end it. */
export interface Program {
  readonly file: string
  readonly args: readonly string[]
  /** The user it runs as; that of this process if absent. */
  readonly user: ServerUser | undefined
  /** Ends it at once, and whatever it has started. */
  readonly endsAtOnce: NodeJS.Signals
}

/** A program that this process runs: a direct child, which ends with this process at the latest. */
export interface OwnedProcess {
  readonly child: ChildProcess
  /** The last lines that it printed. */
  output (): string
  hasEnded (): boolean
  /** Sends a signal that ends it and waits for the end; after eight seconds, SIGKILL. */
  kill (signal: NodeJS.Signals): Promise<void>
}

const maxOutput = 4000
const patience = 8000

/**
 * A user without privileges to run servers as, since they refuse to be root's; undefined if this process is not root's.
 */
export function serverUser (preferred: string): ServerUser | undefined {
  if (process.getuid?.() !== 0) return undefined
  const users = new Map(readFileSync('/etc/passwd', 'utf8').split('\n')
    .map((line) => [line.split(':')[0], line.split(':')]))
  const [, , uid, gid] = users.get(preferred) ?? users.get('nobody') ?? []
  return { uid: Number(uid ?? 65534), gid: Number(gid ?? 65534) }
}

/** What every program is started with: messages in English, and nothing of the deployer's own. */
export function surroundings () {
  return { cwd: '/', env: { PATH: process.env['PATH'], LC_ALL: 'C' } }
}

/**
 * Starts a program in a process group of its own, so that a signal from the terminal reaches it through this process
 * alone.
 */
export function spawnOwned ({ file, args, user, endsAtOnce }: Program): OwnedProcess {
  const [first = '', ...rest] = [...tie(endsAtOnce), file, ...args]
  const child = spawn(first, rest, { ...user, ...surroundings(), detached: true, stdio: ['ignore', 'pipe', 'pipe'] })
  const forget = atExit(() => { send(child, endsAtOnce) })
  child.once('error', forget)
  child.once('exit', forget)
  // A server that nobody has stopped does not keep this process alive.
  child.unref()
  const hasEnded = (): boolean => child.pid === undefined || child.exitCode !== null || child.signalCode !== null
  return {
    child,
    hasEnded,
    output: readOutput(child),
    kill: async (signal) => { if (!hasEnded()) await end(child, signal) }
  }
}

function readOutput (child: ChildProcess): () => string {
  let printed = ''
  const add = (more: string): void => { printed = (printed + more).slice(-maxOutput) }
  for (const stream of [child.stdout, child.stderr] as unknown as Socket[]) {
    stream.on('data', (chunk: Buffer) => { add(chunk.toString()) })
    stream.unref()
  }
  child.once('error', (error) => { add(error.message) })
  return () => printed.trim()
}

async function end (child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  child.ref()
  const late = setTimeout(() => { send(child, 'SIGKILL') }, patience)
  send(child, signal)
  await once(child, 'exit')
  clearTimeout(late)
}

/** To the whole process group, and also to a server that was halted. */
function send ({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  for (const each of [signal, 'SIGCONT'] as const) {
    try {
      if (pid !== undefined) process.kill(-pid, each)
    } catch { /* it has just ended */ }
  }
}

/** On Linux, what ends a program even if this process is killed without a chance to do so. */
function tie (signal: NodeJS.Signals): string[] {
  const setpriv = '/usr/bin/setpriv'
  if (process.platform !== 'linux' || !existsSync(setpriv)) return []
  return [setpriv, '--pdeathsig', signal.slice('SIG'.length), '--']
}
