import type { FastifyRequest } from 'fastify'
import type { SecurityScheme } from './policy.js'

/**
 * True if a request carries credentials of a scheme, right or wrong. For `apiKey`, this looks at the header or cookie
 * that the scheme names. For any other scheme, and without a scheme, it looks at the header Authorization alone: other
 * credentials, such as a session cookie, are not seen.
 */
export function sendsCredentials ({ headers }: FastifyRequest, scheme: SecurityScheme | undefined): boolean {
  if (scheme?.type !== 'apiKey') return headers.authorization !== undefined
  const name = String(scheme['name'])
  return scheme['in'] === 'cookie'
    ? cookieNames(String(headers.cookie)).includes(name)
    : headers[name.toLowerCase()] !== undefined
}

function cookieNames (header: string): readonly string[] {
  return header.split(';').map((cookie) => cookie.split('=', 1).join().trim())
}
