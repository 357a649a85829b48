import type { RawBuilder } from 'kysely'

/** A row of what an engine says of a statement. */
export type PlanRow = Readonly<Record<string, unknown>>

/** What an index may be for. */
export type PlannedUse = 'filter' | 'ordering'

/** A column of a table in a statement. */
export interface PlannedColumn {
  readonly alias: string
  readonly table: string
  readonly name: string
}

/** How an engine explains a statement. */
export interface QueryPlans {
  /** Stands before the statement. */
  readonly explain: string
  /** Run before it in a transaction, so that small tables are planned as if they were large. */
  readonly settings: Readonly<Record<PlannedUse, ReadonlyArray<RawBuilder<unknown>>>>
  /** The columns with which an index begins, where the plan of a small table does not show that there is one. */
  readonly leading?: RawBuilder<{ readonly table: string, readonly column: string }>
  /** The columns by which an index finds rows, where a plan does not tell whether that takes the whole index. */
  readonly sought?: RawBuilder<{ readonly table: string, readonly column: string }>
  /** Whether an index finds the rows that have a value in the column. */
  seeks (rows: readonly PlanRow[], column: PlannedColumn): boolean
  /** Whether all rows are read to be sorted. */
  sorts (rows: readonly PlanRow[]): boolean
}

/** The value of a row's property, as text. */
export function textOf (row: PlanRow, name: string): string {
  const { [name]: value } = row
  return value === undefined || value === null ? '' : String(value)
}
