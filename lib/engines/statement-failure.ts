import { errors, outcomeUnknown, unavailable } from '../errors.js'
import { codeOf } from '../events/events.js'
import type { Dialect, FailureKind } from './dialect.js'
import type { Query } from './executor.js'
import { propertyOf } from './failure-properties.js'

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

/**
 * Thrown when a statement, or the whole transaction that it belongs to, may be repeated: nothing was executed, or
 * executing it twice does no harm.
 */
export class Repeatable extends Error {}

/** Thrown when a database server gives no connection, so that certainly nothing was done. */
export class NoConnection extends Error {}

/** Code given to an error of the driver that has none, if the connection broke. */
export const lostCode = 'CONNECTION_LOST'
/**
 * Code of the error for a server that gives no answer in time. For a statement on MariaDB, the code is
 * `PROTOCOL_SEQUENCE_TIMEOUT` instead.
 */
export const noAnswerCode = 'NO_ANSWER'
/**
 * Code of the error for a statement that was not sent, because its connection has broken or still waits for another
 * answer.
 */
export const notSentCode = 'NOT_SENT'

/** Returns the error for a statement that was not sent, so that certainly nothing was done. */
export function notSent (): Error & { readonly code: string, readonly fatal: boolean } {
  const message = 'The statement was not sent: its connection has broken, or owes another answer'
  return Object.assign(new Error(message), { code: notSentCode, fatal: true })
}

/** Failures of the connections that the plugin opened. */
const driverFailures = new WeakSet<object>()

/**
 * Notes that a failure comes from a connection that the plugin opened, and returns it. Its properties may not show
 * that: the driver's error for a broken connection may have no code, or the code of any broken socket.
 */
export function markDriverFailure<Failure extends Error> (failure: Failure): Failure {
  driverFailures.add(failure)
  return failure
}

/**
 * True if a failure comes from a database driver: {@link markDriverFailure} has noted it, or its properties show it. If
 * false, its code says nothing about the database, because other errors of an application may have any code.
 */
export function isDriverFailure (failure: unknown): boolean {
  // PostgreSQL's errors have a severity, and MariaDB's an SQLSTATE.
  const isOfServer = ['severity', 'sqlState'].some((property) => propertyOf(failure, property) !== '')
  return isOfServer || propertyOf(failure, 'code').startsWith('SQLITE_') || driverFailures.has(Object(failure))
}

/** The part of a dialect that tells what a failure of the engine means. */
export type FailureRules = Pick<Dialect, 'codesOf' | 'failures' | 'toLoggable' | 'isEmbedded'>

/**
 * Work that had been sent to the engine when a statement failed. It decides what is known if no answer came:
 * - `nothing`: no connection was found, or the transaction could not begin
 * - `read`: a statement that changes nothing, so that executing it twice does no harm
 * - `uncommitted`: a statement of a transaction whose commit was not sent, and now never is, so that it is undone
 * - `write`: a write outside a transaction, or a commit
 */
export type Sent = 'nothing' | 'read' | 'uncommitted' | 'write'

/**
 * Returns the error to throw for the failure of a statement:
 * - {@link Repeatable} if the statement may be repeated
 * - {@link StatementFailure} if a rule of the database refuses it, or the engine cannot take a value
 * - REST_MODELS_UNAVAILABLE (503) if it certainly changed nothing
 * - REST_MODELS_OUTCOME_UNKNOWN (503) if it may have changed something
 * - the failure without values, if it has another reason
 */
export function toStatementError (rules: FailureRules, failure: unknown, sent: Sent): unknown {
  if (failure instanceof errors.Unavailable) return failure
  // The failure may be logged, so it must hold no values of a record or a query.
  const cause = failure instanceof Error ? rules.toLoggable(failure) : failure
  const kind = kindOf(rules, failure, sent)
  if (kind === undefined) return cause
  if (kind === 'lost' && codeOf(cause) === null) Object.assign(cause as Error, { code: lostCode })
  if (kind === 'unexecuted' || (kind === 'lost' && sent === 'read')) {
    return new Repeatable('The statement may be repeated', { cause })
  }
  if (kind === 'lost' && sent === 'write') return outcomeUnknown({ cause })
  return kind === 'lost' || kind === 'unavailable' ? unavailable({ cause }) : new StatementFailure(kind, cause)
}

/**
 * Returns the statement to run in place of one that failed because the engine cannot compare a text with the character
 * set of a column. It is the one that {@link Query.withoutIndex} returns: it compares without an index, or finds
 * nothing.
 *
 * @throws the failure itself if it has another reason, or if the query has no such statement
 */
export function withoutIndex (rules: FailureRules, failure: unknown, query: Query): Query {
  if (query.withoutIndex === undefined || failureKind(rules, failure) !== 'incomparable') throw failure
  return query.withoutIndex()
}

function kindOf (rules: FailureRules, failure: unknown, sent: Sent): FailureKind | undefined {
  const kind = failureKind(rules, failure)
  // Another connection of an embedded engine is no better: it opens the same file, whose lock this one has waited for.
  return sent === 'nothing' && !(rules.isEmbedded && kind === 'unavailable') ? 'unexecuted' : kind
}

/**
 * Returns the kind of a failure of the engine; undefined if it is none of {@link Dialect.failures}, but a fault of the
 * deployer or of this program.
 */
export function failureKind (
  { codesOf, failures }: Pick<FailureRules, 'codesOf' | 'failures'>, failure: unknown
): FailureKind | undefined {
  const code = failure instanceof Error ? codesOf(failure).find((name) => Object.hasOwn(failures, name)) : undefined
  return code === undefined ? undefined : failures[code]
}
