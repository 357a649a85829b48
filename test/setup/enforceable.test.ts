// @once: about SQLite, which permits foreign keys that it cannot enforce

import Fastify from 'fastify'
import { sql } from 'kysely'
import { test, type Test } from 'tap'
import restModels, {
  defineModel, openAuth, readOnlyAuth, text, type Model, type Policy
} from '../../lib/index.js'
import type { Tables } from '../../lib/engines/executor.js'
import { openPostgres } from '../../lib/postgres.js'
import { openSqlite } from '../../lib/sqlite.js'
import { requireEnforceable } from '../../lib/tables/enforceable.js'
import { readTables } from '../../lib/tables/read-tables.js'

const Country = defineModel('Country', { code: text() })
const City = defineModel('City', { country: text({ nullable: true }) })

/** Starts an app on tables that the statements make; returns the message of the failure, or the app. */
async function start (t: Test, statements: readonly string[], policies: ReadonlyArray<readonly [Model, Policy]>) {
  const db = openSqlite<Tables>(':memory:')
  const app = Fastify()
  t.teardown(async () => {
    await app.close()
    await db.destroy()
  })
  for (const statement of statements) await sql.raw(statement).execute(db)
  await app.register(restModels, { db })
  for (const [model, auth] of policies) app.restModels.register(model, { auth })
  const message = await app.restModels.setup().then(() => '', (failure: Error) => failure.message)
  return { app, message }
}

const city = (reference: string): string =>
  `create table City (id integer primary key autoincrement, country text references ${reference})`
const country = 'create table country (id integer primary key autoincrement, code text not null)'
const both = [[Country, openAuth()], [City, openAuth()]] as const
const unenforced = (why: string): string =>
  'The database would refuse writes, because it cannot enforce a foreign key:\n' +
  `- the foreign key of table 'City' (country) refers to table ${why}`

test('D-270: SQLite: a foreign key to a column that is not unique fails at start, not at each write', async (t) => {
  const { message } = await start(t, [country, city('Country (code)')], both)
  t.equal(message, unenforced(
    "'Country' (code), which has neither a primary key nor a unique index of exactly that: " +
    'add one by a statement of your own'))
  const partial = "create unique index by_code on country (code) where code > 'a'"
  t.equal((await start(t, [country, partial, city('Country (code)')], both)).message, message)
  const unique = 'create unique index by_code on country (CODE)'
  const { app, message: none } = await start(t, [country, unique, city('Country (code)')], both)
  t.equal(none, '')
  for (const [url, payload] of [['/api/country/', { code: 'x' }], ['/api/city/', { country: 'x' }]] as const) {
    t.equal((await app.inject({ method: 'POST', url, payload })).statusCode, 201)
  }
})

test('D-270: SQLite: a foreign key to a table or a primary key that is missing fails at the start', async (t) => {
  const one = [[City, openAuth()]] as const
  t.equal((await start(t, [city('nowhere')], one)).message, unenforced(
    "'nowhere', which does not exist: create it, or make table 'City' anew without the foreign key"))
  const keyless = ['create table land (code text)', city('land')]
  t.match((await start(t, keyless, one)).message, unenforced("'land' (its primary key), which has neither"))
  t.equal((await start(t, [country, city('country')], one)).message, '')
  const view = ['create view land as select 1 as id', city('land (id)')]
  t.match((await start(t, view, one)).message, unenforced("'land' (id), which has neither"))
})

test('D-270: SQLite: a foreign key of several columns needs an index of all of them', async (t) => {
  const pair = 'create table City (id integer primary key autoincrement, country text, zip text, ' +
    'foreign key (country, zip) references area (country, code))'
  const area = 'create table area (country text, code text'
  t.match((await start(t, [`${area})`, pair], [[City, openAuth()]])).message,
    "(country, zip) refers to table 'area' (country, code), which has neither")
  t.equal((await start(t, [`${area}, primary key (code, country))`, pair], [[City, openAuth()]])).message, '')
})

test('D-270: SQLite: such a foreign key bothers nobody if clients write neither table', async (t) => {
  const tables = [country, city('Country (code)')]
  t.equal((await start(t, tables, [[Country, readOnlyAuth()], [City, readOnlyAuth()]])).message, '')
  const creates: Policy = { ...openAuth(), open: ['create'], closed: ['update', 'delete'] }
  for (const model of [Country, City]) {
    t.match((await start(t, tables, [[model, creates]])).message, "of table 'City' (country)")
  }
})

test('D-270: servers, which refuse to make such a foreign key, are asked for none', async (t) => {
  const db = openSqlite<Tables>(':memory:')
  const server = openPostgres<Tables>('postgres://localhost:1/nothing')
  t.teardown(async () => { await Promise.all([db.destroy(), server.destroy()]) })
  await t.resolves(requireEnforceable(server, await readTables(db), [City]))
})
