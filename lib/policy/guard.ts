import type { FastifyReply, FastifyRequest, preHandlerAsyncHookHandler } from 'fastify'
import { errors } from '../errors.js'
import type { Model } from '../model/define-model.js'
import { uuid } from '../values/values.js'
import type { Operation } from './operations.js'
import type { Authenticate, Policy, PolicyUser } from './policy.js'
import type { Protections, RelatedProtection } from './protection.js'

/** Key under which a request keeps the user who sent it. */
export const kUser = Symbol('rest-models.user')

/**
 * Returns the user who sent a request, as found by the policy. It is null before the policy has run, if the operation
 * is open, and on routes of the host.
 */
export function userOf (request: FastifyRequest): PolicyUser | null {
  return kUser in request ? request.getDecorator<PolicyUser | null>(kUser) : null
}

/**
 * Returns the hooks that apply a policy before an operation; none if the operation is open. They answer 401 if the user
 * is unknown or the operation is closed, and 403 if the user may not do it.
 */
export function policyHooks (
  { policy, protections }: { readonly policy: Policy, readonly protections: Protections },
  authenticate: Authenticate,
  operation: Operation
): preHandlerAsyncHookHandler[] {
  const { [operation]: protection } = protections
  if (protection === 'open') return []
  if (protection === 'closed') return [async (_request, reply) => refuse(reply)]
  return [async (request: FastifyRequest, reply: FastifyReply) => {
    const user = await authenticate(request, reply)
    // A policy in JavaScript may give a user without an id, or a promise as an answer: neither may let anybody in.
    if (user == null || !isKey(user.id)) return refuse(reply)
    if (policy.permits(user, operation) !== true) throw new errors.Forbidden()
    request.setDecorator(kUser, user)
  }]
}

/** Sends the refusal of the service document, "Refusal response (401)", to the letter. */
function refuse (reply: FastifyReply): FastifyReply {
  const { message } = new errors.AuthenticationFailed()
  return reply.code(401)
    .header('www-authenticate', 'Basic realm="Login Required"')
    .header('cache-control', 'no-store')
    .header('x-content-type-options', 'nosniff')
    .type('text/html; charset=utf-8')
    .send(message)
}

function isKey (id: unknown): boolean {
  return Number.isSafeInteger(id) || (typeof id === 'string' && uuid(id) === id)
}

/** Returns the related models that the sender of a request may not list, and so may not filter through. */
export function modelsClosedTo (
  request: FastifyRequest, { closedModels, guardedModels }: RelatedProtection
): ReadonlySet<Model> {
  if (guardedModels.size === 0) return closedModels
  const user = userOf(request)
  const mayList = (policy: Policy): boolean => user !== null && policy.permits(user, 'list') === true
  const others = [...guardedModels].filter(([, policies]) => !policies.every(mayList)).map(([model]) => model)
  return new Set([...closedModels, ...others])
}
