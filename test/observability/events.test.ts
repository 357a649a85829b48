// @once: about what the app says of itself

import { EventEmitter } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Server } from 'node:net'
import SQLite from 'better-sqlite3'
import Fastify from 'fastify'
import { test, type Test } from 'tap'
import { Events, codeOf, type EventListener } from '../../lib/events/events.js'
import { unavailable } from '../../lib/errors.js'
import restModels, {
  boolean, createTables, defineModel, foreignKey, hashPassword, openAuth, password, text, userAuth,
  type RestModelsOptions
} from '../../lib/index.js'
import { NodeConnections } from '../../lib/engines/server/node-connections.js'
import { Nodes, NoneIsFree } from '../../lib/engines/server/nodes.js'
import { withRetries } from '../../lib/engines/retry.js'
import { GroupCommit } from '../../lib/engines/sqlite/group-commit.js'
import { retryWhileLocked } from '../../lib/engines/sqlite/lock.js'
import { Repeatable } from '../../lib/engines/statement-failure.js'
import { logEvents } from '../../lib/plugin/event-log.js'
import { Connections } from '../../lib/plugin/scheduling/connections.js'
import { SlotQueue } from '../../lib/plugin/scheduling/slot-queue.js'
import { openSqlite } from '../../lib/sqlite.js'
import { nextTurn } from '../support/clock.js'
import { listen } from '../support/listen.js'
import { basic, client } from '../support/site.js'

type Line = Readonly<Record<string, unknown>>

/** A logger of Fastify that keeps its lines. */
function keepLog () {
  const lines: Line[] = []
  const logger = { level: 'info', stream: { write: (line: string) => { lines.push(JSON.parse(line) as Line) } } }
  const events = (name: string): Line[] => lines.filter(({ event }) => event === name)
  return { lines, logger, events }
}

const User = defineModel('User', {
  username: text({ unique: true }), password: password(), active: boolean({ default: true })
})
const Note = defineModel('Note', { user: foreignKey(() => User), message: text({ unique: true }) })
const secret = 'not-to-be-told'

/** A request, the status of its answer, and the statements that it is told to take. */
type Step = readonly [() => Promise<{ readonly statusCode: number }>, number, readonly string[]]

async function serve (t: Test, options: Pick<RestModelsOptions, 'slowStatement' | 'defaultAuth'> = {}) {
  const db = openSqlite(':memory:')
  await createTables(db, [User, Note])
  await db.insertInto('user').values({ username: 'alice', password: await hashPassword(secret), active: 1 }).execute()
  const log = keepLog()
  const app = Fastify({ logger: log.logger })
  t.teardown(async () => { await app.close() })
  app.addHook('onClose', async () => { await db.destroy() })
  await app.register(restModels, { db, defaultAuth: userAuth(User), ...options })
  app.restModels.register(User, { exclude: ['password'] }).register(Note, { ownerField: 'user' })
  await app.restModels.setup()
  const headers = { authorization: `Basic ${Buffer.from(`alice:${secret}`).toString('base64')}` }
  const send = async (method: 'POST' | 'PUT' | 'DELETE', url: string, body?: object) =>
    await app.inject({ method, url, headers, ...body && { body } })
  return { ...client(app), app, db, send, ...log }
}

test('D-225: each statement has a message with its operation and resource, and with no values', async (t) => {
  const statements = listen(t, 'fastify-rest-models:statement')
  const logins = listen(t, 'fastify-rest-models:login')
  const { get, send } = await serve(t)
  const body = { message: `${secret} 1` }
  const steps: readonly Step[] = [
    [() => send('POST', '/api/note/', body), 201, ['login of User', 'create of note']],
    [() => send('POST', '/api/note/', body), 409, ['login of User', 'create of note failed', 'other of null']],
    [() => get(`/api/note/?message=${encodeURIComponent(`${secret} 1`)}&user__username=alice`), 200, ['list of note']],
    [() => get('/api/note/?count=true&limit=1&page=2'), 200, ['list of note', 'count of note']],
    [() => get('/api/note/1/'), 200, ['read of note']],
    [() => get('/api/note/1/?include=user'), 200, ['read of note']],
    [() => send('PUT', '/api/note/1/', { message: `${secret} 2` }), 200,
      ['login of User', 'lock of note', 'update of note']],
    [() => send('DELETE', '/api/note/1/'), 204, ['login of User', 'lock of note', 'delete of note']]
  ]
  for (const [step, status, expected] of steps) {
    statements.length = 0
    t.equal((await step()).statusCode, status)
    t.same(
      statements.map(({ operation, resource, outcome }) =>
        `${operation} of ${resource}${outcome === 'failed' ? ' failed' : ''}`),
      expected)
    for (const message of statements) {
      t.ok(message.duration > 0 && message.duration < 5000)
      t.same(Object.keys(message).sort(), ['code', 'duration', 'operation', 'outcome', 'resource', 'rows'])
      t.notMatch(JSON.stringify(message), secret)
    }
  }
  t.match(logins, [{ outcome: 'accepted' }], 'later ones are answered from memory')
  t.notMatch(JSON.stringify(logins), /alice/)
})

test('D-225: a failed statement has the code of the driver', async (t) => {
  const statements = listen(t, 'fastify-rest-models:statement')
  const { send } = await serve(t)
  await send('POST', '/api/note/', { message: 'a' })
  await send('POST', '/api/note/', { message: 'a' })
  t.match(statements.filter(({ outcome }) => outcome === 'failed'), [{
    operation: 'create', code: 'SQLITE_CONSTRAINT_UNIQUE', rows: 0
  }])
  t.equal(codeOf(unavailable({ cause: Object.assign(new Error(), { code: 'E' }) })), 'E')
  const several = new AggregateError([Object.assign(new Error(), { code: 'FIRST' }), new Error()])
  t.equal(codeOf(unavailable({ cause: several })), 'FIRST', 'of several hosts, that of the first')
  t.equal(codeOf(new Error('without')), null)
  t.equal(codeOf(null), null)
})

test('D-225: writes that are committed together have a message', async (t) => {
  const groups = listen(t, 'fastify-rest-models:group-commit')
  const database = new SQLite(':memory:').exec('create table thing (id integer)')
  t.teardown(() => { database.close() })
  const insert = database.prepare('insert into thing values (1)')
  const group = new GroupCommit(database, () => {})
  const write = async (): Promise<unknown> =>
    await group.execute(() => ({ row: undefined, changed: insert.run().changes }))
  await Promise.all([write(), write(), write()])
  await nextTurn()
  await Promise.all([write(), write(), write()])
  t.match(groups, [{ writes: 3 }])
  t.ok(Number(groups[0]?.duration) > 0)
})

test('D-225: a login that is refused has a message', async (t) => {
  const logins = listen(t, 'fastify-rest-models:login')
  const { app } = await serve(t)
  await app.inject({ method: 'POST', url: '/api/note/', headers: { authorization: basic('alice') }, body: {} })
  t.match(logins, [{ outcome: 'refused' }])
})

test('D-225: a login whose `verify` throws has a message', async (t) => {
  const logins = listen(t, 'fastify-rest-models:login')
  const verify = async () => await Promise.reject(new Error('the directory is away'))
  const { app, db } = await serve(t, { defaultAuth: userAuth(User, { verify }) })
  await db.updateTable('user').set({ password: 'md5:1' }).execute()
  const headers = { authorization: basic('alice') }
  const { statusCode } = await app.inject({ method: 'POST', url: '/api/note/', headers, body: {} })
  t.equal(statusCode, 500)
  t.match(logins, [{ outcome: 'failed' }])
  t.equal(logins.length, 1)
})

test('D-226: a slow statement has a line, from `slowStatement` on, and without it none', async (t) => {
  const { get, events, lines } = await serve(t, { slowStatement: 1 })
  const slow = { slowStatement: 0 }
  await t.rejects(serve(t, { slowStatement: -1 }), {
    code: 'REST_MODELS_INVALID_OPTIONS', message: /'slowStatement' must/
  })
  const other = await serve(t, slow)
  const source = new Events()
  const log = keepLog()
  const end = logEvents(Fastify({ logger: log.logger }).log, 500, [source, source])
  for (const [start, operation] of [[performance.now() - 600, 'list'], [performance.now(), 'read']] as const) {
    source.end(start, { label: { operation, resource: 'note' } }, 3)
  }
  source.fail(performance.now() - 600, {}, new Error('slow'))
  end()
  source.end(performance.now() - 600, {}, 0)
  const msg = /^Slow statement: list of note, \d+ ms$/
  const list = { operation: 'list', resource: 'note', rows: 3, outcome: 'done', msg }
  const unnamed = { operation: 'other', resource: null, outcome: 'failed', msg: /^Slow statement: other, \d+ ms$/ }
  t.match(log.lines, [list, unnamed].map((line) => ({ level: 40, event: 'statement', ...line })))
  t.equal(log.lines.length, 2)
  await get('/api/note/')
  await other.get('/api/note/')
  t.same([...events('statement'), ...other.events('statement')].filter(({ duration }) => Number(duration) < 1), [])
  t.ok(lines.length > 0)
})

test('D-259: a statement of `afterWrite` has a message, without values, whether it succeeds or fails', async (t) => {
  const statements = listen(t, 'fastify-rest-models:statement')
  const db = openSqlite(':memory:')
  await createTables(db, [User, Note])
  const app = Fastify()
  t.teardown(async () => { await app.close() })
  app.addHook('onClose', async () => { await db.destroy() })
  await app.register(restModels, { db, defaultAuth: openAuth() })
  app.restModels.register(Note, {
    afterWrite: async ({ record, db }) => {
      if (record.message === secret) await db.selectFrom('user').selectAll().where('username', '=', secret).execute()
      else await db.insertInto('user').values({ username: null }).execute()
    }
  })
  await app.restModels.setup()
  await db.insertInto('user').values({ username: 'alice', password: '', active: 1 }).execute()
  const statusOf = async (message: string): Promise<number> =>
    (await app.inject({ method: 'POST', url: '/api/note/', body: { message, user_id: 1 } })).statusCode
  t.same([await statusOf(secret), await statusOf('other')], [201, 500])
  t.match(statements.filter(({ operation }) => operation === 'hook'), [
    { resource: 'note', outcome: 'done', code: null, rows: 0 },
    { resource: 'note', outcome: 'failed', code: 'SQLITE_CONSTRAINT_NOTNULL', rows: 0 }
  ])
  t.same([...new Set(statements.map(({ resource }) => resource))].sort(), ['note', null].sort())
  t.notMatch(JSON.stringify(statements), secret)
})

const locked = Object.assign(new Error('locked'), { code: 'SQLITE_BUSY' })

test('D-227: a statement that was repeated has one message and one line, whatever came of it', async (t) => {
  const source = new Events()
  const { logger, lines } = keepLog()
  logEvents(Fastify({ logger }).log, 500, [source])
  const label = { operation: 'create', resource: 'note' } as const
  let count = 0
  const failing = (times: number) => async (): Promise<string> => {
    if (++count <= times) throw new Repeatable('again', { cause: Object.assign(new Error(), { code: '40P01' }) })
    return 'done'
  }
  t.equal(await withRetries(failing(2), source, label), 'done')
  await t.rejects(withRetries(async () => { throw new Error('no') }, source, label), /no/)
  count = 0
  await t.rejects(withRetries(failing(9), source, label), { code: 'REST_MODELS_UNAVAILABLE' })
  let tries = 0
  const event = { maxRetryTime: 1000, events: source, query: { label } as never }
  await retryWhileLocked(locked, () => { if (++tries < 2) throw locked }, event)
  await t.rejects(retryWhileLocked(locked, () => { throw new Error('other') }, { ...event, maxRetryTime: 50 }), /other/)
  t.match(lines.map(({ level, msg }) => [level, msg]), [
    [30, /^Repeated create of note, 3 attempts in \d+ ms: 40P01$/],
    [40, /^Repeated without success create of note, 5 attempts in \d+ ms: 40P01$/],
    [30, /^Repeated create of note, 3 attempts in \d+ ms: SQLITE_BUSY$/],
    [40, /^Repeated without success create of note, 2 attempts in \d+ ms: SQLITE_BUSY$/]
  ])
})

test('D-228: a change of the server has a line for each step, and an outage one', async (t) => {
  const source = new Events()
  const nodeMessages = listen(t, 'fastify-rest-models:node')
  const { logger, lines } = keepLog()
  logEvents(Fastify({ logger }).log, 500, [source])
  const down = new Set<string>()
  const ask = async ({ name }: { readonly name: string }): Promise<string> => {
    if (down.has(name)) throw Object.assign(new Error('down'), { code: 'ECONNREFUSED' })
    return name
  }
  const nodesOf = (first: string, ...others: readonly string[]) => new Nodes(
    [{ name: first }, ...others.map((name) => ({ name }))],
    { check: async (node) => { await ask(node) }, isFull: () => false, isWatched: false, events: source })
  const nodes = nodesOf('db1', 'db2')
  t.equal(await nodes.connect(ask), 'db1')
  down.add('db1')
  t.equal(await nodes.connect(ask), 'db2')
  down.add('db2')
  for (let time = 0; time < 3; time++) await t.rejects(nodes.connect(ask))
  down.delete('db2')
  t.equal(await nodes.connect(ask), 'db2')
  const single = nodesOf('db3')
  await single.connect(ask)
  single.leave(single.all[0], 'NO_ANSWER')
  single.leave(single.all[0])
  down.add('db3')
  await t.rejects(single.connect(ask))
  down.delete('db3')
  await single.connect(ask)
  await single.connect(ask)
  t.match(lines.map(({ level, msg }) => [level, msg]), [
    [30, 'Database server db1 is in use'],
    [40, 'Database server db1 does not serve: ECONNREFUSED'],
    [40, /^Changed from database server db1 to db2, after \d+ ms$/],
    [40, 'Database server db2 does not serve: ECONNREFUSED'],
    [50, 'No database server serves: ECONNREFUSED'],
    [30, /^Database server db2 serves again, after \d+ ms$/],
    [40, 'Database server db3 does not serve: NO_ANSWER'],
    [30, /^Database server db3 serves again, after \d+ ms$/]
  ])
  t.same(nodeMessages.map(({ state }) => state), [
    'found', 'left', 'found', 'left', 'none', 'found', 'left', 'found'])
  lines.length = 0
  const step = { node: 'a', previous: 'b', code: null, duration: null }
  source.publish('node', { ...step, state: 'found' })
  source.publish('node', { ...step, state: 'left' })
  t.same(lines.map(({ msg }) => msg), [
    'Changed from database server b to a', 'Database server a does not serve: unknown reason'])
})

test('D-229: requests that are refused have a line at once, and then one in a minute with their number', async (t) => {
  const source = new Events()
  const queued = listen(t, 'fastify-rest-models:queue')
  const { logger, lines } = keepLog()
  const end = logEvents(Fastify({ logger }).log, 500, [source])
  const connections = new NodeConnections<object>({
    options: { connections: 0, readConnections: 1, readonly: true, statementTimeout: 1 },
    server: { name: 'PostgreSQL', opener: 'openPostgres()', host: 'db' },
    events: source,
    take: async () => { throw new NoneIsFree() },
    socketOf: () => { throw new Error('there is none') },
    idOf: () => 1,
    askBusy: async () => new Set<number>()
  })
  for (let time = 0; time < 3; time++) await t.rejects(connections.take('read'), { code: 'NO_CONNECTION' })
  const server = new EventEmitter() as Server
  const queue = new SlotQueue(new Connections(server), 1, { name: 'guarded-writes', source })
  const sent = Array.from({ length: 2003 }, () => {
    const req = { socket: { destroyed: false } }
    const answer = Object.assign(new EventEmitter(), { destroyed: false, writableLength: 0, req })
    const failures: unknown[] = []
    queue.enter({ raw: answer.req } as never, { raw: answer } as never, (failure) => { failures.push(failure) })
    return { answer, failures }
  })
  t.equal(sent.filter(({ failures }) => failures[0] instanceof Error).length, 2, 'two are more than wait')
  queue.release(sent[0]?.answer as never)
  sent[2]?.answer.emit('close')
  t.same(queued.filter(({ queue }) => queue === 'guarded-writes').map(({ outcome }) => outcome), [
    'full', 'full', 'admitted', 'gone'])
  end()
  for (const { answer } of sent) answer.emit('close')
  await sleep(0)
  const refused = lines.map(({ level, queue, outcome, count }) => [level, queue, outcome, count])
  t.same(refused.filter(([, queue]) => queue === 'guarded-writes'), [
    [40, 'guarded-writes', 'full', 1], [40, 'guarded-writes', 'full', 1]])
  t.same(refused.filter(([, queue]) => queue === 'connections'), [
    [40, 'connections', 'late', 1], [40, 'connections', 'late', 2]])
  t.match(String(lines[0]?.['msg']), /^Refused 1 in queue 'connections': no connection to the database has become free/)
})

test('D-230: nobody listens: no time is taken, and a listener ends when it wants to', (t) => {
  const source = new Events()
  t.equal(source.begin(), 0)
  source.end(0, {}, 1)
  source.fail(0, {}, new Error())
  const noticed: unknown[] = []
  const listener: EventListener = { slowMs: Infinity, notice: (_name, message) => { noticed.push(message) } }
  const end = source.attach(listener)
  t.equal(source.begin(), 0)
  source.publish('login', { outcome: 'accepted', duration: 1 })
  end()
  source.publish('login', { outcome: 'accepted', duration: 1 })
  t.equal(noticed.length, 1)
  t.end()
})
