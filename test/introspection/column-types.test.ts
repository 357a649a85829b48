// @servers: each engine has types of its own

import { sql } from 'kysely'
import { test } from 'tap'
import type { Model } from '../../lib/index.js'
import { inspect, introspect } from '../../lib/tools.js'
import { engine, openSeparateDatabase } from '../support/database.js'
import { buildApp } from '../support/site.js'

const everybody = {
  open: ['list', 'read', 'create', 'update', 'delete'], authenticator: () => async () => null, permits: () => false
} as const

/** A type of a column: values as SQL writes them, what records show of them, and what no record shows. */
interface TypeRow {
  readonly kind: string
  readonly options?: Readonly<Record<string, unknown>>
  readonly stored: readonly string[]
  readonly shown: ReadonlyArray<string | number | boolean>
  readonly absent?: ReadonlyArray<string | number>
}

const mood = { kind: 'text', options: { enum: ['sad', "it's", 'a\\b', 'ok'] } }
const definitions = {
  sqlite: [],
  mariadb: [],
  postgres: [
    'create extension if not exists citext',
    "create type \"Mood\" as enum ('sad', 'it''s', 'a\\b', 'ok')",
    'create domain label as varchar(9) check (length(value) > 0)',
    'create domain short_label as label', 'create domain feeling as "Mood"', 'create domain at as timestamptz(3)'
  ]
}[engine]

const anyUuid = '0f8fad5b-d9cb-469f-a165-70867728950e'
const moments = (zone = ''): Omit<TypeRow, 'kind'> => ({
  stored: ['2026-01-01 09:00:00', '2026-01-01 09:00:01.5', '2026-01-01 09:00:02.999'].map((at) => `'${at}${zone}'`),
  shown: ['2026-01-01 09:00:00', '2026-01-01 09:00:01', '2026-01-01 09:00:02']
})
const texts: Omit<TypeRow, 'kind'> = { stored: ["'A'", "'B'", "'a'"], shown: ['A', 'B', 'a'], absent: ['b', 'A '] }
const times: Omit<TypeRow, 'kind'> = {
  stored: ["'00:00:00'", "'09:05:00'", "'23:59:59'"],
  shown: ['00:00:00', '09:05:00', '23:59:59'],
  absent: ['9:05', 'noon', '']
}
const singles: TypeRow = {
  kind: 'number',
  stored: ['-1.1', '0', '1e-30', '1.1', '16777217', '3.4e38'],
  shown: [-1.1, 0, 1e-30, 1.1, 16777216, 3.4e38],
  absent: [1.10000001, 1.100000023841858, 1e300, -1e-300, 16777217]
}
const moods: TypeRow = {
  ...mood,
  stored: ["'a\\b'", "'it''s'", "'ok'", "'sad'"],
  shown: ['a\\b', "it's", 'ok', 'sad'],
  absent: ['none', '', 'Ok']
}

const types: Readonly<Record<string, TypeRow>> = {
  sqlite: {
    'integer unsigned': { kind: 'integer', stored: ['0', '7'], shown: [0, 7] },
    'bigint unsigned': { kind: 'bigint', stored: ['0', '9007199254740993'], shown: ['0', '9007199254740993'] },
    'datetime(6)': { kind: 'datetime', ...moments() },
    time: { kind: 'text', ...times },
    uuid: { kind: 'text', ...texts },
    'char(3)': { kind: 'text', options: { maxLength: 3 }, ...texts },
    'double precision': { kind: 'number', stored: ['1.1', '2'], shown: [1.1, 2] },
    ...Object.fromEntries(['int unsigned', 'tinyint unsigned', 'unsigned int', 'uint16'].map((type) =>
      [type, { kind: 'integer', stored: ['0', '7'], shown: [0, 7] }])),
    ...Object.fromEntries(['unsigned bigint', 'int64', 'long'].map((type) =>
      [type, { kind: 'bigint', stored: ['0', '9007199254740993'], shown: ['0', '9007199254740993'] }])),
    ...Object.fromEntries(['tinytext', 'mediumtext', 'longtext', 'ntext', 'citext', 'blob sub_type text', 'nvarchar2']
      .map((type) => [type, { kind: 'text', ...texts }])),
    ...Object.fromEntries(['string', 'guid', 'uniqueidentifier'].map((type) => [type, { kind: 'text', ...texts }])),
    'varchar2(3)': { kind: 'text', options: { maxLength: 3 }, ...texts },
    ...Object.fromEntries(['number(5,2)', 'dec(5,2)'].map((type) =>
      [type, { kind: 'decimal', options: { precision: 5, scale: 2 }, stored: ['1.1', '2'], shown: ['1.10', '2.00'] }])),
    money: { kind: 'number', stored: ['1.1', '2'], shown: [1.1, 2] },
    'real unsigned': { kind: 'number', stored: ['1.1', '2'], shown: [1.1, 2] },
    bit: { kind: 'boolean', stored: ['0', '1'], shown: [false, true] },
    ...Object.fromEntries(['timestamptz', 'datetime2(7)', 'smalldatetime', 'datetimeoffset'].map((type) =>
      [type, { kind: 'datetime', ...moments() }]))
  },
  postgres: {
    '"Mood"': moods,
    feeling: moods,
    label: { kind: 'text', options: { maxLength: 9 }, ...texts },
    short_label: { kind: 'text', options: { maxLength: 9 }, ...texts },
    at: { kind: 'datetime', ...moments('+00') },
    timestamptz: { kind: 'datetime', ...moments('+00') },
    'timestamp(3)': { kind: 'datetime', ...moments() },
    'char(3)': { kind: 'text', options: { maxLength: 3 }, ...texts },
    citext: { kind: 'text', ...texts },
    smallint: { kind: 'integer', stored: ['-5', '7'], shown: [-5, 7], absent: [70000] },
    real: singles,
    time: { kind: 'text', ...times },
    inet: { kind: 'text', stored: ["'10.0.0.1'"], shown: ['10.0.0.1/32'], absent: ['x', '10.0.0.1'] },
    'numeric(20,4)': { kind: 'number', stored: ['1.5', '12345678901234.5'], shown: [1.5, 12345678901234.5] },
    'character varying': { kind: 'text', ...texts }
  },
  mariadb: {
    "enum('sad','it''s','a\\\\b','ok')": { ...moods, stored: moods.stored.map((text) => text.replace('\\', '\\\\')) },
    "set('a','b','c')": {
      kind: 'text', stored: ["''", "'a,b'", "'b'"], shown: ['', 'a,b', 'b'], absent: ['b,a', 'd', 'B']
    },
    timestamp: { kind: 'datetime', stored: moments().shown.map((at) => `'${String(at)}'`), shown: moments().shown },
    'timestamp(3)': { kind: 'datetime', ...moments() },
    'datetime(6)': { kind: 'datetime', ...moments() },
    'char(3)': { kind: 'text', options: { maxLength: 3 }, ...texts },
    'char(3) character set latin1': { kind: 'text', ...texts, absent: ['b', 'A ', '€', '漢'] },
    'bit(1)': { kind: 'boolean', stored: ['0', '1'], shown: [false, true] },
    'tinyint(1)': { kind: 'boolean', stored: ['0', '1'], shown: [false, true] },
    'smallint unsigned': { kind: 'integer', stored: ['0', '65535'], shown: [0, 65535], absent: [70000, -1] },
    'mediumint unsigned': { kind: 'integer', stored: ['0', '16777215'], shown: [0, 16777215] },
    'int unsigned': { kind: 'bigint', stored: ['0', '4294967295'], shown: ['0', '4294967295'], absent: ['-1'] },
    'int(10) zerofill': { kind: 'bigint', stored: ['7', '11'], shown: ['7', '11'] },
    'bigint unsigned': { kind: 'bigint', stored: ['7', '9223372036854775807'], shown: ['7', '9223372036854775807'] },
    year: { kind: 'integer', stored: ['0', '1970', '2026'], shown: [0, 1970, 2026], absent: [70, 1800, -1, 26] },
    float: singles,
    'decimal(20,4)': { kind: 'number', stored: ['1.5', '12345678901234.5'], shown: [1.5, 12345678901234.5] },
    time: { kind: 'text', ...times },
    uuid: { kind: 'uuid', stored: [`'${anyUuid}'`], shown: [anyUuid] },
    inet6: { kind: 'text', stored: ["'::1'", "'fe80::'"], shown: ['::1', 'fe80::'], absent: ['x'] }
  }
}[engine]

const key = {
  sqlite: 'id integer primary key', postgres: 'id serial primary key', mariadb: 'id integer auto_increment primary key'
}[engine]

const matches: Readonly<Record<string, (a: unknown, b: unknown) => boolean>> = {
  eq: (a, b) => a === b,
  ne: (a, b) => a !== b,
  in: (a, b) => a === b,
  lt: (a, b) => compare(a, b) < 0,
  gt: (a, b) => compare(a, b) > 0
}

function compare (a: unknown, b: unknown): number {
  if (typeof a === 'string' && /^\d+$/.test(a)) return Number(BigInt(a) - BigInt(String(b)))
  return Number(a as string > (b as string)) - Number(a as string < (b as string))
}

test('D-202: columns of any type are shown, filtered, ordered and sent back as what they hold', async (t) => {
  const db = await openSeparateDatabase(t)
  for (const statement of definitions) await sql.raw(statement).execute(db)
  const rows = Object.entries(types).map(([type, row], index) => ({ name: `c${index}`, type, ...row }))
  await sql.raw(`create table thing (${key}, note varchar(9), ` +
    `${rows.map(({ name, type }) => `${name} ${type} null`).join(', ')})`).execute(db)
  for (const [index] of Array.from({ length: 6 }).entries()) {
    const values = rows.map(({ stored }) => stored[index] ?? 'null')
    const names = rows.map(({ name }) => name)
    await sql.raw(`insert into thing (note, ${names.join(', ')}) values ('x', ${values.join(', ')})`).execute(db)
  }
  await sql.raw("insert into thing (note) values ('last')").execute(db)
  const { models: [Thing], notes } = await introspect(db)
  t.same(notes.filter(({ why }) => !/15 digits are exact/.test(why)), [])
  const app = await buildApp(t, {
    models: [],
    options: { db, defaultAuth: everybody },
    register: (registry) => { registry.register(Thing as Model) },
    undocumented: 'the table of another program'
  })
  const list = async (query: string): Promise<ReadonlyArray<Record<string, unknown>>> => {
    const reply = await app.get(`/api/thing/?${query}`)
    t.equal(reply.statusCode, 200, `${query}: ${reply.body}`)
    return reply.json().objects
  }
  const stored = await sql.raw('select * from thing order by id').execute(db)
  for (const { name, type, kind, options = {}, shown, absent = [] } of rows) {
    t.match(Thing?.byName.get(name), { kind, options }, type)
    const all = await list('ordering=id')
    t.same(all.slice(0, shown.length).map((record) => record[name]), shown, `${type} is shown`)
    for (const [index, value] of [...shown, ...absent].entries()) {
      // Each value with two operators, because these are many requests.
      for (const operator of ['eq', Object.keys(matches)[1 + index % 4] as string]) {
        const { [operator]: isMatch = Object.is } = matches
        const text = operator === 'in' && typeof value === 'string' ? `"${value}"` : String(value)
        const query = `${name}__${operator}=${encodeURIComponent(text)}`
        const expected = all.filter((record) => record[name] !== null && isMatch(record[name], value))
        const found = await list(`ordering=id&${query}`)
        t.same(found.map(({ id }) => id), expected.map(({ id }) => id), `${type} ${query}`)
      }
    }
    for (const direction of ['', '-']) {
      const whole = (await list(`ordering=${direction}${name}`)).map(({ id }) => id)
      const walked: unknown[] = []
      for (let next = `/api/thing/?after=&limit=2&ordering=${direction}${name}`; next !== '';) {
        const { meta, objects } = (await app.get(next)).json()
        walked.push(...objects.map(({ id }: { readonly id: number }) => id))
        next = meta.next
        t.ok(next === '' || next.includes('&after='), `${type}: ${next} has a cursor`)
      }
      t.same(walked, whole, `${type} is walked`)
    }
    for (const value of shown) {
      const created = await app.post('/api/thing/', { [name]: value })
      t.equal(created.statusCode, 201, `${type}: ${created.body}`)
      t.equal(created.json()[name], value, `${type} takes what it shows`)
      await app.delete(`/api/thing/${created.json().id}/`)
    }
  }
  for (const record of await list('')) {
    const reply = await app.put(`/api/thing/${record['id']}/`, { ...record, note: 'y' })
    t.same([reply.statusCode, reply.json()], [200, { ...record, note: 'y' }])
  }
  await sql`update thing set note = case when note = 'y' and id < 7 then 'x' else 'last' end`.execute(db)
  t.same((await sql.raw('select * from thing order by id').execute(db)).rows, stored.rows, 'nothing else has changed')
})

test('D-203: an index serves filters on an enumeration, and a text that is no label finds nothing', {
  skip: engine === 'sqlite' && 'which has no enumerations'
}, async (t) => {
  const db = await openSeparateDatabase(t)
  if (engine === 'postgres') await sql`create type state as enum ('new', 'sold')`.execute(db)
  const type = engine === 'postgres' ? 'state' : "enum('new','sold')"
  await sql.raw(`create table item (${key}, state ${type} not null default 'new')`).execute(db)
  await sql`create index by_state on item (state)`.execute(db)
  await sql`insert into item (state) values ('new'), ('sold'), ('new')`.execute(db)
  const { models: [Item], source } = await introspect(db)
  t.match(source, "state: text({ enum: ['new', 'sold'], default: 'new' })")
  const app = await buildApp(t, {
    models: [], options: { db }, register: (registry) => { registry.register(Item as Model) }
  })
  t.same((await inspect(app.app)).unindexed.map(({ use, name }) => [use, name]), [['ordering', 'state']])
  for (const [query, count] of [['state=old', 0], ['state__ne=old', 3], ['state__in=old,sold', 1], ['state__gt=old', 1],
    ['state__like=n%25', 2], ['state__ilike=N%25', 2], ['state__is=null', 0], ['after=&ordering=-state', 3]] as const) {
    t.equal((await app.get(`/api/item/?${query}`)).json().objects.length, count, query)
  }
  const forged = Buffer.from(JSON.stringify([1, 'state,id', 'old', '1'])).toString('base64url')
  t.match((await app.get(`/api/item/?ordering=state&after=${forged}`)).json().objects, [{ id: 2 }])
})

test('D-202: an index on a column of years finds the same as records show', {
  skip: engine !== 'mariadb' && 'which has no years'
}, async (t) => {
  const db = await openSeparateDatabase(t)
  await sql.raw(`create table film (${key}, made year not null, key (made))`).execute(db)
  const years = [0, 1901, 1970, 2155]
  await sql.raw(`insert into film (made) values ${years.map((year) => `(${year})`).join()}`).execute(db)
  const { models: [Film] } = await introspect(db)
  const { get } = await buildApp(t, {
    models: [], options: { db }, register: (registry) => { registry.register(Film as Model) }
  })
  for (const value of [3000, -1, 0, 1, 26, 70, 99, 100, 1800, 1970, 2155, 2156]) {
    for (const [operator, isMatch] of Object.entries(matches)) {
      const { objects } = (await get(`/api/film/?ordering=made&made__${operator}=${value}`)).json()
      const found = objects.map(({ made }: { readonly made: number }) => made)
      t.same(found, years.filter((year) => isMatch(year, value)), `${operator} ${value}`)
    }
  }
})

test('D-202: a text that a name of PostgreSQL would cut is refused, and finds nothing', {
  skip: engine !== 'postgres' && 'about PostgreSQL'
}, async (t) => {
  const db = await openSeparateDatabase(t)
  await sql`create domain label as name`.execute(db)
  await sql.raw(`create table item (${key}, title name not null, other label)`).execute(db)
  const { models: [Item] } = await introspect(db)
  const { get, post, put } = await buildApp(t, {
    models: [],
    options: { db, defaultAuth: everybody },
    register: (registry) => { registry.register(Item as Model) }
  })
  const [whole, long] = ['ä'.repeat(31), 'ä'.repeat(32)] as const
  t.equal((await post('/api/item/', { title: whole, other: whole })).statusCode, 201)
  const refused = { code: 'REST_MODELS_CONSTRAINT', statusCode: 409 }
  for (const values of [{ title: long }, { title: 'a'.repeat(64) }, { title: 'a', other: long }]) {
    t.match((await post('/api/item/', values)).json(), refused)
  }
  t.match((await put('/api/item/1/', { title: long })).json(), refused)
  t.match((await put('/api/item/1/', { other: 'x' })).json(), { title: whole, other: 'x' })
  for (const [query, count] of [[`title=${whole}`, 1], [`title=${whole}ä`, 0],
    [`title__in=${whole}ä,b`, 0], [`title__ne=${whole}ä`, 1], [`title__lt=${whole}ä`, 1]] as const) {
    t.equal((await get(`/api/item/?${encodeURI(query)}`)).json().objects.length, count, query)
  }
})

test('D-93: texts that are no dates do not make moments of the dates in their column', {
  skip: engine !== 'sqlite' && 'about SQLite'
}, async (t) => {
  const odd = { blank: '', slashes: '01/02/2020', short: '2020-1-1', spaced: '2020-01-01 UTC' }
  const values = { ...odd, time: '2020-01-01 10:00', iso: '2020-01-01T10:00:00Z', both: '' }
  const names = Object.keys(values)
  const texts = Object.values(values).map((value) => `'${value}'`)
  const db = await openSeparateDatabase(t)
  for (const statement of [
    `create table person (id integer primary key, ${names.map((name) => `${name} date`).join(', ')})`,
    `insert into person values (1, ${names.map(() => "'2020-01-02'").join(', ')}), (2, ${texts.join(', ')})`,
    "insert into person (id, both) values (3, '2020-01-01 10:00:00')"
  ]) await sql.raw(statement).execute(db)
  const { models: [Person], notes } = await introspect(db)
  const kinds = Person?.columns.slice(1).map(({ field, kind }) => [field, kind]) ?? []
  t.strictSame(Object.fromEntries(kinds), {
    blank: 'date', slashes: 'date', short: 'date', spaced: 'date', time: 'datetime', iso: 'datetime', both: 'datetime'
  })
  t.strictSame(notes.slice(0, 4), Object.keys(odd).map((column) => ({
    table: 'person',
    column,
    why: 'holds texts that are no dates: they are shown as they are, and found by no filter for their value'
  })))
  const { get, put } = await buildApp(t, {
    models: [],
    options: { db, defaultAuth: everybody },
    register: (registry) => { registry.register(Person as Model) },
    undocumented: 'the table of another program'
  })
  const [one, two] = (await get('/api/person/')).json().objects
  t.match(one, { blank: '2020-01-02', both: '2020-01-02 00:00:00' })
  t.match(two, odd)
  t.same((await put('/api/person/2/', { ...two, blank: '2024-02-29' })).json(), { ...two, blank: '2024-02-29' })
})
test('a unique constraint of PostgreSQL that is checked at the commit is a 409 that names the fields', {
  skip: engine !== 'postgres' && 'about PostgreSQL'
}, async (t) => {
  const db = await openSeparateDatabase(t)
  const deferred = 'deferrable initially deferred'
  await sql.raw(`create table item (${key}, code varchar(9) unique ${deferred}, a integer, b integer,
    unique (a, b) ${deferred})`).execute(db)
  await sql.raw("insert into item (code, a, b) values ('x', 1, 1), ('y', 2, 2)").execute(db)
  const { models: [Item] } = await introspect(db)
  const nothing = (): undefined => undefined
  for (const hooks of [{}, { beforeWrite: nothing, afterWrite: nothing }]) {
    const { post, put } = await buildApp(t, {
      models: [],
      options: { db, defaultAuth: everybody },
      register: (registry) => { registry.register(Item as Model, hooks) }
    })
    for (const [values, fields] of [[{ code: 'x' }, ['code']], [{ a: 1, b: 1 }, ['a', 'b']]] as const) {
      for (const reply of [await post('/api/item/', values), await put('/api/item/2/', values)]) {
        const details = fields.map((field) => ({ field }))
        t.match(reply.json(), { statusCode: 409, code: 'REST_MODELS_NOT_UNIQUE', details })
      }
    }
  }
})
