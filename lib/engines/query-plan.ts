import type { RawBuilder } from 'kysely'

/** A row of an engine's query plan. */
export type PlanRow = Readonly<Record<string, unknown>>

/** Purposes of an index. */
export type PlannedUse = 'filter' | 'ordering'

/** A column of a table in a statement. */
export interface PlannedColumn {
  readonly alias: string
  readonly table: string
  readonly name: string
}

/** SQL that asks an engine for query plans, and functions that read them. */
export interface QueryPlans {
  /** Text in front of the statement. */
  readonly explain: string
  /** Statements to run before it in one transaction, so that small tables are planned as if they were large. */
  readonly settings: Readonly<Record<PlannedUse, ReadonlyArray<RawBuilder<unknown>>>>
  /** Columns with which indexes begin. Present if the plan of a small table does not show that there is an index. */
  readonly leading?: RawBuilder<{ readonly table: string, readonly column: string }>
  /** Columns by which indexes find rows. Present if a plan does not tell whether the whole index is read. */
  readonly sought?: RawBuilder<{ readonly table: string, readonly column: string }>
  /** True if an index finds the rows that have a value in the column. */
  seeks (rows: readonly PlanRow[], column: PlannedColumn): boolean
  /** True if all rows are read and sorted. */
  sorts (rows: readonly PlanRow[]): boolean
}

/** Returns a row's property as text; empty if it is absent or null. */
export function textOf (row: PlanRow, name: string): string {
  const { [name]: value } = row
  return value === undefined || value === null ? '' : String(value)
}
