// @once: about files of SQLite, and processes that share them
// @alone: starts and ends processes
// @covers: locks of other processes
// @long: waits for locks until they are given up

import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import Database from 'better-sqlite3'
import Fastify from 'fastify'
import { Kysely, SqliteDialect } from 'kysely'
import { test, type Test } from 'tap'
import restModels, { createTables, defineModel, openAuth, text, userAuth } from '../../lib/index.js'
import type { Tables } from '../../lib/engines/executor.js'
import { openSqlite } from '../../lib/sqlite.js'
import { insert, client, registerSite, siteModels, siteUsers, User } from '../support/site.js'
import { startWorker } from '../support/workers.js'

const now = '2024-01-01 00:00:00'
const first = { id: 1, user_id: 2, content: 'first', pub_date: now }
const unavailable = { statusCode: 503, code: 'REST_MODELS_UNAVAILABLE' }

const Hooked = defineModel('Hooked', { text: text() })

/** The example project, with a resource that has hooks, and a route of the host's own. */
async function openApp (t: Test, path: string, db: Kysely<Tables> = openSqlite(path)) {
  await createTables(db, [...siteModels, Hooked])
  await insert(db, { user: await siteUsers(), message: [first, { ...first, id: 2 }, { ...first, id: 3 }] })
  const app = Fastify()
  app.get('/health', async () => 'well')
  app.addHook('onClose', async () => { await db.destroy() })
  t.teardown(async () => { await app.close() })
  await app.register(restModels, { db })
  registerSite(app.restModels)
  app.restModels.register(Hooked, { auth: openAuth(), afterWrite: async () => {} })
  app.restModels.register(Hooked, { path: 'guarded', auth: userAuth(User, { protect: 'all' }) })
  await app.restModels.setup()
  return { ...client(app), db }
}

/**
 * Reads of clients, and a health route, for as long as something is under way: how long each took, and how long the
 * event loop stood still.
 */
async function readMeanwhile ({ get }: Pick<ReturnType<typeof client>, 'get'>, work: Promise<unknown>) {
  const delay = monitorEventLoopDelay({ resolution: 10 })
  delay.enable()
  const under = { way: true }
  const done = work.finally(() => { under.way = false })
  const [statuses, times]: [Set<number>, number[]] = [new Set(), []]
  while (under.way) {
    const start = performance.now()
    for (const url of ['/health', '/api/message/?limit=2', '/api/message/1/']) statuses.add((await get(url)).statusCode)
    times.push(performance.now() - start)
    await sleep(10)
  }
  await done
  delay.disable()
  return { statuses: [...statuses], rounds: times.length, slowest: Math.max(...times), longest: delay.max / 1e6 }
}

/** Another process holds the lock for some milliseconds, or until it is told to release it. */
async function lock (t: Test, path: string, ...milliseconds: [number?]) {
  const { next, send } = startWorker<string>(t, 'reliability/holder.ts', path, ...milliseconds.map(String))
  t.equal(await next(), 'held')
  return {
    released: next,
    release: async () => {
      send('release')
      return await next()
    }
  }
}

const writesOf = ({ post, put, delete: remove }: Awaited<ReturnType<typeof openApp>>) => [
  ...Array.from({ length: 10 }, async (_, index) =>
    (await post('/api/message/', { content: `new ${index}` }, { as: 'alice' })).json()),
  put('/api/message/2/', { content: 'changed' }, { as: 'alice' }).then((reply) => reply.json()),
  remove('/api/message/3/', { as: 'alice' }).then((reply) => reply.body === '' ? {} : reply.json())
]

const ownWritesOf = ({ db }: Awaited<ReturnType<typeof openApp>>) => [
  db.insertInto('note').values({ message: 'of the deployer', created: now }).execute(),
  db.transaction().execute(async (transaction) => {
    await transaction.insertInto('note').values({ message: 'of a transaction', created: now }).execute()
  })
]

test('R-40: while another process locks a file, others are answered, and waiting writes are done later', async (t) => {
  const path = join(t.testdir(), 'site.db')
  const app = await openApp(t, path)
  const { released } = await lock(t, path, 1000)
  const writes = Promise.all([...writesOf(app), ...ownWritesOf(app)])
  const { statuses, rounds, slowest, longest } = await readMeanwhile(app, writes)
  t.equal(await released(), 'released')
  t.same(statuses, [200])
  t.ok(rounds > 5, `${rounds} rounds of reads`)
  t.ok(longest < 1000, `the event loop stood still for ${longest} ms`)
  t.ok(slowest < 1000, `the slowest round of reads took ${slowest} ms`)
  t.same((await writes).slice(0, 12).filter((reply) => 'code' in (reply as object)), [])
  t.same(
    (await app.db.selectFrom('message').select('content').orderBy('content').execute()).map(({ content }) => content),
    ['changed', 'first', ...Array.from({ length: 10 }, (_, index) => `new ${index}`)]
  )
  t.same(await app.db.selectFrom('note').select('message').execute(), [
    { message: 'of the deployer' }, { message: 'of a transaction' }
  ])
})

test('R-40: a write that waits two seconds for the lock is 503 and never done; all others are answered', async (t) => {
  const path = join(t.testdir(), 'site.db')
  const app = await openApp(t, path)
  const before = await app.db.selectFrom('message').selectAll().execute()
  const { release } = await lock(t, path)
  const start = performance.now()
  const writes = Promise.all(writesOf(app)).finally(() => {
    t.ok(performance.now() - start > 1900 && performance.now() - start < 4500, `after ${performance.now() - start} ms`)
  })
  const { statuses, rounds, longest } = await readMeanwhile(app, writes)
  t.same(statuses, [200])
  t.ok(rounds > 10, `${rounds} rounds of reads`)
  t.ok(longest < 1000, `the event loop stood still for ${longest} ms`)
  t.match(await writes, Array(12).fill(unavailable))
  t.equal(await release(), 'released')
  await sleep(100)
  t.same(await app.db.selectFrom('message').selectAll().execute(), before)
  t.equal((await app.post('/api/message/', { content: 'after' }, { as: 'alice' })).statusCode, 201)
})

test('R-40: a write in a transaction waits two seconds for the lock, too, and not once more', async (t) => {
  const app = await openApp(t, join(t.testdir(), 'site.db'))
  const { release } = await lock(t, join(t.testdirName, 'site.db'))
  const start = performance.now()
  const reply = await app.post('/api/hooked/', { text: 'one' })
  const took = performance.now() - start
  t.ok(took > 1900 && took < 3900, `after ${took} ms`)
  t.match(reply.json(), unavailable)
  t.equal(await release(), 'released')
})

test('R-40: while a write in a transaction waits for the lock, users log in and read', async (t) => {
  const path = join(t.testdir(), 'site.db')
  const app = await openApp(t, path)
  t.equal((await app.get('/api/guarded/', { as: 'alice' })).statusCode, 200)
  const { release } = await lock(t, path)
  const writes = Promise.all([1, 2, 3].map(async (number) => await app.post('/api/hooked/', { text: `${number}` })))
  const { statuses, slowest } = await readMeanwhile({
    get: async () => await app.get('/api/guarded/', { as: 'alice' })
  }, writes)
  t.same(statuses, [200])
  t.ok(slowest < 1000, `the slowest round of reads took ${slowest} ms`)
  t.match((await writes).map((reply) => reply.json()), Array(3).fill(unavailable))
  t.equal(await release(), 'released')
})

test('R-40: a statement and a transaction of the deployer wait two seconds for the lock, no longer', async (t) => {
  const path = join(t.testdir(), 'site.db')
  const app = await openApp(t, path)
  const { release } = await lock(t, path)
  const start = performance.now()
  const own = app.db.insertInto('note').values({ message: 'of the deployer', created: now }).execute()
  const { longest } = await readMeanwhile(app, own.catch(() => {}))
  await t.rejects(own, { code: 'SQLITE_BUSY' })
  t.ok(performance.now() - start > 1900 && performance.now() - start < 4500, `after ${performance.now() - start} ms`)
  t.ok(longest < 1000, `the event loop stood still for ${longest} ms`)
  const begun = performance.now()
  const transaction = app.db.transaction().execute(async (transaction) => {
    await transaction.insertInto('note').values({ message: 'of a transaction', created: now }).execute()
  })
  await t.rejects(transaction, { code: 'SQLITE_BUSY' })
  t.ok(performance.now() - begun > 1900 && performance.now() - begun < 4500)
  t.equal(await release(), 'released')
  t.same(await app.db.selectFrom('note').selectAll().execute(), [])
})

test('R-40: a transaction whose snapshot another process made out of date fails at once', async (t) => {
  const path = join(t.testdir(), 'site.db')
  const { db } = await openApp(t, path)
  const other = new Database(path)
  t.teardown(() => { other.close() })
  let begun = 0
  await t.rejects(db.transaction().execute(async (transaction) => {
    await transaction.selectFrom('note').selectAll().execute()
    other.exec("insert into note (message, created) values ('of another process', '2024-01-01 00:00:00')")
    begun = performance.now()
    await transaction.insertInto('note').values({ message: 'x', created: now }).execute()
  }), { code: 'SQLITE_BUSY_SNAPSHOT' })
  t.ok(performance.now() - begun < 1000)
})

test('R-40: rows may be streamed past what waits for a lock', async (t) => {
  const { db, get } = await openApp(t, join(t.testdir(), 'site.db'))
  const contents: unknown[] = []
  const logins: Array<Promise<number>> = []
  const logIn = async (): Promise<number> => (await get('/api/guarded/', { as: 'alice' })).statusCode
  for await (const { id } of db.selectFrom('message').select('id').stream()) {
    contents.push(id)
    logins.push(logIn())
    await sleep(5)
  }
  t.same(contents, [1, 2, 3])
  t.same(await Promise.all(logins), [200, 200, 200], 'logins wait for the end of the stream')
})

/** A transaction of the deployer that hangs until it is told to go on. */
async function hang (db: Kysely<Tables>) {
  let end = (): void => {}
  const ended = new Promise<void>((resolve) => { end = resolve })
  const transaction = await db.startTransaction().execute()
  await transaction.insertInto('note').values({ message: 'of the deployer', created: now }).execute()
  const committed = ended.then(async () => { await transaction.commit().execute() })
  return async () => { end(); await committed }
}

const places: Readonly<Record<string, (t: Test) => Kysely<Tables>>> = {
  'a file': (t) => openSqlite(join(t.testdir(), 'site.db')),
  memory: () => openSqlite(':memory:'),
  'a Kysely instance of the deployer': () => {
    const database = new Database(':memory:')
    database.pragma('foreign_keys = on')
    return new Kysely({ dialect: new SqliteDialect({ database }) })
  }
}

for (const [place, open] of Object.entries(places)) {
  test(`R-41: in ${place}, a hanging transaction makes logins and writes 503 after two seconds`, async (t) => {
    const { get, post, put, delete: remove, db } = await openApp(t, '', open(t))
    const end = await hang(db)
    const start = performance.now()
    const replies = await Promise.all([
      ...Array.from({ length: 20 }, async (_, index) =>
        await post('/api/message/', { content: `refused ${index}` }, { as: 'alice' })),
      put('/api/message/1/', { content: 'refused' }, { as: 'alice' }),
      remove('/api/message/2/', { as: 'alice' }),
      put('/api/user/3/', { active: false }, { as: 'admin' })
    ])
    const took = performance.now() - start
    for (const reply of replies) {
      t.match(reply.json(), unavailable)
      t.equal(reply.headers['retry-after'], '1')
    }
    t.ok(took > 1900 && took < 4500, `after ${took} ms`)
    const later = post('/api/message/', { content: 'in time' }, { as: 'alice' })
    await sleep(50)
    await end()
    t.equal((await later).statusCode, 201, 'who waits still has the connection when it is free')
    await sleep(50)
    t.same((await db.selectFrom('message').select('content').orderBy('id').execute()).map(({ content }) => content), [
      'first', 'first', 'first', 'in time'
    ])
    t.same(await db.selectFrom('note').select('message').execute(), [{ message: 'of the deployer' }])
    t.equal((await get('/api/message/')).statusCode, 200)
  })
}
