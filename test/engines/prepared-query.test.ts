// @once: about the queries of one driver

import { EventEmitter } from 'node:events'
import { sql, type CompiledQuery } from 'kysely'
import pg from 'pg'
import { test, type Test } from 'tap'
import { PostgresConnection } from '../../lib/engines/postgres/connection.js'
import type { Callback, DriverClient, InnerConnection } from '../../lib/engines/postgres/driver.js'
import { PreparedQuery, unprepare } from '../../lib/engines/postgres/prepared-query.js'
import { PreparedStatements } from '../../lib/engines/server/prepared-statements.js'
import { openPostgres } from '../../lib/postgres.js'
import { requireDatabase } from '../support/engines/lacks.js'

type Field = readonly [name: string, dataTypeID: number, text: string | null]

const { INT4, TEXT, JSON: json, BYTEA } = pg.types.builtins
const one: readonly Field[] = [['id', INT4, '1']]

/**
 * A connection to PostgreSQL whose server answers each statement with one row of `fields`, or with an error. With a
 * pooler, the server process that answers has another id than the connection.
 */
async function connectionWith ({ prepared = new PreparedStatements(unprepare), isPooled = false } = {}) {
  const server = { fields: one, error: undefined as Error | undefined, completion: 'SELECT 1' }
  const messages: string[] = []
  const plain: object[] = []
  let uses = 0
  const note = (name: string) => (..._parts: unknown[]) => { messages.push(name) }
  const inner = {
    stream: Object.assign(new EventEmitter(), { writable: true, cork: note('('), uncork: note(')') }),
    parsedStatements: {} as Record<string, string>,
    ...Object.fromEntries(['parse', 'bind', 'describe', 'execute', 'sync', 'close'].map((name) => [name, note(name)]))
  }
  const connectionOfDriver = inner as unknown as InnerConnection
  const answer = (query: PreparedQuery<unknown>): void => {
    const { error, fields, completion } = server
    if (error !== undefined) return query.handleError(error)
    inner.parsedStatements[query.name] = query.text
    if (messages.slice(uses).includes('describe')) {
      query.handleRowDescription({ fields: fields.map(([name, dataTypeID]) => ({ name, dataTypeID })) })
    }
    query.handleDataRow({ fields: fields.map(([,, text]) => text) })
    query.handleCommandComplete({ text: completion }, connectionOfDriver)
    query.handleReadyForQuery()
  }
  const client = Object.assign(new EventEmitter(), {
    connection: inner,
    processID: isPooled ? 6 : 5,
    getTypeParser: pg.types.getTypeParser,
    query: (query: object, ...rest: unknown[]) => {
      if (!(query instanceof PreparedQuery)) {
        plain.push(query)
        return (rest[1] as Callback<unknown>)(null, { rows: [{ isReadable: true, pid: 5 }] } as never)
      }
      query.callback = rest[0] as Callback<unknown>
      uses = messages.length
      query.submit(connectionOfDriver)
      answer(query)
    }
  })
  const raw = client as unknown as DriverClient
  const lease = { raw, release: () => {}, abandon: () => {} }
  const connection = new PostgresConnection(lease, { prepared, timeout: 1000, leave: () => {} })
  await connection.makeReady({ writable: false, readonly: false })
  plain.length = 0
  const messagesOf = async (ask: () => Promise<unknown>): Promise<string> => {
    const before = messages.length
    await ask()
    return messages.slice(before).join(' ')
  }
  return { connection, client: raw, server, plain, messagesOf }
}

const queryOf = (text: string, ...values: unknown[]) => ({ sql: text, parameters: values }) as unknown as CompiledQuery
const asked = queryOf('select id from note where id = $1', 1)
const first = '( parse bind describe execute sync )'
const later = '( bind execute sync )'

test('D-294: the columns of a prepared statement are described once for each connection', async (t) => {
  const prepared = new PreparedStatements(unprepare)
  const { connection, client, plain, messagesOf } = await connectionWith({ prepared })
  const ask = async () => await connection.askArrays(asked)
  t.equal(await messagesOf(ask), '', 'a statement is prepared from its second use on')
  t.same(plain, [{ text: asked.sql, rowMode: 'array' }])
  t.equal(await messagesOf(ask), first)
  t.equal(await messagesOf(ask), later)
  t.same([await ask(), await connection.askObjects(asked)].map(({ rows }) => rows), [[[1]], [{ id: 1 }]])
  const { name = '' } = prepared.statementOf(client, asked.sql, [1]) ?? {}
  t.equal(await messagesOf(async () => { unprepare(client, name) }), 'close')
  t.equal(await messagesOf(ask), first, 'a statement that was closed on the server is described anew')
  const other = await connectionWith({ prepared })
  t.equal(await other.messagesOf(async () => await other.connection.askArrays(asked)), first, 'and so by another one')
})

test('D-294: behind a pooler, the columns of a prepared statement are described at each use', async (t) => {
  const { connection, messagesOf } = await connectionWith({ isPooled: true })
  const ask = async () => await connection.askArrays(asked)
  await ask()
  t.same([await messagesOf(ask), await messagesOf(ask)], [first, '( bind describe execute sync )'])
})

test('D-294: a statement that has failed before it had an answer is described again', async (t) => {
  const { connection, server, messagesOf } = await connectionWith()
  const ask = async () => await connection.askArrays(asked)
  await ask()
  server.error = Object.assign(new pg.DatabaseError('refused', 1, 'error'), { code: '23505' })
  await t.rejects(ask(), { code: '23505' })
  server.error = undefined
  t.equal(await messagesOf(ask), first)
})

test('the values of a row are those of the parsers of the driver, and each name is that of a property', async (t) => {
  const { connection, server } = await connectionWith()
  server.fields = [['__proto__', TEXT, 'a'], ['b', BYTEA, '\\x0a'], ['c', json, '{"d":1}'], ['e', INT4, null]]
  await connection.askArrays(asked)
  t.same((await connection.askArrays(asked)).rows, [['a', Buffer.from([10]), { d: 1 }, null]])
  const { rows: [row] } = await connection.askObjects(asked)
  t.same(Object.entries(Object(row)), [['__proto__', 'a'], ['b', Buffer.from([10])], ['c', { d: 1 }], ['e', null]])
})

test('a value that no parser reads is an error of its statement alone', async (t) => {
  const { connection, server } = await connectionWith()
  await connection.askArrays(asked)
  server.fields = [['id', json, '{']]
  await t.rejects(connection.askArrays(asked), SyntaxError)
  server.fields = [['id', json, '{}']]
  t.same((await connection.askArrays(asked)).rows, [[{}]])
})

test('a parser that throws what is no error fails its statement once, with an error', async (t) => {
  const { client } = await connectionWith()
  const noError = Object.assign(client, {
    getTypeParser: () => (text: string) => { throw text === '1' ? Object('text') : new SyntaxError('later') }
  })
  const query = new PreparedQuery(noError, { name: 'a', text: 'select $1' }, [5])
  const errors: unknown[] = []
  query.callback = (...[error]) => { errors.push(error) }
  query.handleRowDescription({ fields: [{ name: 'a', dataTypeID: TEXT }] })
  for (const text of ['1', '2']) query.handleDataRow({ fields: [text] })
  query.handleReadyForQuery()
  t.match(errors, [TypeError])
  t.equal(errors.length, 1)
})

test('D-294: a statement that is closed while it runs is described anew', async (t) => {
  const { client, messagesOf } = await connectionWith()
  const query = new PreparedQuery(client, { name: 'a', text: 'select $1' }, [5], 'array')
  const { connection: inner } = client
  // Closed while it runs: its last message comes afterwards.
  unprepare(client, 'a')
  query.handleCommandComplete({ text: 'SELECT 1' }, inner)
  t.match(await messagesOf(async () => { query.submit(inner) }), /^\( parse bind describe/)
})

test('a parameter that no text can be made of is not sent', async (t) => {
  const { connection, messagesOf } = await connectionWith()
  const wrong = { toPostgres: () => { throw new Error('no text') } }
  const ask = async (value: unknown) => await connection.query('select id from note where id = $1', [value])
  await ask(1)
  t.equal(await messagesOf(async () => { await t.rejects(ask(wrong), { message: 'no text' }) }), '')
  const number = Object.assign(() => {}, { toString: () => 5 })
  t.equal(await messagesOf(async () => { await t.rejects(ask(number), TypeError) }), '')
  t.equal(await messagesOf(async () => await ask(1)), first)
})

test('a copy of a prepared statement is a query of the driver, for programs that observe it', async (t) => {
  const { client } = await connectionWith()
  const query = new PreparedQuery(client, { name: 'a', text: 'select $1' }, [5], 'array')
  const copy = new pg.Query({ ...query } as unknown as pg.QueryConfig) as unknown as Record<string, unknown>
  t.same([copy['name'], copy['text'], copy['values'], copy['_rowMode']], ['a', 'select $1', ['5'], 'array'])
})

async function open (t: Test) {
  const at = await requireDatabase(t, 'postgres')
  if (at === undefined) return undefined
  const db = openPostgres(at, { connections: 1 })
  t.teardown(async () => { await db.destroy() })
  return db
}

test('D-294: PostgreSQL: prepared statements give what the driver gives, each time', async (t) => {
  const db = await open(t)
  if (db === undefined) return
  await sql`create table note (id integer primary key, words text[], made timestamptz, data jsonb, raw bytea)`
    .execute(db)
  const raw = Buffer.from([0, 255])
  for (const id of [1, 2, 3, 4]) {
    const inserted = await sql`insert into note
      values (${id}, ${['a', 'b"']}, ${'2024-01-01T00:00:00Z'}, ${'{"a":[1]}'}, ${raw})`.execute(db)
    t.equal(inserted.numAffectedRows, 1n)
  }
  for (let times = 0; times < 4; times++) {
    const { rows } = await sql<object>`select id, words, made, data, raw, null as no, ${7}::bigint as big,
      ${true}::boolean as yes from note where id <= ${2} order by id`.execute(db)
    const kept = { words: ['a', 'b"'], data: { a: [1] }, raw, no: null, big: 7, yes: true }
    t.match(rows, [{ id: 1, ...kept }, { id: 2, ...kept }])
    t.equal((await sql`update note set data = ${'{}'} where id > ${2}`.execute(db)).numAffectedRows, 2n)
    t.same((await sql`delete from note where id = ${99} returning id`.execute(db)).rows, [])
  }
})

test('D-294: PostgreSQL: rows are read by their new types after a column was changed', async (t) => {
  const db = await open(t)
  if (db === undefined) return
  await sql`create table note (id integer primary key, n integer)`.execute(db)
  await sql`insert into note values (1, 5)`.execute(db)
  const read = async () => (await sql<{ n: unknown }>`select n from note where id = ${1}`.execute(db)).rows[0]?.n
  const described = t.capture(pg.Connection.prototype, 'describe', pg.Connection.prototype.describe)
  t.same([await read(), await read(), await read()], [5, 5, 5])
  t.equal(described().length, 2, 'as a text, and when it is prepared')
  await sql`alter table note alter n type text using 'was ' || n`.execute(db)
  await t.rejects(read(), { code: '0A000' }, 'the connection is closed, because its statement no longer fits')
  t.same([await read(), await read()], ['was 5', 'was 5'])
})
