import { isDeepStrictEqual } from 'node:util'
import type { FastifyReply, FastifyRequest, preHandlerAsyncHookHandler } from 'fastify'
import { errors } from '../errors.js'
import type { Authenticate, Operation, Policy, PolicyUser } from './policy.js'
import { refuse } from './refusal.js'
import { uuid } from '../vocabulary/values.js'

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

/** Whether somebody may list what another policy guards: anybody may, or the user is one of that policy's own. */
export function mayList (guarded: Policy, { policy, user }: { readonly policy: Policy, readonly user: PolicyUser | null }): boolean {
  if (guarded.open.includes('list')) return true
  const isOneOfIts = guarded === policy || (guarded.users !== undefined && guarded.users === policy.users && isDeepStrictEqual(guarded.login, policy.login))
  return user !== null && isOneOfIts && guarded.permits(user, 'list') === true
}
