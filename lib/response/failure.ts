import type { FastifyRequest } from 'fastify'
import { errors, isDeployerError } from '../errors.js'

/**
 * Throws an error, so that the application's own error handler or Fastify's answers it. An error with a status from 400
 * to 599 stays as it is, except one that only the deployer may see, such as that of `hashPassword()`. That one and any
 * other become an internal error that tells the client only the request's id.
 */
export function passOn (error: unknown, request: FastifyRequest): never {
  if (hasStatus(error) && !isDeployerError(error)) throw error
  throw new errors.Internal(request.id, { cause: error })
}

/**
 * True if a thrown value has a `statusCode` that clients may see. For an Error, this is one from 400 to 599. For any
 * other value, it is one from 400 to 499: a plugin of the application, such as @fastify/rate-limit, throws such a value
 * for a client to read.
 */
function hasStatus (error: unknown): boolean {
  const status = statusOf(error)
  return Number.isInteger(status) && Number(status) >= 400 && Number(status) < (error instanceof Error ? 600 : 500)
}

function statusOf (error: unknown): unknown {
  try {
    // An app may throw any value, even null, which has no properties.
    return Object(error).statusCode
  } catch {
    return undefined
  }
}

/** True if a status of a schema, such as `404` or `4xx`, is that of an error. */
export function isFailure (status: string | undefined): boolean {
  return status !== undefined && /^[45]/.test(status)
}

/**
 * Returns the JSON of an error: its status, code, the name of the status, its message, and its details if JSON can hold
 * them. Any other value, with which the application's own error handler may answer, becomes JSON as it is.
 */
export function serializeFailure (failure: unknown): string {
  if (!(failure instanceof Error)) return JSON.stringify(failure)
  const { statusCode, code, error, message, details } = failure as Error & Record<string, unknown>
  const basic = { statusCode, code, error, message }
  try {
    return JSON.stringify({ ...basic, details })
  } catch {
    // Details of the application's own error may be in a circle, or hold a BigInt.
    return JSON.stringify(basic)
  }
}
