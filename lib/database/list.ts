import type { ArrayRows } from '../engines/executor.js'
import type { Stored } from '../engines/storage.js'
import type { ListPlan } from '../plan/list-plan.js'
import { wholeKey, type ListBase } from '../sql/list-sql.js'
import { listStatement, type Reach } from '../sql/list-statement.js'
import { countFitting, isAnyWithheld, unlimited } from '../sql/long-values.js'
import type { Engine } from './engine.js'
import { runArrays, search } from './run.js'

/** The rows of one page, and whether another page follows. */
export interface Page {
  /** For each row the values of the keys, and perhaps more behind them. */
  readonly rows: ArrayRows
  /** How many rows the page has room for: as many as were asked for, or fewer if they are too large. */
  readonly limit: number
  readonly hasNext: boolean
  /** What the last row has in the columns of the ordering, if another page follows that is to be found by that, and can be. */
  readonly last: readonly Stored[] | undefined
}

/**
 * Runs a list in one statement: it asks for one row more than the page holds instead of counting. If values are long, it asks for
 * their lengths instead, and then in a second statement for the rows that a page has room for.
 */
export async function runList (engine: Engine, base: ListBase, plan: ListPlan): Promise<Page> {
  const keys = plan.after === undefined ? base.keys : [...base.keys, wholeKey]
  const deadline = performance.now() + base.statementTime
  const ask = (asked: ListPlan & { readonly reach?: Reach }) => search(engine, (engine) => runArrays(engine, listStatement(engine, base, asked), keys))
  const found = await ask(plan)
  const isHeavy = isAnyWithheld(found, base.long)
  const limit = isHeavy ? limitOf(found, base, plan) : plan.limit
  const hasNext = found.length > limit
  const rows = isHeavy ? await ask({ ...plan, reach: { deadline, most: limit, longest: unlimited } }) : hasNext ? found.slice(0, limit) : found
  return { rows, limit, hasNext, last: hasNext ? lastOf(rows, base, plan) : undefined }
}

/** Pages that are told by their numbers can go on only behind a part of a page. */
function limitOf (found: ArrayRows, base: ListBase, { limit, after }: ListPlan): number {
  const page = found.slice(0, limit)
  const count = countFitting(page, base)
  if (count === page.length) return limit
  return after === undefined ? greatestDivisor(limit, count) : count
}

/** The greatest divisor of a number that is not above another. */
function greatestDivisor (number: number, most: number): number {
  for (let divisor = most; ; divisor--) if (number % divisor === 0) return divisor
}

function lastOf (rows: ArrayRows, { columns, keys }: ListBase, { ordering, after }: ListPlan): readonly Stored[] | undefined {
  const row = rows.at(-1)
  if (row === undefined || after === undefined) return undefined
  const { [keys.length]: isWhole = 1 } = row
  return isWhole === 1 ? ordering.map(({ column }) => row[columns.indexOf(column)] as Stored) : undefined
}
