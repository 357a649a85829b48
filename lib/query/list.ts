import type { ListPlan } from '../plan/list-plan.js'
import type { Stored } from '../vocabulary/storage.js'
import type { ArrayRows, Engine } from './engine.js'
import { wholeKey, type ListBase } from './list-sql.js'
import { listStatement } from './list-statement.js'
import { runArrays, search } from './run.js'

/** The rows of one page, and whether another page follows. */
export interface Page {
  /** For each row the values of the keys, and perhaps more behind them. */
  readonly rows: ArrayRows
  readonly hasNext: boolean
  /** What the last row has in the columns of the ordering, if another page follows that is to be found by that, and can be. */
  readonly last: readonly Stored[] | undefined
}

/** Runs a list in one statement: it asks for one row more than the page holds instead of counting. */
export async function runList (engine: Engine, base: ListBase, plan: ListPlan): Promise<Page> {
  const keys = plan.after === undefined ? base.keys : [...base.keys, wholeKey]
  const found = await search(engine, (engine) => runArrays(engine, listStatement(engine, base, plan), keys))
  const hasNext = found.length > plan.limit
  const rows = hasNext ? found.slice(0, plan.limit) : found
  return { rows, hasNext, last: hasNext ? lastOf(rows, base, plan) : undefined }
}

function lastOf (rows: ArrayRows, { columns, keys }: ListBase, { ordering, after }: ListPlan): readonly Stored[] | undefined {
  const row = rows.at(-1) as readonly Stored[]
  const { [keys.length]: isWhole = 1 } = row
  if (after === undefined || isWhole !== 1) return undefined
  return ordering.map(({ column }) => row[columns.indexOf(column)] as Stored)
}
