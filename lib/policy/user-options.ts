import type { UserColumns } from '../database/find-user.js'
import { errors } from '../errors.js'
import type { FieldKind } from '../fields/field-kinds.js'
import { isSecret, type Column } from '../model/column.js'
import { isModel, type Model } from '../model/model.js'
import { requireKnown, suggestion } from '../suggest.js'
import type { Operation } from './operations.js'
import type { Verify } from './passwords.js'
import { checkProtection } from './policies.js'
import type { PolicyUser } from './policy.js'

/** Options of `userAuth` and `adminAuth`, mostly names of fields in the user model. */
export interface UserAuthOptions<Name extends string = string, Names extends Name = Name, User = PolicyUser> {
  /** Field by which a user is found. Default `username`. */
  readonly username?: Name
  /** Field of the stored password, made by `password()`. Default `password`. */
  readonly password?: Name
  /** Field that must be true to log in; null if every user may log in. Default `active`. */
  readonly active?: Name | null
  /**
   * Field that is true for admins. Default `admin`; if the model lacks that field, `userAuth` finds no admins, and
   * `adminAuth` throws.
   */
  readonly admin?: Name
  /**
   * Checks stored passwords that are not argon2id hashes; without this function, users with such a password cannot log
   * in.
   */
  readonly verify?: Verify
  /** Operations that need credentials: `writes` (default), or `all`. */
  readonly protect?: 'writes' | 'all'
  /**
   * Further fields of the user, read in the statement of the login. `permits`, `scope`, hooks and `userOf()` have
   * them under their declared names.
   */
  readonly fields?: readonly Names[]
  /**
   * True if a user may do an operation that `protect` reserves for users; otherwise it is answered with 403. Default:
   * always true.
   */
  permits? (user: User, operation: Operation): boolean
}

const optionNames: Readonly<Record<keyof UserAuthOptions, true>> = {
  username: true, password: true, active: true, admin: true, verify: true, protect: true, fields: true, permits: true
}

/**
 * Checks the user model and the options of `userAuth` or `adminAuth`. The options that name fields are checked by
 * {@link userColumns}.
 *
 * @throws REST_MODELS_INVALID_OPTIONS
 */
export function checkOptions (users: Model, options: UserAuthOptions): void {
  requireKnown<UserAuthOptions>('A policy', options, optionNames)
  if (!isModel(users)) {
    throw new errors.InvalidOptions('A policy for users needs their model; do files import each other in a circle?')
  }
  if (options.verify !== undefined && typeof options.verify !== 'function') {
    throw new errors.InvalidOptions("The option 'verify' of a policy is a function")
  }
  checkProtection(options)
}

/**
 * Returns the columns of the user model that the options name: `username`, `password`, `active`, `admin` and `fields`.
 * For an absent option, it is the column with the default name.
 *
 * @throws REST_MODELS_UNKNOWN_OPTION_FIELD if the model lacks a field; REST_MODELS_INVALID_OPTIONS if a field is of
 *   another kind, the option `fields` is wrong, or the key of the model has several fields
 */
export function userColumns (users: Model, options: UserAuthOptions): UserColumns {
  const { username = 'username', password = 'password', active = 'active', admin = 'admin' } = options
  if (users.primaryKey.parts !== undefined) {
    throw new errors.InvalidOptions(`Model '${users.name}' has a key of several fields, to which no foreign key can ` +
      'refer: a policy needs users with a key of one field')
  }
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
  // The key of a foreign key is no name of a field: users have the value under the declared name.
  if (column?.field === name) return column
  throw new errors.UnknownOptionField(
    `The policy for users of model '${users.name}' needs its field '${name}'` +
    `${suggestion(name, Object.keys(users.fields))}; name another in the policy's options${alternative}`)
}

/**
 * Returns the column of a field of the user model, which must be of a certain kind. Throws as {@link userColumns}.
 *
 * @param alternative  words that the message for a missing field ends with, such as another remedy
 */
export function requireField (users: Model, name: string, kind: FieldKind, alternative = ''): Column {
  const column = requireColumn(users, name, alternative)
  if (column.kind !== kind) {
    throw new errors.InvalidOptions(
      `The policy for users needs field '${name}' of model '${users.name}' to be ${kind}(), not ${column.kind}()`)
  }
  return column
}
