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
  /** Characters that a query may have. */
  readonly queryLength: number
}

/** The list envelope of the service document; the links repeat everything else that was asked, in its order. */
export function toEnvelope (objects: readonly ModelRecord[], links: PageLinks, { rest }: ListRequest): ListEnvelope {
  const { name, url, limit, page, hasNext, queryLength } = links
  const others = rest.map(([parameter, value]) => `&${encodeURIComponent(parameter)}=${encodeURIComponent(value)}`).join('')
  const link = (number: number): string => {
    const query = `limit=${limit}&page=${number}${others}`
    // A link may be longer than the request it answers, and must not lead to a refusal.
    return query.length > queryLength ? '' : `${url}?${query}`
  }
  return {
    meta: { model: name, page, next: hasNext ? link(page + 1) : '', previous: page > 1 ? link(page - 1) : '' },
    objects
  }
}
