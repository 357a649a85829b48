import type { ListRequest } from '../request/list-query.js'
import type { ModelRecord } from './record.js'

/** A page of a list; links are paths with a query, empty where there is no such page. */
export interface ListEnvelope {
  readonly meta: { readonly model: string, readonly page: number, readonly next: string, readonly previous: string }
  readonly objects: readonly ModelRecord[]
}

/** What the links of an envelope are made of. */
export interface PageLinks {
  readonly name: string
  /** Path of the list, with the final slash. */
  readonly url: string
  readonly limit: number
  readonly page: number
  readonly hasNext: boolean
  /** The cursor of the next page, if there is one. */
  readonly cursor: string | undefined
  /** What one request may ask for: records to skip, and characters of the query. */
  readonly limits: { readonly offset: number, readonly queryLength: number }
}

/**
 * The list envelope of the service document; the links repeat everything else that was asked, in its order. Without a
 * cursor, or where it makes the link too long, the next page is linked by its number.
 */
export function toEnvelope (objects: readonly ModelRecord[], links: PageLinks, { after, rest }: ListRequest): ListEnvelope {
  const { name, url, limit, page, hasNext, cursor, limits } = links
  const others = rest.map(([parameter, value]) => `&${encodeURIComponent(parameter)}=${encodeURIComponent(value)}`).join('')
  const link = (place: string): string => {
    const query = `limit=${limit}&${place}${others}`
    // A link may be longer than the request it answers, and must not lead to a refusal.
    return query.length > limits.queryLength ? '' : `${url}?${query}`
  }
  const next = (): string => {
    const byCursor = cursor === undefined ? '' : link(`after=${cursor}`)
    return byCursor === '' && page * limit <= limits.offset ? link(`page=${page + 1}`) : byCursor
  }
  const hasPrevious = page > 1 && after === undefined
  return {
    meta: { model: name, page, next: hasNext ? next() : '', previous: hasPrevious ? link(`page=${page - 1}`) : '' },
    objects
  }
}
