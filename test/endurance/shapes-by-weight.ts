import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { findEngine, type EngineName } from '../support/engines/find-engine.js'
import { createDatabase } from '../support/engines/test-database.js'
import { bundleScript } from '../support/bundle-script.js'
import type { Teardown } from './undo.js'

export interface ShapePlan {
  readonly engine: 'sqlite' | EngineName
  /** For the file of SQLite. */
  readonly folder: string
  /** Different lists. */
  readonly shapes: number
  /** How often each is asked for. */
  readonly times: number
}

/** What is left in memory, in MiB. */
export interface ShapeReport {
  readonly process: number
  /** The most that the process had meanwhile, beyond what it had before. */
  readonly peak: number
  /** Of the ten connections on the server. */
  readonly server: number
  readonly seconds: number
  readonly statuses: Readonly<Record<string, number>>
  /** Microseconds of an ordinary list, before and after. */
  readonly ordinary: readonly [before: number, after: number]
}

/** MiB of heap: what an app in a small container may have. */
const heap = 256

/** Asks an app in a process of its own for lists of ever new shapes. */
export async function measureShapes (t: Teardown, { engine, folder, shapes, times }: ShapePlan): Promise<ShapeReport> {
  const url = await newDatabase(t, engine, folder)
  const child = fork(bundleScript('test/endurance/shape-app.ts'), [engine, url, String(shapes), String(times)], {
    execArgv: ['--expose-gc', `--max-old-space-size=${heap}`]
  })
  t.teardown(() => { child.kill('SIGKILL') })
  let report: ShapeReport | undefined
  child.on('message', (message) => { report = message as ShapeReport })
  const [code, signal] = await once(child, 'exit') as [number | null, string | null]
  if (report === undefined) throw new Error(`The app ended with ${String(code ?? signal)}`)
  return report
}

async function newDatabase (t: Teardown, engine: ShapePlan['engine'], folder: string): Promise<string> {
  if (engine === 'sqlite') return join(folder, `${process.hrtime.bigint()}.db`)
  const found = await findEngine(engine)
  if (found.url === undefined) throw new Error(`${engine}: ${found.why}`)
  t.teardown(found.stop)
  const { url, drop } = await createDatabase(found.url)
  t.teardown(drop)
  return url
}

/** One line for a person. */
export function toLine ({ process, peak, server, seconds, statuses, ordinary }: ShapeReport): string {
  const answers = Object.entries(statuses).map(([status, count]) => `${count} x ${status}`).join(' ')
  return `process +${process.toFixed(1)} MiB, at most +${peak.toFixed(1)} MiB; server +${server.toFixed(1)} MiB; ` +
    `${seconds.toFixed(1)} s; ${answers}; ` +
    `an ordinary list takes ${ordinary.map((time) => time.toFixed(0)).join(' µs before and ')} µs after`
}
