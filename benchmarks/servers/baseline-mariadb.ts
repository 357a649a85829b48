import Fastify from 'fastify'
import { createPool, type ExecuteValues, type RowDataPacket } from 'mysql2/promise'
import { basicAuth, headerAuth, userIdOf, userSymbol, type UserRow } from './baseline-basic.js'
import { commentsWith, toComments, toList, windowOf, type ByQuery, type List, type ListQuery } from './baseline-list.js'
import { now, refuse } from './baseline-replies.js'
import { schemas, type ByKey, type CommentRow, type Create, type MessageRecord, type Update } from './baseline-schemas.js'
import { readArguments, serve } from './serve.js'

// Hand-written on the driver: statements that each connection prepares once, response schemas, limit + 1.
const { database, policy } = readArguments()
const pool = createPool({ uri: database, connectionLimit: 10, dateStrings: true, timezone: 'Z' })

const columns = 'id, user_id, content, pub_date'
const ofUser = 'select m.id, m.user_id, m.content, m.pub_date from message m join user u on u.id = m.user_id where u.username = ?'

async function ask<Row extends object = MessageRecord> (statement: string, values: ExecuteValues): Promise<Row[]> {
  const [rows] = await pool.execute<Array<Row & RowDataPacket>>(statement, values)
  return rows
}

const comments = `${commentsWith('user')} limit ? offset ?`
const read = `select ${columns} from message where id = ?`

const app = Fastify()
app.decorateRequest(userSymbol, 0)
const authenticate = basicAuth(async (username) => (await ask<UserRow>('select id, password, active from user where username = ?', [username]))[0])
const guard = policy === 'open' || policy === 'outbox' ? [] : [authenticate]
const listGuard = policy === 'scoped' ? [headerAuth] : []

const create = `insert into message (user_id, content, pub_date) values (?, ?, ?) returning ${columns}`

async function createWithOutbox (values: ExecuteValues): Promise<MessageRecord | undefined> {
  const connection = await pool.getConnection()
  try {
    await connection.query('begin')
    const [[row]] = await connection.execute<Array<MessageRecord & RowDataPacket>>(create, values)
    await connection.execute('insert into outbox (topic, body) values (?, ?)', ['message', JSON.stringify(row)])
    await connection.query('commit')
    return row
  } catch (error) {
    await connection.query('rollback')
    throw error
  } finally {
    connection.release()
  }
}

app.get<ByQuery>('/api/message/', { schema: schemas.list, preHandler: listGuard }, async (request): Promise<List<MessageRecord>> => {
  const { query } = request
  const own = `select ${columns} from message where user_id = ? order by id limit ? offset ?`
  const rows = policy === 'scoped' ? ask(own, [userIdOf(request), ...windowOf(query)]) : rowsOf(query)
  return toList(await rows, query)
})

app.get<ByQuery>('/api/comment/', { schema: schemas.comments }, async ({ query }) =>
  toComments(await ask<CommentRow>(comments, windowOf(query)), query))

app.get<ByKey>('/api/message/:id/', { schema: schemas.read }, async ({ params }, reply) => {
  const [row] = await ask(read, [params.id])
  if (row !== undefined) return row
  refuse(reply, 404)
  return await reply
})

app.post<Create>('/api/message/', { schema: schemas.create, preHandler: guard }, async (request, reply) => {
  const { user_id: given, content, pub_date: date = now() } = request.body
  const values = [policy === 'owner' ? userIdOf(request) : given, content, date]
  const row = policy === 'outbox' ? await createWithOutbox(values) : (await ask(create, values))[0]
  reply.code(201).header('location', `/api/message/${row?.id}/`)
  return row
})

app.put<Update>('/api/message/:id/', { schema: schemas.update, preHandler: [authenticate] }, async (request, reply) => {
  const { params: { id }, body } = request
  const user = userIdOf(request)
  const [owner] = await ask<{ user_id: number }>('select user_id from message where id = ?', [id])
  if (owner?.user_id === user) {
    // MariaDB returns no row from an update.
    await ask('update message set content = coalesce(?, content), pub_date = coalesce(?, pub_date) where id = ? and user_id = ?',
      [body.content ?? null, body.pub_date ?? null, id, user])
    return (await ask(read, [id]))[0]
  }
  refuse(reply, owner === undefined ? 404 : 403)
  return await reply
})

async function rowsOf (query: ListQuery): Promise<MessageRecord[]> {
  const [limit, offset] = windowOf(query)
  const { user__username: username, user__active: active = null, content__ilike: pattern } = query
  if (username === undefined) return await ask(`select ${columns} from message order by id limit ? offset ?`, [limit, offset])
  if (pattern === undefined) return await ask(`${ofUser} order by m.pub_date desc, m.id limit ? offset ?`, [username, limit, offset])
  return await ask(
    `${ofUser} and u.active = ? and m.id >= ? and m.id < ? and m.pub_date >= ? and lower(m.content) like lower(?) order by m.id limit ? offset ?`,
    [username, active, query.id__gte ?? null, query.id__lt ?? null, query.pub_date__gte ?? null, pattern, limit, offset])
}

await serve(app)
