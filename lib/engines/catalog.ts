import { sql, type Expression, type RawBuilder, type SqlBool } from 'kysely'
import type { TypeTable } from './described-types.js'
import type { StorageName, WrittenColumn } from './storage.js'

/** A table, or another object that an engine lists beside tables, such as a view. */
export interface TableRow {
  readonly name: string
  /** `table`, or words for another kind, such as `view`, `materialized view` or {@link inheritedKind}. */
  readonly kind: string
  /**
   * 1 for a view, and for a materialized view or foreign table of PostgreSQL, otherwise 0; read with {@link isYes}.
   * Models are compared with these less strictly than with tables.
   */
  readonly view: unknown
}

/**
 * Kind of a table of PostgreSQL from which others inherit. Statements on it also find the rows of the others, which may
 * have the same keys.
 */
export const inheritedKind = 'table from which others inherit'

/**
 * A column of a table. The columns of one table come in the order of the table. Each property of type unknown is 1 for
 * yes and 0 for no, as a number, a text or a BigInt: read it with {@link isYes}.
 */
export interface ColumnRow extends WrittenColumn {
  readonly nullable: unknown
  /** 1 if the database generates integers for this column, otherwise 0; read with {@link isYes}. */
  readonly generated: unknown
  /**
   * 1 if no write can set this column, otherwise 0; read with {@link isYes}. The database computes it from other
   * columns, or it is `generated always as identity` in PostgreSQL.
   */
  readonly computed: unknown
  /**
   * The default, as an SQL expression; null if none is declared. MariaDB gives the text `NULL` for a nullable column
   * without a default. On MariaDB, a remark in parentheses follows a default that the text may not show exactly: one
   * that holds `?`, which may stand for a character beyond U+FFFF, or a `float` of six digits, which may have more.
   * PostgreSQL gives the expression of a computed column.
   */
  readonly declared: string | null
}

/**
 * A column of a primary key, or of a unique index without conditions. Rows with the same `table` and `key` belong to
 * one key or index. `column` is null if the index has an expression, or only the beginning of a column, in this place.
 * `primary` is 1 for a primary key, otherwise 0; read with {@link isYes}.
 */
export interface KeyRow {
  readonly table: string
  readonly key: string
  readonly column: string | null
  readonly primary: unknown
}

/** A column of a foreign key. Rows with the same `table` and `key` belong to one foreign key. */
export interface ReferenceRow {
  readonly table: string
  readonly key: string
  readonly column: string
  /** Table that the foreign key refers to; empty if that table is not found by its name without a schema. */
  readonly target: string
  /** Column that the foreign key refers to; null if it names none, and so refers to the primary key. */
  readonly targetColumn: string | null
  /** Action of `on delete`, in upper or lower case: `cascade`, `set null`, `no action`, … */
  readonly onDelete: string
}

/**
 * A check constraint of one column that createTables() may have written, or a `create table` statement that may hold
 * several of them.
 */
export interface CheckRow {
  readonly table: string
  /** Name of the column. Null if `text` is the statement that creates the table, as in SQLite. */
  readonly column: string | null
  /** Name of the constraint; null if it cannot be dropped by a name. */
  readonly name: string | null
  /** The condition as the engine prints it, or the statement. */
  readonly text: string
}

/**
 * A name that no new index can have, because an index has it already or, on SQLite and PostgreSQL, another object such
 * as a table. If `table` is null, no index of any table can have the name. Otherwise, only the indexes of that table
 * cannot have it.
 */
export interface TakenIndexName {
  readonly table: string | null
  readonly name: string
}

/** A column, or an expression, by which a table is partitioned, so that each unique index must have it. */
export interface PartitionRow {
  readonly table: string
  readonly column: string
}

/** A table to which `alter table` cannot add every column, and the reason in words. */
export interface UnalterableRow {
  readonly table: string
  readonly why: string
  /**
   * Types of the columns that can be added, with blanks between them; null if no column and no unique index can be
   * added.
   */
  readonly types: string | null
}

/**
 * Queries for the tables of a database, and functions for the fields that `introspect` makes of their columns. The
 * columns of a table come in the order of the table, and those of a key in the order of the key.
 */
export interface Catalog {
  readonly tables: RawBuilder<TableRow>
  readonly columns: RawBuilder<ColumnRow>
  readonly keys: RawBuilder<KeyRow>
  readonly references: RawBuilder<ReferenceRow>
  /** Query for the check constraints that createTables() may have written. Some may come from other programs. */
  readonly checks: RawBuilder<CheckRow>
  /**
   * Query for the schemas that the database user may use, except those of the engine itself. Absent if the engine has
   * no schemas.
   */
  readonly schemas?: RawBuilder<{ readonly name: string }>
  /**
   * Query for the tables that are found only by their schema and name, as `schema.table`. Absent if the engine has no
   * schemas.
   */
  readonly elsewhere?: RawBuilder<{ readonly schema: string, readonly table: string }>
  /**
   * Query for the first column of each index without conditions, including the indexes of primary and unique keys. An
   * integer primary key of SQLite has no index. If an index begins with an expression, `column` is null or the row is
   * missing.
   */
  readonly indexed: RawBuilder<{ readonly table: string, readonly column: string | null }>
  /**
   * Query for the columns of the indexes that the engine may have made for foreign keys: it drops such an index when
   * another one serves the foreign key. Absent if the engine makes none.
   */
  readonly replaceable?: RawBuilder<Omit<KeyRow, 'primary'>>
  /** Query for the names that no new index can have. */
  readonly indexNames: RawBuilder<TakenIndexName>
  /**
   * Query for the columns that each unique index of a partitioned table must have. Absent if the engine has no such
   * tables.
   */
  readonly partitionColumns?: RawBuilder<PartitionRow>
  /** Query for the tables to which not every column can be added. Absent if the engine has no such tables. */
  readonly unalterable?: RawBuilder<UnalterableRow>
  /**
   * Query for the tables whose new rows a trigger or a rule may complete or redirect before they are written. Absent
   * for SQLite, where no trigger can do so.
   */
  readonly tablesWithTriggers?: RawBuilder<{ readonly table: string }>
  /**
   * Query for the tables with triggers or rules that may change a row after the statement that wrote it has returned
   * it, or that may change a row instead of deleting it. If `column` is not null, only this column may have another
   * value than an insert returned.
   */
  readonly tablesChangedLater: RawBuilder<{ readonly table: string, readonly column: string | null }>
  /**
   * Query for the tables that can have no foreign keys, and to which none can refer, with the reason and the remedy.
   * Absent if there are no such tables.
   */
  readonly tablesWithoutForeignKeys?: RawBuilder<{ readonly table: string, readonly why: string }>
  /**
   * Query for the tables whose writes no rollback undoes, with the reason and the remedy. Absent if transactions hold
   * for every table.
   */
  readonly tablesWithoutTransactions?: RawBuilder<{ readonly table: string, readonly why: string }>
  /**
   * Query for the views of which `for update` locks no rows, or only those of some tables, although it is permitted.
   * Absent if there are no such views that take writes.
   */
  readonly unlockedViews?: RawBuilder<{ readonly table: string }>
  /**
   * Query for the tables and views with rules because of which each write of a kind fails if it has `returning`. Absent
   * if the engine has no rules.
   */
  readonly unreturned?: RawBuilder<{ readonly table: string, readonly operation: 'create' | 'update' }>
  /**
   * Query for the `create table` statements that may have the clause `on conflict replace` in a constraint. Some have
   * these words only in a text, a name or a comment. Absent if the engine has no such clause.
   */
  readonly replacing?: RawBuilder<{ readonly table: string, readonly statement: string }>
  /**
   * Query for the columns whose default takes a number from a sequence that the database user may not use. Absent if
   * the engine needs no grant for that.
   */
  readonly deniedSequences?: RawBuilder<{ readonly table: string, readonly column: string, readonly sequence: string }>
  /**
   * Converts the texts in a default to standard SQL: a quote in a text is doubled, and a backslash is an ordinary
   * character. Absent if the engine writes defaults so.
   */
  toStandardTexts? (declared: string): string
  readonly types: TypeTable
  /** Function for the types that `types` lacks. Absent if columns of such types become no fields. */
  readonly otherTypes?: TypeTable[string]
  /** Names of types whose columns have a default although none is declared. Absent if the engine has no such type. */
  readonly implicitDefaults?: readonly string[]
  /**
   * SQL conditions by kind of field. Each takes a column, and is true if a field of the kind can hold the column's
   * value, which must not be null. A value for which `Storage.isShown` is false counts as held, although records show
   * it as null. A kind is absent if its fields can hold every value of the columns that become such fields.
   */
  readonly fits: Readonly<Partial<Record<StorageName, (column: Expression<unknown>) => RawBuilder<SqlBool>>>>
  /**
   * Returns an SQL condition that is true if a text in a column of dates has a time after its date. Absent if such a
   * column can hold only dates.
   */
  readonly hasTime?: (column: Expression<unknown>) => RawBuilder<SqlBool>
}

/** Returns a condition that is true if a JSON number holds the column's integer exactly. */
export const isSafe = (column: Expression<unknown>): RawBuilder<SqlBool> =>
  sql`${column} between ${sql.lit(Number.MIN_SAFE_INTEGER)} and ${sql.lit(Number.MAX_SAFE_INTEGER)}`

/** True if an answer is 1, also as a text or a BigInt. */
export function isYes (answer: unknown): boolean {
  return Number(answer) === 1
}
