import type { ListPlan } from '../plan/list-plan.js'
import type { ArrayRows, Engine } from './engine.js'
import { listStatement, type ListBase } from './list-statement.js'
import { runArrays, search } from './run.js'

/** The rows of one page, and whether another page follows. */
export interface Page {
  readonly rows: ArrayRows
  readonly hasNext: boolean
}

/** Runs a list in one statement: it asks for one row more than the page holds instead of counting. */
export async function runList (engine: Engine, base: ListBase, plan: ListPlan): Promise<Page> {
  const rows = await search(engine, async (engine) => await runArrays(engine, listStatement(engine, base, plan), base.keys))
  const hasNext = rows.length > plan.limit
  return { rows: hasNext ? rows.slice(0, plan.limit) : rows, hasNext }
}
