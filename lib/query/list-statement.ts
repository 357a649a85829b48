import type { CompiledQuery } from 'kysely'
import type { ListPlan, PlannedCondition, PlannedOrder } from '../plan/list-plan.js'
import { operators } from '../vocabulary/operators.js'
import { Slot, type Stored } from '../vocabulary/storage.js'
import type { Engine } from './engine.js'
import { compileList, type ListBase, type OpenPlan } from './list-sql.js'
import { longestOf } from './long-values.js'
import { compileOnce } from './statements.js'

/** How far a statement of a list goes. */
export interface Reach {
  /** The moment at which it is given up. */
  readonly deadline: number
  /** How many rows are wanted. */
  readonly most: number
  /** How many bytes of a value are read. */
  readonly longest: number
}

/** What is asked for at first: one row more than the page holds tells whether another page follows. */
function firstReach (base: ListBase, { limit }: ListPlan): Reach {
  const most = limit + 1
  return { deadline: performance.now() + base.statementTime, most, longest: longestOf(base, most) }
}

/** The statement of a list: compiled once for each shape, filled with the values of the request. */
export function listStatement (engine: Engine, base: ListBase, plan: ListPlan & { readonly reach?: Reach }): CompiledQuery {
  const { query, queryId, sql, parameters } = compileOnce(engine, shapeOf(engine, base, plan), () => compileList(engine, base, openPlan(plan)))
  const values = valuesOf(plan, plan.reach ?? firstReach(base, plan))
  return { query, queryId, sql, parameters: parameters.map((parameter) => parameter instanceof Slot ? values[parameter.position] : parameter) }
}

/** What a plan is filled with, in the order of its slots. */
function valuesOf ({ conditions, start, after }: ListPlan, { deadline, most, longest }: Reach): readonly Stored[] {
  const values: Stored[] = [deadline, most, start, longest]
  if (after !== undefined) values.push(...after)
  for (const condition of conditions) values.push(...condition.values)
  return values
}

/** A plan with slots in place of its values. */
function openPlan ({ joins, conditions, ordering, after }: ListPlan): OpenPlan {
  let position = 0
  const nextSlot = (): Slot => new Slot(position++)
  return {
    joins,
    ordering,
    deadline: nextSlot(),
    most: nextSlot(),
    skipped: nextSlot(),
    longest: nextSlot(),
    leadsOn: after !== undefined,
    bounds: (after ?? []).map((value, index) => {
      const slot = nextSlot()
      return { ...ordering[index] as PlannedOrder, value: value === null ? null : slot }
    }),
    conditions: conditions.map((condition) => {
      const slots = condition.values.map(nextSlot)
      return isConstant(condition) ? condition : { ...condition, values: slots }
    })
  }
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
