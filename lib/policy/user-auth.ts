import basicAuth from '@fastify/basic-auth'
import type { FastifyBaseLogger, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { FoundUser, UserColumns } from '../database/find-user.js'
import type { Model } from '../model/define-model.js'
import type { KeyOf } from '../model/field.js'
import type { FieldNameOf, FieldValueOf, Flat } from '../model/types.js'
import { isPromise } from '../values/values.js'
import { reads } from './operations.js'
import { isHash, type Credentials } from './passwords.js'
import type { ClosedPolicy, Policy } from './policy.js'
import { checkOptions, requireField, userColumns, type UserAuthOptions } from './user-options.js'

/** The user whom `userAuth` and `adminAuth` find, with the id, the flag `admin` and the fields `Names`. */
export type UserOf<M extends Model, Names extends FieldNameOf<M> = never> = Flat<
  { readonly id: KeyOf<M>, readonly admin: boolean } & { readonly [N in Names]: FieldValueOf<M, N> }
>

/** The options of a policy whose users have the fields `Names`. */
type OptionsFor<M extends Model, Names extends FieldNameOf<M>> =
  UserAuthOptions<FieldNameOf<M>, Names, UserOf<M, Names>>

/**
 * Returns a policy under which active users, who log in by HTTP Basic, may do everything that `permits` allows. A
 * client that is not logged in may only read, or do nothing if `protect` is `all`.
 *
 * @throws REST_MODELS_UNKNOWN_OPTION_FIELD if the model lacks a field; REST_MODELS_INVALID_OPTIONS if a field is of
 *   another kind, or an option is wrong
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
  const { further, ...found } = columns
  const { verify, permits = () => true, protect } = options
  return Object.freeze({
    open: protect === 'all' ? [] : reads,
    users,
    scheme: { type: 'http', scheme: 'basic' },
    login: { found, verify },
    fields: further.map(({ field }) => field),
    permits,
    authenticator: authenticatorFor(users, columns, options)
  } satisfies Policy)
}

function authenticatorFor (users: Model, columns: UserColumns, options: UserAuthOptions): Policy['authenticator'] {
  const { verify } = options
  return ({ userFinder, credentials, passwords }) => {
    const findUser = userFinder(users, columns)
    const warnOf = hashWarning(users, columns, options)
    return (request, reply) => {
      const given = credentials(request, reply)
      if (given === undefined) return null
      const admit = (user: FoundUser | undefined) => {
        // The password of an inactive user is not checked: a match would be remembered, and the next answer would come
        // sooner and so reveal it.
        const active = user?.active === true ? user : undefined
        const toIdentity = (matches: boolean): FoundUser['identity'] | null => {
          if (active === undefined) return null
          warnOf(active.password, request.log)
          return matches ? active.identity : null
        }
        const matches = passwords.matches(given, { stored: active?.password ?? null, verify })
        return isPromise(matches) ? matches.then(toIdentity) : toIdentity(matches)
      }
      const user = findUser(given.username)
      return isPromise(user) ? user.then(admit) : admit(user)
    }
  }
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
    ...policy, permits: (user, operation) => user.admin && policy.permits(user, operation)
  } satisfies Policy)
}

/**
 * Returns a function that logs a warning, once for all users, if the stored password of a user is no argon2id hash, so
 * that no login of that user can succeed. It never warns if the policy has `verify`.
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

/** Key under which a request keeps its HTTP Basic credentials. */
export const kCredentials = Symbol('rest-models.credentials')

/**
 * Registers `@fastify/basic-auth` in a scope. Returns a function that reads the HTTP Basic credentials of a request; it
 * returns undefined if they are missing or malformed. That plugin only parses the header here. Its challenge is not
 * used, because it carries a charset, which the challenge of the service document does not have.
 */
export async function readCredentials (
  scope: FastifyInstance
): Promise<(request: FastifyRequest, reply: FastifyReply) => Credentials | undefined> {
  await scope.register(basicAuth, {
    // RFC 9110 permits several blanks after the scheme.
    strictCredentials: false,
    // It never rejects: after a rejection without an Error, the plugin would let the request in or never answer it.
    validate: (username, password, request, _reply, done) => {
      request.setDecorator(kCredentials, { username, password })
      done()
    }
  })
  return (request, reply) => {
    // Nothing to do in the callback: the plugin calls it synchronously, because `validate` is synchronous.
    scope.basicAuth(request, reply, () => {})
    return request.getDecorator<Credentials | undefined>(kCredentials)
  }
}
