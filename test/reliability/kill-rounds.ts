import type { ChildProcess } from 'node:child_process'
import { setTimeout as wait } from 'node:timers/promises'
import type { Test } from 'tap'
import { seeded, type Random } from '../../benchmarks/random.js'
import { waitFor } from '../support/engines/wait-for.js'
import { Ledger, type Fields } from './ledger.js'
import { writeUntilEnd } from './write-load.js'

const clients = 8

/** An app that is killed under load, and its database. */
export interface KillSite {
  start (t: Pick<Test, 'teardown'>): Promise<{ readonly child: ChildProcess, readonly address: string }>
  /** Kills the app, or its database server and then the app; `load` settles when no client is answered any more. */
  kill (child: ChildProcess, load: Promise<unknown>): Promise<void>
  /** True if the server is killed, so that clients are told 503. */
  readonly isServerKilled: boolean
  /** Reads the messages, and what is wrong with the database. */
  look (): Promise<{ readonly stored: ReadonlyMap<number, Fields>, readonly damages: readonly string[] }>
}

export interface KillPlan {
  readonly site: KillSite
  readonly rounds: number
  readonly seed: number
}

/** What came of the rounds so far. */
export interface KillReport {
  readonly rounds: number
  /** Writes that clients were told to have succeeded. */
  readonly acknowledged: number
  readonly lost: readonly string[]
  readonly halfDone: readonly string[]
  /** What is wrong with the database. */
  readonly damages: readonly string[]
}

/**
 * Kills an app with SIGKILL again and again while clients write to it, always on the same database.
 *
 * @yields the report after each round
 */
export async function * killRounds (
  t: Pick<Test, 'teardown'>, { site, rounds, seed }: KillPlan
): AsyncGenerator<KillReport> {
  const ledger = new Ledger()
  const random = seeded(seed)
  const found: Record<'lost' | 'halfDone' | 'damages', string[]> = { lost: [], halfDone: [], damages: [] }
  for (let round = 1; round <= rounds; round++) {
    await killOnce(t, { site, ledger, random, round })
    const { stored, damages } = await site.look()
    const { lost, halfDone } = ledger.settle(stored)
    found.lost.push(...lost)
    found.halfDone.push(...halfDone)
    found.damages.push(...damages)
    yield { rounds: round, acknowledged: ledger.acknowledged, ...found }
  }
}

interface Round {
  readonly site: KillSite
  readonly ledger: Ledger
  readonly random: Random
  readonly round: number
}

async function killOnce (t: Pick<Test, 'teardown'>, { site, ledger, random, round }: Round): Promise<void> {
  const { child, address } = await site.start(t)
  if (round === 1) ledger.begin((await site.look()).stored)
  const before = ledger.acknowledged
  const { isServerKilled: mayRefuse } = site
  const load = Promise.all(Array.from({ length: clients }, async (_, client) => await writeUntilEnd({
    address, ledger, random: seeded(random(2 ** 32)), name: `${round}.${client}`, mayRefuse
  })))
  await Promise.race([load, waitFor('a write is answered', async () => ledger.acknowledged > before)])
  await wait(50 + random(400))
  await site.kill(child, load)
  if (child.signalCode !== 'SIGKILL') throw new Error(`The app ended by itself: ${child.exitCode}`)
  await load
}
