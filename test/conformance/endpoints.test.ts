// @servers: the specification, as SQL of the engine

import { test } from 'tap'
import { userAuth } from '../../lib/index.js'
import { Note, User, buildApp, client, valuesOf } from '../support/site.js'

const byAlice = { id: 1, user_id: 2, content: 'from alice', pub_date: '2024-02-01 10:00:00' }
const byBob = { id: 2, user_id: 3, content: 'from bob', pub_date: '2024-02-02 10:00:00' }
const rows = { message: [byAlice, byBob] }
const as = 'alice'
const form = { 'content-type': 'application/x-www-form-urlencoded' }

test('Endpoints: all paths are relative to {base_url}', async (t) => {
  const { app } = await buildApp(t, { rows, options: { prefix: '/site/api' } })
  const { get } = client(app)
  t.same(valuesOf(await get('/site/api/message/'), 'id'), [1, 2])
  t.same((await get('/site/api/message/1/')).json(), byAlice)
  t.equal((await get('/api/message/')).statusCode, 404)
})

test('Endpoints: <model_name> is the lower-case resource name and <primary_key> is the record id', async (t) => {
  const { get } = await buildApp(t, { rows })
  t.equal((await get('/api/message/2/')).json().id, 2)
  t.equal((await get('/api/user/2/')).json().username, 'alice')
})

test('Endpoints: request and response bodies are JSON', async (t) => {
  const { put } = await buildApp(t, { rows })
  const reply = await put('/api/message/1/', JSON.stringify({ content: 'é "quoted"' }), {
    as, headers: { 'content-type': 'application/json' }
  })
  t.match(reply.headers['content-type'], /^application\/json/)
  t.equal(reply.json().content, 'é "quoted"')
  t.equal(
    (await put('/api/message/1/', 'content=x', { as, headers: { 'content-type': 'application/json' } })).statusCode,
    400
  )
})

test('Endpoints: GET /api/<model_name>/ lists records', async (t) => {
  const { get } = await buildApp(t, { rows })
  t.same((await get('/api/message/')).json(), {
    meta: { model: 'message', page: 1, next: '', previous: '' }, objects: [byAlice, byBob]
  })
})

test('Endpoints: POST /api/<model_name>/ creates a record', async (t) => {
  const { post, rowsOf } = await buildApp(t, { rows })
  const reply = await post('/api/message/', { content: 'new' }, { as })
  t.same((await rowsOf('message'))[2], reply.json())
})

test('Endpoints: GET /api/<model_name>/<primary_key>/ returns one serialized record', async (t) => {
  const { get } = await buildApp(t, { rows })
  t.same((await get('/api/message/1/')).json(), byAlice)
  t.same((await get('/api/message/2/')).json(), byBob)
})

test('Endpoints: PUT /api/<model_name>/<primary_key>/ updates that record and no other', async (t) => {
  const { put, rowsOf } = await buildApp(t, { rows })
  await put('/api/message/1/', { content: 'changed' }, { as })
  t.same(await rowsOf('message'), [{ ...byAlice, content: 'changed' }, byBob])
})

test('Endpoints: DELETE /api/<model_name>/<primary_key>/ deletes that record and no other', async (t) => {
  const { delete: remove, rowsOf } = await buildApp(t, { rows })
  await remove('/api/message/1/', { as })
  t.same(await rowsOf('message'), [byBob])
})

test('GET list: no payload goes in', async (t) => {
  const { app } = await buildApp(t, { rows })
  const reply = await app.inject({ method: 'GET', url: '/api/message/', headers: {} })
  t.same(valuesOf(reply, 'id'), [1, 2])
})

test('GET list: filters, ordering, limit and page are all optional', async (t) => {
  const { get } = await buildApp(t, { rows })
  const parameters = ['content__like=from%25', 'ordering=-id', 'limit=1', 'page=1']
  for (let chosen = 0; chosen < 2 ** parameters.length; chosen++) {
    const query = parameters.filter((_, index) => chosen & (2 ** index)).join('&')
    const [first] = valuesOf(await get(`/api/message/?${query}`), 'id')
    t.equal(first, query.includes('ordering') ? 2 : 1, query)
  }
})

test('GET list: the list envelope comes out', async (t) => {
  const { get } = await buildApp(t, { rows })
  t.same(Object.keys((await get('/api/message/')).json()), ['meta', 'objects'])
})

test('POST create: the payload is a JSON object of field names to values', async (t) => {
  const { post, rowsOf } = await buildApp(t)
  t.equal((await post('/api/message/', ['content'], { as })).statusCode, 400)
  t.same(await rowsOf('message'), [])
  t.equal((await post('/api/message/', { content: 'x', pub_date: '2024-01-01 00:00:00' }, { as })).statusCode, 201)
  t.match(await rowsOf('message'), [{ content: 'x', pub_date: '2024-01-01 00:00:00' }])
})

test('POST create: the object may be sent as the raw request body', async (t) => {
  const { post, rowsOf } = await buildApp(t)
  const reply = await post('/api/message/', '{"content":"raw"}', {
    as, headers: { 'content-type': 'application/json' }
  })
  t.equal(reply.json().content, 'raw')
  t.match(await rowsOf('message'), [{ content: 'raw' }])
})

test('POST create: the object may be sent as a form parameter named data whose value is the JSON text', async (t) => {
  const { post, rowsOf } = await buildApp(t)
  const reply =
    await post('/api/message/', `data=${encodeURIComponent('{"content":"a & b = c + d"}')}`, { as, headers: form })
  t.equal(reply.statusCode, 201)
  t.equal(reply.json().content, 'a & b = c + d')
  t.equal(
    (await post('/api/message/', `body=${encodeURIComponent('{"content":"x"}')}`, { as, headers: form })).statusCode,
    400
  )
  t.match(await rowsOf('message'), [{ content: 'a & b = c + d' }])
})

test('POST create: the serialized new record comes out, with its id and with defaulted fields filled in', async (t) => {
  const { post, get } = await buildApp(t, {
    register: (registry) => { registry.register(User, { auth: userAuth(User) }) }
  })
  const record =
    (await post('/api/user/', { username: 'dora', password: 'secret', email: 'd@example.com' }, { as })).json()
  t.match(record, { id: 5, username: 'dora', email: 'd@example.com', active: true, admin: false })
  t.match(record.join_date, /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/)
  t.same((await get('/api/user/5/')).json(), record)
})

test('POST create: under an owner restriction the owner is the authenticated user, despite the body', async (t) => {
  const { post, rowsOf } = await buildApp(t)
  for (const owner of [{}, { user: 3 }, { user_id: 3 }, { user: 2 }, { user: null }, { user: 'bob' }]) {
    const reply = await post('/api/message/', { content: 'x', ...owner }, { as })
    t.equal(reply.statusCode, 201)
    t.equal(reply.json().user_id, 2)
  }
  t.match(await rowsOf('message'), Array.from({ length: 6 }, () => ({ user_id: 2 })))
})

test('GET detail: one serialized record comes out as an object without an envelope', async (t) => {
  const { get } = await buildApp(t, { rows })
  const record = (await get('/api/message/1/')).json()
  t.notOk('meta' in record || 'objects' in record)
  t.same(record, (await get('/api/message/')).json().objects[0])
})

test('PUT update: the payload is an object containing the fields to change', async (t) => {
  const { put, rowsOf } = await buildApp(t, { rows })
  await put('/api/message/1/', { content: 'changed', pub_date: '2025-01-01 00:00:00' }, { as })
  t.same(await rowsOf('message'), [{ ...byAlice, content: 'changed', pub_date: '2025-01-01 00:00:00' }, byBob])
})

test('PUT update: fields that are omitted keep their values, so a partial body is accepted', async (t) => {
  const { put, rowsOf } = await buildApp(t, { rows })
  t.equal((await put('/api/message/1/', { pub_date: '2025-01-01 00:00:00' }, { as })).statusCode, 200)
  t.same((await rowsOf('message'))[0], { ...byAlice, pub_date: '2025-01-01 00:00:00' })
})

test('PUT update: the full serialized record after the update comes out', async (t) => {
  const { get, put } = await buildApp(t, { rows })
  const reply = await put('/api/message/1/', { content: 'changed' }, { as })
  t.same(reply.json(), { ...byAlice, content: 'changed' })
  t.same((await get('/api/message/1/')).json(), reply.json())
})

test('PUT update: success is 200', async (t) => {
  const { put } = await buildApp(t, { rows })
  t.equal((await put('/api/message/1/', { content: 'changed' }, { as })).statusCode, 200)
})

test('PUT update: under an owner restriction the authenticated user must own the record', async (t) => {
  const { put, rowsOf } = await buildApp(t, { rows })
  t.equal((await put('/api/message/2/', { content: 'changed' }, { as })).statusCode, 403)
  t.same(await rowsOf('message'), [byAlice, byBob])
  t.equal((await put('/api/message/2/', { content: 'changed' }, { as: 'bob' })).statusCode, 200)
})

test('DELETE: under an owner restriction the authenticated user must own the record', async (t) => {
  const { delete: remove, rowsOf } = await buildApp(t, { rows })
  t.equal((await remove('/api/message/2/', { as })).statusCode, 403)
  t.same(await rowsOf('message'), [byAlice, byBob])
  t.equal((await remove('/api/message/2/', { as: 'bob' })).statusCode, 204)
  t.same(await rowsOf('message'), [byAlice])
})

test('PUT update and DELETE: without an owner restriction any authenticated user may write', async (t) => {
  const { put, delete: remove, rowsOf } = await buildApp(t, {
    rows: { note: [{ id: 1, message: 'a', created: '2024-01-01 00:00:00' }] },
    register: (registry) => { registry.register(Note, { auth: userAuth(User) }) }
  })
  t.equal((await put('/api/note/1/', { message: 'b' }, { as })).json().message, 'b')
  t.equal((await remove('/api/note/1/', { as: 'bob' })).statusCode, 204)
  t.same(await rowsOf('note'), [])
})
