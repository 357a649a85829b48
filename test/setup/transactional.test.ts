// @once: opens MariaDB itself, so that coverage counts what only it does

import Fastify from 'fastify'
import {
  DummyDriver, Kysely, MysqlAdapter, MysqlIntrospector, MysqlQueryCompiler, sql, type DatabaseConnection
} from 'kysely'
import { test } from 'tap'
import restModels, { defineModel, openAuth, readOnlyAuth, text, type Policy } from '../../lib/index.js'
import type { Tables } from '../../lib/engines/executor.js'
import { openMariadb } from '../../lib/mariadb.js'
import { openSqlite } from '../../lib/sqlite.js'
import { readTables } from '../../lib/tables/read-tables.js'
import { findUntransactional, requireTransactional } from '../../lib/tables/transactional.js'
import { serveDatabase } from '../../lib/tools.js'
import { requireDatabase } from '../support/engines/lacks.js'

const Entry = defineModel('Entry', { title: text({ maxLength: 40 }) })
const Other = defineModel('Other', { title: text({ maxLength: 40 }) })
const table = (name: string, engine: string) =>
  `create table ${name} (id bigint auto_increment primary key, title varchar(40) not null) engine = ${engine}`
const updates: Policy = { ...openAuth(), open: ['list', 'read', 'update'], closed: ['create', 'delete'] }
const remedies = (engine: string) => 'The database would keep writes that the API refuses, and If-Match would ' +
  `protect nothing:\n- table 'entry' is kept by the storage engine ${engine}, which has no transactions: ` +
  "run 'alter table … engine = InnoDB'\n" +
  'Convert each table, or close the writes to it in the policy'

test('D-276: MariaDB: a table without transactions fails at the start if clients may write to it', async (t) => {
  const url = await requireDatabase(t, 'mariadb')
  if (url === undefined) return
  const db = openMariadb<Tables>(url)
  t.teardown(async () => { await db.destroy() })
  const start = async (auth: Policy): Promise<string> => {
    const app = Fastify()
    t.teardown(async () => { await app.close() })
    await app.register(restModels, { db })
    app.restModels.register(Entry, { auth }).register(Other, { auth: openAuth() })
    return await app.restModels.setup().then(() => '', (failure: Error) => failure.message)
  }
  await sql.raw(table('other', 'InnoDB')).execute(db)
  for (const engine of ['MyISAM', 'Aria', 'MEMORY']) {
    await sql.raw(table('entry', engine)).execute(db)
    t.equal(await start(openAuth()), remedies(engine))
    t.equal(await start(updates), remedies(engine))
    t.equal(await start(readOnlyAuth()), '', 'reads need no transaction')
    await sql.raw('alter table `entry` engine = InnoDB').execute(db)
    t.equal(await start(openAuth()), '')
    await sql.raw('drop table entry').execute(db)
  }
})

test('D-276: MariaDB: serve --write closes the writes to tables without transactions, which is said', async (t) => {
  const url = await requireDatabase(t, 'mariadb')
  if (url === undefined) return
  const db = openMariadb<Tables>(url)
  t.teardown(async () => { await db.destroy() })
  for (const statement of [table('entry', 'MyISAM'), table('other', 'InnoDB')]) await sql.raw(statement).execute(db)
  await sql.raw("insert into entry (title) values ('a')").execute(db)
  const { app, notes } = await serveDatabase(url, { write: true })
  t.teardown(async () => { await app.close() })
  t.strictSame(notes, [{
    table: 'entry',
    why: 'takes no writes: it is kept by the storage engine MyISAM, which has no transactions: ' +
      "run 'alter table … engine = InnoDB'"
  }])
  const payload = { title: 'b' }
  t.equal((await app.inject({ method: 'POST', url: '/api/other/', payload })).statusCode, 201)
  t.equal((await app.inject({ method: 'POST', url: '/api/entry/', payload })).statusCode, 401)
  t.equal((await app.inject({ method: 'PUT', url: '/api/entry/1/', payload })).statusCode, 401)
  t.equal((await app.inject({ method: 'DELETE', url: '/api/entry/1/' })).statusCode, 401)
  t.equal((await app.inject('/api/entry/1/')).statusCode, 200)
})

/** A driver of MariaDB that answers each query with the same rows. */
class CannedDriver extends DummyDriver {
  readonly #rows: readonly unknown[]

  constructor (rows: readonly unknown[]) {
    super()
    this.#rows = rows
  }

  override async acquireConnection (): Promise<DatabaseConnection> {
    const executeQuery = async <Row>() => ({ rows: this.#rows as Row[] })
    return { ...await super.acquireConnection(), executeQuery }
  }
}

test('D-276: only tables that clients may write to need transactions', async (t) => {
  const sqlite = openSqlite<Tables>(':memory:')
  const server = new Kysely<Tables>({
    dialect: {
      createAdapter: () => new MysqlAdapter(),
      createDriver: () => new CannedDriver([{ table: 'ENTRY', why: 'is slow' }, { table: 'third', why: 'is old' }]),
      createIntrospector: (db) => new MysqlIntrospector(db),
      createQueryCompiler: () => new MysqlQueryCompiler()
    }
  })
  t.teardown(async () => { await Promise.all([sqlite.destroy(), server.destroy()]) })
  const tables = await readTables(sqlite, [Entry])
  const closed = { model: Entry, operations: [], kept: [] }
  const open = { model: Entry, operations: ['delete'], kept: [] }
  const other = { model: Other, operations: ['create', 'update', 'delete'], kept: [] }
  t.strictSame([...await findUntransactional(server, tables, [closed, other, open, open])], [[Entry, 'is slow']])
  await t.resolves(requireTransactional(server, tables, [closed, other]))
  await t.rejects(requireTransactional(server, tables, [open, closed]), {
    code: 'REST_MODELS_TABLE_MISMATCH', message: "\n- table 'entry' is slow\n"
  })
  await t.resolves(requireTransactional(sqlite, tables, [open]), 'transactions hold for every table of SQLite')
})
