import type { Events } from '../../events/events.js'
import type { MaybePromise, Query } from '../executor.js'
import { propertyOf } from '../failure-properties.js'
import { repeatAfter } from '../retry.js'

/** Milliseconds that SQLite waits for a lock while it blocks the process. Other processes mostly hold it for less. */
export const busyTimeoutMs = 5

/** Milliseconds after which a statement that waits for the lock of another process fails. */
export const lockTimeoutMs = 2000

/** Pauses of 2 to 4 ms first, and of 25 ms from the fourth or fifth on. */
const backoff = { retries: Infinity, minTimeout: 2, factor: 2, maxTimeout: 25, randomize: true } as const

/**
 * True if another process has the lock that a statement needs. Then nothing was done, and the same statement may
 * succeed later.
 */
export function isLocked (failure: unknown): failure is Error {
  const code = propertyOf(failure, 'code')
  // A transaction whose snapshot is out of date can never succeed: it has to begin anew.
  return code.startsWith('SQLITE_BUSY') && code !== 'SQLITE_BUSY_SNAPSHOT'
}

/** Time limit for repeating an attempt, and the events that tell of the repetitions. */
interface Repeating {
  /** Milliseconds after which no further attempt is made. */
  readonly maxRetryTime: number
  readonly events: Events
  /** The statement, for its label in events; absent for a group of writes. */
  readonly query?: Query
}

/**
 * Repeats an attempt that found the database locked, after pauses in which the event loop goes on.
 *
 * @param failure  failure of the first attempt
 * @param attempt  runs the statement again; throws the driver's failure
 * @throws the failure of the last attempt; another failure than a lock ends the attempts at once
 */
export async function retryWhileLocked<Result> (
  failure: unknown, attempt: () => MaybePromise<Result>, { maxRetryTime, events, query }: Repeating
): Promise<Result> {
  return await repeatAfter(failure, attempt, {
    ...backoff,
    maxRetryTime,
    shouldRetry: ({ error }) => isLocked(error),
    start: performance.now(),
    events,
    label: query?.label
  })
}
