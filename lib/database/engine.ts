import { sql, type Kysely, type RawBuilder } from 'kysely'
import { provideConnectionsOf, type ProvideConnection } from '../engines/connection-queue.js'
import type { Dialect, Requirement } from '../engines/dialect.js'
import { executorsOf, type Role, type Tables } from '../engines/executor.js'
import { KyselyExecutor } from '../engines/kysely-executor.js'
import { errors } from '../errors.js'
import { eventsOf } from '../events/events.js'
import { cacheShapes } from '../sql/shapes.js'
import type { SqlContext } from '../sql/sql-context.js'
import { dialects } from './dialects.js'
import { turnsOf, type RecordTurns } from './record-turns.js'
import { runAlone, type RunTransaction, type TransactionHandle } from './transaction.js'
import { TransactionGroups } from './transaction-groups.js'

/** Any Kysely instance, whatever its tables. */
export type AnyKysely = Pick<Kysely<never>, 'getExecutor' | 'introspection'>

/** A database, its dialect, and the executor that runs statements on it. */
export interface Handle extends TransactionHandle {
  /** The application's Kysely instance without its Kysely plugins, which may rename columns. */
  readonly db: Kysely<Tables>
  /** The application's Kysely instance as it was given, with its Kysely plugins. */
  readonly host: Kysely<Tables>
  readonly dialect: Dialect
  /** Provides connections for transactions and for the check of health. */
  readonly provideConnection: ProvideConnection
}

/** A database that {@link openEngine} has checked, with the cache of its compiled statements. */
export interface Engine extends Handle, SqlContext {
  /** Runs the writes that have a hook `beforeWrite`, for each record one after another. See {@link turnsOf}. */
  readonly turns: RecordTurns
}

/**
 * Opens the engine of a Kysely instance. Runs queries to check that the database does what the plugin relies on. Each
 * call returns another engine, with a cache of its own. All engines of one instance share the turns of its records.
 *
 * @param role  as for {@link readHandle}
 * @throws REST_MODELS_UNSUPPORTED_DATABASE with the remedy
 */
export async function openEngine (handle: AnyKysely, role: Role = 'writer'): Promise<Engine> {
  const { dialect: general, ...given } = readHandle(handle, role)
  const { db } = given
  const isOwn = executorsOf(handle) !== undefined
  const dialect = isOwn ? { ...general, storage: general.ownStorage ?? general.storage } : general
  for (const requirement of dialect.requirements) await requireMet(db, requirement)
  const { listDeadline } = dialect
  const hasDeadline = listDeadline !== undefined && Number(await ask(db, listDeadline.isAvailable)) > 0
  const fitted = { ...dialect, listDeadline: hasDeadline ? listDeadline : undefined }
  return Object.freeze({ ...given, dialect: fitted, shapes: cacheShapes(), turns: turnsOf(handle, dialect) })
}

/**
 * Runs the query of a requirement, which the database must answer with 1.
 *
 * @throws REST_MODELS_UNSUPPORTED_DATABASE with the remedy after any other answer. The BigInt `1n` and the text `'1'`
 *   are refused, too, because the plugin needs integers as numbers.
 */
export async function requireMet (db: Kysely<Tables>, { query, remedy }: Requirement): Promise<void> {
  const answer = await ask(db, query)
  if (typeof answer === 'bigint') {
    throw new errors.UnsupportedDatabase("The connection gives integers as BigInt: switch 'defaultSafeIntegers' off")
  }
  if (answer === '1') {
    throw new errors.UnsupportedDatabase("The connection gives integers as texts: switch 'bigNumberStrings' off")
  }
  if (answer !== 1) throw new errors.UnsupportedDatabase(remedy)
}

/**
 * Returns the {@link Handle} of a Kysely instance. The handle's `db` lacks the application's Kysely plugins, which may
 * rename columns. The role matters only for a database that the plugin opened; for any other, both roles use Kysely's
 * driver. Unlike {@link openEngine}, this runs no query.
 *
 * @throws REST_MODELS_UNSUPPORTED_DATABASE if no dialect fits, or if the handle has a schema by withSchema()
 */
export function readHandle (handle: AnyKysely, role: Role = 'writer'): Handle {
  // Kysely<T> is invariant in T. Any T will do, because the names come from models.
  const given = handle as unknown as Kysely<Tables>
  if (given.getExecutor().plugins.some((plugin) => classNames(plugin).includes('WithSchemaPlugin'))) {
    throw new errors.UnsupportedDatabase("'db' has a schema by withSchema(), which is not supported: " +
      'name it in the search_path of the connection')
  }
  const db = given.withoutPlugins()
  const { adapter } = db.getExecutor()
  const names = classNames(adapter)
  const dialect = Object.values<Dialect>(dialects).find((row) => names.includes(row.adapter))
  if (dialect === undefined) {
    throw new errors.UnsupportedDatabase(`'db' runs on ${names[0]}; supported: ${Object.keys(dialects).join(', ')}`)
  }
  const own = executorsOf(handle)
  return handleOf(db, dialect, { host: given, events: eventsOf(handle), ...own && { executor: own[role] } })
}

/** Returns the handle of a Kysely instance. If no executor is given, statements go through Kysely's driver. */
export function handleOf (
  db: Kysely<Tables>, dialect: Dialect, parts: Partial<Pick<Handle, 'host' | 'executor' | 'events'>> = {}
): Handle {
  const { host = db, events = eventsOf(host), executor = new KyselyExecutor(db, dialect, events) } = parts
  const provideConnection = provideConnectionsOf(db, dialect)
  const alone: RunTransaction = (work) => runAlone(dialect, events, provideConnection, work)
  // A server commits the transactions of several connections together by itself.
  const groups = dialect.isEmbedded ? new TransactionGroups(alone, events) : undefined
  const runTransaction: RunTransaction = groups === undefined ? alone : (work) => groups.run(work)
  return { db, host, dialect, executor, events, provideConnection, runTransaction }
}

/** Returns the names of an object's class and of the classes that it extends. */
function classNames (instance: object): readonly string[] {
  const parent = Object.getPrototypeOf(instance) as object | null
  return parent === null ? [] : [parent.constructor.name, ...classNames(parent)]
}

async function ask (db: Kysely<Tables>, question: RawBuilder<unknown>): Promise<unknown> {
  const { rows: [row] } = await sql<{ answer: unknown }>`${question}`.execute(db)
  return row?.answer
}
