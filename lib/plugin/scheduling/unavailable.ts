import { errors, withRetryAfter } from '../../errors.js'

/** Returns the error for a request that is refused because of load, or because its client has gone. */
export function unavailable (): Error {
  return withRetryAfter(new errors.Unavailable(), 1)
}
