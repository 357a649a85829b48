import { isIP } from 'node:net'
import type { onRequestHookHandler } from 'fastify'
import { errors } from '../../errors.js'

/**
 * Addresses to listen on that mean every network interface. The server is then reached at every address of the machine.
 */
const wildcardAddresses = new Set(['0.0.0.0', '::'])

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
  if (name === 'localhost' || name === '::1' || name === host.toLowerCase()) return true
  return isIP(name) !== 0 && (name.startsWith('127.') || wildcardAddresses.has(host))
}

/** Returns the name or address in a Host header, without the port. Returns undefined if the header is malformed. */
function nameIn (header: string): string | undefined {
  const [, name = ''] = /^(\[[0-9a-f:.]+\]|[^:/?#@\s]+)(?::\d+)?$/i.exec(header) ?? []
  return name === '' ? undefined : name.replace(/^\[|\]$/g, '').toLowerCase()
}
