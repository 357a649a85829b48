import Database from 'better-sqlite3'
import Fastify from 'fastify'
import { basicAuth, headerAuth, userIdOf, userSymbol, type UserRow } from './baseline-basic.js'
import { commentsWith, toComments, toList, windowOf, type ByQuery, type ListQuery } from './baseline-list.js'
import { now, refuse } from './baseline-replies.js'
import { schemas, type ByKey, type CommentRow, type Create, type MessageRecord, type Update } from './baseline-schemas.js'
import { readArguments, serve } from './serve.js'

// Hand-written for these two tables: every statement prepared once, response schemas, limit + 1.
const { database: url, policy, durability } = readArguments()
const database = new Database(url.slice('sqlite:'.length), { timeout: 2000 })
for (const pragma of ['journal_mode = wal', `synchronous = ${durability}`, 'foreign_keys = on', 'journal_size_limit = 67108864']) database.pragma(pragma)

const columns = 'id, user_id, content, pub_date'
const ofUser = 'select m.id, m.user_id, m.content, m.pub_date from message m join user u on u.id = m.user_id where u.username = ?'
// SQLite looks at a plain parameter of limit when it plans, and prepares the statement anew for each value.
const window = 'limit cast(? as integer) offset cast(? as integer)'
const statements = {
  read: database.prepare<[number], MessageRecord>(`select ${columns} from message where id = ?`),
  list: database.prepare<[number, number], MessageRecord>(`select ${columns} from message order by id ${window}`),
  own: database.prepare<[number, number, number], MessageRecord>(`select ${columns} from message where user_id = ? order by id ${window}`),
  comments: database.prepare<[number, number], CommentRow>(`${commentsWith('user')} ${window}`),
  ofUser: database.prepare<[string, number, number], MessageRecord>(`${ofUser} order by m.pub_date desc, m.id ${window}`),
  search: database.prepare<unknown[], MessageRecord>(
    `${ofUser} and u.active = ? and m.id >= ? and m.id < ? and m.pub_date >= ? and m.content like ? order by m.id ${window}`),
  create: database.prepare<[number, string, string], MessageRecord>(
    `insert into message (user_id, content, pub_date) values (?, ?, ?) returning ${columns}`),
  outbox: database.prepare<[string, string]>('insert into outbox (topic, body) values (?, ?)'),
  owner: database.prepare<[number], { user_id: number }>('select user_id from message where id = ?'),
  content: database.prepare<[string, number, number], MessageRecord>(
    `update message set content = ? where id = ? and user_id = ? returning ${columns}`),
  both: database.prepare<[string | null, string | null, number, number], MessageRecord>(
    `update message set content = coalesce(?, content), pub_date = coalesce(?, pub_date) where id = ? and user_id = ? returning ${columns}`),
  user: database.prepare<[string], UserRow>('select id, password, active from user where username = ?')
}

const app = Fastify()
app.decorateRequest(userSymbol, 0)
const authenticate = basicAuth((username) => statements.user.get(username))
const guard = policy === 'open' || policy === 'outbox' ? [] : [authenticate]
const listGuard = policy === 'scoped' ? [headerAuth] : []

// all(), because get() stops before the commit and misses one that fails.
const create = (user: number, content: string, date: string): MessageRecord | undefined => statements.create.all(user, content, date)[0]
const createWithOutbox = database.transaction((...values: Parameters<typeof create>) => {
  const row = create(...values)
  statements.outbox.run('message', JSON.stringify(row))
  return row
})

app.get<ByQuery>('/api/message/', { schema: schemas.list, preHandler: listGuard }, (request, reply) => {
  const { query } = request
  reply.send(toList(policy === 'scoped' ? statements.own.all(userIdOf(request), ...windowOf(query)) : rowsOf(query), query))
})

app.get<ByQuery>('/api/comment/', { schema: schemas.comments }, ({ query }, reply) => {
  reply.send(toComments(statements.comments.all(...windowOf(query)), query))
})

app.get<ByKey>('/api/message/:id/', { schema: schemas.read }, ({ params }, reply) => {
  const row = statements.read.get(params.id)
  if (row === undefined) refuse(reply, 404)
  else reply.send(row)
})

app.post<Create>('/api/message/', { schema: schemas.create, preHandler: guard }, (request, reply) => {
  const { user_id: given, content, pub_date: date = now() } = request.body
  const user = policy === 'owner' ? userIdOf(request) : given
  const row = policy === 'outbox' ? createWithOutbox.immediate(user, content, date) : create(user, content, date)
  reply.code(201).header('location', `/api/message/${row?.id}/`).send(row)
})

app.put<Update>('/api/message/:id/', { schema: schemas.update, preHandler: [authenticate] }, (request, reply) => {
  const { params: { id }, body } = request
  const user = userIdOf(request)
  const owner = statements.owner.get(id)
  if (owner === undefined) return refuse(reply, 404)
  if (owner.user_id !== user) return refuse(reply, 403)
  const [row] = body.pub_date === undefined && body.content !== undefined
    ? statements.content.all(body.content, id, user)
    : statements.both.all(body.content ?? null, body.pub_date ?? null, id, user)
  reply.send(row)
})

function rowsOf (query: ListQuery): MessageRecord[] {
  const window = windowOf(query)
  const { user__username: username, user__active: active, content__ilike: pattern } = query
  if (username === undefined) return statements.list.all(...window)
  if (pattern === undefined) return statements.ofUser.all(username, ...window)
  return statements.search.all(username, Number(active), query.id__gte, query.id__lt, query.pub_date__gte, pattern, ...window)
}

await serve(app)
