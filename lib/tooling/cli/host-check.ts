import { isIP } from 'node:net'
import type { onRequestHookHandler } from 'fastify'
import { errors } from '../../errors.js'

const wildcards = new Set(['0.0.0.0', '::'])

/**
 * A hook that refuses requests for other names than this server's: a page of another site can have its own name lead here, and is
 * then no other site for the browser (DNS rebinding). An address is nobody else's name.
 *
 * @param host  the address or name that the server listens on
 */
export function hostCheck (host: string): onRequestHookHandler {
  return (request, _reply, done) => {
    done(isOwn(nameIn(request.host), host) ? undefined : new errors.MisdirectedRequest())
  }
}

function isOwn (name: string | undefined, host: string): boolean {
  if (name === undefined) return false
  if (name === 'localhost' || name === '::1' || name === host.toLowerCase()) return true
  return isIP(name) !== 0 && (name.startsWith('127.') || wildcards.has(host))
}

/** The name or address in a Host header, without the port; undefined if it is none. */
function nameIn (header: string): string | undefined {
  const [, name = ''] = /^(\[[0-9a-f:.]+\]|[^:/?#@\s]+)(?::\d+)?$/i.exec(header) ?? []
  return name === '' ? undefined : name.replace(/^\[|\]$/g, '').toLowerCase()
}
