import type { FastifyBaseLogger } from 'fastify'
import { sql } from 'kysely'
import { test } from 'tap'
import { defineModel, foreignKey, integer, key, text } from '../../lib/index.js'
import { warnOfUnshown } from '../../lib/resource/warnings.js'
import { engine, openDatabase } from '../support/database.js'
import { buildApp } from '../support/site.js'

const everybody = {
  open: ['list', 'read', 'create', 'update', 'delete'], authenticator: () => async () => null, permits: () => false
} as const

const Author = defineModel('Author', { id: key({ generated: false }), name: text() })
const Book = defineModel('Book', {
  id: key({ generated: false }), author: foreignKey(() => Author), count: integer(), note: integer({ nullable: true })
})

test('D-129: an integer from 2^53 on is null, where a rounded one would be that of another record', async (t) => {
  const db = await openDatabase(t)
  const [big, next] = ['9007199254740992', '9007199254740993'].map((digits) => sql.raw(digits))
  await sql`create table author (id bigint primary key, name varchar(9) not null)`.execute(db)
  await sql`create table book (id bigint primary key, author_id bigint not null references author(id),
    count bigint not null, note bigint)`.execute(db)
  await sql`insert into author values (1, 'Ann'), (${big}, 'Bob'), (${next}, 'Cy')`.execute(db)
  await sql`insert into book values (2, 1, 5, 9007199254740991), (3, ${next}, ${next}, ${next}),
    (${big}, 1, 1, null)`.execute(db)
  const log: string[] = []
  const { get, put } = await buildApp(t, {
    models: [],
    options: { db, defaultAuth: everybody },
    server: { logger: { level: 'warn', stream: { write: (line: string) => { log.push(line) } } } },
    register: (registry) => {
      registry.register(Author)
      registry.register(Book)
    },
    undocumented: 'null where the model promises none'
  })
  const shown = [
    { id: 2, author_id: 1, count: 5, note: 9007199254740991 },
    { id: 3, author_id: null, count: null, note: null },
    { id: null, author_id: 1, count: 1, note: null }
  ]
  t.strictSame((await get('/api/book/?ordering=id')).json().objects, shown)
  t.strictSame((await get('/api/book/3/')).json(), shown[1])
  t.strictSame((await get('/api/author/?ordering=name')).json().objects, [
    { id: 1, name: 'Ann' }, { id: null, name: 'Bob' }, { id: null, name: 'Cy' }
  ])
  for (const id of [big, next]) t.equal((await get(`/api/author/${id}/`)).statusCode, 404)
  t.strictSame((await get('/api/book/?author__name=Cy&include=author')).json().objects, [
    { ...shown[1], author: { id: null, name: 'Cy' } }
  ])
  const pages: unknown[] = []
  for (let path = '/api/book/?after=&limit=1&ordering=id'; path !== '';) {
    const { meta, objects } = (await get(path)).json()
    pages.push(...objects)
    path = meta.next
  }
  t.strictSame(pages, shown)
  t.strictSame((await put('/api/book/3/', { ...shown[1], note: 7 })).json(), { ...shown[1], note: 7 })
  t.equal(Number((await sql<{ kept: unknown }>`select count(*) as kept from book where count = ${next}
    and author_id = ${next}`.execute(db)).rows[0]?.kept), 1, 'what is sent back as it was read stays')
  const warnings = [
    /field 'id' of model 'Author' holds/, /field 'id' of model 'Book' holds/,
    /field 'author' of model 'Book' holds/, /field 'count' of model 'Book' holds/
  ]
  t.match(log, engine === 'sqlite' ? [] : warnings, 'the start on a server warns of fields that are not nullable')
  t.equal(log.length, engine === 'sqlite' ? 0 : warnings.length)
})

test('D-129: the warning of such integers says what shows them, and that of other values to declare a null', (t) => {
  const warned: string[] = []
  const log = { warn: (message: string) => { warned.push(message) } } as unknown as FastifyBaseLogger
  warnOfUnshown(log, Author, Author.columns)
  t.match(warned, [/field 'id' of model 'Author' holds .* no JSON number/, /Field 'name' of .* declare it null/])
  t.equal(warned.length, 2)
  t.end()
})

test('D-129: the id of a record with such an integer in a key of several fields is null', async (t) => {
  const fields = { author: foreignKey(() => Author), number: integer() }
  const Part = defineModel('Part', fields, { key: ['author', 'number'] })
  const db = await openDatabase(t)
  await sql`create table author (id bigint primary key, name varchar(9) not null)`.execute(db)
  await sql`create table part (author_id bigint not null references author(id), number integer not null,
    primary key (author_id, number))`.execute(db)
  await sql`insert into author values (1, 'Ann'), (9007199254740993, 'Cy')`.execute(db)
  await sql`insert into part values (1, 5), (9007199254740993, 5)`.execute(db)
  const { get } = await buildApp(t, {
    models: [],
    options: { db, defaultAuth: everybody },
    register: (registry) => { registry.register(Part) },
    undocumented: 'null where the model promises none'
  })
  t.strictSame((await get('/api/part/?ordering=author')).json().objects, [
    { id: '1,5', author_id: 1, number: 5 }, { id: null, author_id: null, number: 5 }
  ])
  t.equal((await get('/api/part/null,5/')).statusCode, 404)
})

test('D-129: a nullable integer does not fit a column that is not null: bigint() shows all its values', async (t) => {
  const Thing = defineModel('Thing', { count: integer({ nullable: true }) })
  const db = await openDatabase(t)
  await sql`create table thing (id bigint primary key, count bigint not null)`.execute(db)
  const made = buildApp(t, {
    models: [],
    options: { db, defaultAuth: everybody },
    register: (registry) => { registry.register(Thing) }
  })
  await t.rejects(made, { message: /field 'count' of model 'Thing' is nullable, but column 'count' is not null/ })
})
