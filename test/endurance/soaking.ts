import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { medianOf } from '../../benchmarks/statistics.js'
import { startServer } from '../support/process.js'
import { sendTraffic, type TrafficResult } from './traffic.js'
import type { Teardown } from './undo.js'

const site = resolve('dist/examples/site/main.js')
const connections = 20
const rate = 300

/** What a process uses at a moment. */
interface Usage {
  /** Bytes. */
  readonly rss: number
  readonly descriptors: number
  /** Bytes of the write-ahead log. */
  readonly wal: number
}

export interface SoakPlan {
  readonly folder: string
  readonly seconds: number
}

export interface SoakReport extends TrafficResult {
  readonly seconds: number
  /** Medians of the second tenth of the time, the first being for warming up, and of the last. */
  readonly rss: readonly [start: number, end: number]
  readonly descriptors: readonly [start: number, end: number]
  /** The largest that was seen. */
  readonly wal: number
}

/** What a report must keep to. */
export interface Bounds {
  /** Of the requests that are to be sent, how many, of 1, are answered in the time. */
  readonly answered: number
  /** Milliseconds. */
  readonly p99: number
  /** How many times the memory of the start. */
  readonly growth: number
}

/** Sends mixed traffic to the example app on a file, and looks at its process all the time. */
export async function soak (t: Teardown, { folder, seconds }: SoakPlan): Promise<SoakReport> {
  const path = join(folder, 'site.db')
  const { child, address, stop } = await startServer(t, site, { cwd: folder, env: { DATABASE_URL: `sqlite:${path}` } })
  const samples: Usage[] = []
  const timer = setInterval(() => { samples.push(usageOf(Number(child.pid), path)) }, seconds * 10)
  const result = await sendTraffic({ url: address, seconds, connections, rate }).finally(() => { clearInterval(timer) })
  if (await stop() !== 0) throw new Error('The app did not end as it should')
  const tenth = (number: number): readonly Usage[] =>
    samples.slice(Math.floor(samples.length * number / 10), Math.ceil(samples.length * (number + 1) / 10))
  const both = (what: keyof Usage): [number, number] =>
    [medianOf(tenth(1).map((usage) => usage[what])), medianOf(tenth(9).map((usage) => usage[what]))]
  return {
    ...result,
    seconds,
    rss: both('rss'),
    descriptors: both('descriptors'),
    wal: Math.max(...samples.map(({ wal }) => wal))
  }
}

function usageOf (pid: number, path: string): Usage {
  const pages = Number(readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1])
  return { rss: pages * 4096, descriptors: readdirSync(`/proc/${pid}/fd`).length, wal: statSync(`${path}-wal`).size }
}

/** What lies beyond the bounds, in words; nothing if all is well. */
export function beyond (
  { answered, seconds, p99, wrong, rss, descriptors, wal }: SoakReport, bounds: Bounds
): string[] {
  const claims: Array<readonly [isBroken: boolean, what: string]> = [
    [answered < rate * seconds * bounds.answered, `only ${answered} requests were answered`],
    [p99 > bounds.p99, `p99 is ${p99} ms`],
    [rss[1] > rss[0] * bounds.growth, `memory grew from ${mebibytes(rss[0])} to ${mebibytes(rss[1])}`],
    [descriptors[1] > descriptors[0] + connections, `open files grew from ${descriptors[0]} to ${descriptors[1]}`],
    [wal > 64 * 2 ** 20, `the write-ahead log grew to ${mebibytes(wal)}`]
  ]
  return [
    ...Object.entries(wrong).map(([what, times]) => `${times} times ${what}`),
    ...claims.filter(([isBroken]) => isBroken).map(([, what]) => what)
  ]
}

export function toLine ({ answered, seconds, p99, rss, descriptors, wal }: SoakReport): string {
  return [
    `${seconds / 60} minutes, ${answered} requests, p99 ${p99} ms`,
    `memory ${rss.map(mebibytes).join(' -> ')} (${(rss[1] / rss[0]).toFixed(2)})`,
    `open files ${descriptors.join(' -> ')}`, `write-ahead log at most ${mebibytes(wal)}`
  ].join(', ')
}

function mebibytes (bytes: number): string {
  return `${(bytes / 2 ** 20).toFixed(1)} MiB`
}
