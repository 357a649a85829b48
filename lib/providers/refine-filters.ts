import type { CrudFilter, CrudOperators } from '@refinedev/core'
import { filterNameOf, uniqueFilters, type Terms } from './filter-name.js'

const equal = (field: string, value: unknown): Terms =>
  [value === null ? [`${field}__is`, null] : [filterNameOf(field, value), value]]
const unequal = (field: string, value: unknown): Terms =>
  [value === null ? [`${field}__is`, 'notnull'] : [`${field}__ne`, value]]
const as = (operator: string) => (field: string, value: unknown): Terms => [[`${field}__${operator}`, value]]
/**
 * Returns a function that makes a filter by a pattern: the value, with the wildcards `before` and `after` around it.
 * `%`, `_` and `\` in the value stand for themselves. There is no filter for an empty value, as from an empty search
 * box.
 */
const pattern = (operator: 'like' | 'ilike', before: string, after: string): typeof equal => (field, value) => {
  if (value === undefined || value === '') return []
  if (typeof value === 'object') throw new TypeError(`the value of a search in '${field}' must be a text`)
  return [[`${field}__${operator}`, `${before}${String(value).replace(/[\\%_]/g, '\\$&')}${after}`]]
}

/**
 * Functions that turn a filter of refine into filters of the API, by refine's operator. `or`, `ina`, `nina`, `nbetween`
 * and negated patterns are missing, because the API has none. `termsOf` resolves `and`.
 */
const operators = new Map<string, (field: string, value: unknown) => Terms>(Object.entries({
  eq: equal,
  eqs: equal,
  ne: unequal,
  nes: unequal,
  nin: noneOf,
  in: as('in'),
  lt: as('lt'),
  lte: as('lte'),
  gt: as('gt'),
  gte: as('gte'),
  null: (field: string): Terms => [[`${field}__is`, null]],
  nnull: (field: string): Terms => [[`${field}__is`, 'notnull']],
  between,
  contains: pattern('ilike', '%', '%'),
  containss: pattern('like', '%', '%'),
  startswith: pattern('ilike', '', '%'),
  startswiths: pattern('like', '', '%'),
  endswith: pattern('ilike', '%', ''),
  endswiths: pattern('like', '%', '')
} satisfies Partial<Record<CrudOperators, unknown>>))

function between (field: string, value: unknown): Terms {
  if (!Array.isArray(value) || value.length !== 2) throw new TypeError("the value of 'between' must be a list of two")
  return [[`${field}__gte`, value[0]], [`${field}__lte`, value[1]]]
}

/** Returns the filter for refine's operator `nin`. An empty list excludes no record, so it becomes no filter. */
function noneOf (field: string, value: unknown): Terms {
  return Array.isArray(value) && value.length === 0 ? [] : unequal(field, value)
}

/**
 * Returns the query of a list for refine's filters. A filter on `q` becomes the search.
 *
 * @throws TypeError naming the operator, field or parameter: if the API has no such operator, if the value does not fit
 *   `between` or a search, or if two filters become the same parameter
 */
export function toFilters (filters: readonly CrudFilter[]): Record<string, unknown> {
  return uniqueFilters(filters.flatMap(termsOf))
}

function termsOf (filter: CrudFilter): Terms {
  if (filter.operator === 'and') return filter.value.flatMap(termsOf)
  if ('field' in filter) {
    if (filter.field === 'q') return [['search', filter.value ?? undefined]]
    const terms = operators.get(filter.operator)
    if (terms !== undefined) return terms(filter.field, filter.value)
  }
  throw new TypeError(`the API has nothing for refine's operator '${filter.operator}'`)
}
