import { CompiledQuery, type Kysely, type RawBuilder } from 'kysely'
import type { Tables } from '../../engines/executor.js'
import type { PlannedColumn, PlannedUse, PlanRow } from '../../engines/query-plan.js'
import { baseAlias, type ListPlan } from '../../plan/list-plan.js'
import type { Resource } from '../../resource/resource.js'
import { countStatement, firstLimits, listStatement, withIncludes } from '../../sql/list-statement.js'
import { lastOf } from '../../values/lookup.js'

/**
 * The `limit` of a list whose plan must show whether an index finds the rows. With a small `limit`, the database may
 * plan to read the table until it has enough rows, even if an index could find them.
 */
const explainedLimit = 1_000_000

/**
 * True if an index finds the rows that meet the condition of a list, both for the query that reads a page and for the
 * query that counts the records. The list should have one condition; of several, only the last one is checked.
 */
export async function isSought (resource: Resource, plan: ListPlan): Promise<boolean> {
  const { reader: { db, dialect: { plans } }, model } = resource
  const { alias, column: { name } } = lastOf(plan.conditions)
  const { table = model.table } = plan.joins.find((join) => join.alias === alias) ?? {}
  if (!await isEachSought(resource, plan, [{ alias, table, name }])) return false
  return plans.sought === undefined || await hasColumn(db, plans.sought, { table, column: name })
}

/**
 * True if each column that a search looks at has an index that finds the matching rows, both for the query that reads
 * a page and for the query that counts the records. Unlike {@link isSought}, this does not run the query
 * `QueryPlans.sought`. That query lists no indexes of expressions, and a search uses such indexes.
 */
export async function isSearchSought (resource: Resource, plan: ListPlan): Promise<boolean> {
  const { model: { table }, searched } = resource
  return await isEachSought(resource, plan, searched.map(({ name }) => ({ alias: baseAlias, table, name })))
}

async function isEachSought (
  resource: Resource, plan: ListPlan, columns: readonly PlannedColumn[]
): Promise<boolean> {
  const { plans } = resource.reader.dialect
  for (const statement of [listStatement, countStatement]) {
    const rows = await explain(resource, 'filter', { ...plan, limit: explainedLimit }, statement)
    if (!columns.every((column) => plans.seeks(rows, column))) return false
  }
  return true
}

/** True if an index finds, for each row of a list, the related record that the last `include` of the list names. */
export async function isLookedUp (resource: Resource, plan: ListPlan): Promise<boolean> {
  const { alias } = lastOf(plan.includes)
  return !resource.reader.dialect.plans.scans(await explain(resource, 'include', plan), alias)
}

/** A column, by the name of its table and its own name. `QueryPlans.sought` and `leading` return rows of this form. */
interface ColumnName {
  readonly table: string
  readonly column: string
}

/** Runs a query for the columns of indexes. Returns true if one of its rows has both the table and the column. */
export async function hasColumn (
  db: Kysely<Tables>, query: RawBuilder<ColumnName>, { table, column }: ColumnName
): Promise<boolean> {
  const { rows } = await query.execute(db)
  return rows.some((index) => index.table === table && index.column === column)
}

/**
 * Returns the database's plan for a statement of a list, by default the one that reads a page. The statement itself is
 * not run.
 *
 * @param use  what the list needs an index for. On PostgreSQL it decides the settings with which a small table is
 *   planned as if it were large
 */
export async function explain (
  resource: Resource, use: PlannedUse, plan: ListPlan, statement: typeof countStatement = listStatement
): Promise<readonly PlanRow[]> {
  const { reader, reader: { db, dialect: { plans: { explain, settings: { [use]: settings } } } } } = resource
  const base = withIncludes(resource, plan.includes)
  const { sql, parameters } = statement(reader, base, plan, firstLimits(base, plan))
  const run = async (connection: Kysely<Tables>): Promise<readonly PlanRow[]> => {
    for (const setting of settings) await setting.execute(connection)
    const { rows } = await connection.executeQuery<PlanRow>(CompiledQuery.raw(`${explain}${sql}`, [...parameters]))
    return rows
  }
  return settings.length === 0 ? await run(db) : await db.transaction().execute(run)
}
