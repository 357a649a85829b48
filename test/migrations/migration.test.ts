import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import * as fs from 'node:fs/promises'
import * as path from 'node:path'
import Fastify, { type FastifyInstance } from 'fastify'
import { CamelCasePlugin, FileMigrationProvider, Migrator, sql, type Kysely } from 'kysely'
import { test, type Test } from 'tap'
import restModels, {
  boolean, createTables, date, datetime, defineModel, foreignKey, integer, key, openAuth, password, text, uuid,
  type Model
} from '../../lib/index.js'
import { readHandle } from '../../lib/database/engine.js'
import type { Tables } from '../../lib/engines/executor.js'
import { missingReferences } from '../../lib/tables/missing-references.js'
import { readTables } from '../../lib/tables/read-tables.js'
import { writeMigration } from '../../lib/tools.js'
import { engine, openDatabase } from '../support/database.js'
import { compile } from '../support/compile.js'
import { definitions } from '../support/definitions.js'
import { importMigration } from './run-migration.js'

/** What holds on the engine of this process. */
function here<Value> (values: Readonly<Record<typeof engine, Value>>): Value {
  return values[engine]
}

/** A folder beside the package, so that its files can import Kysely. */
function folderFor (t: Test): string {
  mkdirSync('.tap', { recursive: true })
  const folder = mkdtempSync(path.resolve('.tap', 'migrations-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  return folder
}

async function up (db: Kysely<Tables>, models: readonly Model[]): Promise<string> {
  const { source = '' } = await writeMigration(db, models)
  await (await importMigration(source)).up(db)
  return source
}

async function setUp (t: Test, db: Kysely<Tables>, models: readonly Model[]): Promise<FastifyInstance> {
  const app = Fastify()
  t.teardown(async () => await app.close())
  await app.register(restModels, { db, defaultAuth: openAuth() })
  for (const model of models) app.restModels.register(model)
  await app.restModels.setup()
  return app
}

const generated = here({
  sqlite: 'integer primary key', postgres: 'serial primary key', mariadb: 'integer auto_increment primary key'
})

const User = defineModel('User', { name: text({ unique: true, maxLength: 30 }), password: password() })
const Note = defineModel('Note', { title: text({ maxLength: 80 }), user: foreignKey(() => User) })

/** The models above, after a few months. */
const Tag = defineModel('Tag', { label: text({ maxLength: 20 }) })
const GrownUser: Model = defineModel('User', {
  name: text({ unique: true, maxLength: 30 }),
  password: password(),
  email: text({ unique: true, maxLength: 60, nullable: true }),
  boss: foreignKey(() => GrownUser, { nullable: true, onDelete: 'set null' })
})
const GrownNote = defineModel('Note', {
  title: text({ maxLength: 80 }),
  user: foreignKey(() => GrownUser),
  made: datetime({ default: 'now' }),
  due: date({ nullable: true, default: 'now' }),
  state: text({ enum: ['open', "it's done"], default: 'open' }),
  tag: foreignKey(() => Tag, { nullable: true })
}, { unique: [['user', 'title']] })

test('D-210: a migration adds tables, columns, indexes and what is unique, and Kysely runs it', async (t) => {
  const db = await openDatabase(t)
  const folder = folderFor(t)
  const migrator = new Migrator({
    db, provider: new FileMigrationProvider({ fs, path, migrationFolder: folder })
  })
  const migrate = async (name: string, models: readonly Model[]): Promise<void> => {
    const { source = '', differences } = await writeMigration(db, models)
    t.strictSame(differences, [])
    writeFileSync(path.join(folder, name), source)
    const { error, results } = await migrator.migrateToLatest()
    t.match(results, [{ status: 'Success' }], String(error))
  }
  await migrate('001.mjs', [Note])
  const start = await definitions(db)
  await db.insertInto('user').values({ name: 'ann', password: 'x' }).execute()
  await db.insertInto('note').values({ title: 'one', user_id: 1 }).execute()
  await migrate('002.mjs', [GrownNote])
  await setUp(t, db, [GrownUser, GrownNote, Tag])
  const note = await db.selectFrom('note').selectAll().executeTakeFirstOrThrow()
  t.match(note, { id: 1, title: 'one', user_id: 1, state: 'open', tag_id: null })
  t.ok(note['made'] !== null && !String(note['made']).startsWith('1970'), 'rows have the moment of the migration')
  t.ok(note['due'] !== null)
  await t.rejects(db.insertInto('note').values({ title: 'one', user_id: 1 }).execute(), 'unique together')
  await t.rejects(db.insertInto('note').values({ title: 'two', user_id: 1, state: 'x' }).execute(), 'checks hold')
  await t.rejects(db.insertInto('note').values({ title: 'two', user_id: 1, tag_id: 9 }).execute(), 'references hold')
  const { error } = await migrator.migrateDown()
  t.equal(error, undefined)
  t.strictSame(await definitions(db), start)
})

test('D-210: what differs otherwise is a comment with the remedy, and nothing is dropped or changed', async (t) => {
  const db = await openDatabase(t)
  for (const statement of [
    'create table thing (id integer primary key, size varchar(9), count integer, must integer not null, ' +
      'total integer not null)',
    'create table bare (name varchar(9))',
    'create view seen as select id, count from thing'
  ]) await sql.raw(statement).execute(db)
  const Thing = defineModel('Thing', {
    id: key({ generated: false }),
    size: integer({ nullable: true }),
    count: integer(),
    more: boolean({ default: false }),
    total: integer({ readOnly: true })
  })
  const Bare = defineModel('Bare', { name: text({ nullable: true }) })
  const Seen = defineModel('Seen', { id: key(), count: integer({ nullable: true }), gone: integer() })
  const before = await definitions(db)
  const { source = '', differences } = await writeMigration(db, [Thing, Bare, Seen])
  const type = here({ sqlite: 'varchar(9)', postgres: 'character varying', mariadb: 'varchar' })
  t.strictSame(differences, [
    `field 'size' of model 'Thing' is integer, but column 'size' is ${type} in table 'thing'; createTables() makes ` +
      'it integer: change the model, or the column by a statement of your own',
    "field 'count' of model 'Thing' is not nullable, but column 'count' is nullable in table 'thing'; createTables() " +
      'makes it integer not null: change the model, or the column by a statement of your own',
    "field 'id' of model 'Bare' needs column 'id' of table 'bare', which does not exist: " +
      "name another with 'column', or add it by a statement of your own",
    "field 'gone' of model 'Seen' needs column 'gone' of view 'seen', which does not exist: " +
      "name another with 'column', or add it by a statement of your own",
    "model 'Thing' lacks column 'must' of table 'thing', which must have a value and has no default: " +
      'declare it in the model, or give it a default in the table',
    "model 'Thing' declares as 'readOnly' the column 'total' of table 'thing', which must have a value and has no " +
      'default: declare it in the model, or give it a default in the table'
  ])
  for (const text of differences) t.ok(source.includes(`\n// - ${text}\n`), text)
  await (await importMigration(source)).up(db)
  t.strictSame(
    (await db.introspection.getTables()).find(({ name }) => name === 'thing')?.columns.map(({ name }) => name),
    ['id', 'size', 'count', 'must', 'total', 'more']
  )
  await (await importMigration(source)).down(db)
  t.strictSame(await definitions(db), before)
})

/** Returns the difference that a key whose column is missing makes. */
const lacksKey = (model: string, field: string, column = field): string =>
  `field '${field}' of model '${model}' needs column '${column}' of table '${model.toLowerCase()}', which does not ` +
  "exist: name another with 'column', or add it by a statement of your own"

/** Returns the names of the columns and indexes that a migration adds, in their order. */
const addedIn = (source: string): readonly string[] =>
  [...source.matchAll(/(?:addColumn|createTable|createIndex)\('(.*?)'/g)].map(([, name = '']) => name)

test('D-210: a text key whose column is missing is a difference, and everything else is added', async (t) => {
  const db = await openDatabase(t)
  await sql`create table country (code varchar(3) primary key not null, name varchar(9) not null)`.execute(db)
  for (const code of ['de', 'fr']) await db.insertInto('country').values({ code, name: 'same' }).execute()
  const Country = defineModel('Country', {
    id: text({ maxLength: 3 }), name: text({ maxLength: 9 }), area: integer({ nullable: true, unique: true })
  })
  const before = await definitions(db)
  const { source = '', differences } = await writeMigration(db, [Country])
  t.strictSame(differences, [
    lacksKey('Country', 'id'),
    "model 'Country' lacks column 'code' of table 'country', which must have a value and has no default: declare it " +
      'in the model, or give it a default in the table'
  ])
  t.strictSame(addedIn(source), ['area', 'country__area__unique'])
  const migration = await importMigration(source)
  await migration.up(db)
  await migration.down(db)
  t.strictSame(await definitions(db), before)
  await (await importMigration(source)).up(db)
  t.strictSame(await writeMigration(db, [Country]), { source: undefined, differences })
})

test('D-210: of a key of several columns, what needs a missing one waits until it is there', async (t) => {
  const db = await openDatabase(t)
  const Order = defineModel('Orders', { day: date({ nullable: true }) })
  const Product = defineModel('Product', { name: text({ maxLength: 9 }) })
  await createTables(db, [Order, Product])
  await sql`create table detail (order_id bigint not null, place integer not null)`.execute(db)
  const fields = { order: foreignKey(() => Order), product: foreignKey(() => Product) }
  const Detail = defineModel('Detail', { ...fields, place: integer(), rank: integer({ nullable: true }) }, {
    key: ['order', 'product'], unique: [['product', 'place'], ['order', 'place'], ['place', 'rank']]
  })
  // The other model adds its column 'rank'.
  const Ranked = defineModel('Ranked', { ...fields, place: integer(), rank: integer({ nullable: true }) }, {
    key: ['order', 'product'], unique: [['order', 'rank']], table: 'detail'
  })
  const { source = '', differences } = await writeMigration(db, [Detail, Ranked])
  t.strictSame(differences.filter((text) => text.includes('needs column')), [
    lacksKey('Detail', 'product', 'product_id'), lacksKey('Ranked', 'product', 'product_id').replace('ranked', 'detail')
  ])
  t.strictSame(addedIn(source), [
    'rank', 'detail__order_id__place__unique', 'detail__place__rank__unique', 'detail__order_id__rank__unique'
  ])
  await (await importMigration(source)).up(db)
  t.equal((await writeMigration(db, [Detail, Ranked])).source, undefined)
  await sql`alter table detail add column product_id bigint not null default 0`.execute(db)
  t.strictSame(addedIn((await writeMigration(db, [Detail, Ranked])).source ?? ''), [
    'detail__order_id__product_id__unique', 'detail__product_id__place__unique'
  ])
})

test('D-210: a column of another type than its field gets no index before the difference is gone', async (t) => {
  const db = await openDatabase(t)
  await createTables(db, [User])
  const other = here({ sqlite: 'varchar(9)', postgres: 'json', mariadb: 'point' })
  await sql.raw(`create table odd (id ${generated}, code ${other}, user_id ${other}, place integer not null)`)
    .execute(db)
  const Odd = defineModel('Odd', {
    code: integer({ nullable: true, unique: true }), user: foreignKey(() => User, { nullable: true }), place: integer()
  }, { unique: [['code', 'place'], ['user', 'place']] })
  const { source, differences } = await writeMigration(db, [Odd])
  t.equal(source, undefined)
  t.strictSame(differences.map((text) => text.replace(/,? but .*/, '')), [
    "field 'code' of model 'Odd' is integer", "field 'user' of model 'Odd' is foreignKey",
    "field 'user' of model 'Odd' refers to model 'User'"
  ])
  const Fitting = defineModel('Odd', { place: integer({ unique: true }) })
  t.strictSame(addedIn((await writeMigration(db, [Fitting])).source ?? ''), ['odd__place__unique'])
})

test('D-263: a foreign key that the database lacks, or that deletes otherwise, is a difference', async (t) => {
  const db = await openDatabase(t)
  await createTables(db, [User])
  const key = here({ sqlite: 'integer', postgres: 'bigserial', mariadb: 'bigint auto_increment' })
  const user = here({ sqlite: 'user', postgres: '"user"', mariadb: 'user' })
  await sql.raw(`create table note (id ${key} primary key, owner_id bigint not null, editor_id bigint not null, ` +
    `foreign key (editor_id) references ${user} (id))`).execute(db)
  const Referring = defineModel('Note', {
    owner: foreignKey(() => User), editor: foreignKey(() => User, { onDelete: 'cascade' })
  })
  const { differences } = await writeMigration(db, [Referring])
  t.strictSame(differences, [
    "field 'owner' of model 'Note' refers to model 'User', but column 'owner_id' of table 'note' has no foreign key: " +
      'add it by a statement of your own, so that no record refers to one that does not exist',
    "field 'editor' of model 'Note' needs 'on delete cascade', but the foreign key of column 'editor_id' of table " +
      "'note' has 'on delete no action': change the model, or the foreign key by a statement of your own"
  ])
})

test('D-263: a partition of PostgreSQL has the foreign keys of the table that it divides', {
  skip: engine !== 'postgres' && 'about PostgreSQL'
}, async (t) => {
  const db = await openDatabase(t)
  for (const statement of [
    'create table client (id integer primary key) partition by hash (id)',
    'create table client_0 partition of client for values with (modulus 1, remainder 0)',
    'create table sale (id integer primary key, client_id integer references client) partition by hash (id)',
    'create table sale_0 partition of sale for values with (modulus 1, remainder 0)'
  ]) await sql.raw(statement).execute(db)
  const Client = defineModel('Client', { id: key({ generated: false }) })
  const client = foreignKey(() => Client, { nullable: true })
  for (const table of ['sale', 'sale_0']) {
    const Sale = defineModel('Sale', { id: key({ generated: false }), client }, { table })
    t.strictSame((await writeMigration(db, [Sale])).differences, [], table)
  }
})

test('D-263: a table that can have no foreign keys is told what keeps it from them', async (t) => {
  const db = await openDatabase(t)
  const Note = defineModel('Note', { user: foreignKey(() => User) })
  await createTables(db, [User, Note])
  const { dialect } = readHandle(db)
  const why = 'is kept elsewhere: convert it'
  const existing = { tables: await readTables(db, [Note]), dialect, references: [], detached: [{ table: 'note', why }] }
  t.strictSame(missingReferences([Note], existing), [
    "field 'user' of model 'Note' refers to model 'User', but column 'user_id' of table 'note' has no foreign key: " +
      `table 'note' ${why}`
  ])
})

test('D-211: what rows keep from being added is an error that names each field and the remedy', async (t) => {
  const db = await openDatabase(t)
  await createTables(db, [User, Note])
  for (const name of ['ann', 'bob']) await db.insertInto('user').values({ name, password: 'x' }).execute()
  for (const user of [1, 2, 1]) await db.insertInto('note').values({ title: 'same', user_id: user }).execute()
  const Wrong = defineModel('Note', {
    title: text({ maxLength: 80, unique: true }),
    user: foreignKey(() => User),
    body: text(),
    slug: text({ maxLength: 9, default: () => 'x' }),
    place: integer({ unique: true, default: 1 }),
    fine: integer({ nullable: true })
  }, { unique: [['user', 'title'], ['user', 'place'], ['user', 'fine']] })
  await t.rejects(writeMigration(db, [Wrong]), {
    code: 'REST_MODELS_TABLE_MISMATCH',
    message: [
      'No migration can be written:',
      ...['body', 'slug'].map((name) => `- field '${name}' of model 'Note' is required, but table 'note' has rows, ` +
        'which would have no value: give it a default that is no function, or declare it nullable and fill it'),
      ...["'title'", "'place'", "'user' and 'title'", "'user' and 'place'"].map((names) =>
        `- model 'Note' has unique ${names}, but rows of table 'note' have the same values: ` +
        'change these rows first, or do not declare it unique')
    ].join('\n')
  })
  const Owned = defineModel('Note', {
    title: text({ maxLength: 80 }), user: foreignKey(() => User), owner: foreignKey(() => User, { default: 2 })
  })
  if (engine === 'sqlite') {
    await t.rejects(writeMigration(db, [Owned]), {
      message: "field 'owner' of model 'Note' is a foreign key with a default, which SQLite cannot add to table 'note'"
    })
  } else {
    await up(db, [Owned])
    const owners = await db.selectFrom('note').select('owner_id').execute()
    t.match(owners, [{ owner_id: 2 }, { owner_id: 2 }, { owner_id: 2 }])
  }
})

/** Keys that other programs make: the field of the model, the column, and a value. */
const foreignKeys = here({
  sqlite: [
    [key({ generated: false }), 'int primary key not null', 7],
    [text({ maxLength: 30 }), 'varchar(30) collate nocase primary key not null', 'a'],
    [uuid(), 'char(36) primary key not null', '0f8fad5b-d9cb-469f-a165-70867728950e']
  ],
  postgres: [
    [key(), 'serial primary key', 7],
    [key(), 'smallint generated by default as identity primary key', 7],
    [text({ maxLength: 30 }), 'varchar(30) collate "POSIX" primary key', 'a'],
    [text({ maxLength: 30 }), 'state primary key', 'open'],
    [text({ maxLength: 30 }), 'inet primary key', '10.0.0.0/8'],
    [text({ maxLength: 30 }), 'time primary key', '12:00:00'],
    [text({ maxLength: 30 }), 'code primary key', 'a'],
    [uuid(), 'varchar(36) primary key', '0f8fad5b-d9cb-469f-a165-70867728950e']
  ],
  mariadb: [
    [key(), 'int auto_increment primary key', 7],
    [key(), 'int unsigned auto_increment primary key', 7],
    [key(), 'bigint unsigned auto_increment primary key', 7],
    [key(), 'smallint(4) unsigned zerofill auto_increment primary key', 7],
    [text({ maxLength: 30 }), 'varchar(30) character set latin1 collate latin1_swedish_ci primary key', 'a'],
    [text({ maxLength: 30 }), "enum('a', 'it''s\\\\') primary key", 'a'],
    [text({ maxLength: 30 }), 'inet6 primary key', '::1'],
    [uuid(), 'uuid primary key', '0f8fad5b-d9cb-469f-a165-70867728950e'],
    [uuid(), 'char(36) primary key', '0f8fad5b-d9cb-469f-a165-70867728950e']
  ]
} as const)

test('D-210: a foreign key has the type of the column that it refers to, whoever made that', async (t) => {
  for (const [id, column, value] of foreignKeys) {
    for (const make of ['migration', 'createTables']) {
      const db = await openDatabase(t)
      for (const statement of [
        ...engine === 'postgres'
          ? ["create type state as enum ('open')", 'create domain code as varchar(9) collate "C" not null default 0']
          : [],
        `create table kind (id ${column})`,
        `create table old (id ${generated}, size integer)`,
        'insert into old (id) values (1)'
      ]) await sql.raw(statement).execute(db)
      await sql`insert into kind (id) values (${value})`.execute(db)
      const Kind = defineModel('Kind', { id })
      const Old = defineModel('Old', {
        size: integer({ nullable: true }),
        ...make === 'migration' && { kind: foreignKey(() => Kind, { nullable: true }) }
      })
      const New = defineModel('New', { kind: foreignKey(() => Kind), old: foreignKey(() => Old) })
      const before = await definitions(db)
      const { source = '', differences } = await writeMigration(db, [Old, New])
      t.strictSame(differences, [])
      const migration = await importMigration(source)
      await (make === 'migration' ? migration.up(db) : createTables(db, [New]))
      const app = await setUp(t, db, [Kind, Old, New])
      const { statusCode, body } = await app.inject({
        method: 'POST', url: '/api/new/', payload: { kind_id: value, old_id: 1 }
      })
      t.equal(statusCode, 201, `${column}: ${body}`)
      const { objects } = (await app.inject(`/api/new/?kind__id=${encodeURIComponent(value)}&include=kind`)).json()
      t.strictSame(objects, [{ id: 1, kind_id: value, old_id: 1, kind: { id: value } }], column)
      const kept = make === 'migration' ? { id: 1, size: null, kind_id: null } : { id: 1, size: null }
      t.strictSame(await db.selectFrom('old').selectAll().execute(), [kept])
      t.strictSame(await writeMigration(db, [Old, New]), { source: undefined, differences: [] })
      await migration.down(db)
      t.strictSame(await definitions(db), before)
    }
  }
})

test('D-211: a foreign key that the database would refuse is an error, and nothing is written or made', async (t) => {
  const db = await openDatabase(t)
  for (const statement of [
    `create table plain (id ${generated}, size integer)`,
    'create table twice (id integer not null)',
    'create table named (id varchar(9) primary key not null)',
    'create view seen as select id from plain',
    ...here({
      sqlite: [],
      postgres: ['create materialized view kept as select id from plain'],
      mariadb: [
        'create table kept (id bigint primary key) engine = aria',
        'create table parted (id bigint primary key) partition by hash (id) partitions 2',
        'create table own (id bigint auto_increment primary key) engine = myisam'
      ]
    })
  ]) await sql.raw(statement).execute(db)
  const Plain = defineModel('Plain', { size: integer({ nullable: true }) })
  const referring = (name: string, table: string, id = key()) => {
    const Target = defineModel(name, { id }, { table })
    return defineModel('New', { plain: foreignKey(() => Plain), target: foreignKey(() => Target) })
  }
  const field = "field 'target' of model 'New'"
  const refused: ReadonlyArray<readonly [Model, string]> = [
    [referring('Seen', 'seen'), `${field} refers to model 'Seen', but no foreign key can refer to view 'seen': ` +
      'declare a field of another kind'],
    [referring('Twice', 'twice', key({ generated: false })), `${field} refers to column 'id' of ` +
      "table 'twice', which is no primary key and has no unique index of its own: add one by a statement of your own"],
    [referring('Gone', 'plain', key({ column: 'gone' })), `${field} refers to column 'gone' of ` +
      "table 'plain', which does not exist: name another with 'column' in model 'Gone'"],
    [referring('Named', 'named'), `${field} refers to column 'id' of table 'named', which is ` +
      `${here({ sqlite: 'varchar(9)', postgres: 'character varying', mariadb: 'varchar' })}, and not key ` +
      "as in model 'Named': change that model"],
    ...here<ReadonlyArray<readonly [Model, string]>>({
      sqlite: [],
      postgres: [[referring('Kept', 'kept'), `${field} refers to model 'Kept', but no foreign key ` +
        "can refer to view 'kept': declare a field of another kind"]],
      mariadb: [
        [referring('Kept', 'kept', key({ generated: false })), `${field} cannot be a foreign key, ` +
          "because table 'kept' is kept by the storage engine Aria: convert it to InnoDB"],
        [referring('Parted', 'parted', key({ generated: false })), `${field} cannot be a foreign key, ` +
          "because table 'parted' is partitioned: declare a field of another kind"]
      ]
    })
  ]
  const before = await definitions(db)
  for (const [model, reason] of refused) {
    await t.rejects(writeMigration(db, [model]), {
      code: 'REST_MODELS_TABLE_MISMATCH', message: `No migration can be written:\n- ${reason}`
    })
    await t.rejects(createTables(db, [Plain, model]), {
      code: 'REST_MODELS_TABLE_MISMATCH', message: `No table was created:\n- ${reason}`
    })
  }
  if (engine === 'mariadb') {
    const Own = defineModel('Own', { plain: foreignKey(() => Plain, { nullable: true }) })
    await t.rejects(writeMigration(db, [Own]), { message: "table 'own' is kept by the storage engine MyISAM" })
  }
  t.strictSame(await definitions(db), before)
})

test('D-212: a required column fails with the reason if there are rows when the migration runs', async (t) => {
  const db = await openDatabase(t)
  await createTables(db, [User, Note])
  const Longer = defineModel('Note', { title: text({ maxLength: 80 }), user: foreignKey(() => User), body: text() })
  const { source = '' } = await writeMigration(db, [Longer])
  const { source: typed = '' } = await writeMigration(db, [Longer], { language: 'ts' })
  t.match(typed, 'async function requireEmpty (db: Kysely<any>, table: string, column: string): Promise<void> {')
  await db.insertInto('user').values({ name: 'ann', password: 'x' }).execute()
  await db.insertInto('note').values({ title: 'one', user_id: 1 }).execute()
  const migration = await importMigration(source)
  await t.rejects(migration.up(db), {
    message: "Table 'note' has rows, which would have no value in the new column 'body'"
  })
  t.strictSame(await db.selectFrom('note').selectAll().execute(), [{ id: 1, title: 'one', user_id: 1 }])
  await db.deleteFrom('note').execute()
  await migration.up(db)
  await setUp(t, db, [User, Longer])
})

test('D-213: SQLite sets the moment in rows, and its default is clearly not a real moment', async (t) => {
  if (engine !== 'sqlite') return
  const db = await openDatabase(t)
  await createTables(db, [Tag])
  await db.insertInto('tag').values({ label: 'a' }).execute()
  const Dated = defineModel('Tag', {
    label: text({ maxLength: 20 }), made: datetime({ default: 'now' }), day: date({ default: 'now' })
  })
  const source = await up(db, [Dated])
  t.match(source, 'The API sets it; other programs must, too.')
  await db.insertInto('tag').values({ label: 'b' }).execute()
  const [old, other] = await db.selectFrom('tag').selectAll().execute()
  t.match(old, { made: /^20\d\d-\d\d-\d\d \d\d:\d\d:\d\d$/, day: /^20\d\d-\d\d-\d\d$/ })
  t.match(other, { made: '1970-01-01 00:00:00', day: '1970-01-01' })
})

test('D-214: two models of one table add up, and models that foreign keys refer to count', async (t) => {
  const db = await openDatabase(t)
  const Ranked = defineModel('Ranked', {
    title: text({ maxLength: 80 }), user: foreignKey(() => User), rank: integer({ nullable: true, unique: true })
  }, { table: 'note' })
  await up(db, [Note, Ranked])
  await setUp(t, db, [User, Note, Ranked])
  t.strictSame(await writeMigration(db, [User, Note, Ranked]), { source: undefined, differences: [] })
})

test('D-216: what is unique or indexed already is not made again, whoever made it and in whatever order', async (t) => {
  const db = await openDatabase(t)
  await createTables(db, [User])
  for (const statement of [
    `create table note (id ${here({ sqlite: 'integer', postgres: 'bigserial', mariadb: 'bigint auto_increment' })} ` +
      'primary key, title varchar(80) not null, slug varchar(9), user_id bigint not null, rank integer not null)',
    'create index mine on note (user_id, rank)',
    'create unique index own on note (rank, title)',
    'create unique index slugs on note (slug)',
    ...engine === 'mariadb' ? [] : ['create index lowered on note (lower(title))']
  ]) await sql.raw(statement).execute(db)
  const fields = {
    title: text({ maxLength: 80 }),
    slug: text({ maxLength: 9, nullable: true, unique: true }),
    user: foreignKey(() => User),
    rank: integer()
  }
  const unique = [['title', 'rank'] as const]
  const { source: nothing, differences } = await writeMigration(db, [defineModel('Note', fields, { unique })])
  t.equal(nothing, undefined)
  t.match(differences, [/'user_id' of table 'note' has no foreign key/])
  t.equal(differences.length, 1)
  const Stricter = defineModel('Note', { ...fields, rank: integer({ unique: true }) }, { unique })
  const source = await up(db, [Stricter])
  t.strictSame(source.match(/create\w+\('.*?'\)/g), ["createIndex('note__rank__unique')"])
  await setUp(t, db, [User, Stricter])
})

test('D-216: the index that SQLite needs for a moment is found again, also by a long name', async (t) => {
  const db = await openDatabase(t)
  const Note = defineModel('Note', { ['a'.repeat(50)]: datetime() })
  await createTables(db, [Note])
  t.strictSame(await writeMigration(db, [Note]), { source: undefined, differences: [] })
})

/** How another program made a foreign key: in the table or behind it, with a name or without, and its index. */
const referring: ReadonlyArray<readonly [inTable: string, ...statements: string[]]> = here({
  sqlite: [['references user (id)']],
  postgres: [['references "user" (id)']],
  mariadb: [
    ['', 'alter table note add foreign key (user_id) references user (id)'],
    ['', 'alter table note add constraint owner foreign key (user_id) references user (id)'],
    ['', 'create index mine on note (user_id)', 'alter table note add foreign key (user_id) references user (id)']
  ]
})

test('D-216: what is unique comes and goes, whoever made the index of a foreign key', async (t) => {
  const title = text({ maxLength: 80 })
  const user = foreignKey(() => User, { unique: true })
  const by = foreignKey(() => User, { nullable: true })
  const models = [
    defineModel('Note', { title, user: foreignKey(() => User) }, { unique: [['user', 'title']] }),
    defineModel('Note', { title, user }),
    defineModel('Note', { title, user, by }, { unique: [['user', 'title'], ['by', 'title']] })
  ]
  for (const [inTable, ...statements] of referring) {
    for (const Unique of models) {
      const db = await openDatabase(t)
      await createTables(db, [User])
      const columns = `id ${generated}, title varchar(80) not null, user_id bigint not null ${inTable}`
      await sql.raw(`create table note (${columns})`).execute(db)
      for (const statement of statements) await sql.raw(statement).execute(db)
      const start = await definitions(db)
      const { source = '' } = await writeMigration(db, [Unique])
      const migration = await importMigration(source)
      for (const round of ['first', 'second']) {
        await migration.up(db)
        await setUp(t, db, [User, Unique])
        await migration.down(db)
        t.strictSame(await definitions(db), start, `${round}: ${statements.join('; ')}`)
      }
    }
  }
})

test('D-197: a migration adds the unique index of a key of several columns, unless there is one', async (t) => {
  const db = await openDatabase(t)
  const fields = { film: text({ maxLength: 9 }), actor: integer() }
  const Role = defineModel('Role', fields, { key: ['film', 'actor'] })
  await sql`create table role (film varchar(9) not null, actor integer not null)`.execute(db)
  const source = await up(db, [Role])
  t.strictSame(source.match(/create\w+\('.*?'\)/g), ["createIndex('role__film__actor__unique')"])
  await setUp(t, db, [Role])
  await db.insertInto('role').values({ film: 'f', actor: 7 }).execute()
  await t.rejects(db.insertInto('role').values({ film: 'f', actor: 7 }).execute(), 'the key is unique')
  t.strictSame(await writeMigration(db, [Role]), { source: undefined, differences: [] })
})

test('tables that refer to each other are made and dropped again', async (t) => {
  const db = await openDatabase(t)
  const Team: Model = defineModel('Team', { name: text(), captain: foreignKey(() => Player, { nullable: true }) })
  const Player: Model = defineModel('Player', {
    id: uuid(), team: foreignKey(() => Team), coach: foreignKey(() => Player, { nullable: true })
  })
  const { source = '' } = await writeMigration(db, [Team])
  const migration = await importMigration(source)
  await migration.up(db)
  await setUp(t, db, [Team, Player])
  await db.insertInto('team').values({ id: 1, name: 'a' }).execute()
  const id = '0f8fad5b-d9cb-469f-a165-70867728950e'
  await db.insertInto('player').values({ id, team_id: 1, coach_id: id }).execute()
  await db.updateTable('team').set({ captain_id: id }).execute()
  await migration.down(db)
  t.strictSame(await definitions(db), [])
})

test('names are those of the models, whatever plugins a host has; TypeScript compiles', async (t) => {
  const db = await openDatabase(t)
  const Odd = defineModel('Odd', {
    nickName: text(), Order: integer({ column: 'SELECT' }), at: datetime(), day: date(), active: boolean()
  }, { table: 'OddTable' })
  const { source = '' } = await writeMigration(db, [Odd], { language: 'ts' })
  const file = path.join(folderFor(t), '001.ts')
  writeFileSync(file, source)
  t.strictSame(compile([file]), [])
  await (await importMigration((await writeMigration(db, [Odd])).source ?? '')).up(db.withPlugin(new CamelCasePlugin()))
  await setUp(t, db, [Odd])
})

test('a default with line breaks and other special characters is written as it is', async (t) => {
  // eslint-disable-next-line no-template-curly-in-string -- as a program would write it
  for (const value of ['a\n\r\n\r\\n ${db} \'"*/', '`\n${db}\\n']) {
    const db = await openDatabase(t)
    const options = { default: value, maxLength: 50 }
    const Plain = defineModel('Note', { rank: integer({ default: 1 }) })
    const Full = defineModel('Note', { rank: integer({ default: 1 }), title: text(options) })
    const New = defineModel('Tag', { rank: integer({ default: 1 }), label: text({ ...options, enum: [value, 'b'] }) })
    await createTables(db, [Plain])
    await db.insertInto('note').values({ rank: 2 }).execute()
    await up(db, [Full, New])
    await db.insertInto('tag').values({ rank: 2 }).execute()
    t.same(await db.selectFrom('note').select('title').execute(), [{ title: value }])
    t.same(await db.selectFrom('tag').select('label').execute(), [{ label: value }])
  }
})

test('a default that does not fit its field is refused before anything is written', async (t) => {
  const db = await openDatabase(t)
  await t.rejects(writeMigration(db, [defineModel('Odd', { size: integer({ default: 5, maximum: 3 }) })]), {
    code: 'REST_MODELS_INVALID_MODEL'
  })
})

test('writeMigration refuses options that it does not have', async (t) => {
  const options: object = { lang: 'ts' }
  await t.rejects(writeMigration(await openDatabase(t), [Note], options), {
    code: 'REST_MODELS_INVALID_OPTIONS', message: "writeMigration() has an unknown option 'lang'"
  })
})
