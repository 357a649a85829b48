import Fastify, { type FastifyInstance } from 'fastify'
import { errors } from '../errors.js'
import restModels from '../index.js'
import { introspect } from '../introspection/introspect.js'
import type { Note } from '../introspection/model-plan.js'
import type { Model } from '../model/define-model.js'
import { looksSecret } from '../model/secret-names.js'
import { suggestion } from '../nearest.js'
import { readOnlyAuth } from '../policy/policies.js'
import { operations, type Policy } from '../policy/policy.js'
import { addDocumentation, type DocumentationPackages } from './documentation.js'
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

/** Anybody may do anything. */
const openAuth: Policy = Object.freeze({ open: operations, authenticator: () => async () => null, permits: () => false })

/**
 * An app that serves the tables of a database, which is neither created nor altered; columns that look secret are excluded.
 *
 * @param url  `sqlite:./site.db`, `postgres://…` or `mariadb://…`
 * @throws REST_MODELS_INVALID_OPTIONS, REST_MODELS_UNSUPPORTED_DATABASE with the remedy
 */
export async function serveDatabase (url: string, options: ServeOptions = {}, packages?: DocumentationPackages): Promise<ServedDatabase> {
  const { tables, write = false, host = '127.0.0.1', include = [] } = options
  const db = await openDatabase(url, { readOnly: !write })
  const app = Fastify({ requestTimeout: 30_000, connectionTimeout: 60_000 })
  app.addHook('onClose', async () => await db.destroy())
  app.addHook('onRequest', hostCheck(host))
  try {
    const { models, notes } = await introspect(db, tables && { tables })
    requireColumns(models, include)
    const missing = await addDocumentation(app, { write, packages })
    await app.register(restModels, { db, defaultAuth: write ? openAuth : readOnlyAuth() })
    for (const model of models) app.restModels.register(model, { exclude: hiddenOf(model, include).map(({ field }) => field) })
    await app.restModels.setup()
    await app.ready()
    return { app, models, notes, missing, hidden: models.flatMap((model) => hiddenOf(model, include).map(({ name }) => `${model.table}.${name}`)) }
  } catch (error) {
    await app.close()
    throw error
  }
}

function hiddenOf ({ table, columns }: Model, include: readonly string[]) {
  return columns.slice(1).filter((column) => looksSecret(column) && !include.includes(`${table}.${column.name}`))
}

function requireColumns (models: readonly Model[], include: readonly string[]): void {
  const known = models.flatMap(({ table, columns }) => columns.map(({ name }) => `${table}.${name}`))
  const unknown = include.find((name) => !known.includes(name))
  if (unknown !== undefined) throw new errors.InvalidOptions(`'${unknown}' is no column that is served, as table.column${suggestion(unknown, known)}`)
}
