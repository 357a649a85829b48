import { sql } from 'kysely'
import { test } from 'tap'
import {
  bigint, boolean, createTables, date, datetime, decimal, defineModel, integer, json, key, number, text, uuid
} from '../../lib/index.js'
import { readHandle } from '../../lib/database/engine.js'
import { readTables } from '../../lib/tables/read-tables.js'
import { readTableFacts, tableObstacles } from '../../lib/tables/table-obstacles.js'
import { writeMigration } from '../../lib/tools.js'
import { engine, openDatabase } from '../support/database.js'
import { importMigration } from './run-migration.js'

const generated = {
  sqlite: 'integer primary key', postgres: 'serial primary key', mariadb: 'integer auto_increment primary key'
}[engine]

function refused (...reasons: readonly string[]): { readonly code: string, readonly message: string } {
  return { code: 'REST_MODELS_TABLE_MISMATCH', message: ['No migration can be written:', ...reasons].join('\n- ') }
}

test('D-211: a strict table of SQLite takes no type that it does not know', async (t) => {
  if (engine !== 'sqlite') return
  const db = await openDatabase(t)
  await sql.raw('create table item (id integer primary key, name text) strict').execute(db)
  const name = text({ nullable: true })
  const Fine = defineModel('Item', {
    name,
    size: integer({ nullable: true }),
    rate: number({ nullable: true }),
    more: json({ nullable: true }),
    mark: uuid({ nullable: true })
  })
  const { source = '' } = await writeMigration(db, [Fine])
  await (await importMigration(source)).up(db)
  const kinds = {
    made: ['datetime', 'text', datetime({ nullable: true })],
    day: ['date', 'text', date({ nullable: true })],
    flag: ['boolean', 'integer', boolean({ nullable: true })],
    price: ['decimal(15, 2)', 'real', decimal({ nullable: true })],
    big: ['bigint', 'integer', bigint({ nullable: true })]
  } as const
  const fields = Object.fromEntries(Object.entries(kinds).map(([field, [, , declared]]) => [field, declared]))
  const reasons = Object.entries(kinds).map(([field, [type, fitting]]) => `field '${field}' of model 'Item' would be ` +
    `of the type ${type}, but table 'item' is strict: add it as ${fitting} by a statement of your own`)
  await t.rejects(writeMigration(db, [defineModel('Item', { name, ...fields })]), refused(...reasons))
})

test('D-211: the names of the hidden row id of SQLite are added to no table', async (t) => {
  const nullable = { nullable: true } as const
  const Item = defineModel('Item', {
    name: text(nullable),
    rowid: text(nullable),
    mark: text({ ...nullable, column: 'OID' }),
    last: text({ ...nullable, column: '_rowid_' })
  })
  const db = await openDatabase(t)
  await createTables(db, [defineModel('Item', { name: text(nullable) })])
  const written = writeMigration(db, [Item])
  if (engine !== 'sqlite') {
    await (await importMigration((await written).source ?? '')).up(db)
    return
  }
  const why = (field: string, column = field) => `field '${field}' of model 'Item' needs column '${column}', a name ` +
    "that SQLite adds to no existing table: name another with 'column'"
  await t.rejects(written, refused(why('rowid'), why('mark', 'OID'), why('last', '_rowid_')))
  const empty = await openDatabase(t)
  await t.resolves(createTables(empty, [Item]), 'a new table may have them')
})

test('D-211: what is unique in a partitioned table has the columns of the partitions', async (t) => {
  const Event = defineModel('Event', {
    id: key({ generated: false }), day: date(), code: text({ nullable: true, maxLength: 9 }), size: integer()
  }, { unique: [['code', 'size']] })
  const why = "model 'Event' has unique 'code' and 'size', but table 'event' is partitioned by day, which must be " +
    "among them: add the fields to 'unique', or do not declare it unique"
  const db = await openDatabase(t)
  const isServer = engine !== 'sqlite'
  const partitions = {
    sqlite: '', postgres: 'by range (day)', mariadb: 'by range (year(day)) (partition low values less than (2000))'
  }[engine]
  await sql.raw('create table event (id bigint not null, day date not null, code varchar(9), size integer not null)' +
    (isServer ? ` partition ${partitions}` : '')).execute(db)
  if (isServer) await t.rejects(writeMigration(db, [Event]), refused(why))
  const tables = await readTables(db, [Event])
  const facts = { ...await readTableFacts(readHandle(db), tables), partitions: [{ table: 'event', column: 'day' }] }
  const dated = Event.columns.slice(1, 3)
  const change = { model: Event, columns: [], unique: Event.uniqueTogether, indexes: [] }
  t.strictSame(tableObstacles(change, facts), [why])
  t.strictSame(tableObstacles({ ...change, unique: [dated] }, facts), [])
})

test('D-211: MariaDB: so do subpartitions, and partitions by the primary key', async (t) => {
  if (engine !== 'mariadb') return
  const db = await openDatabase(t)
  const byKey = ['order', 'year'] as const
  const columns = '`order` integer, year integer, size integer, primary key (`order`, year)'
  for (const [table, partitions, by] of [
    ['keyed', 'by key () partitions 2', 'order, year'],
    ['split', 'by range (year) subpartition by hash (`order`) (partition low values less than (2000))', 'order, year'],
    ['listed', 'by list columns (year) (partition low values in (1))', 'year']
  ] as const) {
    await sql.raw(`create table ${table} (${columns}) partition ${partitions}`).execute(db)
    const plain = { order: integer(), year: integer(), size: integer({ nullable: true }) }
    const code = text({ nullable: true, unique: true, maxLength: 9 })
    const Item = defineModel('Item', { ...plain, code }, { table, key: byKey })
    const why = `model 'Item' has unique 'code', but table '${table}' is partitioned by ${by}, which must be among ` +
      "them: add the fields to 'unique', or do not declare it unique"
    await t.rejects(writeMigration(db, [Item]), refused(why), table)
    const unique = [['order', 'year', 'size']] as const
    const Fitting = defineModel('Item', plain, { table, key: byKey, unique })
    const { source = '' } = await writeMigration(db, [Fitting])
    await t.resolves((await importMigration(source)).up(db), table)
  }
})

test('D-211: a table of MariaDB with system versioning takes no column and no unique index', async (t) => {
  const db = await openDatabase(t)
  const isServer = engine === 'mariadb'
  await sql.raw(`create table item (id ${generated}, name varchar(9))${isServer ? ' with system versioning' : ''}`)
    .execute(db)
  const Item = defineModel('Item', { name: text({ nullable: true, maxLength: 9 }), size: integer({ nullable: true }) })
  const Same = defineModel('Item', { name: text({ nullable: true, maxLength: 9 }) })
  t.strictSame(await writeMigration(db, [Same]), { source: undefined, differences: [] })
  const reason = 'has system versioning: set global system_versioning_alter_history = keep, or add them yourself'
  const why = `model 'Item' needs more columns or unique indexes, but table 'item' ${reason}`
  if (isServer) await t.rejects(writeMigration(db, [Item]), refused(why))
  const tables = await readTables(db, [Item])
  const unalterable = [{ table: 'item', why: reason, types: null }]
  const facts = { ...await readTableFacts(readHandle(db), tables), unalterable }
  const change = { model: Item, columns: Item.columns.slice(2), unique: [], indexes: [] }
  t.strictSame(tableObstacles(change, facts), [why])
  t.strictSame(tableObstacles({ ...change, columns: [] }, facts), [])
})

test('D-211: an index of the same name, such as one for some rows only, is in the way', async (t) => {
  const db = await openDatabase(t)
  for (const statement of [
    `create table item (id ${generated}, name varchar(9), code varchar(9))`,
    `create ${engine === 'mariadb' ? '' : 'unique '}index item__name__unique on item (name)` +
      (engine === 'mariadb' ? '' : " where code = 'a'")
  ]) await sql.raw(statement).execute(db)
  const short = { nullable: true, maxLength: 9 } as const
  const Item = defineModel('Item', { name: text({ ...short, unique: true }), code: text({ ...short, unique: true }) })
  await t.rejects(writeMigration(db, [Item]), refused("model 'Item' needs index 'item__name__unique' of table " +
    "'item', but another one has this name: rename or drop that one by a statement of your own"))
  const tables = await readTables(db, [Item])
  const named = [{ table: 'item', name: 'item__code__unique' }, { table: 'other', name: 'item__name__unique' }]
  const facts = { ...await readTableFacts(readHandle(db), tables), named }
  const change = { model: Item, columns: [], unique: Item.columns.slice(1).map((column) => [column]), indexes: [] }
  t.match(tableObstacles(change, facts), [/'item__code__unique'/])
})
