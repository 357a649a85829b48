import { errors, fieldError } from '../errors.js'
import { isOrderable, type Column } from '../model/column.js'
import type { Model } from '../model/define-model.js'
import type { ListRequest } from '../request/list-query.js'
import { typoSuggestion } from '../suggest.js'
import { permitsCursors, readCursor, requireCursors } from './cursor.js'
import type { ListPlan, PlannedInclude, PlannedOrder } from './list-plan.js'
import type { ListRules } from './list-rules.js'
import { permittedPath, type Access } from './path.js'
import { planFilters } from './plan-filters.js'
import { planIncludes } from './plan-include.js'
import { planSearch } from './plan-search.js'
import type { ListViewer } from './viewer.js'

const nothingClosed: ReadonlySet<Model> = new Set()
const noIncludes: readonly PlannedInclude[] = []
const noWords: readonly string[] = []
/** Most fields that an ordering may name. MariaDB's sort buffer has room for the keys of 17 long texts. */
const maxOrdering = 16
const bothDirections = 'must not name a column in both directions'

/**
 * Resolves the names and values of a list request for a resource.
 *
 * @throws REST_MODELS_UNKNOWN_PARAMETER, REST_MODELS_UNKNOWN_OPERATOR, REST_MODELS_INVALID_VALUE, REST_MODELS_TOO_MUCH,
 *   REST_MODELS_INVALID_INCLUDE, REST_MODELS_INVALID_ORDERING, REST_MODELS_INVALID_PAGE (all 400), naming the parameter
 */
export function planList (rules: ListRules, wanted: ListRequest, viewer: ListViewer): ListPlan {
  const { joins, conditions } = planFilters(rules, wanted.filters, viewer)
  const includes = wanted.include.length === 0 ? noIncludes : planIncludes(rules, wanted, viewer)
  const search = wanted.searches.length === 0 ? noWords : planSearch(rules, wanted.searches, viewer.closed)
  const ordering = planOrdering(rules, wanted.ordering)
  const { limit = rules.defaultLimit, after: cursor } = wanted
  // An empty cursor asks for the first page. If the ordering permits no cursors, planCursor() refuses any other.
  const isNumbered = cursor === undefined || (cursor === '' && !permitsCursors(ordering, rules.visible))
  const { start, after } = isNumbered ? planPage(rules, wanted, limit) : planCursor(rules, cursor, ordering)
  return { joins, conditions, includes, search, ordering, limit, start, after }
}

function planOrdering (rules: ListRules, written: readonly string[]): readonly PlannedOrder[] {
  const { keyOrdering } = rules
  if (written.length === 0) return keyOrdering
  if (written.length > maxOrdering) {
    throw fieldError(errors.TooMuch, 'ordering', `names more than ${maxOrdering} fields`)
  }
  const ordering: PlannedOrder[] = []
  const find = (column: Column): PlannedOrder | undefined => ordering.find((order) => order.column === column)
  for (const name of written) {
    for (const order of planOrder(rules, name)) {
      const before = find(order.column)
      if (before === undefined) ordering.push(order)
      else if (before.descending !== order.descending) throw invalidOrdering(bothDirections)
    }
  }
  const missing = keyOrdering.filter(({ column }) => find(column) === undefined)
  if (missing.length > 0) return [...ordering, ...missing]
  // No two records have the same key, so columns after the key decide nothing.
  const end = ordering.findLastIndex((order) => keyOrdering.some(({ column }) => column === order.column))
  return ordering.slice(0, end + 1)
}

/**
 * Returns the columns that a name in an ordering, such as `-age`, stands for, each with its direction. These are one
 * column, or all columns of the key if the name is `id` and the key of the model has several columns.
 */
function planOrder (access: Access, name: string): readonly PlannedOrder[] {
  const descending = name.startsWith('-')
  const written = descending ? name.slice(1) : name
  const path = permittedPath(access, [written], nothingClosed)
  if (path !== undefined && isOrderable(path.column)) {
    return (path.column.parts ?? [path.column]).map((column) => ({ column, descending }))
  }
  const names = [...access.filterable].filter(isOrderable).flatMap(({ field, key }) => [field, key])
  throw invalidOrdering('must be columns that this resource can be ordered by, separated by commas, ' +
    `each with an optional hyphen before it${typoSuggestion(written, names)}`)
}

function invalidOrdering (message: string): Error {
  return fieldError(errors.InvalidOrdering, 'ordering', message)
}

type Place = Pick<ListPlan, 'start' | 'after'>

function planPage ({ limits }: ListRules, { page }: ListRequest, limit: number): Place {
  const start = (page - 1) * limit
  if (start > limits.offset) {
    throw fieldError(errors.InvalidPage, 'page', `must not skip more than ${limits.offset} records`)
  }
  return { start, after: undefined }
}

function planCursor (
  { visible, reader: { dialect } }: ListRules, text: string, ordering: readonly PlannedOrder[]
): Place {
  requireCursors(ordering, visible)
  return readCursor(text, ordering, dialect)
}
