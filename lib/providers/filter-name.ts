import type { Reserved } from '../client/list-query.js'

/** The names of parameters of lists that are no filters. The compiler requires a row for each of them. */
const reserved: Readonly<Record<Reserved, true>> = {
  limit: true, page: true, after: true, ordering: true, include: true, count: true, search: true
}

/**
 * Returns the parameter that filters by a name which a library gave: `limit__eq` for `limit`, because the name alone is
 * that of another parameter, and the filter would be lost. Returns any other name unchanged.
 */
export function filterNameOf (name: string): string {
  return Object.hasOwn(reserved, name) ? `${name}__eq` : name
}
