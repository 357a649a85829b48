import pRetry, { type Options } from 'p-retry'
import { unavailable } from '../errors.js'
import type { Query } from './executor.js'
import { Repeatable } from './statement-failure.js'

/** Up to 4 retries within 3 s: short enough for a client that waits, long enough for another node to take over. */
const backoff = {
  retries: 4, minTimeout: 50, factor: 2, maxTimeout: 800, maxRetryTime: 3000, randomize: true
} as const satisfies Options

/**
 * Repeats a statement that failed, after pauses, as long as it fails with {@link Repeatable}: up to 4 times, within 3 s
 * of `start`. The failure counts as the first attempt, so that only failures pay for p-retry.
 *
 * @param failure  what the first attempt threw
 * @param start    time of `performance.now()`, in milliseconds, at which the first attempt began
 * @param attempt  runs the statement once more; it must throw {@link Repeatable} if the statement may be repeated again
 * @throws the failure itself if the statement must not be repeated; after the last attempt REST_MODELS_UNAVAILABLE
 *   (503) with Retry-After
 */
export async function retry<Result> (
  failure: unknown, start: number, attempt: () => Promise<Result>
): Promise<Result> {
  if (!(failure instanceof Repeatable)) throw failure
  const maxRetryTime = Math.max(0, backoff.maxRetryTime - (performance.now() - start))
  const shouldRetry = ({ error }: { error: Error }): boolean => error instanceof Repeatable
  try {
    return await pRetry(async (number) => {
      if (number === 1) throw failure
      return await attempt()
    }, { ...backoff, maxRetryTime, shouldRetry })
  } catch (last) {
    throw last instanceof Repeatable ? unavailable({ cause: last.cause }) : last
  }
}

/** True if a statement is a select, which changes nothing. */
export function isRead ({ query }: Query): boolean {
  return query.kind === 'SelectQueryNode'
}
