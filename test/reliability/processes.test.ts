// @once: about files of SQLite, and processes that share them
// @alone: starts and ends processes
// @long: several processes write for half a minute

import { join } from 'node:path'
import Database from 'better-sqlite3'
import { test, type Test } from 'tap'
import { recordStatements } from '../support/database.js'
import { buildApp, insert, client, siteModels, siteUsers } from '../support/site.js'
import { createTables } from '../../lib/index.js'
import { openSqlite } from '../../lib/sqlite.js'
import type { Statuses } from './concurrent-opener.js'
import { startWorker, type Worker } from '../support/workers.js'

/** Runs processes on one file at once, step by step, and gives what each of them reports. */
async function runAtOnce (t: Test, path: string, parameters: ReadonlyArray<readonly string[]>): Promise<Statuses[]> {
  const workers = parameters.map((given) =>
    startWorker<Statuses | string>(t, 'reliability/concurrent-opener.ts', path, ...given))
  const all = async (step: (worker: Worker<Statuses | string>) => unknown) => await Promise.all(workers.map(step))
  await all(async ({ next }) => await next())
  await all(({ send }) => { send('open') })
  await all(async ({ next }) => await next())
  await all(({ send }) => { send('write') })
  return await all(async ({ next }) => await next()) as Statuses[]
}

test('R-05: processes that open and write one new file at once lose nothing', { timeout: 60_000 }, async (t) => {
  const path = join(t.testdir(), 'site.db')
  const count = 100
  const reports = await runAtOnce(
    t, path, ['alice', 'bob', 'alice', 'bob'].map((user) => [user, 'create', String(count)])
  )
  for (const { 200: read, 201: created = 0, 503: late = 0 } of reports) {
    t.strictSame([read, created + late], [count, count])
    t.ok(late <= count / 20, `${late} of ${count} were told to come back`)
  }
  const created = reports.reduce((sum, { 201: some = 0 }) => sum + some, 0)
  const database = new Database(path)
  t.strictSame(
    database.prepare('select count(*), count(distinct id), count(distinct content) from message').raw().get(),
    Array(3).fill(created)
  )
  t.equal(database.prepare(
    "select count(*) from sqlite_schema where type = 'table' and name in ('user', 'message', 'note', 'relationship')"
  ).pluck().get(), 4)
  t.equal(database.pragma('integrity_check', { simple: true }), 'ok')
  database.close()
})

test('R-16: updates of the same records in crossing order do not deadlock', { timeout: 60_000 }, async (t) => {
  const path = join(t.testdir(), 'site.db')
  const count = 50
  const tasks = ['forwards', 'backwards'].map((task) => ['admin', task, String(count)])
  const reports = await runAtOnce(t, path, tasks)
  for (const statuses of reports) t.strictSame(statuses, { 200: 2 * count })
})

/** An app on a file whose write lock another process holds. */
async function lockedApp (t: Test, ...milliseconds: string[]) {
  const path = join(t.testdir(), 'site.db')
  const db = openSqlite(path)
  t.teardown(async () => { await db.destroy() })
  await createTables(db, siteModels)
  await insert(db, {
    user: await siteUsers(), message: [{ id: 1, user_id: 2, content: 'first', pub_date: '2024-01-01 00:00:00' }]
  })
  const { app } = await buildApp(t, { models: [], options: { db } })
  const statements = await recordStatements(t, db)
  await client(app).post('/api/message/', { content: 1 }, { as: 'alice' })
  const holder = startWorker<string>(t, 'reliability/holder.ts', path, ...milliseconds)
  t.equal(await holder.next(), 'held')
  statements.length = 0
  return { ...client(app), db, holder, statements }
}

test('R-06: while another process holds the lock, a write is 503 after two seconds, and reads go on', async (t) => {
  const { get, post, put, delete: remove, db, holder } = await lockedApp(t)
  const writes = [
    async () => await post('/api/message/', { content: 'x' }, { as: 'alice' }),
    async () => await put('/api/message/1/', { content: 'x' }, { as: 'alice' }),
    async () => await remove('/api/message/1/', { as: 'alice' })
  ]
  for (const write of writes) {
    const start = performance.now()
    const reply = await write()
    const took = performance.now() - start
    t.match(reply.json(), {
      statusCode: 503, code: 'REST_MODELS_UNAVAILABLE', message: 'The database cannot do this now'
    })
    t.match(reply.headers['retry-after'], /^[1-9]\d*$/)
    t.ok(took > 1500 && took < 4000, `after ${took} ms`)
    t.equal((await get('/api/message/1/')).json().content, 'first')
  }
  holder.send('let go')
  t.equal(await holder.next(), 'released')
  t.strictSame(
    [await writes[0]?.(), await writes[1]?.(), await writes[2]?.()].map((reply) => reply?.statusCode), [201, 200, 204]
  )
  t.match(await db.selectFrom('message').selectAll().execute(), [{ content: 'x' }])
})

test('R-06: a lock that is let go within two seconds is waited for', async (t) => {
  const { post } = await lockedApp(t, '400')
  t.equal((await post('/api/message/', { content: 'x' }, { as: 'alice' })).statusCode, 201)
})

test('R-16: a write that the database refused is not tried again by the service', async (t) => {
  const { post, holder, statements } = await lockedApp(t)
  t.equal((await post('/api/message/', { content: 'x' }, { as: 'alice' })).statusCode, 503)
  t.equal(statements.filter(({ sql }) => sql.startsWith('insert')).length, 1)
  holder.send('let go')
  await holder.next()
  t.equal((await post('/api/message/', { content: 'x' }, { as: 'alice' })).statusCode, 201)
})
