import pRetry, { type Options } from 'p-retry'
import type { Dialect, FailureKind } from '../engines/dialect.js'
import type { MaybePromise } from '../engines/executor.js'
import { errors, withRetryAfter } from '../errors.js'

/** A statement that a rule of the database refused: the caller knows what it means for the client. */
export class StatementFailure extends Error {
  readonly kind: FailureKind
  constructor (kind: FailureKind, cause: unknown) {
    super(`The database refused a statement: ${kind}`, { cause })
    this.kind = kind
  }
}

/** Nothing was done, or what was done may be done again. */
class Repeatable extends Error {}

/** Short enough for a client that waits, long enough for another node to take over. */
const patience = { retries: 4, minTimeout: 50, factor: 2, maxTimeout: 800, maxRetryTime: 3000, randomize: true } as const satisfies Options

/** Work that says when it has a connection: what fails before was not executed. */
type Work<Result> = (reached: () => void) => MaybePromise<Result>

/**
 * Does work, again and after a pause if it certainly was not done.
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

/** What failed once already counts as the first of the attempts: only failures pay for the machinery. */
async function repeat<Result> (first: Repeatable, took: number, attemptAgain: () => Promise<Result>): Promise<Result> {
  const maxRetryTime = Math.max(0, patience.maxRetryTime - took)
  const options = { ...patience, maxRetryTime, shouldRetry: ({ error }: { error: Error }) => error instanceof Repeatable }
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
    // What is made of it may be logged.
    const told = cause instanceof Error ? dialect.discreet(cause) : cause
    throw judge(isReached ? failureKind(dialect, cause) : 'unexecuted', told, isRead)
  }
  return catchFailure(fail, () => work(() => { isReached = true }))
}

/** What is done, or, if it fails at once or later, what is made of the failure. */
export function catchFailure<Result> (onFailure: (failure: unknown) => MaybePromise<Result>, act: () => MaybePromise<Result>): MaybePromise<Result> {
  try {
    const result = act()
    return result instanceof Promise ? result.catch(onFailure) : result
  } catch (failure) {
    return onFailure(failure)
  }
}

function judge (kind: FailureKind | undefined, cause: unknown, isRead: boolean): unknown {
  if (kind === undefined) return cause
  if (kind === 'unexecuted' || (kind === 'lost' && isRead)) return new Repeatable('The statement may be repeated', { cause })
  return kind === 'lost' || kind === 'unavailable' ? unavailable(cause) : new StatementFailure(kind, cause)
}

function unavailable (cause: unknown): Error {
  return withRetryAfter(new errors.Unavailable({ cause }), 1)
}

function failureKind ({ codesOf, failures }: Dialect, failure: unknown): FailureKind | undefined {
  const code = failure instanceof Error ? codesOf(failure).find((name) => Object.hasOwn(failures, name)) : undefined
  return code === undefined ? undefined : failures[code]
}
