import { isDeepStrictEqual } from 'node:util'
import type { FastifyReply, FastifyRequest, preHandlerAsyncHookHandler } from 'fastify'
import { errors } from '../errors.js'
import type { Model } from '../model/define-model.js'
import { uuid } from '../values/values.js'
import type { Authenticate, Operation, Policy, PolicyUser } from './policy.js'
import { refuse } from './refusal.js'

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
  policy: Policy, authenticate: Authenticate, operation: Operation
): preHandlerAsyncHookHandler[] {
  if (policy.open.includes(operation)) return []
  if (policy.closed?.includes(operation)) return [async (_request, reply) => refuse(reply)]
  return [async (request: FastifyRequest, reply: FastifyReply) => {
    const user = await authenticate(request, reply)
    // A policy in JavaScript may give a user without an id, or a promise as an answer: neither may let anybody in.
    if (user == null || !isKey(user.id)) return refuse(reply)
    if (policy.permits(user, operation) !== true) throw new errors.Forbidden()
    request.setDecorator(kUser, user)
  }]
}

function isKey (id: unknown): boolean {
  return Number.isSafeInteger(id) || (typeof id === 'string' && uuid(id) === id)
}

/** True if a client that lists under one policy may also list a resource with the policy `guarded`. */
export function mayList (
  guarded: Policy, { policy, user }: { readonly policy: Policy, readonly user: PolicyUser | null }
): boolean {
  if (guarded.open.includes('list')) return true
  return user !== null && mayKnow(guarded, policy) && guarded.permits(user, 'list') === true
}

/** Returns the related models that no client who lists under a policy may filter through, whichever user it is. */
export function closedToAll (guarded: ReadonlyMap<Model, readonly Policy[]>, policy: Policy): ReadonlySet<Model> {
  const isKnown = !policy.open.includes('list')
  const mayBeListed = (other: Policy): boolean => other.open.includes('list') || (isKnown && mayKnow(other, policy))
  return new Set([...guarded].filter(([, policies]) => !policies.every(mayBeListed)).map(([model]) => model))
}

/** True if `guarded` may let a user of `policy` list: it does not close lists, and finds the same users. */
function mayKnow (guarded: Policy, policy: Policy): boolean {
  return guarded.closed?.includes('list') !== true && (guarded === policy || sharesLogin(guarded, policy))
}

/**
 * True if two policies find the same users. A policy without `login` shares its users with no other, although two
 * missing values are equal: nothing tells how it finds them.
 */
function sharesLogin ({ users, login }: Policy, other: Policy): boolean {
  return users !== undefined && users === other.users && login != null && isDeepStrictEqual(login, other.login)
}
