import type { FastifyRequest } from 'fastify'
import { errors } from '../errors.js'

/**
 * Hands every error on to the host's own error handler, or to Fastify's: what has a status as it is,
 * anything else as an internal error that tells the client nothing but the request's id.
 */
export function passOn (error: unknown, request: FastifyRequest): never {
  if (error instanceof Error && 'statusCode' in error) throw error
  throw new errors.Internal(request.id, { cause: error })
}
