import { NoConnection, Repeatable, toStatementError, type FailureRules } from '../engines/statement-failure.js'
import { errors, unavailable } from '../errors.js'
import { codeOf } from '../events/events.js'

/**
 * Returns the error to throw for a failure in code of the application, such as an authenticator or the hook
 * `beforeWrite`, which may use the database itself: REST_MODELS_UNAVAILABLE (503) if the database cannot serve now.
 * Returns any other failure as it is, also one that has a status of its own, or no code.
 */
export function toHostError (rules: FailureRules, failure: unknown): unknown {
  const isCoded = failure instanceof NoConnection || codeOf(failure) !== null
  if (!isCoded || Object(failure).statusCode !== undefined) return failure
  const error = toStatementError(rules, failure, 'read')
  if (error instanceof Repeatable) return unavailable({ cause: error.cause })
  return error instanceof errors.Unavailable ? error : failure
}
