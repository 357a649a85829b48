import type { FastifyRequest } from 'fastify'
import { errors } from '../errors.js'

/**
 * Hands every error on to the host's own error handler, or to Fastify's: what has a status as it is,
 * anything else as an internal error that tells the client nothing but the request's id.
 */
export function passOn (error: unknown, request: FastifyRequest): never {
  if (hasStatus(error)) throw error
  throw new errors.Internal(request.id, { cause: error })
}

/** Whether an Error has the status of one, or what a plugin of the host throws in its place for a client to read, as @fastify/rate-limit does. */
function hasStatus (error: unknown): boolean {
  const status = statusOf(error)
  return Number.isInteger(status) && Number(status) >= 400 && Number(status) < (error instanceof Error ? 600 : 500)
}

function statusOf (error: unknown): unknown {
  try {
    return (error as { readonly statusCode?: unknown } | null | undefined)?.statusCode
  } catch {
    return undefined
  }
}

/** Whether a status of a schema, such as `404` or `4xx`, is that of an error. */
export function isFailure (status: string | undefined): boolean {
  return status !== undefined && /^[45]/.test(status)
}

/** Serializes errors in Fastify's shape; what a host's own error handler answers instead is left as it is. */
export function serializeFailure (failure: unknown): string {
  if (!(failure instanceof Error)) return JSON.stringify(failure)
  const { statusCode, code, error, message, details } = failure as Error & Record<string, unknown>
  return JSON.stringify({ statusCode, code, error, message, details })
}
