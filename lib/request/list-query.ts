import { errors, withDetails } from '../errors.js'
import { parseEntries, type Entries } from './query-string.js'

/** A filter as the client wrote it. Its name is not checked yet, and may be that of no field. */
export interface WrittenFilter {
  readonly name: string
  readonly text: string
}

/** The list query of a request, read but not yet checked: names are kept as written. */
export interface ListRequest {
  readonly filters: readonly WrittenFilter[]
  readonly ordering: readonly string[]
  /** Records per page; undefined if the client did not say. */
  readonly limit: number | undefined
  /** Page number, counted from 1. */
  readonly page: number
  /** Cursor that the page begins after, empty for the first page; undefined if pages are numbered. */
  readonly after: string | undefined
  /** Parameters other than page, after and limit, for the links to other pages. */
  readonly rest: Entries
}

const pageParameters = ['limit', 'page', 'after']
const reservedParameters = [...pageParameters, 'ordering']
const wholeNumber = /^[1-9]\d{0,14}$/

/**
 * Reads the query of a list.
 *
 * @param query  the raw query string, at most `maxLength` characters
 * @returns filters in URL order; an empty `ordering` counts as absent
 * @throws REST_MODELS_QUERY_TOO_LONG (414), REST_MODELS_INVALID_QUERY (400) if it cannot be decoded,
 *   REST_MODELS_INVALID_PAGE (400) if `page` or `limit` is not a whole number of at least 1, if `page`, `limit` or
 *   `after` is given twice, or `after` beside `page`,
 *   REST_MODELS_INVALID_ORDERING (400) if `ordering` is given twice
 * @see service document, "Filtering", "Ordering" and "Pagination"
 */
export function parseListQuery (query: string, maxLength: number): ListRequest {
  const entries = parseEntries(query, maxLength)
  const ordering = single(entries, 'ordering', errors.InvalidOrdering)
  const page = positive(entries, 'page')
  const after = single(entries, 'after', errors.InvalidPage)
  if (page !== undefined && after !== undefined) throw invalidPage('after', 'must not be given beside page')
  const filters: WrittenFilter[] = []
  const rest: Array<Entries[number]> = []
  for (const [name, text] of entries) {
    if (!reservedParameters.includes(name)) filters.push({ name, text })
    if (!pageParameters.includes(name) && !(name === 'ordering' && text === '')) rest.push([name, text])
  }
  return {
    filters,
    ordering: ordering === undefined || ordering === '' ? [] : ordering.split(','),
    limit: positive(entries, 'limit'),
    page: page ?? 1,
    after,
    rest
  }
}

type NamedError = new (name: string) => Error

function single (entries: Entries, name: string, Fault: NamedError): string | undefined {
  const [first, second] = entries.filter(([written]) => written === name)
  if (second !== undefined) throw withDetails(new Fault(name), [{ field: name, message: 'must be given once' }])
  return first?.[1]
}

function positive (entries: Entries, name: string): number | undefined {
  const text = single(entries, name, errors.InvalidPage)
  if (text === undefined) return undefined
  if (wholeNumber.test(text)) return Number(text)
  throw invalidPage(name, 'must be a whole number of at least 1')
}

function invalidPage (field: string, message: string): Error {
  return withDetails(new errors.InvalidPage(field), [{ field, message }])
}
