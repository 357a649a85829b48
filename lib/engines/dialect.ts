import type { Expression, RawBuilder, SqlBool } from 'kysely'
import type { Catalog, ColumnRow } from './catalog.js'
import type { QueryPlans } from './query-plan.js'
import type { Parameter, Storage, StorageTable, WrittenColumn } from './storage.js'

/** Name of openSqlite()'s SQL function that throws once `performance.now()` has passed its first argument. */
export const deadlineFunction = 'rest_models_before'

/**
 * Kinds of failures of an engine, by their consequence:
 * - `unique`, `reference`, `constraint`: a rule of the database refuses the write; `reference` includes numbers out of
 *   range
 * - `forbidden`: the database user may do this, but a policy for rows forbids it for this record
 * - `oversized`: a value is too large for the engine, or for an index
 * - `incomparable`: a text holds a character that the character set of its column does not have
 * - `unexecuted`: certainly nothing was done, and the same may succeed a moment later or elsewhere
 * - `lost`: the connection died, and nobody knows whether the statement was executed
 * - `unavailable`: the engine cannot do it now
 */
export type FailureKind =
  'unique' | 'reference' | 'constraint' | 'forbidden' | 'oversized' | 'incomparable' |
  'unexecuted' | 'lost' | 'unavailable'

/** A condition that a connection must meet: a query whose answer must be 1, and the remedy if it is not. */
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
  /** Storage of single columns of one database, if it differs, by the column of the model. */
  readonly storages?: ReadonlyMap<object, Storage>
  /** True if the engine runs in this process. */
  readonly isEmbedded: boolean
  /** Returns the same text for two names of tables or columns that the engine does not tell apart. */
  foldName (name: string): string
  /** Returns a text column that is compared character by character, whatever its collation. */
  exact (column: RawBuilder<unknown>): RawBuilder<unknown>
  /**
   * True if an index serves only comparisons in the collation of its column. An exact comparison then needs both: one
   * in that collation, and the exact one.
   */
  readonly seeksByCollation: boolean
  /** Converts a whole-value pattern with `%`, `_` and backslash escapes to the pattern that `like` takes. */
  likePattern (pattern: string): string
  /** Finds characters that patterns of the engine tell apart only if `isAmbiguous` is true. */
  readonly ambiguous?: RegExp
  /** Returns a case-sensitive match, with a pattern from `likePattern`. */
  like (column: RawBuilder<unknown>, pattern: Parameter, isAmbiguous?: boolean): RawBuilder<SqlBool>
  /** Returns a match with the original pattern that ignores at least the case of ASCII letters. */
  ilike (column: RawBuilder<unknown>, pattern: Parameter, isAmbiguous?: boolean): RawBuilder<SqlBool>
  /** Directions of an ordering that put nulls first when ascending, and last when descending. */
  readonly nullsFirst: { readonly ascending: RawBuilder<unknown>, readonly descending: RawBuilder<unknown> }
  /** Returns the operand that a unique column is compared with by `=`. */
  identifying (value: Expression<unknown>): RawBuilder<unknown>
  /**
   * Returns the values of a JSON array of texts and integers, as the operand of `in`. Absent if columns do not compare
   * with them as with parameters.
   */
  listed? (array: Parameter): RawBuilder<unknown>
  /** Returns the operand of `limit`. */
  limit (count: Parameter): RawBuilder<number>
  /** Returns the number of characters (Unicode code points) in a text column. */
  length (column: RawBuilder<unknown>): RawBuilder<unknown>
  /** True if an update can return the rows that it changed. */
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
  /** Kinds of failures by code. The text of a failure never decides. */
  readonly failures: Readonly<Record<string, FailureKind>>
  /**
   * Returns a failure that may be logged. If the engine's own words may hold values of a record or a query, only the
   * code and the names in it are left; otherwise it is the same failure.
   */
  discreet (failure: Error): Error
  /** Returns a query that counts the SQL functions of a name. Present if a function can give a list a deadline. */
  hasFunction? (name: string): RawBuilder<unknown>
  readonly requirements: readonly Requirement[]
  /** Further requirements, each needed only if a model has a column of the type, by type. */
  readonly requiredBy?: Readonly<Record<string, Requirement>>
}

/** SQL and rules of an engine for creating tables. */
export interface SchemaHabits {
  /** Type of the primary key whose values the engine generates. */
  readonly generatedKey: string
  /** Text behind the columns in `create table`. */
  readonly tableOptions?: string
  /** True if a table may refer only to tables that exist. Foreign keys in a circle are then added at the end. */
  readonly needsTargets: boolean
  /** Begins a transaction in which tables are created. Absent if the engine commits after each of them. */
  readonly begin?: RawBuilder<unknown>
  /**
   * Keeps other processes from creating tables at the same time, if `begin` does not. The answer is 1 if the lock was
   * acquired. It ends with the transaction, or is released.
   */
  readonly lock?: { readonly acquire: RawBuilder<{ answer: unknown }>, readonly release?: RawBuilder<unknown> }
  /** Drops a table that others may refer to. Present if creating tables cannot be undone otherwise. */
  drop? (table: RawBuilder<unknown>): RawBuilder<unknown>
  /** Columns of all tables. Present if Kysely cannot tell which of them are generated when a name is quoted. */
  readonly keys?: RawBuilder<ColumnRow>
  /** Query for the columns whose declared type must be known, because {@link Storage.ofType} depends on it. */
  readonly written: RawBuilder<WrittenColumn>
  /** Query that answers 0 if the server tells tables apart by case. Then `foldName` does not apply to them. */
  readonly foldsTables?: RawBuilder<{ answer: unknown }>
  /** Names of the schemas in which a table is found by its bare name, as rows `{ name }`. The first one wins. */
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
 * Copies a failure without properties that may hold values, such as PostgreSQL's `detail` and the SQL that MariaDB's
 * driver adds.
 *
 * @param isTold  true if its text holds no values
 * @param names   properties to keep, the code first
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
