import type { FastifyRequest, onRequestHookHandler } from 'fastify'
import { errors, shownName } from '../errors.js'

/** Key under which a request says that its origin is permitted. */
export const kOrigin = Symbol('rest-models.origin')

/**
 * Values of the header Sec-Fetch-Site with which {@link browserGuard} lets a write through: a request of the same
 * origin, or one that the user makes directly.
 */
const permittedFetchSites = ['same-origin', 'none']

/**
 * Returns a hook for writes. The hook refuses a write that a browser sends for a page of another origin, even of
 * another subdomain, with REST_MODELS_FORBIDDEN (403), if `allowedOrigins` does not name that origin. Without this, the
 * page could write in the name of the user, because browsers attach Basic credentials by themselves, and a form needs
 * no preflight. A request with neither Origin nor Sec-Fetch-Site is not from a browser, and is let through.
 *
 * @see https://www.w3.org/TR/fetch-metadata/ and RFC 6454, section 7
 */
export function browserGuard (allowedOrigins: readonly string[]): onRequestHookHandler {
  return (request, _reply, done) => {
    if (isPermittedOrigin(request, allowedOrigins)) {
      request.setDecorator(kOrigin, true)
      return done()
    }
    const { origin } = request.headers
    request.log.info({ origin: origin && shownName(origin) },
      'Refused a write that a browser sent for a page of another site. If that site is yours, ' +
      "name its origin in the option 'allowedOrigins'")
    done(new errors.Forbidden())
  }
}

function isPermittedOrigin (request: FastifyRequest, allowedOrigins: readonly string[]): boolean {
  const { origin, 'sec-fetch-site': site } = request.headers
  if (origin !== undefined && allowedOrigins.includes(origin)) return true
  if (site !== undefined) return permittedFetchSites.includes(String(site))
  return origin === undefined || isOwnOrigin(origin, request)
}

/** The port that an origin leaves out, by the protocol. */
const defaultPorts = new Map([['http', ':80'], ['https', ':443']])

/**
 * True if an origin is that of the host of a request. Browsers write it in lower case, and without the port that the
 * protocol has by default; the header `Host` may have both.
 */
function isOwnOrigin (origin: string, { protocol, host }: FastifyRequest): boolean {
  const own = `${protocol}://${host.toLowerCase()}`
  return origin === own || `${origin}${defaultPorts.get(protocol)}` === own
}
