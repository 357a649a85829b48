import pRetry, { type Options } from 'p-retry'

/** Milliseconds for which SQLite waits for a lock, and the whole process with it: other processes hold it for less in most cases. */
export const busyTimeout = 5

/** Milliseconds after which whoever waits for a lock is refused. */
export const lockTimeout = 2000

/** Pauses of 2 to 4 ms first, and of 25 ms from the fourth or fifth on. */
const backoff = { retries: Infinity, minTimeout: 2, factor: 2, maxTimeout: 25, randomize: true } as const satisfies Options

/** Whether another process has the lock that a statement needs, so that nothing was done, and the same statement may succeed later. */
export function isLocked (failure: unknown): failure is Error {
  const code = codeOf(failure)
  // A transaction whose snapshot is out of date stays that: it has to begin anew.
  return code.startsWith('SQLITE_BUSY') && code !== 'SQLITE_BUSY_SNAPSHOT'
}

function codeOf (failure: unknown): string {
  return failure instanceof Error && 'code' in failure ? String(failure.code) : ''
}

/**
 * Does again, after pauses in which the event loop goes on, what found the database locked.
 *
 * @param failure  what it threw at first
 * @param maxRetryTime  milliseconds after which it is given up
 * @throws what it threw at last
 */
export async function retryWhileLocked<Result> (failure: Error, attempt: () => Result | Promise<Result>, maxRetryTime: number): Promise<Result> {
  return await pRetry(async (number) => {
    if (number === 1) throw failure
    return await attempt()
  }, { ...backoff, maxRetryTime, shouldRetry: ({ error }) => isLocked(error) })
}
