import type { ArrayRows, MaybePromise } from '../engines/executor.js'
import type { Stored } from '../engines/storage.js'
import type { ListPlan } from '../plan/list-plan.js'
import type { ListBase } from '../sql/list-sql.js'
import { firstLimits, listStatement, narrowedToRows, type ReadLimits } from '../sql/list-statement.js'
import { countFitting, isAnyWithheld, unlimited } from '../sql/long-values.js'
import { wholeKey } from '../sql/ordering.js'
import { itemAt } from '../values/lookup.js'
import { isPromise } from '../values/values.js'
import type { Engine } from './engine.js'

/** Rows of one page, with the position at which the next page begins. */
export interface Page {
  /**
   * Values of each row, in the order of {@link ListBase.keys}. One more value may follow: {@link wholeKey}, which is 1
   * if a cursor can be made of the row.
   */
  readonly rows: ArrayRows
  /**
   * Number of rows that the page has room for: the requested limit, even if fewer rows are left. It is lower only if
   * the rows would exceed `limits.pageBytes`.
   */
  readonly capacity: number
  /** True if another page follows. */
  readonly hasNext: boolean
  /**
   * Values of the last row in the columns of the ordering. Undefined if no page follows, if pages are numbered, or if
   * the row does not hold the values in full.
   */
  readonly last: readonly Stored[] | undefined
  /**
   * Deadline on SQLite of the list and of a count that follows it, in milliseconds of `performance.now()`. Servers have
   * a time limit of their own.
   */
  readonly deadline: number
}

/**
 * Reads one page of a list, in one statement if possible. The statement reads one row more than the page holds, to know
 * whether another page follows. For a text or JSON value that is longer than an equal share of `limits.pageBytes`, it
 * reads only the length. If there are such values, a second statement reads in full the rows that the page has room
 * for.
 *
 * @param base  has the columns of related records, too, if the plan includes some
 */
export function runList (engine: Engine, base: ListBase, plan: ListPlan): MaybePromise<Page> {
  const keys = plan.after === undefined ? base.keys : [...base.keys, wholeKey]
  const ask = (limits: ReadLimits, asked = plan) =>
    engine.executor.readArrays(listStatement(engine, base, asked, limits), keys)
  const limits = firstLimits(base, plan)
  const { deadline } = limits
  const toPage = (found: ArrayRows): MaybePromise<Page> => {
    const isHeavy = isAnyWithheld(found, base.long)
    const capacity = isHeavy ? capacityFor(found, base, plan) : plan.limit
    const hasNext = found.length > capacity
    const rows = hasNext ? found.slice(0, capacity) : found
    const page = { rows, capacity, hasNext, last: hasNext ? cursorValues(rows, base, plan) : undefined, deadline }
    return isHeavy ? readWhole(page) : page
  }
  const readWhole = async (page: Page): Promise<Page> => {
    const whole = { ...limits, maxRows: page.capacity, maxValueBytes: unlimited }
    const rows = await ask(whole, narrowedToRows(page.rows, base, plan))
    return { ...page, rows, last: page.hasNext ? cursorValues(rows, base, plan) : undefined }
  }
  const found = ask(limits)
  return isPromise(found) ? found.then(toPage) : toPage(found)
}

/**
 * Returns how many rows the page has room for. If pages are numbered, the result is a divisor of the requested limit.
 * So with the result as the limit, another page number leads to the first row after this page.
 */
function capacityFor (found: ArrayRows, base: ListBase, { limit, after }: ListPlan): number {
  const page = found.slice(0, limit)
  const count = countFitting(page, base)
  if (count === page.length) return limit
  return after === undefined ? greatestDivisor(limit, count) : count
}

/** Returns the greatest number up to `most` that divides `number`. */
function greatestDivisor (number: number, most: number): number {
  for (let divisor = most; ; divisor--) if (number % divisor === 0) return divisor
}

function cursorValues (
  rows: ArrayRows, { visible, keys }: ListBase, { ordering, after }: ListPlan
): readonly Stored[] | undefined {
  const row = rows.at(-1)
  if (row === undefined || after === undefined) return undefined
  // Kysely's executor gives null for a value that the statement does not select.
  const isWhole = (row[keys.length] ?? 1) === 1
  return isWhole ? ordering.map(({ column }) => itemAt(row, visible.indexOf(column))) : undefined
}
