import type { FastifyBaseLogger } from 'fastify'
import { compileFindUser, type UserColumns } from '../database/find-user.js'
import { errors } from '../errors.js'
import type { FieldKind } from '../fields/field-kinds.js'
import type { Model } from '../model/define-model.js'
import type { FieldNameOf } from '../model/types.js'
import { requireKnown, suggestion } from '../suggest.js'
import { reads, writes } from './operations.js'
import { isHash, type Verify } from './passwords.js'
import type { Policy, PolicyUser } from './policy.js'

/** Options of the user and the admin policy, mostly names of fields in the user model. */
export interface UserAuthOptions<Name extends string = string> {
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
}

const optionNames: Readonly<Record<keyof UserAuthOptions, true>> = {
  username: true, password: true, active: true, admin: true, verify: true, protect: true
}

/** Returns the default policy of the service document: anybody may read, and nobody may write. */
export function readOnlyAuth (): Policy {
  return Object.freeze({ open: reads, closed: writes, authenticator: () => async () => null, permits: () => false })
}

/**
 * Returns a policy under which active users, who log in by HTTP Basic, may do everything. Others may only read, or
 * nothing if `protect` is `all`.
 *
 * @throws REST_MODELS_UNKNOWN_OPTION_FIELD, REST_MODELS_INVALID_OPTIONS if the model lacks a field or has it of
 *   another kind
 */
export function userAuth<M extends Model> (users: M, options: UserAuthOptions<FieldNameOf<M>> = {}): Policy {
  checkOptions(users, options)
  const columns = userColumns(users, options)
  return Object.freeze({
    open: options.protect === 'all' ? [] : reads,
    users,
    scheme: { type: 'http', scheme: 'basic' },
    login: { columns, verify: options.verify },
    permits: () => true,
    authenticator: ({ db, credentials, passwords }) => {
      const findUser = compileFindUser(db, users, columns)
      const warnOf = hashWarning(users, columns, options)
      return async (request, reply) => {
        const given = credentials(request, reply)
        if (given === undefined) return null
        const user = await findUser(given.username)
        // The password of an inactive user is not checked: a match would be remembered and then answered sooner.
        const isActive = user?.active === true
        const matches =
          await passwords.matches(given, { stored: isActive ? user.password : null, verify: options.verify })
        if (isActive) warnOf(user.password, request.log)
        return matches && isActive ? { id: user.id, admin: user.admin } : null
      }
    }
  } satisfies Policy)
}

/**
 * Returns a policy like {@link userAuth}, but operations that need a login are only for users whose `admin` field is
 * true. Other users get 403.
 */
export function adminAuth<M extends Model> (users: M, options: UserAuthOptions<FieldNameOf<M>> = {}): Policy {
  const policy = userAuth(users, options)
  requireField(users, options.admin ?? 'admin', 'boolean')
  return specialise(policy, (user) => user.admin)
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

/**
 * Returns a policy that permits an operation only if the given policy does and `isPermitted` returns true for the user.
 */
function specialise (policy: Policy, isPermitted: (user: PolicyUser) => boolean): Policy {
  return Object.freeze({
    ...policy, permits: (user, operation) => policy.permits(user, operation) && isPermitted(user)
  } satisfies Policy)
}

function checkOptions (users: Model, options: UserAuthOptions): void {
  requireKnown<UserAuthOptions>('A policy', options, optionNames)
  if (!(users?.byName instanceof Map)) {
    throw new errors.InvalidOptions('A policy for users needs their model; do files import each other in a circle?')
  }
  if (options.verify !== undefined && typeof options.verify !== 'function') {
    throw new errors.InvalidOptions("The option 'verify' of a policy is a function")
  }
  if (!['writes', 'all', undefined].includes(options.protect)) {
    throw new errors.InvalidOptions("The option 'protect' of a policy is 'writes' or 'all'")
  }
}

function userColumns (users: Model, options: UserAuthOptions): UserColumns {
  const { username = 'username', password = 'password', active = 'active', admin = 'admin' } = options
  return {
    username: requireField(users, username, 'text'),
    password: requireField(users, password, 'password'),
    active: active === null ? undefined : requireField(users, active, 'boolean', ', or set active: null'),
    admin: users.byName.has(admin) || options.admin != null ? requireField(users, admin, 'boolean') : undefined
  }
}

function requireField (users: Model, name: string, kind: FieldKind, alternative = '') {
  const column = users.byName.get(name)
  if (column === undefined) {
    throw new errors.UnknownOptionField(
      `The policy for users of model '${users.name}' needs its field '${name}'` +
      `${suggestion(name, Object.keys(users.fields))}; name another in the policy's options${alternative}`)
  }
  if (column.kind !== kind) {
    throw new errors.InvalidOptions(
      `The policy for users needs field '${name}' of model '${users.name}' to be ${kind}(), not ${column.kind}()`)
  }
  return column
}
