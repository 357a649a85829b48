import type { Stored } from '../engines/storage.js'
import type { Operator } from '../fields/operators.js'
import type { Column, ForeignKeyColumn } from '../model/column.js'
import type { Scope } from './viewer.js'

/**
 * A table to join under `alias`. The foreign key `column`, in the table with the alias `from`, refers to the records of
 * the joined table.
 */
export interface PlannedJoin {
  readonly alias: string
  readonly from: string
  readonly column: ForeignKeyColumn
  readonly table: string
}

/**
 * A condition on a column, with values as the engine stores them. The condition holds if any of the values matches; for
 * `ne`, if none is equal. An `in` without values holds for no record.
 *
 * A value from a filter or a scope may take several places in `values`. The id of a key of several columns takes one
 * for each of these columns. If the column's storage has `bounds`, a value takes two: the least stored value that
 * records show as this value, and the least one that they show as the next greater value.
 */
export interface PlannedCondition {
  readonly alias: string
  readonly column: Column
  readonly operator: Operator
  readonly values: readonly Stored[]
}

/**
 * A related record to read with each record. It is shown in the record that refers to it, under the field name of the
 * foreign key.
 */
export interface PlannedInclude {
  /** Declared names of the foreign keys that lead to the related record, such as `user__company`. */
  readonly path: string
  /** Alias of the related record's table. */
  readonly alias: string
  /** Alias of the table that has the foreign key `column`. */
  readonly from: string
  readonly column: ForeignKeyColumn
  /** Columns that are shown of the related record: the primary key first. */
  readonly visible: readonly Column[]
  /** Conditions that the related record must meet so that the user may see it. Otherwise null is shown in its place. */
  readonly scope: Scope
}

export interface PlannedOrder {
  readonly column: Column
  readonly descending: boolean
}

/** A list request with every name resolved and every value typed: all that becomes SQL. */
export interface ListPlan {
  readonly joins: readonly PlannedJoin[]
  readonly conditions: readonly PlannedCondition[]
  /** Related records to read. A record that is reached through another one comes after that one. */
  readonly includes: readonly PlannedInclude[]
  /** Patterns of the search. Each must match at least one of the columns that the resource searches. */
  readonly search: readonly string[]
  /** Columns to order by. They include the primary key, so no two records have the same place. */
  readonly ordering: readonly PlannedOrder[]
  readonly limit: number
  /**
   * Number of records before the page. If the client sent a cursor, it is the number in the cursor, which may be wrong.
   */
  readonly start: number
  /**
   * Values of the last record before the page, in the columns of the ordering. Empty for the first page; undefined if
   * pages are numbered.
   */
  readonly after: readonly Stored[] | undefined
}

/** Alias of the resource's own table. */
export const baseAlias = 't0'
