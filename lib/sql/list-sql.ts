import { sql, type AliasedRawBuilder, type CompiledQuery } from 'kysely'
import type { Dialect } from '../engines/dialect.js'
import type { Slot } from '../engines/storage.js'
import type { Column } from '../model/column.js'
import { baseAlias, type ListPlan } from '../plan/list-plan.js'
import { itemAt } from '../values/lookup.js'
import { filteredRows, type FilteredTable, type OpenFilters } from './filtered-rows.js'
import { includedColumns, includeSql, type OpenInclude } from './include-sql.js'
import { keysetBranches, type Bound, type KeysetBranch } from './keyset.js'
import { isLong, withholdLong, type LongValues } from './long-values.js'
import { orderSql, wholeKey, wholeSelection } from './ordering.js'
import { columnRef, selected } from './selection.js'
import type { SqlContext } from './sql-context.js'

/** Table and columns that all lists of a resource have in common. */
export interface ListBase extends LongValues, FilteredTable {
  /** Name of the resource. */
  readonly name: string
  /** Columns that records show. */
  readonly visible: readonly Column[]
  /**
   * Keys of the `visible` columns in records, in the same order. If the list includes related records, the keys of
   * their columns follow.
   */
  readonly keys: readonly string[]
}

/**
 * A {@link ListPlan} with a {@link Slot} in place of each value, so that its SQL serves all requests that differ only
 * in values.
 */
export interface OpenPlan extends OpenFilters, Pick<ListPlan, 'ordering'> {
  readonly includes: readonly OpenInclude[]
  /** Maximum number of rows to read. */
  readonly maxRows: Slot
  /** Number of rows to skip before the first row to read. Not used if there are `bounds`. */
  readonly skipped: Slot
  /** Maximum number of bytes of a text or JSON value. If a value is longer, only its length is read. */
  readonly maxValueBytes: Slot
  /** Position of the cursor, one bound for each column of the ordering; none on a first page or without a cursor. */
  readonly bounds: readonly Bound[]
  /** True if a cursor may be made of the last row, because pages are linked by cursors. */
  readonly hasCursors: boolean
  /**
   * True if a subquery chooses the rows of the page, because the page skips many rows, as {@link selectFar} says. Then
   * `bounds` is empty and `hasCursors` is false, because only numbered pages skip rows.
   */
  readonly isFar: boolean
}

/** Compiles the SQL of a list. Names come from the models, values are parameters. */
export function compileList (engine: SqlContext, base: ListBase, plan: OpenPlan): CompiledQuery {
  if (plan.isFar) return selectFar(engine, base, plan)
  if (plan.bounds.length === 0) {
    return selectRows(engine, base, plan, everyRow).offset(sql<number>`${plan.skipped}`).compile()
  }
  const [branch = everyRow, ...others] = keysetBranches(plan.bounds, engine.dialect, isHeavy(base, plan))
  return others.length === 0
    ? selectRows(engine, base, plan, branch).compile()
    : selectFirst(engine, base, plan, [branch, ...others])
}

/**
 * Maximum number of values, in the conditions (also those of related records) and the search of a list, that may be
 * repeated in each branch after a cursor. If there are more values, there is only one branch, so that the statement
 * does not have them several times.
 */
const maxRepeatedValues = 64

function isHeavy ({ searched }: ListBase, { conditions, includes, search }: OpenPlan): boolean {
  const repeated = [...conditions, ...includes.flatMap(({ conditions }) => conditions)]
  const searchedValues = search.patterns.length * searched.length
  return repeated.reduce((count, { values }) => count + values.length, searchedValues) > maxRepeatedValues
}

const everyRow: KeysetBranch = { conditions: [], fixed: 0 }

function selectRows (engine: SqlContext, base: ListBase, plan: OpenPlan, branch: KeysetBranch) {
  const { dialect } = engine
  const rows = filteredRows(engine, base, plan, { ...branch, mayTakeLong: mayTakeLong(base, plan, dialect) })
  return showRows(rows, base, plan, { ...branch, dialect })
}

/**
 * Returns the query that selects the visible columns of `rows` and of their related records. The result is sorted by
 * the ordering of the plan, and has at most `plan.maxRows` rows.
 */
function showRows (
  rows: ReturnType<typeof filteredRows>, base: ListBase, plan: OpenPlan,
  { fixed, dialect }: Pick<KeysetBranch, 'fixed'> & Pick<SqlContext, 'dialect'>
) {
  const { includes, ordering, maxRows, hasCursors } = plan
  let query = rows.select(listed(base, plan, dialect))
  if (hasCursors) query = query.select(wholeSelection(ordering, dialect))
  for (const include of includes) {
    const { alias, column } = include
    query = query.leftJoin(`${column.target().table} as ${alias}`, (on) => on.on(includeSql(include, dialect)))
  }
  for (const order of ordering.slice(fixed)) {
    query = query.orderBy(orderSql(order, columnRef(order.column, baseAlias), dialect))
  }
  return query.limit(dialect.limit(maxRows))
}

/**
 * Compiles a list whose page skips many rows. A subquery chooses the rows of the page, so that the engine computes the
 * selected values, and joins related records, for no others.
 */
function selectFar (engine: SqlContext, base: ListBase, plan: OpenPlan): CompiledQuery {
  const { db, dialect } = engine
  const { ordering, maxRows, skipped } = plan
  // Not all columns: the database may permit reading only those that the resource uses.
  const columns = new Set([...base.visible, ...ordering.map(({ column }) => column)])
  let page = filteredRows(engine, base, plan, { ...everyRow, mayTakeLong: mayTakeLong(base, plan, dialect) })
    .select([...columns].map((column) => columnRef(column, baseAlias).as(column.name)))
  for (const order of ordering) page = page.orderBy(orderSql(order, columnRef(order.column, baseAlias), dialect))
  const rows = page.limit(dialect.limit(maxRows)).offset(sql<number>`${skipped}`)
  return showRows(db.selectFrom(rows.as(baseAlias)), base, plan, { ...everyRow, dialect }).compile()
}

function listed (
  { visible, keys }: ListBase, { maxValueBytes, includes }: OpenPlan, dialect: Dialect
): ReadonlyArray<AliasedRawBuilder<unknown, string>> {
  const own = visible.map((column) => ({ column, alias: baseAlias }))
  return [...own, ...includedColumns(includes)].map(({ column, alias }, index) => {
    const value = selected(column, dialect, alias)
    return (isLong(column) ? withholdLong(value, maxValueBytes) : value).as(itemAt(keys, index))
  })
}

/** Compiles the union of several branches. The union, and each branch in it, gives at most `plan.maxRows` rows. */
function selectFirst (
  engine: SqlContext, base: ListBase, plan: OpenPlan,
  [branch, ...others]: readonly [KeysetBranch, ...KeysetBranch[]]
): CompiledQuery {
  const { db, dialect } = engine
  // Columns are numbered, because keys may differ in case alone and some engines ignore case in a subquery.
  const keys = base.keys.map((_key, index) => `_${index}`)
  const ordered = plan.ordering.map((order, index) => ({ order, key: `_by${index}` }))
  // Each branch is a subquery, because some engines do not let a part of a union have its own order and limit.
  const part = (branch: KeysetBranch) => db.selectFrom(selectRows(engine, { ...base, keys }, plan, branch)
    .select(ordered.map(({ order, key }) => columnRef(order.column, baseAlias).as(key))).as('part')).selectAll()
  const all = others.reduce((union, branch) => union.unionAll(part(branch)), part(branch))
  let query = db.selectFrom(all.as('rows'))
    .select(base.keys.map((key, index) => sql.ref(`_${index}`).as(key)))
    .select(wholeSelection(plan.ordering, dialect).map(() => sql.ref(wholeKey).as(wholeKey)))
  for (const { order, key } of ordered) query = query.orderBy(orderSql(order, sql`${sql.ref(key)}`, dialect))
  return query.limit(dialect.limit(plan.maxRows)).compile()
}

/**
 * True if a list may read many more rows than its page has: if it has filters, a scope, a search, or an ordering by
 * more than one column, or if its table is a view. Any other list reads along the index of the primary key, and ends
 * after `offset + limit` rows.
 */
function mayTakeLong ({ model }: ListBase, { conditions, search, ordering }: OpenPlan, { views }: Dialect): boolean {
  return views?.has(model) === true || conditions.length > 0 || search.patterns.length > 0 || ordering.length > 1
}
