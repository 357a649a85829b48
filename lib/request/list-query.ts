import { errors, fieldError } from '../errors.js'
import { includeParameter } from './include.js'
import { parseEntries, single, splitAtCommas, type Entries } from './query-string.js'
import { wordsOf } from './search-words.js'

const { InvalidPage } = errors

/** A filter as the client wrote it. Its name is not checked yet, and may be that of no field. */
export interface WrittenFilter {
  readonly name: string
  readonly text: string
}

/**
 * The list query of a request. Names, values and the cursor are as the client wrote them, not yet checked; `counts`,
 * `limit` and `page` are checked.
 */
export interface ListRequest {
  readonly filters: readonly WrittenFilter[]
  readonly ordering: readonly string[]
  /** Paths of the related records to read with each record. */
  readonly include: readonly string[]
  /** Texts of the parameter `search`, which only some resources have. */
  readonly searches: readonly string[]
  /** True if the records of all pages are to be counted. */
  readonly counts: boolean
  /** Records per page; undefined if the client did not say. */
  readonly limit: number | undefined
  /** Page number, counted from 1; 1 if the client did not say, also with a cursor. */
  readonly page: number
  /** Cursor that the page begins after, empty for the first page; undefined if the client sent none. */
  readonly after: string | undefined
  /**
   * Parameters for the links to other pages: all except `page`, `after` and `limit`, and except an empty `search`,
   * `ordering` or `include`.
   */
  readonly rest: Entries
}

const pageParameters = ['limit', 'page', 'after']
export const reservedParameters: readonly string[] = [
  ...pageParameters, 'ordering', includeParameter, 'count', 'search'
]
const wholeNumber = /^[1-9]\d{0,14}$/

/**
 * Parses the query string of a request for a list.
 *
 * @param query     the raw query string, at most `maxLength` characters
 * @param maxLimit  the greatest `limit` that is not refused
 * @returns filters in URL order; an empty `ordering`, `include` or `search` counts as absent in links
 * @throws REST_MODELS_QUERY_TOO_LONG (414), REST_MODELS_INVALID_QUERY (400) if it cannot be decoded,
 *   REST_MODELS_INVALID_PAGE (400) if `page` or `limit` is not a whole number of at least 1, if `limit` is more than
 *   `maxLimit`, if `page`, `limit` or `after` is given twice, or `after` beside `page`,
 *   REST_MODELS_INVALID_ORDERING or REST_MODELS_INVALID_INCLUDE (400) if `ordering` or `include` is given twice,
 *   REST_MODELS_INVALID_VALUE (400) if `count` is given twice, or is anything but `true`
 * @see service document, "Filtering", "Ordering" and "Pagination"
 */
export function parseListQuery (query: string, maxLength: number, maxLimit: number): ListRequest {
  const entries = parseEntries(query, maxLength)
  const ordering = single(entries, 'ordering', errors.InvalidOrdering)
  const page = positive(entries, 'page', { most: Infinity, range: 'of at least 1' })
  const after = single(entries, 'after', InvalidPage)
  if (page !== undefined && after !== undefined) throw fieldError(InvalidPage, 'after', 'must not be given beside page')
  const [filters, searches, rest]: [WrittenFilter[], string[], Array<Entries[number]>] = [[], [], []]
  for (const [name, text] of entries) {
    if (name === 'search') searches.push(text)
    if (!reservedParameters.includes(name)) filters.push({ name, text })
    if (!pageParameters.includes(name) && !isAbsent(name, text)) rest.push([name, text])
  }
  return {
    filters,
    ordering: splitAtCommas(ordering),
    include: splitAtCommas(single(entries, includeParameter, errors.InvalidInclude)),
    searches,
    counts: parseCount(entries),
    limit: positive(entries, 'limit', { most: maxLimit, range: `from 1 to ${maxLimit}` }),
    page: page ?? 1,
    after,
    rest
  }
}

/**
 * True for a `search` without a word, and for an empty `ordering` or `include`. Links to other pages do not repeat such
 * a parameter.
 */
function isAbsent (name: string, text: string): boolean {
  if (name === 'search') return wordsOf(text).length === 0
  return ['ordering', includeParameter].includes(name) && text === ''
}

function parseCount (entries: Entries): boolean {
  const text = single(entries, 'count', errors.InvalidValue)
  if (text === undefined || text === 'true') return text === 'true'
  throw fieldError(errors.InvalidValue, 'count', 'must be true')
}

/** Permitted numbers of a parameter: from 1 to `most`. The message of an error describes them by `range`. */
interface Numbers {
  readonly most: number
  readonly range: string
}

function positive (entries: Entries, name: string, { most, range }: Numbers): number | undefined {
  const text = single(entries, name, InvalidPage)
  if (text === undefined) return undefined
  if (wholeNumber.test(text) && Number(text) <= most) return Number(text)
  throw fieldError(InvalidPage, name, `must be a whole number ${range}`)
}
