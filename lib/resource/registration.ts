import type { FastifyContextConfig } from 'fastify'
import { errors } from '../errors.js'
import { isForeignKey, isSecret, type Column, type ForeignKeyColumn } from '../model/column.js'
import type { Model } from '../model/define-model.js'
import type { ScopeOf } from '../model/scope-of.js'
import type { FieldNameOf, ForeignKeyNameOf } from '../model/types.js'
import { followPath, pathName, type Path } from '../plan/path.js'
import { writes } from '../policy/operations.js'
import type { AnyPolicy, Policy, ScopeUser } from '../policy/policy.js'
import { compileProtections, type Protections } from '../policy/protection.js'
import { requirePolicy } from '../policy/require-policy.js'
import type { ScopeRule } from '../policy/scopes.js'
import { requireKnown, suggestion } from '../suggest.js'
import { checkLimits, type PageLimits } from './page-limits.js'

/** Options for a model that becomes a resource; all of them may be left out. */
export interface ResourceOptions<M extends Model = Model, Auth extends AnyPolicy = Policy> {
  /** The policy, which decides who may do what; the container's default policy if absent. */
  readonly auth?: Auth
  /**
   * Returns which records a user may see: an object in the grammar of filters, such as `{ company: user.company }`, or
   * null for none. `{}` is all records. A field of the resource itself that has one value in it is set by the server.
   * The user is null if nobody is logged in.
   */
  readonly scope?: (user: ScopeUser<Auth>) => ScopeOf<M> | null
  /** Fields that are never serialized, and neither filtered nor ordered by. */
  readonly exclude?: ReadonlyArray<FieldNameOf<M>>
  /** The foreign key to the user that owns a record: only the owner may change or delete it. */
  readonly ownerField?: ForeignKeyNameOf<M>
  /** Fields that no client may write. */
  readonly readOnly?: ReadonlyArray<FieldNameOf<M>>
  /**
   * Names that are opened to filters although they would be closed: excluded fields, or paths such as `user__email`.
   */
  readonly filterable?: readonly string[]
  /** Name of the resource in the path; the model's name in lower case if absent. */
  readonly path?: string
  /** Records per page if the request has no `limit`; that of the plugin if absent. */
  readonly defaultLimit?: number
  readonly maxLimit?: number
  /**
   * The `config` of every route of the resource. Plugins such as `@fastify/rate-limit` look there for their options.
   */
  readonly config?: FastifyContextConfig
}

/** Options that a container gives to resources that have none of their own. */
export interface ResourceDefaults extends PageLimits {
  readonly auth: AnyPolicy
}

/** A model with checked options, in which names have become columns. */
export interface Registration extends PageLimits {
  readonly name: string
  readonly model: Model
  readonly policy: AnyPolicy
  readonly protections: Protections
  readonly excluded: ReadonlySet<Column>
  readonly readOnly: ReadonlySet<Column>
  readonly owner: ForeignKeyColumn | undefined
  /** The scope of the resource; undefined if everybody sees every record. */
  readonly scopeRule: ScopeRule | undefined
  /** The paths that are opened, by their names as `pathName` writes them. */
  readonly opened: ReadonlyMap<string, Path>
  readonly config: Readonly<FastifyContextConfig>
}

const optionNames: Readonly<Record<keyof ResourceOptions, true>> = {
  auth: true,
  scope: true,
  exclude: true,
  ownerField: true,
  readOnly: true,
  filterable: true,
  path: true,
  defaultLimit: true,
  maxLimit: true,
  config: true
}

/**
 * Checks the options of a resource and fills in the defaults.
 *
 * @throws REST_MODELS_INVALID_OPTIONS, REST_MODELS_UNKNOWN_OPTION_FIELD naming the model, the option and the nearest
 *   right name
 */
export function checkRegistration (model: Model, options: ResourceOptions, defaults: ResourceDefaults): Registration {
  if (!(model?.byName instanceof Map)) throw new errors.InvalidOptions('register() needs a model made by defineModel()')
  if (typeof options !== 'object' || options === null) {
    throw new errors.InvalidOptions(`register() of model '${model.name}' takes options in an object`)
  }
  requireKnown<ResourceOptions>(`resource '${model.name}'`, options, optionNames)
  const { auth: policy = defaults.auth, path: name = model.name.toLowerCase() } = options
  requirePath(model, name)
  requirePolicy(`'auth' of resource '${model.name}'`, policy)
  const registration = {
    name,
    model,
    policy,
    protections: compileProtections(policy),
    excluded: columnsNamed(model, options, 'exclude'),
    readOnly: columnsNamed(model, options, 'readOnly'),
    owner: ownerOf(model, options.ownerField, policy),
    scopeRule: scopeRuleOf(model, policy, options.scope),
    opened: new Map(listed(model, options, 'filterable').map((path) => openedPath(model, path))),
    ...checkLimits(`resource '${model.name}'`, options, defaults),
    config: configOf(model, options)
  }
  return Object.freeze(registration)
}

function requirePath (model: Model, path: string): void {
  if (/^[a-z0-9_-]+$/.test(path)) return
  throw new errors.InvalidOptions(
    `'path' of resource '${model.name}' consists of lower-case letters, digits, '_' and '-'`)
}

function configOf (model: Model, { config = {} }: ResourceOptions): Registration['config'] {
  if (typeof config === 'object' && config !== null && !Array.isArray(config)) return Object.freeze({ ...config })
  throw new errors.InvalidOptions(
    `'config' of resource '${model.name}' must be an object, such as a route of Fastify takes`)
}

function columnsNamed (model: Model, options: ResourceOptions, option: 'exclude' | 'readOnly'): ReadonlySet<Column> {
  return new Set(listed(model, options, option).map((name) => requireField(model, option, name)))
}

function listed (
  model: Model, options: ResourceOptions, option: 'exclude' | 'readOnly' | 'filterable'
): readonly string[] {
  const { [option]: names = [] } = options
  if (!Array.isArray(names)) {
    throw new errors.InvalidOptions(`'${option}' of resource '${model.name}' must be a list of names`)
  }
  return names
}

function requireField (model: Model, option: keyof ResourceOptions, name: string): Column {
  const column = model.columns.slice(1).find(({ field }) => field === name)
  if (column !== undefined) return column
  throw new errors.UnknownOptionField(
    `'${option}' of resource '${model.name}' names '${name}', which is not a field of the model` +
    suggestion(name, Object.keys(model.fields)))
}

function ownerOf (model: Model, name: string | undefined, policy: AnyPolicy): ForeignKeyColumn | undefined {
  if (name === undefined) return undefined
  const owner = requireField(model, 'ownerField', name)
  const where = `'ownerField' of resource '${model.name}'`
  if (!isForeignKey(owner)) throw new errors.InvalidOptions(`${where} names '${name}', which is not a foreign key`)
  if (policy.open.some((operation) => writes.includes(operation))) {
    throw new errors.InvalidOptions(`${where} needs a policy that knows who writes`)
  }
  if (policy.users !== undefined && owner.target() !== policy.users) {
    throw new errors.InvalidOptions(
      `${where} names '${name}', which refers to model '${owner.target().name}', ` +
      `but the policy's users are model '${policy.users.name}'`)
  }
  return owner
}

function scopeRuleOf (model: Model, policy: AnyPolicy, scope: ResourceOptions['scope']): ScopeRule | undefined {
  if (scope === undefined) return undefined
  if (typeof scope === 'function') return { model, policy, scope: scope as ScopeRule['scope'] }
  throw new errors.InvalidOptions(
    `'scope' of resource '${model.name}' must be a function that returns which records a user may see`)
}

function openedPath (model: Model, written: string): readonly [name: string, path: Path] {
  const path = followPath(model, written.split('__'))
  const where = `'filterable' of resource '${model.name}' names '${written}'`
  if (path === undefined) {
    throw new errors.UnknownOptionField(
      `${where}, which leads to no field${suggestion(written, Object.keys(model.fields))}`)
  }
  if (isSecret(path.column)) throw new errors.InvalidOptions(`${where}: a password can never be filtered by`)
  return [pathName(path), path]
}
