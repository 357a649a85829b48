import type { ListPlan } from '../plan/list-plan.js'
import { countKey } from '../sql/count-sql.js'
import type { ListBase } from '../sql/list-sql.js'
import { countStatement } from '../sql/list-statement.js'
import type { Engine } from './engine.js'
import type { Page } from './list.js'

/** How many records all pages of a list have together. */
export interface Count {
  /** The number of records, or `limits.count` if there are more records than that. */
  readonly count: number
  /** True if there are more records than `count`. */
  readonly capped: boolean
}

/**
 * Counts the records of a list on all its pages, up to `limits.count`. No statement is run if `page` already shows the
 * number, or that it is above `limits.count`. Otherwise the count runs after the page and, on SQLite, within the same
 * deadline. Page and count share no snapshot, so a record that is created or deleted in between is in only one of them.
 */
export async function runCount (engine: Engine, base: ListBase, plan: ListPlan, page: Page): Promise<Count> {
  const { limits: { count: most } } = base
  const found = shownCount(plan, page, most) ?? await countRows(engine, base, plan, page.deadline)
  return { count: Math.min(found, most), capped: found > most }
}

/**
 * Returns the number of records on all pages if the page is the last one, or a number above `most` if the page shows
 * that there are more than `most` records. Otherwise returns undefined. An empty page shows the number only if it is
 * the first page. A page after a cursor shows none: `start`, the number of records before it, comes from the cursor and
 * may be wrong.
 */
function shownCount ({ start, after }: ListPlan, { rows, hasNext }: Page, most: number): number | undefined {
  if (after !== undefined && after.length > 0) return undefined
  const reached = start + rows.length
  if (hasNext) return reached >= most ? reached + 1 : undefined
  return rows.length > 0 || start === 0 ? reached : undefined
}

async function countRows (engine: Engine, base: ListBase, plan: ListPlan, deadline: number): Promise<number> {
  const limits = { deadline, maxRows: base.limits.count + 1, maxValueBytes: 0 }
  const statement = countStatement(engine, base, plan, limits)
  const [[counted = 0] = []] = await engine.executor.readArrays(statement, [countKey])
  return Number(counted)
}
