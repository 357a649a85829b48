import type { RawBuilder } from 'kysely'

/** A row of what an engine answers when it is asked for the plan of a statement. */
export type PlanRow = Readonly<Record<string, unknown>>

/**
 * Purposes for which a list uses an index: to find the rows that meet a filter, to find the records that rows refer to
 * (`include`), or to read rows in the order of the list.
 */
export type PlannedUse = 'filter' | 'include' | 'ordering'

/** A column in a statement: its name, the name of its table, and the alias of that table in the statement. */
export interface PlannedColumn {
  readonly alias: string
  readonly table: string
  readonly name: string
}

/**
 * SQL that asks an engine for query plans, and functions that read them. The command `check` uses them to find lists
 * that no index serves.
 */
export interface QueryPlans {
  /** Text to put in front of a statement, so that the engine answers with its plan instead of running it. */
  readonly explain: string
  /**
   * Statements to run before a plan is asked for, in the same transaction, so that small tables are planned as if they
   * were large. Empty if the engine needs none.
   */
  readonly settings: Readonly<Record<PlannedUse, ReadonlyArray<RawBuilder<unknown>>>>
  /**
   * Query for the columns that are the first of an index. Only MariaDB has it, because its plan sorts a small table
   * even if an index could give the order. So if the plan sorts by a column that this query lists, an index counts as
   * serving the ordering. A column with `Storage.isCollated` is excepted.
   */
  readonly leading?: RawBuilder<{ readonly table: string, readonly column: string }>
  /**
   * Query for the columns by which an index can find rows, one row for each column. Only PostgreSQL needs it, because
   * its plan does not tell whether an index is searched or read as a whole. If it is present, a filter counts as one
   * that uses an index only if `seeks` is true and this query lists the column of the filter. For a search, `seeks`
   * alone decides: a search uses indexes of expressions, which this query does not list.
   */
  readonly sought?: RawBuilder<{ readonly table: string, readonly column: string }>
  /** True if, by a plan, an index finds the rows that have a given value in the column. */
  seeks (rows: readonly PlanRow[], column: PlannedColumn): boolean
  /** True if, by a plan, no index finds the needed rows of the table with this alias, so that all its rows are read. */
  scans (rows: readonly PlanRow[], alias: string): boolean
  /**
   * True if, by a plan, the engine reads and sorts all rows. False if an index gives their order, at least by the first
   * column.
   */
  sorts (rows: readonly PlanRow[]): boolean
}

/** Returns a row's property as text; empty if it is absent or null. */
export function textOf (row: PlanRow, name: string): string {
  const { [name]: value } = row
  return value === undefined || value === null ? '' : String(value)
}
