import type { Database, Transaction } from 'better-sqlite3'
import { maxGroupMs } from '../event-loop-turn.js'
import type { Outcome } from '../executor.js'
import { isLocked } from './lock.js'

/** A queued write, and the functions that settle its promise. */
export interface Waiting {
  /** Milliseconds of `performance.now()` when the write was queued. */
  readonly since: number
  readonly write: () => Outcome
  readonly resolve: (outcome: Outcome) => void
  readonly reject: (failure: unknown) => void
}

/** Writes that were committed or have failed. */
interface Written {
  /** Functions that settle the promise of each write, in the order of the writes. */
  readonly settleEach: ReadonlyArray<() => void>
  /** Milliseconds that a write took on average, without the commit of the group. */
  readonly averageMs: number
}

/** Thrown when a write that failed has rolled back the earlier writes of its group. */
class GroupRolledBack extends Error {}

/**
 * Returns a function that commits waiting writes together, from the first on, until they have taken 10 ms or another
 * process has the lock. If a failure rolls back other writes, or the commit fails, each is written again by itself. The
 * function throws the failure if nothing was written because another process has the lock.
 *
 * @param beforeCommit  called before the commit of a group; if it throws, the group is rolled back, and each write is
 *   written again by itself
 */
export function groupWriter (database: Database, beforeCommit: () => void): (waiting: readonly Waiting[]) => Written {
  const requireNotRolledBack = (): void => { if (!database.inTransaction) throw new GroupRolledBack() }
  const together: Transaction<typeof writeEach> = database.transaction((waiting) => {
    const written = writeEach(waiting, requireNotRolledBack)
    beforeCommit()
    return written
  })
  return (waiting) => {
    try {
      return together.immediate(waiting, requireNotRolledBack)
    } catch (failure) {
      if (isLocked(failure)) throw failure
      return writeEach(waiting, () => {})
    }
  }
}

/**
 * Executes writes in their order, until they have taken 10 ms or another process has the lock. If the first write finds
 * the lock taken, throws its failure.
 *
 * @param check  called after each write; throws if the write has rolled back those before it
 */
function writeEach (waiting: readonly Waiting[], check: () => void): Written {
  const start = performance.now()
  const settleEach: Array<() => void> = []
  let took = 0
  for (const one of waiting) {
    const settleOrFailure = attempt(one)
    if (settleOrFailure instanceof Error) {
      if (settleEach.length > 0) break
      throw settleOrFailure
    }
    settleEach.push(settleOrFailure)
    check()
    took = performance.now() - start
    if (took > maxGroupMs) break
  }
  return { settleEach, averageMs: took / settleEach.length }
}

/** Executes one write. Returns a function that settles its promise; or the failure, if another process has the lock. */
function attempt ({ write, resolve, reject }: Waiting): (() => void) | Error {
  try {
    const outcome = write()
    return () => { resolve(outcome) }
  } catch (failure) {
    return isLocked(failure) ? failure : () => { reject(failure) }
  }
}
