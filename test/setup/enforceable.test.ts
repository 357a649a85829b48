// @once: about SQLite, which permits foreign keys that it cannot enforce

import { join } from 'node:path'
import Database from 'better-sqlite3'
import Fastify from 'fastify'
import { Kysely, sql, SqliteDialect } from 'kysely'
import { test, type Test } from 'tap'
import restModels, {
  defineModel, foreignKey, key, openAuth, readOnlyAuth, text, type Model, type Policy, type ResourceOptions
} from '../../lib/index.js'
import type { Tables } from '../../lib/engines/executor.js'
import { openPostgres } from '../../lib/postgres.js'
import { openSqlite } from '../../lib/sqlite.js'
import { findRefused, requireEnforceable } from '../../lib/tables/enforceable.js'
import { findClosedWrites } from '../../lib/tooling/cli/closed-writes.js'
import { readTables } from '../../lib/tables/read-tables.js'

const Country = defineModel('Country', { code: text() })
const City = defineModel('City', { country: text({ nullable: true }) })

/** Starts an app on tables that the statements make; returns the message of the failure, or the app. */
async function start (
  t: Test, statements: readonly string[], policies: ReadonlyArray<readonly [Model, Policy]>,
  options: Pick<ResourceOptions, 'readOnly' | 'beforeWrite' | 'ownerField'> = {}
) {
  const db = openSqlite<Tables>(':memory:')
  const app = Fastify()
  t.teardown(async () => {
    await app.close()
    await db.destroy()
  })
  for (const statement of statements) await sql.raw(statement).execute(db)
  await app.register(restModels, { db })
  for (const [model, auth] of policies) app.restModels.register(model, { auth, ...options })
  const message = await app.restModels.setup().then(() => '', (failure: Error) => failure.message)
  return { app, message }
}

const city = (reference: string): string =>
  `create table City (id integer primary key autoincrement, country text references ${reference})`
const country = 'create table country (id integer primary key autoincrement, code text not null)'
const both = [[Country, openAuth()], [City, openAuth()]] as const
const mismatch = 'foreign key mismatch - "City" referencing "Country"'

test('D-270: SQLite: a foreign key to a column that is not unique fails at start, not at each write', async (t) => {
  const { message } = await start(t, [country, city('Country (code)')], both)
  const writes = ['country', 'city'].flatMap((table) =>
    ['create', 'update', 'delete'].map((operation) => `- ${operation} in table '${table}': ${mismatch}\n`))
  t.equal(message, `The database would refuse all of these writes:\n${writes.join('')}` +
    'A foreign key needs a table to refer to, with a primary key or unique index of exactly the columns that it ' +
    'refers to, a trigger the tables that it names, and a view a trigger \'instead of\' each operation and column. ' +
    'Add what is missing, or close these operations in the policy; a column can be read-only')
  const partial = "create unique index by_code on country (code) where code > 'a'"
  t.equal((await start(t, [country, partial, city('Country (code)')], both)).message, message)
  const collated = 'create unique index by_code on country (code collate nocase)'
  t.equal((await start(t, [country, collated, city('Country (code)')], both)).message, message)
  const unique = 'create unique index by_code on country (CODE)'
  const { app, message: none } = await start(t, [country, unique, city('Country (code)')], both)
  t.equal(none, '')
  for (const [url, payload] of [['/api/country/', { code: 'x' }], ['/api/city/', { country: 'x' }]] as const) {
    t.equal((await app.inject({ method: 'POST', url, payload })).statusCode, 201)
  }
})

test('D-270: SQLite: a foreign key to a table or a primary key that is missing fails at the start', async (t) => {
  const one = [[City, openAuth()]] as const
  t.match((await start(t, [city('nowhere')], one)).message, "create in table 'city': no such table: main.nowhere")
  const keyless = ['create table land (code text)', city('land')]
  t.match((await start(t, keyless, one)).message, 'foreign key mismatch - "City" referencing "land"')
  t.equal((await start(t, [country, city('country')], one)).message, '')
  const view = ['create view land as select 1 as id', city('land (id)')]
  t.match((await start(t, view, one)).message, 'foreign key mismatch - "City" referencing "land"')
})

test('D-270: SQLite: a foreign key of several columns needs an index of all of them', async (t) => {
  const pair = 'create table City (id integer primary key autoincrement, country text, zip text, ' +
    'foreign key (country, zip) references area (country, code))'
  const area = 'create table area (country text, code text'
  t.match((await start(t, [`${area})`, pair], [[City, openAuth()]])).message, 'referencing "area"')
  t.equal((await start(t, [`${area}, primary key (code, country))`, pair], [[City, openAuth()]])).message, '')
})

test('D-270: SQLite: a delete that leads to such a foreign key by another table fails at the start', async (t) => {
  const street = 'create table street (city integer references City on delete cascade, code text references nowhere)'
  const tables = [country, city('country'), street]
  t.match((await start(t, tables, [[City, openAuth()]])).message, "delete in table 'city': no such table: main.nowhere")
})

test('D-270: SQLite: an update that does not set the columns of such a foreign key may be open', async (t) => {
  const Named = defineModel('City', { country: text({ nullable: true }), name: text() })
  const named = city('nowhere').replace('country text', 'name text not null, country text')
  const auth: Policy = { ...openAuth(), open: ['list', 'read', 'update'], closed: ['create', 'delete'] }
  const rows = "insert into City (name) values ('Rome')"
  const statements = ['pragma foreign_keys = off', named, rows, 'pragma foreign_keys = on']
  const started = await start(t, statements, [[Named, auth]], { readOnly: ['country'] })
  t.equal(started.message, '')
  const reply = await started.app.inject({ method: 'PUT', url: '/api/city/1/', payload: { name: 'Roma' } })
  t.equal(reply.statusCode, 200)
  t.match((await start(t, statements, [[Named, auth]])).message, "update in table 'city': no such table: main.nowhere")
})

test('D-270: SQLite: an update sets what a hook may set, and never the owner', async (t) => {
  const Owned = defineModel('City', { name: text({ nullable: true }), land: foreignKey(() => Country) })
  const owned = 'create table City (id integer primary key, name text, land_id integer not null references nowhere)'
  const only: Policy = { ...openAuth(), open: ['list', 'read', 'update'], closed: ['create', 'delete'] }
  const options = { readOnly: ['land'] }
  t.equal((await start(t, [country, owned], [[Owned, only]], options)).message, '')
  t.match((await start(t, [country, owned], [[Owned, only]], { ...options, beforeWrite: () => {} })).message,
    "update in table 'city': no such table: main.nowhere")
  const guarded: Policy = { ...only, open: ['list', 'read'], permits: () => true, users: Country }
  t.equal((await start(t, [country, owned], [[Owned, guarded]], { ownerField: 'land' })).message, '')
})

test('D-270: SQLite: a foreign key is sound whatever the names of its table and indexes', async (t) => {
  const files = 'create table sqlitefiles (id integer primary key)'
  t.equal((await start(t, [files, city('sqlitefiles')], [[City, openAuth()]])).message, '')
})

test('D-270: SQLite: such a foreign key bothers nobody if clients write neither table', async (t) => {
  const tables = [country, city('Country (code)')]
  t.equal((await start(t, tables, [[Country, readOnlyAuth()], [City, readOnlyAuth()]])).message, '')
  const creates: Policy = { ...openAuth(), open: ['create'], closed: ['update', 'delete'] }
  for (const model of [Country, City]) {
    t.match((await start(t, tables, [[model, creates]])).message, mismatch)
  }
})

/** A view of the countries, and triggers through which its records are written. */
const lands = [country, 'create view land as select id, code from country']
const triggers = {
  create: 'create trigger c instead of insert on land begin insert into country (code) values (new.code); end',
  update: 'create trigger u instead of update on land begin update country set code = new.code where id = old.id; end',
  delete: 'create trigger d instead of delete on land begin delete from country where id = old.id; end'
}
const Land = defineModel('Land', { id: key({ generated: false }), code: text() })
const viewLine = (operation: string) => `- ${operation} in table 'land': cannot modify land because it is a view\n`

test('D-270: SQLite: a write to a view without a trigger for it fails at start, not at each write', async (t) => {
  const open = [[Land, openAuth()]] as const
  const { message } = await start(t, lands, open)
  t.match(message, `writes:\n${['create', 'update', 'delete'].map(viewLine).join('')}A foreign key`)
  const { message: rest } = await start(t, [...lands, triggers.create], open)
  t.match(rest, `writes:\n${['update', 'delete'].map(viewLine).join('')}A foreign key`)
  const creates: Policy = { ...openAuth(), open: ['list', 'read', 'create'], closed: ['update', 'delete'] }
  t.equal((await start(t, [...lands, triggers.create], [[Land, creates]])).message, '')
  t.equal((await start(t, lands, [[Land, readOnlyAuth()]])).message, '')
  const wrong = triggers.delete.replace('from country', 'from nowhere')
  t.match((await start(t, [...lands, triggers.create, triggers.update, wrong], open)).message,
    "writes:\n- delete in table 'land': no such table: main.nowhere\nA foreign key")
})

test('D-270: SQLite: a view whose trigger leaves out a column that clients may update fails at start', async (t) => {
  const Named = defineModel('Land', { code: text(), name: text(), size: text({ nullable: true }) })
  const tables = [
    'create table country (id integer primary key, code text not null, name text not null, size text)',
    'create view land as select * from country',
    'create trigger u instead of update of name on land begin update country set name = new.name where id = old.id; end'
  ]
  const updates: Policy = { ...openAuth(), open: ['list', 'read', 'update'], closed: ['create', 'delete'] }
  const { message } = await start(t, tables, [[Named, updates]])
  const line = (column: string) => `${viewLine('update').trimEnd()} (column '${column}')\n`
  t.match(message, `writes:\n${line('code')}${line('size')}A foreign key`)
  const options = { readOnly: ['code', 'size'] }
  t.equal((await start(t, tables, [[Named, updates]], options)).message, '')
})

test('D-270: SQLite: a view does not tell a key that the database generates, so nobody may create', async (t) => {
  const Generated = defineModel('Land', { code: text() })
  const all = [...lands, ...Object.values(triggers)]
  t.match((await start(t, all, [[Generated, openAuth()]])).message, `writes:
- create in table 'land': SQLite does not tell which key a view has generated, so clients must give it, as with \
key({ generated: false })
A foreign key`)
  const others: Policy = { ...openAuth(), open: ['list', 'read', 'update', 'delete'], closed: ['create'] }
  t.equal((await start(t, all, [[Generated, others]])).message, '')
})

test('D-270: SQLite: a view with triggers is written as a table is', async (t) => {
  const Keyed = defineModel('Land', { id: key({ generated: false }), code: text() })
  const create = triggers.create.replace('(code) values (', '(id, code) values (new.id, ')
  const { app, message } = await start(t, [...lands, create, triggers.update, triggers.delete], [[Keyed, openAuth()]])
  t.equal(message, '')
  const write = async (method: 'POST' | 'PUT' | 'DELETE', url: string, payload?: object) =>
    (await app.inject({ method, url: `/api/land/${url}`, ...payload && { payload } })).statusCode
  t.equal(await write('POST', '', { id: 1, code: 'a' }), 201)
  t.equal(await write('PUT', '1/', { code: 'b' }), 200)
  t.match((await app.inject('/api/land/1/')).json(), { id: 1, code: 'b' })
  t.equal(await write('DELETE', '1/'), 204)
})

test('D-270: SQLite: serve --write would close what a view does not take', async (t) => {
  const db = openSqlite<Tables>(':memory:')
  t.teardown(async () => { await db.destroy() })
  for (const statement of [...lands, triggers.update]) await sql.raw(statement).execute(db)
  const { served, notes } = await findClosedWrites(db, [Country, Land])
  t.strictSame(served, [{ model: Country, closed: [] }, { model: Land, closed: ['create', 'delete'] }])
  t.strictSame(notes, ['create', 'delete'].map((operation) =>
    ({ table: 'land', why: `takes no ${operation}: cannot modify land because it is a view` })))
})

test('D-270: SQLite: a database that is locked is not said to refuse anything', async (t) => {
  const path = join(t.testdir(), 'site.db')
  const other = new Database(path)
  const db = new Kysely<Tables>({ dialect: new SqliteDialect({ database: new Database(path, { timeout: 0 }) }) })
  t.teardown(async () => {
    await db.destroy()
    other.close()
  })
  other.exec(country)
  const tables = await readTables(db, [Country])
  const anew = new Kysely<Tables>({ dialect: new SqliteDialect({ database: new Database(path, { timeout: 0 }) }) })
  t.teardown(async () => { await anew.destroy() })
  other.exec('begin exclusive')
  await t.rejects(findRefused(anew, tables, [{ model: Country, operations: ['create'], kept: [] }]), {
    code: 'SQLITE_BUSY'
  })
})

test('D-270: servers, which refuse to make such a foreign key, are asked for none', async (t) => {
  const db = openSqlite<Tables>(':memory:')
  const server = openPostgres<Tables>('postgres://localhost:1/nothing')
  t.teardown(async () => { await Promise.all([db.destroy(), server.destroy()]) })
  const writes = [{ model: City, operations: ['create'], kept: [] }] as const
  await t.resolves(requireEnforceable(server, await readTables(db, [City]), writes))
})
