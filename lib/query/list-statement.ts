import { sql, type CompiledQuery, type RawBuilder, type SqlBool } from 'kysely'
import { storageOf, type Column } from '../model/column.js'
import type { Model } from '../model/define-model.js'
import { baseAlias, type ListPlan, type PlannedCondition, type PlannedOrder } from '../plan/list-plan.js'
import type { Dialect } from '../vocabulary/dialects.js'
import { operators } from '../vocabulary/operators.js'
import { Slot, type Parameter, type Stored } from '../vocabulary/storage.js'
import { conditionSql } from './condition.js'
import { deadlineFunction, type Engine } from './engine.js'
import { columnRef, selection } from './selection.js'

/** What every list of a resource has in common: the table and the columns. */
export interface ListBase {
  /** Name of the resource. */
  readonly name: string
  readonly model: Model
  readonly columns: readonly Column[]
  /** The keys of the columns, in their order. */
  readonly keys: readonly string[]
  /** Milliseconds after which a list is given up. */
  readonly statementTime: number
}

// The values that every list has, in this order; those of the conditions follow.
const [deadline, most, skipped] = [new Slot(0), new Slot(1), new Slot(2)]
const firstOfConditions = 3

/** The statement of a list: compiled once for each shape, filled with the values of the request. */
export function listStatement (engine: Engine, base: ListBase, plan: ListPlan): CompiledQuery {
  const { shapes } = engine
  const shape = shapeOf(engine, base, plan)
  const compiled = shapes.get(shape) ?? compileList(engine, base, plan)
  shapes.set(shape, compiled)
  return withValues(compiled, valuesOf(base, plan))
}

function withValues ({ query, queryId, sql, parameters }: CompiledQuery, values: readonly Stored[]): CompiledQuery {
  return { query, queryId, sql, parameters: parameters.map((parameter) => parameter instanceof Slot ? values[parameter.position] : parameter) }
}

function valuesOf ({ statementTime }: ListBase, { conditions, limit, page }: ListPlan): readonly Stored[] {
  const values: Stored[] = [performance.now() + statementTime, limit + 1, (page - 1) * limit]
  for (const condition of conditions) if (!isConstant(condition)) values.push(...condition.values)
  return values
}

/** All that the SQL of a list depends on; no name in it has a space. */
function shapeOf ({ dialect }: Engine, { name }: ListBase, { joins, conditions, ordering }: ListPlan): string {
  let shape = `list ${name} ${dialect.seeksByCollation}`
  for (const { from, column } of joins) shape += ` ${from}.${column.key}`
  for (const condition of conditions) {
    const { alias, column, operator, values } = condition
    shape += ` ${alias}.${column.key} ${operator} ${isConstant(condition) ? values.join() : values.length}`
  }
  for (const { column, descending } of ordering) shape += ` ${column.key} ${descending}`
  return shape
}

/** The SQL of a list. Names come from the models, values are parameters. */
function compileList ({ db, dialect, hasDeadline }: Engine, { model, columns }: ListBase, plan: ListPlan): CompiledQuery {
  let query = db.selectFrom(`${model.table} as ${baseAlias}`).select(selection(columns, dialect, baseAlias))
  for (const { alias, from, column, table } of plan.joins) {
    query = query.innerJoin(`${table} as ${alias}`, (on) =>
      on.on(sql<SqlBool>`${columnRef(column, from)} = ${sql.ref(`${alias}.id`)}`))
  }
  if (hasDeadline && mayTakeLong(plan)) {
    // First, since SQLite does not go on to the conditions behind one that is false.
    for (const alias of [baseAlias, ...plan.joins.map((join) => join.alias)]) query = query.where(inTime(alias))
  }
  for (const condition of withSlots(plan.conditions)) {
    // A pattern may take long in one row.
    if (hasDeadline && operators[condition.operator].syntax === 'pattern') query = query.where(inTime(condition.alias))
    query = query.where(conditionSql(condition, dialect))
  }
  for (const order of plan.ordering) query = query.orderBy(orderSql(order, dialect))
  return query.limit(sql<number>`${most}`).offset(sql<number>`${skipped}`).compile()
}

type OpenCondition = Omit<PlannedCondition, 'values'> & { readonly values: readonly Parameter[] }

function withSlots (conditions: readonly PlannedCondition[]): readonly OpenCondition[] {
  let position = firstOfConditions
  return conditions.map((condition) =>
    isConstant(condition) ? condition : { ...condition, values: condition.values.map(() => new Slot(position++)) })
}

/** Whether the SQL of a condition depends on its values. */
function isConstant ({ operator }: PlannedCondition): boolean {
  return operators[operator].syntax === 'constant'
}

/** Where nulls go is said only where there may be some: an index in the engine's own order serves the others. */
function orderSql ({ column, descending }: PlannedOrder, dialect: Dialect): RawBuilder<unknown> {
  const ref = columnRef(column, baseAlias)
  const target = storageOf(column, dialect).isCollated ? dialect.exact(ref) : ref
  const { [descending ? 'descending' : 'ascending']: nullsFirst } = dialect.nullsFirst
  return sql`${target} ${column.nullable ? nullsFirst : descending ? sql`desc` : sql`asc`}`
}

/** A walk along the primary key ends after `offset + limit` rows; only a search or a sort can go on for long. */
function mayTakeLong ({ conditions, ordering }: ListPlan): boolean {
  return conditions.length > 0 || ordering.length > 1
}

/** Naming a column of each table makes SQLite ask at every row of that table, wherever it stands in the loops. */
function inTime (alias: string): RawBuilder<SqlBool> {
  return sql<SqlBool>`${sql.raw(deadlineFunction)}(${deadline}, ${sql.ref(`${alias}.id`)})`
}
