import type { Query } from '../engines/executor.js'
import { Slot, type Stored } from '../engines/storage.js'
import { operators } from '../fields/operators.js'
import { valueKindOf, type Column } from '../model/column.js'
import type { ListPlan, PlannedCondition, PlannedOrder } from '../plan/list-plan.js'
import { compileList, type ListBase, type OpenPlan } from './list-sql.js'
import { longestOf } from './long-values.js'
import type { SqlContext } from './sql-context.js'

/** Limits of a list statement. A list may need two statements with different limits. */
export interface Reach {
  /** Time of `performance.now()`, in milliseconds, at which the list is given up. */
  readonly deadline: number
  /** Number of rows to read. */
  readonly most: number
  /** Bytes up to which a value is read; of a longer one only the length is read. */
  readonly longest: number
}

/** Returns the limits of the first statement of a list. One row more than the page holds tells if another follows. */
export function firstReach (base: ListBase, { limit }: ListPlan): Reach {
  const most = limit + 1
  return { deadline: performance.now() + base.limits.statementTime, most, longest: longestOf(base, most) }
}

/** A list with the limits of one of its statements. */
export interface ReachingPlan extends ListPlan {
  readonly reach: Reach
}

/** Returns the statement of a list. Lists that differ only in values share one compiled SQL text. */
export function listStatement (engine: SqlContext, base: ListBase, given: ReachingPlan): Query {
  const plan = given.conditions.length === 0
    ? given
    : { ...given, conditions: given.conditions.map((condition) => withFewShapes(condition, engine)) }
  const { query, queryId, sql, parameters } =
    engine.shapes.compileOnce(shapeOf(engine, base, plan), () => compileList(engine, base, openPlan(plan)))
  const values = valuesOf(plan)
  const filled = parameters.map((parameter) => parameter instanceof Slot ? values[parameter.position] : parameter)
  return { query, queryId, sql, parameters: filled, withoutIndex: withoutSeeks(engine, base, given) }
}

/**
 * Returns {@link Query.withoutIndex}: a function that makes the same statement without the help of an index of a text
 * column. Undefined if the engine can always use the index.
 */
function withoutSeeks (engine: SqlContext, base: ListBase, given: ReachingPlan): Query['withoutIndex'] {
  if (!engine.dialect.seeksByCollation) return undefined
  return () => listStatement({ ...engine, dialect: { ...engine.dialect, seeksByCollation: false } }, base, given)
}

/** A condition with the values that its slots are filled with. */
interface FilledCondition extends PlannedCondition {
  /**
   * If true, `values` has one element: the text of a JSON array that holds the values of the filter. Otherwise `values`
   * holds the values themselves.
   */
  readonly isArray?: boolean
  /**
   * True if the pattern holds characters that the engine's patterns confuse. Its SQL is then longer, to tell them
   * apart.
   */
  readonly isAmbiguous?: boolean
}

type FilledPlan = ListPlan & { readonly conditions: readonly FilledCondition[] }

/**
 * An `in` list of up to this many values is padded to a power of two. A longer one becomes one JSON array, or stays as
 * it is if the engine or the column cannot compare with an array.
 */
const maxPaddedValues = 128

/**
 * Returns a condition whose SQL many requests share. An `in` list repeats its last value up to a power of two; one of
 * over 128 values becomes a JSON array where possible. A pattern that the engine would confuse is marked.
 */
function withFewShapes (condition: PlannedCondition, { dialect }: SqlContext): FilledCondition {
  const { column, operator, values } = condition
  const { syntax } = operators[operator]
  if (syntax === 'pattern' && values.some((value) => dialect.ambiguous?.test(String(value)))) {
    return { ...condition, isAmbiguous: true }
  }
  const last = syntax === 'list' ? values.at(-1) : undefined
  if (last === undefined) return condition
  if (values.length > maxPaddedValues) {
    const hasArray = dialect.listed !== undefined && isListed(column)
    return hasArray ? { ...condition, values: [toArray(values)], isArray: true } : condition
  }
  const length = 2 ** Math.ceil(Math.log2(values.length))
  return { ...condition, values: [...values, ...Array<Stored>(length - values.length).fill(last)] }
}

/**
 * True for columns of texts, integers and UUIDs, which can be compared with the items of a JSON array. JSON loses part
 * of other values, or engines compare them in their own way.
 */
function isListed (column: Column): boolean {
  return ['key', 'text', 'integer', 'bigint', 'uuid'].includes(valueKindOf(column).storage)
}

function toArray (values: readonly Stored[]): string {
  return `[${values.map((value) => typeof value === 'bigint' ? String(value) : JSON.stringify(value)).join()}]`
}

/** Returns the values that fill the slots of {@link openPlan}, in the order of those slots. */
function valuesOf ({ conditions, start, after, reach }: ReachingPlan): readonly Stored[] {
  const { deadline, most, longest } = reach
  const values: Stored[] = [deadline, most, start, longest]
  if (after !== undefined) values.push(...after)
  for (const condition of conditions) values.push(...condition.values)
  return values
}

/** Returns a plan in which each value of {@link valuesOf} is replaced by a slot with its position there. */
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

/** Returns all that the SQL of a list depends on, as one text. Spaces separate the parts, because no name has one. */
function shapeOf (
  { dialect }: SqlContext, { name }: ListBase, { joins, conditions, ordering, after }: FilledPlan
): string {
  let shape = `list ${name} ${dialect.seeksByCollation}`
  for (const { from, column } of joins) shape += ` ${from}.${column.key}`
  for (const condition of conditions) {
    const { alias, column, operator, values, isArray = false, isAmbiguous = false } = condition
    const filling = isConstant(condition) ? values.join() : isArray ? 'array' : values.length
    shape += ` ${alias}.${column.key} ${operator} ${filling}`
    if (isAmbiguous) shape += ' ambiguous'
  }
  for (const { column, descending } of ordering) shape += ` ${column.key} ${descending}`
  if (after !== undefined) shape += ` after ${after.map((value) => value === null).join()}`
  return shape
}

/** True for the operator `is`, whose null, true or false is part of the compiled statement and needs no slot. */
function isConstant ({ operator }: PlannedCondition): boolean {
  return operators[operator].syntax === 'constant'
}
