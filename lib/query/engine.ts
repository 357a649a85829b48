import { sql, type CompiledQuery, type Kysely, type RawBuilder } from 'kysely'
import { errors, withRetryAfter } from '../errors.js'
import { dialects, type Dialect, type FailureKind } from '../vocabulary/dialects.js'
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
  const answer = await ask(db, dialect.requirement.query)
  if (typeof answer === 'bigint') throw new errors.UnsupportedDatabase("The connection gives integers as BigInt: switch 'defaultSafeIntegers' off")
  if (answer !== 1) throw new errors.UnsupportedDatabase(dialect.requirement.remedy)
  const hasDeadline = Number(await ask(db, dialect.hasFunction(deadlineFunction))) > 0
  return Object.freeze({ db, dialect, hasDeadline })
}

/** The handle with tables by name, without the host's Kysely plugins, which would rename columns, and its dialect. */
export function readHandle (handle: AnyKysely): { readonly db: Kysely<Tables>, readonly dialect: Dialect } {
  // Kysely<T> is invariant in T; the names come from models, so any T will do.
  const db = (handle as unknown as Kysely<Tables>).withoutPlugins()
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

/** What a statement did: its rows, and how many it changed. */
export interface Outcome {
  readonly rows: readonly Row[]
  readonly changed: number
}

/** A failed statement that is told apart by its cause: the caller knows what it means for the client. */
export class StatementFailure extends Error {
  readonly kind: FailureKind
  constructor (kind: FailureKind, cause: unknown) {
    super(`The database refused a statement: ${kind}`, { cause })
    this.kind = kind
  }
}

/**
 * Runs a statement.
 *
 * @throws StatementFailure if a rule of the database refuses it; REST_MODELS_UNAVAILABLE (503) with Retry-After if the
 *   engine cannot do it now; else what the driver threw
 */
export async function run ({ db, dialect }: Engine, query: CompiledQuery): Promise<Outcome> {
  try {
    const { rows, numAffectedRows } = await db.executeQuery<Row>(query)
    return { rows, changed: Number(numAffectedRows ?? 0n) }
  } catch (cause) {
    const kind = failureKind(dialect, cause)
    if (kind === undefined) throw cause
    throw kind === 'unavailable' ? withRetryAfter(new errors.Unavailable({ cause }), 1) : new StatementFailure(kind, cause)
  }
}

/** By the driver's code, never by its text; `A_B_C` falls back on the row of `A_B`. */
function failureKind ({ failures }: Dialect, error: unknown): FailureKind | undefined {
  let code = error instanceof Error && 'code' in error ? String(error.code) : ''
  while (code !== '' && !Object.hasOwn(failures, code)) code = code.slice(0, Math.max(0, code.lastIndexOf('_')))
  return failures[code]
}
