// @once: about SQLite, where a constraint may have a write delete another record

import { join } from 'node:path'
import Fastify from 'fastify'
import { sql } from 'kysely'
import { test, type Test } from 'tap'
import restModels, { defineModel, openAuth, readOnlyAuth, text, type Policy } from '../../lib/index.js'
import type { Tables } from '../../lib/engines/executor.js'
import { openPostgres } from '../../lib/postgres.js'
import { openSqlite } from '../../lib/sqlite.js'
import { readTables } from '../../lib/tables/read-tables.js'
import { findReplacing } from '../../lib/tables/replacing.js'
import { serveDatabase } from '../../lib/tools.js'

const Page = defineModel('Page', { slug: text({ unique: true }) })
const generated = 'id integer primary key autoincrement'
const other = 'create table other (id integer primary key, a text unique on conflict replace)'

/** Starts an app on a table `page` with the given columns; returns the message of the failure, or the app. */
async function start (t: Test, columns: string, auth: Policy = openAuth()) {
  const db = openSqlite<Tables>(':memory:')
  const app = Fastify()
  t.teardown(async () => {
    await app.close()
    await db.destroy()
  })
  for (const statement of [`create table Page (${columns})`, other]) await sql.raw(statement).execute(db)
  await app.register(restModels, { db })
  app.restModels.register(Page, { auth })
  return { app, message: await app.restModels.setup().then(() => '', (failure: Error) => failure.message) }
}

const refusal = 'A create or update would delete another record that has the same values, whoever owns it:\n' +
  "- table 'page' has a constraint 'on conflict replace'\n" +
  'Make each table anew without these words, or close creates and updates in the policy'

test('D-281: SQLite: a table where a write replaces another record fails at start if clients may write', async (t) => {
  for (const columns of [
    `${generated}, slug text not null unique on conflict replace`,
    'id integer primary key on conflict replace autoincrement, slug text not null unique',
    `${generated}, slug text not null, unique (slug) ON /* and now */ Conflict\n--\nREPLACE`
  ]) t.equal((await start(t, columns)).message, refusal, columns)
})

test('D-281: SQLite: a table where a write replaces another record may be read, and its records deleted', async (t) => {
  const columns = `${generated}, slug text not null unique on conflict replace`
  const may = (...open: ReadonlyArray<'create' | 'update' | 'delete'>): Policy => {
    const closed = (['create', 'update', 'delete'] as const).filter((operation) => !open.includes(operation))
    return { ...openAuth(), open: ['list', 'read', ...open], closed }
  }
  t.equal((await start(t, columns, readOnlyAuth())).message, '')
  t.equal((await start(t, columns, may('delete'))).message, '')
  t.equal((await start(t, columns, may('create'))).message, refusal)
  t.equal((await start(t, columns, may('update'))).message, refusal)
})

test('D-281: SQLite: the other clauses of a conflict are a 409, and nothing is changed', async (t) => {
  for (const resolution of ['abort', 'ignore', 'fail', 'rollback']) {
    const { app, message } = await start(t, `${generated}, slug text not null unique on conflict ${resolution}`)
    t.equal(message, '')
    const create = async (slug: string) =>
      (await app.inject({ method: 'POST', url: '/api/page/', payload: { slug } })).statusCode
    const answers = await Promise.all(['a', 'b', 'a', 'c'].map(create))
    t.strictSame([...answers, await create('a')], [201, 201, 409, 201, 409], resolution)
    const update = await app.inject({ method: 'PUT', url: '/api/page/1/', payload: { slug: 'b' } })
    t.equal(update.statusCode, 409)
    t.match((await app.inject('/api/page/')).json(), { objects: [{ slug: 'a' }, { slug: 'b' }, { slug: 'c' }] })
  }
})

test('D-281: SQLite: these words bother nobody after `not null`, in a default, a name or a comment', async (t) => {
  const { message } = await start(t, `${generated}, slug text not null on conflict replace unique,
    "on conflict replace" text default ' on conflict replace', -- on conflict replace
    [b] text /* on conflict replace */`)
  t.equal(message, '')
})

test('D-281: SQLite: serve --write closes creates and updates of such a table, which is said', async (t) => {
  const url = `sqlite:${join(t.testdir(), 'other.db')}`
  const db = openSqlite<Tables>(url.slice('sqlite:'.length))
  for (const statement of [other, "insert into other (a) values ('x')"]) await sql.raw(statement).execute(db)
  await db.destroy()
  const { app, notes } = await serveDatabase(url, { write: true })
  t.teardown(async () => { await app.close() })
  t.strictSame(notes, [{
    table: 'other',
    why: 'takes no create and no update: ' +
      "by its constraint 'on conflict replace' they would delete another record"
  }])
  const payload = { a: 'x' }
  t.equal((await app.inject({ method: 'POST', url: '/api/other/', payload })).statusCode, 401)
  t.equal((await app.inject({ method: 'PUT', url: '/api/other/1/', payload })).statusCode, 401)
  t.equal((await app.inject('/api/other/1/')).statusCode, 200)
  t.equal((await app.inject({ method: 'DELETE', url: '/api/other/1/' })).statusCode, 204)
})

test('D-281: servers, which have no such clause, are not asked for it', async (t) => {
  const sqlite = openSqlite<Tables>(':memory:')
  const server = openPostgres<Tables>('postgres://127.0.0.1:1/none')
  t.teardown(async () => { await Promise.all([sqlite.destroy(), server.destroy()]) })
  const tables = await readTables(sqlite, [Page])
  t.equal((await findReplacing(server, tables, [])).size, 0)
})
