import {
  hasBooleanAdmin, isAdminFlag, madeUpUser, type MadeUpName, type MadeUpUser
} from '../../policy/made-up-users.js'
import type { Operation } from '../../policy/operations.js'
import type { AnyPolicy, Identity } from '../../policy/policy.js'
import { isPermitted, protectionOf } from '../../policy/protection.js'

/**
 * The audiences, widest first: who may do an operation. `anybody` includes clients that are not logged in, and `users`
 * means all who are logged in. `some users` means a part of these that only the policy itself knows.
 */
export const audiences = ['anybody', 'users', 'some users', 'admins', 'nobody'] as const
export type Audience = (typeof audiences)[number]

/**
 * Returns who may do an operation. If the policy lists the operation in `open`, this is `anybody`; if in `closed`, it
 * is `nobody`. Otherwise the policy is asked about two made-up users ({@link madeUpUser}), one without and one with the
 * rights of an admin, and it is recorded which of their properties it reads:
 *
 * - `users`: it permits the one without these rights
 * - `admins`: it permits only the admin. It reads no more of the other user than whether this user is an admin
 * - `nobody`: it refuses both, and would refuse every other user, too
 * - `some users`: it throws, or its answer may depend on more, such as a role
 */
export function audienceOf (policy: AnyPolicy, operation: Operation): Audience {
  const protection = protectionOf(policy, operation)
  if (protection === 'open') return 'anybody'
  if (protection === 'closed') return 'nobody'
  const user = askAbout(madeUpUser(policy, false), policy, operation)
  if (user.isPermitted === true) return 'users'
  if (user.isPermitted === undefined) return 'some users'
  const admin = askAbout(madeUpUser(policy, true), policy, operation)
  if (admin.isPermitted === true) return user.looksOnlyForAdmins ? 'admins' : 'some users'
  return user.isCertain && admin.isCertain ? 'nobody' : 'some users'
}

/** The answer of a policy when it is asked about a made-up user ({@link madeUpUser}), and which properties it read. */
interface Verdict {
  /**
   * True if the policy permits the operation to the user. Undefined if it throws; the other properties are then false.
   */
  readonly isPermitted: boolean | undefined
  /**
   * True if the policy certainly gives the same answer about all users of the same sort: about all admins if the
   * made-up user is an admin, otherwise about all other users. This is so if the policy read no property of the user.
   * It is also so if the policy read only `admin`, and `admin` is always true or false.
   */
  readonly isCertain: boolean
  /** True if the policy read nothing in the user, or only whether the user is an admin. */
  readonly looksOnlyForAdmins: boolean
}

function askAbout ({ identity }: MadeUpUser, policy: AnyPolicy, operation: Operation): Verdict {
  const looks: Array<PropertyKey | undefined> = []
  const user = watched(identity as Identity, (name) => { looks.push(name) })
  try {
    const answer = isPermitted(policy, user, operation)
    const looksOnlyForAdmins = looks.every(looksForAdmin(policy))
    const isCertain = looks.length === 0 || (looksOnlyForAdmins && hasBooleanAdmin(policy))
    return { isPermitted: answer, isCertain, looksOnlyForAdmins }
  } catch {
    return { isPermitted: undefined, isCertain: false, looksOnlyForAdmins: false }
  }
}

/**
 * Returns a function that takes the name of a user's property. It returns true if the property says only whether the
 * user is an admin. The property `admin` does. If neither `userAuth` nor `adminAuth` finds the users of the policy,
 * `isAdmin`, `staff` and others do, too. Without a name, the function returns false.
 */
export function looksForAdmin (policy: AnyPolicy): (name?: PropertyKey) => boolean {
  const isBoolean = hasBooleanAdmin(policy)
  return (name) => name === 'admin' || (!isBoolean && isAdminFlag(String(name)))
}

/**
 * Returns a proxy of a user. It calls `tell` with the name of each property that is read or tested for, and without a
 * name if the names of the properties are listed or the prototype is read.
 */
export function watched (user: Identity, tell: (name?: PropertyKey) => void): Identity {
  return new Proxy(user, {
    get: (target, name) => {
      tell(name)
      return Reflect.get(target, name)
    },
    has: (target, name) => {
      tell(name)
      return Reflect.has(target, name)
    },
    getOwnPropertyDescriptor: (target, name) => {
      tell(name)
      return Reflect.getOwnPropertyDescriptor(target, name)
    },
    ownKeys: (target) => {
      tell()
      return Reflect.ownKeys(target)
    },
    getPrototypeOf: (target) => {
      tell()
      return Reflect.getPrototypeOf(target)
    }
  })
}

const members: Readonly<Record<Audience, readonly MadeUpName[]>> = {
  anybody: ['nobody', 'user', 'admin'],
  users: ['user', 'admin'],
  'some users': ['user', 'admin'],
  admins: ['admin'],
  nobody: []
}

/**
 * True if a made-up user may belong to an audience. The user named `nobody` is a client that is not logged in, and
 * belongs only to the audience `anybody`.
 */
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
