import type { Expression, RawBuilder, SqlBool } from 'kysely'
import type { Catalog } from './catalog.js'
import type { QueryPlans } from './query-plan.js'
import type { SchemaHabits } from './schema-habits.js'
import type { Parameter, Storage, StorageTable } from './storage.js'

/**
 * SQL with which an engine in this process ends a list statement that has run past its deadline. A deadline is in
 * milliseconds of `performance.now()`.
 */
export interface ListDeadline {
  /** Query that answers 1 or more if the connection has the SQL function of `everyRow` and `someRows`, otherwise 0. */
  readonly isAvailable: RawBuilder<unknown>
  /**
   * Returns a condition that is true before the deadline, and makes the statement fail after it. The engine checks the
   * condition at each row of the table that the column `key` belongs to.
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
 * - `lost`: the connection died or the storage failed, and nobody knows whether the statement was executed
 * - `unavailable`: certainly nothing was done, and the plugin does not repeat the statement
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

/** Traits of the patterns of a condition, on which its SQL depends. */
export interface PatternTraits {
  /** True if a pattern holds {@link Dialect.ambiguous} characters. The SQL is then longer, to tell them apart. */
  readonly isAmbiguous?: boolean
  /** True if each pattern begins with a wildcard ({@link Dialect.leadingWildcard}), so that no index can serve. */
  readonly hasLeadingWildcard?: boolean
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
  /** Matches a pattern of `likePattern` that begins with a wildcard. Absent if the SQL is the same for all patterns. */
  readonly leadingWildcard?: RegExp
  /** Returns the condition that a column matches a pattern in the same case. The pattern comes from `likePattern`. */
  like (column: RawBuilder<unknown>, pattern: Parameter, traits?: PatternTraits): RawBuilder<SqlBool>
  /**
   * Returns the condition that a column matches a pattern, ignoring at least the case of ASCII letters. The pattern is
   * the original one, not that of `likePattern`.
   */
  ilike (column: RawBuilder<unknown>, pattern: Parameter, traits?: PatternTraits): RawBuilder<SqlBool>
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
  /** Returns SQL for the number of characters (Unicode code points) in a text column. */
  length (column: RawBuilder<unknown>): RawBuilder<unknown>
  /** Statement that begins a transaction which may read before it writes. */
  readonly begin: string
  /**
   * True if a select can lock the rows that it finds, by `for update`. False for SQLite, where `begin immediate` locks
   * the whole database for writes.
   */
  readonly locksRows: boolean
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
   * Kinds of failures by code. The text of a failure never decides. A failure without a listed code has no kind, and is
   * thrown as `discreet` returns it.
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
  /**
   * Further requirements by column type, such as `timestamp`. Each applies only if a model has a column of that type.
   */
  readonly requiredBy?: Readonly<Record<string, Requirement>>
}

export type DialectName = 'sqlite' | 'postgres' | 'mariadb'
