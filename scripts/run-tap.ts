import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { stripVTControlCharacters } from 'node:util'

/** What tap, or a check, said of a run. */
export interface Outcome {
  readonly name: string
  readonly passed: number
  readonly failed: number
  /** The exit code. */
  readonly code: number
  /** The assertions that failed, with their diagnostics, their tests and their files, as lines of TAP. */
  readonly failures: readonly string[]
}

const root = fileURLToPath(new URL('..', import.meta.url))
const tap = `${root}/node_modules/.bin/tap`
const summary = '# { total: '

/**
 * That of the diagnostics of an assertion. A test and a file, which have a time, say nothing that their assertions have
 * not said.
 */
const endOfFailure = /^ *(\.\.\.|not ok .* # time=[\d.]+ms)$/

/** The run under way, if any, and the signal that ended it and forbids others. */
let current: ChildProcess | undefined
let signal: NodeJS.Signals | undefined

/** Lets a signal to this process end the run under way: tap, which would wait for its tests, and the tests. */
export function listenForSignals (): void {
  for (const name of ['SIGINT', 'SIGTERM'] as const) {
    process.on(name, () => {
      if (signal === undefined) {
        sendToRun('SIGTERM')
        setTimeout(() => { sendToRun('SIGKILL') }, 3000).unref()
      }
      signal = name
    })
  }
}

function sendToRun (name: NodeJS.Signals): void {
  try {
    if (current?.pid !== undefined) process.kill(-current.pid, name)
  } catch { /* it has just ended */ }
}

export function interruption (): NodeJS.Signals | undefined {
  return signal
}

/** Makes tap have the plugins that .taprc names, and no others. */
export async function buildTap (): Promise<void> {
  const [code] =
    await once(spawn(tap, ['build'], { cwd: root, stdio: ['ignore', 'ignore', 'inherit'] }), 'close') as [number | null]
  if (code !== 0) throw new Error(`tap build ended with ${code}`)
}

/** One run of tap, whose output goes straight through. */
export async function runTap (name: string, args: readonly string[], env: NodeJS.ProcessEnv): Promise<Outcome> {
  // Through the pipe, tap would not know that a person is looking on.
  const reporter = process.stdout.isTTY ? ['--reporter=base', '--color'] : []
  const child = spawn(tap, [...reporter, `--jobs=${2 * availableParallelism()}`, ...args], {
    cwd: root,
    env: { ...process.env, ...env },
    // A process group of its own, all of which can be sent a signal.
    detached: true,
    stdio: ['ignore', 'pipe', 'inherit']
  })
  current = child
  let rest = ''
  let totals = ''
  const failures: string[] = []
  let isFailure = false
  child.stdout.on('data', (chunk: Buffer) => {
    process.stdout.write(chunk)
    const lines = (rest + chunk.toString()).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines.map(stripVTControlCharacters)) {
      if (line.startsWith(summary)) totals = line
      isFailure ||= /^ *not ok /.test(line)
      if (isFailure) failures.push(line)
      if (endOfFailure.test(line)) isFailure = false
    }
  })
  const [code] = await once(child, 'close') as [number | null]
  const count = (what: string): number => Number(new RegExp(`${what}: (\\d+)`).exec(totals)?.[1] ?? 0)
  return { name, passed: count('pass'), failed: count('fail'), code: code ?? 1, failures }
}

export function toLine ({ name, passed, failed, code }: Outcome): string {
  return `${name}: ${passed} passed, ${failed} ` +
    `failed${code !== 0 && failed === 0 ? `, but tap ended with ${code}` : ''}`
}
