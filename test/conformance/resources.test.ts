// @servers: the specification, as SQL of the engine

import { test } from 'tap'
import { defineModel, text, userAuth } from '../../lib/index.js'
import { Message, Relationship, User, buildApp, siteModels, valuesOf } from '../support/site.js'

const byAlice = { id: 1, user_id: 2, content: 'from alice', pub_date: '2024-02-01 10:00:00' }
const byBob = { id: 2, user_id: 3, content: 'from bob', pub_date: '2024-02-02 10:00:00' }
const rows = {
  message: [byAlice, byBob],
  relationship: [{ id: 1, from_user_id: 2, to_user_id: 3 }],
  note: [{ id: 1, message: 'a note', created: '2024-03-01 10:00:00' }]
}
const datetimeForm = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/

/** An API in which alice may write everything, and nothing is hidden or owned. */
const openApp = {
  rows,
  options: { defaultAuth: userAuth(User) },
  register: (registry) => { for (const model of siteModels) registry.register(model) }
} satisfies Parameters<typeof buildApp>[1]

test('Resource naming: each registered model is one resource', async (t) => {
  const urls = new Set<string>()
  await buildApp(t, {
    prepare: (app) => { app.addHook('onRoute', ({ url }) => { urls.add(url.split('/')[2] ?? '') }) }
  })
  t.same([...urls].sort(), ['message', 'note', 'relationship', 'user'])
})

test("Resource naming: the name in the path is the model's name in lower case", async (t) => {
  const { get } = await buildApp(t, { rows })
  for (const name of ['message', 'user', 'note']) {
    t.equal((await get(`/api/${name}/`)).json().meta.model, name)
    t.equal((await get(`/api/${name[0]?.toUpperCase()}${name.slice(1)}/`)).statusCode, 404)
  }
})

test('Resource naming: the default path prefix is /api/', async (t) => {
  const { get } = await buildApp(t)
  t.equal((await get('/api/note/')).statusCode, 200)
  t.equal((await get('/note/')).statusCode, 404)
  const moved = await buildApp(t, { options: { prefix: '/data' } })
  t.equal((await moved.get('/data/note/')).statusCode, 200)
  t.equal((await moved.get('/api/note/')).statusCode, 404)
})

test('Serialized record: an object with one key per column, plus the primary key id', async (t) => {
  const { get } = await buildApp(t, { rows })
  t.same((await get('/api/message/1/')).json(), byAlice)
  t.same(Object.keys((await get('/api/note/1/')).json()), ['id', 'message', 'created'])
})

test('Serialized record: a foreign key <fk> is serialized as <fk>_id, the id of the referenced record', async (t) => {
  const { get } = await buildApp(t, { rows })
  const message = (await get('/api/message/2/')).json()
  t.equal(message.user_id, 3)
  t.notOk('user' in message)
  t.same((await get('/api/relationship/1/')).json(), { id: 1, from_user_id: 2, to_user_id: 3 })
  t.equal((await get(`/api/user/${message.user_id}/`)).json().username, 'bob')
})

test('Serialized record: datetimes are strings in the form YYYY-MM-DD HH:MM:SS', async (t) => {
  const { get, post } = await buildApp(t, { rows })
  t.equal((await get('/api/message/1/')).json().pub_date, '2024-02-01 10:00:00')
  t.match((await post('/api/message/', { content: 'x' }, { as: 'alice' })).json().pub_date, datetimeForm)
  t.equal(
    (await post('/api/message/', { content: 'x', pub_date: '2024-05-06T07:08:09Z' }, { as: 'alice' })).json().pub_date,
    '2024-05-06 07:08:09'
  )
})

test('Serialized record: booleans are JSON booleans, text columns are JSON strings', async (t) => {
  const { get } = await buildApp(t, { rows })
  const user = (await get('/api/user/1/')).json()
  t.equal(user.active, true)
  t.equal(user.admin, true)
  t.equal((await get('/api/user/4/')).json().active, false)
  t.equal(user.username, 'admin')
  t.equal((await get('/api/note/1/')).json().message, 'a note')
})

test('Serialized record: a resource definition can declare exclude, a list of field names', async (t) => {
  const { get } = await buildApp(t, {
    rows, register: (registry) => { registry.register(Message, { exclude: ['content', 'user'] }) }
  })
  t.same((await get('/api/message/1/')).json(), { id: 1, pub_date: byAlice.pub_date })
})

test('Serialized record: excluded fields are omitted from every record, in lists and in detail answers', async (t) => {
  const { get, post, put } = await buildApp(t, { rows })
  const created =
    await post('/api/user/', { username: 'dora', password: 'secret', email: 'dora@example.com' }, { as: 'admin' })
  t.equal(created.statusCode, 201)
  const answers = [
    created.json(),
    (await put('/api/user/1/', { email: 'new@example.com' }, { as: 'admin' })).json(),
    (await get('/api/user/1/')).json(),
    ...(await get('/api/user/')).json().objects
  ]
  t.equal(answers.length, 8)
  for (const record of answers) t.same(Object.keys(record), ['id', 'username', 'join_date', 'active', 'admin'])
})

test('Serialized record: by default nothing is excluded, not even a stored password value or an e-mail', async (t) => {
  const { get, rowsOf } = await buildApp(t, openApp)
  const user = (await get('/api/user/2/')).json()
  t.same(Object.keys(user), ['id', 'username', 'password', 'email', 'join_date', 'active', 'admin'])
  t.match(await rowsOf('user'), [{}, { password: user.password, email: user.email }, {}, {}])
  t.same((await get('/api/user/')).json().objects[1], user)
})

test('Serialized record: the deployer excludes sensitive columns explicitly', async (t) => {
  const { get } = await buildApp(t, {
    register: (registry) => { registry.register(User, { exclude: ['password', 'email'] }) }
  })
  const user = (await get('/api/user/2/')).json()
  t.notOk('password' in user)
  t.notOk('email' in user)
  t.equal(user.username, 'alice')
})

test('Serialized record: owner_field names the foreign key that points to the owning user', async (t) => {
  const { put, rowsOf } = await buildApp(t, {
    rows,
    register: (registry) => { registry.register(Relationship, { auth: userAuth(User), ownerField: 'to_user' }) }
  })
  t.equal((await put('/api/relationship/1/', { from_user: 1 }, { as: 'alice' })).statusCode, 403, 'alice is from_user')
  t.match(await rowsOf('relationship'), [{ from_user_id: 2 }])
  t.equal((await put('/api/relationship/1/', { from_user: 1 }, { as: 'bob' })).statusCode, 200, 'bob is to_user')
})

test('Model fields: these models belong to the example project, not to the service', async (t) => {
  const Ticket = defineModel('Ticket', { title: text() })
  const { get } = await buildApp(t, {
    models: [Ticket], register: (registry) => { registry.register(Ticket) }, rows: { ticket: [{ title: 'first' }] }
  })
  t.same((await get('/api/ticket/')).json().objects, [{ id: 1, title: 'first' }])
  t.equal((await get('/api/user/')).statusCode, 404)
})

const required = {
  user: { username: 'dora', password: 'secret', email: 'dora@example.com' },
  relationship: { from_user: 2, to_user: 3 },
  message: { user: 2, content: 'some text' },
  note: { message: 'some text' }
} as const

const texts = { user: ['username', 'email'], message: ['content'], note: ['message'] } as const
for (const [name, fields] of Object.entries(texts)) {
  for (const field of fields) {
    test(`Model fields: ${name}.${field} is text without a default`, async (t) => {
      const { post, rowsOf } = await buildApp(t, openApp)
      const body: Record<string, unknown> = { ...required[name as keyof typeof required] }
      const before = await rowsOf(name)
      for (const wrong of [undefined, 1, true]) {
        const refused = await post(`/api/${name}/`, { ...body, [field]: wrong }, { as: 'alice' })
        t.equal(refused.statusCode, 400)
        t.match(refused.json().details, [{ field }])
      }
      t.same(await rowsOf(name), before)
      const created = await post(`/api/${name}/`, body, { as: 'alice' })
      t.equal(created.statusCode, 201)
      t.equal(created.json()[field], body[field])
    })
  }
}

test('Model fields: user.password is a string without a default', async (t) => {
  const { post } = await buildApp(t, openApp)
  const { password: _, ...others } = required.user
  t.match((await post('/api/user/', others, { as: 'alice' })).json().details, [{ field: 'password' }])
  const created = await post('/api/user/', required.user, { as: 'alice' })
  t.equal(created.statusCode, 201)
  t.type(created.json().password, 'string')
})

const datetimes = [['user', 'join_date'], ['message', 'pub_date'], ['note', 'created']] as const
for (const [name, field] of datetimes) {
  test(`Model fields: ${name}.${field} is a datetime, by default the time of creation`, async (t) => {
    const { post } = await buildApp(t, openApp)
    const from = Math.floor(Date.now() / 1000) * 1000
    const created = (await post(`/api/${name}/`, required[name], { as: 'alice' })).json()
    const time = Date.parse(`${String(created[field]).replace(' ', 'T')}Z`)
    t.ok(time >= from && time <= Date.now(), created[field])
    const given = await post(
      `/api/${name}/`,
      { ...required[name], ...(name === 'user' && { username: 'eve' }), [field]: '2001-02-03 04:05:06' },
      { as: 'alice' }
    )
    t.equal(given.json()[field], '2001-02-03 04:05:06')
    t.equal((await post(`/api/${name}/`, { ...required[name], [field]: 'yesterday' }, { as: 'alice' })).statusCode, 400)
  })
}

const booleans = [['active', true], ['admin', false]] as const
for (const [field, byDefault] of booleans) {
  test(`Model fields: user.${field} is a boolean, by default ${byDefault}`, async (t) => {
    const { post } = await buildApp(t, openApp)
    t.equal((await post('/api/user/', required.user, { as: 'alice' })).json()[field], byDefault)
    t.equal((await post(
      '/api/user/', { ...required.user, username: 'eve', [field]: !byDefault }, { as: 'alice' }
    )).json()[field], !byDefault)
    t.equal(
      (await post('/api/user/', { ...required.user, username: 'fay', [field]: 1 }, { as: 'alice' })).statusCode, 400
    )
  })
}

const foreignKeys = [['relationship', 'from_user'], ['relationship', 'to_user'], ['message', 'user']] as const
for (const [name, field] of foreignKeys) {
  test(`Model fields: ${name}.${field} is a foreign key to user, serialized as ${field}_id, no default`, async (t) => {
    const { post, rowsOf } = await buildApp(t, openApp)
    const before = await rowsOf(name)
    t.match((await post(`/api/${name}/`, { ...required[name], [field]: undefined }, { as: 'alice' })).json().details, [
      { field: `${field}_id` }
    ])
    t.equal(
      (await post(`/api/${name}/`, { ...required[name], [field]: 99 }, { as: 'alice' })).statusCode, 400,
      'there is no user 99'
    )
    t.same(await rowsOf(name), before)
    t.equal((await post(`/api/${name}/`, { ...required[name], [field]: 4 }, { as: 'alice' })).json()[`${field}_id`], 4)
  })
}

test('Model fields: every model also has the integer primary key id', async (t) => {
  const { post } = await buildApp(t, openApp)
  for (const [name, body] of Object.entries(required)) {
    const { id } = (await post(`/api/${name}/`, body, { as: 'alice' })).json()
    t.ok(Number.isInteger(id), name)
  }
})

test('List envelope: a list response is an object with the two keys meta and objects', async (t) => {
  const { get } = await buildApp(t, { rows })
  const envelope = (await get('/api/message/')).json()
  t.same(Object.keys(envelope), ['meta', 'objects'])
  t.type(envelope.meta, 'object')
})

test('List envelope: objects is the array of the serialized records of the current page', async (t) => {
  const { get } = await buildApp(t, { rows })
  t.same((await get('/api/message/')).json().objects, [byAlice, byBob])
  t.same((await get('/api/message/?limit=1&page=2')).json().objects, [byBob])
})

test('List envelope: meta has the keys model, page, next and previous', async (t) => {
  const { get } = await buildApp(t, { rows })
  t.same((await get('/api/message/')).json().meta, { model: 'message', page: 1, next: '', previous: '' })
})

test('List envelope: model is the resource name', async (t) => {
  const { get } = await buildApp(t)
  for (const name of ['message', 'user', 'note', 'relationship']) {
    t.equal((await get(`/api/${name}/`)).json().meta.model, name)
  }
})

test('List envelope: page is the current page number, starting at 1', async (t) => {
  const { get } = await buildApp(t, { rows })
  for (const page of [1, 2]) {
    const { meta } = (await get(`/api/message/?limit=1&page=${page}`)).json()
    t.equal(meta.page, page)
  }
  t.equal((await get('/api/message/')).json().meta.page, 1)
})

test('List envelope: next is the path of the following page, or empty when there is none', async (t) => {
  const { get } = await buildApp(t, { rows })
  t.equal((await get('/api/message/?limit=1')).json().meta.next, '/api/message/?limit=1&page=2')
  t.equal((await get('/api/message/?limit=1&page=2')).json().meta.next, '')
  t.equal((await get('/api/message/?limit=2')).json().meta.next, '', 'a full last page')
  t.same(valuesOf(await get((await get('/api/message/?limit=1')).json().meta.next), 'id'), [2])
})

test('List envelope: previous is the path of the preceding page, or empty when there is none', async (t) => {
  const { get } = await buildApp(t, { rows })
  t.equal((await get('/api/message/?limit=1&page=2')).json().meta.previous, '/api/message/?limit=1&page=1')
  t.equal((await get('/api/message/?limit=1')).json().meta.previous, '')
  t.same(valuesOf(await get((await get('/api/message/?limit=1&page=2')).json().meta.previous), 'id'), [1])
})

test('States and transitions: there is no record lifecycle, a record is nothing but its columns', async (t) => {
  const { get, put } = await buildApp(t, openApp)
  t.same((await get('/api/note/1/')).json(), rows.note[0])
  t.same((await put('/api/note/1/', { message: 'changed' }, { as: 'alice' })).json(), {
    ...rows.note[0], message: 'changed'
  })
  t.equal((await put('/api/note/1/', { status: 'closed' }, { as: 'alice' })).statusCode, 400)
})
