import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import Database from 'better-sqlite3'
import type { Test } from 'tap'
import { seeded, type Random } from '../../benchmarks/random.js'
import { waitFor } from '../support/engines/wait-for.js'
import { startServer } from '../support/process.js'
import { Ledger, type Fields } from './ledger.js'
import { endWorker } from '../support/workers.js'
import { writeUntilEnd } from './write-load.js'

const site = resolve('dist/examples/site/main.js')
const clients = 8

export interface KillPlan {
  /** An empty folder for the database. */
  readonly folder: string
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
  /** What SQLite finds wrong with the file. */
  readonly damages: readonly string[]
}

/**
 * Kills the example app with SIGKILL again and again while clients write to it, always on the same file.
 *
 * @yields the report after each round
 */
export async function * killRounds (
  t: Pick<Test, 'teardown'>, { folder, rounds, seed }: KillPlan
): AsyncGenerator<KillReport> {
  const path = join(folder, 'site.db')
  const ledger = new Ledger()
  const random = seeded(seed)
  const found: Record<'lost' | 'halfDone' | 'damages', string[]> = { lost: [], halfDone: [], damages: [] }
  for (let round = 1; round <= rounds; round++) {
    await killOnce(t, { path, ledger, random, round })
    const { stored, damages } = look(path)
    const { lost, halfDone } = ledger.settle(stored)
    found.lost.push(...lost)
    found.halfDone.push(...halfDone)
    found.damages.push(...damages)
    yield { rounds: round, acknowledged: ledger.acknowledged, ...found }
  }
}

interface Round {
  readonly path: string
  readonly ledger: Ledger
  readonly random: Random
  readonly round: number
}

async function killOnce (t: Pick<Test, 'teardown'>, { path, ledger, random, round }: Round): Promise<void> {
  const { child, address } = await startServer(t, site, {
    cwd: join(path, '..'), env: { DATABASE_URL: `sqlite:${path}` }
  })
  if (round === 1) ledger.begin(look(path).stored)
  const before = ledger.acknowledged
  const load = Array.from({ length: clients }, async (_, client) =>
    await writeUntilEnd({ address, ledger, random: seeded(random(2 ** 32)), name: `${round}.${client}` }))
  await Promise.race([Promise.all(load), waitFor('a write is answered', async () => ledger.acknowledged > before)])
  await wait(50 + random(400))
  await endWorker(child)
  if (child.signalCode !== 'SIGKILL') throw new Error(`The app ended by itself: ${child.exitCode}`)
  await Promise.all(load)
  if (!existsSync(`${path}-wal`)) throw new Error('The app could clean up, so nothing was tested')
}

/** Opens the file as the next process does, which recovers it first. */
function look (path: string): { readonly stored: ReadonlyMap<number, Fields>, readonly damages: readonly string[] } {
  const database = new Database(path)
  const integrity = database.pragma('integrity_check', { simple: true }) as string
  const dangling = database.pragma('foreign_key_check') as unknown[]
  const rows = database.prepare('select id, content, pub_date from message').all() as Array<Fields &
    { readonly id: number }>
  database.close()
  return {
    stored: new Map(rows.map(({ id, ...fields }) => [id, fields])),
    damages: [...integrity === 'ok' ? [] : [integrity], ...dangling.map((row) => JSON.stringify(row))]
  }
}
