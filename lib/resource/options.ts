import type { FastifyContextConfig } from 'fastify'
import { errors } from '../errors.js'
import type { Model } from '../model/define-model.js'
import type { ScopeOf } from '../model/scope-of.js'
import type { FieldNameOf, ForeignKeyNameOf, TextNameOf } from '../model/types.js'
import type { AnyPolicy, Policy, ScopeUser } from '../policy/policy.js'
import { requireWholeNumber } from '../suggest.js'
import type { WriteHooks } from './write-hooks.js'

/** Options of a resource, all optional. */
export interface ResourceOptions<M extends Model = Model, Auth extends AnyPolicy = Policy> extends WriteHooks<M, Auth> {
  /** The policy, which decides who may do what; if absent, that of the plugin's option `defaultAuth`. */
  readonly auth?: Auth
  /**
   * Returns which records a user may see: an object in the grammar of filters, such as `{ company: user.company }`, or
   * null for none. `{}` is all records. If the object permits only one value for a field of the resource itself, the
   * server sets the field to that value when a record is created. The user is null if nobody is logged in.
   *
   * The function is also called for requests to another resource whose records refer to these. In such a request the
   * user is null in two more cases:
   *
   * - Everybody may do the operation of the other resource, which has no scope: nobody then looks for a user.
   * - The policy of the other resource finds users in another way than the policy of this resource (another `login`),
   *   or without a field that this policy names in `fields`.
   */
  readonly scope?: (user: ScopeUser<Auth>) => ScopeOf<M> | null
  /**
   * Fields that no answer shows. This does not keep clients from writing them. Lists are filtered or ordered by them
   * only if `filterable` names them.
   */
  readonly exclude?: ReadonlyArray<FieldNameOf<M>>
  /**
   * The foreign key to the user that owns a record. The server sets it to the user who creates the record, and only the
   * owner may change or delete the record.
   */
  readonly ownerField?: ForeignKeyNameOf<M>
  /** Fields that no client may write. A default, the scope or the hook `beforeWrite` may set them. */
  readonly readOnly?: ReadonlyArray<FieldNameOf<M>>
  /**
   * Further names that clients may use. An excluded field that is listed here can be filtered and ordered by. A path
   * such as `user__email` can be filtered by, although it leads to or through an excluded field, or to a model without
   * a resource.
   */
  readonly filterable?: readonly string[]
  /**
   * Text fields of the resource that the parameter `search` of its lists looks at. Without this option there is no such
   * parameter.
   */
  readonly search?: ReadonlyArray<TextNameOf<M>>
  /**
   * True if answers with one record have an `ETag`, except those with `include`. An update or delete with `If-Match` is
   * then refused with 412 if the header does not list the current tag of the record. If false, the default, such an
   * update or delete is refused with 400, so that nobody relies on a protection that is not there.
   */
  readonly etag?: boolean
  /** Name of the resource in the path; the model's name in lower case if absent. */
  readonly path?: string
  /**
   * Records per page if the request has no `limit`. If absent, the `defaultLimit` of the plugin, but at most
   * `maxLimit`.
   */
  readonly defaultLimit?: number
  /**
   * Greatest `limit` that a request may have; a greater one is refused with 400. If absent, the `maxLimit` of the
   * plugin.
   */
  readonly maxLimit?: number
  /**
   * The `config` of every route of the resource. Plugins such as `@fastify/rate-limit` look there for their options.
   */
  readonly config?: FastifyContextConfig
}

/** Options of the plugin that hold for every resource without an option of the same name. */
export interface ResourceDefaults extends PageLimits {
  readonly auth: AnyPolicy
}

/**
 * Names of all options of a resource. Registration refuses any other name. The type makes the compiler report a name
 * that is missing here.
 */
export const optionNames: Readonly<Record<keyof ResourceOptions, true>> = {
  auth: true,
  scope: true,
  beforeWrite: true,
  afterWrite: true,
  exclude: true,
  ownerField: true,
  readOnly: true,
  filterable: true,
  search: true,
  etag: true,
  path: true,
  defaultLimit: true,
  maxLimit: true,
  config: true
}

/**
 * Limits of the number of records on a page. A request without `limit` gets `defaultLimit` records. A request with a
 * `limit` greater than `maxLimit` is refused with 400.
 */
export interface PageLimits {
  readonly defaultLimit: number
  readonly maxLimit: number
}

/**
 * Returns the page limits of options; a limit that is left out gets its default. The default of `defaultLimit` is
 * lowered to `maxLimit` if that is smaller.
 *
 * @param where  names the owner of the options, for messages
 * @throws REST_MODELS_INVALID_OPTIONS if a limit is no whole number from 1 on, or if `defaultLimit` is the greater one
 */
export function checkLimits (where: string, options: Partial<PageLimits>, defaults: PageLimits): PageLimits {
  const { maxLimit = defaults.maxLimit } = options
  const { defaultLimit = Math.min(defaults.defaultLimit, maxLimit) } = options
  requireWholeNumber(`'maxLimit' of ${where}`, maxLimit, 1)
  requireWholeNumber(`'defaultLimit' of ${where}`, defaultLimit, 1)
  if (defaultLimit > maxLimit) throw new errors.InvalidOptions(`'defaultLimit' of ${where} is more than its 'maxLimit'`)
  return { defaultLimit, maxLimit }
}
