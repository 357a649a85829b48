import Fastify from 'fastify'
import pg from 'pg'
import { basicAuth, headerAuth, userIdOf, userSymbol, type UserRow } from './baseline-basic.js'
import { commentsWith, toComments, toList, windowOf, type ByQuery, type List, type ListQuery } from './baseline-list.js'
import { now, refuse } from './baseline-replies.js'
import { schemas, type ByKey, type CommentRow, type Create, type MessageRecord, type Update } from './baseline-schemas.js'
import { readArguments, serve } from './serve.js'

// Hand-written on the driver: named statements, which each connection prepares once, response schemas, limit + 1.
const { database, policy } = readArguments()
const { TIMESTAMP, INT8 } = pg.types.builtins
pg.types.setTypeParser(TIMESTAMP, (text) => text)
pg.types.setTypeParser(INT8, Number)
const pool = new pg.Pool({ connectionString: database, max: 10 })

const columns = 'id, user_id, content, pub_date'
const ofUser = 'select m.id, m.user_id, m.content, m.pub_date from message m join "user" u on u.id = m.user_id where u.username = $1'
const statements = {
  read: `select ${columns} from message where id = $1`,
  list: `select ${columns} from message order by id limit $1 offset $2`,
  own: `select ${columns} from message where user_id = $1 order by id limit $2 offset $3`,
  comments: `${commentsWith('"user"')} limit $1 offset $2`,
  ofUser: `${ofUser} order by m.pub_date desc, m.id limit $2 offset $3`,
  search: `${ofUser} and u.active = $2 and m.id >= $3 and m.id < $4 and m.pub_date >= $5 and m.content ilike $6 order by m.id limit $7 offset $8`,
  create: `insert into message (user_id, content, pub_date) values ($1, $2, $3) returning ${columns}`,
  outbox: 'insert into outbox (topic, body) values ($1, $2)',
  owner: 'select user_id from message where id = $1',
  update: `update message set content = coalesce($1, content), pub_date = coalesce($2, pub_date) where id = $3 and user_id = $4 returning ${columns}`,
  user: 'select id, password, active from "user" where username = $1'
}

async function ask<Row extends object = MessageRecord> (name: keyof typeof statements, values: unknown[]): Promise<Row[]> {
  const { rows } = await pool.query<Row>({ name, text: statements[name], values })
  return rows
}

const app = Fastify()
app.decorateRequest(userSymbol, 0)
const authenticate = basicAuth(async (username) => (await ask<UserRow>('user', [username]))[0])
const guard = policy === 'open' || policy === 'outbox' ? [] : [authenticate]
const listGuard = policy === 'scoped' ? [headerAuth] : []

async function createWithOutbox (values: unknown[]): Promise<MessageRecord | undefined> {
  const client = await pool.connect()
  try {
    await client.query('begin')
    const { rows: [row] } = await client.query<MessageRecord>({ name: 'create', text: statements.create, values })
    await client.query({ name: 'outbox', text: statements.outbox, values: ['message', JSON.stringify(row)] })
    await client.query('commit')
    return row
  } catch (error) {
    await client.query('rollback')
    throw error
  } finally {
    client.release()
  }
}

app.get<ByQuery>('/api/message/', { schema: schemas.list, preHandler: listGuard }, async (request): Promise<List<MessageRecord>> => {
  const { query } = request
  const rows = policy === 'scoped' ? ask('own', [userIdOf(request), ...windowOf(query)]) : rowsOf(query)
  return toList(await rows, query)
})

app.get<ByQuery>('/api/comment/', { schema: schemas.comments }, async ({ query }) =>
  toComments(await ask<CommentRow>('comments', windowOf(query)), query))

app.get<ByKey>('/api/message/:id/', { schema: schemas.read }, async ({ params }, reply) => {
  const [row] = await ask('read', [params.id])
  if (row !== undefined) return row
  refuse(reply, 404)
  return await reply
})

app.post<Create>('/api/message/', { schema: schemas.create, preHandler: guard }, async (request, reply) => {
  const { user_id: given, content, pub_date: date = now() } = request.body
  const values = [policy === 'owner' ? userIdOf(request) : given, content, date]
  const row = policy === 'outbox' ? await createWithOutbox(values) : (await ask('create', values))[0]
  reply.code(201).header('location', `/api/message/${row?.id}/`)
  return row
})

app.put<Update>('/api/message/:id/', { schema: schemas.update, preHandler: [authenticate] }, async (request, reply) => {
  const { params: { id }, body } = request
  const user = userIdOf(request)
  const [owner] = await ask<{ user_id: number }>('owner', [id])
  if (owner?.user_id === user) return (await ask('update', [body.content, body.pub_date, id, user]))[0]
  refuse(reply, owner === undefined ? 404 : 403)
  return await reply
})

async function rowsOf (query: ListQuery): Promise<MessageRecord[]> {
  const window = windowOf(query)
  const { user__username: username, user__active: active, content__ilike: pattern } = query
  if (username === undefined) return await ask('list', window)
  if (pattern === undefined) return await ask('ofUser', [username, ...window])
  return await ask('search', [username, active, query.id__gte, query.id__lt, query.pub_date__gte, pattern, ...window])
}

await serve(app)
