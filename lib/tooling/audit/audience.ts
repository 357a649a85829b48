import type { Operation } from '../../policy/operations.js'
import type { Policy, PolicyUser } from '../../policy/policy.js'
import { protectionOf } from '../../policy/protection.js'

/**
 * The audiences of an operation, widest first. `some users` means a part of the users that only the policy itself
 * knows.
 */
export const audiences = ['anybody', 'users', 'some users', 'admins', 'nobody'] as const
export type Audience = (typeof audiences)[number]

/**
 * Returns the audience of an operation: `anybody` or `nobody` if the policy lists the operation as open or closed.
 * Otherwise the function asks the policy about a made-up user and a made-up admin. If the policy throws, or refuses
 * even the admin, the answer is `some users`: the policy then has its own reasons to permit somebody.
 */
export function audienceOf (policy: Policy, operation: Operation): Audience {
  const protection = protectionOf(policy, operation)
  if (protection === 'open') return 'anybody'
  if (protection === 'closed') return 'nobody'
  const isIntegerKey = policy.users === undefined || policy.users.primaryKey.kind === 'key'
  const id = isIntegerKey ? 0 : '00000000-0000-0000-0000-000000000000'
  const isUserPermitted = permits(policy, { id, admin: false }, operation)
  if (isUserPermitted === true) return 'users'
  return isUserPermitted === false && permits(policy, { id, admin: true }, operation) === true ? 'admins' : 'some users'
}

/** Returns true if a policy permits an operation to a user, false if not, and undefined if the policy throws. */
function permits (policy: Policy, user: PolicyUser, operation: Operation): boolean | undefined {
  try {
    return policy.permits(user, operation) === true
  } catch {
    return undefined
  }
}

/** True if everybody in `narrow` is in `wide`, too. */
export function includes (wide: Audience, narrow: Audience): boolean {
  return audiences.indexOf(wide) <= audiences.indexOf(narrow)
}

/** Returns the wider one of two audiences. */
export function wider (one: Audience, other: Audience): Audience {
  return includes(one, other) ? one : other
}
