import type { CompiledQuery } from 'kysely'
import { Slot, type Stored } from '../engines/storage.js'
import { operators } from '../fields/operators.js'
import { valueKindOf, type Column } from '../model/column.js'
import type { ListPlan, PlannedCondition, PlannedOrder } from '../plan/list-plan.js'
import { compileList, type ListBase, type OpenPlan } from './list-sql.js'
import { longestOf } from './long-values.js'
import type { SqlContext } from './sql-context.js'

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
export function listStatement (engine: SqlContext, base: ListBase, given: ListPlan & { readonly reach?: Reach }): CompiledQuery {
  const plan = given.conditions.length === 0 ? given : { ...given, conditions: given.conditions.map((condition) => withFewShapes(condition, engine)) }
  const { query, queryId, sql, parameters } = engine.shapes.compileOnce(shapeOf(engine, base, plan), () => compileList(engine, base, openPlan(plan)))
  const values = valuesOf(plan, plan.reach ?? firstReach(base, plan))
  return { query, queryId, sql, parameters: parameters.map((parameter) => parameter instanceof Slot ? values[parameter.position] : parameter) }
}

/** A condition as it is filled: with an array, its only value is a JSON array of all values; a pattern may need longer SQL. */
interface FilledCondition extends PlannedCondition {
  readonly isArray?: boolean
  readonly isAmbiguous?: boolean
}

type FilledPlan = ListPlan & { readonly conditions: readonly FilledCondition[] }

/** Longer lists become an array, or are not kept, so that their shapes need not be few. */
const maxPadded = 128

/** An `in` list with its last value repeated up to a power of two, so that lists have few shapes; one that is long as an array where the engine has that. */
function withFewShapes (condition: PlannedCondition, { dialect }: SqlContext): FilledCondition {
  const { column, operator, values } = condition
  const { syntax } = operators[operator]
  if (syntax === 'pattern' && values.some((value) => dialect.ambiguous?.test(String(value)))) return { ...condition, isAmbiguous: true }
  const last = syntax === 'list' ? values.at(-1) : undefined
  if (last === undefined) return condition
  if (values.length > maxPadded) return dialect.listed !== undefined && isListed(column) ? { ...condition, values: [toArray(values)], isArray: true } : condition
  const length = 2 ** Math.ceil(Math.log2(values.length))
  return { ...condition, values: [...values, ...Array<Stored>(length - values.length).fill(last)] }
}

/** JSON has no more than texts and integers without a loss, and other kinds may be compared in ways of their own. */
function isListed (column: Column): boolean {
  return ['key', 'text', 'integer', 'bigint', 'uuid'].includes(valueKindOf(column).storage)
}

function toArray (values: readonly Stored[]): string {
  return `[${values.map((value) => typeof value === 'bigint' ? String(value) : JSON.stringify(value)).join()}]`
}

/** What a plan is filled with, in the order of its slots. */
function valuesOf ({ conditions, start, after }: ListPlan, { deadline, most, longest }: Reach): readonly Stored[] {
  const values: Stored[] = [deadline, most, start, longest]
  if (after !== undefined) values.push(...after)
  for (const condition of conditions) values.push(...condition.values)
  return values
}

/** A plan with slots in place of its values. */
function openPlan ({ joins, conditions, ordering, after }: FilledPlan): OpenPlan {
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
function shapeOf ({ dialect }: SqlContext, { name }: ListBase, { joins, conditions, ordering, after }: FilledPlan): string {
  let shape = `list ${name} ${dialect.seeksByCollation}`
  for (const { from, column } of joins) shape += ` ${from}.${column.key}`
  for (const condition of conditions) {
    const { alias, column, operator, values, isArray = false, isAmbiguous = false } = condition
    shape += ` ${alias}.${column.key} ${operator} ${isConstant(condition) ? values.join() : isArray ? 'array' : values.length}`
    if (isAmbiguous) shape += ' ambiguous'
  }
  for (const { column, descending } of ordering) shape += ` ${column.key} ${descending}`
  if (after !== undefined) shape += ` after ${after.map((value) => value === null).join()}`
  return shape
}

/** Whether the SQL of a condition depends on its values. */
function isConstant ({ operator }: PlannedCondition): boolean {
  return operators[operator].syntax === 'constant'
}
