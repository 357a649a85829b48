import Fastify, { type FastifyInstance } from 'fastify'
import { errors } from '../../errors.js'
import restModels, { type AnyKysely } from '../../index.js'
import type { Column } from '../../model/column.js'
import type { Model } from '../../model/define-model.js'
import { keyColumnsOf } from '../../model/key.js'
import { readOnlyAuth } from '../../policy/policies.js'
import type { Policy } from '../../policy/policy.js'
import { requireBoolean, requireKnown, suggestion } from '../../suggest.js'
import { introspect } from '../introspect/introspect.js'
import type { Note } from '../introspect/model-plan.js'
import { secretKey } from '../introspect/remedies.js'
import { secretColumns } from '../introspect/secret-columns.js'
import { requireCredentials, type ServeCredentials } from './basic-credentials.js'
import { findClosedWrites, openExcept } from './closed-writes.js'
import { addDocumentation, type DocumentationPackages } from './documentation.js'
import { errorLog } from './error-log.js'
import { hostCheck, requireGuardedWrites } from './host-check.js'
import { openDatabase } from './open-database.js'

export interface ServeOptions {
  /** Names of the tables to serve. Default: all tables. */
  readonly tables?: readonly string[]
  /** Schema of PostgreSQL to serve. Default: what the search path finds. */
  readonly schema?: string
  /**
   * True if whoever may read may also create, change and delete records. Default false: the engine refuses writes. With
   * a `host` that other machines can reach, true needs `credentials`.
   */
  readonly write?: boolean
  /**
   * The address or name that the app will listen on. Default 127.0.0.1. A request whose Host header names neither it
   * nor `localhost` nor a loopback address gets 421. With `0.0.0.0` or `::`, the header may name any IP address.
   */
  readonly host?: string
  /** User and password that every request must send by HTTP Basic. Default: none, so nobody has to log in. */
  readonly credentials?: ServeCredentials
  /** Columns to show although their names look secret, as `table.column`. Default: none. */
  readonly include?: readonly string[]
  /**
   * Receives each line of the log, with its line break, and must write the line to where the log is kept. A line is
   * JSON, and reports a fault of the server without values of records or queries. Default: writes to standard error.
   */
  readonly log?: (line: string) => void
}

/** An app that serves a database, and notes about what it does not serve. */
export interface ServedDatabase {
  /** The app, which does not listen yet. Closing it closes the database. */
  readonly app: FastifyInstance
  readonly models: readonly Model[]
  /** Parts of the database that the app does not serve, or serves in another form, with the reasons. */
  readonly notes: readonly Note[]
  /** Columns that the app does not show because they look secret, as `table.column`. */
  readonly hidden: readonly string[]
  /** Packages that the page of documentation needs, but that are not installed. If any is missing, there is no page. */
  readonly missing: readonly string[]
}

const optionNames: Readonly<Record<keyof ServeOptions, true>> = {
  tables: true, schema: true, write: true, host: true, credentials: true, include: true, log: true
}

const logToStandardError = (line: string): void => { process.stderr.write(line) }

/**
 * Returns an app that serves the tables of a database below `/api/`. It neither creates nor alters the database or its
 * tables. It hides columns that look secret, and leaves out tables whose primary key looks secret.
 *
 * @param url  `sqlite:./site.db`, `postgres://…` or `mariadb://…`
 * @throws REST_MODELS_INVALID_OPTIONS, REST_MODELS_UNSUPPORTED_DATABASE with the remedy
 */
export async function serveDatabase (
  url: string, options: ServeOptions = {}, packages?: DocumentationPackages
): Promise<ServedDatabase> {
  const { write = false, host = '127.0.0.1', log = logToStandardError, schema } = options
  const hooks = guardsOf(options, { write, host })
  const db = await openDatabase(url, { readOnly: !write, ...schema !== undefined && { schema } })
  const app = Fastify({ logger: errorLog(log), requestTimeout: 30_000, connectionTimeout: 60_000 })
  app.addHook('onClose', async () => await db.destroy())
  for (const hook of hooks) app.addHook('onRequest', hook)
  try {
    const { resources, notes } = await planResources(db, options)
    const missing = await addDocumentation(app, packages)
    await app.register(restModels, { db, defaultAuth: write ? openExcept([]) : readOnlyAuth() })
    for (const { model, hidden, auth } of resources) {
      app.restModels.register(model, { exclude: hidden.map(({ field }) => field), ...(auth && { auth }) })
    }
    await app.restModels.setup()
    await app.ready()
    const hidden = resources.flatMap(({ model: { table }, hidden }) => hidden.map(({ name }) => `${table}.${name}`))
    return { app, models: resources.map(({ model }) => model), notes, missing, hidden }
  } catch (error) {
    await app.close()
    throw error
  }
}

/**
 * Returns the hooks that decide who may use the app.
 *
 * @throws REST_MODELS_INVALID_OPTIONS if an option is unknown or wrong, or if everybody could write
 */
function guardsOf (
  options: ServeOptions, { write, host }: Required<Pick<ServeOptions, 'write' | 'host'>>
): ReadonlyArray<ReturnType<typeof hostCheck | typeof requireCredentials>> {
  requireKnown<ServeOptions>('serveDatabase()', options, optionNames)
  requireBoolean("'write' of serveDatabase()", write)
  const { credentials } = options
  requireGuardedWrites({ host, write, hasCredentials: credentials !== undefined })
  return [hostCheck(host), ...credentials === undefined ? [] : [requireCredentials(credentials)]]
}

/** A model to serve. */
interface PlannedResource {
  readonly model: Model
  /** Columns that look secret, which the app does not show. */
  readonly hidden: readonly Column[]
  /** The policy of a model whose table does not take all writes; undefined for the default policy of the app. */
  readonly auth: Policy | undefined
}

/** Plans the resources of a database. The notes name what is not served, or served in another form. */
async function planResources (
  db: AnyKysely, { tables, write = false, include = [] }: ServeOptions
): Promise<{ readonly resources: readonly PlannedResource[], readonly notes: readonly Note[] }> {
  const found = await introspect(db, tables && { tables })
  requireColumns(found.models, include)
  const secrets = await secretColumns(db, include)
  const [models, secret] = split(found.models, (model) =>
    !keyColumnsOf(model).some(({ name }) => secrets.has(`${model.table}.${name}`)))
  const { served, notes: refusals } =
    write ? await findClosedWrites(db, models) : { served: models.map((model) => ({ model, closed: [] })), notes: [] }
  const resources = served.map(({ model, closed }) => ({
    model,
    hidden: model.columns.filter(({ name }) => secrets.has(`${model.table}.${name}`)),
    auth: closed.length > 0 ? openExcept(closed) : undefined
  }))
  const left = secret.map((model) => noteOf(model, secrets))
  // The notes about secret keys do not apply here: a table with such a key is served only if `include` names the key.
  const notes = found.notes.filter(({ why }) => why !== secretKey)
  return { resources, notes: [...notes, ...left, ...refusals] }
}

/**
 * Returns the note about a table that is not served because its primary key looks secret: paths and links would show
 * the values of that column.
 */
function noteOf (model: Model, secrets: ReadonlySet<string>): Note {
  const { table } = model
  const name = keyColumnsOf(model).map((column) => column.name)
    .find((name) => secrets.has(`${table}.${name}`))
  return {
    table,
    why: `has a primary key '${name}' that looks secret, or that refers to a secret column ` +
      `(to serve the table, add --include ${table}.${name})`
  }
}

function split<Item> (
  items: readonly Item[], isFirst: (item: Item) => boolean
): readonly [readonly Item[], readonly Item[]] {
  return [items.filter(isFirst), items.filter((item) => !isFirst(item))]
}

function requireColumns (models: readonly Model[], include: readonly string[]): void {
  const known = models.flatMap(({ table, columns }) => columns.map(({ name }) => `${table}.${name}`))
  const unknown = include.find((name) => !known.includes(name))
  if (unknown !== undefined) {
    const hint = suggestion(unknown, known)
    throw new errors.InvalidOptions(`'${unknown}' is not a column of a served table, written as table.column${hint}`)
  }
}
