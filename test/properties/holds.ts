import fc from 'fast-check'
import type { Test } from 'tap'

/** Every run tries the same values; `PROPERTY_SEED=…` tries others. */
const seed = Number(process.env['PROPERTY_SEED'] ?? 20240229)

/** Milliseconds after which the search for a smaller counterexample is given up. */
const longest = 20_000

/** Tries a property, whose checks throw, with `runs` random values; a failure prints the smallest counterexample and its seed. */
export async function holds<Values> (t: Test, runs: number, property: fc.IAsyncPropertyWithHooks<Values>): Promise<void> {
  await fc.assert(property, { seed, numRuns: runs, interruptAfterTimeLimit: longest, markInterruptAsFailure: true })
  t.pass(`held ${runs} times with seed ${seed}`)
}
