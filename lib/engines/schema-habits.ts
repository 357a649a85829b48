import type { RawBuilder } from 'kysely'
import type { ColumnRow } from './catalog.js'
import type { WrittenColumn } from './storage.js'

/** A column of a table or view, as far as models are compared with it. */
export type ListedColumn = Pick<ColumnRow, 'name' | 'type' | 'nullable' | 'generated'>

/**
 * Listing for an engine (SQLite) whose query for the columns of all tables fails if one table cannot be described. So
 * each table that a model names is asked for by itself.
 */
export interface TableByTable {
  /** Returns the query for the columns of one table or view. */
  columnsOf (table: string): RawBuilder<ListedColumn>
}

/** Listing for an engine (PostgreSQL, MariaDB) whose tables Kysely lists: queries for what Kysely leaves out. */
export interface AllTables {
  /** Query for the columns whose values the engine generates, but of which Kysely does not report that. */
  readonly generated: RawBuilder<ColumnRow>
  /** Queries for tables in schemas. Absent if the engine has no schemas within a database. */
  readonly schemas?: {
    /**
     * Query for the names of the schemas in which a table is found by its bare name. If several schemas have the table,
     * the first row wins.
     */
    readonly path: RawBuilder<{ name: string }>
    /**
     * Query for the columns of materialized views and foreign tables, which Kysely does not list. It has only those
     * that a statement finds by their bare names. They are compared with models as views are.
     */
    readonly unlisted: RawBuilder<ColumnRow>
  }
}

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
   * True if `alter table` can add no constraints, and only columns whose default is constant or absent. A foreign key
   * is then added as part of its column, which must have no default if the table has rows. Absent if `alter table` adds
   * constraints and any columns.
   */
  readonly altersByColumn?: true
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
  /** How the columns of tables are read, to compare them with models. */
  readonly listing: TableByTable | AllTables
  /** True if a primary key may be null where its column is not declared `not null`. Absent if it is never null. */
  readonly keysMayBeNull?: true
  /**
   * Query for the columns of all tables with their declared types, because the storage of some depends on these. Views
   * may be missing here.
   */
  readonly written: RawBuilder<WrittenColumn>
  /**
   * Query that answers 0 if the server tells names of tables apart by case. `foldName` then applies only to columns.
   * After another answer, or if there is no such query, it applies to both.
   */
  readonly foldsTables?: RawBuilder<{ answer: unknown }>
  /**
   * Words at the end of the message for a table that does not exist, which say where it may be after all. Absent if it
   * can be nowhere else.
   */
  readonly missingTableHint?: string
}
