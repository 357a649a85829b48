// @once: opens PostgreSQL itself, so that coverage counts what only it does

import Fastify from 'fastify'
import {
  DummyDriver, Kysely, PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler, sql, type DatabaseConnection
} from 'kysely'
import { test } from 'tap'
import restModels, { defineModel, key, openAuth, readOnlyAuth, text, type Policy } from '../../lib/index.js'
import type { Tables } from '../../lib/engines/executor.js'
import { openPostgres } from '../../lib/postgres.js'
import { openSqlite } from '../../lib/sqlite.js'
import { readTables } from '../../lib/tables/read-tables.js'
import { requireReturning } from '../../lib/tables/returning.js'
import { requireDatabase } from '../support/engines/lacks.js'

const Page = defineModel('Page', { id: key({ generated: false }), title: text() })
const updates: Policy = { ...openAuth(), open: ['list', 'read', 'update'], closed: ['create', 'delete'] }
const remedy = (operation: string) => "A rule 'do instead' keeps the database from returning the record, so that all " +
  `of these writes would fail:\n- ${operation} in table 'page'\n` +
  "Use a trigger instead of the rule, or give it 'returning' and no condition, or close the operations in the policy"

test('D-288: PostgreSQL: setup refuses writes that a rule keeps from returning the record', async (t) => {
  const url = await requireDatabase(t, 'postgres')
  if (url === undefined) return
  const db = openPostgres<Tables>(url)
  t.teardown(async () => { await db.destroy() })
  for (const name of ['page', 'other']) {
    await sql.raw(`create table ${name} (id bigint primary key, title text not null)`).execute(db)
  }
  const start = async (auth: Policy) => {
    const app = Fastify()
    t.teardown(async () => { await app.close() })
    await app.register(restModels, { db })
    app.restModels.register(Page, { auth })
    return { app, message: await app.restModels.setup().then(() => '', (failure: Error) => failure.message) }
  }
  const add = 'insert into other values (new.id, new.title)'
  for (const [rule, all, updated] of [
    ["on insert to page where new.title = 'z' do instead nothing", remedy('create'), ''],
    ['on insert to page do instead nothing', remedy('create'), ''],
    [`on insert to page do instead ${add}`, remedy('create'), ''],
    [`on insert to page do instead ${add} returning id, title`, '', ''],
    [`on insert to page do also ${add}`, '', ''],
    ["on update to page where new.title = 'z' do instead nothing", remedy('update'), remedy('update')],
    ["on delete to page where old.title = 'z' do instead nothing", '', '']
  ] as const) {
    await sql.raw(`create rule r as ${rule}`).execute(db)
    const { app, message } = await start(openAuth())
    t.equal(message, all, rule)
    t.equal((await start(updates)).message, updated, `updates: ${rule}`)
    t.equal((await start(readOnlyAuth())).message, '', `reads: ${rule}`)
    const create = { method: 'POST', url: '/api/page/', payload: { id: 1, title: 'a' } } as const
    if (all === '') t.equal((await app.inject(create)).statusCode, 201, rule)
    await sql.raw('drop rule r on page').execute(db)
    for (const name of ['page', 'other']) await sql.raw(`truncate ${name}`).execute(db)
  }
})

test('D-288: each operation that clients may send is named once', async (t) => {
  const sqlite = openSqlite<Tables>(':memory:')
  t.teardown(async () => { await sqlite.destroy() })
  const rows = [{ table: 'page', operation: 'create' }, { table: 'other', operation: 'update' }]
  const executeQuery = async <Row>() => ({ rows: rows as Row[] })
  const server = new Kysely<Tables>({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => Object.assign(new DummyDriver(), {
        acquireConnection: async (): Promise<DatabaseConnection> =>
          ({ ...await new DummyDriver().acquireConnection(), executeQuery })
      }),
      createIntrospector: (db) => new PostgresIntrospector(db),
      createQueryCompiler: () => new PostgresQueryCompiler()
    }
  })
  const tables = await readTables(sqlite, [Page])
  const open = { model: Page, operations: ['create', 'update'], kept: [] }
  await t.rejects(requireReturning(server, tables, [open, open]), {
    code: 'REST_MODELS_TABLE_MISMATCH', message: remedy('create')
  })
  await t.resolves(requireReturning(server, tables, [{ ...open, operations: [] }]))
  await t.resolves(requireReturning(sqlite, tables, [open]), 'SQLite has no rules')
})
