import type { Reserved } from '../client/list-query.js'

/** Parameters of a list, in their order. */
export type Terms = ReadonlyArray<readonly [name: string, value: unknown]>

/** The names of parameters of lists that are no filters. The compiler requires a row for each of them. */
const reserved: Readonly<Record<Reserved, true>> = {
  limit: true, page: true, after: true, ordering: true, include: true, count: true, search: true
}

/** Most filters in one request: the default of the server's `limits.filters`. A list of values has as many filters. */
const maxFilters = 20

/**
 * Returns the parameter that filters by a name which a library gave: `limit__eq` for `limit`, because the name alone is
 * that of another parameter, and the filter would be lost. Returns `id__in` for `id` with a list of more than
 * {@link maxFilters} values, which would otherwise be too many filters. Returns any other name unchanged.
 */
export function filterNameOf (name: string, value: unknown): string {
  if (Array.isArray(value) && value.length > maxFilters && !name.includes('__')) return `${name}__in`
  return Object.hasOwn(reserved, name) ? `${name}__eq` : name
}

/**
 * Returns filters as the query of a list.
 *
 * @throws TypeError naming the parameter, if two filters become the same one, of which the other would be lost
 */
export function uniqueFilters (terms: Terms): Record<string, unknown> {
  const query: Record<string, unknown> = {}
  for (const [name, value] of terms) {
    if (Object.hasOwn(query, name)) throw new TypeError(`there are two filters '${name}'`)
    query[name] = value
  }
  return query
}
