import Fastify, { type FastifyInstance } from 'fastify'
import { errors } from '../../errors.js'
import restModels from '../../index.js'
import type { Model } from '../../model/define-model.js'
import { readOnlyAuth } from '../../policy/policies.js'
import { operations, type Policy } from '../../policy/policy.js'
import { suggestion } from '../../suggest.js'
import { readTables } from '../../tables/compare-tables.js'
import { findUnfillable } from '../../tables/creatable.js'
import { introspect } from '../introspect/introspect.js'
import type { Note } from '../introspect/model-plan.js'
import { secretColumns } from '../introspect/secret-columns.js'
import { addDocumentation, type DocumentationPackages } from './documentation.js'
import { errorLog } from './error-log.js'
import { hostCheck } from './host-check.js'
import { openDatabase } from './open-database.js'

export interface ServeOptions {
  /** Names of the tables to serve; all if absent. */
  readonly tables?: readonly string[]
  /** Whether anybody may create, change and delete. Default false: everybody may read, nobody may write. */
  readonly write?: boolean
  /** The address that the app will listen on: requests for other names than that and those of this machine are 421. Default 127.0.0.1. */
  readonly host?: string
  /** Columns to show although their names are those of secrets, as `table.column`. Default none. */
  readonly include?: readonly string[]
  /** Takes each line of the log, which is JSON: what the server is to blame for, without values. Default: standard error. */
  readonly log?: (line: string) => void
}

/** A database that is served. */
export interface ServedDatabase {
  /** Not listening yet; closing it closes the database. */
  readonly app: FastifyInstance
  readonly models: readonly Model[]
  /** What of the database is not served, and why. */
  readonly notes: readonly Note[]
  /** Columns that are not shown since they look secret, as `table.column`. */
  readonly hidden: readonly string[]
  /** The packages that a page of documentation needs and that are not installed. */
  readonly missing: readonly string[]
}

/** Anybody may do anything, or all but one thing. */
const openAuth: Policy = Object.freeze({ open: operations, authenticator: () => async () => null, permits: () => false })
const changingAuth: Policy = Object.freeze({ ...openAuth, open: operations.filter((operation) => operation !== 'create'), closed: ['create'] })

/**
 * An app that serves the tables of a database, which is neither created nor altered; columns that look secret are excluded.
 *
 * @param url  `sqlite:./site.db`, `postgres://…` or `mariadb://…`
 * @throws REST_MODELS_INVALID_OPTIONS, REST_MODELS_UNSUPPORTED_DATABASE with the remedy
 */
export async function serveDatabase (url: string, options: ServeOptions = {}, packages?: DocumentationPackages): Promise<ServedDatabase> {
  const { tables, write = false, host = '127.0.0.1', include = [], log = (line) => { process.stderr.write(line) } } = options
  const db = await openDatabase(url, { readOnly: !write })
  const app = Fastify({ logger: errorLog(log), requestTimeout: 30_000, connectionTimeout: 60_000 })
  app.addHook('onClose', async () => await db.destroy())
  app.addHook('onRequest', hostCheck(host))
  try {
    const found = await introspect(db, tables && { tables })
    requireColumns(found.models, include)
    const secrets = await secretColumns(db, include)
    const [models, secret] = split(found.models, ({ table, columns: [key] }) => !secrets.has(`${table}.${key.name}`))
    const missing = await addDocumentation(app, { write, packages })
    await app.register(restModels, { db, defaultAuth: write ? openAuth : readOnlyAuth() })
    const unfillable = write ? await findUnfillable(db, await readTables(db), models) : new Map<Model, readonly string[]>()
    for (const model of models) {
      const exclude = hiddenOf(model, secrets).map(({ field }) => field)
      app.restModels.register(model, { exclude, ...(unfillable.has(model) && { auth: changingAuth }) })
    }
    await app.restModels.setup()
    await app.ready()
    const notes = [...found.notes, ...secret.map(noteOf), ...[...unfillable].flatMap(unfillableNotes)]
    return { app, models, notes, missing, hidden: models.flatMap((model) => hiddenOf(model, secrets).map(({ name }) => `${model.table}.${name}`)) }
  } catch (error) {
    await app.close()
    throw error
  }
}

function unfillableNotes ([{ table }, columns]: readonly [Model, readonly string[]]): readonly Note[] {
  return columns.map((column) => ({ table, column, why: 'must have a value and has no default, so that no record can be created' }))
}

/** Paths and links show a primary key: a table whose key is secret is not served at all. */
function noteOf ({ table, columns: [{ name }] }: Model): Note {
  return { table, why: `has a primary key '${name}' that looks secret, or refers to what does (serve it by --include ${table}.${name})` }
}

function split<Item> (items: readonly Item[], isFirst: (item: Item) => boolean): readonly [readonly Item[], readonly Item[]] {
  return [items.filter(isFirst), items.filter((item) => !isFirst(item))]
}

function hiddenOf ({ table, columns }: Model, secrets: ReadonlySet<string>) {
  return columns.slice(1).filter(({ name }) => secrets.has(`${table}.${name}`))
}

function requireColumns (models: readonly Model[], include: readonly string[]): void {
  const known = models.flatMap(({ table, columns }) => columns.map(({ name }) => `${table}.${name}`))
  const unknown = include.find((name) => !known.includes(name))
  if (unknown !== undefined) throw new errors.InvalidOptions(`'${unknown}' is no column that is served, as table.column${suggestion(unknown, known)}`)
}
