import { sql, type Kysely, type RawBuilder } from 'kysely'
import { errors } from '../errors.js'
import { dialects, type Dialect } from '../vocabulary/dialects.js'
import type { Stored } from '../vocabulary/storage.js'

/** Any Kysely instance, whatever its tables. */
export type AnyKysely = Pick<Kysely<never>, 'getExecutor' | 'introspection'>

/** A row as it comes from a driver: one value for each selected key. */
export type Row = Readonly<Record<string, Stored>>

export type Tables = Record<string, Record<string, unknown>>

/** A database handle and what its engine does in its own way. */
export interface Engine {
  readonly db: Kysely<Tables>
  readonly dialect: Dialect
  /** Whether {@link deadlineFunction} is there, as on a database that openSqlite opened. */
  readonly hasDeadline: boolean
}

/** SQL function of openSqlite: throws when `performance.now()` has passed its first argument. */
export const deadlineFunction = 'rest_models_before'

/**
 * Looks at a database handle: its engine, and that it does what the plugin relies on.
 *
 * @throws REST_MODELS_UNSUPPORTED_DATABASE with the remedy
 */
export async function openEngine (handle: AnyKysely): Promise<Engine> {
  const { db, dialect } = readHandle(handle)
  for (const { query, remedy } of dialect.requirements) {
    const answer = await ask(db, query)
    if (typeof answer === 'bigint') throw new errors.UnsupportedDatabase("The connection gives integers as BigInt: switch 'defaultSafeIntegers' off")
    if (answer !== 1) throw new errors.UnsupportedDatabase(remedy)
  }
  const hasDeadline = dialect.hasFunction !== undefined && Number(await ask(db, dialect.hasFunction(deadlineFunction))) > 0
  return Object.freeze({ db, dialect, hasDeadline })
}

/** The handle with tables by name, without the host's Kysely plugins, which would rename columns, and its dialect. */
export function readHandle (handle: AnyKysely): { readonly db: Kysely<Tables>, readonly dialect: Dialect } {
  // Kysely<T> is invariant in T; the names come from models, so any T will do.
  const given = handle as unknown as Kysely<Tables>
  if (given.getExecutor().plugins.some((plugin) => classNames(plugin).includes('WithSchemaPlugin'))) {
    throw new errors.UnsupportedDatabase("'db' has a schema by withSchema(), which is not supported: name it in the search_path of the connection")
  }
  const db = given.withoutPlugins()
  const names = classNames(db.getExecutor().adapter)
  const dialect = Object.values<Dialect>(dialects).find((row) => names.includes(row.adapter))
  if (dialect === undefined) {
    throw new errors.UnsupportedDatabase(`'db' runs on ${names[0]}; supported: ${Object.keys(dialects).join(', ')}`)
  }
  return { db, dialect }
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
