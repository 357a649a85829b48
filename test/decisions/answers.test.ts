import { test } from 'tap'
import { defineModel, foreignKey, readOnlyAuth, text, userAuth } from '../../lib/index.js'
import { Message, Note, User, basic, buildApp } from '../support/site.js'

const byAlice = { id: 1, user_id: 2, content: 'from alice', pub_date: '2024-02-01 10:00:00' }
const byBob = { id: 2, user_id: 3, content: 'from bob', pub_date: '2024-02-02 10:00:00' }
const note = { id: 1, message: 'a note', created: '2024-03-01 10:00:00' }
const rows = { message: [byAlice, byBob], note: [note] }
const as = 'alice'

test('D-01: a create answers 201 with its Location and the full record', async (t) => {
  const { get, post } = await buildApp(t)
  const reply = await post('/api/message/', { content: 'x' }, { as })
  t.equal(reply.statusCode, 201)
  t.equal(reply.headers.location, '/api/message/1/')
  t.same(reply.json(), (await get(String(reply.headers.location))).json())
})

test('D-02: a delete answers 204 without a body', async (t) => {
  const { delete: remove, rowsOf } = await buildApp(t, { rows })
  const reply = await remove('/api/message/1/', { as })
  t.equal(reply.statusCode, 204)
  t.equal(reply.body, '')
  t.notOk('content-type' in reply.headers)
  t.same(await rowsOf('message'), [byBob])
})

for (const onDelete of [undefined, 'restrict', 'cascade', 'set null'] as const) {
  test(`D-03: deleting a record that others refer to follows the foreign key: ${onDelete ?? 'nothing'}`, async (t) => {
    const Parent = defineModel('Parent', { name: text() })
    const Child = defineModel('Child', {
      parent: foreignKey(() => Parent, { nullable: true, ...(onDelete && { onDelete }) })
    })
    const { delete: remove, rowsOf } = await buildApp(t, {
      models: [User, Parent, Child],
      rows: { parent: [{ name: 'a' }, { name: 'childless' }], child: [{ parent_id: 1 }] },
      register: (registry) => { registry.register(Parent, { auth: userAuth(User) }) }
    })
    t.equal((await remove('/api/parent/2/', { as })).statusCode, 204)
    const reply = await remove('/api/parent/1/', { as })
    const expected = {
      restrict: [409, [{ id: 1, name: 'a' }], [{ id: 1, parent_id: 1 }]],
      cascade: [204, [], []],
      'set null': [204, [], [{ id: 1, parent_id: null }]]
    }[onDelete ?? 'restrict']
    t.same([reply.statusCode, await rowsOf('parent'), await rowsOf('child')], expected)
    if (reply.statusCode === 409) t.equal(reply.json().code, 'REST_MODELS_STILL_REFERENCED')
  })
}

test('D-04: GET is open under the user and the admin policy, and credentials are not looked at', async (t) => {
  const { get, statements } = await buildApp(t, { rows })
  for (const url of ['/api/message/', '/api/message/1/', '/api/user/', '/api/user/1/']) {
    t.equal((await get(url)).statusCode, 200, url)
    t.equal((await get(url, { as: ['alice', 'wrong'] })).statusCode, 200, url)
    t.equal((await get(url, { headers: { authorization: 'nonsense' } })).statusCode, 200, url)
  }
  t.equal(statements.length, 12, 'one for each request, none for credentials')
})

test("D-04: protect: 'all' closes GET", async (t) => {
  const { get } = await buildApp(t, {
    rows, register: (registry) => { registry.register(Message, { auth: userAuth(User, { protect: 'all' }) }) }
  })
  for (const url of ['/api/message/', '/api/message/1/']) {
    t.equal((await get(url)).statusCode, 401)
    t.equal((await get(url, { as: ['alice', 'wrong'] })).statusCode, 401)
    t.equal((await get(url, { as })).statusCode, 200)
  }
})

test('D-05: an authenticated user who is not an admin gets 403, with the same body as every 403', async (t) => {
  const { post, put, rowsOf } = await buildApp(t, { rows })
  const before = await rowsOf('user')
  const body = { username: 'dora', password: 'dora', email: 'dora@example.com' }
  const notAdmin = await post('/api/user/', body, { as })
  const notOwner = await put('/api/message/2/', { content: 'x' }, { as })
  const fromElsewhere =
    await post('/api/message/', { content: 'x' }, { as, headers: { 'sec-fetch-site': 'cross-site' } })
  for (const reply of [notAdmin, notOwner, fromElsewhere]) {
    t.equal(reply.statusCode, 403)
    t.same(reply.json(), {
      statusCode: 403, code: 'REST_MODELS_FORBIDDEN', error: 'Forbidden', message: 'This request is not permitted'
    })
    t.notOk('www-authenticate' in reply.headers)
  }
  t.same([await rowsOf('user'), await rowsOf('message')], [before, [byAlice, byBob]])
  t.equal((await post('/api/user/', body, { as: 'admin' })).statusCode, 201)
})

test('D-06: a user who is not active gets the same answer as for a wrong password', async (t) => {
  const { db, post, rowsOf } = await buildApp(t, { rows })
  const inactive = await post('/api/message/', { content: 'x' }, { as: 'carol' })
  const wrong = await post('/api/message/', { content: 'x' }, { as: ['alice', 'carol'] })
  t.equal(inactive.statusCode, 401)
  t.equal(inactive.body, wrong.body)
  t.same({ ...inactive.headers, date: '' }, { ...wrong.headers, date: '' })
  t.same(await rowsOf('message'), [byAlice, byBob])
  await db.updateTable('user').set({ active: 1 }).where('username', '=', 'carol').execute()
  t.equal((await post('/api/message/', { content: 'x' }, { as: 'carol' })).statusCode, 201)
})

test('D-06: a user who is not active waits as long as for a wrong password', async (t) => {
  const { post } = await buildApp(t, { realHashes: true })
  const times = { carol: Infinity, alice: Infinity }
  for (let round = 0; round < 4; round++) {
    for (const [name, password] of [['carol', 'carol'], ['alice', 'wrong']] as const) {
      const start = performance.now()
      await post('/api/message/', {}, { as: [name, password] })
      times[name] = Math.min(times[name], performance.now() - start)
    }
  }
  t.ok(times.carol < times.alice * 4 && times.alice < times.carol * 4, `${times.carol} and ${times.alice} ms`)
})

test('D-08: a missing record is 404 as JSON', async (t) => {
  const { get, put, delete: remove, rowsOf } = await buildApp(t, { rows })
  for (const reply of [
    await get('/api/message/99/'), await put('/api/message/99/', {}, { as }), await remove('/api/message/99/', { as })
  ]) {
    t.match(reply.headers['content-type'], /^application\/json/)
    t.same(reply.json(), {
      statusCode: 404, code: 'REST_MODELS_RECORD_NOT_FOUND', error: 'Not Found', message: 'No such record'
    })
  }
  t.same(await rowsOf('message'), [byAlice, byBob])
})

test('D-08: an id that is not a decimal integer from 0 to 2^53-1 is 404, and no statement runs', async (t) => {
  const { db, get, put, delete: remove, statements, forget } = await buildApp(t, {
    rows: { note: [note, { ...note, id: 2 }, { ...note, id: Number.MAX_SAFE_INTEGER }] },
    register: (registry) => { registry.register(Note, { auth: userAuth(User) }) }
  })
  // MariaDB takes a 0 that is inserted for a wish to count on.
  await db.updateTable('note').set({ id: 0 }).where('id', '=', 2).execute()
  forget()
  const texts = [
    '01', '1.0', '1e0', '+1', '-1', '0x1', '1a', 'abc', ' 1', '1%20', '1%00', '%D9%A1', 'null', '9007199254740992',
    '18446744073709551617', '1'.repeat(99)
  ]
  for (const text of texts) {
    const reply = await get(`/api/note/${text}/`)
    t.equal(reply.statusCode, 404, text)
    t.equal(reply.json().code, 'REST_MODELS_RECORD_NOT_FOUND', text)
  }
  t.same(statements, [])
  for (const text of texts.slice(0, 5)) {
    t.equal((await put(`/api/note/${text}/`, {}, { as })).statusCode, 404, text)
    t.equal((await remove(`/api/note/${text}/`, { as })).statusCode, 404, text)
  }
  forget()
  for (const id of ['1', '0', '9007199254740991']) t.equal((await get(`/api/note/${id}/`)).json().id, Number(id))
})

test('D-09: a path without the final slash is answered by the same handler', async (t) => {
  const { get, post, put, delete: remove, rowsOf } = await buildApp(t, { rows })
  t.same((await get('/api/message')).json(), (await get('/api/message/')).json())
  t.same((await get('/api/message/1')).json(), byAlice)
  t.equal((await post('/api/message', { content: 'x' }, { as })).json().id, 3)
  t.equal((await put('/api/message/3', { content: 'y' }, { as })).json().content, 'y')
  t.equal((await remove('/api/message/3', { as })).statusCode, 204)
  t.same(await rowsOf('message'), [byAlice, byBob])
})

test('D-09: a path is documented once, with the slash', async (t) => {
  const documented: string[] = []
  await buildApp(t, {
    prepare: (app) => {
      app.addHook('onRoute', ({ method, url, schema }) => {
        if (method !== 'HEAD' && schema !== undefined && !('hide' in schema)) {
          documented.push(`${String(method)} ${url}`)
        }
      })
    },
    register: (registry) => { registry.register(Note, { auth: userAuth(User) }) }
  })
  t.ok(documented.includes('GET /api/note/') && documented.includes('PUT /api/note/:id/'))
  t.same(documented.filter((route) => !route.endsWith('/')), [])
})

test('D-09: a host that ignores final slashes gets each route once', async (t) => {
  const { get } = await buildApp(t, { rows, server: { routerOptions: { ignoreTrailingSlash: true } } })
  t.same((await get('/api/message/1')).json(), byAlice)
  t.same((await get('/api/message/1/')).json(), byAlice)
})

test('D-10: HEAD answers as GET, without the body', async (t) => {
  const { app, get } = await buildApp(t, { rows })
  for (const url of ['/api/message/', '/api/message/1/', '/api/message/99/', '/api/message/?nonsense=1']) {
    const [head, body] = [await app.inject({ method: 'HEAD', url }), await get(url)]
    t.equal(head.statusCode, body.statusCode, url)
    t.equal(head.headers['content-type'], body.headers['content-type'])
    t.equal(head.body, '')
  }
})

test('D-10: HEAD stands behind the same guard as GET', async (t) => {
  const { app } = await buildApp(t, {
    rows, register: (registry) => { registry.register(Message, { auth: userAuth(User, { protect: 'all' }) }) }
  })
  for (const url of ['/api/message/', '/api/message/1/']) {
    t.equal((await app.inject({ method: 'HEAD', url })).statusCode, 401)
    t.equal((await app.inject({ method: 'HEAD', url, headers: { authorization: basic('alice') } })).statusCode, 200)
  }
})

test('D-10: there is no method override', async (t) => {
  const { post, delete: remove, rowsOf } = await buildApp(t, { rows })
  const reply = await post(
    '/api/message/1/', {}, { as, headers: { 'x-http-method-override': 'DELETE', 'x-method-override': 'DELETE' } }
  )
  t.equal(reply.statusCode, 405)
  t.equal((await post('/api/message/1/?_method=DELETE', {}, { as })).statusCode, 405)
  t.same(await rowsOf('message'), [byAlice, byBob])
  t.equal((await remove('/api/message/1/', { as })).statusCode, 204)
})

const foreign = { list: ['PUT', 'PATCH', 'DELETE'], record: ['POST'] } as const
const allowed = { list: 'GET, HEAD, POST', record: 'GET, HEAD, PUT, PATCH, DELETE' } as const

for (const path of ['list', 'record'] as const) {
  test(`D-11: a method that the path of a ${path} lacks is 405 with Allow, after the policy's refusals`, async (t) => {
    const { app, rowsOf } = await buildApp(t, { rows })
    const users = await rowsOf('user')
    const send = async (method: 'PUT', resource: string, headers: Record<string, string>) =>
      await app.inject({
        method, url: `/api/${resource}/${path === 'list' ? '' : '1/'}`, headers, payload: { content: 'x' }
      })
    for (const method of foreign[path] as readonly unknown[] as ReadonlyArray<'PUT'>) {
      t.equal((await send(method, 'note', { authorization: basic('alice') })).statusCode, 401, 'read-only')
      t.equal((await send(method, 'message', {})).statusCode, 401)
      t.equal((await send(method, 'user', { authorization: basic('alice') })).statusCode, 403)
      t.equal(
        (await send(method, 'message', { authorization: basic('alice'), 'sec-fetch-site': 'cross-site' })).statusCode,
        403
      )
      const reply = await send(method, 'message', { authorization: basic('alice') })
      t.equal(reply.statusCode, 405)
      t.equal(reply.headers.allow, allowed[path])
      t.equal(reply.json().code, 'REST_MODELS_METHOD_NOT_ALLOWED')
    }
    t.same([await rowsOf('user'), await rowsOf('message'), await rowsOf('note')], [users, [byAlice, byBob], [note]])
  })
}

test("D-12: errors have Fastify's shape, and details for parameters and fields", async (t) => {
  const { get, post } = await buildApp(t, { rows })
  t.same((await get('/api/message/?page=zero')).json(), {
    statusCode: 400,
    code: 'REST_MODELS_INVALID_PAGE',
    error: 'Bad Request',
    message: "Invalid 'page'",
    details: [{ field: 'page', message: 'must be a whole number of at least 1' }]
  })
  t.same((await post('/api/message/', {}, { as })).json(), {
    statusCode: 400,
    code: 'REST_MODELS_INVALID_RECORD',
    error: 'Bad Request',
    message: "Invalid 'content'",
    details: [{ field: 'content', message: 'is required' }]
  })
  t.same(Object.keys((await get('/api/message/99/')).json()), ['statusCode', 'code', 'error', 'message'])
})

test("D-12: an app's own error handler sees the errors, and may change them", async (t) => {
  const seen: unknown[] = []
  const { get, post } = await buildApp(t, {
    prepare: (app) => {
      app.setErrorHandler<Error &
        { code: string, statusCode: number, details?: unknown }>(async (error, _request, reply) => {
        seen.push([error.code, error.statusCode, error.details])
        return reply.code(418).send({ mine: error.code })
      })
    },
    undocumented: "the host's error handler answers"
  })
  const reply = await get('/api/message/?page=0')
  t.same([reply.statusCode, reply.json()], [418, { mine: 'REST_MODELS_INVALID_PAGE' }])
  t.same(seen, [
    ['REST_MODELS_INVALID_PAGE', 400, [{ field: 'page', message: 'must be a whole number of at least 1' }]]
  ])
  t.equal((await post('/api/message/', {})).statusCode, 401, 'this one is written by the plugin')
})

test('D-12: a message names the parameter or the field, never a value, SQL or a stack', async (t) => {
  const { get, post } = await buildApp(t, { rows })
  const secret = 'x1y2z3'
  const replies = [
    await get(`/api/message/?user=${secret}`),
    await get(`/api/message/?ordering=${secret}`),
    await get(`/api/message/?limit=${secret}`),
    await get(`/api/message/${secret}/`),
    await post('/api/message/', { content: 'a', pub_date: secret }, { as }),
    await post('/api/relationship/', { to_user: 987654321 }, { as }),
    await post('/api/user/', { username: 'alice', password: secret, email: secret }, { as: 'admin' }),
    await post('/api/message/', `{"content": ${secret}`, { as })
  ]
  for (const reply of replies) {
    t.ok(reply.statusCode >= 400 && reply.statusCode < 500)
    t.notMatch(reply.body, new RegExp(
      `${secret}|987654321|select|insert|sqlite|postgres|maria|constraint failed|duplicate|\\.ts|node_modules|"stack"`,
      'i'
    ))
  }
})

test('D-13: answers to requests with credentials are not stored by caches, nor is any 401', async (t) => {
  const { get, post, put, delete: remove } = await buildApp(t, { rows })
  const replies = [
    await get('/api/message/', { as }),
    await get('/api/message/99/', { as }),
    await get('/api/message/?nonsense=1', { as }),
    await post('/api/message/', { content: 'x' }, { as }),
    await post('/api/message/', {}, { as }),
    await post('/api/message/', { content: 'x' }, { as, headers: { 'sec-fetch-site': 'cross-site' } }),
    await put('/api/message/1/', {}, { as: 'bob' }),
    await remove('/api/message/1/', { as }),
    await post('/api/message/', { content: 'x' }),
    await post('/api/note/', { message: 'x' })
  ]
  for (const reply of replies) t.equal(reply.headers['cache-control'], 'no-store', String(reply.statusCode))
  t.notOk('cache-control' in (await get('/api/message/')).headers, 'a public page may be stored')
})

test('D-12: under the read-only policy a refusal is the same for everybody', async (t) => {
  const { post } = await buildApp(t, {
    rows, register: (registry) => { registry.register(Note, { auth: readOnlyAuth() }) }
  })
  t.equal((await post('/api/note/', {})).body, (await post('/api/note/', {}, { as })).body)
})
