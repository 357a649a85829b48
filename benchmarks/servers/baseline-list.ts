import type { MessageRecord } from './baseline-schemas.js'

/** List parameters that the baselines know, read by a schema. The cases use no others. */
export interface ListQuery {
  readonly limit: number
  readonly page: number
  readonly ordering?: '-pub_date'
  readonly user__username?: string
  readonly user__active?: boolean
  readonly id__gte?: number
  readonly id__lt?: number
  readonly pub_date__gte?: string
  readonly content__ilike?: string
}

export interface ByQuery { Querystring: ListQuery }

export interface MessageList {
  readonly meta: { readonly model: string, readonly page: number, readonly next: string, readonly previous: string }
  readonly objects: readonly MessageRecord[]
}

/** Returns the two parameters of every list statement: one row more than the page holds, and the rows to skip. */
export function windowOf ({ limit, page }: ListQuery): [limit: number, offset: number] {
  return [limit + 1, (page - 1) * limit]
}

/** Returns the envelope of rows. There is one row too many if another page follows. */
export function toList (rows: MessageRecord[], query: ListQuery): MessageList {
  const { limit, page } = query
  const hasNext = rows.length > limit
  if (hasNext) rows.length = limit
  const rest = hasNext || page > 1 ? restOf(query) : ''
  return {
    meta: {
      model: 'message',
      page,
      next: hasNext ? `/api/message/?limit=${limit}&page=${page + 1}${rest}` : '',
      previous: page > 1 ? `/api/message/?limit=${limit}&page=${page - 1}${rest}` : ''
    },
    objects: rows
  }
}

/** All other parameters, in the order in which the cases write them. */
const others = ['user__username', 'user__active', 'id__gte', 'id__lt', 'pub_date__gte', 'content__ilike', 'ordering'] as const

function restOf (query: ListQuery): string {
  let rest = ''
  for (const name of others) {
    const value = query[name]
    if (value !== undefined) rest += `&${name}=${encodeURIComponent(value)}`
  }
  return rest
}
