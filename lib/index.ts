import fp from 'fastify-plugin'
import type { FastifyInstance } from 'fastify'
import { errors } from './errors.js'
import { checkOptions, type RestModelsOptions } from './plugin/options.js'
import { ResourceRegistry } from './plugin/registry.js'
import { kPassed, kUser } from './policy/guard.js'
import { kOrigin } from './policy/origin.js'
import { kStored } from './policy/owner.js'
import { kCredentials } from './policy/user-auth.js'

declare module 'fastify' {
  interface FastifyInstance {
    restModels: ResourceRegistry
  }
}

/**
 * Decorates the Fastify instance with a registry, in which the app registers its resources. The decorator is
 * `restModels`, or the name in the option `decorator`. This function is the plugin.
 *
 * @throws REST_MODELS_INVALID_OPTIONS if an option, or the prefix of the Fastify instance, is wrong, with its name in
 *   the message; REST_MODELS_UNSUPPORTED_DATABASE if no dialect fits `db` or `readDb`
 */
async function restModels (fastify: FastifyInstance, options: RestModelsOptions): Promise<void> {
  const checked = checkOptions(options)
  requirePlain(fastify.prefix)
  if (fastify.hasDecorator(checked.decorator)) {
    throw new errors.InvalidOptions(`The app already has a decorator '${checked.decorator}'; ` +
      "set the option 'decorator' to another name")
  }
  // The host's own routes need these properties, too, if they have the hooks of `guard()`.
  for (const key of [kUser, kPassed, kOrigin, kStored, kCredentials]) {
    if (!fastify.hasRequestDecorator(key)) fastify.decorateRequest(key, undefined)
  }
  fastify.decorate(checked.decorator, new ResourceRegistry(fastify, checked))
}

/**
 * Throws REST_MODELS_INVALID_OPTIONS if the prefix under which the plugin is registered has a parameter or a wildcard.
 * The paths of records, which answers contain as links, would then differ from request to request.
 */
function requirePlain (prefix: string): void {
  if (!/[:*]/.test(prefix)) return
  throw new errors.InvalidOptions(`The plugin is registered below '${prefix}'; links need a path without parameters`)
}

export default fp(restModels, { name: 'fastify-rest-models', fastify: '5.x' })

export { errors, type FieldFault } from './errors.js'
export { defineModel, type Model } from './model/define-model.js'
export {
  bigint, boolean, date, datetime, decimal, foreignKey, integer, json, key, number, password, text, uuid,
  type CommonOptions, type DatetimeOptions, type DecimalOptions, type Field, type ForeignKeyField,
  type ForeignKeyOptions, type KeyOptions, type PasswordOptions, type RangeOptions, type TextOptions, type UuidOptions
} from './model/field.js'
export type { CreateOf, DatabaseOf, Flat, RecordOf, UpdateOf } from './model/types.js'
export type { RestModelsOptions } from './plugin/options.js'
export type { Limits } from './plan/limits.js'
export { userOf } from './policy/guard.js'
export {
  hostAuth, openAuth, readOnlyAuth, type FindHostUser, type HostAuthOptions
} from './policy/policies.js'
export { adminAuth, userAuth, type UserOf } from './policy/user-auth.js'
export type { UserAuthOptions } from './policy/user-options.js'
export { hashPassword, type Credentials, type Verify } from './policy/passwords.js'
export type { Operation } from './policy/operations.js'
export type {
  Authenticate, ClosedPolicy, Identity, Policy, PolicySetting, PolicyUser, SecurityScheme
} from './policy/policy.js'
export type { AnyKysely } from './database/engine.js'
export type {
  DiagnosticsMessages, GroupCommitMessage, LoginMessage, NodeMessage, QueueMessage, RetryMessage, StatementLabel,
  StatementMessage, StatementOperation
} from './events/messages.js'
export type { Health } from './database/health.js'
export type { ResourceOptions } from './resource/options.js'
export type { FinishedWrite, PlannedWrite, WholeRecord, WriteHooks } from './resource/write-hooks.js'
export type { ScopeOf } from './model/scope-of.js'
export type { GuardHook, ResourceRegistry } from './plugin/registry.js'
export { invalidRecord } from './errors.js'
export { createTables } from './tables/create-tables.js'
export type { FieldOptions } from './values/field-options.js'
export type { Json } from './values/values.js'
