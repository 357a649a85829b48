import { sql, type AliasedRawBuilder, type CompiledQuery, type RawBuilder, type SqlBool } from 'kysely'
import { deadlineFunction, type Dialect } from '../engines/dialect.js'
import type { Parameter, Slot } from '../engines/storage.js'
import { operators } from '../fields/operators.js'
import { storageOf, type Column } from '../model/column.js'
import type { Model } from '../model/define-model.js'
import { baseAlias, type ListPlan, type PlannedCondition, type PlannedOrder } from '../plan/list-plan.js'
import { conditionSql } from './condition.js'
import { keysetBranches, type Bound, type KeysetBranch } from './keyset.js'
import { isLong, withholdLong, type LongValues } from './long-values.js'
import { columnRef, selected } from './selection.js'
import type { SqlContext } from './sql-context.js'

/** What every list of a resource has in common: the table and the columns. */
export interface ListBase extends LongValues {
  /** Name of the resource. */
  readonly name: string
  readonly model: Model
  readonly columns: readonly Column[]
  /** The keys of the columns, in their order. */
  readonly keys: readonly string[]
  /** Milliseconds after which a list is given up. */
  readonly statementTime: number
}

/** Behind the keys of a row from which a cursor may be made, where that is not certain: 1 if it tells in full what the ordering depends on, else 0. No key begins so. */
export const wholeKey = '_whole'

/** A plan whose values are still to come. */
export interface OpenPlan extends Pick<ListPlan, 'joins' | 'ordering'> {
  readonly conditions: readonly OpenCondition[]
  /** The moment at which the list is given up. */
  readonly deadline: Slot
  /** How many rows are wanted. */
  readonly most: Slot
  /** How many rows come before them. */
  readonly skipped: Slot
  /** How many bytes of a value are read: of a longer one its length. */
  readonly longest: Slot
  /** Where the cursor stands; none on a first page. */
  readonly bounds: readonly Bound[]
  /** Whether a cursor may be made of the last row. */
  readonly leadsOn: boolean
}

type OpenCondition = Omit<PlannedCondition, 'values'> & {
  readonly values: readonly Parameter[]
  readonly isArray?: boolean
  readonly isAmbiguous?: boolean
}

/** The SQL of a list. Names come from the models, values are parameters. */
export function compileList (engine: SqlContext, base: ListBase, plan: OpenPlan): CompiledQuery {
  if (plan.bounds.length === 0) return selectRows(engine, base, plan, everyRow).offset(sql<number>`${plan.skipped}`).compile()
  const [branch = everyRow, ...others] = keysetBranches(plan.bounds, engine.dialect, isHeavy(plan))
  return others.length === 0 ? selectRows(engine, base, plan, branch).compile() : selectFirst(engine, base, plan, [branch, ...others])
}

/** More values of conditions are not repeated for each branch after a cursor. */
const maxRepeated = 64

function isHeavy ({ conditions }: OpenPlan): boolean {
  return conditions.reduce((count, { values }) => count + values.length, 0) > maxRepeated
}

const everyRow: KeysetBranch = { conditions: [], fixed: 0 }

function selectRows ({ db, dialect, hasDeadline }: SqlContext, base: ListBase, plan: OpenPlan, branch: KeysetBranch) {
  const { model } = base
  const { joins, conditions, ordering, deadline, most, leadsOn } = plan
  let query = db.selectFrom(`${model.table} as ${baseAlias}`).select(listed(base, plan, dialect))
  if (leadsOn) query = query.select(tellsWhole(ordering, dialect))
  for (const { alias, from, column, table } of joins) {
    query = query.innerJoin(`${table} as ${alias}`, (on) =>
      on.on(sql<SqlBool>`${columnRef(column, from)} = ${columnRef(column.target().columns[0], alias)}`))
  }
  const keys = keysOf(model, joins)
  if (hasDeadline && mayTakeLong(plan)) {
    // First, since SQLite does not go on to the conditions behind one that is false.
    for (const key of keys.values()) query = query.where(sql<SqlBool>`(${usually} or ${inTime(key, deadline)})`)
  }
  for (const condition of branch.conditions) query = query.where(condition)
  for (const condition of conditions) {
    const key = keys.get(condition.alias) as RawBuilder<unknown>
    const isSlow = hasDeadline && operators[condition.operator].syntax === 'pattern'
    query = query.where(isSlow ? anyInTime(condition, inTime(key, deadline), dialect) : conditionSql(condition, dialect))
  }
  for (const order of ordering.slice(branch.fixed)) query = query.orderBy(orderSql(order, columnRef(order.column, baseAlias), dialect))
  return query.limit(dialect.limit(most))
}

function listed ({ columns, keys }: ListBase, { longest }: OpenPlan, dialect: Dialect): ReadonlyArray<AliasedRawBuilder<unknown, string>> {
  return columns.map((column, index) => {
    const value = selected(column, dialect, baseAlias)
    return (isLong(column) ? withholdLong(value, longest) : value).as(keys[index] as string)
  })
}

/** A pattern may take long in one row: the time is looked at before each. */
function anyInTime (condition: OpenCondition, isInTime: RawBuilder<SqlBool>, dialect: Dialect): RawBuilder<SqlBool> {
  const patterns = condition.values.map((value) => sql`(${isInTime} and ${conditionSql({ ...condition, values: [value] }, dialect)})`)
  return sql<SqlBool>`(${sql.join(patterns, sql` or `)})`
}

/** The primary key of each table, by its alias. */
function keysOf ({ columns: [key] }: Model, joins: ListPlan['joins']): ReadonlyMap<string, RawBuilder<unknown>> {
  return new Map([[baseAlias, columnRef(key, baseAlias)], ...joins.map(({ alias, column }) => [alias, columnRef(column.target().columns[0], alias)] as const)])
}

/** The first rows of those that come by several ways, each of which gives no more than are wanted. */
function selectFirst (engine: SqlContext, base: ListBase, plan: OpenPlan, [branch, ...others]: readonly [KeysetBranch, ...KeysetBranch[]]): CompiledQuery {
  const { db, dialect } = engine
  // Keys may differ in their case alone, which not every engine minds in a subquery.
  const keys = base.columns.map((_column, index) => `_${index}`)
  const ordered = plan.ordering.map((order, index) => ({ order, key: `_by${index}` }))
  // Not every engine lets a part of a union have its own order and limit.
  const part = (branch: KeysetBranch) => db.selectFrom(selectRows(engine, { ...base, keys }, plan, branch)
    .select(ordered.map(({ order, key }) => columnRef(order.column, baseAlias).as(key))).as('part')).selectAll()
  const all = others.reduce((union, branch) => union.unionAll(part(branch)), part(branch))
  let query = db.selectFrom(all.as('rows'))
    .select(base.keys.map((key, index) => sql.ref(`_${index}`).as(key)))
    .select(tellsWhole(plan.ordering, dialect).map(() => sql.ref(wholeKey).as(wholeKey)))
  for (const { order, key } of ordered) query = query.orderBy(orderSql(order, sql`${sql.ref(key)}`, dialect))
  return query.limit(dialect.limit(plan.most)).compile()
}

/** Whether the row that is selected tells the values of the ordering in full, if it may not. */
function tellsWhole (ordering: readonly PlannedOrder[], dialect: Dialect): ReadonlyArray<AliasedRawBuilder<unknown, string>> {
  const claims = ordering.flatMap(({ column }) => {
    const ref = columnRef(column, baseAlias)
    const claim = storageOf(column, dialect).isWhole?.(ref)
    return claim === undefined ? [] : [column.nullable ? sql`(${ref} is null or ${claim})` : claim]
  })
  return claims.length === 0 ? [] : [sql`case when ${sql.join(claims, sql` and `)} then 1 else 0 end`.as(wholeKey)]
}

/** Where nulls go is said only where there may be some: an index in the engine's own order serves the others. */
function orderSql ({ column, descending }: PlannedOrder, ref: RawBuilder<unknown>, dialect: Dialect): RawBuilder<unknown> {
  const target = storageOf(column, dialect).isCollated ? dialect.exact(ref) : ref
  const { [descending ? 'descending' : 'ascending']: nullsFirst } = dialect.nullsFirst
  return sql`${target} ${column.nullable ? nullsFirst : descending ? sql`desc` : sql`asc`}`
}

/** A walk along the primary key ends after `offset + limit` rows; only a search or a sort can go on for long. */
function mayTakeLong ({ conditions, ordering }: OpenPlan): boolean {
  return conditions.length > 0 || ordering.length > 1
}

/** True but for one row in 64, whatever its values are: to ask for the time costs as much as a short row. */
const usually = sql`random() & 63`

/** Naming a column of a table makes SQLite ask at the rows of that table, wherever it stands in the loops. */
function inTime (key: RawBuilder<unknown>, deadline: Slot): RawBuilder<SqlBool> {
  return sql<SqlBool>`${sql.raw(deadlineFunction)}(${deadline}, ${key})`
}
