import { types } from 'node:util'
import { readHandle, type AnyKysely } from '../database/engine.js'
import { errors } from '../errors.js'
import { defaultLimits, greatestLimits, leastLimits, type Limits } from '../plan/limits.js'
import { readOnlyAuth } from '../policy/policies.js'
import type { AnyPolicy } from '../policy/policy.js'
import { requirePolicy } from '../policy/require-policy.js'
import { checkLimits } from '../resource/options.js'
import { requireKnown, requireWholeNumber } from '../suggest.js'

/** Options of the plugin; only `db` is required. */
export interface RestModelsOptions {
  /** A Kysely instance; the plugin neither opens nor closes it. */
  readonly db: AnyKysely
  /**
   * A Kysely instance on a replica of the same database. GET requests read their records there, so their answers may
   * lack the newest writes. Default: `db`.
   */
  readonly readDb?: AnyKysely
  /** Policy of the resources that name none. Default: `readOnlyAuth()`. */
  readonly defaultAuth?: AnyPolicy
  /**
   * Path before the names of the resources: `/api` makes `/api/article/`. If the plugin is registered in a scope with a
   * prefix, that comes first. Default `/api`.
   */
  readonly prefix?: string
  /**
   * Property of the app that holds the registry. Default `restModels`. A second registration of the plugin in one app
   * needs another name.
   */
  readonly decorator?: string
  /** Records per page if the request has no `limit`. Default 20, or `maxLimit` if that is smaller. */
  readonly defaultLimit?: number
  /** Greatest `limit` that a request may have; a greater one is refused with 400. Default 100. */
  readonly maxLimit?: number
  /** Limits for one request; each limit that is left out keeps its default. */
  readonly limits?: Partial<Limits>
  /**
   * Other origins, such as `https://app.example.com`, from whose pages browsers may send writes. A write from a page of
   * any other origin, even of another subdomain, is refused with 403. Default none.
   */
  readonly allowedOrigins?: readonly string[]
  /** A statement that takes at least this many milliseconds is logged as slow; with 0, none is. Default 500. */
  readonly slowStatement?: number
}

/** Options with every default filled in. */
export type CheckedOptions = Required<Omit<RestModelsOptions, 'limits' | 'defaultAuth'>> & {
  readonly limits: Limits
  /** The option `defaultAuth`, under the name that it has among the options of a resource. */
  readonly auth: AnyPolicy
}

const optionNames: Readonly<Record<keyof RestModelsOptions, true>> = {
  db: true,
  readDb: true,
  defaultAuth: true,
  prefix: true,
  decorator: true,
  defaultLimit: true,
  maxLimit: true,
  limits: true,
  allowedOrigins: true,
  slowStatement: true
}

/**
 * Checks the options of the plugin and fills in the defaults.
 *
 * @throws REST_MODELS_INVALID_OPTIONS, REST_MODELS_UNSUPPORTED_DATABASE naming the option and the remedy
 */
export function checkOptions (options: RestModelsOptions): CheckedOptions {
  requireKnown<RestModelsOptions>('The plugin', options, optionNames)
  const {
    db, defaultAuth: auth = readOnlyAuth(), prefix = '/api', decorator = 'restModels', allowedOrigins = []
  } = options
  const { readDb = db, slowStatement = 500 } = options
  requireHandles(db, readDb)
  requirePolicy("'defaultAuth'", auth)
  requirePrefix(prefix)
  requireDecorator(decorator)
  requireOrigins(allowedOrigins)
  requireWholeNumber("'slowStatement'", slowStatement, 0)
  return Object.freeze({
    db,
    readDb,
    auth,
    prefix,
    decorator,
    allowedOrigins,
    slowStatement,
    limits: mergeLimits(options.limits ?? {}),
    ...checkLimits('the plugin', options, { defaultLimit: 20, maxLimit: 100 })
  })
}

function requireHandles (db: AnyKysely, readDb: AnyKysely): void {
  requireKysely('db', db)
  requireKysely('readDb', readDb)
  if (readHandle(db).dialect !== readHandle(readDb).dialect) {
    throw new errors.InvalidOptions("'readDb' must run on the same engine as 'db'")
  }
}

function requireKysely (name: string, handle: AnyKysely): void {
  if (typeof handle?.getExecutor === 'function') return
  const remedy = types.isPromise(handle) ? 'but is a promise: await it' : 'such as openSqlite() gives'
  throw new errors.InvalidOptions(`'${name}' must be a Kysely instance, ${remedy}`)
}

function requirePrefix (prefix: string): void {
  if (/^(?:\/[^/:*?#\s]+)*$/.test(prefix)) return
  throw new errors.InvalidOptions("'prefix' must be empty or a path such as '/api', without a final slash")
}

function requireDecorator (decorator: string): void {
  if (typeof decorator === 'string' && decorator !== '') return
  throw new errors.InvalidOptions("'decorator' must be the name of a decorator, such as 'restModels'")
}

function requireOrigins (origins: readonly string[]): void {
  if (!Array.isArray(origins)) throw new errors.InvalidOptions("'allowedOrigins' must be a list of origins")
  for (const origin of origins) {
    if (isOrigin(origin)) continue
    throw new errors.InvalidOptions(
      `'allowedOrigins' names '${origin}', which is not an origin such as 'https://app.example.com'`)
  }
}

/**
 * True if a text is an origin in the form in which browsers send it. The web views of apps have schemes of their own,
 * such as `capacitor://localhost`. The class `URL` has no origin for these, and leaves capitals in the host.
 */
function isOrigin (text: string): boolean {
  if (!URL.canParse(text) || /[A-Z*]/.test(text)) return false
  const { protocol, host } = new URL(text)
  return host !== '' && `${protocol}//${host}` === text
}

function mergeLimits (limits: Partial<Limits>): Limits {
  if (typeof limits !== 'object') throw new errors.InvalidOptions("The option 'limits' must be an object")
  requireKnown<Partial<Limits>>("The option 'limits'", limits, defaultLimits)
  const least = new Map(Object.entries(leastLimits))
  const greatest = new Map(Object.entries(greatestLimits))
  for (const [name, value] of Object.entries(limits)) {
    requireWholeNumber(`'limits.${name}'`, value, least.get(name) ?? 0, greatest.get(name))
  }
  return Object.freeze({ ...defaultLimits, ...limits })
}
