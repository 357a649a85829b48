// @once: about files of SQLite, and processes that share them
// @alone: starts and ends processes
// @long: starts, stops and breaks processes

import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, renameSync, rmdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { sql } from 'kysely'
import { test, type Test } from 'tap'
import { createTables } from '../../lib/index.js'
import { openSqlite, type SqliteOptions } from '../../lib/sqlite.js'
import { buildApp, client, insert, siteModels, siteUsers } from '../support/site.js'

const as = 'alice'
const pubDate = '2024-01-01 00:00:00'
const unavailable = { statusCode: 503, code: 'REST_MODELS_UNAVAILABLE', message: 'The database cannot do this now' }

async function serveFile (t: Test, path: string, options?: SqliteOptions) {
  const db = openSqlite(path, options)
  t.teardown(async () => { await db.destroy() })
  if (options?.readonly !== true) await createTables(db, siteModels)
  if (await db.selectFrom('user').select('id').executeTakeFirst() === undefined) {
    await insert(db, { user: await siteUsers(), message: [{ id: 1, user_id: 2, content: 'first', pub_date: pubDate }] })
  }
  const { app } = await buildApp(t, { models: [], options: { db } })
  await app.inject('/api/message/')
  return { ...client(app), db }
}

type Served = Awaited<ReturnType<typeof serveFile>>

/** Every write is put off, and what was there can be read. */
async function requireReads (t: Test, { get, post, put, delete: remove }: Served): Promise<void> {
  const content = 'x'.repeat(50_000)
  for (const reply of [
    await post('/api/message/', { content }, { as }), await put('/api/message/1/', { content }, { as })
  ]) {
    t.match(reply.json(), unavailable)
    t.match(reply.headers['retry-after'], /^[1-9]\d*$/)
  }
  t.equal((await get('/api/message/1/')).json().content, 'first')
  t.equal((await get('/api/message/?user__username=alice&ordering=-content')).statusCode, 200)
  t.equal((await remove('/api/message/1/', { as: 'bob' })).statusCode, 403, 'who owns it is still known')
}

async function requireWrites (t: Test, { get, post, put, delete: remove }: Served): Promise<void> {
  const created = await post('/api/message/', { content: 'after' }, { as })
  t.equal(created.statusCode, 201)
  const path = String(created.headers.location)
  t.equal((await put(path, { content: 'changed' }, { as })).statusCode, 200)
  t.equal((await get(path)).json().content, 'changed')
  t.equal((await remove(path, { as })).statusCode, 204)
}

/** Creates messages until one is put off: the ids of the others. */
async function fill ({ post }: Served): Promise<number[]> {
  const ids: number[] = []
  for (;;) {
    const reply = await post('/api/message/', { content: 'y'.repeat(10_000) }, { as })
    if (reply.statusCode !== 201) return ids
    ids.push(reply.json<{ id: number }>().id)
  }
}

async function requireSound (t: Test, { db, get }: Served, ids: readonly number[]): Promise<void> {
  t.same((await sql<{ integrity_check: string }>`pragma integrity_check`.execute(db)).rows, [{ integrity_check: 'ok' }])
  t.ok(ids.length > 3)
  for (const id of ids) t.equal((await get(`/api/message/${id}/`)).json().content.length, 10_000)
}

/** A file system of its own; undefined, for all to see, where none can be mounted. */
function mountFolder (t: Test, size: string): string | undefined {
  const folder = mkdtempSync(join(tmpdir(), 'site-'))
  t.teardown(() => { rmdirSync(folder) })
  const { status, stderr, error } =
    spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', folder], { encoding: 'utf8' })
  if (status !== 0) {
    t.pass('a file system can be mounted', { skip: error?.message ?? stderr })
    return undefined
  }
  t.teardown(() => { spawnSync('umount', ['--lazy', folder]) })
  return folder
}

test('R-07: during a long read the log grows; after it, it shrinks by itself', { timeout: 60_000 }, async (t) => {
  const path = join(t.testdir(), 'site.db')
  const { post, put } = await serveFile(t, path, { durability: 'normal' })
  const { id } = (await post('/api/message/', { content: 'start' }, { as })).json<{ id: number }>()
  const reader = new Database(path, { readonly: true })
  reader.exec('begin; select count(*) from message')
  const walBytes = (): number => statSync(`${path}-wal`).size
  let changes = 0
  const change = async (): Promise<void> => {
    t.equal(
      (await put(`/api/message/${id}/`, { content: String(changes++ % 10).repeat(60_000) }, { as })).statusCode, 200
    )
  }
  const most = 64 * 2 ** 20
  while (walBytes() < 1.2 * most) await change()
  reader.close()
  for (let count = 0; count < 3; count++) await change()
  t.ok(walBytes() <= most, `${walBytes()} bytes`)
})

test('R-08: while the database may not grow, writes are put off and reads go on; then all is as before', async (t) => {
  const served = await serveFile(t, join(t.testdir(), 'site.db'))
  const { rows: [{ page_count: pages = 0 } = {}] } =
    await sql<{ page_count: number }>`pragma page_count`.execute(served.db)
  await sql`pragma max_page_count = ${sql.raw(String(pages + 20))}`.execute(served.db)
  const ids = await fill(served)
  await requireReads(t, served)
  await requireSound(t, served, ids)
  await sql`pragma max_page_count = 1000000`.execute(served.db)
  await requireWrites(t, served)
})

test('R-08: while the disk is full, writes are put off and reads go on; then all is as before', async (t) => {
  const folder = mountFolder(t, '2m')
  if (folder === undefined) return
  const served = await serveFile(t, join(folder, 'site.db'))
  writeFileSync(join(folder, 'something else'), 'x'.repeat(500_000))
  const ids = await fill(served)
  await requireReads(t, served)
  await requireSound(t, served, ids)
  rmSync(join(folder, 'something else'))
  await requireWrites(t, served)
  await requireSound(t, served, ids)
})

test('R-09: on a read-only file system the service does not start and says why; a read-only file works', async (t) => {
  const folder = mountFolder(t, '2m')
  if (folder === undefined) return
  const path = join(folder, 'site.db')
  const made = openSqlite(path)
  await createTables(made, siteModels)
  await insert(made, { user: await siteUsers(), message: [{ id: 1, user_id: 2, content: 'first', pub_date: pubDate }] })
  await sql`pragma wal_checkpoint(truncate)`.execute(made)
  await made.destroy()
  const plain = new Database(path)
  plain.pragma('journal_mode = delete')
  plain.close()
  t.equal(spawnSync('mount', ['-o', 'remount,ro', folder]).status, 0)
  t.throws(() => openSqlite(path), {
    code: 'REST_MODELS_UNSUPPORTED_DATABASE', message: `openSqlite() cannot open '${path}': `
  })
  await requireReads(t, await serveFile(t, path, { readonly: true }))
})

test('R-09: a database that becomes read-only puts writes off, and reads go on', async (t) => {
  const served = await serveFile(t, join(t.testdir(), 'site.db'))
  await sql`pragma query_only = on`.execute(served.db)
  await requireReads(t, served)
  await sql`pragma query_only = off`.execute(served.db)
  await requireWrites(t, served)
})

test('R-09: writes to a file that was moved away are put off, and reads go on, until it is back', async (t) => {
  const path = join(t.testdir(), 'site.db')
  const served = await serveFile(t, path)
  renameSync(path, `${path}.old`)
  await sleep(10)
  await requireReads(t, served)
  new Database(path).close()
  await requireReads(t, served)
  rmSync(path)
  renameSync(`${path}.old`, path)
  await requireWrites(t, served)
})

test('R-09: writes to a file that was deleted are put off, and reads go on', async (t) => {
  const path = join(t.testdir(), 'site.db')
  const served = await serveFile(t, path)
  rmSync(path)
  await sleep(10)
  await requireReads(t, served)
})

/** A database of some pages, of which all but the first ones are overwritten. */
async function damagedFile (t: Test, from: number): Promise<string> {
  const path = join(t.testdir(), 'site.db')
  const db = openSqlite(path)
  await createTables(db, siteModels)
  await insert(db, { user: await siteUsers() })
  await db.insertInto('message').values(Array.from(
    { length: 500 },
    (_, index) => ({ id: index + 1, user_id: 2, content: `content ${index}`.repeat(50), pub_date: pubDate })
  )).execute()
  await db.destroy()
  const bytes = readFileSync(path)
  writeFileSync(path, bytes.fill(0xa5, from, bytes.length))
  return path
}

test('R-10: a file whose schema cannot be read is refused with a clear message, and stays as it is', async (t) => {
  const path = await damagedFile(t, 200)
  const before = readFileSync(path)
  t.throws(() => openSqlite(path), {
    code: 'REST_MODELS_UNSUPPORTED_DATABASE', message: new RegExp(`cannot open '${path}': .*malformed`)
  })
  t.same(readFileSync(path), before)
})

test('R-10: a check at the start finds damage further on; without it, what needs the damage is 503', async (t) => {
  const path = await damagedFile(t, 16 * 4096)
  const before = readFileSync(path)
  t.throws(() => openSqlite(path, { check: true }), {
    code: 'REST_MODELS_UNSUPPORTED_DATABASE', message: new RegExp(`cannot open '${path}': it is damaged: `)
  })
  t.same(readFileSync(path), before)
  const { get, put } = await serveFile(t, path)
  t.match((await get('/api/message/?ordering=-content')).json(), unavailable)
  t.match((await put('/api/message/499/', { content: 'x' }, { as })).json(), unavailable)
  t.equal((await get('/api/message/1/')).statusCode, 200)
  t.equal((await get('/api/user/2/')).statusCode, 200)
})

// The kernel sends it to whoever writes beyond the limit, beside the failure.
process.on('SIGXFSZ', () => {})

/** From here on, the kernel refuses this process to write to files beyond a size. */
function limitFiles (limit: string): void {
  const { status, stderr } =
    spawnSync('prlimit', ['--pid', String(process.pid), `--fsize=${limit}:unlimited`], { encoding: 'utf8' })
  if (status !== 0) throw new Error(stderr)
}

test('R-11: while the system refuses to write, writes are put off and reads go on, until it does not', async (t) => {
  const served = await serveFile(t, join(t.testdir(), 'site.db'))
  t.teardown(() => { limitFiles('unlimited') })
  limitFiles('1')
  await requireReads(t, served)
  limitFiles('unlimited')
  await requireWrites(t, served)
  t.same((await sql<{ integrity_check: string }>`pragma integrity_check`.execute(served.db)).rows, [
    { integrity_check: 'ok' }
  ])
})

test('R-27: a copy that is made while clients write is a whole database; the main file alone is not', async (t) => {
  const folder = t.testdir()
  const path = join(folder, 'site.db')
  const served = await serveFile(t, path)
  const source = new Database(path, { readonly: true })
  const done = new AbortController()
  const writing = (async () => {
    while (!done.signal.aborted) await served.post('/api/message/', { content: 'w'.repeat(1000) }, { as })
  })()
  for (let count = 0; count < 50; count++) await served.post('/api/message/', { content: `before ${count}` }, { as })
  await source.backup(join(folder, 'copy.db'))
  writeFileSync(join(folder, 'part.db'), readFileSync(path))
  done.abort()
  await writing
  source.close()
  const copy = openSqlite(join(folder, 'copy.db'), { check: true })
  t.teardown(async () => { await copy.destroy() })
  const { get } = await serveFile(t, join(folder, 'copy.db'))
  t.equal((await get('/api/message/?content__like=before%25&limit=100')).json().objects.length, 50)
  const part = new Database(join(folder, 'part.db'), { readonly: true })
  t.notOk(
    part.prepare("select 1 from sqlite_schema where name = 'message'").get(), 'what was written is still in the log'
  )
  part.close()
})
