// @alone: measures time and memory
// @long: waits for deadlines, under load

import { once } from 'node:events'
import { readdir, readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { connect, type AddressInfo, type Socket } from 'node:net'
import { availableParallelism } from 'node:os'
import { test, type Test } from 'tap'
import type { ServerOptions } from '../../lib/engines/server/server-options.js'
import { defineModel, foreignKey, userAuth, type Model, type ResourceRegistry } from '../../lib/index.js'
import { boundedSite } from '../support/bounded.js'
import { engine } from '../support/database.js'
import { waitFor } from '../support/engines/wait-for.js'
import {
  basic, Message, Note, registerSite, siteModels, User, type BuildOptions, type Rows
} from '../support/site.js'
import { gate } from '../support/interleaving.js'
import { attack, siteRows } from './security-helper.js'

const many = (name: string, count: number, value: (index: number) => unknown) =>
  Array.from({ length: count }, (_, index) => `${name}=${String(value(index))}`).join('&')

test('T-82: a page is never larger than the limit', async (t) => {
  const notes = Array.from(
    { length: 150 }, (_, index) => ({ id: index + 1, message: `note ${index}`, created: '2024-01-01 00:00:00' })
  )
  const { get, statements } = await attack(t, { rows: { ...siteRows, note: notes } })
  for (const limit of ['101', '1000000', '999999999999999']) {
    t.equal((await get(`/api/note/?limit=${limit}`)).statusCode, 400, limit)
  }
  t.equal(statements.length, 0)
  t.equal((await get('/api/note/?limit=100')).json().objects.length, 100)
  t.equal((await get('/api/note/')).json().objects.length, 20)
})

test('T-83: a page is never further than the limit', async (t) => {
  const { get, statements } = await attack(t)
  for (const page of ['5002', '100000000', '999999999999999']) {
    t.equal((await get(`/api/note/?page=${page}`)).statusCode, 400, page)
  }
  t.equal(statements.length, 0)
  t.equal((await get('/api/note/?page=5001')).json().meta.next, '')
})

test('T-84: a list of values is bounded', async (t) => {
  const { get, ids, statements } = await attack(t)
  t.equal((await get(`/api/note/?id__in=${Array.from({ length: 101 }, (_, index) => index).join()}`)).statusCode, 400)
  t.equal((await get(`/api/note/?message__in=${','.repeat(2000)}`)).statusCode, 400)
  t.equal((await get(`/api/note/?id__in=${'1,'.repeat(5000)}`)).statusCode, 414)
  t.equal((await get(`/api/note/?${many('id__in', 20, () => '1000,'.repeat(99) + '1')}`)).statusCode, 414)
  t.equal(statements.length, 0)
  t.same(await ids(`/api/note/?id__in=${Array.from({ length: 100 }, (_, index) => index).join()}`), [1, 2])
  t.same(await ids(`/api/note/?${many('id__in', 20, () => '2,'.repeat(90) + '2')}`), [2])
})

test('T-85: filters are bounded', async (t) => {
  const { get, ids, statements } = await attack(t)
  for (const count of [21, 200]) {
    t.equal((await get(`/api/note/?${many('id__ne', count, (index) => index + 3)}`)).statusCode, 400, String(count))
  }
  t.equal((await get(`/api/note/?${many('id__ne', 1000, (index) => index + 3)}`)).statusCode, 414)
  t.equal((await get(`/api/note/?${'&'.repeat(4000)}x=1`)).statusCode, 400)
  t.equal(statements.length, 0)
  t.same(await ids(`/api/note/?${many('id__ne', 20, (index) => index + 2)}`), [1])
  t.equal((await get(`/api/note/?ordering=${'id,'.repeat(1000)}id`)).statusCode, 400)
})

const Chain: Model = defineModel('Chain', {
  next: foreignKey((): Model => Chain), other: foreignKey((): Model => Chain)
})

test('T-86: joins are bounded', async (t) => {
  const { get, ids, statements } = await attack(t, {
    models: [Chain],
    register: (registry) => registry.register(Chain),
    rows: { chain: [{ id: 1, next_id: 1, other_id: 1 }] }
  })
  for (const depth of [4, 50, 400]) {
    t.equal((await get(`/api/chain/?${'next__'.repeat(depth)}id=1`)).statusCode, 400, String(depth))
  }
  t.equal((await get('/api/chain/?next__next__next__id=1&other__other__other__id=1')).statusCode, 400, 'six in all')
  t.equal((await get('/api/chain/?next__next__next__next=1')).statusCode, 200, 'the last one is a column, not a join')
  t.equal(statements.length, 1)
  t.same(await ids('/api/chain/?next__next__next__id=1&other__other__id=1'), [1])
})

test('T-87: many filters over one path make one join', async (t) => {
  const { get, statements } = await attack(t)
  const joins = () => statements.at(-1)?.sql.match(/ join /g)?.length
  t.equal((await get(
    `/api/message/?${many('user__username__ne', 10, (index) => index)}&${many('user__id__ne', 10, () => 1)}`
  )).statusCode, 200)
  t.equal(joins(), 1)
  await get('/api/relationship/?from_user__username=alice&from_user_id__username=alice&to_user__username=bob')
  t.equal(joins(), 2)
})

/** Texts that are slow to search, and a pattern that none of them fits. */
const slow = 'a'.repeat(65_536)
const pattern = `%25${'a'.repeat(126)}b`

/** SQLite takes 16 ms for a row, a server 8, and longer to store it. */
const slowCount = engine === 'sqlite' ? 500 : 250
const slowRows: Rows = {
  note: Array.from(
    { length: slowCount }, (_, index) => ({ id: index + 1, message: slow, created: '2024-01-01 00:00:00' })
  ),
  message: Array.from({ length: slowCount }, (_, index) =>
    ({ id: index + 1, user_id: 2, content: slow, pub_date: '2024-01-01 00:00:00' }))
}

/** An app that gives statements up: SQLite by itself, on a server by the options of the connection. */
async function attackSlowly (t: Test, options: ServerOptions = {}) {
  if (engine === 'sqlite') return await attack(t, { rows: slowRows, options: { limits: { statementTime: 200 } } })
  return await attackBounded(t, slowRows, { statementTimeout: 400, ...options })
}

async function attackBounded (t: Test, rows: Rows, options: ServerOptions, others: BuildOptions = {}) {
  const { bounded } = await boundedSite(t, rows, options)
  return await attack(t, { models: [], register: registerSite, ...others, options: { db: bounded } })
}

test('T-88: a costly pattern is given up', async (t) => {
  const { app, get, ids } = await attackSlowly(t)
  t.equal((await get(`/api/note/?message__like=${pattern}${'a'.repeat(10)}`)).statusCode, 400, 'over 128 characters')
  for (const operator of ['like', 'ilike']) {
    for (const url of [
      `/api/note/?message__${operator}=${pattern}`,
      `/api/message/?user__username=alice&content__${operator}=${pattern}`,
      `/api/message/?user__admin=false&content__${operator}=${pattern}&ordering=-pub_date`
    ]) {
      const start = performance.now()
      const { statusCode, headers, body } = await app.inject({ url })
      t.ok(performance.now() - start < 2000, `${performance.now() - start} ms`)
      t.equal(statusCode, 503, url)
      t.equal(headers['retry-after'], '1')
      t.notMatch(body, /select|too long|timeout|cancel|interrupt/i)
    }
  }
  t.same(await ids('/api/note/?id=7&limit=1'), [7], 'the connection goes on')
})

test('T-89: no list keeps others waiting for long', async (t) => {
  const { app, get } = await attackSlowly(t)
  const queries = [
    'message__gt=b', 'message__ne=b', `message__ilike=${pattern}`, `message__in=${slow.slice(0, 1000)}`,
    'ordering=-message&limit=1'
  ]
  const timed = async (url: string) => {
    const start = performance.now()
    return { statusCode: (await app.inject({ url })).statusCode, time: performance.now() - start }
  }
  const [read, ...replies] =
    (await Promise.all([...queries.map((query) => `/api/note/?${query}`), '/api/note/200/'].map(timed))).toReversed()
  for (const { statusCode, time } of replies) {
    t.ok([200, 503].includes(statusCode), String(statusCode))
    t.ok(time < 5000, `${time} ms`)
  }
  t.equal(read?.statusCode, 200)
  t.ok(read !== undefined && read.time < 3000, `${read?.time} ms`)
  t.equal((await get('/api/note/200/')).statusCode, 200)
})

test('T-90: patterns are matched by the database alone', async (t) => {
  const { get, statements } = await attack(t)
  const lib = new URL('../../lib/', import.meta.url)
  // The command `migration` reads checks of tables by a pattern that the dialect is a part of. No request comes there.
  const files = (await readdir(lib, { recursive: true }))
    .filter((name) => name.endsWith('.ts') && name !== 'tables/parse-check.ts')
  t.ok(files.length > 40)
  for (const name of files) t.notMatch(await readFile(new URL(name, lib), 'utf8'), /new RegExp|RegExp\(/, name)
  const start = performance.now()
  t.equal((await get(`/api/note/?message__like=${'%25a'.repeat(60)}`)).statusCode, 200)
  t.ok(performance.now() - start < 4000)
  t.match(statements[0]?.sql, { sqlite: /glob \+\?/, postgres: /like \$\d/, mariadb: /like \?/ }[engine])
})

test('T-91: nothing is counted', async (t) => {
  const { get, statements } = await attack(t)
  t.match((await get('/api/message/?limit=2&page=1&user__active=true')).json().meta, { next: /page=2/ })
  t.equal(statements.length, 1)
  t.notMatch(statements[0]?.sql, /count\(/)
  t.same(statements[0]?.parameters.slice(-2), [3, 0], 'one record more than the page holds')
})

/** Words that are slow to look for in the texts, and occur in none. */
const slowSearch = Array.from({ length: 5 }, (_, index) => `${'a'.repeat(120 + index)}b`).join('+')
/** An app whose lists are searched, and that gives statements up as that of {@link attackSlowly}. */
async function searchSlowly (t: Test, rows: Rows) {
  const register = (registry: ResourceRegistry) => {
    registry.register(Note, { search: ['message'] }).register(Message, { search: ['content'] })
  }
  return engine === 'sqlite'
    ? await attack(t, { models: siteModels, rows, register, options: { limits: { statementTime: 200 } } })
    : await attackBounded(t, rows, { statementTimeout: 400 }, { register })
}

test('T-133: twenty costly searches end in time, and others are answered meanwhile', async (t) => {
  const { app, get, ids } = await searchSlowly(t, slowRows)
  t.equal((await get(`/api/note/?search=${'a+'.repeat(6)}`)).statusCode, 400, 'over five words')
  t.equal((await get(`/api/note/?search=${'a'.repeat(129)}`)).statusCode, 400, 'over 128 characters')
  const lists = [`/api/note/?search=${slowSearch}`, `/api/message/?search=${slowSearch}&ordering=-pub_date&after=`]
  const urls = Array.from({ length: 20 }, (_, index) => lists[index % 2] ?? '')
  const start = performance.now()
  const [small, ...slow] = await Promise.all(['/api/note/7/', ...urls].map(async (url) => await app.inject({ url })))
  const took = performance.now() - start
  t.ok(took < 20 * 400 + 4000, `${took} ms`)
  t.equal(small?.statusCode, 200)
  for (const { statusCode, headers, body } of slow) {
    t.equal(statusCode, 503)
    t.match(headers['retry-after'], /^[1-9]\d*$/)
    t.notMatch(body, /select|too long|timeout|cancel|interrupt/i)
  }
  t.same(await ids('/api/note/?id=7&limit=1&search=aaa'), [7], 'the connection goes on')
})

test('T-134: a count keeps within the deadline of its list', async (t) => {
  const note = (slowRows['note'] ?? []).map((row, index) =>
    index < 2 ? { ...row, message: `${'a'.repeat(126)}b` } : row)
  const { app, get, statements, forget } = await searchSlowly(t, { ...slowRows, note })
  const costly = `/api/note/?message__like=${pattern}&limit=1`
  if (engine === 'sqlite') t.equal((await get(costly)).statusCode, 200, 'the page needs two records')
  const start = performance.now()
  const { statusCode, headers } = await app.inject({ url: `${costly}&count=true` })
  t.ok(performance.now() - start < 4000, `${performance.now() - start} ms`)
  t.equal(statusCode, 503, 'the count needs all of them')
  t.equal(headers['retry-after'], '1')
  forget()
  t.match((await get('/api/note/?limit=1&count=true')).json().meta, { count: slowCount, capped: false })
  // On servers these lists run on another handle, whose statements are not recorded.
  if (engine === 'sqlite') t.equal(statements[1]?.parameters.at(-1), 100_001, 'and no more than one beyond its limit')
})

test('T-92: senders that never finish a request hold up nobody, and are cut off at the time limit', async (t) => {
  const serverFactory = (handler: Parameters<typeof createServer>[1]) =>
    createServer({ requestTimeout: 5000, connectionsCheckingInterval: 100 }, handler)
  const { app, get, put, statements, forget } = engine === 'sqlite'
    ? await attack(t, { server: { serverFactory } })
    : await attackBounded(t, siteRows, { connections: 2 }, { server: { serverFactory } })
  await app.listen({ port: 0, host: '127.0.0.1' })
  forget()
  const head = `PUT /api/message/1/ HTTP/1.1\r\nHost: localhost\r\nAuthorization: ${basic('alice')}\r\n`
  const senders = Array.from({ length: 160 }, (_, index) =>
    half(app.server.address() as AddressInfo, index % 2 === 0 ? head : `${head}Content-Length: 15\r\n\r\n{"con`))
  await waitFor('all are connected', async () =>
    await new Promise((resolve) => { app.server.getConnections((_error, count) => { resolve(count === 160) }) }))
  t.same(statements, [], 'nothing is asked of the database for them')
  const start = performance.now()
  for (let round = 0; round < 10; round++) t.equal((await get('/api/message/')).statusCode, 200)
  t.equal((await put('/api/message/1/', {}, { as: 'alice' })).statusCode, 200)
  t.ok(performance.now() - start < 4000)
  forget()
  for (const answer of await Promise.all(senders)) t.match(answer, /^HTTP\/1\.1 408 /)
  t.same(statements, [])
})

/** Sends half a request, and gives what comes back until the connection is closed. */
async function half ({ port }: AddressInfo, text: string): Promise<string> {
  const socket: Socket = connect(port, '127.0.0.1', () => socket.write(text))
  let answer = ''
  socket.setEncoding('utf8').on('data', (chunk: string) => { answer += chunk })
  await once(socket, 'close')
  return answer
}

test('T-93: hashing is bounded in number and memory', async (t) => {
  const { policy, expect } = gate(userAuth(User))
  const { app, put } = await attack(t, {
    realHashes: true, register: (registry) => registry.register(Message, { auth: policy, ownerField: 'user' })
  })
  const before = process.memoryUsage().rss
  // No more than a server is asked by at a time.
  const count = 180
  expect(count)
  const logins = await Promise.all(Array.from({ length: count }, async (_, index) =>
    await app.inject({
      method: 'PUT', url: '/api/message/1/', payload: '{}', headers: { authorization: basic('alice', `guess${index}`) }
    })))
  t.ok(process.memoryUsage().rss - before < 256 * 2 ** 20)
  const refused = logins.filter(({ statusCode }) => statusCode === 401).length
  const postponed = logins.filter(({ statusCode }) => statusCode === 429)
  t.equal(refused + postponed.length, count)
  t.equal(refused, 128 + availableParallelism())
  for (const { headers } of postponed) t.equal(headers['retry-after'], '1')
  t.equal((await put('/api/message/1/', {}, { as: 'alice' })).statusCode, 200)
})

// SQLite has one connection and no pool; its lists are given up one after the other, as T-89 shows.
if (engine !== 'sqlite') {
  test('T-94: who gets no connection in time is told to come back, without waiting for all others', async (t) => {
    const { app, put } = await attackSlowly(t, { connections: 2 })
    const start = performance.now()
    const replies = await Promise.all(Array.from({ length: 200 }, async () =>
      await app.inject({ url: `/api/note/?message__like=${pattern}` })))
    t.ok(
      performance.now() - start < 15_000,
      `${performance.now() - start} ms, not the 40 s that two connections would take`
    )
    for (const { statusCode, headers } of replies) {
      t.match({ statusCode, after: headers['retry-after'] }, { statusCode: 503, after: '1' })
    }
    t.equal((await app.inject({ url: '/api/note/7/' })).statusCode, 200, 'the connections go on')
    t.equal((await put('/api/message/1/', { content: 'a' }, { as: 'alice' })).statusCode, 200)
  })
}
