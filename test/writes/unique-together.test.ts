import { sql } from 'kysely'
import { test, type Test } from 'tap'
import {
  bigint, boolean, createTables, date, datetime, decimal, defineModel, foreignKey, integer, number, text, uuid,
  type Field, type Model, type Policy, type ResourceOptions
} from '../../lib/index.js'
import { errors } from '../../lib/errors.js'
import { inspect } from '../../lib/tooling/audit/inspect.js'
import { engine, openDatabase } from '../support/database.js'
import { definitions, tableNames } from '../support/definitions.js'
import { buildApp, type BuildOptions } from '../support/site.js'

const anybody: Policy = {
  open: ['list', 'read', 'create', 'update', 'delete'], authenticator: () => async () => null, permits: () => false
}
const Company = defineModel('Company', { name: text() })
const Project = defineModel('Project', {
  company: foreignKey(() => Company, { nullable: true }),
  name: text({ maxLength: 80, column: 'Name' }),
  year: integer({ default: 2024 }),
  code: text({ unique: true, nullable: true })
}, { unique: [['company', 'name'], ['name', 'year', 'code']] })

function projects (options: ResourceOptions<typeof Project> = {}): BuildOptions {
  return {
    models: [Company, Project],
    rows: { company: [{ id: 1, name: 'Acme' }, { id: 2, name: 'Globex' }] },
    register: (registry) => {
      registry.register(Company)
      registry.register(Project, { auth: anybody, ...options })
    }
  }
}

const isTaken = {
  statusCode: 409,
  code: 'REST_MODELS_NOT_UNIQUE',
  error: 'Conflict',
  message: "Another record has the same 'company_id' and 'name'",
  details: [
    { field: 'company_id', message: 'is already taken in this combination' },
    { field: 'name', message: 'is already taken in this combination' }
  ]
}

test('D-39: a clash of fields that are unique together is a 409 that names all of them', async (t) => {
  const { post, rowsOf } = await buildApp(t, projects())
  t.equal((await post('/api/project/', { company: 1, name: 'Apollo' })).statusCode, 201)
  t.equal((await post('/api/project/', { company: 2, name: 'Apollo' })).statusCode, 201)
  t.equal((await post('/api/project/', { company: 1, name: 'Atlas' })).statusCode, 201)
  t.strictSame((await post('/api/project/', { company: 1, name: 'Apollo' })).json(), isTaken)
  t.strictSame((await post('/api/project/', { name: 'Atlas', company_id: 1 })).json(), isTaken)
  t.equal((await rowsOf('project')).length, 3)
})

test('D-39: an update of some of the fields clashes with those that are stored', async (t) => {
  const { post, put, get } = await buildApp(t, projects())
  await post('/api/project/', { company: 1, name: 'Apollo' })
  await post('/api/project/', { company: 1, name: 'Atlas' })
  await post('/api/project/', { company: 2, name: 'Apollo' })
  t.strictSame((await put('/api/project/2/', { name: 'Apollo' })).json(), isTaken)
  t.strictSame((await put('/api/project/3/', { company: 1 })).json(), isTaken)
  t.strictSame((await put('/api/project/3/', { company: 1, name: 'Atlas' })).json(), isTaken)
  t.equal((await put('/api/project/3/', { company: 2, name: 'Apollo' })).statusCode, 200, 'its own values')
  t.equal((await put('/api/project/1/', { company: 1, name: 'Apollo', year: 2025 })).statusCode, 200)
  t.match((await get('/api/project/3/')).json(), { company_id: 2, name: 'Apollo' })
})

test('D-39: of several sets of unique fields the one that is taken is named, a single field first', async (t) => {
  const { post, put, statements, forget } = await buildApp(t, projects())
  await post('/api/project/', { company: 1, name: 'Apollo', code: 'a' })
  await post('/api/project/', { company: 1, name: 'Atlas', code: 'b' })
  t.match((await post('/api/project/', { company: 1, name: 'Apollo', code: 'a' })).json(), {
    message: "Another record has the same 'code'", details: [{ field: 'code', message: 'is already taken' }]
  })
  const Shift = defineModel('Shift', { day: integer(), hour: integer(), room: integer(), who: text() }, {
    unique: [['day', 'hour', 'room'], ['who', 'day', 'hour']]
  })
  const shifts = await buildApp(t, {
    models: [Shift], register: (registry) => { registry.register(Shift, { auth: anybody }) }
  })
  await shifts.post('/api/shift/', { day: 1, hour: 2, room: 3, who: 'ann' })
  const other = { day: 1, hour: 2, room: 4, who: 'bob' }
  t.equal((await shifts.post('/api/shift/', other)).statusCode, 201)
  t.match((await shifts.put('/api/shift/2/', { room: 3 })).json(), {
    message: "Another record has the same 'day' and 'hour' and 'room'",
    details: [{ field: 'day' }, { field: 'hour' }, { field: 'room' }]
  })
  t.match((await shifts.put('/api/shift/2/', { who: 'ann' })).json(), {
    details: [{ field: 'who' }, { field: 'day' }, { field: 'hour' }]
  })
  forget()
  await put('/api/project/2/', { name: 'Apollo' })
  t.equal(statements.filter(({ sql }) => sql.startsWith('select 1 ')).length, 1, 'one query, for the set that is taken')
})

test('null is never the same', async (t) => {
  const { post, put } = await buildApp(t, projects())
  for (const company of [null, null, 1]) {
    t.equal((await post('/api/project/', { company, name: 'Apollo' })).statusCode, 201)
  }
  t.equal((await put('/api/project/3/', { company: null })).statusCode, 200)
  t.equal((await put('/api/project/1/', { name: 'Atlas' })).statusCode, 200)
  t.equal((await put('/api/project/1/', { name: 'Apollo' })).statusCode, 200, 'beside a null that is stored')
})

test('a set with null is not the one that is taken', async (t) => {
  const { post, put } = await buildApp(t, projects())
  await post('/api/project/', { company: null, name: 'Apollo', code: 'a' })
  const taken = { statusCode: 409, details: [{ field: 'code', message: 'is already taken' }] }
  t.match((await post('/api/project/', { company: null, name: 'Apollo', code: 'a' })).json(), taken)
  const { id } = (await post('/api/project/', { company: null, name: 'Apollo', code: 'b' })).json()
  t.match((await put(`/api/project/${id}/`, { name: 'Apollo', code: 'a' })).json(), taken)
})

test('D-59: texts that are unique together are compared character by character', async (t) => {
  const { post, get } = await buildApp(t, projects())
  const accented = ['r\u00e9sum\u00e9', 're\u0301sume\u0301', '\u00df', 'ss']
  const names = ['resume', 'Resume', 'resume ', ' resume', '', ' ', ...accented]
  for (const name of names) {
    t.equal((await post('/api/project/', { company: 1, name })).statusCode, 201, JSON.stringify(name))
  }
  for (const name of names) t.strictSame((await post('/api/project/', { company: 1, name })).json(), isTaken)
  t.equal((await get('/api/project/?name=resume&company=1')).json().objects.length, 1)
})

test('D-118: a clash in which a field is hidden names none of the fields', async (t) => {
  const { post, put, db } = await buildApp(t, projects({ exclude: ['company'], readOnly: ['company'] }))
  await db.insertInto('project').values([
    { company_id: 1, Name: 'Apollo', year: 2024 }, { company_id: 1, Name: 'Atlas', year: 2024 }
  ]).execute()
  t.strictSame((await put('/api/project/2/', { name: 'Apollo' })).json(), {
    statusCode: 409, code: 'REST_MODELS_CONSTRAINT', error: 'Conflict', message: new errors.Constraint().message
  })
  t.equal((await post('/api/project/', { name: 'Apollo' })).statusCode, 201, 'without a company')
})

test('an excluded field that a client may write is named in a clash', async (t) => {
  const { post } = await buildApp(t, projects({ exclude: ['company'] }))
  await post('/api/project/', { company: 1, name: 'Apollo' })
  t.strictSame((await post('/api/project/', { company: 1, name: 'Apollo' })).json(), isTaken)
})

test('fields of every kind can be unique together', async (t) => {
  const kinds = {
    integer: [integer(), 7],
    bigint: [bigint(), '9007199254740993'],
    number: [number(), 0.1],
    decimal: [decimal(), '1.50'],
    boolean: [boolean(), true],
    datetime: [datetime(), '2024-02-29 23:59:59'],
    date: [date(), '2024-02-29'],
    uuid: [uuid(), 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'],
    state: [text({ enum: ['new', 'sold'] }), 'sold'],
    company: [foreignKey((): Model => Company), 1]
  } as const
  const names = Object.keys(kinds)
  const fields = Object.fromEntries(Object.entries(kinds).map(([name, [field]]) => [name, field]))
  const Every = defineModel('Every', { ...fields, n: integer({ default: 0 }) } as Record<string, Field>, {
    unique: names.map((name) => [name, 'n'])
  })
  const Whole = defineModel('Whole', { ...fields } as Record<string, Field>, { unique: [names] })
  const { post, put } = await buildApp(t, {
    models: [Company, Every, Whole],
    rows: { company: [{ id: 1, name: 'Acme' }] },
    register: (registry) => { for (const model of [Every, Whole]) registry.register(model, { auth: anybody }) }
  })
  const body = Object.fromEntries(Object.entries(kinds).map(([name, [, value]]) => [name, value]))
  t.equal((await post('/api/whole/', body)).statusCode, 201)
  t.same((await post('/api/whole/', body)).json().details.length, names.length)
  const { id } = (await post('/api/whole/', { ...body, state: 'new' })).json()
  t.same((await put(`/api/whole/${id}/`, { state: 'sold' })).json().details.length, names.length, 'as all are stored')
  t.equal((await post('/api/every/', body)).statusCode, 201)
  t.match((await post('/api/every/', body)).json().details, [{ field: 'integer' }, { field: 'n' }])
})

test('D-61: every engine has room for the longest texts that are unique together, and sixteen fields', async (t) => {
  const ids = Object.fromEntries(Array.from({ length: 14 }, (_, index) => [`id${index}`, uuid()]))
  const Long = defineModel('Long', { a: text(), b: text({ maxLength: 100 }), ...ids } as Record<string, Field>, {
    unique: [['a', 'b', ...Object.keys(ids)]]
  })
  const { post } = await buildApp(t, {
    models: [Long], register: (registry) => { registry.register(Long, { auth: anybody }) }
  })
  const uuids = Object.fromEntries(Object.keys(ids).map((name) => [name, 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11']))
  const text500 = Array.from({ length: 500 }, (_, index) => String.fromCodePoint(0x10000 + index * 97)).join('')
  const text100 = [...text500].slice(200, 300).join('')
  t.equal((await post('/api/long/', { ...uuids, a: text500, b: text100 })).statusCode, 201)
  t.equal((await post('/api/long/', { ...uuids, a: text500, b: text100 })).statusCode, 409)
  t.match((await post('/api/long/', { ...uuids, a: `${text500}x`, b: '' })).json(), {
    statusCode: 400, details: [{ field: 'a', message: 'must have at most 500 characters' }]
  })
})

test('D-61: texts in foreign keys count among the 600 characters of an index, when its table is made', async (t) => {
  const Shop = defineModel('Shop', { id: text() })
  const db = await openDatabase(t)
  const make = async (model: Model) => { await createTables(db, [Shop, model]) }
  const parts = { name: text({ maxLength: 500 }), shop: foreignKey(() => Shop), seller: foreignKey(() => Shop) }
  const message = "model 'Ware': the texts of name, shop, seller, which are one index, have 700 characters with " +
    'those that foreign keys hold, but together at most 600, because an engine cannot index longer texts; give them ' +
    "or the keys a lower 'maxLength'"
  const long = [
    defineModel('Ware', parts, { unique: [['name', 'shop', 'seller']] }),
    defineModel('Ware', parts, { key: ['name', 'shop', 'seller'] })
  ]
  for (const model of long) await t.rejects(make(model), { code: 'REST_MODELS_INVALID_MODEL', message })
  t.notOk((await tableNames(db)).some((name) => name === 'shop' || name === 'ware'), 'nothing was created')
  const name = text({ maxLength: 400 })
  await make(defineModel('Ware', { ...parts, name }, { unique: [['name', 'shop', 'seller']] }))
  t.ok((await tableNames(db)).includes('ware'))
})

/** The lines of the engine's definitions that tell of unique indexes. */
async function uniqueLines (t: Test, models: readonly Model[]): Promise<string[]> {
  const db = await openDatabase(t)
  await createTables(db, models)
  return (await definitions(db)).flatMap(([, definition]) =>
    definition.split(/,\n? *(?=constraint|UNIQUE|KEY|CONSTRAINT)|\n\)/).filter((line) => /\bunique\b/i.test(line)))
}

test('createTables names the constraints, however long or alike the names of tables and columns are', async (t) => {
  const Pair = defineModel('Pair', { a: integer(), b: integer() }, { unique: [['b', 'a']] })
  t.match((await uniqueLines(t, [Pair])).join('\n'), {
    sqlite: /constraint "pair__b__a__unique" unique \("b", "a"\)/,
    postgres: /pair__b__a__unique UNIQUE \(b, a\)/,
    mariadb: /UNIQUE KEY `pair__b__a__unique` \(`b`,`a`\)/
  }[engine])
  const column = (name: string) => integer({ column: name })
  const alike = defineModel('Alike', { a: column('x__y'), b: column('z'), c: column('x'), d: column('y__z') }, {
    unique: [['a', 'b'], ['c', 'd']]
  })
  const long = 'n'.repeat(50)
  const Long = defineModel('Long', { a: column(`${long}1`), b: column(`${long}2`), c: column(`${long}3`) }, {
    table: `t${long}`, unique: [['a', 'b'], ['a', 'c'], ['b', 'c']]
  })
  const names = (await uniqueLines(t, [alike, Long])).flatMap((line) => /\w+__\w+/.exec(line) ?? [])
  t.equal(new Set(names).size, 5, names.join(' '))
  for (const name of names) t.ok(name.length <= 60, name)
})

test('a foreign key that is the first of unique fields needs no index of its own', async (t) => {
  const { app, db } = await buildApp(t, projects())
  t.notMatch((await definitions(db)).map((parts) => parts.join(' ')).join('\n'), /project__company_id__index/)
  const { unindexed } = await inspect(app)
  const filters = unindexed.filter(({ use, resource }) => use === 'filter' && resource === 'project')
    .map(({ name }) => name)
  t.strictSame(filters.sort(), ['company__name', 'year'], 'neither company and name, which come first, nor code')
  const Other = defineModel('Other', { name: text(), company: foreignKey(() => Company) }, {
    unique: [['name', 'company']]
  })
  const other = await openDatabase(t)
  await createTables(other, [Company, Other])
  t.match((await definitions(other)).map((parts) => parts.join(' ')).join('\n'), /other__company_id__index/)
})

const key = {
  sqlite: 'id integer primary key', postgres: 'id serial primary key', mariadb: 'id integer auto_increment primary key'
}[engine]
const Seat = defineModel('Seat', { hall: integer({ column: 'Hall' }), row: integer() }, { unique: [['hall', 'row']] })
const quotedHall = engine === 'mariadb' ? '`Hall`' : '"Hall"'
const quotedRow = engine === 'mariadb' ? '`row`' : '"row"'
const seats = `create table seat (${key}, ${quotedHall} integer not null, ${quotedRow} integer not null`

test('D-57: a table without the unique index that its model declares is an error at the start', async (t) => {
  const failure = {
    code: 'REST_MODELS_TABLE_MISMATCH',
    message: "The database does not fit the models:\n- model 'Seat' has the fields 'hall' and 'row' in 'unique', " +
      "but table 'seat' has no unique index of exactly the columns Hall, row; " +
      "add one by a migration, or leave the fields out of 'unique'"
  }
  const db = await openDatabase(t)
  const start = async () => await buildApp(t, {
    models: [], options: { db }, register: (registry) => { registry.register(Seat, { auth: anybody }) }
  })
  await sql.raw(`${seats}, other integer)`).execute(db)
  const index = (name: string, columns: string, end = '') =>
    sql.raw(`create unique index ${name} on seat (${columns})${end}`).execute(db)
  const Alone = defineModel('Alone', { hall: integer({ column: 'Hall', unique: true }), row: integer() }, {
    table: 'seat'
  })
  await t.resolves(createTables(db, [Alone]), 'the index of a single field is not compared')
  await index('of_one', quotedHall)
  await index('of_three', `${quotedHall}, ${quotedRow}, other`)
  if (engine !== 'mariadb') await index('partial', `${quotedHall}, "row"`, ' where other > 5')
  if (engine !== 'mariadb') await index('of_expressions', `${quotedHall}, ("row" + 1)`)
  await t.rejects(start(), failure)
  await t.rejects(createTables(db, [Seat]), failure)
  await t.rejects(createTables(db, [Seat, Company]), failure)
  t.strictSame(await tableNames(db), ['seat'], 'nothing is made')
  await index('of_both', `${quotedRow}, ${quotedHall}`)
  await t.resolves(createTables(db, [Seat, Company]), 'in any order')
  await sql.raw('drop index of_one' + (engine === 'mariadb' ? ' on seat' : '')).execute(db)
  const { post } = await start()
  await post('/api/seat/', { hall: 1, row: 1 })
  t.match((await post('/api/seat/', { hall: 1, row: 1 })).json(), { details: [{ field: 'hall' }, { field: 'row' }] })
})

test('a view needs no unique index, and two models on one table need that of either', async (t) => {
  const db = await openDatabase(t)
  await createTables(db, [Seat])
  await sql`create view best as select * from seat`.execute(db)
  const nullable = engine !== 'mariadb'
  const Best = defineModel('Best', { hall: integer({ column: 'Hall', nullable }), row: integer({ nullable }) }, {
    unique: [['hall', 'row']]
  })
  await t.resolves(buildApp(t, {
    models: [], options: { db }, register: (registry) => { registry.register(Best) }
  }))
  const Free = defineModel('Free', { name: text(), size: integer() }, { table: 'cabin' })
  const Cabin = defineModel('Cabin', { name: text(), size: integer() }, { unique: [['name', 'size']] })
  const both = await openDatabase(t)
  await t.rejects(createTables(both, [Cabin, Free]), { code: 'REST_MODELS_TABLE_MISMATCH' }, 'the last one is made')
})
