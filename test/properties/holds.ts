import fc from 'fast-check'
import type { Test } from 'tap'
import { engine } from '../support/database.js'
import { share } from '../support/share.js'

/** Every run tries the same values; `PROPERTY_SEED=…` tries others. */
export const seed = Number(process.env['PROPERTY_SEED'] ?? 20240229)

/** The part of the runs that is tried on each engine: on a server every statement takes a way through sockets. */
const engineShare = { sqlite: 1, postgres: 1 / 8, mariadb: 1 / 8 }[engine]

/** Milliseconds after which the search for a smaller counterexample is given up. */
const longest = 60_000

/**
 * Tries a property, whose checks throw, with `runs` random values, or with the engine's share of them; a failure prints
 * the smallest counterexample and its seed.
 */
export async function holds<Values> (
  t: Test, runs: number, property: fc.IAsyncPropertyWithHooks<Values>
): Promise<void> {
  const numRuns = Math.ceil(runs * engineShare * share)
  await fc.assert(property, { seed, numRuns, interruptAfterTimeLimit: longest, markInterruptAsFailure: true })
  t.pass(`held ${numRuns} times with seed ${seed}`)
}
