import { CompiledQuery, type Kysely, type RawBuilder } from 'kysely'
import type { Tables } from '../../engines/executor.js'
import type { PlannedUse, PlanRow } from '../../engines/query-plan.js'
import { errors } from '../../errors.js'
import { kindDocumentation } from '../../fields/kind-documentation.js'
import { isOrderable, storageOf, valueKindOf, type Column } from '../../model/column.js'
import type { Model } from '../../model/define-model.js'
import { baseAlias, type ListPlan } from '../../plan/list-plan.js'
import { pathName, type Path } from '../../plan/path.js'
import { permittedPaths } from '../../plan/permitted-paths.js'
import { planList } from '../../plan/plan-list.js'
import { parseListQuery } from '../../request/list-query.js'
import type { Resource } from '../../resource/resource.js'
import { firstReach, listStatement } from '../../sql/list-statement.js'

/** A filter or an ordering that a resource permits, but for which the database reads the whole table. */
export interface Unindexed {
  readonly resource: string
  readonly use: PlannedUse
  /** The name as a query writes it: `user__email`. */
  readonly name: string
}

const noModels: ReadonlySet<Model> = new Set()

/**
 * The `limit` in rows of an explained list with a filter. With a small one, the database may plan to read the table
 * until it has enough rows, even if an index could find them.
 */
const explainedLimit = 1_000_000

/**
 * Returns the filters and orderings of a resource that no index serves. The database explains lists with one filter or
 * one ordering each, but runs none of them. Filters are on the fields of the resource, on those of the models that its
 * foreign keys refer to, and on paths that its option `filterable` names. Lists that the limits refuse to everybody are
 * left out.
 */
export async function unindexedOf (resource: Resource): Promise<readonly Unindexed[]> {
  const { name } = resource
  const filters: Unindexed[] = []
  for (const path of filterPaths(resource)) {
    if (!await isSought(resource, path)) filters.push({ resource: name, use: 'filter', name: pathName(path) })
  }
  const orderings: Unindexed[] = []
  for (const column of resource.filterable) {
    if (isOrderable(column) && !await isOrdered(resource, column)) {
      orderings.push({ resource: name, use: 'ordering', name: column.field })
    }
  }
  return [...filters, ...orderings]
}

/**
 * Returns the paths that clients can filter by: those through at most one foreign key, and those that the option
 * `filterable` names. Primary keys are left out, because they always have an index.
 */
function filterPaths (resource: Resource): readonly Path[] {
  const all = new Map(
    [...permittedPaths(resource, 1, noModels), ...resource.opened.values()].map((path) => [pathName(path), path]))
  return [...all.values()].filter(({ joins, column }) =>
    valueKindOf(column).operators.length > 0 && column !== (joins.at(-1)?.target() ?? resource.model).primaryKey)
}

/** True if an index finds the rows of a filter, or if the limits refuse the filter. */
async function isSought (resource: Resource, path: Path): Promise<boolean> {
  const { column } = path
  const isEqual = valueKindOf(column).operators.includes('eq')
  const sample = isEqual ? sampleOf(column) : 'null'
  if (isEqual && sample.length > resource.limits.valueLength) return true
  const plan = planOf(resource, `${pathName(path)}${isEqual ? '__eq' : '__is'}=${encodeURIComponent(sample)}`)
  if (plan === undefined) return true
  const { reader: { db, dialect: { plans } }, model } = resource
  const rows = await explain(resource, 'filter', { ...plan, limit: explainedLimit })
  const { alias = baseAlias, table = model.table } = plan.joins.at(-1) ?? {}
  if (!plans.seeks(rows, { alias, table, name: column.name })) return false
  return plans.sought === undefined || await lists(db, plans.sought, { table, column: column.name })
}

/** A column of an index. */
interface Indexed {
  readonly table: string
  readonly column: string
}

/** Runs a query for columns of indexes. Returns true if its result has the given column. */
async function lists (db: Kysely<Tables>, query: RawBuilder<Indexed>, { table, column }: Indexed): Promise<boolean> {
  const { rows } = await query.execute(db)
  return rows.some((index) => index.table === table && index.column === column)
}

/** Returns a valid value for a filter by equality. */
function sampleOf ({ target, kind, options }: Column): string {
  const { example } = kindDocumentation[target === undefined ? kind : target().primaryKey.kind]
  return String(example(options) ?? 'x')
}

/** True if an index orders the rows, or if the limits refuse the ordering. */
async function isOrdered (resource: Resource, column: Column): Promise<boolean> {
  const plan = planOf(resource, `ordering=${column.field}`)
  if (plan === undefined) return true
  const rows = await explain(resource, 'ordering', plan)
  const { reader: { db, dialect }, model } = resource
  if (!dialect.plans.sorts(rows)) return true
  if (dialect.plans.leading === undefined || storageOf(column, dialect).isCollated === true) return false
  return await lists(db, dialect.plans.leading, { table: model.table, column: column.name })
}

/** Returns the plan of a list, or undefined if the limits refuse the list. */
function planOf (resource: Resource, query: string): ListPlan | undefined {
  try {
    return planList(resource, parseListQuery(query, resource.limits.queryLength), noModels)
  } catch (error) {
    if (error instanceof errors.TooMuch || error instanceof errors.QueryTooLong) return undefined
    throw error
  }
}

async function explain (resource: Resource, use: PlannedUse, plan: ListPlan): Promise<readonly PlanRow[]> {
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
