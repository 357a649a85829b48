import type { CompiledQuery } from 'kysely'
import type { ListPlan, PlannedCondition, PlannedOrder } from '../plan/list-plan.js'
import { operators } from '../vocabulary/operators.js'
import { Slot, type Stored } from '../vocabulary/storage.js'
import type { Engine } from './engine.js'
import { compileList, type ListBase, type OpenPlan } from './list-sql.js'
import { compileOnce } from './statements.js'

/** The statement of a list: compiled once for each shape, filled with the values of the request. */
export function listStatement (engine: Engine, base: ListBase, plan: ListPlan): CompiledQuery {
  const { open, values } = splitPlan(base, plan)
  return withValues(compileOnce(engine, shapeOf(engine, base, plan), () => compileList(engine, base, open)), values)
}

function withValues ({ query, queryId, sql, parameters }: CompiledQuery, values: readonly Stored[]): CompiledQuery {
  return { query, queryId, sql, parameters: parameters.map((parameter) => parameter instanceof Slot ? values[parameter.position] : parameter) }
}

/** A plan with slots in place of its values, and the values in the order of the slots. */
function splitPlan ({ statementTime }: ListBase, { joins, conditions, ordering, limit, start, after }: ListPlan): { readonly open: OpenPlan, readonly values: readonly Stored[] } {
  const values: Stored[] = []
  const slotOf = (value: Stored): Slot => new Slot(values.push(value) - 1)
  const open = {
    joins,
    ordering,
    deadline: slotOf(performance.now() + statementTime),
    most: slotOf(limit + 1),
    skipped: slotOf(after === undefined ? start : 0),
    leadsOn: after !== undefined,
    bounds: (after ?? []).map((value, index) => ({ ...ordering[index] as PlannedOrder, value: value === null ? null : slotOf(value) })),
    conditions: conditions.map((condition) => isConstant(condition) ? condition : { ...condition, values: condition.values.map(slotOf) })
  }
  return { open, values }
}

/** All that the SQL of a list depends on; no name in it has a space. */
function shapeOf ({ dialect }: Engine, { name }: ListBase, { joins, conditions, ordering, after }: ListPlan): string {
  let shape = `list ${name} ${dialect.seeksByCollation}`
  for (const { from, column } of joins) shape += ` ${from}.${column.key}`
  for (const condition of conditions) {
    const { alias, column, operator, values } = condition
    shape += ` ${alias}.${column.key} ${operator} ${isConstant(condition) ? values.join() : values.length}`
  }
  for (const { column, descending } of ordering) shape += ` ${column.key} ${descending}`
  if (after !== undefined) shape += ` after ${after.map((value) => value === null).join()}`
  return shape
}

/** Whether the SQL of a condition depends on its values. */
function isConstant ({ operator }: PlannedCondition): boolean {
  return operators[operator].syntax === 'constant'
}
