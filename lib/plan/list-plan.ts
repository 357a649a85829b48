import type { Stored } from '../engines/storage.js'
import type { Operator } from '../fields/operators.js'
import type { Column, ForeignKeyColumn } from '../model/column.js'
import type { Scope } from './viewer.js'

/** A table to join: `alias` stands for the records that column `column` of `from` refers to. */
export interface PlannedJoin {
  readonly alias: string
  readonly from: string
  readonly column: ForeignKeyColumn
  readonly table: string
}

/** A condition with typed values. If there are several, any of them may match, and for `ne` none of them may. */
export interface PlannedCondition {
  readonly alias: string
  readonly column: Column
  readonly operator: Operator
  readonly values: readonly Stored[]
}

/** A related record to read beside each record, under the name of the foreign key that leads to it. */
export interface PlannedInclude {
  /** Declared names of the foreign keys that lead to it: `user__company`. */
  readonly path: string
  /** Alias of the related record's table. */
  readonly alias: string
  /** Alias of the table whose records refer to it. */
  readonly from: string
  readonly column: ForeignKeyColumn
  /** Columns that are shown of the related record: the primary key first. */
  readonly visible: readonly Column[]
  /** Scope outside which the related record is null. */
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
  /** Related records; one that another one leads to comes behind that one. */
  readonly includes: readonly PlannedInclude[]
  /** Patterns that must each match one of the columns that the resource searches. */
  readonly search: readonly string[]
  /** Ends with the primary key, so that the order is total. */
  readonly ordering: readonly PlannedOrder[]
  readonly limit: number
  /** Number of records before the page. */
  readonly start: number
  /**
   * Values of the record before the page in the columns of the ordering. Empty for the first page; undefined if pages
   * are numbered.
   */
  readonly after: readonly Stored[] | undefined
}

/** Alias of the resource's own table. */
export const baseAlias = 't0'
