// @servers: shows what is the same on all engines

import { sql } from 'kysely'
import { test } from 'tap'
import {
  createTables, decimal, defineModel, foreignKey, integer, json, password, text, userAuth, uuid, type Model
} from '../../lib/index.js'
import { openPostgres } from '../../lib/postgres.js'
import { openSqlite } from '../../lib/sqlite.js'
import { engine, openDatabase } from '../support/database.js'
import { buildApp, insert, Message, siteModels, siteUsers, User, valuesOf } from '../support/site.js'

const Word = defineModel('Word', { word: text() })
const wordModels = {
  models: [Word], register: (registry) => { registry.register(Word) }
} satisfies Parameters<typeof buildApp>[1]

test('D-59: texts are compared and ordered by character, whatever the engine and its collations', async (t) => {
  const words = ['a', 'A', 'á', 'a ', 'b', 'B', 'ß', 'ss', 'Z', '_', '😀', '豈', '']
  const { get } = await buildApp(t, {
    ...wordModels, rows: { word: words.map((word, index) => ({ id: index + 1, word })) }
  })
  for (const word of words) {
    t.same(valuesOf(await get(`/api/word/?word=${encodeURIComponent(word)}`), 'word'), [word], `= '${word}'`)
    t.same(valuesOf(await get(`/api/word/?word__in="${encodeURIComponent(word)}"`), 'word'), [word], `in '${word}'`)
    t.equal(
      valuesOf(await get(`/api/word/?word__ne=${encodeURIComponent(word)}`), 'word').length, words.length - 1,
      `ne '${word}'`
    )
  }
  const sorted = [...words].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
  t.same(valuesOf(await get('/api/word/?ordering=word'), 'word'), sorted)
  t.same(valuesOf(await get('/api/word/?ordering=-word'), 'word'), [...sorted].reverse())
  t.same(valuesOf(await get('/api/word/?word__gt=a&ordering=word'), 'word'), sorted.slice(sorted.indexOf('a') + 1))
  t.same(valuesOf(await get('/api/word/?word__like=a%25&ordering=word'), 'word'), ['a', 'a '])
})

test('D-59: of a value that is taken and a reference to nothing, the value is told', async (t) => {
  const Card = defineModel('Card', { user: foreignKey(() => User), name: text({ unique: true }) })
  const { post } = await buildApp(t, {
    models: [User, Card],
    rows: { card: [{ id: 1, user_id: 2, name: 'a' }] },
    register: (registry) => { registry.register(Card, { auth: userAuth(User) }) }
  })
  t.match((await post('/api/card/', { user: 99, name: 'a' }, { as: 'alice' })).json(), {
    statusCode: 409, details: [{ field: 'name' }]
  })
  t.match((await post('/api/card/', { user: 99, name: 'b' }, { as: 'alice' })).json(), {
    statusCode: 400, details: [{ field: 'user' }]
  })
})

test('D-59: a decimal without whole digits keeps all its digits in a list that follows a foreign key', async (t) => {
  const Shelf = defineModel('Shelf', { name: text() })
  const Share = defineModel('Share', {
    shelf: foreignKey(() => Shelf),
    least: decimal({ precision: 1, scale: 1 }),
    exact: decimal({ precision: 15, scale: 15 })
  })
  const share = (id: number, least: string, exact: string) => ({ id, shelf_id: id % 2 + 1, least, exact })
  const { get } = await buildApp(t, {
    models: [Shelf, Share],
    register: (registry) => { registry.register(Share).register(Shelf) },
    rows: {
      shelf: [{ id: 1, name: 'a' }, { id: 2, name: 'b' }],
      share: [
        share(1, '-0.2', '-0.676227320171539'), share(2, '0.3', '-0.000000000000008'),
        share(3, '-0.9', '0.999999999999999')
      ]
    }
  })
  for (const query of [
    '', '?ordering=least', '?ordering=shelf,-exact', '?shelf__name__in=a,b&ordering=shelf,id',
    '?shelf__name__gte=a&ordering=exact,least'
  ]) {
    const { objects } = (await get(`/api/share/${query}`)).json<{ objects: Array<Record<string, unknown>> }>()
    const shown = objects.map((record) => [record['id'], record['least'], record['exact']])
      .sort(([a], [b]) => Number(a) - Number(b))
    t.same(
      shown, [[1, '-0.2', '-0.676227320171539'], [2, '0.3', '-0.000000000000008'], [3, '-0.9', '0.999999999999999']],
      query
    )
  }
})

test('D-60: ilike ignores the case of ASCII letters; of others on MariaDB alone', async (t) => {
  const { get } = await buildApp(t, {
    ...wordModels, rows: { word: ['Zoë', 'ZOË', 'zoe'].map((word, index) => ({ id: index + 1, word })) }
  })
  t.same(valuesOf(await get(`/api/word/?word__ilike=${encodeURIComponent('zOE')}`), 'word'), ['zoe'])
  t.same(
    valuesOf(await get(`/api/word/?word__ilike=${encodeURIComponent('zoë')}`), 'word'),
    engine === 'mariadb' ? ['Zoë', 'ZOË'] : ['Zoë']
  )
})

test('D-61: a unique text has at most 500 characters', async (t) => {
  const Tag = defineModel('Tag', { name: text({ unique: true }) })
  const { post } = await buildApp(t, {
    models: [User, Tag], register: (registry) => { registry.register(Tag, { auth: userAuth(User) }) }
  })
  const longest = '😀'.repeat(500)
  t.equal((await post('/api/tag/', { name: longest }, { as: 'alice' })).statusCode, 201)
  t.equal((await post('/api/tag/', { name: longest }, { as: 'alice' })).statusCode, 409)
  t.equal((await post('/api/tag/', { name: `${'😀'.repeat(499)}x` }, { as: 'alice' })).statusCode, 201)
  const refused = await post('/api/tag/', { name: `${longest}x` }, { as: 'alice' })
  t.equal(refused.statusCode, 400)
  t.same(refused.json().details.map(({ field }: { field: string }) => field), ['name'])
  t.throws(() => defineModel('Tag', { name: text({ unique: true, maxLength: 501 }) }), {
    code: 'REST_MODELS_INVALID_MODEL', message: /'maxLength' of a unique text is at most 500/
  })
  t.doesNotThrow(() => defineModel('Tag', { name: text({ unique: true, maxLength: 500 }) }))
})

test('a field of json and a password cannot be unique: no index holds the one, and the other is hashed', async (t) => {
  const unique = { unique: true } as {}
  for (const [kind, field] of Object.entries({ json: json(unique), password: password(unique) })) {
    t.throws(() => defineModel('Tag', { name: field }), {
      code: 'REST_MODELS_INVALID_MODEL',
      message: `field 'name' of model 'Tag': a ${kind} cannot be unique; leave out 'unique'`
    })
  }
})

test('D-63: rows of lists and reads come from readDb, and all that a write relies on from db', async (t) => {
  const readDb = await openDatabase(t)
  await createTables(readDb, siteModels)
  await insert(readDb, {
    user: await siteUsers(), message: [{ id: 1, user_id: 3, content: 'stale', pub_date: '2024-01-01 00:00:00' }]
  })
  const { get, put, post, delete: remove, db } = await buildApp(t, {
    options: { readDb }, rows: { message: [{ id: 1, user_id: 2, content: 'fresh', pub_date: '2024-01-01 00:00:00' }] }
  })
  t.match((await get('/api/message/1/')).json(), { content: 'stale', user_id: 3 })
  t.same(valuesOf(await get('/api/message/'), 'content'), ['stale'])
  t.equal((await put('/api/message/1/', { content: 'x' }, { as: 'bob' })).statusCode, 403, 'who owns it is asked of db')
  t.match((await put('/api/message/1/', { content: 'x' }, { as: 'alice' })).json(), { content: 'x', user_id: 2 })
  t.match((await post('/api/message/', { content: 'y' }, { as: 'alice' })).json(), { content: 'y' })
  await db.updateTable('user').set({ active: engine === 'postgres' ? false : 0 }).where('id', '=', 2).execute()
  t.equal((await remove('/api/message/1/', { as: 'alice' })).statusCode, 401, 'whether a user is active is asked of db')
})

test('D-63: readDb is a Kysely instance on the engine of db', async (t) => {
  const other = engine === 'postgres' ? openSqlite(':memory:') : openPostgres('postgres://127.0.0.1:1/site')
  t.teardown(async () => { await other.destroy() })
  const code = 'REST_MODELS_INVALID_OPTIONS'
  await t.rejects(buildApp(t, { options: { readDb: other } }), {
    code, message: /'readDb' must run on the same engine as 'db'/
  })
  await t.rejects(buildApp(t, { options: { readDb: {} as never } }), {
    code, message: /'readDb' must be a Kysely instance/
  })
})

test('D-65: a UUID as a primary key is made by the plugin and taken in any case of letters', async (t) => {
  const Box = defineModel('Box', { id: uuid(), name: text() })
  const { get, post, put } = await buildApp(t, {
    models: [User, Box], register: (registry) => { registry.register(Box, { auth: userAuth(User) }) }
  })
  const as = 'alice'
  const created = await post('/api/box/', { name: 'a' }, { as })
  const { id } = created.json() as { id: string }
  t.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  t.equal(created.headers.location, `/api/box/${id}/`)
  t.same((await get(`/api/box/${id.toUpperCase()}/`)).json(), { id, name: 'a' })
  t.same(valuesOf(await get(`/api/box/?id=${id.toUpperCase()}`), 'name'), ['a'])
  t.equal((await post('/api/box/', { id, name: 'b' }, { as })).statusCode, 400)
  t.equal((await put(`/api/box/${id}/`, { id, name: 'b' }, { as })).statusCode, 200, 'equal to what is stored')
  for (const path of ['1', id.slice(1), `${id}0`, `-${id}`]) {
    t.equal((await get(`/api/box/${path}/`)).statusCode, 404, path)
  }
})

test('D-66: a number beyond what a column of an existing table holds matches or refers to nothing', async (t) => {
  const Item = defineModel('Item', { user: foreignKey(() => User), count: integer({ nullable: true }) })
  const db = await openDatabase(t)
  await createTables(db, [User])
  await insert(db, { user: await siteUsers() })
  const key = {
    sqlite: sql`integer primary key autoincrement`,
    postgres: sql`smallint generated by default as identity primary key`,
    mariadb: sql`smallint auto_increment primary key`
  }
  await sql`create table item (id ${key[engine]}, user_id ${engine === 'mariadb' ? sql`bigint` : sql`integer`} not null
    references ${sql.table('user')} (id), count smallint)`.execute(db)
  const { get, post } = await buildApp(t, {
    models: [], options: { db }, register: (registry) => { registry.register(Item, { auth: userAuth(User) }) }
  })
  const as = 'alice'
  t.equal((await post('/api/item/', { user: 2, count: 1 }, { as })).statusCode, 201)
  for (const id of [9007199254740991, 2147483648, 40000]) {
    t.equal((await get(`/api/item/${id}/`)).statusCode, 404)
    t.same(valuesOf(await get(`/api/item/?id=${id}`), 'id'), [])
    t.same(valuesOf(await get(`/api/item/?id__lt=${id}&user__in=2,${id}`), 'id'), [1])
    const reply = await post('/api/item/', { user: id }, { as })
    t.match([reply.statusCode, reply.json()], [
      400, { code: 'REST_MODELS_UNKNOWN_REFERENCE', details: [{ field: 'user' }] }
    ])
  }
  t.same(valuesOf(await get('/api/item/?count__lt=2147483647'), 'id'), [1])
})

test('D-67: records that one foreign key deletes and another keeps are deleted, or refused by MariaDB', async (t) => {
  const Parent = defineModel('Parent', { name: text() })
  const Child = defineModel('Child', { parent: foreignKey(() => Parent, { onDelete: 'cascade' }) })
  const Toy = defineModel('Toy', {
    child: foreignKey(() => Child), parent: foreignKey(() => Parent, { onDelete: 'cascade' })
  })
  const { delete: remove, rowsOf } = await buildApp(t, {
    models: [User, Parent, Child, Toy],
    rows: {
      parent: [{ id: 1, name: 'a' }], child: [{ id: 1, parent_id: 1 }], toy: [{ id: 1, child_id: 1, parent_id: 1 }]
    },
    register: (registry) => { registry.register(Parent, { auth: userAuth(User) }) }
  })
  const { statusCode } = await remove('/api/parent/1/', { as: 'alice' })
  t.equal(statusCode, engine === 'mariadb' ? 409 : 204)
  for (const table of ['parent', 'child', 'toy']) t.equal((await rowsOf(table)).length, statusCode === 409 ? 1 : 0)
})

test('D-67: MariaDB may refuse to delete a record that refers to itself, or a cascade that is too deep', async (t) => {
  const Reply = defineModel('Reply', {
    parent: foreignKey((): Model => Reply, { nullable: true, onDelete: 'cascade' })
  })
  const Loop = defineModel('Loop', { self: foreignKey((): Model => Loop, { nullable: true }) })
  const { delete: remove } = await buildApp(t, {
    models: [User, Reply, Loop],
    rows: {
      reply: Array.from({ length: 20 }, (_, index) => ({ id: index + 1, parent_id: index === 0 ? null : index })),
      loop: [{ id: 1, self_id: 1 }]
    },
    register: (registry) => {
      registry.register(Reply, { auth: userAuth(User) }).register(Loop, { auth: userAuth(User) })
    }
  })
  for (const path of ['reply/1/', 'loop/1/']) {
    t.equal((await remove(`/api/${path}`, { as: 'alice' })).statusCode, engine === 'mariadb' ? 409 : 204, path)
  }
})

test('D-59: a policy that gives an id which is no key of the owner is a bug of the host on every engine', async (t) => {
  const auth = {
    open: ['list', 'read'] as const,
    authenticator: () => async () => ({ id: '00000000-0000-7000-8000-00000000000a', admin: false }),
    permits: () => true
  }
  const { post } = await buildApp(t, {
    register: (registry) => { registry.register(Message, { auth, ownerField: 'user' }) }
  })
  t.equal((await post('/api/message/', { content: 'x' })).statusCode, 500)
})
