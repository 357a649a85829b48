import {
  isDriverFailure, NoConnection, Repeatable, toStatementError, type FailureRules
} from '../engines/statement-failure.js'
import { errors, unavailable } from '../errors.js'

/**
 * Returns the error to throw for a failure in code of the application, such as an authenticator or the hook
 * `beforeWrite`: REST_MODELS_UNAVAILABLE (503) if a statement of this code failed because the database cannot serve
 * now. Returns any other failure as it is.
 */
export function toHostError (rules: FailureRules, failure: unknown): unknown {
  if (failure instanceof NoConnection) return unavailable({ cause: failure })
  if (!isDriverFailure(failure) || Object(failure).statusCode !== undefined) return failure
  const error = toStatementError(rules, failure, 'read')
  if (error instanceof Repeatable) return unavailable({ cause: error.cause })
  return error instanceof errors.Unavailable ? error : failure
}

/** Longest time of a timer of Node.js in milliseconds, 25 days. A timer with a longer time would end at once. */
const maxTimerMs = 2 ** 31 - 1

/**
 * Returns what code of the application returns, or throws what it throws.
 *
 * @param what  names the code for the log
 * @throws REST_MODELS_UNAVAILABLE (503) after `milliseconds`; the code goes on, but nobody waits for it
 */
export async function withinTime<Result> (
  milliseconds: number, what: string, call: () => Result | Promise<Result>
): Promise<Result> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      reject(unavailable({ cause: new Error(`${what} took longer than ${milliseconds} ms`) }))
    }, Math.min(milliseconds, maxTimerMs))
  })
  try {
    return await Promise.race([call(), late])
  } finally {
    clearTimeout(timer)
  }
}
