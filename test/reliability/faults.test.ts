// @once: about files of SQLite, and processes that share them
// @alone: starts and ends processes
// @long: starts, stops and breaks processes

import { once } from 'node:events'
import { connect } from 'node:net'
import { join } from 'node:path'
import fc from 'fast-check'
import { sql } from 'kysely'
import Fastify, { type FastifyInstance, type LightMyRequestResponse } from 'fastify'
import { test, type Test } from 'tap'
import restModels, { createTables } from '../../lib/index.js'
import { openSqlite } from '../../lib/sqlite.js'
import { seeded } from '../../benchmarks/random.js'
import { checkAnswers } from '../support/answers.js'
import { waitFor } from '../support/engines/wait-for.js'
import { basic, buildApp, insert, registerSite, siteModels } from '../support/site.js'

const pubDate = '2024-01-01 00:00:00'
const byAlice = { id: 1, user_id: 2, content: 'hello', pub_date: pubDate }
const as = 'alice'

const thrown: Record<string, () => unknown> = {
  'an error': () => new Error('secret of the host'),
  'an error with a status': () => Object.assign(new Error('the host is closed'), { statusCode: 423 }),
  'a text': () => 'secret of the host',
  'nothing, but rejected': () => null
}
const before = ['onRequest', 'preParsing', 'preValidation', 'preHandler'] as const
const after = ['preSerialization', 'onSend'] as const

/** An app one of whose hooks throws, once for each request that asks for it. */
async function appWithHook (t: Test, hook: string, give: () => unknown) {
  const failed = new WeakSet()
  return await buildApp(t, {
    undocumented: "the host's hook answers",
    rows: { message: [byAlice] },
    prepare: (app) => {
      const add = app.addHook.bind(app) as unknown as (
        name: string, run: (request: object & { headers: object }) => Promise<void>
      ) => FastifyInstance
      add(hook, async (request) => {
        if (!('x-fail' in request.headers) || failed.has(request)) return
        failed.add(request)
        throw give()
      })
    }
  })
}

for (const hook of before) {
  for (const [name, give] of Object.entries(thrown)) {
    test(`R-19: ${name} in a host's ${hook} hook is an answer, changes nothing and ends nothing`, async (t) => {
      const { post, get, rowsOf } = await appWithHook(t, hook, give)
      const reply = await post('/api/message/', { content: 'x' }, { as, headers: { 'x-fail': '1' } })
      t.equal(reply.statusCode, name === 'an error with a status' ? 423 : 500)
      t.notMatch(reply.body, /secret|at .*\.ts/)
      if (name === 'an error') {
        t.match(reply.json(), { code: 'REST_MODELS_INTERNAL', message: /^Internal error in request / })
      }
      t.strictSame(await rowsOf('message'), [byAlice])
      t.equal((await get('/api/message/1/')).statusCode, 200)
      t.equal((await post('/api/message/', { content: 'x' }, { as })).statusCode, 201)
    })
  }
}

for (const hook of after) {
  test(`R-19: an error in a host's ${hook} hook is an answer and ends nothing; earlier writes are whole`, async (t) => {
    const { post, get, rowsOf } = await appWithHook(t, hook, () => new Error('secret of the host'))
    const reply = await post('/api/message/', { content: 'x' }, { as, headers: { 'x-fail': '1' } })
    t.equal(reply.statusCode, 500)
    t.notMatch(reply.body, /secret|at .*\.ts/)
    t.match(await rowsOf('message'), [byAlice, { id: 2, user_id: 2, content: 'x' }])
    t.equal((await get('/api/message/2/')).statusCode, 200)
  })
}

test('R-20: the plugin listens to neither, which would hide them', async (t) => {
  const { get } = await buildApp(t)
  t.equal((await get('/api/note/')).statusCode, 200)
  t.equal(process.listenerCount('unhandledRejection'), 0)
  t.equal(process.listenerCount('uncaughtException'), 0)
})

for (const [what, change, message] of [
  ['a missing table', sql`drop table message`, /model 'Message' needs table 'message'/],
  [
    'a missing column', sql`alter table message drop column content`,
    /field 'content' of model 'Message' needs column 'content' of table 'message'/
  ],
  [
    'a renamed column', sql`alter table user rename column email to mail`,
    /field 'email' of model 'User' needs column 'email' of table 'user'/
  ]
] as const) {
  test(`R-24: with ${what} the service does not start, and says what it misses`, async (t) => {
    const path = join(t.testdir(), 'site.db')
    const db = openSqlite(path)
    t.teardown(async () => { await db.destroy() })
    await createTables(db, siteModels)
    const start = async () => {
      const app = Fastify()
      await checkAnswers(t, app)
      t.teardown(async () => { await app.close() })
      await app.register(restModels, { db })
      registerSite(app.restModels)
      await app.restModels.setup()
      await app.listen({ port: 0, host: '127.0.0.1' })
    }
    await t.resolves(start(), 'as it was made')
    await change.execute(db)
    await t.rejects(start(), { code: 'REST_MODELS_TABLE_MISMATCH', message })
  })
}

test('R-25: a schema that changes meanwhile is a 500 that tells nothing, until it is as before', async (t) => {
  const { db, get, post } = await buildApp(t, { rows: { message: [byAlice] } })
  t.equal((await get('/api/message/1/')).statusCode, 200)
  await sql`alter table message rename column content to text`.execute(db)
  for (const reply of [
    await get('/api/message/'), await get('/api/message/1/'), await get('/api/message/?content__like=h%25'),
    await post('/api/message/', { content: 'x' }, { as })
  ]) {
    t.match(reply.json(), { statusCode: 500, code: 'REST_MODELS_INTERNAL', message: /^Internal error in request \S+$/ })
    t.notMatch(reply.body, /column|select|insert|SQLITE/i)
  }
  t.equal((await get('/api/note/')).statusCode, 200, 'other tables go on')
  await sql`alter table message rename column text to content`.execute(db)
  t.equal((await get('/api/message/1/')).json().content, 'hello')
  t.equal((await post('/api/message/', { content: 'x' }, { as })).statusCode, 201)
})

for (const [where, years] of [['forward', 30], ['back', -20]] as const) {
  test(`R-23: a clock that jumps ${where} by years gives such dates, and ends no log-ins and no lists`, async (t) => {
    const { get, post, put } = await buildApp(t, { realHashes: true, rows: { message: [byAlice] } })
    t.equal((await put('/api/message/1/', {}, { as })).statusCode, 200)
    const Real = Date
    t.teardown(() => { globalThis.Date = Real })
    const moment = new Real(Real.now())
    moment.setUTCFullYear(moment.getUTCFullYear() + years)
    const jump = moment.getTime() - Real.now()
    globalThis.Date = class extends Real {
      constructor (...given: [] | [number]) {
        super(...(given.length === 0 ? [Real.now() + jump] : given) as [number])
      }

      static override now (): number { return Real.now() + jump }
    } as DateConstructor
    const costOf = async (password: (count: number) => string, status: number): Promise<number> => {
      const start = process.cpuUsage()
      for (let count = 0; count < 20; count++) {
        t.equal((await put('/api/message/1/', {}, { as: [as, password(count)] })).statusCode, status)
      }
      const { user, system } = process.cpuUsage(start)
      return user + system
    }
    const hashed = await costOf((count) => `wrong ${count}`, 401)
    t.ok(await costOf(() => as, 200) < hashed / 2, 'the password is still remembered: log-ins that hash take longer')
    const created = (await post('/api/message/', { content: 'x' }, { as })).json<{ pub_date: string }>()
    t.match(created.pub_date, new RegExp(`^${moment.getUTCFullYear()}-\\d\\d-\\d\\d \\d\\d:\\d\\d:\\d\\d$`))
    t.equal(
      (await get('/api/message/?content__like=%25l%25&ordering=-pub_date')).json().objects.length, 1,
      'a deadline is no time of day'
    )
  })
}

test('R-18: clients that go away end nothing, leave no connection, and their writes are whole or absent', async (t) => {
  const { app, get, rowsOf } = await buildApp(t)
  const address = new URL(await app.listen({ port: 0, host: '127.0.0.1' }))
  const random = seeded(1)
  const connections = async (): Promise<number> =>
    await new Promise((resolve) => { app.server.getConnections((_error, count) => { resolve(count) }) })
  const text = (number: number): string => `${number} ${'x'.repeat(5000)}`
  for (let number = 0; number < 300; number++) {
    const body = JSON.stringify({ content: text(number) })
    const request = `POST /api/message/ HTTP/1.1\r\nHost: ${address.host}\r\nAuthorization: ` +
      `${basic('alice')}\r\nContent-Length: ${body.length}\r\n\r\n${body}`
    const socket = connect(Number(address.port), address.hostname).on('error', () => {})
    socket.on('connect', () => {
      socket.write(random(3) === 0 ? request.slice(0, random(request.length)) : request)
      setTimeout(() => { socket.resetAndDestroy() }, random(8))
    })
    if (number % 20 === 0) await once(socket, 'close')
  }
  await waitFor('no connection is left', async () => await connections() === 0)
  const stored = (await rowsOf('message') as Array<{ content: string }>).map(({ content }) => content)
  t.ok(stored.length > 0 && stored.length < 300, `${stored.length} of 300`)
  t.equal(new Set(stored).size, stored.length)
  for (const content of stored) if (content !== text(Number.parseInt(content))) t.fail(content.slice(0, 20))
  t.equal((await get('/api/message/')).statusCode, 200)
})

test('R-26: a write whose second step fails leaves nothing', async (t) => {
  const { db, post, put, delete: remove, rowsOf } = await buildApp(t, { rows: { message: [byAlice] } })
  await sql`create table journal (id integer primary key, what text)`.execute(db)
  for (const [name, step] of [['insert', 'new'], ['update', 'new'], ['delete', 'old']] as const) {
    await sql.raw(`create trigger after_${name} after ${name} on message begin
      insert into journal (what) values (${step}.content);
      select raise(abort, 'secret of the trigger') where ${step}.content <> 'permitted';
    end`).execute(db)
  }
  for (const reply of [
    await post('/api/message/', { content: 'x' }, { as }), await put('/api/message/1/', { content: 'x' }, { as }),
    await remove('/api/message/1/', { as })
  ]) {
    t.match(reply.json(), {
      statusCode: 409, code: 'REST_MODELS_CONSTRAINT', message: 'A rule of the database refuses this change'
    })
    t.notMatch(reply.body, 'secret')
  }
  t.strictSame([await rowsOf('message'), await rowsOf('journal')], [[byAlice], []])
  t.equal((await post('/api/message/', { content: 'permitted' }, { as })).statusCode, 201)
  t.match(await rowsOf('journal'), [{ what: 'permitted' }])
})

test('R-28: a thousand creates at once have a thousand ids', async (t) => {
  const { post, get, rowsOf } = await buildApp(t)
  const count = 1000
  // A slow machine puts some off, which then are not there (D-96).
  const create = async (number: number): Promise<LightMyRequestResponse> => {
    const reply = await post('/api/message/', { content: String(number) }, { as: number % 2 === 0 ? 'alice' : 'bob' })
    return reply.statusCode === 503 ? await create(number) : reply
  }
  const replies = await Promise.all(Array.from({ length: count }, async (_, number) => await create(number)))
  t.strictSame(new Set(replies.map(({ statusCode }) => statusCode)), new Set([201]))
  t.equal(new Set(replies.map((reply) => reply.json().id)).size, count)
  const rows = await rowsOf('message') as Array<{ id: number, user_id: number, content: string }>
  t.strictSame(
    rows.map(({ content }) => Number(content)).sort((a, b) => a - b),
    Array.from({ length: count }, (_, number) => number)
  )
  t.ok(rows.every(({ content, user_id: owner }) => owner === 2 + Number(content) % 2), 'each belongs to who created it')
  t.ok(
    replies.every((reply) => rows.find(({ id }) => id === reply.json().id)?.content === reply.json().content),
    'each answer is of the record that was created'
  )
  t.equal((await get('/api/message/?limit=100&page=10')).json().objects.length, 100)
  t.equal((await get('/api/message/?limit=100&page=11')).json().objects.length, 0)
})

test('R-28: of creates at once with one unique value exactly one succeeds', async (t) => {
  const { post, rowsOf } = await buildApp(t)
  const user = { username: 'dora', password: 'dora', email: 'dora@example.com' }
  const replies = await Promise.all(Array.from({ length: 20 }, async () =>
    await post('/api/user/', user, { as: 'admin' })))
  t.strictSame(replies.map(({ statusCode }) => statusCode).sort(), [201, ...Array<number>(19).fill(409)])
  t.equal((await rowsOf('user')).length, 5)
})

const contents = fc.array(fc.constantFrom('a', 'b', 'A', ''), { minLength: 1, maxLength: 25 })
const orderings = fc.constantFrom(
  '', 'content', '-content', 'pub_date', '-pub_date,content', 'user,-content', '-id', 'content,id'
)

interface Page { readonly meta: { readonly next: string }, readonly objects: ReadonlyArray<{ readonly id: number }> }

test('R-29: pages of an unchanged set hold each record once, whatever the ties', async (t) => {
  const { db, get } = await buildApp(t)
  await fc.assert(
    fc.asyncProperty(contents, orderings, fc.integer({ min: 1, max: 10 }), async (texts, ordering, limit) => {
      await db.deleteFrom('message').execute()
      await insert(db, {
        message: texts.map((content, index) => ({ id: index + 1, user_id: 1 + index % 2, content, pub_date: pubDate }))
      })
      const ids: number[] = []
      for (let url = `/api/message/?ordering=${ordering}&limit=${limit}`; url !== '';) {
        const { meta, objects } = (await get(url)).json<Page>()
        ids.push(...objects.map(({ id }) => id))
        url = meta.next
      }
      return ids.length === texts.length && new Set(ids).size === texts.length
    }),
    { numRuns: 60 }
  )
  t.pass()
})

test('R-29: records that are added or changed while a client turns pages do not disturb the others', async (t) => {
  const { db, get, post, put } = await buildApp(t)
  await fc.assert(fc.asyncProperty(fc.integer({ min: 1, max: 15 }), fc.integer({ min: 1, max: 4 }), async (
    count, limit
  ) => {
    await db.deleteFrom('message').execute()
    const old = await Promise.all(Array.from({ length: count }, async () =>
      (await post('/api/message/', { content: 'old' }, { as })).json<{ id: number }>().id))
    const ids: number[] = []
    for (let url = `/api/message/?limit=${limit}`, added = 0; url !== ''; added++) {
      const { meta, objects } = (await get(url)).json<Page>()
      ids.push(...objects.map(({ id }) => id))
      if (added < 5) await post('/api/message/', { content: 'new' }, { as })
      await put(`/api/message/${objects[0]?.id}/`, { content: 'changed' }, { as })
      url = meta.next
    }
    return new Set(ids).size === ids.length && old.every((id) => ids.includes(id))
  }), { numRuns: 15 })
  t.pass()
})
