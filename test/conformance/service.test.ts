// @servers: the specification, as SQL of the engine

import Fastify from 'fastify'
import { test } from 'tap'
import restModels, { createTables, userAuth } from '../../lib/index.js'
import { openDatabase } from '../support/database.js'
import { checkAnswers } from '../support/answers.js'
import { Message, Note, User, buildApp, client, registerSite, siteModels, valuesOf } from '../support/site.js'

const byAlice = { id: 1, user_id: 2, content: 'from alice', pub_date: '2024-02-01 10:00:00' }
const byBob = { id: 2, user_id: 3, content: 'from bob', pub_date: '2024-02-02 10:00:00' }
const rows = { message: [byAlice, byBob], note: [{ id: 1, message: 'a note', created: '2024-03-01 10:00:00' }] }

test('What the service does: each registered model is exposed as a resource under /api/<model_name>/', async (t) => {
  const { get } = await buildApp(t, { rows })
  for (const name of ['user', 'relationship', 'message', 'note']) {
    const reply = await get(`/api/${name}/`)
    t.equal(reply.statusCode, 200)
    t.equal(reply.json().meta.model, name)
  }
})

test('What the service does: every resource supports listing, creating, reading, updating and deleting', async (t) => {
  const { get, post, put, delete: remove, rowsOf } = await buildApp(t)
  const as = 'alice'
  const { id } = (await post('/api/message/', { content: 'new' }, { as })).json()
  t.same(valuesOf(await get('/api/message/'), 'id'), [id])
  t.equal((await get(`/api/message/${id}/`)).json().content, 'new')
  t.equal((await put(`/api/message/${id}/`, { content: 'changed' }, { as })).json().content, 'changed')
  t.match(await rowsOf('message'), [{ id, content: 'changed' }])
  t.equal((await remove(`/api/message/${id}/`, { as })).statusCode, 204)
  t.same(await rowsOf('message'), [])
})

test('What the service does: lists can be filtered, also through foreign keys, ordered and paginated', async (t) => {
  const { get } = await buildApp(t, { rows })
  const contents = async (query: string) => valuesOf(await get(`/api/message/?${query}`), 'content')
  t.same(await contents('content=from bob'), ['from bob'])
  t.same(await contents('user__username=alice'), ['from alice'])
  t.same(await contents('ordering=-pub_date'), ['from bob', 'from alice'])
  t.same(await contents('limit=1&page=2'), ['from bob'])
})

test('What the service does: fields can be excluded from the output per resource', async (t) => {
  const { get } = await buildApp(t, {
    rows,
    register: (registry) => registry.register(Message, { exclude: ['pub_date'] }).register(Note)
  })
  t.same((await get('/api/message/1/')).json(), { id: 1, user_id: 2, content: 'from alice' })
  t.ok((await get('/api/note/1/')).json().created)
})

test('What the service does: a policy is the default for the whole API, and a resource can override it', async (t) => {
  const { post, rowsOf } = await buildApp(t, {
    options: { defaultAuth: userAuth(User) },
    register: (registry) => registry.register(Note).register(Message, { auth: userAuth(User), ownerField: 'user' })
  })
  t.equal((await post('/api/note/', { message: 'anonymous' })).statusCode, 401)
  t.equal((await post('/api/note/', { message: 'by alice' }, { as: 'alice' })).statusCode, 201)
  t.match(await rowsOf('note'), [{ message: 'by alice' }])

  const overridden = await buildApp(t)
  t.equal(
    (await overridden.post('/api/note/', { message: 'x' }, { as: 'alice' })).statusCode, 401, 'the default, read-only'
  )
  t.equal((await overridden.post('/api/message/', { content: 'x' }, { as: 'alice' })).statusCode, 201, 'overridden')
})

test('What the service does: a resource can be restricted so that only the owner changes its records', async (t) => {
  const { put, delete: remove, rowsOf } = await buildApp(t, { rows })
  t.equal((await put('/api/message/1/', { content: 'x' }, { as: 'bob' })).statusCode, 403)
  t.equal((await remove('/api/message/1/', { as: 'bob' })).statusCode, 403)
  t.same(await rowsOf('message'), [byAlice, byBob])
  t.equal((await put('/api/message/1/', { content: 'x' }, { as: 'alice' })).statusCode, 200)
  t.equal((await remove('/api/message/1/', { as: 'alice' })).statusCode, 204)
})

test('What the service does: requests and responses are JSON', async (t) => {
  const { get, post } = await buildApp(t)
  const created = await post('/api/message/', '{"content":"text"}', {
    as: 'alice', headers: { 'content-type': 'application/json' }
  })
  t.equal(created.statusCode, 201)
  for (const reply of [
    created, await get('/api/message/'), await get('/api/message/1/'), await get('/api/message/99/')
  ]) {
    t.match(reply.headers['content-type'], /^application\/json/)
    t.doesNotThrow(() => JSON.parse(reply.body))
  }
})

test('What the service does: a container is bound to the app, registers models and sets up the URLs', async (t) => {
  const db = await openDatabase(t)
  const app = Fastify()
  await checkAnswers(t, app)
  t.teardown(async () => { await app.close() })
  await createTables(db, siteModels)
  await app.register(restModels, { db })
  app.restModels.register(Note)
  app.restModels.register(Message, { exclude: ['pub_date'] })
  app.restModels.register(User, { auth: userAuth(User) })
  t.notOk(app.hasRoute({ method: 'GET', url: '/api/note/' }), 'no URL before the setup step')
  await app.restModels.setup()
  t.equal((await client(app).get('/api/note/')).statusCode, 200)
})

test('What the service does: until a model is registered it has no endpoints', async (t) => {
  const { get, post } = await buildApp(t, { register: (registry) => { registry.register(Message) } })
  t.equal((await get('/api/message/')).statusCode, 200)
  t.equal((await get('/api/note/')).statusCode, 404)
  t.equal((await post('/api/note/', { message: 'x' })).statusCode, 404)
})

test('What the service does: without a default policy the read-only policy applies', async (t) => {
  const { get, post, rowsOf } = await buildApp(t, { register: registerSite })
  t.equal((await get('/api/note/')).statusCode, 200)
  t.equal((await post('/api/note/', { message: 'x' }, { as: 'admin' })).statusCode, 401)
  t.same(await rowsOf('note'), [])
})
