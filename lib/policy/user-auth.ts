import type { FastifyBaseLogger } from 'fastify'
import { compileFindUser, type UserColumns } from '../database/find-user.js'
import { errors } from '../errors.js'
import type { FieldKind } from '../fields/field-kinds.js'
import { isSecret, type Column } from '../model/column.js'
import type { Model } from '../model/define-model.js'
import type { KeyOf } from '../model/field.js'
import type { FieldNameOf, FieldValueOf, Flat } from '../model/types.js'
import { requireKnown, suggestion } from '../suggest.js'
import { reads, type Operation } from './operations.js'
import { isHash, type Verify } from './passwords.js'
import { checkProtection } from './policies.js'
import type { ClosedPolicy, Policy, PolicyUser } from './policy.js'

/** The user that a policy for a model of users finds: the id, whether it is an admin, and the fields in `fields`. */
export type UserOf<M extends Model, Names extends FieldNameOf<M> = never> = Flat<
  { readonly id: KeyOf<M>, readonly admin: boolean } & { readonly [N in Names]: FieldValueOf<M, N> }
>

/** Options of the user and the admin policy, mostly names of fields in the user model. */
export interface UserAuthOptions<Name extends string = string, Names extends Name = Name, User = PolicyUser> {
  /** Field by which a user is found. Default `username`. */
  readonly username?: Name
  /** Field of the stored password, made by `password()`. Default `password`. */
  readonly password?: Name
  /** Field that must be true to log in; null if every user may log in. Default `active`. */
  readonly active?: Name | null
  /** Field that is true for admins. Default `admin`. */
  readonly admin?: Name
  /** Checks stored passwords that are not argon2id hashes; without it their users cannot log in. */
  readonly verify?: Verify
  /** Operations that need credentials: `writes` (default), or `all`. */
  readonly protect?: 'writes' | 'all'
  /**
   * Further fields of the user, read in the statement of the login. `permits` and `scope` get them under their declared
   * names.
   */
  readonly fields?: readonly Names[]
  /** True if a user may do an operation that is not open; otherwise it is answered with 403. Default: always. */
  permits? (user: User, operation: Operation): boolean
}

const optionNames: Readonly<Record<keyof UserAuthOptions, true>> = {
  username: true, password: true, active: true, admin: true, verify: true, protect: true, fields: true, permits: true
}

/** The options of a policy whose users have the fields `Names`. */
type OptionsFor<M extends Model, Names extends FieldNameOf<M>> =
  UserAuthOptions<FieldNameOf<M>, Names, UserOf<M, Names>>

/**
 * Returns a policy under which active users, who log in by HTTP Basic, may do everything that `permits` allows. Others
 * may only read, or nothing if `protect` is `all`.
 *
 * @throws REST_MODELS_UNKNOWN_OPTION_FIELD, REST_MODELS_INVALID_OPTIONS if the model lacks a field or has it of
 *   another kind
 */
export function userAuth<M extends Model, const Names extends FieldNameOf<M> = never> (
  users: M, options: OptionsFor<M, Names> & { readonly protect: 'all' }
): ClosedPolicy<UserOf<M, Names>>
export function userAuth<M extends Model, const Names extends FieldNameOf<M> = never> (
  users: M, options?: OptionsFor<M, Names>
): Policy<UserOf<M, Names>>
export function userAuth (users: Model, options?: UserAuthOptions): Policy {
  return policyFor(users, options)
}

function policyFor (users: Model, options: UserAuthOptions = {}): Policy {
  checkOptions(users, options)
  const columns = userColumns(users, options)
  const { verify, permits = () => true, protect } = options
  return Object.freeze({
    open: protect === 'all' ? [] : reads,
    users,
    scheme: { type: 'http', scheme: 'basic' },
    login: { columns, verify },
    permits,
    authenticator: ({ db, credentials, passwords }) => {
      const findUser = compileFindUser(db, users, columns)
      const warnOf = hashWarning(users, columns, options)
      return async (request, reply) => {
        const given = credentials(request, reply)
        if (given === undefined) return null
        const user = await findUser(given.username)
        // The password of an inactive user is not checked: a match would be remembered and then answered sooner.
        const isActive = user?.active === true
        const matches = await passwords.matches(given, { stored: isActive ? user.password : null, verify })
        if (isActive) warnOf(user.password, request.log)
        return matches && isActive ? { ...user.further, id: user.id, admin: user.admin } : null
      }
    }
  } satisfies Policy)
}

/**
 * Returns a policy like {@link userAuth}, but operations that need a login are only for users whose `admin` field is
 * true. Other users get 403.
 */
export function adminAuth<M extends Model, const Names extends FieldNameOf<M> = never> (
  users: M, options: OptionsFor<M, Names> & { readonly protect: 'all' }
): ClosedPolicy<UserOf<M, Names>>
export function adminAuth<M extends Model, const Names extends FieldNameOf<M> = never> (
  users: M, options?: OptionsFor<M, Names>
): Policy<UserOf<M, Names>>
export function adminAuth (users: Model, options: UserAuthOptions = {}): Policy {
  const policy = policyFor(users, options)
  requireField(users, options.admin ?? 'admin', 'boolean')
  return Object.freeze({
    ...policy, permits: (user, operation) => user.admin && policy.permits(user, operation) === true
  } satisfies Policy)
}

/**
 * Returns a function that logs a warning, once, if the stored password of a user is no argon2id hash, so that no login
 * of that user can succeed. It never warns if the policy has `verify`.
 */
function hashWarning (users: Model, { password }: UserColumns, { verify }: UserAuthOptions) {
  let isDue = verify === undefined
  return (stored: string | null, log: FastifyBaseLogger): void => {
    if (!isDue || stored === null || isHash(stored)) return
    isDue = false
    log.warn(`A login failed because '${password.field}' of model '${users.name}' holds no argon2id hash ` +
      "for that user: store hashPassword(…), or give the policy 'verify'")
  }
}

function checkOptions (users: Model, options: UserAuthOptions): void {
  requireKnown<UserAuthOptions>('A policy', options, optionNames)
  if (!(users?.byName instanceof Map)) {
    throw new errors.InvalidOptions('A policy for users needs their model; do files import each other in a circle?')
  }
  if (options.verify !== undefined && typeof options.verify !== 'function') {
    throw new errors.InvalidOptions("The option 'verify' of a policy is a function")
  }
  checkProtection(options)
}

function userColumns (users: Model, options: UserAuthOptions): UserColumns {
  const { username = 'username', password = 'password', active = 'active', admin = 'admin' } = options
  return {
    username: requireField(users, username, 'text'),
    password: requireField(users, password, 'password'),
    active: active === null ? undefined : requireField(users, active, 'boolean', ', or set active: null'),
    admin: users.byName.has(admin) || options.admin != null ? requireField(users, admin, 'boolean') : undefined,
    further: furtherColumns(users, options.fields ?? [])
  }
}

function furtherColumns (users: Model, names: readonly string[]): readonly Column[] {
  if (!Array.isArray(names)) throw new errors.InvalidOptions("The option 'fields' of a policy is a list of names")
  return names.map((name) => {
    const column = requireColumn(users, name)
    if (isSecret(column) || ['id', 'admin'].includes(name)) {
      throw new errors.InvalidOptions(`The option 'fields' of a policy must not name '${name}': ` +
        "passwords stay hidden, and users have 'id' and 'admin' already")
    }
    return column
  })
}

function requireColumn (users: Model, name: string, alternative = ''): Column {
  const column = users.byName.get(name)
  if (column !== undefined) return column
  throw new errors.UnknownOptionField(
    `The policy for users of model '${users.name}' needs its field '${name}'` +
    `${suggestion(name, Object.keys(users.fields))}; name another in the policy's options${alternative}`)
}

function requireField (users: Model, name: string, kind: FieldKind, alternative = ''): Column {
  const column = requireColumn(users, name, alternative)
  if (column.kind !== kind) {
    throw new errors.InvalidOptions(
      `The policy for users needs field '${name}' of model '${users.name}' to be ${kind}(), not ${column.kind}()`)
  }
  return column
}
