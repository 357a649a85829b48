/** A row of a message, as every driver gives it and as it is serialized. */
export interface MessageRecord {
  readonly id: number
  readonly user_id: number
  readonly content: string
  readonly pub_date: string
}

/** A row of a comment with its message and its user, as every driver gives it. */
export interface CommentRow {
  readonly id: number
  readonly message_id: number
  readonly user_id: number
  readonly content: string
  readonly message__user_id: number
  readonly message__content: string
  readonly message__pub_date: string
  readonly username: string
  readonly join_date: string
  /** PostgreSQL gives a boolean, the others a number. The serializer writes either as a boolean. */
  readonly active: boolean | number
  readonly admin: boolean | number
}

export interface ByKey { Params: { id: number } }
export interface Create { Body: { user_id: number, content: string, pub_date?: string } }
export interface Update extends ByKey { Body: { content?: string, pub_date?: string } }

const record = {
  type: 'object',
  properties: { id: { type: 'integer' }, user_id: { type: 'integer' }, content: { type: 'string' }, pub_date: { type: 'string' } },
  required: ['id', 'user_id', 'content', 'pub_date']
} as const

const text = { type: 'string' } as const
const integer = { type: 'integer' } as const
const flag = { type: 'boolean' } as const
const user = {
  type: 'object',
  properties: { id: integer, username: text, join_date: text, active: flag, admin: flag },
  required: ['id', 'username', 'join_date', 'active', 'admin']
} as const
const comment = {
  type: 'object',
  properties: { id: integer, message_id: integer, message: record, user_id: integer, user, content: text },
  required: ['id', 'message_id', 'message', 'user_id', 'user', 'content']
} as const

const listOf = <Item extends object>(items: Item) => ({
  type: 'object',
  properties: {
    meta: { type: 'object', properties: { model: text, page: { type: 'integer' }, next: text, previous: text }, required: ['model', 'page', 'next', 'previous'] },
    objects: { type: 'array', items }
  },
  required: ['meta', 'objects']
} as const)

const key = { type: 'object', properties: { id: { type: 'integer', minimum: 1 } }, required: ['id'] } as const
const moment = { type: 'string', pattern: '^\\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d:\\d\\d$' } as const
const positive = { type: 'integer', minimum: 1 } as const

const query = {
  type: 'object',
  properties: {
    limit: { ...positive, maximum: 100, default: 20 },
    page: { ...positive, default: 1 },
    ordering: { enum: ['-pub_date'] },
    user__username: text,
    user__active: { type: 'boolean' },
    id__gte: { type: 'integer' },
    id__lt: { type: 'integer' },
    pub_date__gte: moment,
    content__ilike: text,
    include: { enum: ['message,user'] }
  },
  additionalProperties: false
} as const

/** Schemas of the routes. Compiled code validates requests and serializes answers by them. */
export const schemas = {
  list: { querystring: query, response: { 200: listOf(record) } },
  comments: { querystring: query, response: { 200: listOf(comment) } },
  read: { params: key, response: { 200: record } },
  create: {
    body: { type: 'object', properties: { user_id: positive, content: text, pub_date: moment }, required: ['user_id', 'content'], additionalProperties: false },
    response: { 201: record }
  },
  update: {
    params: key,
    body: { type: 'object', properties: { content: text, pub_date: moment }, additionalProperties: false },
    response: { 200: record }
  }
} as const
