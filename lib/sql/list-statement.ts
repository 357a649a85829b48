import type { Dialect } from '../engines/dialect.js'
import type { ArrayRows, Query } from '../engines/executor.js'
import { Slot, type Stored } from '../engines/storage.js'
import { keyColumnsOf } from '../model/key.js'
import { baseAlias, type ListPlan, type PlannedCondition, type PlannedInclude } from '../plan/list-plan.js'
import { itemAt } from '../values/lookup.js'
import { withoutSeeks } from './condition.js'
import { openCondition, shapeOfCondition, withFewShapes, type FilledCondition } from './filled-condition.js'
import { compileCount } from './count-sql.js'
import {
  fillIncludes, includedKeys, openInclude, shapeOfInclude, type FilledInclude
} from './include-sql.js'
import { compileList, type ListBase, type OpenPlan } from './list-sql.js'
import { isAnyWithheld, isLong, maxValueBytesOf } from './long-values.js'
import type { SqlContext } from './sql-context.js'

/** Limits of a list statement. A list may need two statements with different limits. */
export interface ReadLimits {
  /** Time of `performance.now()`, in milliseconds, at which SQLite ends the list. The other engines ignore it. */
  readonly deadline: number
  /** Maximum number of rows to read. */
  readonly maxRows: number
  /** Maximum number of bytes of a text or JSON value. If a value is longer, only its length is read. */
  readonly maxValueBytes: number
}

/**
 * Returns the limits of the first statement of a list. The statement reads one row more than the page holds, to know
 * whether another page follows.
 */
export function firstLimits (base: ListBase, { limit }: ListPlan): ReadLimits {
  const maxRows = limit + 1
  const deadline = performance.now() + base.limits.statementTime
  return { deadline, maxRows, maxValueBytes: maxValueBytesOf(base, maxRows) }
}

/** Returns the {@link ListBase} of a list whose rows have the columns of related records after those of the record. */
export function withIncludes (base: ListBase, includes: readonly PlannedInclude[]): ListBase {
  const { name, model, visible, searched, keys, long, limits } = base
  const allKeys = [...keys, ...includedKeys(keys.length, includes)]
  const allLong = [...long]
  let position = keys.length
  for (const include of includes) {
    for (const column of include.visible) {
      if (isLong(column)) allLong.push(position)
      position++
    }
  }
  return { name, model, visible, searched, keys: allKeys, long: allLong, limits }
}

/**
 * Returns a {@link ListPlan} that is narrowed to the given rows by their primary keys. Without this, the database may
 * sort all rows, each together with its related records in full. Returns `plan` unchanged if it has no includes, or if
 * a row has only the length of a key that was too long to be read.
 */
export function narrowedToRows (
  rows: ArrayRows, { model, visible }: ListBase, plan: ListPlan
): ListPlan {
  const keysAt = keyColumnsOf(model).map((column) => visible.indexOf(column))
  if (plan.includes.length === 0 || isAnyWithheld(rows, keysAt)) return plan
  const isOnPage: PlannedCondition = {
    alias: baseAlias,
    column: model.primaryKey,
    operator: 'in',
    values: rows.flatMap((row) => keysAt.map((index) => itemAt(row, index)))
  }
  return { ...plan, conditions: [...plan.conditions, isOnPage], start: 0, after: plan.after && [] }
}

/**
 * A list that skips at least this number of rows finds the rows of its page by a subquery. With fewer, the subquery
 * does not pay: PostgreSQL takes as long to plan it as to skip some hundred rows.
 */
const minSkipped = 1000

const compilers = { list: compileList, count: compileCount } as const
type StatementKind = keyof typeof compilers

/**
 * Returns the statement that reads a list or, if `kind` is `count`, counts its records. Statements that differ only in
 * the values of parameters share one compiled SQL text.
 */
export function listStatement (
  engine: SqlContext, base: ListBase, given: ListPlan, limits: ReadLimits, kind: StatementKind = 'list'
): Query {
  const { dialect, shapes } = engine
  const { joins, search, ordering, start, after } = given
  const conditions = given.conditions.map((condition) => withFewShapes(condition, dialect))
  const includes = given.includes.length === 0 ? [] : fillIncludes(given.includes, dialect)
  const isFar = dialect.selectsSkipped === true && after === undefined && start >= minSkipped
  const plan: FilledPlan = { joins, conditions, includes, search, ordering, start, after, limits, isFar }
  const { query, queryId, sql, parameters } = shapes.memo(
    `${kind} ${shapeOf(engine, base, plan)}`, { context: () => compilers[kind](engine, base, openPlan(plan, dialect)) })
  const values = valuesOf(plan)
  const filled = parameters.map((parameter) => parameter instanceof Slot ? values[parameter.position] : parameter)
  // The same statement without the conditions for an index of a text column. It runs if the engine cannot compare a
  // text with the character set of the column.
  const withoutIndex = dialect.seeksByCollation
    ? () => listStatement({ ...engine, dialect: withoutSeeks(dialect) }, base, given, limits, kind)
    : undefined
  return { query, queryId, sql, parameters: filled, withoutIndex, label: { operation: kind, resource: base.name } }
}

/**
 * Returns the statement that counts the records of a list on all its pages, up to `limits.maxRows`. The count does not
 * depend on the ordering, nor on where the page begins.
 */
export function countStatement (engine: SqlContext, base: ListBase, given: ListPlan, limits: ReadLimits): Query {
  const counted = { ...given, includes: [], ordering: [], start: 0, after: undefined }
  return listStatement(engine, base, counted, limits, 'count')
}

interface FilledPlan extends Omit<ListPlan, 'conditions' | 'includes' | 'limit'>, Pick<OpenPlan, 'isFar'> {
  readonly limits: ReadLimits
  readonly conditions: ReadonlyArray<FilledCondition & { readonly alias: string }>
  readonly includes: readonly FilledInclude[]
}

/** Returns the values that fill the slots of {@link openPlan}, in the order of those slots. */
function valuesOf ({ conditions, includes, search, start, after, limits }: FilledPlan): readonly Stored[] {
  const { deadline, maxRows, maxValueBytes } = limits
  const values: Stored[] = [deadline, maxRows, start, maxValueBytes]
  if (after !== undefined) values.push(...after)
  for (const condition of conditions) values.push(...condition.values)
  for (const include of includes) for (const condition of include.conditions) values.push(...condition.values)
  values.push(...search)
  return values
}

/**
 * Returns a plan in which each value of {@link valuesOf} is replaced by a slot with its position there. Nulls of a
 * cursor and the values of `is` stay, because they are part of the SQL.
 */
function openPlan (plan: FilledPlan, dialect: Dialect): OpenPlan {
  const { joins, conditions, includes, search, ordering, after, isFar } = plan
  let position = 0
  const nextSlot = (): Slot => new Slot(position++)
  return {
    joins,
    ordering,
    deadline: nextSlot(),
    maxRows: nextSlot(),
    skipped: nextSlot(),
    maxValueBytes: nextSlot(),
    hasCursors: after !== undefined,
    isFar,
    bounds: (after ?? []).map((value, index) => {
      const slot = nextSlot()
      return { ...itemAt(ordering, index), value: value === null ? null : slot }
    }),
    conditions: conditions.map((condition) => openCondition(condition, nextSlot)),
    includes: includes.map((include) => openInclude(include, nextSlot)),
    search: { patterns: search.map(nextSlot), isAmbiguous: isAmbiguous(search, dialect) }
  }
}

/** Returns all that the SQL of a list depends on, as one text. Spaces separate the parts, because no name has one. */
function shapeOf ({ dialect }: SqlContext, { name }: ListBase, plan: FilledPlan): string {
  const { joins, conditions, includes, search, ordering, after, isFar } = plan
  let shape = `${name} ${dialect.seeksByCollation}`
  for (const { from, column } of joins) shape += ` ${from}.${column.key}`
  for (const condition of conditions) shape += ` ${condition.alias}.${shapeOfCondition(condition)}`
  for (const include of includes) shape += shapeOfInclude(include)
  if (search.length > 0) shape += ` search ${search.length} ${isAmbiguous(search, dialect)}`
  for (const { column, descending } of ordering) shape += ` ${column.key} ${descending}`
  if (isFar) shape += ' far'
  if (after !== undefined) shape += ` after ${after.map((value) => value === null).join()}`
  return shape
}

/** True if a pattern of a search holds {@link Dialect.ambiguous} characters, which the engine takes for each other. */
function isAmbiguous (search: ListPlan['search'], { ambiguous }: Dialect): boolean {
  return ambiguous !== undefined && search.some((pattern) => ambiguous.test(pattern))
}
