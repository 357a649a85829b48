import pRetry, { type Options } from 'p-retry'
import { unavailable } from '../errors.js'
import { codeOf, unlabelled, type Events } from '../events/events.js'
import type { RetryMessage, StatementLabel } from '../events/messages.js'
import type { MaybePromise, Query } from './executor.js'
import { Repeatable, type Sent } from './statement-failure.js'

/** Up to 4 retries within 3 s: short enough for a client that waits, long enough for another node to take over. */
const backoff = {
  retries: 4, minTimeout: 50, factor: 2, maxTimeout: 800, maxRetryTime: 3000, randomize: true
} as const satisfies Options

/**
 * Runs a statement, or a whole transaction. If it fails with {@link Repeatable}, it is repeated after pauses: up to 4
 * times, of which none begins more than 3 s after the first attempt.
 *
 * @param attempt  runs it once; throws {@link Repeatable} if it may be repeated
 * @param events   is told if it had to be repeated
 * @throws what the last attempt threw, but REST_MODELS_UNAVAILABLE (503) with Retry-After instead of
 *   {@link Repeatable}
 */
export async function withRetries<Result> (
  attempt: () => Promise<Result>, events?: Events, label?: StatementLabel
): Promise<Result> {
  const start = performance.now()
  try {
    return await attempt()
  } catch (failure) {
    if (!(failure instanceof Repeatable)) throw failure
    const maxRetryTime = Math.max(0, backoff.maxRetryTime - (performance.now() - start))
    const shouldRetry = ({ error }: { error: Error }): boolean => error instanceof Repeatable
    return await repeatAfter(failure, attempt, { ...backoff, maxRetryTime, shouldRetry, start, events, label })
      .catch((last: unknown) => { throw last instanceof Repeatable ? unavailable({ cause: last.cause }) : last })
  }
}

/** Options of p-retry, and what events tell of the repetitions. */
interface Repeating extends Options {
  /** Milliseconds of `performance.now()` from which on the duration is counted. */
  readonly start: number
  readonly events: Events | undefined
  readonly label: StatementLabel | undefined
}

/**
 * Repeats an attempt that has failed. The caller makes the first attempt without p-retry, because p-retry costs time
 * even if no repetition is needed. Here p-retry gets the failure as that of its attempt 1. If there was a second
 * attempt, publishes the event `retry` at the end.
 *
 * @param failure  failure of the first attempt
 * @throws the failure of the last attempt
 */
export async function repeatAfter<Result> (
  failure: unknown, attempt: () => MaybePromise<Result>, { start, events, label = unlabelled, ...options }: Repeating
): Promise<Result> {
  let attempts = 1
  const publish = (outcome: RetryMessage['outcome']): void => {
    if (attempts === 1) return
    const duration = performance.now() - start
    events?.publish('retry', { ...label, outcome, code: codeOf(failure), attempts, duration })
  }
  return await pRetry(async (number) => {
    attempts = number
    if (number === 1) throw failure
    return await attempt()
  }, options).then((result) => { publish('done'); return result }, (last: unknown) => { publish('failed'); throw last })
}

/**
 * True if a statement is a select made by Kysely's query builder, which changes nothing. False for raw SQL, even for a
 * select.
 */
export function isRead ({ query }: Query): boolean {
  return query.kind === 'SelectQueryNode'
}

/**
 * Returns the value of {@link Sent} for a statement outside a transaction: `read` if {@link isRead} is true, otherwise
 * `write`.
 */
export function effectOf (query: Query): Extract<Sent, 'read' | 'write'> {
  return isRead(query) ? 'read' : 'write'
}
