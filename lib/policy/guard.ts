import { isDeepStrictEqual } from 'node:util'
import type { FastifyReply, FastifyRequest, preHandlerAsyncHookHandler } from 'fastify'
import { errors } from '../errors.js'
import type { Model } from '../model/define-model.js'
import { uuid } from '../values/values.js'
import type { Authenticate, Operation, Policy, PolicyUser } from './policy.js'
import { refuse } from './refusal.js'

/** Where a request keeps who sent it. */
export const kUser = Symbol('rest-models.user')

/** Who sent a request, as its policy has made out: null before that, where the operation is open, and on routes of the host. */
export function userOf (request: FastifyRequest): PolicyUser | null {
  return kUser in request ? request.getDecorator<PolicyUser | null>(kUser) : null
}

/** The hooks that stand before an operation: none if it is open; else 401 for nobody and 403 for whoever may not. */
export function policyHooks (policy: Policy, authenticate: Authenticate, operation: Operation): preHandlerAsyncHookHandler[] {
  if (policy.open.includes(operation)) return []
  if (policy.closed?.includes(operation)) return [async (_request, reply) => refuse(reply)]
  return [async (request: FastifyRequest, reply: FastifyReply) => {
    const user = await authenticate(request, reply)
    // A policy of JavaScript that gives no id, or a promise for an answer, must not let anybody in.
    if (user == null || !isKey(user.id)) return refuse(reply)
    if (policy.permits(user, operation) !== true) throw new errors.Forbidden()
    request.setDecorator(kUser, user)
  }]
}

function isKey (id: unknown): boolean {
  return Number.isSafeInteger(id) || (typeof id === 'string' && uuid(id) === id)
}

/** Whether somebody who lists under one policy may list what another one guards, too. */
export function mayList (guarded: Policy, { policy, user }: { readonly policy: Policy, readonly user: PolicyUser | null }): boolean {
  if (guarded.open.includes('list')) return true
  return user !== null && mayKnow(guarded, policy) && guarded.permits(user, 'list') === true
}

/** The related models that nobody may look through who lists under a policy, whoever that is. */
export function closedToAll (guarded: ReadonlyMap<Model, readonly Policy[]>, policy: Policy): ReadonlySet<Model> {
  const isKnown = !policy.open.includes('list')
  const mayBeListed = (other: Policy): boolean => other.open.includes('list') || (isKnown && mayKnow(other, policy))
  return new Set([...guarded].filter(([, policies]) => !policies.every(mayBeListed)).map(([model]) => model))
}

/** Whether who was made out under one policy may be somebody whom another lets list: it closes lists to nobody, and makes out the same people. */
function mayKnow (guarded: Policy, policy: Policy): boolean {
  return guarded.closed?.includes('list') !== true && (guarded === policy || sharesLogin(guarded, policy))
}

/** Policies without a login say nothing of whom they make out: nobody is known to both, though what neither has is equal. */
function sharesLogin ({ users, login }: Policy, other: Policy): boolean {
  return users !== undefined && users === other.users && login != null && isDeepStrictEqual(login, other.login)
}
