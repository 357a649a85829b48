import basicAuth from '@fastify/basic-auth'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Credentials } from './passwords.js'

const kCredentials = Symbol('rest-models.credentials')

/**
 * Returns a function that reads the HTTP Basic credentials of a request. `@fastify/basic-auth` only parses the header
 * here. Its `validate` never rejects, because a rejection without an Error lets a request in or hangs it. Its challenge
 * is not used, because it carries a charset, which the challenge of the service document does not have.
 */
export async function readCredentials (
  scope: FastifyInstance
): Promise<(request: FastifyRequest, reply: FastifyReply) => Credentials | undefined> {
  scope.decorateRequest(kCredentials, undefined)
  await scope.register(basicAuth, {
    validate: (username, password, request, _reply, done) => {
      request.setDecorator(kCredentials, { username, password })
      done()
    }
  })
  return (request, reply) => {
    // Nothing to do in the callback: the plugin calls it synchronously, because `validate` is synchronous.
    scope.basicAuth(request, reply, () => {})
    return request.getDecorator<Credentials | undefined>(kCredentials)
  }
}
