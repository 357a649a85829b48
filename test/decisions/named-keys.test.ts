// @servers: keys are made by the engine

import Fastify from 'fastify'
import { sql } from 'kysely'
import { test, type Test } from 'tap'
import restModels, {
  adminAuth, boolean, createTables, defineModel, foreignKey, key, password, text, userAuth, uuid, type DatabaseOf,
  type Model, type RecordOf
} from '../../lib/index.js'
import { introspect } from '../../lib/tooling/introspect/introspect.js'
import { checkAnswers } from '../support/answers.js'
import { openDatabase } from '../support/database.js'
import { definitions } from '../support/definitions.js'
import { buildApp, client, siteUsers, valuesOf } from '../support/site.js'

const Member = defineModel('Member', {
  id: key({ column: 'MemberId' }),
  username: text({ unique: true }),
  password: password(),
  active: boolean({ default: true }),
  admin: boolean({ default: false })
})
const Label = defineModel('Label', { id: uuid({ column: 'LabelId' }), word: text() })
const Post = defineModel('Post', {
  id: key({ column: 'PostId' }),
  member: foreignKey(() => Member, { column: 'Author' }),
  label: foreignKey(() => Label, { nullable: true, column: 'LabelId' }),
  reply_to: foreignKey((): Model => Post, { nullable: true }),
  title: text({ unique: true })
}, { table: 'posts' })
const models = [Member, Label, Post]
const anybody = {
  open: ['list', 'read', 'create', 'update', 'delete'] as const,
  authenticator: () => async () => null,
  permits: () => false
}

const build = async (t: Test) => {
  const site = await buildApp(t, {
    models,
    register: (registry) => {
      registry.register(Member, { auth: adminAuth(Member), exclude: ['password'] })
      registry.register(Label, { auth: anybody })
      registry.register(Post, { auth: userAuth(Member), ownerField: 'member' })
    }
  })
  for (const { id, username = '', password = '', active = 0, admin = 0 } of await siteUsers() ?? []) {
    await site.db.insertInto('member').values({ MemberId: id, username, password, active, admin }).execute()
  }
  return site
}

test('D-83: a primary key in a column of another name is `id` in records, paths, links and filters', async (t) => {
  const { get, post, put, delete: remove } = await build(t)
  const first = await post('/api/post/', { title: 'a' }, { as: 'alice' })
  t.equal(first.statusCode, 201, first.body)
  const record = first.json<RecordOf<typeof Post>>()
  t.strictSame(record, { id: record.id, member_id: 2, label_id: null, reply_to_id: null, title: 'a' })
  t.equal(first.headers.location, `/api/post/${record.id}/`)
  const second =
    (await post('/api/post/', { title: 'b', reply_to: record.id }, { as: 'bob' })).json<RecordOf<typeof Post>>()
  t.strictSame((await get(`/api/post/${second.id}/`)).json(), second)
  for (const query of [
    'member__username=bob', `id=${second.id}`, `reply_to__id=${record.id}`,
    `reply_to__member__id=2&title__like=${encodeURIComponent('b%')}`, 'ordering=-id&limit=1'
  ]) {
    t.strictSame(valuesOf(await get(`/api/post/?${query}`), 'title'), ['b'], query)
  }
  const page = await get('/api/post/?ordering=title&limit=1&after=')
  t.strictSame(valuesOf(await get(page.json().meta.next), 'title'), ['b'], 'a cursor leads on')
  t.equal((await get('/api/post/?PostId=1')).statusCode, 400, 'the name of the column is nobody\'s business')
  t.equal((await put(`/api/post/${second.id}/`, { title: 'c', id: second.id }, { as: 'bob' })).statusCode, 200)
  t.equal((await remove(`/api/post/${second.id}/`, { as: 'bob' })).statusCode, 204)
  t.equal((await get(`/api/post/${second.id}/`)).statusCode, 404)
})

test('D-83: what the database refuses is explained by fields, whatever the column of the key is called', async (t) => {
  const { post, put, delete: remove } = await build(t)
  const { id } = (await post('/api/post/', { title: 'a' }, { as: 'alice' })).json<RecordOf<typeof Post>>()
  const { id: other } =
    (await post('/api/post/', { title: 'b', reply_to: id }, { as: 'alice' })).json<RecordOf<typeof Post>>()
  t.match((await post('/api/post/', { title: 'a' }, { as: 'alice' })).json(), {
    statusCode: 409, code: 'REST_MODELS_NOT_UNIQUE', details: [{ field: 'title' }]
  })
  t.match((await put(`/api/post/${other}/`, { title: 'a' }, { as: 'alice' })).json(), {
    statusCode: 409, code: 'REST_MODELS_NOT_UNIQUE'
  })
  t.equal((await put(`/api/post/${other}/`, { title: 'b' }, { as: 'alice' })).statusCode, 200)
  t.match((await post('/api/post/', { title: 'c', reply_to: 999 }, { as: 'alice' })).json(), {
    statusCode: 400, code: 'REST_MODELS_UNKNOWN_REFERENCE', details: [{ field: 'reply_to_id' }]
  })
  t.match((await remove(`/api/post/${id}/`, { as: 'alice' })).json(), {
    statusCode: 409, code: 'REST_MODELS_STILL_REFERENCED'
  })
})

test('D-83: a UUID may be in a column of another name as well', async (t) => {
  const { get, post, db } = await build(t)
  const { id } = (await post('/api/label/', { word: 'x' })).json<RecordOf<typeof Label>>()
  t.match(await db.selectFrom('label').selectAll().execute(), [{ LabelId: id, word: 'x' }])
  t.equal((await post('/api/post/', { title: 'a', label: id }, { as: 'alice' })).json().label_id, id)
  t.strictSame(valuesOf(await get('/api/post/?label__word=x'), 'label_id'), [id])
})

test('D-83: tables are made with the key under its name; `key()` without options changes nothing', async (t) => {
  const plain = await openDatabase(t)
  const declared = await openDatabase(t)
  await createTables(plain, [defineModel('Thing', { word: text() })])
  await createTables(declared, [defineModel('Thing', { id: key(), word: text() })])
  t.strictSame(await definitions(declared), await definitions(plain))
})

test('D-196: a create brings the integer key that the database does not generate', async (t) => {
  const Genre = defineModel('Genre', {
    id: key({ column: 'GenreId', generated: false }), name: text({ nullable: true })
  })
  const db = await openDatabase(t)
  await sql`create table genre (${sql.ref('GenreId')} int not null primary key, name text)`.execute(db)
  await db.insertInto('genre').values([{ GenreId: 7, name: 'Rock' }, { GenreId: 9, name: 'Jazz' }]).execute()
  const app = Fastify()
  await checkAnswers(t, app)
  t.teardown(async () => { await app.close() })
  await app.register(restModels, { db, defaultAuth: anybody })
  app.restModels.register(Genre)
  await app.restModels.setup()
  t.match((await app.inject('/api/genre/')).json(), { objects: [{ id: 7, name: 'Rock' }, { id: 9, name: 'Jazz' }] })
  t.match((await app.inject({ method: 'PUT', url: '/api/genre/7/', payload: { name: 'Rock and Roll' } })).json(), {
    id: 7, name: 'Rock and Roll'
  })
  const { post, put } = client(app)
  const created = await post('/api/genre/', { id: 0, name: 'Blues' })
  t.strictSame([created.statusCode, created.json(), created.headers.location],
    [201, { id: 0, name: 'Blues' }, '/api/genre/0/'])
  for (const [id, message] of [
    [undefined, 'is required'], [null, 'must not be null'], ['1', 'must be an integer'], [1.5, 'must be an integer'],
    [-1, 'must be at least 0'], [2 ** 53, 'must be at most 9007199254740991']
  ] as const) {
    const reply = await post('/api/genre/', { id, name: 'x' })
    t.match([reply.statusCode, reply.json().details], [400, [{ field: 'id', message }]], String(id))
  }
  t.match((await post('/api/genre/', { id: 7, name: 'x' })).json(), {
    statusCode: 409, code: 'REST_MODELS_NOT_UNIQUE', details: [{ field: 'id', message: 'is already taken' }]
  })
  t.match((await put('/api/genre/7/', { id: 8 })).json(), {
    statusCode: 400, details: [{ field: 'id', message: 'cannot be changed' }]
  })
  t.equal((await put('/api/genre/7/', { id: 7, name: 'Rock' })).statusCode, 200)
  t.equal((await app.inject({ method: 'DELETE', url: '/api/genre/9/' })).statusCode, 204)
  t.equal((await db.selectFrom('genre').selectAll().execute()).length, 2)
})

test('D-196: a key that clients give is not generated in the tables that createTables makes', async (t) => {
  const Genre = defineModel('Genre', { id: key({ generated: false }), name: text() })
  const Song = defineModel('Song', { id: key({ column: 'SongId', generated: false }), genre: foreignKey(() => Genre) })
  const db = await openDatabase(t)
  await createTables(db, [Genre, Song])
  await t.rejects(db.insertInto('genre').values({ name: 'Rock' }).execute(), 'no key is made up')
  await db.insertInto('genre').values({ id: 7, name: 'Rock' }).execute()
  await db.insertInto('song').values({ SongId: 1, genre_id: 7 }).execute()
  await t.rejects(db.insertInto('genre').values({ id: 7, name: 'Jazz' }).execute(), 'it is a primary key')
  await t.resolves(createTables(db, [Genre, Song]), 'the tables fit')
  t.match((await introspect(db)).models.map(({ columns: [{ options }] }) => options), [
    { generated: false }, { generated: false, column: 'SongId' }
  ])
})

test('D-83: the types of tables know the column of the key', (t) => {
  const row: Pick<DatabaseOf<[typeof Post], 'postgres'>['posts'], 'title'> &
    { PostId: unknown } = { PostId: 1, title: 'a' }
  const name: keyof DatabaseOf<[typeof Label]>['label'] = 'LabelId'
  // @ts-expect-error the key has another name
  const wrong: keyof DatabaseOf<[typeof Label]>['label'] = 'id'
  t.same([row.PostId, name, wrong], [1, 'LabelId', 'id'])
  t.end()
})
