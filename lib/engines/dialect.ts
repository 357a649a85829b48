import type { Expression, RawBuilder, SqlBool } from 'kysely'
import type { Catalog, ColumnRow } from './catalog.js'
import type { QueryPlans } from './query-plan.js'
import type { Parameter, Storage, StorageTable, WrittenColumn } from './storage.js'

/** SQL function of openSqlite: throws when `performance.now()` has passed its first argument. */
export const deadlineFunction = 'rest_models_before'

/**
 * What went wrong in an engine, in terms of what follows:
 * - `unique`, `reference`, `constraint`: a rule of the database refuses the write; `reference` also stands for numbers out of range
 * - `forbidden`: whoever connects may do this, but not with this record, as a policy for rows says
 * - `oversized`: a value is too large for the engine, or for an index
 * - `incomparable`: a text holds a character that the character set of its column does not have
 * - `unexecuted`: certainly nothing was done, and the same may succeed a moment later or elsewhere
 * - `lost`: the connection died, and nobody knows whether the statement was executed
 * - `unavailable`: the engine cannot do it now
 */
export type FailureKind = 'unique' | 'reference' | 'constraint' | 'forbidden' | 'oversized' | 'incomparable' | 'unexecuted' | 'lost' | 'unavailable'

/** What must hold on a connection: a query whose answer must be 1, and the remedy if it is not. */
export interface Requirement {
  readonly query: RawBuilder<unknown>
  readonly remedy: string
}

/** What an engine does in its own way, beyond what Kysely settles. */
export interface Dialect {
  /** Name of Kysely's adapter class: it is the same for every copy of Kysely and every subclass of a dialect. */
  readonly adapter: string
  readonly storage: StorageTable
  /** The same for connections that the plugin opened itself, whose settings it knows. */
  readonly ownStorage?: StorageTable
  /** Columns of one database whose values are kept in another way, by what a model calls them. */
  readonly storages?: ReadonlyMap<object, Storage>
  /** Whether it does its work in this process. */
  readonly isEmbedded: boolean
  /** The same for two names of tables or columns that the engine does not tell apart. */
  foldName (name: string): string
  /** A text column compared character by character, whatever its collation. */
  exact (column: RawBuilder<unknown>): RawBuilder<unknown>
  /** Whether an index serves only comparisons in the collation of its column, so that exact ones need both. */
  readonly seeksByCollation: boolean
  /** What `like` takes for a whole-value pattern with `%`, `_` and backslash escapes. */
  likePattern (pattern: string): string
  /** Finds characters that patterns of the engine do not tell apart, unless the SQL does. */
  readonly ambiguous?: RegExp
  /** Case-sensitive. */
  like (column: RawBuilder<unknown>, pattern: Parameter, isAmbiguous?: boolean): RawBuilder<SqlBool>
  /** Takes the pattern itself, and ignores the case of ASCII letters at least. */
  ilike (column: RawBuilder<unknown>, pattern: Parameter, isAmbiguous?: boolean): RawBuilder<SqlBool>
  /** Directions of an ordering that put nulls first when ascending. */
  readonly nullsFirst: { readonly ascending: RawBuilder<unknown>, readonly descending: RawBuilder<unknown> }
  /** What a unique column is equal to. */
  identifying (value: Expression<unknown>): RawBuilder<unknown>
  /** The values of a JSON array of texts and integers, as what stands behind `in`, if columns compare with them as with parameters. */
  listed? (array: Parameter): RawBuilder<unknown>
  /** How many rows are wanted. */
  limit (count: Parameter): RawBuilder<number>
  /** The count of characters (Unicode code points) of a text column. */
  length (column: RawBuilder<unknown>): RawBuilder<unknown>
  /** Whether an update can give back the rows that it changed. */
  readonly returnsUpdates: boolean
  readonly schema: SchemaHabits
  readonly catalog: Catalog
  readonly plans: QueryPlans
  /** The names of the columns of an index, where a failure names the index in which a value has no room. */
  indexColumns? (index: string): RawBuilder<{ name: string }>
  /** What a failure may be called in {@link failures}, from the exact name to the general one. */
  codesOf (failure: Error): readonly string[]
  /** Failures that are told apart, by code and never by text. */
  readonly failures: Readonly<Record<string, FailureKind>>
  /** A failure as it may be logged: the same, or its code and the names in it, if the engine's own words may hold values of a record or a query. */
  discreet (failure: Error): Error
  /** A query that counts the SQL functions of a name, where a list can be given a deadline by one. */
  hasFunction? (name: string): RawBuilder<unknown>
  readonly requirements: readonly Requirement[]
  /** What must hold as well if a model has a column of a type. */
  readonly requiredBy?: Readonly<Record<string, Requirement>>
}

/** How an engine makes tables. */
export interface SchemaHabits {
  /** Type of the primary key whose values the engine generates. */
  readonly generatedKey: string
  /** What stands behind the columns. */
  readonly tableOptions?: string
  /** Whether a table may refer only to tables that exist; then foreign keys are added when all are there. */
  readonly needsTargets: boolean
  /** How a transaction begins in which tables are made; absent where the engine commits after each of them. */
  readonly begin?: RawBuilder<unknown>
  /** What keeps others from making tables at the same time, if `begin` does not; 1 is the answer if it could be had. It ends with the transaction, or is released. */
  readonly lock?: { readonly acquire: RawBuilder<{ answer: unknown }>, readonly release?: RawBuilder<unknown> }
  /** Drops a table that others may refer to, where making tables cannot be undone otherwise. */
  drop? (table: RawBuilder<unknown>): RawBuilder<unknown>
  /** The columns of all tables, where Kysely cannot tell which of them are generated if a name is quoted. */
  readonly keys?: RawBuilder<ColumnRow>
  /** The columns whose types are told apart by more than their names. */
  readonly written: RawBuilder<WrittenColumn>
  /** Whether `foldName` is right about tables too: 0 is the answer of a server that tells them apart by case. */
  readonly foldsTables?: RawBuilder<{ answer: unknown }>
  /** The names of the schemas in which a table is found by its bare name, the first one winning, as rows `{ name }`. */
  readonly searchPath?: RawBuilder<{ name: string }>
}

export type DialectName = 'sqlite' | 'postgres' | 'mariadb'

/** The value of a failure's property, as text. */
export function propertyOf (failure: Error, name: string): string {
  const value = valueOf(failure, name)
  return value === undefined || value === null ? '' : String(value)
}

function valueOf (failure: Error, name: string): unknown {
  return Object.getOwnPropertyDescriptor(failure, name)?.value
}

/**
 * A failure without what may hold values, such as PostgreSQL's `detail` and the SQL that MariaDB's driver adds.
 *
 * @param isTold  whether its text holds none
 * @param names   properties that are kept, the code first
 */
export function withoutValues (
  failure: Error, isTold: boolean, names: readonly [code: string, ...others: string[]]
): Error {
  const kept = Object.fromEntries(names.map((name) => [name, valueOf(failure, name)]).filter(([, value]) => value !== undefined))
  const code = propertyOf(failure, names[0])
  return Object.assign(new Error(isTold ? failure.message : `The database failed with code ${code}; its own words may hold values and are left out`), kept)
}
