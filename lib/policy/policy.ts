import type { FastifyReply, FastifyRequest } from 'fastify'
import type { AnyKysely } from '../database/engine.js'
import type { FindUser, UserColumns } from '../database/find-user.js'
import type { Model } from '../model/define-model.js'
import type { RecordKey } from '../values/values.js'
import type { Operation } from './operations.js'
import type { Credentials, Passwords } from './passwords.js'

/** The user who sends a request. A policy's users may have further properties. */
export interface Identity {
  /** A safe integer, or a text of 1 to 255 characters. Owner fields are compared with it. */
  readonly id: RecordKey
}

/** The user whom `userAuth` and `adminAuth` find, without the fields that their option `fields` names. */
export interface PolicyUser extends Identity {
  readonly admin: boolean
}

/**
 * Finds the user who sends a request. Returns null or undefined if nobody is logged in: an operation that needs a user
 * is then answered with 401. The user's `id` is a safe integer or a text of 1 to 255 characters. A user with any other
 * `id` counts as not logged in.
 */
export type Authenticate<User extends Identity = Identity> =
  (request: FastifyRequest, reply: FastifyReply) => User | null | undefined | Promise<User | null | undefined>

/**
 * A Security Scheme Object of OpenAPI for how credentials are sent, such as `{ type: 'http', scheme: 'bearer' }`. An
 * `apiKey` has `in`, which is `header` or `cookie`, and the `name` of that header or cookie.
 */
export interface SecurityScheme {
  readonly type: 'http' | 'apiKey' | 'oauth2' | 'openIdConnect' | 'mutualTLS'
  /** Name of the HTTP scheme, if `type` is `http`: `basic`, `bearer`, … */
  readonly scheme?: string
  readonly [other: string]: unknown
}

/** Tools that a policy gets at setup. */
export interface PolicySetting {
  readonly db: AnyKysely
  /** Returns a function that finds the users of a model by name, with the values that records show. */
  readonly userFinder: (users: Model, columns: UserColumns) => FindUser
  /** Returns the HTTP Basic credentials of a request; undefined if they are missing or malformed. */
  readonly credentials: (request: FastifyRequest, reply: FastifyReply) => Credentials | undefined
  readonly passwords: Passwords
}

/**
 * Rules for who may do what with a resource. Any object of this type can serve as a policy.
 *
 * `User` is the type of the users that the policy finds.
 */
export interface Policy<User extends Identity = PolicyUser> {
  /** Operations that anybody may do. Credentials that such a request has are read only if the resource has a scope. */
  readonly open: readonly Operation[]
  /**
   * Operations that nobody may do. They are answered with 401, as the service document demands for its read-only
   * policy. Default none.
   */
  readonly closed?: readonly Operation[]
  /**
   * The way credentials are sent. It is shown in the OpenAPI document and decides the challenge of a 401. Without it,
   * or with HTTP Basic, a 401 is plain text with the challenge `Basic`, for which browsers ask for a password. With any
   * other scheme, a 401 is JSON.
   */
  readonly scheme?: SecurityScheme
  /** Called once by each `setup()`. Returns the function that finds the user of each request. */
  authenticator (setting: PolicySetting): Authenticate<User>
  /**
   * True if a known user may do an operation that neither `open` nor `closed` lists. Any other result is answered with
   * 403, even a promise of true.
   */
  permits (user: User, operation: Operation): boolean
  /** The model of the users, if there is one: an owner field must refer to it. */
  readonly users?: Model
  /**
   * A value that stands for how users are found. Two policies find the same users if their `login` and `users` are
   * equal; without `users`, `login` must be a function. Plain objects and arrays are equal if they hold equal values,
   * instances of a class only if they are the same. A policy without `login` shares its users with no other policy.
   * So its users cannot filter through related models if listing these needs a user of another policy.
   */
  readonly login?: unknown
  /**
   * Names of the properties of a user, besides `id` and `admin`, that `permits` and the scopes of this policy's
   * resources may read. Users of another policy with an equal `login` count as users of this policy only if the
   * `fields` of the other policy include all of these names. Default none.
   */
  readonly fields?: readonly string[]
}

/**
 * A policy under which every operation needs a user. Where it protects a resource, the user of a request is never null.
 */
export interface ClosedPolicy<User extends Identity = PolicyUser> extends Policy<User> {
  readonly open: readonly []
}

/** A policy whose users may have any properties besides `id`. */
export type AnyPolicy = Policy<Identity>

/** The user that the scope and the hooks of a resource get. It may be null, except under a {@link ClosedPolicy}. */
export type ScopeUser<Auth extends AnyPolicy> =
  Auth extends ClosedPolicy<infer User> ? User : Auth extends Policy<infer User> ? User | null : never
