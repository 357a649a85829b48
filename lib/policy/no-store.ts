import type { onRequestHookHandler } from 'fastify'
import type { Protected } from './guard.js'
import type { Operation } from './operations.js'

const kPrivate = Symbol('rest-models.private')

/** The `config` of a route whose answers depend on who asks. */
export const privateConfig: object = { [kPrivate]: true }

/** True if the answers of an operation depend on who asks. */
export function isPrivate (
  { protections, scopeRule }: Pick<Protected, 'protections' | 'scopeRule'>, operation: Operation
): boolean {
  return protections[operation] !== 'open' || scopeRule !== undefined
}

/**
 * Forbids caches to keep an answer that may depend on who asks, refusals included: that of a route with
 * {@link privateConfig}, and any answer to a request with the header Authorization.
 */
export const noStore: onRequestHookHandler = (request, reply, done) => {
  const { headers, routeOptions: { config } } = request
  if (headers.authorization !== undefined || kPrivate in config) reply.header('cache-control', 'no-store')
  done()
}
