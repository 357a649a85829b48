import { CompiledQuery, type Kysely, type RawBuilder } from 'kysely'
import type { Tables } from '../../engines/executor.js'
import type { PlannedUse, PlanRow } from '../../engines/query-plan.js'
import type { ListPlan, PlannedCondition } from '../../plan/list-plan.js'
import type { Resource } from '../../resource/resource.js'
import { firstReach, listStatement } from '../../sql/list-statement.js'

/**
 * The `limit` in rows of an explained list with a filter. With a small one, the database may plan to read the table
 * until it has enough rows, even if an index could find them.
 */
const explainedLimit = 1_000_000

/** True if an index finds the rows that meet the last condition of a list. */
export async function isSought (resource: Resource, plan: ListPlan): Promise<boolean> {
  const { reader: { db, dialect: { plans } }, model } = resource
  const rows = await explain(resource, 'filter', { ...plan, limit: explainedLimit })
  const { alias, column: { name } } = plan.conditions.at(-1) as PlannedCondition
  const { table = model.table } = plan.joins.find((join) => join.alias === alias) ?? {}
  if (!plans.seeks(rows, { alias, table, name })) return false
  return plans.sought === undefined || await lists(db, plans.sought, { table, column: name })
}

/** A column of an index. */
interface Indexed {
  readonly table: string
  readonly column: string
}

/** Runs a query for columns of indexes. Returns true if its result has the given column. */
export async function lists (
  db: Kysely<Tables>, query: RawBuilder<Indexed>, { table, column }: Indexed
): Promise<boolean> {
  const { rows } = await query.execute(db)
  return rows.some((index) => index.table === table && index.column === column)
}

/** Returns the database's plan of a list. */
export async function explain (resource: Resource, use: PlannedUse, plan: ListPlan): Promise<readonly PlanRow[]> {
  const { reader } = resource
  const { db, dialect: { plans: { explain, settings: { [use]: settings } } } } = reader
  const { sql, parameters } = listStatement(reader, resource, { ...plan, reach: firstReach(resource, plan) })
  const run = async (connection: Kysely<Tables>): Promise<readonly PlanRow[]> => {
    for (const setting of settings) await setting.execute(connection)
    const { rows } = await connection.executeQuery<PlanRow>(CompiledQuery.raw(`${explain}${sql}`, [...parameters]))
    return rows
  }
  return settings.length === 0 ? await run(db) : await db.transaction().execute(run)
}
