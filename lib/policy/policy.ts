import type { FastifyReply, FastifyRequest } from 'fastify'
import type { AnyKysely } from '../database/engine.js'
import type { Model } from '../model/define-model.js'
import type { RecordKey } from '../values/values.js'
import type { Credentials, Passwords } from './passwords.js'

/** What a client can do with a resource; HEAD counts as the GET that it stands for. */
export const operations = ['list', 'read', 'create', 'update', 'delete'] as const
export type Operation = (typeof operations)[number]

/** The operations that change nothing. */
export const reads: readonly Operation[] = ['list', 'read']

/** The operations that change something. */
export const writes: readonly Operation[] = ['create', 'update', 'delete']

/** Who sends a request. */
export interface PolicyUser {
  /** Primary key of the user's record, an integer or a UUID in lower case: what an owner field is compared with. */
  readonly id: RecordKey
  readonly admin: boolean
}

/** Finds out who sends a request; null if nobody can be made out, which is answered with 401. */
export type Authenticate = (request: FastifyRequest, reply: FastifyReply) => Promise<PolicyUser | null>

/** How credentials are sent, in the words of OpenAPI: a Security Scheme Object, such as `{ type: 'http', scheme: 'bearer' }`. */
export interface SecurityScheme {
  readonly type: 'http' | 'apiKey' | 'oauth2' | 'openIdConnect' | 'mutualTLS'
  /** Of type `http`: `basic`, `bearer`, … */
  readonly scheme?: string
  readonly [other: string]: unknown
}

/** What a policy is given at setup. */
export interface PolicySetting {
  readonly db: AnyKysely
  /** The HTTP Basic credentials of a request; undefined if it has none that are well-formed. */
  readonly credentials: (request: FastifyRequest, reply: FastifyReply) => Credentials | undefined
  readonly passwords: Passwords
}

/** Who may do what with a resource. An object of this type is a policy of one's own. */
export interface Policy {
  /** Operations that anybody may do; credentials are not looked at. */
  readonly open: readonly Operation[]
  /** Operations that nobody may do, which are answered with 401; default none. */
  readonly closed?: readonly Operation[]
  /** What documentation says of the credentials. */
  readonly scheme?: SecurityScheme
  /** Called once at setup: how to find out who sends a request. */
  authenticator (setting: PolicySetting): Authenticate
  /** Whether somebody who was made out may do an operation that is not open; if not, it is answered with 403. */
  permits (user: PolicyUser, operation: Operation): boolean
  /** The model of the users, if there is one: an owner field must refer to it. */
  readonly users?: Model
  /**
   * How users are made out, any value that can be compared: two policies make out the same people if it and `users` are equal.
   * Without it a policy shares its people with no other, so they cannot filter through what another one guards.
   */
  readonly login?: unknown
}
