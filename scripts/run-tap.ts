import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { stripVTControlCharacters } from 'node:util'

/** What a run of tap, or another check, said. */
export interface Outcome {
  readonly name: string
  readonly passed: number
  readonly failed: number
  /** The exit code. */
  readonly code: number
  /** What failed: assertions with their diagnostics, tests and files, as lines of TAP; or what a check printed. */
  readonly failures: readonly string[]
}

const root = fileURLToPath(new URL('..', import.meta.url))
const summary = '# { total: '

/**
 * Matches the last line of a failed assertion. Lines with a time are those of tests and files, which say nothing that
 * their assertions have not said.
 */
const endOfFailure = /^ *(\.\.\.|not ok .* # time=[\d.]+ms)$/

/** What runs now, and the signal that ended it and forbids others. */
const running = new Set<ChildProcess>()
let signal: NodeJS.Signals | undefined

/** Lets a signal to this process end what runs: tap, which would wait for its tests, and the tests. */
export function listenForSignals (): void {
  for (const name of ['SIGINT', 'SIGTERM'] as const) {
    process.on(name, () => {
      if (signal === undefined) {
        endAll('SIGTERM')
        setTimeout(() => { endAll('SIGKILL') }, 3000).unref()
      }
      signal = name
    })
  }
}

function endAll (name: NodeJS.Signals): void {
  for (const { pid } of running) {
    try {
      if (pid !== undefined) process.kill(-pid, name)
    } catch { /* it has just ended */ }
  }
}

export function interruption (): NodeJS.Signals | undefined {
  return signal
}

/** The path of a program of node_modules. */
export const own = (program: string): string => `${root}/node_modules/.bin/${program}`

interface RunOptions {
  readonly env?: NodeJS.ProcessEnv
  /** Where the standard error goes: to `listen`, or to that of this process (default). */
  readonly errors?: 'pipe' | 'inherit'
  /** Gets what the program prints. */
  listen (chunk: Buffer): void
}

/** Runs a program in a process group of its own, all of which can be sent a signal. */
async function run (
  program: string, args: readonly string[], { env = {}, errors = 'inherit', listen }: RunOptions
): Promise<number> {
  const child = spawn(program, args, {
    cwd: root, env: { ...process.env, ...env }, detached: true, stdio: ['ignore', 'pipe', errors]
  })
  running.add(child)
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', listen)
  const [code] = await once(child, 'close') as [number | null]
  running.delete(child)
  return code ?? 1
}

/** Runs a program that checks something; what it prints is shown if it fails. */
export async function runCheck (name: string, program: string, args: readonly string[]): Promise<Outcome> {
  let printed = ''
  const code = await run(program, args, { errors: 'pipe', listen: (chunk) => { printed += chunk.toString() } })
  if (code === 0) return { name, passed: 1, failed: 0, code, failures: [] }
  return { name, passed: 0, failed: 1, code, failures: printed.trimEnd().split('\n') }
}

/** Builds tap with the plugins of .taprc, once for each installation: its first run would load all others, too. */
export async function buildTap (): Promise<void> {
  const built = readFileSync(`${root}/node_modules/@tapjs/test/test-built/dist/esm/index.js`, 'utf8')
  if (!built.includes('@tapjs/typescript')) return
  const { code, failures } = await runCheck('tap build', own('tap'), ['build'])
  if (code !== 0) throw new Error(`tap build ended with ${code}:\n${failures.join('\n')}`)
}

/** One run of tap, whose output goes straight through. */
export async function runTap (name: string, args: readonly string[], env: NodeJS.ProcessEnv): Promise<Outcome> {
  // Through the pipe, tap would not know that a person is looking on.
  const reporter = process.stdout.isTTY ? ['--reporter=base', '--color'] : []
  let rest = ''
  let totals = ''
  const failures: string[] = []
  let isFailure = false
  const listen = (chunk: Buffer): void => {
    process.stdout.write(chunk)
    const lines = (rest + chunk.toString()).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines.map(stripVTControlCharacters)) {
      if (line.startsWith(summary)) totals = line
      isFailure ||= /^ *not ok /.test(line)
      if (isFailure) failures.push(line)
      if (endOfFailure.test(line)) isFailure = false
    }
  }
  const code = await run(own('tap'), [...reporter, `--jobs=${2 * availableParallelism()}`, ...args], { env, listen })
  const count = (what: string): number => Number(new RegExp(`${what}: (\\d+)`).exec(totals)?.[1] ?? 0)
  return { name, passed: count('pass'), failed: count('fail'), code, failures }
}

export function toLine ({ name, passed, failed, code }: Outcome): string {
  const end = code !== 0 && failed === 0 ? `, but it ended with ${code}` : ''
  return `${name}: ${passed} passed, ${failed} failed${end}`
}
