import type { FastifyContextConfig } from 'fastify'
import { errors } from '../errors.js'
import type { Column, ForeignKeyColumn } from '../model/column.js'
import { isModel, type Model } from '../model/model.js'
import type { Path } from '../plan/path.js'
import { compilePlanScope } from '../plan/plan-scope.js'
import type { AnyPolicy } from '../policy/policy.js'
import { compileProtections, type Protections } from '../policy/protection.js'
import { requirePolicy } from '../policy/require-policy.js'
import type { ScopeRule } from '../policy/visibility.js'
import { requireKnown } from '../suggest.js'
import { columnsNamed, openedPaths, ownerOf } from './named-columns.js'
import { checkLimits, optionNames, type PageLimits, type ResourceDefaults, type ResourceOptions } from './options.js'
import { searchedColumns } from './searched-columns.js'
import { hooksOf, type AnyHooks } from './write-hooks.js'

/** A model that becomes a resource, with its checked options: names of fields are replaced by columns. */
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
  readonly hooks: AnyHooks | undefined
  /** True if answers with one record have an `ETag`, except those with `include`. */
  readonly etag: boolean
  /** The paths of the option `filterable`, by their names as `pathName` writes them. */
  readonly opened: ReadonlyMap<string, Path>
  /** The columns of the option `search`; none if the resource has no such option. */
  readonly searched: readonly Column[]
  readonly config: Readonly<FastifyContextConfig>
}

/**
 * Checks the options of a resource and fills in the defaults.
 *
 * @throws REST_MODELS_INVALID_OPTIONS, REST_MODELS_UNKNOWN_OPTION_FIELD naming the model, the option and the nearest
 *   right name
 */
export function checkRegistration (model: Model, options: ResourceOptions, defaults: ResourceDefaults): Registration {
  requireOptions(model, options)
  const { auth: policy = defaults.auth, path: name = model.name.toLowerCase() } = options
  requirePath(model, name)
  requirePolicy(`'auth' of resource '${model.name}'`, policy)
  const registration = {
    name,
    model,
    policy,
    protections: compileProtections(policy),
    ...namedColumns(model, options),
    owner: ownerOf(model, options.ownerField, policy),
    scopeRule: scopeRuleOf(model, policy, options.scope),
    hooks: hooksOf(model, options),
    etag: etagOf(model, options),
    ...checkLimits(`resource '${model.name}'`, options, defaults),
    config: configOf(model, options)
  }
  return Object.freeze(registration)
}

function requireOptions (model: Model, options: ResourceOptions): void {
  if (!isModel(model)) throw new errors.InvalidOptions('register() needs a model made by defineModel()')
  if (typeof options !== 'object' || options === null) {
    throw new errors.InvalidOptions(`register() of model '${model.name}' takes options in an object`)
  }
  requireKnown<ResourceOptions>(`resource '${model.name}'`, options, optionNames)
}

/**
 * Returns the columns and paths that the options `exclude`, `readOnly`, `filterable` and `search` of a resource name.
 */
function namedColumns (
  model: Model, options: ResourceOptions
): Pick<Registration, 'excluded' | 'readOnly' | 'opened' | 'searched'> {
  const excluded = columnsNamed(model, options, 'exclude')
  const opened = openedPaths(model, options)
  return {
    excluded,
    readOnly: columnsNamed(model, options, 'readOnly'),
    opened,
    searched: searchedColumns(model, options, { excluded, opened })
  }
}

function requirePath (model: Model, path: string): void {
  if (/^[a-z0-9_-]+$/.test(path)) return
  throw new errors.InvalidOptions(
    `'path' of resource '${model.name}' consists of lower-case letters, digits, '_' and '-'`)
}

function etagOf (model: Model, { etag = false }: ResourceOptions): boolean {
  if (typeof etag === 'boolean') return etag
  throw new errors.InvalidOptions(`'etag' of resource '${model.name}' must be true or false`)
}

function configOf (model: Model, { config = {} }: ResourceOptions): Registration['config'] {
  if (typeof config === 'object' && config !== null && !Array.isArray(config)) return Object.freeze({ ...config })
  throw new errors.InvalidOptions(
    `'config' of resource '${model.name}' must be an object, such as a route of Fastify takes`)
}

function scopeRuleOf (model: Model, policy: AnyPolicy, scope: ResourceOptions['scope']): ScopeRule | undefined {
  if (scope === undefined) return undefined
  if (typeof scope === 'function') {
    return { model, policy, scope: scope as ScopeRule['scope'], planScope: compilePlanScope(model) }
  }
  throw new errors.InvalidOptions(
    `'scope' of resource '${model.name}' must be a function that returns which records a user may see`)
}
