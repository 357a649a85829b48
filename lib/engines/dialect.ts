import type { CompiledQuery, Expression, RawBuilder, SqlBool } from 'kysely'
import type { Catalog } from './catalog.js'
import type { QueryPlans } from './query-plan.js'
import type { SchemaHabits } from './schema-habits.js'
import type { Parameter, Storage, StorageTable } from './storage.js'

/**
 * SQL for the deadline of a list statement on an engine in this process: conditions in the statement itself make it
 * fail after its deadline. A deadline is in milliseconds of `performance.now()`.
 */
export interface ListDeadline {
  /**
   * Query that answers 1 or more if the connection has the SQL function that the conditions of `everyRow` and
   * `someRows` call to compare the clock with the deadline; otherwise 0.
   */
  readonly isAvailable: RawBuilder<unknown>
  /**
   * Returns a condition that is true before the deadline, and makes the statement fail after it. The engine checks the
   * condition at each row of the table that the column `key` belongs to.
   */
  everyRow (key: RawBuilder<unknown>, deadline: Parameter): RawBuilder<SqlBool>
  /**
   * Returns the same as `everyRow`, but checked at about one row in 64, because reading the clock takes as long as
   * reading a short row.
   */
  someRows (key: RawBuilder<unknown>, deadline: Parameter): RawBuilder<SqlBool>
}

/**
 * Kinds of failures of an engine, by their consequence:
 * - `unique`, `reference`, `constraint`: a rule of the database refuses the write; `reference` includes numbers out of
 *   range, so that such a foreign key is reported as one that refers to no record
 * - `forbidden`: the database user may do this, but a row-level security policy forbids it for this record
 * - `oversized`: a value, a row or a statement is too large for the engine, or a value is too large for an index
 * - `incomparable`: a text holds a character that the character set of its column does not have
 * - `unexecuted`: certainly nothing was done, and the same may succeed a moment later or elsewhere
 * - `lost`: the connection died or the storage failed, and nobody knows whether the statement was executed
 * - `unavailable`: certainly nothing was done, but the statement is not repeated, because the cause may last, such as a
 *   full disk, or because the statement has used up its time
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

/** Properties of the patterns of a `like` or `ilike` that change the SQL of the condition. */
export interface PatternTraits {
  /**
   * True if {@link Dialect.ambiguous} matches a pattern: the pattern has characters that the engine does not tell
   * apart. The SQL then has a second comparison, which tells them apart.
   */
  readonly isAmbiguous?: boolean
  /**
   * True if {@link Dialect.leadingWildcard} matches each pattern of a `like`, so that no index can serve. SQLite's
   * SQL then hides the pattern from the planner, which would otherwise plan anew for each one. Never true for `ilike`.
   */
  readonly hasLeadingWildcard?: boolean
}

/** SQL, storage, failures and requirements of an engine, as far as Kysely does not cover them. */
export interface Dialect {
  readonly name: DialectName
  /**
   * Name of Kysely's adapter class. A Kysely instance has this dialect if its adapter is of a class with that name, or
   * of a subclass. Names are compared, because an app may have several copies of Kysely.
   */
  readonly adapter: string
  readonly storage: StorageTable
  /** Storage on connections that the plugin opened itself, whose settings it knows. Default: `storage`. */
  readonly ownStorage?: StorageTable
  /**
   * Storage, by column of a model, for the columns whose storage in this database differs from `storage`. Empty or
   * absent if none differs, or if the models were not compared with the tables yet.
   */
  readonly storages?: ReadonlyMap<object, Storage>
  /**
   * Models with triggers that may change a record after the statement has returned it, or instead of deleting it, so
   * that the record is read again, and columns that may have another value than a create returns. Empty or absent if
   * there are none, or if the models were not compared with the tables yet.
   */
  readonly changedLater?: ReadonlySet<object>
  /**
   * Models whose table is a view, so that even a list in the order of the key may take long. Empty or absent if there
   * are none, or if the models were not compared with the tables yet.
   */
  readonly views?: ReadonlySet<object>
  /** True if the engine runs in this process. */
  readonly isEmbedded: boolean
  /**
   * Returns the same text for two names of columns that the engine does not tell apart. The same holds for names of
   * tables, except if {@link SchemaHabits.foldsTables} answers 0.
   */
  foldName (name: string): string
  /** Returns SQL of a text column that is compared character by character, whatever its collation. */
  exact (column: RawBuilder<unknown>): RawBuilder<unknown>
  /**
   * True if an index on a text column serves only comparisons in the collation of the column. `eq` and `in` then
   * compare twice: exactly, and in that collation, so that the index serves. If false, they make only the exact
   * comparison.
   */
  readonly seeksByCollation: boolean
  /** Converts a pattern for the whole value, with `%`, `_` and backslash escapes, to the pattern that `like` takes. */
  likePattern (pattern: string): string
  /**
   * Matches a pattern with characters that the engine does not tell apart. `like` and `ilike` tell such characters
   * apart only if they get `isAmbiguous` as true. Absent if the engine has no such characters.
   */
  readonly ambiguous?: RegExp
  /**
   * Matches a pattern of `likePattern` that begins with a wildcard or an escaped character, so that no index can serve.
   * Absent if the SQL does not depend on that.
   */
  readonly leadingWildcard?: RegExp
  /** Returns the condition that a column matches a pattern, case-sensitively. The pattern comes from `likePattern`. */
  like (column: RawBuilder<unknown>, pattern: Parameter, traits?: PatternTraits): RawBuilder<SqlBool>
  /**
   * Returns the condition that a column matches a pattern, ignoring at least the case of ASCII letters. The pattern is
   * the original one, not that of `likePattern`.
   */
  ilike (column: RawBuilder<unknown>, pattern: Parameter, traits?: PatternTraits): RawBuilder<SqlBool>
  /**
   * SQL of the two directions in `order by` that count null as less than every value: ascending with nulls first,
   * descending with nulls last.
   */
  readonly nullsFirst: { readonly ascending: RawBuilder<unknown>, readonly descending: RawBuilder<unknown> }
  /**
   * Returns the SQL of a value with which the operator `eq` compares a unique column. SQLite needs a special form, so
   * that it does not prepare the statement anew for each value.
   */
  identifying (value: Expression<unknown>): RawBuilder<unknown>
  /**
   * Returns the values of a JSON array of texts and integers, as the operand of `in`. Absent if the engine would
   * compare a column differently with these values than with parameters.
   */
  listed? (array: Parameter): RawBuilder<unknown>
  /** Returns the operand of `limit`. */
  limit (count: Parameter): RawBuilder<number>
  /** Returns SQL for the number of characters (Unicode code points) in a text column. */
  length (column: RawBuilder<unknown>): RawBuilder<unknown>
  /**
   * Matches the quoted texts, the quoted names and the comments of a statement, which may hold any words. It does not
   * match the comments that MariaDB executes.
   */
  readonly quoted: RegExp
  /** Match the beginning of statements that make the engine commit an open transaction. */
  readonly committing?: readonly RegExp[]
  /** Statement that begins a transaction which may read before it writes. */
  readonly begin: CompiledQuery
  /**
   * True if a select can lock the rows that it finds, by `for update`. False for SQLite, where `begin immediate` locks
   * the whole database for writes.
   */
  readonly locksRows: boolean
  /**
   * Returns the version of the row in a table or alias, which each write of the row changes. Only for an engine whose
   * write may wait for another one, and then sees the row as it is now, but rows of other tables as they were before.
   */
  readonly rowVersion?: (row: { readonly name: string, readonly isView: boolean }) => RawBuilder<unknown>
  /** What follows `insert into` and the table to create a row of defaults only. */
  readonly emptyRow: RawBuilder<never>
  /**
   * True if a write locks each record that its subqueries read, even a record that does not meet their conditions. Such
   * a write would wait for a record that the user may not see, so the references are checked by a read first.
   */
  readonly subqueriesLockRows: boolean
  /** True if an update can return the rows that it changed, by `returning`. */
  readonly returnsUpdates: boolean
  readonly schema: SchemaHabits
  readonly catalog: Catalog
  readonly plans: QueryPlans
  /**
   * Returns a query for the columns of an index, to find the field whose value is too long for the index. Present if
   * the engine's failure for such a value names the index.
   */
  indexColumns? (index: string): RawBuilder<{ name: string }>
  /** Returns the codes under which `failures` may list a failure, from the most specific to the most general. */
  codesOf (failure: Error): readonly string[]
  /**
   * Kinds of failures by the codes that `codesOf` returns. If there was no connection, or a transaction could not
   * begin, the kind is `unexecuted` instead, whatever the code. But with an embedded engine, `unavailable` stays
   * `unavailable`. Any other failure without a listed code has no kind, and is thrown as `toLoggable` returns it. So
   * is one whose code stands for undefined.
   */
  readonly failures: Readonly<Record<string, FailureKind | undefined>>
  /** Codes that `codesOf` returns for two columns that the engine cannot compare. Absent if it compares all columns. */
  readonly incomparableCodes?: readonly string[]
  /** Codes that `codesOf` returns for a view whose rows cannot be locked. Absent if all views that take writes can. */
  readonly unlockableCodes?: readonly string[]
  /**
   * Returns a failure that may be logged: the given one, or a copy without the parts that may hold values of a record
   * or a query.
   */
  toLoggable (failure: Error): Error
  /**
   * True if the engine also computes the selected values of the rows that `offset` skips, as PostgreSQL does. If a page
   * skips many rows, a subquery then chooses its rows, so that values are computed only for these. Absent on SQLite,
   * which computes none for skipped rows, and on MariaDB. On these two, the subquery would read long texts in full,
   * although a list may need only their length.
   */
  readonly selectsSkipped?: boolean
  /** SQL that ends a list statement after a deadline. Absent if the engine ends it by other means, or cannot end it. */
  readonly listDeadline?: ListDeadline | undefined
  readonly requirements: readonly Requirement[]
  /**
   * Further requirements by a type of the database, such as `timestamp`. Each applies only if a column of a model has
   * that type in its table.
   */
  readonly requiredBy?: Readonly<Record<string, Requirement>>
}

export type DialectName = 'sqlite' | 'postgres' | 'mariadb'
