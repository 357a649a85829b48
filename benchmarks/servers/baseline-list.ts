import type { CommentRow } from './baseline-schemas.js'

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
  readonly include?: 'message,user'
}

export interface ByQuery { Querystring: ListQuery }

export interface List<Item> {
  readonly meta: { readonly model: string, readonly page: number, readonly next: string, readonly previous: string }
  readonly objects: readonly Item[]
}

/** Returns the beginning of the statement that reads comments, with the message and the user of each. */
export const commentsWith = (user: string): string => 'select c.id, c.message_id, c.user_id, c.content, ' +
  'm.user_id as message__user_id, m.content as message__content, m.pub_date as message__pub_date, ' +
  'u.username, u.join_date, u.active, u.admin ' +
  `from comment c left join message m on m.id = c.message_id left join ${user} u on u.id = c.user_id order by c.id`

/** Returns the envelope of comments. Foreign keys hold, so each has its message and its user. */
export function toComments (rows: CommentRow[], query: ListQuery): List<object> {
  const { meta, objects } = toList(rows, query, 'comment')
  return { meta, objects: objects.map(toComment) }
}

function toComment (row: CommentRow): object {
  const { id, message_id: messageId, user_id: userId, content } = row
  return {
    id,
    message_id: messageId,
    message: { id: messageId, user_id: row.message__user_id, content: row.message__content, pub_date: row.message__pub_date },
    user_id: userId,
    user: { id: userId, username: row.username, join_date: row.join_date, active: row.active, admin: row.admin },
    content
  }
}

/** Returns the two parameters of every list statement: one row more than the page holds, and the rows to skip. */
export function windowOf ({ limit, page }: ListQuery): [limit: number, offset: number] {
  return [limit + 1, (page - 1) * limit]
}

/** Returns the envelope of rows. There is one row too many if another page follows. */
export function toList<Item> (rows: Item[], query: ListQuery, model = 'message'): List<Item> {
  const { limit, page } = query
  const hasNext = rows.length > limit
  if (hasNext) rows.length = limit
  const rest = hasNext || page > 1 ? restOf(query) : ''
  return {
    meta: {
      model,
      page,
      next: hasNext ? `/api/${model}/?limit=${limit}&page=${page + 1}${rest}` : '',
      previous: page > 1 ? `/api/${model}/?limit=${limit}&page=${page - 1}${rest}` : ''
    },
    objects: rows
  }
}

/** All other parameters, in the order in which the cases write them. */
const others = ['user__username', 'user__active', 'id__gte', 'id__lt', 'pub_date__gte', 'content__ilike', 'include', 'ordering'] as const

function restOf (query: ListQuery): string {
  let rest = ''
  for (const name of others) {
    const value = query[name]
    if (value !== undefined) rest += `&${name}=${encodeURIComponent(value)}`
  }
  return rest
}
