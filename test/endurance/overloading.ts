import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect } from 'node:net'
import { join, resolve } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { text } from 'node:stream/consumers'
import type { Result } from 'autocannon'
import { basic } from '../support/site.js'
import { startWorker } from '../support/workers.js'
import type { LoopDelay } from './busy-app.js'
import type { Teardown } from './undo.js'

/** Milliseconds. */
const pause = 500

const autocannon = resolve('node_modules/autocannon/autocannon.js')

/** About a millisecond of work: a join, a search, a sort, and a hundred records. */
const costly = '/api/message/?user__username__ne=nobody&content__like=message%25&ordering=-content&limit=100'

export interface OverloadPlan {
  readonly folder: string
  /** How long the crowd stays each time. */
  readonly seconds: number
  /**
   * How often it comes. An app that sheds load may serve but its first requests, if the machine leaves it the time, and
   * refuse all that follow.
   */
  readonly visits: number
  /** Each sends its next request as soon as it has an answer. */
  readonly connections: number
  readonly slowSenders: number
  /** Rows that the costly list goes through. */
  readonly messages: number
  /** Whether the app has @fastify/under-pressure. */
  readonly sheds: boolean
}

export interface OverloadReport {
  /**
   * Answers with success per second to a single client, which keeps the app busy; less where the app puts some of its
   * requests off.
   */
  readonly capacity: number
  /** Requests per second that the crowd sent. */
  readonly offered: number
  /** How often the crowd was answered with each status; `none` if not at all. */
  readonly crowd: Readonly<Record<string, number>>
  /** Milliseconds. */
  readonly crowdP99: number
  readonly loop: LoopDelay
  readonly health: Probed
  readonly others: Probed
  readonly after: Probed
}

/** What a client saw that asks from time to time. */
export interface Probed {
  readonly statuses: Readonly<Record<string, number>>
  /** Milliseconds. */
  readonly p99: number
}

/** Lets a crowd loose on an app on SQLite, and asks as others do meanwhile. */
export async function overload (
  t: Teardown, { folder, seconds, visits, connections, slowSenders, messages, sheds }: OverloadPlan
): Promise<OverloadReport> {
  const app = startWorker<string | LoopDelay>(
    t, 'endurance/busy-app.ts', join(folder, `${sheds}.db`), String(messages), sheds ? 'sheds' : ''
  )
  const address = String(await app.next())
  const measureLoop = async (): Promise<LoopDelay> => { app.send('measure'); return await app.next() as LoopDelay }
  const alone = await visit(address, 1, Math.max(1, seconds / 5))
  const slow = Array.from({ length: slowSenders }, (_, index) => sendSlowly(address, index % 2 === 0))
  await measureLoop()
  const during = probing(visits * (seconds + pause / 1000))
  const [results, health, others] = await Promise.all([
    crowd(visits, async () => await visit(address, connections, seconds)), during(`${address}/health`),
    during(`${address}/api/message/1/`, { method: 'PUT', body: '{}', headers: { authorization: basic('alice') } })
  ])
  const loop = await measureLoop()
  for (const stop of slow) stop()
  await wait(pause)
  return {
    capacity: alone['2xx'] / alone.duration,
    offered: sum(results.map(({ requests }) => requests.sent)) / visits / seconds,
    crowd: statusesOf(results),
    crowdP99: Math.max(...results.map(({ latency }) => latency.p99)),
    loop,
    health,
    others,
    after: await probing(1)(`${address}/api/message/1/`)
  }
}

/** The same clients again and again, with pauses in which the app recovers. */
async function crowd (visits: number, visit: () => Promise<Result>): Promise<readonly Result[]> {
  const results: Result[] = []
  while (results.length < visits) {
    results.push(await visit())
    await wait(pause)
  }
  return results
}

async function visit (address: string, connections: number, seconds: number): Promise<Result> {
  return await runAutocannon(['-c', String(connections), '-d', String(seconds), '-t', '30', `${address}${costly}`])
}

function statusesOf (results: readonly Result[]): OverloadReport['crowd'] {
  const counts: Record<string, number> = { none: sum(results.map(({ errors }) => errors)) }
  for (const [status, { count = 0 }] of results.flatMap((
    { statusCodeStats = {} }
  ) => Object.entries(statusCodeStats))) counts[status] = (counts[status] ?? 0) + count
  return counts
}

function sum (numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}

/** In a process of its own, so that it and the clients of this process do not keep each other waiting. */
export function startAutocannon (args: readonly string[]) {
  return spawn(process.execPath, [autocannon, '-j', ...args], { stdio: ['ignore', 'pipe', 'ignore'] })
}

/** Starts it and returns what it measured. */
export async function runAutocannon (args: readonly string[]): Promise<Result> {
  const child = startAutocannon(args)
  const [printed] = await Promise.all([text(child.stdout), once(child, 'exit')])
  return JSON.parse(printed) as Result
}

/** Sends the beginning of a request, and then a byte from time to time. */
function sendSlowly (address: string, stopsInHeaders: boolean): () => void {
  const { hostname, port } = new URL(address)
  const socket = connect(Number(port), hostname)
  socket.on('error', () => {}).resume()
  socket.write(stopsInHeaders
    ? `GET /api/message/ HTTP/1.1\r\nHost: ${hostname}\r\nX-Slow: `
    : `PUT /api/message/1/ HTTP/1.1\r\nHost: ${hostname}\r\nContent-Length: 10000\r\n\r\n{"content":"`)
  const timer = setInterval(() => { socket.write('x') }, 200)
  return () => {
    clearInterval(timer)
    socket.destroy()
  }
}

function probing (seconds: number) {
  return async (url: string, request: RequestInit = {}): Promise<Probed> => {
    const statuses: Record<string, number> = {}
    const times: number[] = []
    for (const end = performance.now() + seconds * 1000; performance.now() < end; await wait(20)) {
      const start = performance.now()
      const status = await fetch(url, request).then(
        async (reply) => { await reply.arrayBuffer(); return String(reply.status) }, () => 'none'
      )
      times.push(performance.now() - start)
      statuses[status] = (statuses[status] ?? 0) + 1
    }
    times.sort((a, b) => a - b)
    return { statuses, p99: times[Math.floor(times.length * 0.99)] ?? NaN }
  }
}
