import assert from 'node:assert/strict'
import fc from 'fast-check'
import pLimit from 'p-limit'
import { batches, requestsIn, type Batch, type Delivery } from './batch.js'
import { openFuzzed, type FuzzedEngine } from './database.js'
import { deliver } from './deliver.js'
import { operationsOf } from './operations.js'
import { openSite, type Caller, type FuzzedSite } from './site.js'

export interface Wanted {
  readonly engine: FuzzedEngine
  /** At least so many are sent. */
  readonly requests: number
  readonly seed: number
  /** Told now and then how many were sent. */
  readonly progress?: (sent: number) => void
}

/** What was sent, and how it was answered. */
export interface Figures {
  readonly requests: number
  readonly connections: number
  readonly batches: number
  readonly seconds: number
  /** Answers by status. */
  readonly statuses: Readonly<Record<number, number>>
}

/** So many batches have one seed, and so many milliseconds, the search for a smaller example included. */
const round = 25
const longest = 60_000

/**
 * Sends random requests until there are enough.
 *
 * @throws with the first fault that any of them shows, the smallest requests that show it, and their seed
 */
export async function fuzz ({ engine, requests, seed, progress }: Wanted): Promise<Figures> {
  const site = await openSite(await openFuzzed(engine))
  const rejections = listen()
  const tally = { requests: 0, connections: 0, batches: 0, statuses: {} as Record<number, number> }
  const start = performance.now()
  try {
    const property = fc.asyncProperty(batches(operationsOf(site.document)), async (batch) => {
      if (tally.requests < requests) await runBatch(site, batch, tally, rejections.found)
    })
    for (let next = seed; tally.requests < requests; next++) {
      await fc.assert(property, {
        seed: next, numRuns: round, interruptAfterTimeLimit: longest, markInterruptAsFailure: true
      })
      progress?.(tally.requests)
    }
  } finally {
    rejections.stop()
    await site.close()
  }
  return { ...tally, seconds: (performance.now() - start) / 1000 }
}

/** Failures that nobody has waited for. */
function listen (): { readonly found: unknown[], stop (): void } {
  const found: unknown[] = []
  const note = (error: unknown): void => { found.push(error) }
  const events = ['unhandledRejection', 'uncaughtException', 'warning'] as const
  for (const event of events) process.on(event, note)
  return { found, stop: () => { for (const event of events) process.off(event, note) } }
}

type Tally = { requests: number, connections: number, batches: number, statuses: Record<number, number> }

async function runBatch (
  site: FuzzedSite, { caller, concurrency, deliveries }: Batch, tally: Tally, rejections: readonly unknown[]
): Promise<void> {
  await site.reset()
  const before = await site.rowsBeyond(caller)
  await pLimit(concurrency).map(deliveries, async (delivery) => {
    const answers = await deliver(site.app, delivery).catch((error: unknown) => {
      throw new Error(`${(error as Error).message}\n${shown(delivery)}`, { cause: error })
    })
    tally.requests += requestsIn(delivery).length
    if ('written' in delivery) tally.connections++
    for (const { status } of answers) tally.statuses[status] = (tally.statuses[status] ?? 0) + 1
  })
  await site.idle()
  tally.batches++
  if (site.undeclared[0] !== undefined) throw new Error(site.undeclared[0])
  if (rejections.length > 0) throw new Error('a failure that nobody has waited for', { cause: rejections[0] })
  requireSame(await site.rowsBeyond(caller), before, caller)
  const { statusCode } = await site.app.inject('/api/note/1/')
  if (statusCode !== 200) throw new Error(`afterwards a read is answered ${statusCode}`)
}

function requireSame (after: unknown, before: unknown, caller: Caller): void {
  try {
    assert.deepStrictEqual(after, before)
  } catch (cause) {
    throw new Error(`${caller} has changed rows that belong to others`, { cause })
  }
}

/** A delivery for a person. */
function shown (delivery: Delivery): string {
  return requestsIn(delivery).map((
    { method, target, headers, body }
  ) => `${method} ${target} ${JSON.stringify(headers)} ${body?.toString('latin1').slice(0, 1000) ?? ''}`).join('\n')
}
