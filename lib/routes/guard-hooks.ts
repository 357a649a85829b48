import type {
  FastifyReply, FastifyRequest, preHandlerAsyncHookHandler, preHandlerHookHandler
} from 'fastify'
import { browserGuard, policyHooks } from '../policy/guard.js'
import { rowOf, writes, type Operation } from '../policy/operations.js'
import { readRecord, recordHook } from '../policy/owner.js'
import type { Authenticate } from '../policy/policy.js'
import { isPrivate } from '../policy/visibility.js'
import type { Resource } from '../resource/resource.js'
import { passOn } from '../response/failure.js'

/** How the users of a resource are found, and which other sites may send writes. */
interface GuardSetting {
  readonly authenticate: Authenticate
  readonly allowedOrigins: readonly string[]
}

type Hook = (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>

/**
 * Returns the preHandler hooks with which a route of the host does as an operation of a resource does before its
 * handler: it refuses writes that a browser sends for another site, and answers 401 and 403 by the policy. For an
 * operation on one record, on a path with `:id`, it also answers 404, and 403 to others than the owner.
 */
export function guardHooks (
  resource: Resource, operation: Operation, { authenticate, allowedOrigins }: GuardSetting
): Array<preHandlerHookHandler | preHandlerAsyncHookHandler> {
  const policy = policyHooks(resource, authenticate, operation) as readonly Hook[]
  return [
    ...isPrivate(resource, operation) ? [noStore] : [],
    refuseForeign(allowedOrigins),
    ...[...policy, ...recordHooks(resource, operation)].map(passingOn)
  ]
}

const noStore: preHandlerHookHandler = (_request, reply, done) => {
  reply.header('cache-control', 'no-store')
  done()
}

/** Returns a hook that refuses foreign writes. A route of the host may have any method, so it asks for that first. */
function refuseForeign (allowedOrigins: readonly string[]): preHandlerHookHandler {
  const guard = browserGuard(allowedOrigins)
  return function (request, reply, done) {
    if (['GET', 'HEAD'].includes(request.method)) done()
    else guard.call(this, request, reply, done)
  }
}

/** Returns a hook that fails as routes of a resource do: what has no status becomes a 500 that tells nothing. */
function passingOn (hook: Hook): preHandlerAsyncHookHandler {
  return async (request, reply) => {
    try {
      return await hook(request, reply)
    } catch (error) {
      return passOn(error, request)
    }
  }
}

/** Returns the hook that looks for the record. On a path without `:id` there is none to look for. */
function recordHooks (resource: Resource, operation: Operation): readonly Hook[] {
  if (rowOf(operation).path !== 'record') return []
  const look: Hook = writes.includes(operation)
    ? recordHook(resource)
    : async (request) => { await readRecord(request, resource) }
  return [async (request, reply) => { if (Object.hasOwn(Object(request.params), 'id')) await look(request, reply) }]
}
