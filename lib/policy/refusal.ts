import type { FastifyReply } from 'fastify'
import { errors } from '../errors.js'
import type { SecurityScheme } from './policy.js'

/**
 * Returns the challenge of a 401, the value of its header WWW-Authenticate. For HTTP Basic, and for a policy that names
 * no scheme, it is `Basic`. For the type `apiKey` it is `ApiKey`, and for any other scheme `Bearer`. Browsers ask for a
 * password only if the challenge is `Basic`.
 */
export function challengeOf (scheme: SecurityScheme | undefined): string {
  if (isBasic(scheme)) return 'Basic realm="Login Required"'
  return `${scheme?.type === 'apiKey' ? 'ApiKey' : 'Bearer'} realm="Login Required"`
}

/**
 * True for HTTP Basic, and without a scheme: a 401 is then the one of the service document, a text with a challenge for
 * which browsers ask for a password.
 */
export function isBasic (scheme: SecurityScheme | undefined): boolean {
  return scheme === undefined || (scheme.type === 'http' && scheme.scheme?.toLowerCase() === 'basic')
}

/**
 * Answers a request with 401. For HTTP Basic, and without a scheme, this sends the refusal of the service document,
 * "Refusal response (401)", to the letter.
 *
 * @returns a promise that never settles. If a hook's promise settled with the reply, Fastify would go on to the handler
 *   as soon as the client closes its connection while an onSend hook of the host is waiting.
 * @throws REST_MODELS_AUTHENTICATION_FAILED (401) if the policy has another scheme
 */
export async function refuse (reply: FastifyReply, scheme: SecurityScheme | undefined): Promise<never> {
  reply.header('www-authenticate', challengeOf(scheme))
  if (!isBasic(scheme)) throw new errors.AuthenticationFailed()
  const { message } = new errors.AuthenticationFailed()
  reply.code(401).header('x-content-type-options', 'nosniff').type('text/html; charset=utf-8').send(message)
  return await new Promise<never>(() => {})
}
