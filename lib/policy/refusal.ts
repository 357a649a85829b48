import type { FastifyReply } from 'fastify'
import { errors } from '../errors.js'

/** Sends the refusal of the service document, "Refusal response (401)", to the letter. */
export function refuse (reply: FastifyReply): FastifyReply {
  const { message } = new errors.AuthenticationFailed()
  return reply.code(401)
    .header('www-authenticate', 'Basic realm="Login Required"')
    .header('cache-control', 'no-store')
    .header('x-content-type-options', 'nosniff')
    .type('text/html; charset=utf-8')
    .send(message)
}
