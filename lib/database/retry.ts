import pRetry, { type Options } from 'p-retry'
import type { Dialect, FailureKind } from '../engines/dialect.js'
import type { MaybePromise } from '../engines/executor.js'
import { errors, withRetryAfter } from '../errors.js'

/** Thrown when a rule of the database refuses a statement. The caller knows what that means for the client. */
export class StatementFailure extends Error {
  readonly kind: FailureKind
  constructor (kind: FailureKind, cause: unknown) {
    super(`The database refused a statement: ${kind}`, { cause })
    this.kind = kind
  }
}

/** Thrown when a statement may be repeated: nothing was executed, or executing it twice does no harm. */
class Repeatable extends Error {}

/** Up to 4 retries within 3 s: short enough for a client that waits, long enough for another node to take over. */
const retryOptions = {
  retries: 4, minTimeout: 50, factor: 2, maxTimeout: 800, maxRetryTime: 3000, randomize: true
} as const satisfies Options

/** Work that calls `reached` when it has a connection. If it fails before that, nothing was executed. */
type Work<Result> = (reached: () => void) => MaybePromise<Result>

/**
 * Does work, and repeats it after a pause if it certainly was not executed, or if a read lost its connection.
 *
 * @throws as run() of run.ts says
 */
export function withRetries<Result> (dialect: Dialect, isRead: boolean, work: Work<Result>): MaybePromise<Result> {
  const start = performance.now()
  const doAgain = async (failure: unknown): Promise<Result> => {
    if (!(failure instanceof Repeatable)) throw failure
    return await repeat(failure, performance.now() - start, async () => await attempt(dialect, isRead, work))
  }
  return catchFailure(doAgain, () => attempt(dialect, isRead, work))
}

/** Repeats work that failed. The failure counts as the first attempt, so that only failures pay for p-retry. */
async function repeat<Result> (first: Repeatable, took: number, attemptAgain: () => Promise<Result>): Promise<Result> {
  const maxRetryTime = Math.max(0, retryOptions.maxRetryTime - took)
  const shouldRetry = ({ error }: { error: Error }): boolean => error instanceof Repeatable
  const options = { ...retryOptions, maxRetryTime, shouldRetry }
  try {
    return await pRetry(async (number) => {
      if (number === 1) throw first
      return await attemptAgain()
    }, options)
  } catch (failure) {
    throw failure instanceof Repeatable ? unavailable(failure.cause) : failure
  }
}

function attempt<Result> (dialect: Dialect, isRead: boolean, work: Work<Result>): MaybePromise<Result> {
  let isReached = false
  const fail = (cause: unknown): never => {
    if (cause instanceof errors.Unavailable) throw cause
    // The failure may be logged, so it must hold no values of a record or a query.
    const told = cause instanceof Error ? dialect.discreet(cause) : cause
    throw judge(isReached ? failureKind(dialect, cause) : 'unexecuted', told, isRead)
  }
  return catchFailure(fail, () => work(() => { isReached = true }))
}

/** Calls `act`, and calls `onFailure` if it throws or its promise rejects. */
export function catchFailure<Result> (
  onFailure: (failure: unknown) => MaybePromise<Result>, act: () => MaybePromise<Result>
): MaybePromise<Result> {
  try {
    const result = act()
    return result instanceof Promise ? result.catch(onFailure) : result
  } catch (failure) {
    return onFailure(failure)
  }
}

function judge (kind: FailureKind | undefined, cause: unknown, isRead: boolean): unknown {
  if (kind === undefined) return cause
  if (kind === 'unexecuted' || (kind === 'lost' && isRead)) {
    return new Repeatable('The statement may be repeated', { cause })
  }
  return kind === 'lost' || kind === 'unavailable' ? unavailable(cause) : new StatementFailure(kind, cause)
}

function unavailable (cause: unknown): Error {
  return withRetryAfter(new errors.Unavailable({ cause }), 1)
}

function failureKind ({ codesOf, failures }: Dialect, failure: unknown): FailureKind | undefined {
  const code = failure instanceof Error ? codesOf(failure).find((name) => Object.hasOwn(failures, name)) : undefined
  return code === undefined ? undefined : failures[code]
}
