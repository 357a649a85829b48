// @once: opens PostgreSQL itself, so that coverage counts what only it does

import Fastify from 'fastify'
import {
  DummyDriver, Kysely, PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler, sql, type CompiledQuery
} from 'kysely'
import { test } from 'tap'
import restModels, {
  defineModel, key, openAuth, readOnlyAuth, text, type Policy, type ResourceOptions
} from '../../lib/index.js'
import type { Tables } from '../../lib/engines/executor.js'
import { openPostgres } from '../../lib/postgres.js'
import { requireLockable } from '../../lib/tables/lockable.js'
import { openSqlite } from '../../lib/sqlite.js'
import { readTables, type DatabaseTables } from '../../lib/tables/read-tables.js'
import { requireDatabase } from '../support/engines/lacks.js'

const Note = defineModel('Note', { id: key({ generated: false }), label: text({ maxLength: 40, nullable: true }) })
const tables = [
  'create table base (id bigint primary key, label varchar(40))', "insert into base values (1, 'a')",
  'create table other (id bigint primary key, label varchar(40))', "insert into other values (1, 'b')",
  'create table parted (id bigint primary key, label varchar(40)) partition by range (id)',
  'create table part partition of parted for values from (0) to (100)',
  'create view united as select id, label from base union all select id, label from other',
  'create view plain as select * from base',
  `create function writes() returns trigger language plpgsql as $$ begin
    if tg_op = 'DELETE' then delete from base where id = old.id; return old; end if;
    update base set label = new.label where id = old.id; return new; end $$`
]
const trigger = 'create trigger writes instead of update or delete on note for each row execute function writes()'
const remedy = (why: string) => "Updates and deletes with hooks or 'etag' lock the record, but the database cannot " +
  `lock rows of these views:\n- model 'Note', view 'note': ${why}\nName a table, or a view that selects from tables ` +
  "without these clauses. Or leave out hooks and 'etag', or close updates and deletes in the policy"
const unlocked = "the view has 'union' or 'with'"

/** Views that PostgreSQL cannot lock, with the reason in the message. */
const refused: Readonly<Record<string, string>> = {
  'select id, label from base union all select id + 10, label from other': unlocked,
  'select id, label from base union select id, label from other': unlocked,
  'with w as (select * from base) select id, label from w': unlocked,
  'select * from united': unlocked,
  'select b.id, u.label from base b join united u on u.id = b.id': unlocked,
  'select id, max(label) as label from base group by id': 'FOR UPDATE is not allowed with GROUP BY clause',
  'select distinct id, label from base': 'FOR UPDATE is not allowed with DISTINCT clause',
  'select id, first_value(label) over (partition by id) as label from base':
    'FOR UPDATE is not allowed with window functions',
  'select b.id, o.label from base b left join other o on o.id = b.id':
    'FOR UPDATE cannot be applied to the nullable side of an outer join'
}

const permitted = [
  'select id, label from base where id < 100',
  'select * from plain',
  'select id, upper(label) as label from base',
  'select id, label from parted',
  'select id, label from base where id in (select id from base union select id from other)',
  'select b.id, b.label from base b join other o on o.id = b.id',
  'select b.id, b.label from base b join plain p on p.id = b.id',
  'select id, label from (select * from base) b'
]

test('D-286: PostgreSQL: setup refuses etag and hooks on a view whose rows cannot be locked', async (t) => {
  const url = await requireDatabase(t, 'postgres')
  if (url === undefined) return
  const db = openPostgres<Tables>(url)
  t.teardown(async () => { await db.destroy() })
  for (const statement of tables) await sql.raw(statement).execute(db)
  const start = async (options: ResourceOptions<typeof Note>): Promise<string> => {
    const app = Fastify()
    t.teardown(async () => { await app.close() })
    await app.register(restModels, { db })
    app.restModels.register(Note, options)
    return await app.restModels.setup().then(() => '', (failure: Error) => failure.message)
  }
  const auth: Policy = openAuth()
  const updates: Policy = { ...auth, open: ['list', 'read', 'update'], closed: ['create', 'delete'] }
  for (const view of [...Object.keys(refused), ...permitted]) {
    const expected = view in refused ? remedy(String(refused[view])) : ''
    await sql.raw(`create view note as ${view}`).execute(db)
    await sql.raw(trigger).execute(db)
    t.equal(await start({ auth, etag: true }), expected, view)
    t.equal(await start({ auth, afterWrite: () => undefined }), expected, `hooks: ${view}`)
    t.equal(await start({ auth: updates, etag: true }), expected, `updates: ${view}`)
    t.equal(await start({ auth }), '', `plain writes: ${view}`)
    t.equal(await start({ auth: readOnlyAuth(), etag: true }), '', `reads: ${view}`)
    await sql.raw('drop view note').execute(db)
  }
})

test('D-286: PostgreSQL: a rule that takes the writes of a view does not make its rows lockable', async (t) => {
  const url = await requireDatabase(t, 'postgres')
  if (url === undefined) return
  const db = openPostgres<Tables>(url)
  t.teardown(async () => { await db.destroy() })
  for (const statement of [
    ...tables, 'alter view united rename to note',
    'create rule removes as on delete to note do instead delete from base where id = old.id'
  ]) await sql.raw(statement).execute(db)
  await t.rejects(requireLockable(db, await readTables(db, [Note]), [Note]), { message: remedy(unlocked) })
})

/** A database of PostgreSQL that gives the rows of its catalog, and refuses every `explain` with an SQLSTATE. */
function standIn (rows: readonly unknown[], code: string): Kysely<Tables> {
  const executeQuery = async <Row>({ sql: text }: CompiledQuery): Promise<{ rows: Row[] }> => {
    if (!text.startsWith('explain')) return { rows: rows as Row[] }
    throw Object.assign(new Error('FOR UPDATE is not allowed'), { code, severity: 'ERROR' })
  }
  return new Kysely({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => Object.assign(new DummyDriver(), {
        acquireConnection: async () => ({ ...await new DummyDriver().acquireConnection(), executeQuery })
      }),
      createIntrospector: (db) => new PostgresIntrospector(db),
      createQueryCompiler: () => new PostgresQueryCompiler()
    }
  })
}

test('D-286: each view without locks is named once, and one without a grant is left to the grants', async (t) => {
  const sqlite = openSqlite<Tables>(':memory:')
  t.teardown(async () => { await sqlite.destroy() })
  const found = await readTables(sqlite, [Note])
  const views: DatabaseTables = { ...found, isView: () => true }
  await t.rejects(requireLockable(standIn([{ table: 'note' }], '0A000'), views, [Note, Note]), {
    code: 'REST_MODELS_TABLE_MISMATCH', message: remedy(unlocked)
  })
  await t.rejects(requireLockable(standIn([], '0A000'), views, [Note]), {
    message: remedy('FOR UPDATE is not allowed')
  })
  await t.resolves(requireLockable(standIn([], '42501'), views, [Note]))
  await t.resolves(requireLockable(standIn([{ table: 'note' }], '0A000'), found, [Note]), 'a table can be locked')
  await t.resolves(requireLockable(sqlite, views, [Note]), 'SQLite locks the whole database')
})
