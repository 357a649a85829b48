import { kindDocumentation } from '../fields/kind-documentation.js'
import { valueKindOf, type Column } from '../model/column.js'
import type { Json } from '../values/values.js'
import type { AnyPolicy, Identity } from './policy.js'

/**
 * Names of the users whom the command `check` and the OpenAPI document make up, to ask a policy or a scope about them.
 * `nobody` is a client that is not logged in.
 */
export type MadeUpName = 'nobody' | 'user' | 'admin'

/** A user who does not exist, made up to find out what a policy or a scope permits to such users. */
export interface MadeUpUser {
  readonly name: MadeUpName
  /** The user as a policy or a scope gets it; null for {@link nobody}. */
  readonly identity: Identity | null
  /**
   * Names of the user's properties, such as `user.company`, by their made-up values. Values that several properties may
   * have, such as `false`, are left out.
   */
  readonly names: ReadonlyMap<unknown, string>
}

/** A client that is not logged in. */
export const nobody: MadeUpUser = Object.freeze({ name: 'nobody', identity: null, names: new Map() })

/**
 * Makes up a user of a policy: an admin or not. Under `userAuth` and `adminAuth`, the user has the id, `admin` and the
 * fields that the option `fields` names, with made-up values of their kinds. Under any other policy, the user has every
 * property: `id` is a made-up key, flags such as `admin` have the value of `isAdmin`, and every other property is a
 * {@link placeholder}.
 */
export function madeUpUser (policy: AnyPolicy, isAdmin: boolean): MadeUpUser {
  const key = policy.users?.primaryKey
  const columns = furtherColumns(policy)
  const read = [...key === undefined ? [] : [key], ...columns ?? []]
  const values = read.map((column, number) => [column, madeUpValue(column, number)] as const)
  const known = { ...Object.fromEntries(values.map(([{ field }, value]) => [field, value])), admin: isAdmin }
  return {
    name: isAdmin ? 'admin' : 'user',
    identity: columns === undefined ? withEveryProperty(known, isAdmin) : { id: 0, ...known },
    names: new Map(values.filter(([column]) => isDistinct(column))
      .map(([{ field }, value]) => [value, `user.${field}`]))
  }
}

/**
 * Returns the users who are made up to ask a policy or a scope about them: a user and an admin. The list begins with
 * `nobody`, a client that is not logged in, if the policy lets anybody do some operation. The list has no admin if the
 * policy finds its users in a model that has no field for admins.
 */
export function madeUpUsers (policy: AnyPolicy): readonly MadeUpUser[] {
  const { found } = Object(policy.login)
  const hasAdmins = found === undefined || found.admin !== undefined
  return [
    ...policy.open.length > 0 ? [nobody] : [], madeUpUser(policy, false), ...hasAdmins ? [madeUpUser(policy, true)] : []
  ]
}

/**
 * Returns users who are no admins, each with another value of one field that the policy reads: true for a boolean, and
 * each choice of an `enum`. Returns none if the policy finds its users elsewhere than in a model.
 */
export function furtherUsers (policy: AnyPolicy): readonly Identity[] {
  const { identity } = madeUpUser(policy, false)
  return (furtherColumns(policy) ?? []).flatMap(({ kind, field, options }) =>
    (kind === 'boolean' ? [true] : options.enum ?? []).map((value) => ({ ...identity!, [field]: value })))
}

/** True if `userAuth` or `adminAuth` finds the users of a policy. Only then is their `admin` certainly a boolean. */
export function hasBooleanAdmin (policy: AnyPolicy): boolean {
  return furtherColumns(policy) !== undefined
}

/** True if the name of a user's property says that the user is an admin: `admin`, `isAdmin`, `staff`, … */
export function isAdminFlag (name: string): boolean {
  return /^(?:is_?)?(?:admin|administrator|superuser|super_?user|staff|root)$/i.test(name)
}

/**
 * Returns the columns that `userAuth` or `adminAuth` reads in addition to the id and the flag for admins. Such a policy
 * is recognized by the property `found` of its `login`. Returns undefined for any other policy, because only the policy
 * itself knows which properties its users have.
 */
function furtherColumns ({ login, users, fields = [] }: AnyPolicy): readonly Column[] | undefined {
  return Object(login).found === undefined ? undefined : users?.columns.filter(({ field }) => fields.includes(field))
}

/**
 * Returns a made-up value of a column's kind. The value may break further rules of the column, such as `maxLength`.
 * Columns with different numbers get different values, except those for which {@link isDistinct} is false.
 *
 * @param number  position of the column among those of the user
 */
function madeUpValue (column: Column, number: number): Json | undefined {
  const { kind, field, options } = column
  if (kind === 'text') return options.enum?.[0] ?? `user.${field}`
  const { parse } = valueKindOf(column)
  const values = candidates(number).map((candidate) => parse(candidate, options))
  return values.find((value) => value !== undefined) ?? kindDocumentation[kind].example(options)
}

/** Returns an integer, a UUID and a date, each different for each number, and the boolean `false`, all as texts. */
function candidates (number: number): readonly string[] {
  const integer = String(1_000_000_000 + number)
  const day = new Date(Date.UTC(3000, 0, 1 + number)).toISOString().slice(0, 10)
  return [integer, `00000000-0000-7000-8000-${integer.padStart(12, '0')}`, day, 'false']
}

/** True if no other column of the user has the same made-up value, so that the value shows which column it is from. */
function isDistinct ({ kind, options }: Column): boolean {
  return !['boolean', 'decimal', 'json'].includes(kind) && options.enum === undefined
}

/** Returns a user who has the known properties, `isAdmin` as every flag for admins, and placeholders for all others. */
function withEveryProperty (known: Readonly<Record<string, unknown>>, isAdmin: boolean): Identity {
  return new Proxy<Identity>({ id: 0, ...known }, {
    get: (user, name) => {
      if (Object.hasOwn(known, name) || typeof name === 'symbol') return Reflect.get(user, name)
      return isAdminFlag(name) ? isAdmin : placeholder(`user.${name}`)
    }
  })
}

/**
 * Levels of a made-up user's properties that are placeholders; deeper properties are undefined. Without this limit, a
 * loop in a policy or scope that follows `team.parent` until there is none would never end.
 */
const maxDepth = 4

/**
 * Returns a `String` object that stands for a value whose type is not known, such as `<user.company>`. Properties that
 * the object does not have are placeholders, too, down to {@link maxDepth} levels.
 */
function placeholder (name: string, depth = 1): object {
  return new Proxy<object>(Object(`<${name}>`), {
    get: (text, property) => {
      const value: unknown = Reflect.get(text, property)
      if (value === undefined && typeof property === 'string' && depth < maxDepth) {
        return placeholder(`${name}.${property}`, depth + 1)
      }
      return typeof value === 'function' ? value.bind(text) : value
    }
  })
}

/**
 * Returns the name of the property that a placeholder or its text stands for, such as `user.company`; undefined for any
 * other value.
 */
export function placeholderName (value: unknown): string | undefined {
  if (typeof value !== 'string' && !(value instanceof String)) return undefined
  return /^<(user\.[^<>]+)>$/.exec(String(value))?.[1]
}
