import type { Stored } from '../engines/storage.js'
import type { Operator } from '../fields/operators.js'
import type { Column, ForeignKeyColumn } from '../model/column.js'

/** A table to join: `alias` stands for the records that column `column` of `from` refers to. */
export interface PlannedJoin {
  readonly alias: string
  readonly from: string
  readonly column: ForeignKeyColumn
  readonly table: string
}

/** A condition with typed values; with several values any may match, for `ne` none. */
export interface PlannedCondition {
  readonly alias: string
  readonly column: Column
  readonly operator: Operator
  readonly values: readonly Stored[]
}

export interface PlannedOrder {
  readonly column: Column
  readonly descending: boolean
}

/** A list request with every name resolved and every value typed: all that becomes SQL. */
export interface ListPlan {
  readonly joins: readonly PlannedJoin[]
  readonly conditions: readonly PlannedCondition[]
  /** Ends with the primary key, so that the order is total. */
  readonly ordering: readonly PlannedOrder[]
  readonly limit: number
  /** How many records come before the page. */
  readonly start: number
  /**
   * What the record before the page has in the columns of the ordering, none before the first page; undefined if the
   * page is told by its number.
   */
  readonly after: readonly Stored[] | undefined
}

/** The alias of the resource's own table. */
export const baseAlias = 't0'
