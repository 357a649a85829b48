import { madeUpUser, type MadeUpName, type MadeUpUser } from '../../policy/made-up-users.js'
import type { Operation } from '../../policy/operations.js'
import type { AnyPolicy, Identity } from '../../policy/policy.js'
import { isPermitted, protectionOf } from '../../policy/protection.js'

/**
 * The audiences, widest first: who may do an operation. `some users` means a part of the users that only the policy
 * itself knows.
 */
export const audiences = ['anybody', 'users', 'some users', 'admins', 'nobody'] as const
export type Audience = (typeof audiences)[number]

/**
 * Returns the audience of an operation: `anybody` if the policy lists the operation as open, `nobody` if as closed.
 * Otherwise asks the policy about made-up users: `users` if it permits one who is no admin, `admins` if only an admin.
 * If it throws, or refuses both, returns `some users`: the policy then has its own reasons to permit somebody.
 */
export function audienceOf (policy: AnyPolicy, operation: Operation): Audience {
  const protection = protectionOf(policy, operation)
  if (protection === 'open') return 'anybody'
  if (protection === 'closed') return 'nobody'
  const isUserPermitted = permits(policy, madeUpUser(policy, false), operation)
  if (isUserPermitted === true) return 'users'
  const isAdminPermitted = isUserPermitted === false && permits(policy, madeUpUser(policy, true), operation) === true
  return isAdminPermitted ? 'admins' : 'some users'
}

/** Returns true if a policy permits an operation to a user, false if not, and undefined if the policy throws. */
function permits (policy: AnyPolicy, { identity }: MadeUpUser, operation: Operation): boolean | undefined {
  try {
    return isPermitted(policy, identity as Identity, operation)
  } catch {
    return undefined
  }
}

const members: Readonly<Record<Audience, readonly MadeUpName[]>> = {
  anybody: ['nobody', 'user', 'admin'],
  users: ['user', 'admin'],
  'some users': ['user', 'admin'],
  admins: ['admin'],
  nobody: []
}

/** True if a made-up user may belong to an audience. */
export function isMember (audience: Audience, { name }: Pick<MadeUpUser, 'name'>): boolean {
  return members[audience].includes(name)
}

/** True if an audience includes users who are not admins. Admins alone are no danger: they may do much anyway. */
export function isWide (audience: Audience): boolean {
  return includes(audience, 'some users')
}

/** True if `wide` stands before `narrow` in {@link audiences}, or is the same audience. */
export function includes (wide: Audience, narrow: Audience): boolean {
  return audiences.indexOf(wide) <= audiences.indexOf(narrow)
}

/** Returns the wider one of two audiences. */
export function wider (one: Audience, other: Audience): Audience {
  return includes(one, other) ? one : other
}
