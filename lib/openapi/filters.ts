import type { JsonSchema } from '../../schemas/documentation.js'
import { filterSchema } from '../../schemas/filter.js'
import type { Operator } from '../fields/operators.js'
import { valueKindOf } from '../model/column.js'
import type { Model } from '../model/define-model.js'
import type { ListRules } from '../plan/list-rules.js'
import { pathName, type Path } from '../plan/path.js'
import { permittedPaths } from '../plan/permitted-paths.js'
import { reservedParameters } from '../request/list-query.js'

/**
 * Number of filters up to which the documentation of one list names filters that follow foreign keys. Filters on the
 * resource's own fields count, too. If the filters of a path with foreign keys would exceed the number, this path and
 * all after it are left out. `isCut` of {@link DocumentedFilters} is then true. Requests may still use these filters.
 */
export const maxListed = 200
/**
 * Most filters on the resource's own fields that the documentation of one list names: enough for about sixty fields. If
 * there are more, `isCut` of {@link DocumentedFilters} is true. Requests may still use the filters that are left out.
 */
export const maxOwn = 600

/** A query parameter that filters a list. */
export interface DocumentedFilter {
  readonly name: string
  readonly schema: JsonSchema
  /** Name of the schema in the components of the document. Filters with the same schema have the same name here. */
  readonly shared: string
}

/** The filters that documentation lists. */
export interface DocumentedFilters {
  readonly filters: readonly DocumentedFilter[]
  /** True if the resource has more filters than these. */
  readonly isCut: boolean
}

/**
 * Returns the filters that the documentation of a list names. It names a path with all operators of its column, or not
 * at all.
 *
 * @param closed  related models that no client may list; filters that lead through them are left out
 */
export function documentedFilters (rules: ListRules, closed: ReadonlySet<Model>): DocumentedFilters {
  const { limits } = rules
  const filters: DocumentedFilter[] = []
  for (const path of permittedPaths(rules, limits.joins, closed)) {
    const others = filtersOf(path, limits)
    if (filters.length + others.length > (path.joins.length > 0 ? maxListed : maxOwn)) return { filters, isCut: true }
    filters.push(...others)
  }
  return { filters, isCut: false }
}

function filtersOf (path: Path, limits: ListRules['limits']): DocumentedFilter[] {
  return valueKindOf(path.column).operators.map((operator) => {
    const { name, schema } = filterSchema(path.column, operator, limits)
    return { name: filterName(pathName(path), operator), shared: name, schema }
  })
}

/**
 * Field names that documentation shows in filters only with an operator, such as `limit__eq`. The name alone is that of
 * another parameter, or `@fastify/swagger` would read it as a keyword.
 */
const reservedNames = new Set([
  ...reservedParameters, 'const', 'contentEncoding', 'definitions', 'nullable', 'patternProperties', 'properties'
])

function filterName (path: string, operator: Operator): string {
  return operator === 'eq' && !reservedNames.has(path) ? path : `${path}__${operator}`
}
