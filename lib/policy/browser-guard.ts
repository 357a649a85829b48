import type { FastifyRequest, onRequestHookHandler } from 'fastify'
import { errors } from '../errors.js'

/** Values of Sec-Fetch-Site for requests of the same origin, and for those that the user makes directly. */
const ownSites = ['same-origin', 'none']

/**
 * Returns an onRequest hook for writes. It refuses those that a browser sends for another site, with
 * REST_MODELS_FORBIDDEN (403). Browsers attach Basic credentials by themselves, and a form needs no preflight. A
 * request with neither Origin nor Sec-Fetch-Site is not from a browser.
 *
 * @see https://www.w3.org/TR/fetch-metadata/ and RFC 6454, section 7
 */
export function browserGuard (allowedOrigins: readonly string[]): onRequestHookHandler {
  return (request, _reply, done) => {
    if (isOwn(request, allowedOrigins)) return done()
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
