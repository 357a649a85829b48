import { sql, type CompiledQuery, type Kysely, type RawBuilder } from 'kysely'
import { LRUCache } from 'lru-cache'
import { errors } from '../errors.js'
import { dialects, type Dialect } from '../vocabulary/dialects.js'
import type { Stored } from '../vocabulary/storage.js'

/** Any Kysely instance, whatever its tables. */
export type AnyKysely = Pick<Kysely<never>, 'getExecutor' | 'introspection'>

/** A row as it comes from a driver: one value for each selected key. */
export type Row = Readonly<Record<string, Stored>>

/** Rows without keys: for each its values, in the order of the selection. */
export type ArrayRows = ReadonlyArray<readonly Stored[]>

/** What a statement on one record did: the first row that it gave, and how many it changed. */
export interface Outcome {
  readonly row: Row | undefined
  readonly changed: number
}

/** A connection of an engine that runs in this process: when a call returns, the statement was executed. */
export interface SyncConnection {
  /** Whether nobody has it, so that it is in no transaction, and it is open. */
  readonly isFree: boolean
  execute (query: CompiledQuery): Outcome
  /** Making objects of rows is what a list would cost. */
  readArrays (query: CompiledQuery): ArrayRows
}

/** What a handle is for: one that only reads is given what nobody writes on, so that it awaits nobody. */
export type Role = 'reader' | 'writer'

/** Where the adapter of a handle that openSqlite opened has a {@link SyncConnection} for each role. */
export const kSync = Symbol('rest-models.sync')

export type Tables = Record<string, Record<string, unknown>>

/** A database and what its engine does in its own way. */
export interface Handle {
  readonly db: Kysely<Tables>
  readonly dialect: Dialect
  /** Absent where statements are to be waited for. */
  readonly sync: SyncConnection | undefined
}

/** A database that was looked at, and the statements for it. */
export interface Engine extends Handle {
  /** Compiled statements by their shape, which clients choose: the least used ones go. */
  readonly shapes: LRUCache<string, CompiledQuery>
  /** Whether {@link deadlineFunction} is there, as on a database that openSqlite opened. */
  readonly hasDeadline: boolean
}

const maxShapes = 500

/** SQL function of openSqlite: throws when `performance.now()` has passed its first argument. */
export const deadlineFunction = 'rest_models_before'

/**
 * Looks at a database handle: its engine, and that it does what the plugin relies on.
 *
 * @throws REST_MODELS_UNSUPPORTED_DATABASE with the remedy
 */
export async function openEngine (handle: AnyKysely, role: Role = 'writer'): Promise<Engine> {
  const { db, dialect, sync } = readHandle(handle, role)
  for (const { query, remedy } of dialect.requirements) {
    const answer = await ask(db, query)
    if (typeof answer === 'bigint') throw new errors.UnsupportedDatabase("The connection gives integers as BigInt: switch 'defaultSafeIntegers' off")
    if (answer !== 1) throw new errors.UnsupportedDatabase(remedy)
  }
  const hasDeadline = dialect.hasFunction !== undefined && Number(await ask(db, dialect.hasFunction(deadlineFunction))) > 0
  return Object.freeze({ db, dialect, sync, hasDeadline, shapes: new LRUCache<string, CompiledQuery>({ max: maxShapes }) })
}

/** The handle with tables by name, without the host's Kysely plugins, which would rename columns, its dialect and its connection. */
export function readHandle (handle: AnyKysely, role: Role = 'writer'): Handle {
  // Kysely<T> is invariant in T; the names come from models, so any T will do.
  const given = handle as unknown as Kysely<Tables>
  if (given.getExecutor().plugins.some((plugin) => classNames(plugin).includes('WithSchemaPlugin'))) {
    throw new errors.UnsupportedDatabase("'db' has a schema by withSchema(), which is not supported: name it in the search_path of the connection")
  }
  const db = given.withoutPlugins()
  const { adapter } = db.getExecutor()
  const names = classNames(adapter)
  const dialect = Object.values<Dialect>(dialects).find((row) => names.includes(row.adapter))
  if (dialect === undefined) {
    throw new errors.UnsupportedDatabase(`'db' runs on ${names[0]}; supported: ${Object.keys(dialects).join(', ')}`)
  }
  // A transaction shares the adapter, but has a connection that the others must not use.
  const connections = given.isTransaction ? undefined : (adapter as { readonly [kSync]?: Readonly<Record<Role, SyncConnection>> })[kSync]
  return { db, dialect, sync: connections?.[role] }
}

/** The names of the class of an object and of those that it extends. */
function classNames (instance: object): readonly string[] {
  const parent = Object.getPrototypeOf(instance) as object | null
  return parent === null ? [] : [parent.constructor.name, ...classNames(parent)]
}

async function ask (db: Kysely<Tables>, question: RawBuilder<unknown>): Promise<unknown> {
  const { rows: [row] } = await sql<{ answer: unknown }>`${question}`.execute(db)
  return row?.answer
}
