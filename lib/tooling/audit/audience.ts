import type { Operation, Policy, PolicyUser } from '../../policy/policy.js'

/** Who may do something, from the widest circle to none; `some users` are those whom only the policy itself knows. */
export const audiences = ['anybody', 'users', 'some users', 'admins', 'nobody'] as const
export type Audience = (typeof audiences)[number]

/**
 * Asks a policy who may do an operation, by users who are made up. One that fails on a user whom it does not know, or says no even to
 * an admin, has reasons of its own to say yes: what is closed, it says itself.
 */
export function audienceOf (policy: Policy, operation: Operation): Audience {
  if (policy.open.includes(operation)) return 'anybody'
  if (policy.closed?.includes(operation) === true) return 'nobody'
  const id = policy.users === undefined || policy.users.columns[0].kind === 'key' ? 0 : '00000000-0000-0000-0000-000000000000'
  const isUserPermitted = permits(policy, { id, admin: false }, operation)
  if (isUserPermitted === true) return 'users'
  return isUserPermitted === false && permits(policy, { id, admin: true }, operation) === true ? 'admins' : 'some users'
}

/** Undefined if the policy fails. */
function permits (policy: Policy, user: PolicyUser, operation: Operation): boolean | undefined {
  try {
    return policy.permits(user, operation) === true
  } catch {
    return undefined
  }
}

/** Whether one circle holds everybody of the other. */
export function includes (wide: Audience, narrow: Audience): boolean {
  return audiences.indexOf(wide) <= audiences.indexOf(narrow)
}

/** The wider one of two. */
export function wider (one: Audience, other: Audience): Audience {
  return includes(one, other) ? one : other
}
