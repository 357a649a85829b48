import { sql, type RawBuilder, type SqlBool } from 'kysely'
import { anyOf } from '../engines/any-of.js'
import type { Dialect, PatternTraits } from '../engines/dialect.js'
import type { Parameter, Slot } from '../engines/storage.js'
import { operators } from '../fields/operators.js'
import type { Column } from '../model/column.js'
import type { Model } from '../model/define-model.js'
import { keyColumnsOf } from '../model/key.js'
import { baseAlias, type ListPlan, type PlannedCondition } from '../plan/list-plan.js'
import { itemAt, valueAt } from '../values/lookup.js'
import { conditionSql } from './condition.js'
import { columnRef, isReferred } from './selection.js'
import type { SqlContext } from './sql-context.js'

/** The table of a list, and the columns in which the parameter `search` looks for words. */
export interface FilteredTable {
  readonly model: Model
  readonly searched: readonly Column[]
}

export type OpenCondition = Omit<PlannedCondition, 'values'> & PatternTraits & {
  readonly values: readonly Parameter[]
  readonly isArray?: boolean
}

/** The words of a search: a {@link Slot} for the pattern of each word. */
export interface OpenSearch {
  readonly patterns: readonly Slot[]
  /** True if a pattern holds {@link Dialect.ambiguous} characters. */
  readonly isAmbiguous: boolean
}

/** Joins and conditions that decide which records a list has, with a {@link Slot} in place of each value. */
export interface OpenFilters extends Pick<ListPlan, 'joins'> {
  readonly conditions: readonly OpenCondition[]
  readonly search: OpenSearch
  /** Time of `performance.now()`, in milliseconds, at which SQLite ends the statement. The other engines ignore it. */
  readonly deadline: Slot
}

/** Further arguments of {@link filteredRows}, which the list and the count set differently. */
interface Needs {
  /** Further conditions that must hold. */
  readonly conditions: ReadonlyArray<RawBuilder<SqlBool>>
  /**
   * True if the statement may read many rows. If the engine has a deadline for lists (SQLite), the deadline is then
   * checked while the engine reads the rows of each table.
   */
  readonly mayTakeLong: boolean
}

/** Returns a query for the rows that meet the filters, the search and the scopes. The query selects no columns yet. */
export function filteredRows (
  { db, dialect }: SqlContext, { model, searched }: FilteredTable, filters: OpenFilters, needs: Needs
) {
  const { joins, conditions, search, deadline } = filters
  let query = db.selectFrom(`${model.table} as ${baseAlias}`)
  for (const { alias, from, column, table } of joins) {
    query = query.innerJoin(`${table} as ${alias}`, (on) => on.on(isReferred(column, { from, to: alias })))
  }
  const keys = keysOf(model, joins)
  const { listDeadline } = dialect
  if (listDeadline !== undefined && needs.mayTakeLong) {
    // These come first, because an engine skips the conditions that follow a false one.
    for (const key of keys.values()) query = query.where(listDeadline.someRows(key, deadline))
  }
  for (const condition of needs.conditions) query = query.where(condition)
  const toSql = (condition: OpenCondition) =>
    filterSql(condition, valueAt(keys, condition.alias), deadline, dialect)
  for (const condition of conditions) query = query.where(toSql(condition))
  for (const condition of searchSql(search, searched, toSql)) query = query.where(condition)
  return query
}

/** Returns a condition for each word of a search: one of the columns must contain the word. */
function searchSql (
  { patterns, isAmbiguous }: OpenSearch, columns: readonly Column[],
  toSql: (condition: OpenCondition) => RawBuilder<SqlBool>
): ReadonlyArray<RawBuilder<SqlBool>> {
  return patterns.map((pattern) => {
    const matches = columns.map((column) =>
      toSql({ alias: baseAlias, column, operator: 'ilike', values: [pattern], isAmbiguous }))
    return sql<SqlBool>`(${sql.join(matches, sql` or `)})`
  })
}

/**
 * Returns the SQL of a filter. If the engine has a deadline for lists (SQLite), the SQL checks the deadline before each
 * pattern, because one pattern may take long in one row.
 */
function filterSql (
  condition: OpenCondition, key: RawBuilder<unknown>, deadline: Slot, dialect: Dialect
): RawBuilder<SqlBool> {
  const { listDeadline } = dialect
  if (listDeadline === undefined || operators[condition.operator].syntax !== 'pattern') {
    return conditionSql(condition, dialect)
  }
  const inTime = listDeadline.everyRow(key, deadline)
  return anyOf(condition.values.map((value) =>
    sql<SqlBool>`${inTime} and ${conditionSql({ ...condition, values: [value] }, dialect)}`))
}

/** Returns the first column of the primary key of each table, by the table's alias. */
function keysOf (model: Model, joins: ListPlan['joins']): ReadonlyMap<string, RawBuilder<unknown>> {
  const key = itemAt(keyColumnsOf(model), 0)
  return new Map([
    [baseAlias, columnRef(key, baseAlias)],
    ...joins.map(({ alias, column }) => [alias, columnRef(column.target().primaryKey, alias)] as const)
  ])
}
