// @servers: each engine prints checks in its own way

import { readFileSync } from 'node:fs'
import { sql } from 'kysely'
import { test, type Test } from 'tap'
import {
  bigint, boolean, createTables, date, datetime, decimal, defineModel, foreignKey, integer, json, number, password,
  text, uuid, type Model
} from '../../lib/index.js'
import { dialects } from '../../lib/database/dialects.js'
import type { CheckRow } from '../../lib/engines/catalog.js'
import { changedChecks } from '../../lib/tables/changed-checks.js'
import { readTables } from '../../lib/tables/read-tables.js'
import { introspect, writeMigration } from '../../lib/tools.js'
import { engine, openDatabase } from '../support/database.js'
import { compilers } from '../support/compilers.js'
import { importMigration } from './run-migration.js'

const generated = {
  sqlite: 'integer primary key', postgres: 'serial primary key', mariadb: 'integer auto_increment primary key'
}[engine]
const nothing = { source: undefined, differences: [] }

/** Labels that engines escape, or print otherwise than they were written. */
const labels = ["it's", "''", '\\', 'a\\nb', 'a\nb', '\r\u001a', '%', '\u{1f600}', '', ' and ', ')', ', ', '"', '10']

const Target = defineModel('Target', { name: text() })
const fields = {
  short: text({ minLength: 1, maxLength: 30 }),
  choice: text({ enum: labels }),
  one: text({ enum: ['one'], maxLength: 5, default: 'one' }),
  name: text({ enum: ['a', 'b'], column: 'length', unique: true }),
  least: integer({ minimum: -(2 ** 31), maximum: 5 }),
  half: integer({ minimum: -0.5, column: 'and' }),
  tiny: number({ minimum: 5e-324, maximum: 1e21 }),
  range: number({ minimum: -1.5, maximum: 0.30000000000000004 }),
  huge: number({ minimum: -Number.MAX_VALUE }),
  flag: boolean({ default: true }),
  mail: text({ format: 'email' }),
  secret: password({ minLength: 8, maxLength: 20 }),
  price: decimal({ precision: 9, scale: 3 }),
  big: bigint(),
  made: datetime(),
  day: date(),
  more: json(),
  mark: uuid(),
  target: foreignKey(() => Target)
}

const limits = {
  title: text({ maxLength: 30 }),
  state: text({ enum: ['open', "it's done"], default: 'open' }),
  score: integer({ minimum: 0, maximum: 10 }),
  rate: number({ maximum: 1.5, nullable: true }),
  flag: boolean(),
  plain: text(),
  unit: text({ unique: true, maxLength: 20 })
}
const Note = defineModel('Note', limits)
const changed: ReadonlyArray<readonly [string, Model]> = Object.entries({
  title: [text({ maxLength: 31 }), text(), text({ minLength: 1, maxLength: 30 }), text({ enum: ['a'] })],
  state: [
    text({ enum: ['open', "it's done", 'late'], default: 'open' }), text({ default: 'open' }),
    text({ enum: ['open'], default: 'open' })
  ],
  score: [integer({ minimum: 0, maximum: 11 }), integer({ minimum: -1, maximum: 10 }), integer({ maximum: 10 })],
  rate: [number({ maximum: 1.25, nullable: true }), number({ nullable: true })],
  unit: [text({ unique: true, maxLength: 21 })]
}).flatMap(([name, others]) =>
  others.map((other) => [name, defineModel('Note', { ...limits, [name]: other })] as const))

async function differencesOf (t: Test, model: Model): Promise<readonly string[]> {
  const db = await openDatabase(t)
  await createTables(db, [Note])
  const { source, differences } = await writeMigration(db, [model])
  t.equal(source, undefined)
  // What the remedy makes fits the model.
  const [, statement] = /needs this check, run: (.*)/.exec(differences.join()) ?? []
  if (engine !== 'sqlite') await sql.raw(String(statement)).execute(db)
  t.strictSame(await writeMigration(db, [engine === 'sqlite' ? Note : model]), nothing)
  return differences
}

test('D-268: a limit or a choice that was changed is a difference, with a remedy', async (t) => {
  for (const [name, model] of changed) {
    const differences = await differencesOf(t, model)
    t.equal(differences.length, 1, name)
    t.match(differences, [new RegExp(`^field '${name}' of model 'Note' needs .*, but column '${name}' of table`)])
  }
})

test('D-268: the migration of the documentation makes a table of SQLite anew', async (t) => {
  if (engine !== 'sqlite') return
  const db = await openDatabase(t)
  await createTables(db, [defineModel('Note', { title: text({ maxLength: 80 }) })])
  await db.insertInto('note').values({ title: 'one' }).execute()
  const [, source = ''] =
    /(import [^`]*from 'kysely'\n\nexport async function up \(db\) \{\n {2}await sql`pragma.*?)```/s
      .exec(readFileSync('docs/migrations.md', 'utf8')) ?? []
  await (await importMigration(source)).up(db)
  t.strictSame(await writeMigration(db, [defineModel('Note', { title: text({ maxLength: 200 }) })]), nothing)
  t.strictSame(await db.selectFrom('note').selectAll().execute(), [{ id: 1, title: 'one' }])
})

test('D-268: checks that others wrote are no differences', async (t) => {
  const db = await openDatabase(t)
  for (const statement of [
    `create table own (id ${generated}, age integer not null CHECK (age >= 0), ` +
      'size integer not null check (size >= 0), constraint named check (size <= 100))',
    `create table none (id ${generated}, title varchar(30) not null)`
  ]) await sql.raw(statement).execute(db)
  const Own = defineModel('Own', { age: integer(), size: integer({ minimum: 5 }) })
  const None = defineModel('None', { title: text({ maxLength: 50 }) })
  t.strictSame((await writeMigration(db, [Own, None])).differences, [])
  await createTables(db, [Note])
  for (const check of ["title <> 'x' or score > 3", 'not score >= 1', 'score > 3', 'score + 1 >= 3']) {
    const named = `alter table note add constraint note_title_check9 check (${check})`
    const added = `alter table note add column extra integer check (${check})`
    await sql.raw(engine === 'sqlite' ? added : named).execute(db)
    t.strictSame(await writeMigration(db, [Note]), nothing, check)
    const dropping = engine === 'sqlite' ? 'column extra' : 'constraint note_title_check9'
    await sql.raw(`alter table note drop ${dropping}`).execute(db)
  }
})

test('D-268: checks of another program stay its own after a migration has added indexes and texts', async (t) => {
  const db = await openDatabase(t)
  for (const statement of [
    `create table author (id ${generated}, name varchar(9) not null)`,
    `create table book (id ${generated}, title varchar(9) not null, author_id integer not null, ` +
      'pages integer not null CHECK (pages >= 0), foreign key (author_id) references author (id))'
  ]) await sql.raw(statement).execute(db)
  const Author = defineModel('Author', { name: text({ maxLength: 9 }) })
  const Book = defineModel('Book', {
    title: text({ maxLength: 9 }),
    author: foreignKey(() => Author),
    pages: integer(),
    note: text({ maxLength: 9, nullable: true }),
    unit: text({ unique: true, maxLength: 9, nullable: true })
  })
  const { source, differences } = await writeMigration(db, [Book])
  t.strictSame(differences, [])
  await (await importMigration(String(source))).up(db)
  t.strictSame(await writeMigration(db, [Book]), nothing)
  // Nothing tells the checks that a migration has added from those of the other program.
  const Less = defineModel('Book', { ...Book.fields, note: text({ maxLength: 5, nullable: true }) })
  if (engine === 'postgres') t.strictSame(await writeMigration(db, [Less]), nothing)
})

test('D-268: the remedy is a statement on servers, for checks as they print them', async (t) => {
  const db = await openDatabase(t)
  await createTables(db, [Note])
  const read = await readTables(db, [Note])
  const tables: typeof read = {
    ...read,
    columnOf: (model, column) => {
      const { name } = column
      const found = read.columnOf(model, column)
      const written = name === 'rate'
        ? { written: 'double', collation: null }
        : { written: 'longtext', collation: 'utf8mb4_nopad_bin' }
      return found && { ...found, ...written }
    }
  }
  const remedies = (name: keyof typeof compilers, rows: ReadonlyArray<Pick<CheckRow, 'column' | 'name' | 'text'>>) => {
    const checks = rows.map((row) => ({ ...row, table: 'note' }))
    return changedChecks([Note], { tables, dialect: dialects[name], db: compilers[name], checks })
      .map((text) => text.replace(/^.*needs this check, run: /, ''))
  }
  const name = 'note_it_check'
  t.strictSame(remedies('postgres', [
    { column: 'title', name, text: '(char_length(title) <= 30)' },
    { column: 'title', name, text: "((title)::text = ANY (ARRAY['a'::text, 'it''s'::text]))" },
    { column: 'rate', name, text: '(rate <= (1.5)::double precision)' },
    { column: 'rate', name, text: "(rate <= ('-1.5'::numeric)::double precision)" },
    { column: 'plain', name, text: "(plain = 'a'::text)" },
    { column: 'plain', name, text: '(plain = title)' },
    { column: 'plain', name, text: '(char_length(plain) < 3)' },
    { column: 'plain', name, text: "((plain >= 'a'::text) OR (score > 3))" }
  ]), [
    'alter table "note" drop constraint "note_it_check", add constraint "note_it_check" ' +
      'check (char_length("title") <= 30)',
    'alter table "note" drop constraint "note_it_check", add constraint "note_it_check" check ("rate" <= 1.5)',
    'alter table "note" drop constraint "note_it_check"'
  ])
  t.strictSame(remedies('mariadb', [
    { column: 'state', name: null, text: "`state` in ('open','it\\'s done')" },
    { column: 'state', name: null, text: "`state` = 'open'" },
    { column: 'flag', name: null, text: '`flag` in (0,1)' },
    { column: 'rate', name: null, text: '`rate` <= 1' }
  ]), [
    'alter table `note` modify column `state` longtext collate utf8mb4_nopad_bin ' +
      "default 'open' not null check (`state` in ('open', 'it''s done'))",
    'alter table `note` modify column `rate` double check (`rate` <= 1.5)'
  ])
})

test('D-268: of models that share a table, one has made the check', async (t) => {
  const db = await openDatabase(t)
  await createTables(db, [Note])
  const Short = defineModel('Short', { ...limits, title: text({ maxLength: 9 }) }, { table: 'note' })
  t.strictSame((await writeMigration(db, [Note, Short])).differences, [])
  t.equal((await writeMigration(db, [Short])).differences.length, 1)
})

test('D-268: no check of a table that createTables() made from the model differs', async (t) => {
  const db = await openDatabase(t)
  const Same = defineModel('Same', fields)
  const Pair = defineModel('Pair', {
    size: text({ maxLength: 9 }), rank: integer({ minimum: 1 })
  }, { key: ['size', 'rank'], unique: [['rank', 'size']] })
  await createTables(db, [Target, Same, Pair])
  t.strictSame(await writeMigration(db, [Same, Pair]), nothing)
  await sql.raw('alter table same rename to other').execute(db)
  const Other = defineModel('Other', fields)
  t.strictSame((await writeMigration(db, [Other])).differences, [])
})

test('tables of createTables need no migration for the models that introspect makes of them', async (t) => {
  const Parent = defineModel('Parent', { id: uuid(), name: text({ unique: true }) })
  const Named = defineModel('Named', { id: text({ maxLength: 20 }), title: text() })
  const Whole = defineModel('Whole', {
    parent: foreignKey(() => Parent),
    named: foreignKey(() => Named, { nullable: true, onDelete: 'set null' }),
    plain: text(),
    short: text({ minLength: 2, maxLength: 40, default: 'ab' }),
    unique: text({ unique: true, minLength: 1 }),
    state: text({ enum: ['open', 'done'], default: 'open' }),
    one: text({ enum: ['a b'], nullable: true }),
    count: integer({ minimum: -5, maximum: 100, default: 7 }),
    free: integer({ nullable: true }),
    ratio: number({ minimum: -0.5, maximum: 1e9, default: 0.25 }),
    big: bigint({ default: '9007199254740993' }),
    price: decimal({ precision: 10, scale: 2, default: '1.50' }),
    done: boolean({ default: false }),
    at: datetime({ default: 'now' }),
    day: date({ nullable: true }),
    data: json({ nullable: true }),
    token: uuid({ nullable: true }),
    secret: password({ minLength: 8 })
  }, { unique: [['count', 'state']] })
  const db = await openDatabase(t)
  await createTables(db, [Parent, Named, Whole])
  const { models } = await introspect(db)
  t.strictSame(await writeMigration(db, models), { source: undefined, differences: [] })
  const { fields } = models.find(({ name }) => name === 'Whole')!
  const options = (name: string) => (fields as Record<string, { readonly options: object }>)[name]?.options
  t.match(options('short'), { minLength: 2, maxLength: 40, default: 'ab' })
  t.strictSame(options('state'), { enum: ['open', 'done'], default: 'open' })
  t.strictSame(options('one'), { nullable: true, enum: ['a b'] })
  t.strictSame(options('count'), { minimum: -5, maximum: 100, default: 7 })
  t.strictSame(options('ratio'), { minimum: -0.5, maximum: 1e9, default: 0.25 })
})
