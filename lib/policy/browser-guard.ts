import type { FastifyRequest, onRequestHookHandler } from 'fastify'
import { errors } from '../errors.js'

/** Of OPTIONS there is no route. */
const safeMethods = ['GET', 'HEAD']
const ownSites = ['same-origin', 'none']

/**
 * Refuses writes that a browser sends for another site: browsers attach Basic credentials on their own, and a form
 * needs no preflight. Without both headers the client is not a browser.
 *
 * @returns an onRequest hook, which fails with REST_MODELS_FORBIDDEN (403)
 * @see https://www.w3.org/TR/fetch-metadata/ and RFC 6454, section 7
 */
export function browserGuard (allowedOrigins: readonly string[]): onRequestHookHandler {
  return (request, _reply, done) => {
    if (safeMethods.includes(request.method) || isOwn(request, allowedOrigins)) return done()
    request.log.info('Refused a write that a browser sent for another site')
    done(new errors.Forbidden())
  }
}

function isOwn (request: FastifyRequest, allowedOrigins: readonly string[]): boolean {
  const { origin, 'sec-fetch-site': site } = request.headers
  if (origin !== undefined && allowedOrigins.includes(origin)) return true
  if (site !== undefined) return ownSites.includes(String(site))
  return origin === undefined || origin === `${request.protocol}://${request.host}`
}
