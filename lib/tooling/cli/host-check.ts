import { isIP } from 'node:net'
import type { onRequestHookHandler } from 'fastify'
import { errors } from '../../errors.js'

/**
 * Addresses to listen on that mean every network interface. The server is then reached at every address of the machine.
 */
const wildcardAddresses = new Set(['0.0.0.0', '::'])

/** True for `localhost` and loopback addresses, which only programs on this machine reach. */
export function isLoopback (host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'))
}

/** How a server listens, and who may use it. */
interface Listening {
  readonly host: string
  readonly write: boolean
  readonly hasCredentials: boolean
}

/**
 * Requires credentials if clients may write, and other machines can reach the host.
 *
 * @throws REST_MODELS_INVALID_OPTIONS with the remedies
 */
export function requireGuardedWrites ({ host, write, hasCredentials }: Listening): void {
  if (!write || hasCredentials || isLoopback(host)) return
  throw new errors.InvalidOptions(
    `With --write, everybody who reaches the port may write, so it does not listen on '${host}': ` +
    "add --user, which is 'credentials' of serveDatabase(), use 127.0.0.1, or write an app with a policy (see " +
    'introspect)')
}

/**
 * Returns a hook that answers 421 to a request whose Host header is malformed or names another server. Without this
 * check, another site could point its own name to this server. The browser would take both for one site, and the other
 * site's page could read the answers (DNS rebinding). `localhost` and loopback addresses pass.
 *
 * @param host  the address or name that the server listens on, which passes. If it means every network interface, all
 *   IP addresses pass, because no site can own one as a name
 */
export function hostCheck (host: string): onRequestHookHandler {
  return (request, _reply, done) => {
    done(isOwn(nameIn(request.host), host) ? undefined : new errors.MisdirectedRequest())
  }
}

function isOwn (name: string | undefined, host: string): boolean {
  if (name === undefined) return false
  return isLoopback(name) || name === host.toLowerCase() || (isIP(name) !== 0 && wildcardAddresses.has(host))
}

/** Returns the name or address in a Host header, without the port. Returns undefined if the header is malformed. */
function nameIn (header: string): string | undefined {
  const [, name = ''] = /^(\[[0-9a-f:.]+\]|[^:/?#@\s]+)(?::\d+)?$/i.exec(header) ?? []
  return name === '' ? undefined : name.replace(/^\[|\]$/g, '').toLowerCase()
}
