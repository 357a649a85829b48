import { errors, unavailable } from '../errors.js'
import type { Dialect, FailureKind } from './dialect.js'
import type { Query } from './executor.js'

/**
 * Thrown when a rule of the database refuses a statement, or the engine cannot take a value: `kind` tells which. The
 * caller knows what that means for the client.
 */
export class StatementFailure extends Error {
  readonly kind: FailureKind
  constructor (kind: FailureKind, cause: unknown) {
    super(`The database refused a statement: ${kind}`, { cause })
    this.kind = kind
  }
}

/** Thrown when a statement may be repeated: nothing was executed, or executing it twice does no harm. */
export class Repeatable extends Error {}

/** The part of a dialect that tells what a failure of the engine means. */
export type FailureRules = Pick<Dialect, 'codesOf' | 'failures' | 'discreet'>

/** Circumstances of a failed statement. */
interface Attempt {
  /** True if the statement changes nothing, so that executing it twice does no harm. */
  readonly isRead: boolean
  /** False if no connection was found, so that nothing was executed. */
  readonly isConnected: boolean
}

/**
 * Returns the error to throw for the failure of a statement: {@link Repeatable} if the statement may be repeated,
 * otherwise {@link StatementFailure}, REST_MODELS_UNAVAILABLE (503), or the failure without values.
 */
export function toStatementError (rules: FailureRules, failure: unknown, { isRead, isConnected }: Attempt): unknown {
  if (failure instanceof errors.Unavailable) return failure
  // The failure may be logged, so it must hold no values of a record or a query.
  const cause = failure instanceof Error ? rules.discreet(failure) : failure
  const kind = isConnected ? failureKind(rules, failure) : 'unexecuted'
  if (kind === undefined) return cause
  if (kind === 'unexecuted' || (kind === 'lost' && isRead)) {
    return new Repeatable('The statement may be repeated', { cause })
  }
  return kind === 'lost' || kind === 'unavailable' ? unavailable({ cause }) : new StatementFailure(kind, cause)
}

/**
 * Returns the statement to send in place of one that failed because the engine cannot compare a text with the character
 * set of a column.
 *
 * @throws the failure itself if it has another reason, or if the query has no such statement
 */
export function withoutIndex (rules: FailureRules, failure: unknown, query: Query): Query {
  if (query.withoutIndex === undefined || failureKind(rules, failure) !== 'incomparable') throw failure
  return query.withoutIndex()
}

function failureKind ({ codesOf, failures }: FailureRules, failure: unknown): FailureKind | undefined {
  const code = failure instanceof Error ? codesOf(failure).find((name) => Object.hasOwn(failures, name)) : undefined
  return code === undefined ? undefined : failures[code]
}
