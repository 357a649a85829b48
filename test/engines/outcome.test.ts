// @once: connections that only seem to be there

import { EventEmitter, once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import type { QueryError } from 'mysql2'
import { test } from 'tap'
import { toHostError } from '../../lib/database/host-failure.js'
import { MariadbConnection } from '../../lib/engines/mariadb/connection.js'
import type { Callback, DriverConnection } from '../../lib/engines/mariadb/driver.js'
import { mariadbDialect } from '../../lib/engines/mariadb/dialect.js'
import { PostgresConnection, watchConnection } from '../../lib/engines/postgres/connection.js'
import { postgresDialect } from '../../lib/engines/postgres/dialect.js'
import type { DriverClient } from '../../lib/engines/postgres/driver.js'
import { notSentCode } from '../../lib/engines/statement-failure.js'
import { Deadline } from '../../lib/engines/server/deadline.js'
import { PreparedStatements } from '../../lib/engines/server/prepared-statements.js'

type Done = (error: Error | null, result: object) => void

/** A connection to PostgreSQL whose driver answers as told. */
function postgresWith (answer: (client: EventEmitter, done: Done) => void) {
  const seen = { sent: 0, closed: 0, left: 0 }
  const stream = { writable: true }
  const client = Object.assign(new EventEmitter(), {
    connection: { stream },
    query: (_query: object, _values: unknown[], done: Done) => {
      seen.sent++
      answer(client, done)
    },
    release: (isSpent: boolean) => { if (isSpent) seen.closed++ }
  })
  const raw = client as unknown as DriverClient
  watchConnection(raw)
  const connection = new PostgresConnection(
    { raw, release: () => {}, abandon: () => {} },
    { prepared: undefined, timeout: 20, leave: () => { seen.left++ } })
  return { connection, client, stream, seen }
}

test('D-233: PostgreSQL: what is asked of a connection that has broken was not sent', async (t) => {
  for (const destroy of [
    ({ stream }: ReturnType<typeof postgresWith>) => { stream.writable = false },
    ({ client }: ReturnType<typeof postgresWith>) => { client.emit('error', new Error('terminated')) }
  ]) {
    const one = postgresWith((_client, done) => { done(null, { rows: [] }) })
    await t.resolves(one.connection.query('insert', []))
    destroy(one)
    await t.rejects(one.connection.query('commit', []), { code: notSentCode })
    one.connection.release()
    t.same(one.seen, { sent: 1, closed: 1, left: 1 }, 'and the connection is used no more')
  }
  const silent = postgresWith(() => {})
  await t.rejects(silent.connection.query('insert', []), { message: 'The server does not answer', code: 'NO_ANSWER' })
  await t.rejects(silent.connection.query('commit', []), { code: notSentCode }, 'it would wait behind the insert')
  t.equal(silent.seen.sent, 1)
})

test('D-234: PostgreSQL: a commit that no standby has confirmed is not taken for done', async (t) => {
  let routine: string | undefined = 'SyncRepWaitForLSN'
  const { connection } = postgresWith((client, done) => {
    client.emit('notice', { routine })
    done(null, { rows: [] })
  })
  await t.rejects(connection.query('commit', []), { code: '40003', message: 'No standby has confirmed the commit' })
  routine = 'exec_stmt_raise'
  await t.resolves(connection.query('commit', []), 'other notices mean nothing, and the last one is forgotten')
})

/** A connection to MariaDB whose driver answers as told. */
function mariadbWith (execute: (done: Callback<object>) => { statement?: object }) {
  const seen = { sent: 0, closed: 0, left: 0 }
  const stream = { writable: true, destroy: () => {} }
  const driver = {
    query: (_sql: string, _values: unknown[], done: Callback<object>) => {
      seen.sent++
      done(null, [])
    },
    execute: (_sql: string, _values: unknown[], done: Callback<object>) => {
      seen.sent++
      return execute(done)
    },
    stream,
    unprepare: () => {},
    release: () => {},
    destroy: () => { seen.closed++ }
  } as unknown as DriverConnection
  const options = {
    connections: 1, readConnections: 1, statementTimeout: 0, preparedStatements: true, writable: true, readonly: false
  }
  const connection = new MariadbConnection(
    { raw: driver, release: () => {}, abandon: () => {} },
    { options, prepared: new PreparedStatements(() => {}), leave: () => { seen.left++ } })
  const ask = async (sql: string, values: unknown[]): Promise<string> => await new Promise((resolve) => {
    connection.query(sql, values, (error) => { resolve(error === null ? 'done' : error.code) })
  })
  return { connection, stream, seen, ask }
}

test('D-233: MariaDB: what is asked of a connection that has broken was not sent', async (t) => {
  const { connection, stream, seen, ask } = mariadbWith(() => ({}))
  t.equal(await ask('begin', []), 'done')
  stream.writable = false
  t.equal(await ask('commit', []), notSentCode)
  connection.release()
  t.same(seen, { sent: 1, closed: 1, left: 1 }, 'and the connection is used no more')
})

test('D-233: MariaDB: a statement whose connection breaks while it is prepared was not sent', async (t) => {
  const lost = Object.assign(new Error('lost'), { fatal: true, code: 'PROTOCOL_CONNECTION_LOST' })
  const later = (done: Callback<object>, command: { statement?: object }) => {
    setImmediate(() => { done(lost, []) })
    return command
  }
  t.equal(await mariadbWith((done) => later(done, {})).ask('insert ?', [1]), notSentCode)
  t.equal(await mariadbWith((done) => later(done, { statement: {} })).ask('insert ?', [1]), 'PROTOCOL_CONNECTION_LOST')
  const closed = mariadbWith((done) => {
    done(lost, [])
    return {}
  })
  t.equal(await closed.ask('insert ?', [1]), notSentCode, 'the driver had noticed before')
})

test('D-231: an answer that came in time counts, although the process was too busy to read it', async (t) => {
  const server = createServer().listen(0, '127.0.0.1')
  t.teardown(() => { server.close() })
  await once(server, 'listening')
  const near = connect((server.address() as AddressInfo).port, '127.0.0.1')
  const [far] = await once(server, 'connection') as [Socket]
  t.teardown(() => { near.destroy() })
  const outcome = new Promise((resolve) => {
    const deadline = new Deadline(20, () => { resolve('late') })
    near.once('data', () => {
      deadline.end()
      resolve('answered')
    })
  })
  far.end('answer')
  for (const start = performance.now(); performance.now() - start < 60;);
  t.equal(await outcome, 'answered')
  t.equal(await new Promise((resolve) => new Deadline(1, () => { resolve('late') })), 'late')
})

/** Failures of connections whose properties do not show that they come from a driver. */
const bare = () => [
  new Error('Connection terminated unexpectedly'),
  Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET', syscall: 'read', fatal: true })
]

test('D-51: a failure of a connection of the plugin is one of the database, whatever it says', async (t) => {
  for (const failure of bare()) t.equal(toHostError(postgresDialect, failure), failure, 'another service has failed')
  for (const failure of bare()) {
    const { connection } = postgresWith((_client, done) => { done(failure, {}) })
    const thrown: unknown = await connection.query('select', []).catch((error: unknown) => error)
    t.equal(thrown, failure)
    t.match(toHostError(postgresDialect, thrown), { statusCode: 503, code: 'REST_MODELS_UNAVAILABLE' })
  }
  const [, lost] = bare()
  t.equal(toHostError(mariadbDialect, lost), lost, 'another service has failed')
  const { connection } = mariadbWith((done) => {
    setImmediate(() => { done(lost as unknown as QueryError, []) })
    return { statement: {} }
  })
  const thrown = await new Promise((resolve) => { connection.query('select ?', [1], resolve) })
  t.equal(thrown, lost)
  t.match(toHostError(mariadbDialect, thrown), { statusCode: 503, code: 'REST_MODELS_UNAVAILABLE' })
  t.equal(toHostError(mariadbDialect, undefined), undefined)
})
