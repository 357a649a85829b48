import type { RawBuilder } from 'kysely'
import type { ColumnRow } from './catalog.js'

/** SQL and rules of an engine for creating, altering, dropping and listing tables. */
export interface SchemaHabits {
  /** SQL type and constraint of a primary key whose values the engine generates. */
  readonly generatedKey: string
  /** Text after the list of columns in `create table`. */
  readonly tableOptions?: string
  /**
   * True if a table may refer only to tables that exist. Foreign keys in a circle are then added after all tables are
   * created. False if a table may be created before those that it refers to.
   */
  readonly needsTargets: boolean
  /**
   * True if `alter table` cannot add a constraint, and cannot add a column whose default is not constant. A foreign key
   * is then added as part of its column, which must have no default if the table has rows. Absent if `alter table` adds
   * constraints and any columns.
   */
  readonly altersByColumn?: true
  /**
   * Names, in lower case, that only `create table` gives to a column. `alter table` refuses them, at least in some
   * versions of the engine. Absent if there are none.
   */
  readonly onlyCreatedNames?: readonly string[]
  /**
   * Statements to run before and after dropping tables that refer to each other in a circle. Present if the engine
   * cannot drop their foreign keys first.
   */
  readonly unchecked?: { readonly begin: RawBuilder<unknown>, readonly end: RawBuilder<unknown> }
  /** Returns the statement that drops a foreign key. Present if `drop constraint` does not always do so. */
  dropReference? (table: RawBuilder<unknown>, name: RawBuilder<unknown>): RawBuilder<unknown>
  /** True if `drop index` must name the table, too. Absent if the name of the index is enough. */
  readonly namesTableOfIndex?: true
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
   * Returns the statement that drops a table, even if other tables refer to it. Present if the engine cannot roll back
   * `create table`.
   */
  drop? (table: RawBuilder<unknown>): RawBuilder<unknown>
  /**
   * Returns the query for the columns of one table or view. Present if `Catalog.columns` fails as soon as one table
   * cannot be read, as on SQLite.
   */
  columnsOf? (table: string): RawBuilder<ColumnRow>
  /** True if a primary key may be null where its column is not declared `not null`. Absent if it is never null. */
  readonly keysMayBeNull?: true
  /**
   * Query that answers 0 if two table names that differ only in case are two tables. Then `Dialect.foldName` must not
   * be used for table names, only for names of columns. After another answer, or if there is no such query, it is used
   * for both.
   */
  readonly foldsTables?: RawBuilder<{ answer: unknown }>
  /**
   * End of the message for a table that does not exist. It names another remedy than creating the table. PostgreSQL
   * alone has it, because the table may be in a schema that is not in the search path.
   */
  readonly missingTableHint?: string
}
