import type { Expression, RawBuilder, SqlBool } from 'kysely'
import type { Catalog, ColumnRow } from './catalog.js'
import type { QueryPlans } from './query-plan.js'
import type { Parameter, Storage, StorageTable, WrittenColumn } from './storage.js'

/**
 * SQL with which an engine in this process ends a list statement that has run past its deadline. A deadline is in
 * milliseconds of `performance.now()`.
 */
export interface ListDeadline {
  /** Query that answers 1 or more if the connection has what the conditions need, otherwise 0. */
  readonly isAvailable: RawBuilder<unknown>
  /**
   * Returns a condition that is true before the deadline, and makes the statement fail after it. The engine checks it
   * at each row of the table that the key belongs to.
   */
  everyRow (key: RawBuilder<unknown>, deadline: Parameter): RawBuilder<SqlBool>
  /**
   * Returns the same as `everyRow`, but checked at about one row in 64, because reading the clock costs as much as a
   * short row.
   */
  someRows (key: RawBuilder<unknown>, deadline: Parameter): RawBuilder<SqlBool>
}

/**
 * Kinds of failures of an engine, by their consequence:
 * - `unique`, `reference`, `constraint`: a rule of the database refuses the write; `reference` includes numbers out of
 *   range
 * - `forbidden`: the database user may do this, but a policy for rows forbids it for this record
 * - `oversized`: a value is too large for the engine, or for an index
 * - `incomparable`: a text holds a character that the character set of its column does not have
 * - `unexecuted`: certainly nothing was done, and the same may succeed a moment later or elsewhere
 * - `lost`: the connection died, and nobody knows whether the statement was executed
 * - `unavailable`: the engine cannot run the statement now, and the plugin does not repeat it
 */
export type FailureKind =
  'unique' | 'reference' | 'constraint' | 'forbidden' | 'oversized' | 'incomparable' |
  'unexecuted' | 'lost' | 'unavailable'

/**
 * A condition that a connection must meet: a query whose `answer` must be 1. Otherwise the error's message is `remedy`.
 */
export interface Requirement {
  readonly query: RawBuilder<unknown>
  readonly remedy: string
}

/** SQL, storage, failures and requirements of an engine, as far as Kysely does not cover them. */
export interface Dialect {
  /** Name of Kysely's adapter class, which is the same for every copy of Kysely and every subclass of a dialect. */
  readonly adapter: string
  readonly storage: StorageTable
  /** Storage on connections that the plugin opened itself, whose settings it knows. Default: `storage`. */
  readonly ownStorage?: StorageTable
  /**
   * Storage of those columns of models whose storage in this database differs from `storage`. Absent if none differs.
   */
  readonly storages?: ReadonlyMap<object, Storage>
  /** True if the engine runs in this process. */
  readonly isEmbedded: boolean
  /** Returns the same text for two names of tables or columns that the engine does not tell apart. */
  foldName (name: string): string
  /** Returns SQL of a text column that is compared character by character, whatever its collation. */
  exact (column: RawBuilder<unknown>): RawBuilder<unknown>
  /**
   * True if an index serves only comparisons in the collation of its column. An exact comparison then needs a second
   * one in that collation, so that the index serves. False if the exact comparison alone suffices.
   */
  readonly seeksByCollation: boolean
  /** Converts a pattern for the whole value, with `%`, `_` and backslash escapes, to the pattern that `like` takes. */
  likePattern (pattern: string): string
  /**
   * Matches a pattern with characters that the engine confuses. `like` and `ilike` then tell them apart only if
   * `isAmbiguous` is true. Absent if the engine confuses none.
   */
  readonly ambiguous?: RegExp
  /** Returns the condition that a column matches a pattern in the same case. The pattern comes from `likePattern`. */
  like (column: RawBuilder<unknown>, pattern: Parameter, isAmbiguous?: boolean): RawBuilder<SqlBool>
  /**
   * Returns the condition that a column matches a pattern, ignoring at least the case of ASCII letters. The pattern is
   * the original one, not that of `likePattern`.
   */
  ilike (column: RawBuilder<unknown>, pattern: Parameter, isAmbiguous?: boolean): RawBuilder<SqlBool>
  /** Directions of an ordering that put nulls first when ascending, and last when descending. */
  readonly nullsFirst: { readonly ascending: RawBuilder<unknown>, readonly descending: RawBuilder<unknown> }
  /**
   * Returns the SQL of a value with which a unique column is compared by `=`. SQLite needs a special form, so that it
   * does not prepare the statement anew for each value.
   */
  identifying (value: Expression<unknown>): RawBuilder<unknown>
  /**
   * Returns the values of a JSON array of texts and integers, as the operand of `in`. Absent if the engine would
   * compare a column differently with these values than with parameters.
   */
  listed? (array: Parameter): RawBuilder<unknown>
  /** Returns the operand of `limit`. */
  limit (count: Parameter): RawBuilder<number>
  /** Returns the number of characters (Unicode code points) in a text column. */
  length (column: RawBuilder<unknown>): RawBuilder<unknown>
  /** True if an update can return the rows that it changed, by `returning`. */
  readonly returnsUpdates: boolean
  readonly schema: SchemaHabits
  readonly catalog: Catalog
  readonly plans: QueryPlans
  /**
   * Returns a query for the columns of an index, to find the field whose value is too long for it. Present if a failure
   * of the engine names the index.
   */
  indexColumns? (index: string): RawBuilder<{ name: string }>
  /** Returns the codes under which `failures` may list a failure, from the most specific to the most general. */
  codesOf (failure: Error): readonly string[]
  /**
   * Kinds of failures by code. The text of a failure never decides. A failure without a listed code is thrown on as it
   * is.
   */
  readonly failures: Readonly<Record<string, FailureKind>>
  /**
   * Returns a failure that may be logged. If the engine's own words may hold values of a record or a query, it returns
   * a copy with only the code and the names; otherwise the given failure.
   */
  discreet (failure: Error): Error
  /** SQL that ends a list statement after a deadline. Absent if the engine ends it by other means, or cannot end it. */
  readonly listDeadline?: ListDeadline | undefined
  readonly requirements: readonly Requirement[]
  /** Further requirements, each needed only if a model has a column of the type, by type. */
  readonly requiredBy?: Readonly<Record<string, Requirement>>
}

/** SQL and rules of an engine for creating tables. */
export interface SchemaHabits {
  /** SQL type of a primary key whose values the engine generates. */
  readonly generatedKey: string
  /** Text behind the list of columns in `create table`. */
  readonly tableOptions?: string
  /**
   * True if a table may refer only to tables that exist. Foreign keys in a circle are then added after all tables are
   * created. False if a table may be created before those that it refers to.
   */
  readonly needsTargets: boolean
  /**
   * Statement that begins a transaction in which tables are created. Absent if the engine commits after each `create
   * table`.
   */
  readonly begin?: RawBuilder<unknown>
  /**
   * Lock that keeps other processes from creating tables at the same time. Absent if `begin` does that. The answer of
   * `acquire` is 1 if this process got the lock, otherwise 0 or null. Without `release`, the lock ends with the
   * transaction.
   */
  readonly lock?: { readonly acquire: RawBuilder<{ answer: unknown }>, readonly release?: RawBuilder<unknown> }
  /**
   * Returns the statement that drops a table, even if others refer to it. Present if the engine cannot roll tables
   * back.
   */
  drop? (table: RawBuilder<unknown>): RawBuilder<unknown>
  /**
   * Query for the columns of all tables. Present if Kysely does not see that a column with a quoted name is generated.
   */
  readonly keys?: RawBuilder<ColumnRow>
  /** Query for the columns whose declared type must be known, because {@link Storage.ofType} depends on it. */
  readonly written: RawBuilder<WrittenColumn>
  /**
   * Query that answers 0 if the server tells names of tables apart by case. `foldName` then applies only to columns.
   * After another answer, or if there is no such query, it applies to both.
   */
  readonly foldsTables?: RawBuilder<{ answer: unknown }>
  /**
   * Query for the names of the schemas in which a table is found by its bare name, as rows `{ name }`. If several
   * schemas have the table, the first row wins. Absent if the engine has no such schemas.
   */
  readonly searchPath?: RawBuilder<{ name: string }>
}

export type DialectName = 'sqlite' | 'postgres' | 'mariadb'

/** Returns a failure's property as text; empty if it is absent or null. */
export function propertyOf (failure: unknown, name: string): string {
  const value = valueOf(failure, name)
  return value === undefined || value === null ? '' : String(value)
}

function valueOf (failure: unknown, name: string): unknown {
  return Object.getOwnPropertyDescriptor(Object(failure), name)?.value
}

/**
 * Returns a copy of a failure without properties that may hold values, such as PostgreSQL's `detail` and the SQL that
 * MariaDB's driver adds.
 *
 * @param isTold  true if the message holds no values and is kept; otherwise another text with the code replaces it
 * @param names   names of the properties to keep, that of the code first
 */
export function withoutValues (
  failure: Error, isTold: boolean, names: readonly [code: string, ...others: string[]]
): Error {
  const kept = Object.fromEntries(
    names.map((name) => [name, valueOf(failure, name)]).filter(([, value]) => value !== undefined)
  )
  const code = propertyOf(failure, names[0])
  const message = isTold
    ? failure.message
    : `The database failed with code ${code}. Its message is left out, because it may hold values`
  return Object.assign(new Error(message), kept)
}
