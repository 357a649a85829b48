import fp from 'fastify-plugin'
import type { FastifyInstance } from 'fastify'
import { errors } from './errors.js'
import { checkOptions, type RestModelsOptions } from './plugin/options.js'
import { ResourceRegistry } from './plugin/registry.js'

declare module 'fastify' {
  interface FastifyInstance {
    restModels: ResourceRegistry
  }
}

/**
 * Decorates the Fastify instance with a registry, in which the app registers its resources. The decorator is
 * `restModels`, or the name in the option `decorator`. This function is the plugin.
 *
 * @throws REST_MODELS_INVALID_OPTIONS naming the option that is wrong
 */
async function restModels (fastify: FastifyInstance, options: RestModelsOptions): Promise<void> {
  const checked = checkOptions(options)
  if (fastify.hasDecorator(checked.decorator)) {
    throw new errors.InvalidOptions(`The app already has a decorator '${checked.decorator}'; ` +
      "set the option 'decorator' to another name")
  }
  fastify.decorate(checked.decorator, new ResourceRegistry(fastify, checked))
}

export default fp(restModels, { name: 'fastify-rest-models', fastify: '5.x' })

export { errors, type FieldFault } from './errors.js'
export { defineModel, type Model } from './model/define-model.js'
export {
  bigint, boolean, date, datetime, decimal, foreignKey, integer, json, key, number, password, text, uuid,
  type CommonOptions, type DecimalOptions, type Field, type ForeignKeyField, type ForeignKeyOptions, type KeyOptions,
  type PasswordOptions, type RangeOptions, type TextOptions
} from './model/field.js'
export type { CreateOf, DatabaseOf, RecordOf, UpdateOf } from './model/types.js'
export type { RestModelsOptions } from './plugin/options.js'
export type { Limits } from './plan/limits.js'
export { userOf } from './policy/guard.js'
export { adminAuth, readOnlyAuth, userAuth, type UserAuthOptions } from './policy/policies.js'
export { hashPassword, type Credentials, type Verify } from './policy/passwords.js'
export type { Operation } from './policy/operations.js'
export type { Authenticate, Policy, PolicySetting, PolicyUser, SecurityScheme } from './policy/policy.js'
export type { AnyKysely } from './database/engine.js'
export type { ResourceOptions } from './resource/options.js'
export type { ResourceRegistry } from './plugin/registry.js'
export { createTables } from './tables/create-tables.js'
export type { Json } from './values/values.js'
