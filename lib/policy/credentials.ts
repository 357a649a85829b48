import basicAuth from '@fastify/basic-auth'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Credentials } from './passwords.js'

const kCredentials = Symbol('rest-models.credentials')

/**
 * Reads HTTP Basic credentials with `@fastify/basic-auth`, which only parses the header here: its `validate` never
 * rejects, since a rejection without an Error lets a request in or hangs it, and its challenge carries a charset that
 * the service document's does not have.
 */
export async function readCredentials (scope: FastifyInstance): Promise<(request: FastifyRequest, reply: FastifyReply) => Credentials | undefined> {
  scope.decorateRequest(kCredentials, undefined)
  await scope.register(basicAuth, {
    validate: (username, password, request, _reply, done) => {
      request.setDecorator(kCredentials, { username, password })
      done()
    }
  })
  return (request, reply) => {
    // The plugin goes on at once, as `validate` does.
    scope.basicAuth(request, reply, () => {})
    return request.getDecorator<Credentials | undefined>(kCredentials)
  }
}
