import type { ListRequest } from '../request/list-query.js'
import type { ModelRecord } from './record.js'

/** Number of records on all pages. If `capped` is true, there are more records than `count`. */
interface Total {
  readonly count: number
  readonly capped: boolean
}

/** Paging information of a list. It has `count` and `capped` only if the client asked for them. */
interface PageMeta extends Partial<Total> {
  readonly model: string
  readonly page: number
  readonly next: string
  readonly previous: string
}

/**
 * A page of a list. Links are paths with a query. A link is empty if there is no such page, or if a request for it
 * would be refused. A page after a cursor has no link to the previous one.
 */
export interface ListEnvelope {
  readonly meta: PageMeta
  readonly objects: readonly ModelRecord[]
}

/** Values from which the links to other pages are made. */
export interface PageLinks {
  readonly name: string
  /** Path of the list, with the final slash. */
  readonly url: string
  readonly limit: number
  /**
   * Number of records that the page has room for: `limit`, or fewer if `limit` records would exceed `limits.pageBytes`
   * of the resource. The next page begins this many records after `start`. On a last page with 3 records, `capacity`
   * is still `limit`.
   */
  readonly capacity: number
  /** Number of records before the page. */
  readonly start: number
  readonly hasNext: boolean
  /** Cursor of the next page; undefined if there is no next page, or if only a page number can lead there. */
  readonly cursor: string | undefined
  /** Number of records on all pages; undefined if the client did not ask for it. */
  readonly total: Total | undefined
  /**
   * Maximum number of records before a numbered page (`offset`), and maximum number of characters of a query
   * (`queryLength`). No link exceeds one of them, because a request for it would be refused.
   */
  readonly limits: { readonly offset: number, readonly queryLength: number }
}

/**
 * Returns the body of the answer to a list: the records, and `meta` with the links to other pages. The links repeat the
 * parameters of the request in the same order, except those for paging and an empty `search`, `ordering` or `include`.
 * Without a cursor, or if the cursor makes the link too long, the next page is linked by its number.
 */
export function toEnvelope (
  objects: readonly ModelRecord[], links: PageLinks, { after, rest }: ListRequest
): ListEnvelope {
  const { name, limit, capacity, start, hasNext, cursor, total } = links
  const others = rest
    .map(([parameter, value]) => `&${encodeURIComponent(parameter)}=${encodeURIComponent(value)}`).join('')
  const hasPrevious = start > 0 && after === undefined
  const byCursor = cursor === undefined ? undefined : link(links, `limit=${limit}&after=${cursor}${others}`)
  const meta = {
    model: name,
    page: Math.floor(start / limit) + 1,
    next: hasNext ? byCursor ?? numberLink(links, start + capacity, others) ?? '' : '',
    previous: hasPrevious ? numberLink(links, start - limit, others) ?? '' : ''
  }
  return { meta: total === undefined ? meta : { ...meta, ...total }, objects }
}

/**
 * Returns the link to the page that begins after `start` records; undefined if a request for it would be refused. The
 * link has a smaller `limit` if `start` is no multiple of the limit, because no page number would lead there.
 */
function numberLink (links: PageLinks, start: number, others: string): string | undefined {
  if (start > links.limits.offset) return undefined
  const limit = greatestCommonDivisor(links.limit, start)
  return link(links, `limit=${limit}&page=${start / limit + 1}${others}`)
}

/** Returns a link; undefined if its query is longer than a request may send, because it would then be refused. */
function link ({ url, limits }: PageLinks, query: string): string | undefined {
  return query.length > limits.queryLength ? undefined : `${url}?${query}`
}

function greatestCommonDivisor (one: number, other: number): number {
  return other === 0 ? one : greatestCommonDivisor(other, one % other)
}
