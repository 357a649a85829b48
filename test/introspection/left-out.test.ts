import Fastify from 'fastify'
import { sql, type Kysely } from 'kysely'
import { test, type Test } from 'tap'
import type { Tables } from '../../lib/engines/executor.js'
import restModels, { defineModel, key, openAuth, text } from '../../lib/index.js'
import { describeNote } from '../../lib/tooling/introspect/describe-notes.js'
import { introspect, type Introspection } from '../../lib/tooling/introspect/introspect.js'
import { checkAnswers } from '../support/answers.js'
import { engine, openSeparateDatabase } from '../support/database.js'

interface Found extends Introspection {
  /** The notes as lines. */
  readonly lines: readonly string[]
  /** Returns the answer to a GET below `/api/` of an app that serves the models. */
  get (path: string): Promise<unknown>
}

/** Reads the models of new tables, and serves them. */
async function find (t: Test, ...statements: readonly string[]): Promise<Found> {
  const db: Kysely<Tables> = await openSeparateDatabase(t)
  for (const statement of statements) await sql.raw(statement).execute(db)
  const found = await introspect(db)
  const app = Fastify()
  await checkAnswers(t, app)
  t.teardown(async () => { await app.close() })
  await app.register(restModels, { db })
  for (const model of found.models) app.restModels.register(model)
  await app.restModels.setup()
  await app.ready()
  const get = async (path: string): Promise<unknown> => (await app.inject(`/api/${path}`)).json()
  return { ...found, lines: found.notes.map(describeNote), get }
}

const byView = 'define by hand a model of a view that shows the key as text'

test('a year of MariaDB is no primary key, because keys are integers of any size', {
  skip: engine !== 'mariadb' && 'about a type of MariaDB'
}, async (t) => {
  const { lines, models, get } = await find(
    t, 'create table yearly (y year primary key, t text)',
    'create table report (id integer auto_increment primary key, y year, foreign key (y) references yearly (y))',
    'create table monthly (y year not null, m integer not null, t varchar(9), primary key (y, m))',
    "insert into yearly values (1970, 'x')", 'insert into report values (1, 1970)',
    "insert into monthly values (1970, 2, 'x')"
  )
  t.strictSame(lines, [
    `Table 'yearly' is left out: it has a primary key 'y' that is year(4), not an integer, a UUID or a text; ${byView}`,
    "Column 'y' of table 'report' refers to 'yearly', which has no model here; the field is a plain value, " +
      'not a foreign key'
  ])
  t.strictSame(models.map(({ name }) => name), ['Monthly', 'Report'])
  t.strictSame(await get('report/1/'), { id: 1, y: 1970 })
  t.strictSame(await get('monthly/1970,2/'), { id: '1970,2', y: 1970, m: 2, t: 'x' })
})

test('a column called id may be a part of a key of several columns', async (t) => {
  const id = { sqlite: 'bigint', postgres: 'bigserial', mariadb: 'bigint auto_increment' }[engine]
  const { source, lines, get } = await find(
    t, `create table part2 (id ${id}, region varchar(10) not null, v integer default 3, primary key (id, region))`,
    'create table pair (id_value integer, id integer, key_value integer, primary key (id_value, id))',
    "insert into part2 (id, region, v) values (7, 'eu', 1)", 'insert into pair values (1, 2, 3)'
  )
  t.strictSame(lines, [])
  t.match(source, "key: ['id_value', 'region']")
  t.strictSame(await get('part2/7,eu/'), { id: '7,eu', id_value: '7', region: 'eu', v: 1 })
  t.match(await get('pair/'), { objects: [{ id: '1,2' }] })
})

test('a foreign key of several columns, or to a part of such a key, is named with its reason', async (t) => {
  const { lines } = await find(
    t, 'create table room (house integer not null, number integer not null unique, primary key (house, number))',
    `create table bed (
      id integer primary key, house integer not null, room integer not null, opposite integer,
      foreign key (house, room) references room (house, number), foreign key (opposite) references room (number))`
  )
  t.strictSame(lines.filter((line) => line.includes("'bed' refers")), [
    "'house' of table 'bed' refers to 'room' together with 'room'",
    "'room' of table 'bed' refers to 'room' together with 'house'",
    "'opposite' of table 'bed' refers to 'room', whose primary key has several columns"
  ].map((words) => `Column ${words}; the field is a plain value, not a foreign key`))
})

test('a second foreign key of a column is named with the remedy, unless it repeats the first', async (t) => {
  const { lines, source } = await find(
    t, 'create table author (id integer primary key)', 'create table member (id integer primary key)',
    `create table post (id integer primary key, writer_id integer, editor_id integer,
      constraint a foreign key (writer_id) references author (id),
      constraint b foreign key (writer_id) references member (id),
      constraint c foreign key (editor_id) references member (id),
      constraint d foreign key (editor_id) references member (id))`
  )
  const target = /writer: foreignKey\(\(\) => (\w+)/.exec(source)?.[1]
  const other = target === 'Author' ? 'member' : 'author'
  t.strictSame(lines, [`Column 'writer_id' of table 'post' also refers to '${other}', which the field cannot ` +
    'declare; the database still checks it. To follow it instead, name its model in foreignKey()'])
  t.match(source, /editor: foreignKey\(\(\) => Member/)
})

test('SQLite: a foreign key of a type that holds no key of its target is a plain value', {
  skip: engine !== 'sqlite' && 'servers demand the type of the target'
}, async (t) => {
  const { lines } = await find(
    t, 'create table tag (id integer primary key)',
    'create table mark (id integer primary key, word text references tag, bare references tag)'
  )
  const plain = 'the field is a plain value, not a foreign key'
  t.strictSame(lines, [
    `Column 'word' of table 'mark' refers to 'tag', but is TEXT, which cannot hold its keys; ${plain}`,
    `Column 'bare' of table 'mark' refers to 'tag', but is of no type, which cannot hold its keys; ${plain}`
  ])
})

const oddName = 'that does not consist of at most 60 letters from A to Z, digits and underscores, ' +
  'with no digit at its start'
const renamed = 'rename it, or define by hand a model of a view that gives it another name'
const moment = engine === 'postgres' ? 'timestamp' : 'datetime'
const quote = (name: string): string => engine === 'mariadb' ? `\`${name}\`` : `"${name}"`

test('each table and column that is left out has a reason and a remedy', async (t) => {
  const { lines } = await find(
    t, `create table ${quote('Order Details')} (id integer not null primary key)`,
    `create table ${quote('Üser')} (id integer not null primary key)`,
    `create table moments (at ${moment} not null primary key, t varchar(9))`,
    'create table amounts (amount decimal(5, 2) not null primary key, t varchar(9))',
    `create table seen (at ${moment} not null, who integer not null, primary key (who, at))`,
    `create table coins (${quote('$id')} integer not null primary key)`,
    `create table parts (a integer not null, ${quote('a b')} integer not null, primary key (a, ${quote('a b')}))`,
    `create table odd (id integer not null primary key, ${quote('$cost')} integer, ${quote('Größe')} integer)`
  )
  const written = {
    sqlite: ['datetime', 'decimal(5, 2)'],
    postgres: ['timestamp without time zone', 'numeric(5,2)'],
    mariadb: ['datetime', 'decimal(5,2)']
  }[engine]
  const kinds = 'text, integer, bigint, boolean, date, uuid, foreignKey'
  const column = 'rename it, or show it by a generated column or a view with another name'
  t.strictSame(new Set(lines), new Set([
    `Table 'Order Details' is left out: it has a name ${oddName}; ${renamed}`,
    `Table 'Üser' is left out: it has a name ${oddName}; ${renamed}`,
    `Table 'moments' is left out: it has a primary key 'at' that is ${written[0]}, not an integer, a UUID or a text; ` +
      byView,
    `Table 'amounts' is left out: it has a primary key 'amount' that is ${written[1]}, not an integer, a UUID or a ` +
      `text; ${byView}`,
    "Table 'seen' is left out: it has a primary key of several columns (who, at) that a model cannot have: 'key' " +
      `names 'at', which is a datetime; a field of a key is one of ${kinds}; ${byView}`,
    `Table 'coins' is left out: it has a primary key '$id' with a name ${oddName}; ${renamed}`,
    "Table 'parts' is left out: it has a primary key of several columns (a, a b), of which 'a b' cannot be a field: " +
      `it has a name ${oddName}; ${byView}`,
    `Column '$cost' of table 'odd' is left out: it has a name ${oddName}; ${column}`,
    `Column 'Größe' of table 'odd' is left out: it has a name ${oddName}; ${column}`
  ]))
})

const viewed = 'which tells no key; define by hand a model of a view of it'

test('what is no table has a reason and a remedy', async (t) => {
  const { lines } = await find(t, ...{
    sqlite: ['create virtual table search using fts5(words)'],
    mariadb: ['create sequence numbers'],
    postgres: [
      'create table days (id integer, day date, primary key (id, day)) partition by range (day)',
      "create table days2 partition of days for values from ('2024-01-01') to ('2025-01-01')",
      'create materialized view counted as select count(*) from days'
    ]
  }[engine])
  t.strictSame(lines, {
    sqlite: [
      `Table 'search' is left out: it is a virtual table, ${viewed}`,
      ...['config', 'content', 'data', 'docsize', 'idx'].map((name) =>
        `Table 'search_${name}' is left out: it is a shadow table, ${viewed}`)
    ],
    mariadb: [
      "Table 'numbers' is left out: it is a sequence, which holds no records; to show its numbers, define by hand a " +
        'model of a view of it'
    ],
    postgres: [
      `Table 'counted' is left out: it is a materialized view, ${viewed}`,
      "Table 'days2' is left out: it is a partition, and its rows are those of the table that it divides; " +
        'read that table'
    ]
  }[engine])
})

test('D-264: a table of PostgreSQL from which others inherit is left out', {
  skip: engine !== 'postgres' && 'whose tables inherit nothing'
}, async (t) => {
  const { lines, models } = await find(t,
    'create table city (id integer primary key, name text)',
    'create table capital (country text, primary key (id)) inherits (city)')
  t.strictSame(lines, [
    "Table 'city' is left out: it is a table from which others inherit, and their rows may have the same keys; " +
      "define by hand a model of a view of the table alone, made by 'create view … as select * from only …'"
  ])
  t.strictSame(models.map(({ table }) => table), ['capital'])
})

test('PostgreSQL: a foreign key to a table that is divided into partitions is one', {
  skip: engine !== 'postgres' && 'about PostgreSQL'
}, async (t) => {
  const { lines, source } = await find(t,
    'create table client (id integer primary key) partition by hash (id)',
    'create table client_0 partition of client for values with (modulus 1, remainder 0)',
    `create table sale (id integer primary key, client_id integer references client on delete cascade)
      partition by hash (id)`,
    'create table sale_0 partition of sale for values with (modulus 1, remainder 0)'
  )
  t.strictSame(lines, ['client_0', 'sale_0'].map((name) => `Table '${name}' is left out: it is a partition, and its ` +
    'rows are those of the table that it divides; read that table'))
  t.match(source, "client: foreignKey(() => Client, { nullable: true, onDelete: 'cascade' })")
})

test('MariaDB: what may hold characters beyond U+FFFF is no default and no label, and notes say so', {
  skip: engine !== 'mariadb' && 'whose information_schema shows them as ?'
}, async (t) => {
  const db = await openSeparateDatabase(t)
  await sql`create table mark (id integer auto_increment primary key, label varchar(9) not null default '🎉 new',
    doubt varchar(9) default 'why?', mood enum('👍','no') not null default '👍', moods set('👍','no'),
    plain varchar(9) default 'x', tuned json default '{"a": "?"}')`.execute(db)
  await sql`insert into mark (moods) values ('👍,no')`.execute(db)
  const { models, notes } = await introspect(db)
  const may = "where '?' may stand for a character beyond U+FFFF"
  const undeclared = (name: string, value: string, created: string): string => `Column '${name}' of table 'mark' has ` +
    `the default ${value} (${may}), which the field cannot declare: on create the field is ${created}. Declare ` +
    "another default, or 'readOnly: true', which leaves the column to the database"
  const unlabelled = (name: string, type: string): string => `Column '${name}' of table 'mark' is ${type}('?','no'), ` +
    `${may}, so the model knows no labels; the API does not write those with such characters`
  t.strictSame(notes.map(describeNote), [
    undeclared('label', "'? new'", 'required'), undeclared('doubt', "'why?'", 'null'), unlabelled('mood', 'enum'),
    undeclared('mood', "'?'", 'required'), unlabelled('moods', 'set'), undeclared('tuned', '\'{"a": "?"}\'', 'null')
  ])
  const app = Fastify()
  t.teardown(async () => { await app.close() })
  await app.register(restModels, { db, defaultAuth: openAuth() })
  for (const model of models) app.restModels.register(model)
  await app.restModels.setup()
  const record = (await app.inject('/api/mark/1/')).json()
  t.match(record, { label: '🎉 new', mood: '👍', moods: '👍,no', plain: 'x' })
  const changed = { ...record, plain: 'y' }
  t.same((await app.inject({ method: 'PUT', url: '/api/mark/1/', payload: changed })).json(), changed)
  t.match((await app.inject({ method: 'POST', url: '/api/mark/', payload: { label: '🎉', mood: 'no' } })).json(), {
    label: '🎉', mood: 'no', plain: 'x'
  })
  const refused = await app.inject({ method: 'POST', url: '/api/mark/', payload: { label: 'x', mood: '👍' } })
  t.equal(refused.statusCode, 409)
})

test('PostgreSQL: a column of an enumeration without labels is left out, and a model of it filters by it', {
  skip: engine !== 'postgres' && 'about PostgreSQL'
}, async (t) => {
  const db = await openSeparateDatabase(t)
  await sql`create type mood as enum ()`.execute(db)
  await sql`create table person (id integer primary key, mood mood, name text)`.execute(db)
  const { notes, models } = await introspect(db)
  t.strictSame(notes.map(describeNote), [
    "Column 'mood' of table 'person' is left out: it is enum(), for which there is no kind of field; a generated " +
      'column or a view can show it as text or JSON'
  ])
  t.strictSame(models.flatMap(({ columns }) => columns.map(({ name }) => name)), ['id', 'name'])
  const Person = defineModel('Person', { id: key({ generated: false }), mood: text({ nullable: true }) })
  const app = Fastify()
  t.teardown(async () => { await app.close() })
  await app.register(restModels, { db })
  app.restModels.register(Person)
  await app.restModels.setup()
  for (const query of ['mood=ok', 'mood__ne=ok', 'mood__in=ok,bad', 'mood__gt=ok', 'mood__is=null']) {
    t.match((await app.inject(`/api/person/?${query}`)).json(), { objects: [] }, query)
  }
})

test('SQLite: a boolean that holds texts is left out with a remedy', {
  skip: engine !== 'sqlite' && 'which takes any value in any column'
}, async (t) => {
  const { lines } = await find(
    t, 'create table flags (id integer primary key, flag bool)', "insert into flags values (1, 't')"
  )
  t.strictSame(lines, [
    "Column 'flag' of table 'flags' is left out: it is bool, but holds other values too, and no kind of field fits " +
      'all of them; a generated column or a view can show it as text or JSON'
  ])
})

test('SQLite: a note about a column without a type says so', {
  skip: engine !== 'sqlite' && 'in which alone columns need no type'
}, async (t) => {
  const { lines } = await find(
    t, 'create table settings (id integer primary key, value)', "insert into settings values (1, 'dark'), (2, 12)"
  )
  t.strictSame(lines, [
    "Column 'value' of table 'settings' is left out: it has no type, and no kind of field fits all of its values; " +
      'a generated column or a view can show it as text or JSON'
  ])
})

test('a number of too many digits is shown rounded, and a note says so', {
  skip: engine === 'postgres' && 'which has no integer beyond 64 bits'
}, async (t) => {
  const type = engine === 'mariadb' ? 'bigint unsigned' : 'integer'
  const { lines, get } = await find(
    t, `create table counts (id integer not null primary key, total ${type})`,
    `insert into counts values (1, ${engine === 'mariadb' ? '18446744073709551615' : '9007199254740993.0e9'})`
  )
  t.match(await get('counts/1/'), { total: engine === 'mariadb' ? 18446744073709551616 : 9007199254740993e9 })
  t.strictSame(lines, [
    `Column 'total' of table 'counts' holds values that do not fit ${engine === 'mariadb' ? 'bigint' : 'integer'}, ` +
      'and becomes number: only 15 digits are exact, and longer values are shown rounded; a generated column or a ' +
      'view can show them as text'
  ])
})

test('SQLite: types of bytes, of places and of stretches of time have no field, also in an empty table', {
  skip: engine !== 'sqlite' && 'which takes any name of a type'
}, async (t) => {
  const odd = ['bytea', 'varbinary(9)', 'image', 'point', 'multipoint', 'interval', 'tinyblob']
  const { lines } = await find(
    t, `create table film (id integer primary key, ${odd.map((type, index) => `c${index} ${type}`).join(', ')})`
  )
  t.equal(lines.filter((line) => line.includes('for which there is no kind of field')).length, odd.length)
})

test('SQLite: a type whose name is that of a property of each object is a type like others', {
  skip: engine !== 'sqlite' && 'which takes any name of a type'
}, async (t) => {
  const { lines, get } = await find(
    t, 'create table film (id integer primary key, made constructor, shown __proto__, name text)',
    "insert into film (name) values ('Alien')"
  )
  t.match(lines, [/^Column 'made' of .* is constructor, for which there is no kind of field/,
    /^Column 'shown' of .* is __proto__, for which there is no kind of field/])
  t.strictSame(await get('film/1/'), { id: 1, name: 'Alien' })
})

test('SQLite: types of other engines become the fields that their names mean', {
  skip: engine !== 'sqlite' && 'which takes any name of a type'
}, async (t) => {
  const { lines, get } = await find(
    t, 'create table film (id integer primary key, made year, score float8, shown timestamp with time zone)',
    "insert into film values (1, 1999, 1.5, '2024-01-02 03:04:05+02:00')"
  )
  t.strictSame(lines, [])
  t.strictSame(await get('film/1/'), { id: 1, made: 1999, score: 1.5, shown: '2024-01-02 01:04:05' })
})
