import type { Operation, Policy, PolicyUser } from '../policy/policy.js'

/** Who may do something, from the widest circle to none. */
export const audiences = ['anybody', 'users', 'admins', 'nobody'] as const
export type Audience = (typeof audiences)[number]

/** Asks a policy who may do an operation; one that fails on users whom it does not know is taken for one that asks for more. */
export function audienceOf (policy: Policy, operation: Operation): Audience {
  if (policy.open.includes(operation)) return 'anybody'
  const id = policy.users === undefined || policy.users.columns[0].kind === 'key' ? 0 : '00000000-0000-0000-0000-000000000000'
  if (permits(policy, { id, admin: false }, operation)) return 'users'
  return permits(policy, { id, admin: true }, operation) ? 'admins' : 'nobody'
}

function permits (policy: Policy, user: PolicyUser, operation: Operation): boolean {
  try {
    return policy.permits(user, operation) === true
  } catch {
    return false
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
