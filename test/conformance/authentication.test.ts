// @once: about headers; decisions/policies.test.ts looks users up on each engine

import { test } from 'tap'
import { adminAuth, readOnlyAuth, userAuth, type Policy } from '../../lib/index.js'
import { Message, Note, User, basic, buildApp } from '../support/site.js'

const note = { id: 1, message: 'a note', created: '2024-03-01 10:00:00' }
const byAlice = { id: 1, user_id: 2, content: 'from alice', pub_date: '2024-02-01 10:00:00' }
const rows = { note: [note], message: [byAlice] }

const notesUnder = (auth: Policy) =>
  ({ rows, register: (registry) => { registry.register(Note, { auth }) } }) satisfies Parameters<typeof buildApp>[1]

test('Authentication: a policy is chosen per container as the default', async (t) => {
  const { post, rowsOf } = await buildApp(t, {
    rows, options: { defaultAuth: userAuth(User) }, register: (registry) => { registry.register(Note) }
  })
  t.equal((await post('/api/note/', { message: 'x' })).statusCode, 401)
  t.same(await rowsOf('note'), [note])
  t.equal((await post('/api/note/', { message: 'x' }, { as: 'alice' })).statusCode, 201)
})

test('Authentication: the policy can be overridden for one resource at registration', async (t) => {
  const { post, rowsOf } = await buildApp(t, {
    rows,
    options: { defaultAuth: userAuth(User) },
    register: (registry) => {
      registry.register(Note, { auth: readOnlyAuth() }).register(Message, { ownerField: 'user' })
    }
  })
  t.equal((await post('/api/note/', { message: 'x' }, { as: 'alice' })).statusCode, 401)
  t.same(await rowsOf('note'), [note])
  t.equal((await post('/api/message/', { content: 'x' }, { as: 'alice' })).statusCode, 201)
})

test('Default (read-only) policy: only GET requests are allowed', async (t) => {
  const { get } = await buildApp(t, notesUnder(readOnlyAuth()))
  t.equal((await get('/api/note/')).statusCode, 200)
  t.equal((await get('/api/note/1/')).statusCode, 200)
})

test('Default (read-only) policy: POST, PUT and DELETE are refused with 401', async (t) => {
  const { post, put, delete: remove, rowsOf } = await buildApp(t, notesUnder(readOnlyAuth()))
  for (const as of [undefined, 'alice', 'admin']) {
    const who = as === undefined ? {} : { as }
    t.equal((await post('/api/note/', { message: 'x' }, who)).statusCode, 401)
    t.equal((await put('/api/note/1/', { message: 'x' }, who)).statusCode, 401)
    t.equal((await remove('/api/note/1/', who)).statusCode, 401)
  }
  t.same(await rowsOf('note'), [note])
})

test('User policy: requests use HTTP Basic authentication', async (t) => {
  const { post, rowsOf } = await buildApp(t, notesUnder(userAuth(User)))
  const encoded = basic('alice').slice('Basic '.length)
  for (const authorization of [`Bearer ${encoded}`, encoded, 'alice:alice', 'Basic', 'Basic alice:alice']) {
    t.equal((await post('/api/note/', { message: 'x' }, { headers: { authorization } })).statusCode, 401, authorization)
  }
  t.same(await rowsOf('note'), [note])
  t.equal(
    (await post('/api/note/', { message: 'x' }, { headers: { authorization: `Basic ${encoded}` } })).statusCode, 201
  )
  t.equal(
    (await post('/api/note/', { message: 'x' }, { headers: { authorization: `basic ${encoded}` } })).statusCode, 201,
    'in any case, as RFC 9110 says'
  )
  t.equal(
    (await post('/api/note/', { message: 'x' }, { headers: { authorization: `Basic  ${encoded}` } })).statusCode, 201,
    'with any number of blanks, as RFC 9110 says'
  )
})

test("User policy: the credentials must match a user record of the site's user model", async (t) => {
  const { post, rowsOf } = await buildApp(t, notesUnder(userAuth(User)))
  for (const as of [
    ['alice', 'wrong'], ['nobody', 'nobody'], ['alice', ''], ['', ''], ['alice', 'Alice'], ['Alice', 'alice']
  ] as const) {
    t.equal((await post('/api/note/', { message: 'x' }, { as })).statusCode, 401, as.join(':'))
  }
  t.same(await rowsOf('note'), [note])
  t.equal((await post('/api/note/', { message: 'x' }, { as: ['alice', 'alice'] })).statusCode, 201)
})

test('User policy: POST, PUT and DELETE are allowed', async (t) => {
  const { post, put, delete: remove, rowsOf } = await buildApp(t, notesUnder(userAuth(User)))
  t.equal((await post('/api/note/', { message: 'new' }, { as: 'bob' })).statusCode, 201)
  t.equal((await put('/api/note/2/', { message: 'changed' }, { as: 'bob' })).statusCode, 200)
  t.equal((await remove('/api/note/1/', { as: 'bob' })).statusCode, 204)
  t.match(await rowsOf('note'), [{ id: 2, message: 'changed' }])
})

test('Admin policy: it is a specialisation of the user policy', async (t) => {
  const { post, put, delete: remove, rowsOf } = await buildApp(t, notesUnder(adminAuth(User)))
  t.equal((await post('/api/note/', { message: 'x' })).statusCode, 401)
  t.equal((await post('/api/note/', { message: 'x' }, { as: ['admin', 'wrong'] })).statusCode, 401)
  t.same(await rowsOf('note'), [note])
  t.equal((await post('/api/note/', { message: 'x' }, { as: 'admin' })).statusCode, 201)
  t.equal((await put('/api/note/2/', { message: 'y' }, { as: 'admin' })).statusCode, 200)
  t.equal((await remove('/api/note/2/', { as: 'admin' })).statusCode, 204)
})

test('Admin policy: access is restricted to users whose admin flag is true', async (t) => {
  const { post, put, delete: remove, rowsOf } = await buildApp(t, notesUnder(adminAuth(User)))
  t.equal((await post('/api/note/', { message: 'x' }, { as: 'alice' })).statusCode, 403)
  t.equal((await put('/api/note/1/', { message: 'x' }, { as: 'alice' })).statusCode, 403)
  t.equal((await remove('/api/note/1/', { as: 'alice' })).statusCode, 403)
  t.same(await rowsOf('note'), [note])
  t.equal((await put('/api/note/1/', { message: 'x' }, { as: 'admin' })).statusCode, 200)
})

test('Refusal response: the status is 401', async (t) => {
  const { post } = await buildApp(t, { rows })
  t.equal((await post('/api/message/', { content: 'x' })).statusCode, 401)
  t.equal((await post('/api/message/', { content: 'x' }, { as: 'alice' })).statusCode, 201)
})

const refusals = {
  'under the read-only policy': { url: '/api/note/' },
  'without credentials': { url: '/api/message/' },
  'with a wrong password': { url: '/api/message/', as: ['alice', 'wrong'] },
  'without a readable header': { url: '/api/message/', headers: { authorization: 'Basic %' } },
  'under the admin policy': { url: '/api/user/' }
} as const

for (const [situation, { url, ...request }] of Object.entries(refusals)) {
  test(`Refusal response: WWW-Authenticate is Basic realm="Login Required" ${situation}`, async (t) => {
    const { post } = await buildApp(t, { rows })
    t.equal((await post(url, {}, request)).headers['www-authenticate'], 'Basic realm="Login Required"')
  })

  test(`Refusal response: Content-Type is text/html; charset=utf-8 ${situation}`, async (t) => {
    const { post } = await buildApp(t, { rows })
    t.equal((await post(url, {}, request)).headers['content-type'], 'text/html; charset=utf-8')
  })

  test(`Refusal response: the body is a short plain text saying that authentication failed ${situation}`, async (t) => {
    const { post } = await buildApp(t, { rows })
    t.equal((await post(url, {}, request)).body, 'Authentication failed')
  })
}

test('Owner restriction: PUT and DELETE by another user are 403 Forbidden, and the record is unchanged', async (t) => {
  const { put, delete: remove, rowsOf } = await buildApp(t, { rows })
  for (const as of ['bob', 'admin']) {
    t.equal((await put('/api/message/1/', { content: 'x' }, { as })).statusCode, 403)
    t.equal((await remove('/api/message/1/', { as })).statusCode, 403)
  }
  t.same(await rowsOf('message'), [byAlice])
})

test('Owner restriction: PUT and DELETE by the owner proceed, and PUT returns 200', async (t) => {
  const { put, delete: remove, rowsOf } = await buildApp(t, { rows })
  t.equal((await put('/api/message/1/', { content: 'x' }, { as: 'alice' })).statusCode, 200)
  t.match(await rowsOf('message'), [{ content: 'x' }])
  t.equal((await remove('/api/message/1/', { as: 'alice' })).statusCode, 204)
  t.same(await rowsOf('message'), [])
})

test('Owner restriction: on POST the authenticated user is stored as the owner', async (t) => {
  const { post, rowsOf } = await buildApp(t)
  await post('/api/message/', { content: 'x' }, { as: 'bob' })
  await post('/api/message/', { content: 'y' }, { as: 'alice' })
  t.match(await rowsOf('message'), [{ content: 'x', user_id: 3 }, { content: 'y', user_id: 2 }])
})

test('Deployment note: a gateway must pass the Authorization header on for Basic authentication to work', async (t) => {
  const { post } = await buildApp(t, { rows })
  const headers = { via: '1.1 gateway', 'x-forwarded-for': '192.0.2.1' }
  t.equal((await post('/api/message/', { content: 'x' }, { headers })).statusCode, 401)
  t.equal((await post(
    '/api/message/', { content: 'x' }, { headers: { ...headers, authorization: basic('alice') } }
  )).statusCode, 201)
})

test('Errors: 401 with a plain text message and WWW-Authenticate where the policy refuses the request', async (t) => {
  const { post, rowsOf } = await buildApp(t, { rows })
  for (const reply of [
    await post('/api/note/', { message: 'x' }),
    await post('/api/message/', { content: 'x' }),
    await post('/api/message/', { content: 'x' }, { as: ['alice', 'wrong'] })
  ]) {
    t.equal(reply.statusCode, 401)
    t.ok(reply.headers['www-authenticate'])
    t.equal(reply.body, 'Authentication failed')
  }
  t.same([await rowsOf('note'), await rowsOf('message')], [[note], [byAlice]])
})

test("Errors: 403 where a PUT or DELETE comes from a user who is not the record's owner", async (t) => {
  const { put, delete: remove } = await buildApp(t, { rows })
  t.equal((await put('/api/message/1/', {}, { as: 'bob' })).statusCode, 403)
  t.equal((await remove('/api/message/1/', { as: 'bob' })).statusCode, 403)
  t.equal((await put('/api/message/1/', {}, { as: 'alice' })).statusCode, 200)
})

test('Versioning: the paths carry no version segment', async (t) => {
  const urls = new Set<string>()
  await buildApp(t, { prepare: (app) => { app.addHook('onRoute', ({ url }) => { urls.add(url) }) } })
  t.ok(urls.size > 0)
  for (const url of urls) t.match(url, /^\/api\/(?:user|relationship|message|note)(?:\/(?::id\/?)?)?$/)
})
