import type { FastifyInstance } from 'fastify'
import { checkCompiler } from '../../schemas/check.js'
import { openEngine, type Engine } from '../database/engine.js'
import { compileFindUser } from '../database/find-user.js'
import { errors } from '../errors.js'
import { Events, eventsOf } from '../events/events.js'
import type { Column } from '../model/column.js'
import type { Model } from '../model/define-model.js'
import { reachableModels } from '../model/reachable-models.js'
import { browserGuard } from '../policy/origin.js'
import { Passwords } from '../policy/passwords.js'
import type { AnyPolicy, Authenticate, PolicySetting } from '../policy/policy.js'
import { readCredentials } from '../policy/user-auth.js'
import { compileUrlParts } from '../request/query-string.js'
import { compileAccess } from '../resource/access.js'
import { isCreatable, locksRecords, openWritesOf } from '../resource/creatable.js'
import type { Registration } from '../resource/registration.js'
import { compileResource, type Resource, type ResourceSetting } from '../resource/resource.js'
import { swagger2Warning, warnOfRegistration, warnOfUnshown, warnOfUnusable } from '../resource/warnings.js'
import { addRoutes } from '../routes/routes.js'
import { readTables } from '../tables/read-tables.js'
import { requireUncomputed } from '../tables/computed.js'
import { requireFillable } from '../tables/fillable.js'
import { requireEnforceable } from '../tables/enforceable.js'
import { fitEngine } from '../tables/fit-engine.js'
import { requireJoinable } from '../tables/joinable.js'
import { requireLockable } from '../tables/lockable.js'
import { requireNotReplacing } from '../tables/replacing.js'
import { requireReturning } from '../tables/returning.js'
import { requireTransactional } from '../tables/transactional.js'
import { requireUniqueIndexes } from '../tables/unique-indexes.js'
import { unshownColumns } from '../tables/unshown.js'
import { logEvents } from './event-log.js'
import { isolate } from './isolate.js'
import type { CheckedOptions } from './options.js'
import { Scheduler } from './scheduling/scheduler.js'

/** A resource, and the function that finds the user who sends a request to it. */
export interface ServedResource {
  readonly resource: Resource
  readonly authenticate: Authenticate
}

/**
 * Returns the Fastify plugin that serves the registered models in an encapsulated Fastify scope. The body parser, the
 * serializer and the hooks of that scope do not apply to the rest of the app.
 *
 * @param note  gets each resource after its routes were added
 */
export function openContainer (
  registrations: readonly Registration[], options: CheckedOptions, note: (served: ServedResource) => void
) {
  return async function restModelsContainer (scope: FastifyInstance): Promise<void> {
    const { db, limits, allowedOrigins } = options
    const events = openEvents(scope, options)
    const engines = await openEngines(options, registrations)
    await warnOfAllUnshown(scope, engines.engine, registrations)
    const scheduler = new Scheduler(scope.server, engines.engine.dialect.isEmbedded, events)
    const serializerOf = isolate(scope, scheduler)
    const passwords = new Passwords(events)
    const authenticateBy = await authenticators(scope, registrations, { db, passwords, ...engines })
    const shared = { scheduler, refuseForeign: browserGuard(allowedOrigins), noteSwagger2: swagger2Warning(scope.log) }
    const compilers = { checks: checkCompiler(), serializerOf, accessOf: compileAccess(registrations) }
    const setting = { ...engines, ...compilers, ...urlsOf(scope), limits, passwords }
    for (const registration of registrations) {
      warnOfRegistration(scope.log, registration, registrations)
      const resource = compileResource(registration, setting)
      warnOfUnusable(scope.log, resource)
      const authenticate = authenticateBy(registration.policy)
      addRoutes(scope, resource, { authenticate, ...shared })
      note({ resource, authenticate })
    }
  }
}

/** Characters of a parameter in a path that Fastify permits by default. */
const defaultSegment = 100

/**
 * Returns the path before the names of resources, percent-encoded, the most characters of an id in a path, and the
 * functions that find the parts of a URL. With the host's option `useSemicolonDelimiter`, a query also begins at `;`.
 */
function urlsOf (
  { initialConfig, prefix }: FastifyInstance
): Pick<ResourceSetting, 'prefix' | 'maxSegment' | 'pathOf' | 'queryOf'> {
  const options = [initialConfig.routerOptions, initialConfig].map(Object)
  // Fastify shows its default in `routerOptions` even if the option beside them counts. The router takes 0 for it.
  const lengths = options.map(({ maxParamLength }) => Number(maxParamLength) || defaultSegment)
  const maxSegment = lengths.find((length) => length !== defaultSegment) ?? defaultSegment
  const beginsAtSemicolon = options.some(({ useSemicolonDelimiter }) => useSemicolonDelimiter === true)
  return { prefix: `${encodeURI(prefix).replace(/\/$/, '')}/`, maxSegment, ...compileUrlParts(beginsAtSemicolon) }
}

/**
 * Returns the source of the events of an app. Until the app closes, {@link logEvents} writes some of these events, and
 * of those of the databases, to the log.
 */
function openEvents (scope: FastifyInstance, { db, readDb, slowStatement }: CheckedOptions): Events {
  const events = new Events()
  const end = logEvents(scope.log, slowStatement, [events, eventsOf(db), eventsOf(readDb)])
  scope.addHook('onClose', async () => { end() })
  return events
}

async function warnOfAllUnshown (
  { log }: FastifyInstance, engine: Engine, registrations: readonly Registration[]
): Promise<void> {
  for (const [model, shown] of shownBy(registrations)) {
    warnOfUnshown(log, model, await unshownColumns(engine, model, shown))
  }
}

/**
 * Opens an engine for `db` and one for `readDb`. Rejects if a model does not fit its table in one of the two databases,
 * or if a foreign key cannot be compared with the key that it refers to. Also rejects if `db` lacks a unique index that
 * a model needs; if a column, a foreign key, a rule or a view makes `db` refuse writes that a policy permits, whatever
 * their values; if a table that clients may write to has no transactions, or is a view whose rows cannot be locked for
 * hooks or `etag`; or if such a write would delete another record.
 */
async function openEngines (
  { db, readDb }: CheckedOptions, registrations: readonly Registration[]
): Promise<Pick<Resource, 'engine' | 'reader'>> {
  const models = modelsOf(registrations)
  // Their requirements come first: the queries of the catalog need some of them.
  const opened = { engine: await openEngine(db), reader: await openEngine(readDb, 'reader') }
  const tables = await readTables(db, models)
  const engine = await fitEngine(opened.engine, tables, models)
  const read = readDb === db ? tables : await readTables(readDb, models)
  const reader = await fitEngine(opened.reader, read, models)
  for (const joined of new Set([db, readDb])) await requireJoinable(joined, models)
  await requireUniqueIndexes(db, tables, models)
  await requireFillable(db, tables, registrations.filter(isCreatable).map(({ model }) => model))
  const writes = registrations.map(openWritesOf)
  await requireTransactional(db, tables, writes)
  await requireLockable(db, tables, registrations.filter(locksRecords).map(({ model }) => model))
  await requireReturning(db, tables, writes)
  await requireNotReplacing(db, tables, writes)
  requireUncomputed(tables, writes)
  await requireEnforceable(db, tables, writes)
  return { engine, reader }
}

/**
 * Returns all models that requests can read: the registered ones, the user models of their policies, and every model
 * that foreign keys of these lead to.
 */
function modelsOf (registrations: readonly Registration[]) {
  return reachableModels(
    registrations.flatMap(({ model, policy }) => policy.users === undefined ? [model] : [model, policy.users]))
}

/** Returns, for each registered model, the columns that at least one of its resources does not exclude. */
function shownBy (registrations: readonly Registration[]): ReadonlyMap<Model, readonly Column[]> {
  const shows = (column: Column) =>
    ({ model, excluded }: Registration) => model.columns.includes(column) && !excluded.has(column)
  return new Map(registrations.map(({ model }) =>
    [model, model.columns.filter((column) => registrations.some(shows(column)))]))
}

/** Returns the function by which policies find users. It knows only models whose tables the start has read. */
function userFinderOf (engine: Engine, registrations: readonly Registration[]): PolicySetting['userFinder'] {
  const models = modelsOf(registrations)
  return (users, columns) => {
    if (models.has(users)) return compileFindUser(engine, users, columns)
    throw new errors.InvalidOptions(
      `A policy finds its users in model '${users.name}': name this model as the 'users' of the policy`)
  }
}

/**
 * Returns a function that calls `policy.authenticator()` once for each policy. All resources with the same policy get
 * the same result.
 */
async function authenticators (
  scope: FastifyInstance, registrations: readonly Registration[],
  { db, engine, passwords }: Pick<PolicySetting, 'db'> & Pick<Resource, 'engine' | 'passwords'>
): Promise<(policy: AnyPolicy) => Authenticate> {
  const userFinder = userFinderOf(engine, registrations)
  const setting = { db, userFinder, credentials: await readCredentials(scope), passwords }
  const made = new Map<AnyPolicy, Authenticate>()
  return (policy) => {
    const authenticate = made.get(policy) ?? policy.authenticator(setting)
    if (typeof authenticate !== 'function') {
      throw new errors.InvalidOptions("A policy's authenticator() must give a function, not a promise of one")
    }
    made.set(policy, authenticate)
    return authenticate
  }
}
