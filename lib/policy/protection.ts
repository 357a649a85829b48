import type { Model } from '../model/define-model.js'
import { isPlainObject } from '../plan/plan-scope.js'
import { ignoreRejection } from '../values/promises.js'
import { operations, type Operation } from './operations.js'
import type { AnyPolicy, Identity } from './policy.js'

/**
 * How a policy protects an operation. `open`: anybody may do it. `guarded`: users whom the policy permits may do it.
 * `closed`: nobody may do it.
 */
export type Protection = 'open' | 'guarded' | 'closed'

export type Protections = Readonly<Record<Operation, Protection>>

/** Returns for each operation if a policy leaves it open, guards it by `permits`, or closes it for everybody. */
export function compileProtections (policy: AnyPolicy): Protections {
  const rows = operations.map((operation) => [operation, protectionOf(policy, operation)])
  return Object.freeze(Object.fromEntries(rows) as Protections)
}

/**
 * True if a policy permits an operation to a user. Only `true` permits: a policy in JavaScript may return anything,
 * such as a promise.
 */
export function isPermitted (policy: AnyPolicy, user: Identity, operation: Operation): boolean {
  const verdict: unknown = policy.permits(user, operation)
  ignoreRejection(verdict)
  return verdict === true
}

/** Returns how a policy protects an operation. */
export function protectionOf ({ open, closed }: AnyPolicy, operation: Operation): Protection {
  if (open.includes(operation)) return 'open'
  return closed?.includes(operation) === true ? 'closed' : 'guarded'
}

/** The related models of a resource that not all of its clients may filter through or include. */
export interface RelatedProtection {
  /** Models that no client may filter through or include, whichever user it is. */
  readonly closedModels: ReadonlySet<Model>
  /**
   * Models that only some users may filter through and include, each with its policy. Those users are the ones whom
   * that policy permits to list the model.
   */
  readonly guardedModels: ReadonlyMap<Model, AnyPolicy>
}

/**
 * Decides, for each model that foreign keys lead to, whether the clients of a resource may filter through it and
 * include its records. The first rule that fits decides:
 *
 * - the model has no resource: all clients may
 * - everybody may list the model: all clients may
 * - nobody may list the model: no client may
 * - everybody may list the resource itself: no client may, because such a list needs no user
 * - `policy` finds users in another way than the policy of the model, or without a field that the policy of the model
 *   names in `fields`: no client may
 * - otherwise: those users may whom the policy of the model permits to list it
 *
 * @param policy  policy of the resource
 * @param related policy of the first registered resource of each related model
 */
export function compileRelatedProtection (
  policy: AnyPolicy, related: ReadonlyMap<Model, AnyPolicy>
): RelatedProtection {
  const isKnown = protectionOf(policy, 'list') !== 'open'
  const mayPermit = (other: AnyPolicy): boolean =>
    isOpen(other) || (isKnown && protectionOf(other, 'list') === 'guarded' && knowsUsersOf(other, policy))
  const closed = [...related].filter(([, other]) => !mayPermit(other))
  const guarded = [...related].filter(([, other]) => mayPermit(other) && !isOpen(other))
  return { closedModels: new Set(closed.map(([model]) => model)), guardedModels: new Map(guarded) }
}

function isOpen (policy: AnyPolicy): boolean {
  return protectionOf(policy, 'list') === 'open'
}

/**
 * True if the users that `other` finds can be given to `permits` of `policy` and to the scopes of its resources. This
 * is so if both policies find the same users, and `other` has all `fields` of `policy`. A policy without `login` shares
 * its users with no other policy, because nothing says how it finds them.
 */
export function knowsUsersOf (policy: AnyPolicy, other: AnyPolicy): boolean {
  if (policy === other) return true
  const { users, login, fields = [] } = policy
  // If `login` is a function, it finds the users by itself, so it alone says who they are.
  const areSame = typeof login === 'function' || (users !== undefined && users === other.users)
  return areSame && login != null && isSameLogin(login, other.login) &&
    fields.every((field) => other.fields?.includes(field))
}

/**
 * True if two logins are equal. Plain objects and arrays are compared by what they hold, and all else by identity: two
 * instances of a class may look equal, but differ in what they keep private.
 */
function isSameLogin (one: unknown, other: unknown): boolean {
  if (Object.is(one, other)) return true
  const areLists = Array.isArray(one) && Array.isArray(other)
  if (!areLists && !(isPlainObject(one) && isPlainObject(other))) return false
  const [parts, others] = [Object.entries(one), new Map<string, unknown>(Object.entries(other))]
  return parts.length === others.size && parts.every(([name, part]) => isSameLogin(part, others.get(name)))
}
