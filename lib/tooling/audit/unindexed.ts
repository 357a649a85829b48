import type { PlannedUse } from '../../engines/query-plan.js'
import { errors } from '../../errors.js'
import { isOrderable, storageOf, valueKindOf, type Column } from '../../model/column.js'
import type { Model } from '../../model/define-model.js'
import type { ListPlan } from '../../plan/list-plan.js'
import { pathName, type Path } from '../../plan/path.js'
import { includeNames } from '../../plan/permitted-includes.js'
import { permittedPaths } from '../../plan/permitted-paths.js'
import { planList } from '../../plan/plan-list.js'
import { unscoped, type ListViewer } from '../../plan/viewer.js'
import { parseListQuery } from '../../request/list-query.js'
import type { Resource } from '../../resource/resource.js'
import { explain, isSearchSought, isSought, hasColumn } from './explain.js'
import { sampleOf } from '../../plan/sample.js'
import type { KeyLookups } from './key-lookups.js'
import type { TableSizes } from './table-sizes.js'
import { listedScopes, unindexedScopes } from './unindexed-scopes.js'

/**
 * A filter, a search, an ordering or a related record that a resource permits, or a condition of its scope, for which
 * the database reads the whole table.
 */
export interface Unindexed {
  readonly resource: string
  readonly use: PlannedUse | 'scope' | 'search'
  /** The name as a query or a scope writes it: `user__email`. For a search, all the fields that it looks at. */
  readonly name: string
  /** The table that is read whole. For a scope, the table of the resource, even if a related table lacks the index. */
  readonly table: string
  /** Number of rows of that table. At most 100,000 are counted. */
  readonly rows: number
}

type Found = Omit<Unindexed, 'rows'>

const noModels: ReadonlySet<Model> = new Set()
const viewer: ListViewer = { ...unscoped, closed: noModels }

/**
 * Returns the scopes, related records, searches, filters and orderings of a resource that no index serves. If an index
 * finds the records of each scope, searches, filters and orderings need no index of their own, because they read only
 * these records. Filters are on the fields of the resource, on those of the models that its foreign keys refer to, and
 * on paths that its option `filterable` names. Leaves out lists that the option `limits` refuses.
 *
 * Asks the database for the plans of lists with one condition, one related record or one ordering each. If a list has a
 * condition, also asks for the plan of its count. The database does not run the lists and counts.
 */
export async function unindexedOf (
  resource: Resource, sizes: TableSizes, lookups: KeyLookups
): Promise<readonly Unindexed[]> {
  const { name: resourceName, model: { table }, reader: { db } } = resource
  const scopes = listedScopes(resource)
  const unindexed = await unindexedScopes(resource, scopes)
  const isBounded = unindexed.length === 0 && scopes.length > 0 && scopes.every((scope) => scope.length > 0)
  const found: readonly Found[] = [
    ...unindexed.map((name) => ({ resource: resourceName, use: 'scope', name, table }) as const),
    ...await unindexedIncludes(resource, lookups),
    ...isBounded ? [] : await unindexedQueries(resource)
  ]
  const sized: Unindexed[] = []
  for (const item of found) sized.push({ ...item, rows: await sizes.sizeOf(db, item.table) })
  return sized
}

async function unindexedQueries (resource: Resource): Promise<readonly Found[]> {
  const { name, model, searched } = resource
  const fields = searched.map(({ field }) => field).join(', ')
  const found: Found[] = []
  if (searched.length > 0 && !await isSearchServed(resource)) {
    found.push({ resource: name, use: 'search', name: fields, table: model.table })
  }
  for (const path of filterPaths(resource)) {
    const { table } = path.joins.at(-1)?.target() ?? model
    if (await isFilterSought(resource, path)) continue
    found.push({ resource: name, use: 'filter', name: pathName(path), table })
  }
  for (const column of resource.filterable) {
    if (isOrderable(column) && !await isOrdered(resource, column)) {
      found.push({ resource: name, use: 'ordering', name: column.field, table: model.table })
    }
  }
  return found
}

/**
 * Returns the related records that no index finds. A foreign key that several paths lead to is asked about once, by the
 * shortest path. Longer paths through it lead to the same keys, so they are not followed.
 */
async function unindexedIncludes (resource: Resource, lookups: KeyLookups): Promise<readonly Found[]> {
  const found: Found[] = []
  const asked = new Set<Column>()
  const isNew = (column: Column): boolean => asked.size < asked.add(column).size
  for (const name of includeNames(resource, noModels, isNew)) {
    const plan = planOf(resource, `include=${name}`)
    const column = plan?.includes.at(-1)?.column
    if (plan === undefined || column === undefined || await lookups.isServed(resource, plan, column)) continue
    found.push({ resource: resource.name, use: 'include', name, table: column.target().table })
  }
  return found
}

/**
 * True if indexes find the rows of a search, or if the option `limits` refuses the search. The search is for `abc`,
 * because some indexes find only texts of three or more letters. If `limits.patternLength` is 1 or 2, the search is for
 * `a` or `ab`.
 */
async function isSearchServed (resource: Resource): Promise<boolean> {
  const plan = planOf(resource, `search=${'abc'.slice(0, resource.limits.patternLength)}`)
  return plan === undefined || await isSearchSought(resource, plan)
}

/**
 * Returns the paths that clients can filter by: fields of the resource, fields of the models that its foreign keys
 * refer to, and paths that its option `filterable` names. Primary keys are left out, because they always have an index.
 */
function filterPaths (resource: Resource): readonly Path[] {
  const all = new Map(
    [...permittedPaths(resource, 1, noModels), ...resource.opened.values()].map((path) => [pathName(path), path]))
  return [...all.values()].filter(({ joins, column }) =>
    valueKindOf(column).operators.length > 0 && column !== (joins.at(-1)?.target() ?? resource.model).primaryKey)
}

/**
 * True if an index finds the rows of a filter by equality, or by null if the field has no operator `eq`. Also true if
 * the option `limits` refuses the filter.
 */
async function isFilterSought (resource: Resource, path: Path): Promise<boolean> {
  const { column } = path
  const isEqual = valueKindOf(column).operators.includes('eq')
  const sample = isEqual ? sampleOf(column) : 'null'
  if (isEqual && sample.length > resource.limits.valueLength) return true
  const plan = planOf(resource, `${pathName(path)}${isEqual ? '__eq' : '__is'}=${encodeURIComponent(sample)}`)
  return plan === undefined || await isSought(resource, plan)
}

/** True if an index gives the rows in the order of a column, or if the option `limits` refuses the ordering. */
async function isOrdered (resource: Resource, column: Column): Promise<boolean> {
  const plan = planOf(resource, `ordering=${column.field}`)
  if (plan === undefined) return true
  const rows = await explain(resource, 'ordering', plan)
  const { reader: { db, dialect }, model } = resource
  if (!dialect.plans.sorts(rows)) return true
  if (dialect.plans.leading === undefined || storageOf(column, dialect).isCollated === true) return false
  return await hasColumn(db, dialect.plans.leading, { table: model.table, column: column.name })
}

/** Returns the plan of the list that a query string asks for, or undefined if the option `limits` refuses the list. */
function planOf (resource: Resource, query: string): ListPlan | undefined {
  try {
    return planList(resource, parseListQuery(query, resource.limits.queryLength, resource.maxLimit), viewer)
  } catch (error) {
    if (error instanceof errors.TooMuch || error instanceof errors.QueryTooLong) return undefined
    throw error
  }
}
