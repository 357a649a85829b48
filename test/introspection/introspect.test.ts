import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import Fastify from 'fastify'
import { sql, type Kysely } from 'kysely'
import { test, type Test } from 'tap'
import { models as siteModels } from '../../examples/site/models.js'
import restModels, {
  createTables, date, defineModel, foreignKey, hashPassword, key, openAuth, text, uuid, type Field,
  type Model, type RestModelsOptions
} from '../../lib/index.js'
import { introspect, type Introspection } from '../../lib/tooling/introspect/introspect.js'
import { describeNote } from '../../lib/tooling/introspect/describe-notes.js'
import { secretColumns } from '../../lib/tooling/introspect/secret-columns.js'
import type { Tables } from '../../lib/engines/executor.js'
import { openSqlite } from '../../lib/sqlite.js'
import { makeChinook } from '../support/chinook.js'
import { checkAnswers } from '../support/answers.js'
import { compile } from '../support/compile.js'
import { bundleScript } from '../support/bundle-script.js'
import { engine, openSeparateDatabase } from '../support/database.js'
import { byName, meaningOf } from './models.js'
import { everything } from './schemas.js'

async function database (t: Test, statements: readonly string[]): Promise<Kysely<Tables>> {
  const db = await openSeparateDatabase(t)
  for (const statement of statements) await sql.raw(statement).execute(db)
  return db
}

/** The generated files that were loaded; the last test compiles them. */
const sources: string[] = []

/** The models of the generated file. */
async function load (t: Test, { source }: Introspection): Promise<readonly Model[]> {
  sources.push(source)
  const path = join(t.testdir(), 'models.ts')
  writeFileSync(path, source)
  const { models } = await import(pathToFileURL(bundleScript(path)).href) as { models: readonly Model[] }
  return models
}

/** An app on models; it starts only if they fit their tables. */
async function serve (
  t: Test, db: Kysely<Tables>, models: readonly Model[], options: Partial<RestModelsOptions> = {}
) {
  const app = Fastify()
  await checkAnswers(t, app)
  t.teardown(async () => { await app.close() })
  await app.register(restModels, { db, ...options })
  for (const model of models) app.restModels.register(model)
  await app.restModels.setup()
  await app.ready()
  return app
}

test('the models of the example database are those of the example', { timeout: 120_000 }, async (t) => {
  const db = await openSeparateDatabase(t)
  await createTables(db, siteModels)
  const found = await introspect(db)
  t.strictSame(found.notes, [])
  t.strictSame(byName(found.models), byName(siteModels))
  const written = await load(t, found)
  t.strictSame(byName(written), byName(siteModels))
  await t.resolves(createTables(db, written), 'they are compared with the tables, which fit')
  t.match((await (await serve(t, db, written)).inject('/api/message/?user__username=alice')).json(), { objects: [] })
})

test('D-248: a table without a primary key is served by a unique index that is never null', async (t) => {
  const text = engine === 'sqlite' ? 'text' : 'varchar(20)'
  const db = await database(t, [
    `create table coupon (code ${text} not null unique, percent integer not null)`,
    `create table price (shop integer not null, item ${text} not null, cents integer, unique (shop, item))`,
    'create table badge (number integer not null, wing integer not null, unique (wing, number), unique (number))',
    `create table draft (title ${text} unique, body ${text})`,
    "insert into coupon values ('A1', 5)",
    "insert into price values (1, 'tea', 300)",
    'insert into badge values (7, 1)'
  ])
  const found = await introspect(db)
  t.strictSame(found.notes.map(describeNote), [
    "Table 'draft' is left out: it has no primary key and no unique index without nulls; add one"
  ])
  const app = await serve(t, db, await load(t, found))
  for (const [path, record] of Object.entries({
    'coupon/A1': { id: 'A1', percent: 5 },
    'price/1,tea': { id: '1,tea', shop: 1, item: 'tea', cents: 300 },
    'badge/7': { id: 7, wing: 1 }
  })) t.strictSame((await app.inject(`/api/${path}/`)).json(), record, path)
})

test('introspect gives a file that compiles and fits, and says what it leaves out', { timeout: 120_000 }, async (t) => {
  const db = await database(t, everything)
  const found = await introspect(db)
  const written = await load(t, found)
  t.strictSame(written.map(meaningOf), found.models.map(meaningOf), 'the file defines what is defined in memory')
  await t.resolves(createTables(db, found.models))
  const app = await serve(t, db, written)
  for (const { name } of written) t.equal((await app.inject(`/api/${name.toLowerCase()}/`)).statusCode, 200, name)

  const text = found.notes.map(describeNote).join('\n')
  const grouped = /shadow table/
  for (const line of text.split('\n')) t.ok(grouped.test(line) || found.source.includes(`// ${line}\n`), line)
  const shadows = /\/\/ Tables 'search_config', .* are left out: each is a shadow table, which tells no key; /
  if (engine === 'sqlite') t.match(found.source, shadows)
  for (const expected of [
    "Table 'keyless' is left out: it has no primary key and no unique index without nulls; add one",
    "Table 'everybody' is left out: it is a view, which tells no key; define its model by hand, with the key as",
    "Table 'country' is left out: it has a primary key 'Country Code' with a name that",
    "Table 'Account Kind' is left out: it has a name",
    "Column 'photo' of table 'person' is left out: it is b",
    "Column 'odd name' of table 'person' is left out: it has a name",
    "Column 'country' of table 'person' refers to 'country', which has no model here; the field is a plain value, " +
      'not a foreign key',
    "Column 'mail' of table 'book' refers to 'person', but not to its primary key; the field is a plain value, " +
      'not a foreign key',
    "Column 'called' of table 'person' has the default "
  ]) t.ok(text.toLowerCase().includes(expected.toLowerCase()), expected)
  t.notMatch(text, /kysely_migration/)
})

test('D-220: a file in JavaScript defines the same models, without types', async (t) => {
  const found = await introspect(await database(t, everything), { language: 'javascript' })
  const path = join(t.testdir(), 'models.mjs')
  writeFileSync(path, found.source)
  const { models } = await import(pathToFileURL(path).href) as { models: readonly Model[] }
  t.strictSame(models.map(meaningOf), found.models.map(meaningOf))
  t.notMatch(found.source, /\btype |: Model| as const/)
})

test('D-85: every kind of column becomes the field that holds it, with its default', async (t) => {
  const { models } = await introspect(await database(t, everything))
  const person = models.find(({ table }) => table === 'person')
  const {
    id, name, mail, nick, password, small, big, ratio, price, flag, tiny, born, made, day, quoted, boss,
    like_value: like, two_words: two, id_value: other
  } =
    Object.fromEntries(person?.columns.map((column) => [column.field, column]) ?? [])
  t.match(id, { kind: 'key', name: 'person_id' })
  t.match(name, { kind: 'text', nullable: false, options: { maxLength: 80 } })
  t.match(mail, { kind: 'text', nullable: true, options: { unique: true } })
  t.same(
    nick?.options, { nullable: true, unique: true },
    'a unique text has no more characters than every engine keeps unique'
  )
  t.match(password, { kind: 'password', options: { default: undefined } })
  t.match(small, { kind: 'integer', options: { default: 3 } })
  t.match(big, { kind: 'bigint', options: { default: '9007199254740993' } })
  t.match(ratio, { kind: 'number', options: { default: 1.5 } })
  t.match(price, { kind: 'decimal', options: { precision: 10, scale: 2 } })
  t.equal(Number(price?.options.default), 1.5)
  t.match(flag, { kind: 'boolean', options: { default: true } })
  t.match(tiny, { kind: 'boolean', nullable: true })
  t.match(born, { kind: 'date', options: { default: 'now' } })
  t.match(made, { kind: 'datetime', options: { default: 'now' } })
  t.match(day, { kind: 'date', options: { default: '2024-02-29' } })
  t.match(quoted, { kind: 'text', options: { default: /^it.*s "so"$/ } })
  t.match(boss, { kind: 'foreignKey', key: 'boss_id', options: { onDelete: 'set null' } })
  t.match(like, { kind: 'integer', name: 'like' })
  t.match(two, { kind: 'text', name: 'two__words_' })
  t.match(other, { kind: 'integer', name: 'id' })
})

/** Texts with what engines print in ways of their own in a default. */
const oddTexts = [
  "it's", 'new\nline', 'back\\slash', "\\'", "'", "''", '\\n', "a\\\\'b", 'tab\tcr\r\u001a\b', '100% \\% \\_',
  "')::text", "''::text", '\\"', '(', "(it's)"
]

test('D-85: a default keeps its quotes, line breaks and backslashes, whatever the type of its column', async (t) => {
  const db = await openSeparateDatabase(t)
  const fields = Object.fromEntries(oddTexts.flatMap((value, index): Array<[string, Field]> =>
    [[`long${index}`, text({ default: value })], [`short${index}`, text({ default: value, unique: true })]]))
  const Thing = defineModel('Thing', fields)
  await createTables(db, [Thing])
  const found = await introspect(db)
  t.strictSame(found.notes, [])
  t.strictSame(byName(await load(t, found)), byName([Thing]))
})

/** Columns whose defaults are written with the escapes of an engine. */
const escaped = {
  sqlite: String.raw`a text default 'it''s \n \', b text default "it's \", c text default ('\')`,
  postgres: String.raw`a text default E'it\'s \n \\ \u0041', b varchar(20) default '\', c text default (U&'\0041\\')`,
  mariadb: String.raw`a longtext default 'it\'s \n \r \Z \\ \% \b \t \q', b varchar(20) default 'it\'s \n \Z \\',
    c text default ('it''s \\')`
}[engine]

test('D-85: a default that others wrote with escapes is the text that the database fills in', async (t) => {
  const db = await database(t, [`create table note (id integer not null primary key, ${escaped})`])
  await sql`insert into note (id) values (1)`.execute(db)
  const { models: [model], notes } = await introspect(db)
  const { rows } = await sql`select a, b, c from note`.execute(db)
  t.strictSame(notes, [])
  t.strictSame([Object.fromEntries(model?.columns.slice(1).map(({ name, options }) => [name, options.default]) ?? [])],
    rows)
})

test('D-85: a default of a text that is written without quotes is what SQLite stores, or has a note', {
  skip: engine !== 'sqlite' && 'servers convert such defaults themselves'
}, async (t) => {
  const db = await database(t, [
    `create table note (id integer not null primary key, a text default 007, b text default +5, c text default -0,
      d varchar(9) default true, e text default 1e3, f text default 1.50, g text default 9223372036854775808)`,
    'insert into note (id) values (1)'
  ])
  const { models: [model], notes } = await introspect(db)
  const { rows } = await sql`select a, b, c from note`.execute(db)
  const declared = model?.columns.slice(1).map(({ name, options }) => [name, options.default]) ?? []
  t.strictSame([Object.fromEntries(declared.slice(0, 3))], rows)
  t.strictSame(declared.slice(3).map(([, value]) => value), [undefined, undefined, undefined, undefined])
  t.strictSame(notes.map(({ column }) => column), ['d', 'e', 'f', 'g'])
})

/** Columns whose type does not keep their default, by their names, and then columns that keep it. */
const altered = {
  sqlite: {
    noted: "a guid not null default '12', b time default '5'",
    kept: "y guid default '12a', z real default 1.5"
  },
  postgres: {
    noted: `a char(5) not null default 'ab   ', b real default 1.23456789, c real default 16777217,
      d numeric(5,-2) default 123, e numeric(20,4) default 1.23456`,
    kept: "x char(5) default 'ab', y real default 0.1, z numeric(5,-2) default 100"
  },
  mariadb: {
    noted: 'a float not null default 1.23456789, b float default 16777217, c float default 1.23456789e-30',
    kept: "w char(5) default 'ab  ', x float default 0.1, y float(9,2) default 123456.78, z double default 1.23456789"
  }
}[engine]

test('D-85: a default that the column would change has a note, because the API could not write it', async (t) => {
  const { noted, kept } = altered
  const db = await database(t, [`create table part (id integer not null primary key, ${noted}, ${kept})`])
  const { models, notes } = await introspect(db)
  t.strictSame(notes.filter(({ why }) => why.startsWith('has the default')).map(({ column }) => column),
    noted.split(/,\s+/).map((column) => column[0]))
  const [Part] = models
  const app = await serve(t, db, models, { defaultAuth: openAuth() })
  const payload = { sqlite: { a: 'x' }, postgres: { id: 1, a: 'ab' }, mariadb: { id: 1, a: 2 } }[engine]
  const answer = await app.inject({ method: 'POST', url: '/api/part/', payload })
  t.equal(answer.statusCode, 201, answer.body)
  await sql`insert into part (id) values (2)`.execute(db)
  const [one, two] = (await app.inject('/api/part/')).json().objects
  for (const { name, options } of Part?.columns ?? []) {
    if ('default' in options) t.same(one[name], two[name], name)
  }
})

/** Columns whose default is the current time, and one whose default no field can declare. */
const filled = {
  sqlite: `a datetime not null default (datetime('now')), b datetime default (strftime('%Y-%m-%d %H:%M:%S', 'now')),
    c text not null default (lower('AB'))`,
  postgres: `a timestamptz not null default timezone('utc'::text, now()), b timestamp default localtimestamp(0),
    c text not null default lower('AB')`,
  mariadb: `a datetime(3) not null default current_timestamp(3), b datetime default (utc_timestamp()),
    c varchar(9) not null default (lower('AB'))`
}[engine]

test('a create without a field gets the default of the database, or the note says how it could', async (t) => {
  const db = await database(t, [`create table event (id integer not null primary key, ${filled})`])
  const { source, models, notes } = await introspect(db)
  t.match(notes.map(describeNote), [/^Column 'c' .* required\. Declare another default, or 'readOnly: true'/])
  t.match(source, /a: datetime\(\{ default: 'now' \}\)/)
  t.match(source, /b: datetime\(\{ nullable: true, default: 'now' \}\)/)
  const [{ a: made, b: changed } = {}] = models.map(({ fields }) => fields)
  const Event = defineModel('event', {
    id: key({ generated: false }), a: made as Field, b: changed as Field, c: text({ readOnly: true })
  })
  const app = await serve(t, db, [Event], { defaultAuth: openAuth() })
  const answer = await app.inject({ method: 'POST', url: '/api/event/', payload: { id: 1 } })
  const { a, b, c } = answer.json()
  t.equal(answer.statusCode, 201)
  t.equal(c, 'ab', 'a column that is readOnly is left to the database')
  for (const moment of [a, b]) t.ok(Math.abs(Date.parse(`${moment}Z`) - Date.now()) < 60_000, moment)
})

test('a domain of PostgreSQL that refuses null becomes a field that must have a value', {
  skip: engine !== 'postgres' && 'which has no domains'
}, async (t) => {
  const db = await database(t, [
    'create domain given as text not null', 'create domain sure as given check (length(value) < 9)',
    'create domain loose as text', 'create table tag (code given unique, a sure, b loose, c loose not null)'
  ])
  const { models, notes, source } = await introspect(db)
  t.strictSame(notes, [])
  t.match(source, /id: text\(\{ column: 'code' \}\),\s+a: text\(\),\s+b: text\(\{ nullable: true \}\),\s+c: text\(\)/)
  const app = await serve(t, db, models, { defaultAuth: openAuth() })
  const create = async (payload: object) => await app.inject({ method: 'POST', url: '/api/tag/', payload })
  const refused = await create({ id: 'x', c: 'c' })
  t.equal(refused.statusCode, 400)
  t.match(refused.json().message, /'a'/)
  t.equal((await create({ id: 'x', a: 'a', c: 'c' })).statusCode, 201)
})

test('SQLite, which knows no types, has columns and keys that no field can be', {
  skip: engine !== 'sqlite' && 'about SQLite'
}, async (t) => {
  const { notes, models } = await introspect(await database(t, everything))
  const text = notes.map(describeNote)
  for (const expected of [
    "Table 'money_key' is left out: it has a primary key 'id' that is money, not an integer, a UUID or a text; " +
      'define by hand a model of a view that shows the key as text',
    "Table 'search' is left out: it is a virtual table, which tells no key; define by hand a model of a view of it",
    "Column 'ctid' of table 'person' is left out: it cannot be a field: field 'ctid' of model 'Model': " +
      "every table of PostgreSQL has a system column 'ctid'; give the field another 'column'",
    "Column 'must' of table 'person' has the default lower('X'), which the field cannot declare: " +
      "on create the field is required. Declare another default, or 'readOnly: true', which leaves the column to the " +
      'database',
    "Column 'short' of table 'person' has the default 'long', which the field cannot declare: " +
      "on create the field is null. Declare another default, or 'readOnly: true', which leaves the column to the " +
      'database'
  ]) t.ok(text.includes(expected), expected)
  t.equal(models.find(({ table }) => table === 'person')?.byName.get('few')?.kind, 'integer')
})

/** The fields of a table by name, and every record of it. */
async function served (t: Test, db: Kysely<Tables>, table: string) {
  const { models, notes } = await introspect(db)
  const app = await serve(t, db, models)
  const model = models.find((found) => found.table === table)
  const answer = model && await app.inject(`/api/${model.name.toLowerCase()}/`)
  return {
    kinds: Object.fromEntries(model?.columns.slice(1).map(({ field, kind }) => [field, kind]) ?? []),
    notes: notes.map(describeNote),
    status: answer?.statusCode,
    objects: answer?.json().objects as unknown
  }
}

test('D-93: where columns hold what their types do not say, the fields are those that answer it', {
  skip: engine !== 'sqlite' && 'about SQLite'
}, async (t) => {
  const db = await database(t, [
    'pragma foreign_keys = off',
    'create table odd (id integer primary key, large integer, huge integer, part integer, word integer, ' +
      `flag boolean, counted boolean, moment datetime, day date, real real, text text, none,
      price decimal(5,2), person integer references person, mixed integer references person)`,
    'create table person (id integer primary key, name text)',
    'create table snow (id integer primary key, name text)',
    'create table named (id int not null primary key, name text)',
    'insert into person (id) values (1)',
    "insert into odd values (1, 3000000000, 9007199254740993, 1.5, 'n/a', 't', 2, 1700000000, 1.5, 'x', x'00', 5, " +
      "1.25, 1, 'ann')",
    'insert into odd values (2, 1, 1, 1, 1, 1, 1, 1, 1, 1, null, null, 1, null, null)',
    "insert into snow values (1234567890123456789, 'x')",
    "insert into named values ('x', 'x')",
    'pragma foreign_keys = on'
  ])
  const { kinds, notes, objects } = await served(t, db, 'odd')
  t.strictSame(kinds, {
    large: 'bigint',
    huge: 'bigint',
    part: 'number',
    counted: 'integer',
    moment: 'integer',
    day: 'number',
    price: 'decimal',
    person: 'foreignKey'
  })
  t.strictSame(objects, [
    {
      id: 1,
      large: '3000000000',
      huge: '9007199254740993',
      part: 1.5,
      counted: 2,
      moment: 1700000000,
      day: 1.5,
      price: '1.25',
      person_id: 1
    },
    { id: 2, large: '1', huge: '1', part: 1, counted: 1, moment: 1, day: 1, price: '1.00', person_id: null }
  ])
  for (const expected of [
    "Column 'large' of table 'odd' holds values that do not fit integer, and becomes bigint",
    "Column 'word' of table 'odd' is left out: it is INTEGER, but holds other values too, " +
      'and no kind of field fits all of them; a generated column or a view can show it as text or JSON',
    "Column 'mixed' of table 'odd' is left out: it is INTEGER, but holds other values too, " +
      'and no kind of field fits all of them; a generated column or a view can show it as text or JSON',
    "Table 'named' is left out: it has a primary key 'id' with values that are not all integers up to 2^53 - 1, " +
      'beyond which JSON numbers lose digits; define by hand a model of a view that shows the key as text',
    "Table 'snow' is left out: it has a primary key 'id' with values that are not all integers up to 2^53 - 1, " +
      'beyond which JSON numbers lose digits; define by hand a model of a view that shows the key as text'
  ]) t.ok(notes.includes(expected), expected)
})

test('D-93: references to what is no key are plain values', {
  skip: engine !== 'sqlite' && 'where nobody need check references'
}, async (t) => {
  const db = await database(t, [
    'create table person (id integer primary key)',
    'create table book (id integer primary key, owner integer references person)', 'pragma foreign_keys = off',
    'insert into book values (1, 0.5)', 'pragma foreign_keys = on'
  ])
  const { kinds, notes, objects } = await served(t, db, 'book')
  t.strictSame([kinds, objects], [{ owner: 'number' }, [{ id: 1, owner: 0.5 }]])
  t.ok(notes.includes(
    "Column 'owner' of table 'book' refers to 'person', but holds values that cannot be its keys; " +
      'the field is a plain value, not a foreign key'
  ))
})

test('D-93: a tinyint(1) that holds other numbers is an integer', {
  skip: engine !== 'mariadb' && 'about MariaDB'
}, async (t) => {
  const db = await database(t, [
    'create table odd (id integer auto_increment primary key, flag tinyint(1), number tinyint(1))',
    'insert into odd values (1, 1, 2)'
  ])
  const { kinds, objects } = await served(t, db, 'odd')
  t.strictSame([kinds, objects], [{ flag: 'boolean', number: 'integer' }, [{ id: 1, flag: true, number: 2 }]])
})

test('a key beyond the integers of JSON leaves its table out', {
  skip: engine === 'sqlite' && 'which is shown above'
}, async (t) => {
  const db = await database(t, [
    'create table snow (id bigint not null primary key, word varchar(9))',
    "insert into snow values (1234567890123456789, 'x')"
  ])
  t.match((await served(t, db, 'snow')).notes, ["Table 'snow' is left out: it has a primary key 'id' with values " +
    'that are not all integers up to 2^53 - 1, beyond which JSON numbers lose digits; define by hand a model of a ' +
    'view that shows the key as text'])
})

test('D-93: negative integers in a key have a note, because no path reaches them', async (t) => {
  const db = await database(t, [
    'create table person (id int not null primary key, name varchar(9))',
    'create table place (id int not null primary key, name varchar(9))',
    "insert into person values (-1, 'system'), (1, 'Ann')", 'insert into place (id) values (0)'
  ])
  const found = await introspect(db)
  t.strictSame(found.notes.map(describeNote), [
    "Column 'id' of table 'person' holds negative integers, which are no keys of the API: lists show such records, " +
      'but no path reaches them; define by hand a model of a view that shows the key as text'
  ])
  const app = await serve(t, db, found.models)
  t.equal((await app.inject('/api/person/')).json().objects.length, 2)
  t.equal((await app.inject('/api/person/-1/')).statusCode, 404)
  t.equal((await app.inject('/api/place/0/')).statusCode, 200)
})

test('one odd table is left out with a note, and the others are there', async (t) => {
  const long = `_${'1'.repeat(59)}`
  const db = await database(t, [
    `create table ${long} (id integer not null primary key, a integer)`,
    'create table plain (id integer not null primary key, a integer)'
  ])
  if (engine !== 'postgres') await sql`create table hidden (ctid integer not null primary key, a integer)`.execute(db)
  const { models, notes } = await introspect(db)
  t.strictSame(models.map(({ name }) => name).sort(), ['Plain', `table_${'1'.repeat(54)}`])
  if (engine !== 'postgres') {
    t.match(notes.map(describeNote), [
      /^Table 'hidden' is left out: it cannot have a model: .*every table of PostgreSQL has a system column 'ctid'/
    ])
  }
  await serve(t, db, models)
})

test('a password column that is too narrow for a hash is said to be so', async (t) => {
  const hash = await hashPassword('secret')
  const db = await database(t, [
    `create table login (id integer not null primary key, password varchar(60), pwd varchar(${hash.length}))`
  ])
  t.strictSame((await introspect(db)).notes.map(describeNote), ["Column 'password' of table 'login' has room for 60 " +
    'characters, but a hash has 97: widen it before the API writes it'])
  t.equal(hash.length, 97)
})

test('a table that may not be read is left out with a note', {
  skip: engine !== 'postgres' && 'other engines show nobody what he may not read'
}, async (t) => {
  const role = `reader_${process.pid}`
  const db = await database(t, [
    'create table closed (id text primary key)', 'create table numbered (id serial primary key, a integer)',
    'create table open (id serial primary key, a integer)', `create role ${role}`
  ])
  t.teardown(async () => { await sql.raw(`drop owned by ${role}; drop role ${role}`).execute(db).catch(() => {}) })
  const { rows: [row] } = await sql<{ schema: string }>`select current_schema() as schema`.execute(db)
  await sql.raw(`grant usage on schema ${row?.schema} to ${role}; grant select on open to ${role}`).execute(db)
  await db.connection().execute(async (connection) => {
    await sql.raw(`set role ${role}`).execute(connection)
    const { models, notes } = await introspect(connection)
    await sql`reset role`.execute(connection)
    t.strictSame(models.map(({ name }) => name), ['Open'])
    t.strictSame(notes.map(describeNote), ['closed', 'numbered'].map((table) =>
      `Table '${table}' is left out: it cannot be read: permission denied for table ${table}`))
  })
})

test('names of models and fields are unique, whatever their case, and near to those of the database', async (t) => {
  const { models, source } = await introspect(await database(t, everything))
  const names = models.map(({ name, table }) => [table, name])
  t.same(new Set(names.map(([, name]) => name?.toLowerCase())).size, names.length)
  t.ok(names.some(([table, name]) => table === 'Author' && name === 'Author'))
  t.ok(names.some(([table, name]) => table === 'pair_user' && name === 'pair_user'))
  const orderLine = names.find(([table]) => table?.toLowerCase() === 'order_line')
  t.equal(orderLine?.[1]?.toLowerCase(), 'order_line')
  t.match(source, "export const Model_ = defineModel('Model', {", 'a constant does not hide a type that is imported')
})

test('D-207: a foreign key beside a column of its name has the name of its own column as a key', async (t) => {
  const key = {
    sqlite: 'integer primary key', postgres: 'serial primary key', mariadb: 'integer auto_increment primary key'
  }[engine]
  const texts = ['author', 'author2', 'editor_id'].map((column) => `${column} varchar(9)`)
  const references = ['author_id', 'editor'].map((column) => `${column} integer`)
  const foreign = ['author_id', 'editor'].map((column) => `foreign key (${column}) references topic (id)`)
  const db = await database(t, [
    `create table topic (id ${key}, name varchar(9))`,
    `create table doc (id ${key}, ${[...texts, ...references, ...foreign].join(', ')})`,
    `create table paper (id ${key}, ${[...references, ...texts, ...foreign].join(', ')})`,
    "insert into topic (name) values ('x')"
  ])
  const found = await introspect(db)
  t.strictSame(found.notes, [])
  const app = await serve(t, db, await load(t, found), { defaultAuth: openAuth() })
  const record = { author: 'Ann', author_id: 1, author2: 'Bob', editor: 1, editor_id: 'E' }
  for (const table of ['doc', 'paper']) {
    const { fields } = found.models.find((model) => model.table === table) ?? {}
    t.match(fields, { author3: { options: { key: 'author_id' } }, editor2: { options: { key: 'editor' } } })
    const created = await app.inject({ method: 'POST', url: `/api/${table}/`, payload: record })
    t.match(created.json(), { id: 1, ...record })
    const query = 'author_id=1&author=Ann&editor=1&author3__name=x'
    t.match((await app.inject(`/api/${table}/?${query}`)).json(), { objects: [record] })
  }
})

test('D-207: two foreign keys that would be one field have the names of their columns as keys', async (t) => {
  const key = {
    sqlite: 'integer primary key', postgres: 'serial primary key', mariadb: 'integer auto_increment primary key'
  }[engine]
  const foreign = (columns: readonly string[]): string => [
    ...columns.map((column) => `${column} integer`),
    ...columns.map((column) => `foreign key (${column}) references topic (id)`)
  ].join(', ')
  const db = await database(t, [
    `create table topic (id ${key}, name varchar(9))`,
    `create table doc (id ${key}, ${foreign(['author', 'author_id'])})`,
    `create table paper (id ${key}, ${foreign(['author_id', 'author', 'author2'])})`,
    "insert into topic (name) values ('x'), ('y'), ('z')"
  ])
  const found = await introspect(db)
  t.strictSame(found.notes, [])
  const app = await serve(t, db, await load(t, found), { defaultAuth: openAuth() })
  for (const [table, record] of Object.entries({ doc: {}, paper: { author2_id: 3 } })) {
    const payload = { author: 1, author_id: 2, ...record }
    t.match((await app.inject({ method: 'POST', url: `/api/${table}/`, payload })).json(), { id: 1, ...payload })
    const { rows: [row] } = await sql`select * from ${sql.table(table)}`.execute(db)
    t.match(row, { author: 1, author_id: 2 })
    t.match((await app.inject(`/api/${table}/?author=1&author_id=2`)).json(), { objects: [payload] })
  }
})

test('tables that createTables made come back as the models that they were made of', async (t) => {
  const Folder = defineModel('Folder', { id: uuid({ column: 'folder' }), name: text() })
  const Sheet: Model = defineModel('Sheet', {
    id: key({ column: 'number' }),
    folder: foreignKey(() => Folder, { onDelete: 'cascade' }),
    before: foreignKey((): Model => Sheet, { nullable: true, unique: true, onDelete: 'set null' })
  })
  const db = await openSeparateDatabase(t)
  await createTables(db, [Folder, Sheet])
  await db.insertInto('folder').values({ folder: '0f8fad5b-d9cb-469f-a165-70867728950e', name: 'x' }).execute()
  t.strictSame(byName((await introspect(db)).models), byName([Folder, Sheet]))
})

test('unique indexes of several columns are the option unique', { timeout: 120_000 }, async (t) => {
  const Client = defineModel('Client', { name: text({ maxLength: 40 }) })
  const Job = defineModel('Job', {
    owner: foreignKey(() => Client, { column: 'client' }),
    title: text({ maxLength: 80 }),
    state: text({ maxLength: 9, column: 'State' }),
    day: date(),
    note: text()
  }, { table: 'jobs', unique: [['owner', 'title'], ['day', 'state', 'title']] })
  const db = await openSeparateDatabase(t)
  await createTables(db, [Client, Job])
  // They declare nothing new: the same columns, an expression, some rows only.
  await sql`create unique index again on jobs (title, client)`.execute(db)
  if (engine !== 'mariadb') await sql`create unique index other on jobs (lower(title), day)`.execute(db)
  if (engine !== 'mariadb') await sql`create unique index part on jobs (client, day) where id > 5`.execute(db)
  if (engine === 'mariadb') await sql`create unique index other on jobs (title(3), day)`.execute(db)
  const found = await introspect(db)
  t.strictSame(found.notes, [])
  const { uniqueTogether = [] } = found.models.find(({ table }) => table === 'jobs') ?? {}
  const keys = new Set(uniqueTogether.map((columns) => columns.map(({ key }) => key).sort().join()))
  t.strictSame(keys, new Set(['client_id,title', 'State,day,title']))
  t.equal(uniqueTogether.length, 2)
  const { options: { maxLength } } = uniqueTogether.flat().find(({ key }) => key === 'State') ?? { options: {} }
  t.equal(maxLength, 9, 'by its type, or by its check')
  t.match(found.source, /note: text\(\)\n\}, \{ unique: \[\['\w+', '\w+'/)
  const written = await load(t, found)
  t.strictSame(byName(written), byName(found.models))
  await t.resolves(createTables(db, written))
  await t.resolves(serve(t, db, written))
})

test('a unique index of columns that cannot be unique together is told in a note', async (t) => {
  const binary = { sqlite: 'blob', postgres: 'bytea', mariadb: 'binary(4)' }[engine]
  const text = (length: number) => `varchar(${length})${engine === 'mariadb' ? ' character set ascii' : ''}`
  const db = await database(t, [
    `create table lengthy (id integer not null primary key, a ${text(400)}, b ${text(201)}, c integer, password ` +
      `${text(99)}, bytes ${binary}, unique (a, b), unique (c, a), unique (c, password), unique (c, bytes))`
  ])
  const { models, notes } = await introspect(db)
  t.strictSame(models[0]?.uniqueTogether.map((columns) => columns.map(({ field }) => field)), [['c', 'a']])
  t.strictSame(new Set(notes.filter(({ column }) => column !== 'bytes').map(describeNote)), new Set([
    "Column 'a' of table 'lengthy' is unique together with b, which the model does not declare: the texts of the " +
      "entry a, b of 'unique' have 601 characters, but together at most 600, because an engine cannot index longer " +
      "texts; give them a lower 'maxLength'",
    "Column 'c' of table 'lengthy' is unique together with password, which the model does not declare: 'unique' " +
      "names 'password', which is a password and cannot be unique; leave it out"
  ]))
})

test('D-84: a text is a UUID as a primary key if its values are UUIDs in lower case, otherwise a text', {
  skip: engine === 'postgres' && 'which has a type for them'
}, async (t) => {
  const db = await database(t, ['create table tag (id varchar(36) not null primary key, word varchar(9))'])
  t.match((await introspect(db)).models.map(({ columns: [key] }) => key.kind), ['text'], 'no row tells')
  await db.insertInto('tag').values({ id: '0f8fad5b-d9cb-469f-a165-70867728950e' }).execute()
  t.match((await introspect(db)).models.map(({ columns: [key] }) => key.kind), ['uuid'])
  await db.insertInto('tag').values({ id: 'x' }).execute()
  t.match((await introspect(db)).models.map(({ primaryKey }) => primaryKey), [{
    kind: 'text', options: { maxLength: 36 }
  }])
})

test('models that refer to each other are annotated by name, so that a client finds their fields', async (t) => {
  const found = await introspect(await database(t, [
    'create table fieldhand (id integer primary key, name varchar(9), boss integer references fieldhand (id))'
  ]))
  t.match(found.source, /boss: foreignKey\(\(\): Model<'Fieldhand'> => Fieldhand/)
  t.match(found.source, /^import .*, type Model \} from/)
  t.strictSame(byName(await load(t, found)), byName(found.models))
})

test('D-193: texts are primary keys, and what refers to them are foreign keys', async (t) => {
  const db = await database(t, [
    'create table country (iso varchar(2) not null primary key, name varchar(40))',
    "create table city (code varchar(255) default 'x' not null primary key, country varchar(2) not null, " +
      'capital_of varchar(2), near varchar(255), foreign key (country) references country (iso) on delete cascade, ' +
      'foreign key (capital_of) references country (iso), foreign key (near) references city (code))'
  ])
  await db.insertInto('country').values([{ iso: 'nz', name: 'x' }]).execute()
  await db.insertInto('city').values([{ code: 'a/b', country: 'nz', near: 'a/b' }]).execute()
  const found = await introspect(db)
  t.match(found.notes.map(describeNote), [/^Column 'code' of table 'city' has the default '?x.*'id' is required/])
  t.match(found.source, /id: text\(\{ maxLength: 2, column: 'iso' \}\)/)
  t.match(found.source, /id: text\(\{ column: 'code' \}\)/)
  t.match(found.source, /near: foreignKey\(\(\): Model<'City', \{ id: Field<'text'> \}> => City/)
  const written = await load(t, found)
  t.strictSame(byName(written), byName(found.models))
  const app = await serve(t, db, written)
  t.strictSame((await app.inject('/api/city/a%2Fb/')).json(), {
    id: 'a/b', country_id: 'nz', capital_of_id: null, near_id: 'a/b'
  })
})

test('D-197: tables whose keys have several columns are read, written and served', async (t) => {
  const db = await database(t, [
    'create table film (id varchar(9) not null primary key, name varchar(40))',
    'create table role (actor integer not null, film varchar(9) not null, part varchar(30) not null, ' +
      'note varchar(9), primary key (part, film, actor), ' +
      'foreign key (film) references film (id) on delete cascade, unique (note, film))',
    `create table seen (at ${engine === 'postgres' ? 'timestamp' : 'datetime'} not null, who integer not null, ` +
      'primary key (who, at))'
  ])
  await db.insertInto('film').values({ id: 'f', name: 'x' }).execute()
  await db.insertInto('role').values({ actor: 7, film: 'f', part: 'a/b', note: null }).execute()
  const found = await introspect(db)
  t.match(found.notes.map(describeNote), [
    /'seen' is left out: .* several columns \(who, at\) that a model cannot have: 'key' names 'at', which is a datetime/
  ])
  t.match(found.source, /key: \['part', 'film', 'actor'\], unique: \[\['note', 'film'\]\]/)
  const written = await load(t, found)
  t.strictSame(byName(written), byName(found.models))
  await t.resolves(createTables(db, written))
  const app = await serve(t, db, written)
  t.strictSame((await app.inject('/api/role/a%2Fb,f,7/')).json(), {
    id: 'a%2Fb,f,7', actor: 7, film_id: 'f', part: 'a/b', note: null
  })
})

test('D-193: a key of SQLite that is not said to be not null is one, unless it is null somewhere', {
  skip: engine !== 'sqlite' && 'about SQLite'
}, async (t) => {
  const db = await database(t, ['create table word (name text primary key, sense text)'])
  const found = await introspect(db)
  await t.resolves(serve(t, db, found.models))
  await db.insertInto('word').values({ name: null }).execute()
  t.match((await introspect(db)).notes, [
    { table: 'word', why: "has a primary key 'name' that may be null; declare it not null" }
  ])
})

test('D-197: a key of several columns of SQLite is one, unless one of them is null somewhere', {
  skip: engine !== 'sqlite' && 'about SQLite'
}, async (t) => {
  const db = await database(t, ['create table pair (a integer, b integer, primary key (a, b))'])
  const found = await introspect(db)
  t.strictSame(found.notes, [])
  t.strictSame(found.models.map(({ name }) => name), ['Pair'])
  await db.insertInto('pair').values({ a: 1, b: null }).execute()
  t.strictSame((await introspect(db)).notes, [
    { table: 'pair', why: "has a primary key with 'b', which may be null; declare it not null" }
  ])
})

test('D-197: a key of several columns of SQLite leaves its table out if one of them cannot be a field', {
  skip: engine !== 'sqlite' && 'about SQLite'
}, async (t) => {
  const { models, notes } = await introspect(await database(t, [
    'create table part (a integer not null, hash blob not null, primary key (a, hash))',
    'create table place (a integer not null, spot geometry not null, primary key (a, spot))'
  ]))
  t.strictSame(models, [])
  t.strictSame(notes.map(describeNote), [
    "Table 'part' is left out: it has a primary key of several columns (a, hash), of which 'hash' cannot be a field: " +
      'it is BLOB, for which there is no kind of field; define by hand a model of a view that shows the key as text',
    "Table 'place' is left out: it has a primary key of several columns (a, spot), of which 'spot' cannot be a " +
      'field: it is geometry, for which there is no kind of field; define by hand a model of a view that shows the ' +
      'key as text'
  ])
})

test('only the tables that are named are looked at, and must exist', async (t) => {
  const db = await openSeparateDatabase(t)
  await createTables(db, siteModels)
  const { models, notes } = await introspect(db, { tables: ['message', 'note'] })
  t.strictSame(models.map(({ name }) => name), ['Message', 'Note'])
  t.match(notes, [{ table: 'message', column: 'user_id', why: /refers to 'user', which has no model here/ }])
  t.match(models[0]?.byName.get('user_id'), { kind: engine === 'sqlite' ? 'integer' : 'bigint' })
  await t.rejects(introspect(db, { tables: ['mesage'] }), {
    code: 'REST_MODELS_INVALID_OPTIONS', message: /no table 'mesage', did you mean 'message'/
  })
})

test('introspect refuses options that it does not have', async (t) => {
  const options: object = { table: ['message'] }
  await t.rejects(introspect(await database(t, everything), options), {
    code: 'REST_MODELS_INVALID_OPTIONS', message: "introspect() has an unknown option 'table', did you mean 'tables'?"
  })
})

test('a database without tables gives a file that says so and compiles', { timeout: 120_000 }, async (t) => {
  const found = await introspect(await openSeparateDatabase(t))
  t.match(found.source, /There is no table that can have a model/)
  t.strictSame(await load(t, found), [])
})

test('Chinook: the models compile, fit the tables and are served', { timeout: 120_000 }, async (t) => {
  const db = await openSeparateDatabase(t)
  await makeChinook(db, engine)
  const found = await introspect(db)
  t.strictSame(found.notes, [])
  const models = await load(t, found)
  t.strictSame(models.map(({ name }) => name).sort(), [
    'Album', 'Artist', 'Customer', 'Employee', 'Genre', 'Invoice', 'InvoiceLine', 'MediaType', 'Playlist',
    'PlaylistTrack', 'Track'
  ])
  t.match(models.find(({ name }) => name === 'Invoice')?.byName.get('Total'), {
    kind: 'decimal', options: { precision: 10, scale: 2 }, nullable: false
  })
  const app = await serve(t, db, models)
  t.match((await app.inject('/api/track/?Album__Artist__Name=Null%20Pointers')).json(), {
    objects: [{
      id: 2,
      Name: 'Dangling',
      AlbumId: 2,
      MediaTypeId: 1,
      GenreId: 2,
      Composer: null,
      Milliseconds: 185000,
      Bytes: null,
      UnitPrice: '1.98'
    }]
  })
  t.match((await app.inject('/api/employee/?ReportsTo__LastName=Root')).json(), {
    objects: [{ id: 2, ReportsTo_id: 1, HireDate: '2021-03-04 00:00:00' }]
  })
  t.match((await app.inject('/api/invoice/1/')).json(), {
    id: 1, CustomerId: 1, InvoiceDate: '2024-05-06 07:08:09', Total: '2.97'
  })
  t.match((await app.inject('/api/invoiceline/?ordering=-UnitPrice&limit=1')).json(), { objects: [{ id: 2 }] })
})

test('SQLite: a table named almost like those of the engine is there, and only a row id is generated', async (t) => {
  const db = openSqlite(':memory:')
  t.teardown(async () => { await db.destroy() })
  await sql`create table sqlitedata (id integer primary key, a text not null)`.execute(db)
  await sql`create table down (id integer primary key desc, a text not null)`.execute(db)
  const { source } = await introspect(db)
  t.match(source, /Sqlitedata = defineModel\('Sqlitedata', \{\n {2}a: text\(\)\n\}\)/)
  t.match(source, /Down = defineModel\('Down', \{\n {2}id: key\(\{ generated: false \}\)/)
})

test('PostgreSQL: any sequence makes a key, and a default that makes UUIDs fills no foreign key', {
  skip: engine !== 'postgres' && 'about PostgreSQL'
}, async (t) => {
  const db = await database(t, [
    'create sequence numbers start 7',
    'create table person (id uuid primary key default gen_random_uuid(), name text)',
    `create table ticket (id integer primary key default nextval('numbers'), title text not null,
      person_id uuid not null default gen_random_uuid() references person (id))`
  ])
  const { source, models, notes } = await introspect(db)
  t.match(source, /Ticket = defineModel\('Ticket', \{\n {2}title: text\(\),\n {2}person: foreignKey\(\(\) => Person\)/)
  t.match(notes.map(describeNote), [/^Column 'person_id' .*gen_random_uuid.* required\. /])
  const app = await serve(t, db, models, { defaultAuth: openAuth() })
  const post = async (url: string, payload: object) => (await app.inject({ method: 'POST', url, payload })).json()
  const { id: person } = await post('/api/person/', { name: 'Ann' })
  t.match(await post('/api/ticket/', { title: 'a', person }), { id: 7, title: 'a', person_id: person })
})

test('MariaDB: a sequence makes a key, and fills other columns', {
  skip: engine !== 'mariadb' && 'about MariaDB'
}, async (t) => {
  const db = await database(t, [
    'create sequence numbers start with 7 cache 1',
    `create table ticket (id bigint not null default nextval(numbers) primary key, title varchar(9) not null,
      place bigint not null default nextval(numbers))`
  ])
  const { source, models, notes } = await introspect(db, { tables: ['ticket'] })
  t.strictSame(notes, [])
  t.match(source,
    /Ticket = defineModel\('Ticket', \{\n {2}title: text\(.*\),\n {2}place: bigint\(\{ readOnly: true \}\)/)
  const app = await serve(t, db, models, { defaultAuth: openAuth() })
  for (const id of [7, 9]) {
    const created = await app.inject({ method: 'POST', url: '/api/ticket/', payload: { title: 'a' } })
    t.match(created.json(), { id, title: 'a', place: String(id + 1) })
  }
})

test('an integer key with a default that no model declares has a note', async (t) => {
  const db = await database(t, ['create table ticket (id int default 5 not null primary key, title varchar(9))'])
  const { source, notes } = await introspect(db)
  t.match(notes.map(describeNote), [
    "Column 'id' of table 'ticket' has the default 5, which the key cannot declare: on create 'id' is required"
  ])
  t.match(source, 'id: key({ generated: false })')
})

test('D-84: an integer key that is also a foreign key is sent by clients, and a note names its target', async (t) => {
  const key = { sqlite: '', postgres: 'generated by default as identity', mariadb: 'auto_increment' }[engine]
  const db = await database(t, [
    `create table place (id integer not null ${key} primary key, name varchar(50) not null)`,
    `create table restaurant (place_ptr_id integer not null ${key} primary key, pizza integer,
      foreign key (place_ptr_id) references place (id))`,
    "insert into place (name) values ('One'), ('Town hall'), ('Two')", 'insert into restaurant values (1, 1)'
  ])
  const found = await introspect(db)
  t.strictSame(found.notes.map(describeNote), [
    "Column 'place_ptr_id' of table 'restaurant' also refers to 'place', which the key cannot declare: no 'include' " +
      "and no filter follows it, and a create must send 'id'"
  ])
  t.match(found.source, "id: key({ column: 'place_ptr_id', generated: false })")
  t.match(found.source, "// Column 'place_ptr_id' of table 'restaurant' also refers to 'place'")
  const app = await serve(t, db, await load(t, found), { defaultAuth: openAuth() })
  const create = async (payload: object) => await app.inject({ method: 'POST', url: '/api/restaurant/', payload })
  t.equal((await create({ pizza: 0 })).statusCode, 400, 'the database would attach it to any place')
  t.strictSame((await create({ id: 3, pizza: 0 })).json(), { id: 3, pizza: 0 })
  t.equal((await create({ id: 4, pizza: 0 })).statusCode, 409, 'there is no such place')
})

test('D-84: a UUID or a text that is also a foreign key is sent by clients, and a note names its target', async (t) => {
  const type = engine === 'sqlite' ? 'varchar(36)' : 'uuid'
  const ids = ['0f8fad5b-d9cb-469f-a165-70867728950e', '7c9e6679-7425-40de-944b-e07fc1f90ae7']
  const db = await database(t, [
    `create table person (id ${type} not null primary key, code varchar(9) not null unique)`,
    `create table profile (id ${type} not null primary key, site varchar(9), friend ${type},
      foreign key (id) references person (id), foreign key (friend) references profile (id))`,
    'create table badge (code varchar(9) not null primary key, foreign key (code) references person (code))',
    `insert into person values ('${ids[0]}', 'a'), ('${ids[1]}', 'b')`, `insert into profile (id) values ('${ids[0]}')`
  ])
  const found = await introspect(db)
  const told = "also refers to 'person', which the key cannot declare: no 'include' and no filter follows it, and a " +
    "create must send 'id'"
  t.strictSame(found.notes.map(describeNote), [
    `Column 'code' of table 'badge' ${told}`, `Column 'id' of table 'profile' ${told}`
  ])
  t.match(found.source, 'id: uuid({ clientGenerated: true })')
  const app = await serve(t, db, await load(t, found), { defaultAuth: openAuth() })
  const payload = { id: ids[1], site: 'x', friend_id: ids[0] }
  t.strictSame((await app.inject({ method: 'POST', url: '/api/profile/', payload })).json(), payload)
  t.strictSame((await app.inject({ method: 'POST', url: '/api/badge/', payload: { id: 'b' } })).json(), { id: 'b' })
})

test('D-273: a note says of a key that the database computes that no record can be created', {
  skip: engine === 'mariadb' && 'which permits no such key'
}, async (t) => {
  const computed = "generated always as ('k' || v) stored not null unique"
  const db = await database(t, [`create table word (v varchar(9) not null, k text ${computed})`])
  const { notes } = await introspect(db)
  t.strictSame(notes.map(describeNote), [
    "Column 'k' of table 'word' is a key that the database computes, so that no record can be created: close creates " +
      "in the policy, with closed: ['create']"
  ])
})

test('D-86: a column that a secret refers to is a secret as well, unless it is a primary key', async (t) => {
  const db = await database(t, [
    'create table issued (id integer not null primary key, word varchar(36) unique, note varchar(9))',
    `create table account (id integer not null primary key, token varchar(36), pin integer,
      foreign key (token) references issued (word), foreign key (pin) references issued (id))`,
    'create table used (id integer not null primary key, copy varchar(36), foreign key (copy) references issued (word))'
  ])
  const secrets = async (...shown: string[]) => [...await secretColumns(db, shown)].sort()
  t.strictSame(await secrets(), ['account.pin', 'account.token', 'issued.word', 'used.copy'])
  t.strictSame(await secrets('issued.word'), ['account.pin', 'account.token'])
  t.strictSame(await secrets('account.token'), ['account.pin'])
})

test('D-205: a table or column that a model can be called after does not lose its name to another one', async (t) => {
  const columns = 'id integer not null primary key, _state varchar(9), state varchar(9)'
  const db = await database(t, [`create table _people (${columns})`, `create table people (${columns})`])
  const models = await load(t, await introspect(db))
  const names = Object.fromEntries(models.map(({ name, table }) => [table, name.toLowerCase()]))
  t.strictSame(names, { people: 'people', _people: 'people2' })
  for (const { columns } of models) {
    t.strictSame(Object.fromEntries(columns.map(({ field, name }) => [name, field])), {
      id: 'id', _state: 'state2', state: 'state'
    })
  }
})

test('the generated files compile with the settings of the project', (t) => {
  t.ok(sources.length >= 9, `${sources.length} files`)
  const files = Object.fromEntries(sources.map((source, index) => [`models-${index}.ts`, source]))
  const folder = t.testdir(files)
  t.strictSame(compile(Object.keys(files).map((name) => join(folder, name))), [])
  t.end()
})
