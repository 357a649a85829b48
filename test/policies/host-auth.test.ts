// @once: about who may do what, which is asked before any statement but that for the user

import Fastify from 'fastify'
import { test, type Test } from 'tap'
import restModels, {
  adminAuth, boolean, createTables, defineModel, foreignKey, hashPassword, hostAuth, openAuth, password, text, userAuth,
  userOf, uuid, type Identity, type Policy, type SecurityScheme
} from '../../lib/index.js'
import { openDatabase } from '../support/database.js'
import { basic, buildApp, Message, Note, User, type RequestOptions, type TestApp } from '../support/site.js'

const rows = {
  note: [{ id: 1, message: 'first', created: '2024-01-01 00:00:00' }],
  message: [{ id: 1, user_id: 2, content: 'of alice', pub_date: '2024-01-01 00:00:00' }]
}

interface Session extends Identity {
  readonly admin: boolean
}

/** Finds the user in a header that holds an id, as a session would. */
const session = (options: Parameters<typeof hostAuth<Session>>[1] = {}) => hostAuth<Session>(({ headers }) => {
  const { 'x-session': id } = headers
  return typeof id === 'string' ? { id: /^\d+$/.test(id) ? Number(id) : id, admin: id === '1' } : null
}, options)

const as = (id: number | string): RequestOptions => ({ headers: { 'x-session': String(id) } })

async function notes (t: Test, auth: Policy<Identity>): Promise<TestApp> {
  return await buildApp(t, { rows, register: (registry) => { registry.register(Note, { auth }) } })
}

test('D-131: the login of the host protects writes, or all operations', async (t) => {
  const writes = await notes(t, session())
  t.equal((await writes.get('/api/note/')).statusCode, 200)
  t.equal((await writes.post('/api/note/', { message: 'x' })).statusCode, 401)
  t.equal((await writes.post('/api/note/', { message: 'x' }, as(2))).statusCode, 201)
  const all = await notes(t, session({ protect: 'all' }))
  t.equal((await all.get('/api/note/')).statusCode, 401)
  t.equal((await all.get('/api/note/', as(2))).statusCode, 200)
})

test('D-131: permits decides what a user of the host may do', async (t) => {
  const { delete: remove, put } = await notes(t, session({
    permits: (user, operation) => operation !== 'delete' || user.admin
  }))
  t.equal((await put('/api/note/1/', { message: 'x' }, as(2))).statusCode, 200)
  t.equal((await remove('/api/note/1/', as(2))).statusCode, 403)
  t.equal((await remove('/api/note/1/', as(1))).statusCode, 204)
})

test('D-131: a user without an id of 1 to 255 characters, or a safe integer, is nobody', async (t) => {
  for (const [id, status] of [
    ['a', 201], ['a'.repeat(255), 201], ['a'.repeat(256), 401], ['', 401], [1.5, 401], [2 ** 53, 401], [undefined, 401]
  ] as const) {
    const auth = hostAuth(async () => ({ id: id as string }))
    const warnings: unknown[] = []
    const { post } = await buildApp(t, {
      rows,
      register: (registry) => { registry.register(Note, { auth }) },
      prepare: (app) => {
        app.addHook('onRequest', async (request) => {
          request.log.warn = (message: unknown) => { warnings.push(message) }
        })
      }
    })
    for (const time of ['first', 'second']) {
      t.equal((await post('/api/note/', { message: 'x' })).statusCode, status, `${String(id).slice(0, 20)}, ${time}`)
    }
    if (status === 401) t.match(warnings, [/without a usable id, who counts as not logged in.* 1 to 255 characters/])
    t.equal(warnings.length, status === 401 ? 1 : 0)
  }
})

test('D-131: a login of the host that finds nobody, by null or by undefined, warns of nothing', async (t) => {
  for (const nobody of [null, undefined]) {
    const warnings: unknown[] = []
    const { post } = await buildApp(t, {
      rows,
      register: (registry) => { registry.register(Note, { auth: hostAuth(async () => nobody) }) },
      server: { logger: { level: 'warn', stream: { write: (line) => { warnings.push(line) } } } }
    })
    t.equal((await post('/api/note/', { message: 'x' })).statusCode, 401)
    t.same(warnings, [])
  }
})

test('D-131: a user with a numeric id owns no record whose owner has a key of text', async (t) => {
  for (const key of [text(), uuid()]) {
    const account = key.kind === 'text' ? '1' : '0f8fad5b-d9cb-469f-a165-70867728950e'
    const Owner = defineModel('Account', { id: key as ReturnType<typeof text>, name: text() })
    const Owned = defineModel('Page', { account: foreignKey(() => Owner, { nullable: true }), title: text() })
    const { put, post, rowsOf } = await buildApp(t, {
      models: [Owner, Owned],
      rows: {
        account: [{ id: account, name: 'a' }],
        page: [account, null].map((owner, index) => ({ id: index + 1, account_id: owner, title: 'a' }))
      },
      register: (registry) => {
        registry.register(Owned, { auth: hostAuth(() => ({ id: 1 }), { users: Owner }), ownerField: 'account' })
      }
    })
    t.equal((await put('/api/page/1/', { title: 'b' })).statusCode, 403, key.kind)
    t.equal((await put('/api/page/2/', { title: 'b' })).statusCode, 403, 'nor one without an owner')
    t.equal((await post('/api/page/', { title: 'b' })).statusCode, 500, 'the policy gives no key of the owner')
    t.match(await rowsOf('page'), [{ title: 'a' }, { title: 'a' }])
  }
})

test('D-131: a login of the host that fails is a 500, and nothing is done', async (t) => {
  const { post, rowsOf } = await notes(t, hostAuth(() => { throw new Error('no session store') }))
  t.equal((await post('/api/note/', { message: 'x' })).statusCode, 500)
  t.equal((await rowsOf('note')).length, 1)
})

test('D-131: owners by the login of the host, whose users are a model', async (t) => {
  const { post, put } = await buildApp(t, {
    rows,
    register: (registry) => { registry.register(Message, { auth: session({ users: User }), ownerField: 'user' }) }
  })
  t.equal((await put('/api/message/1/', { content: 'x' }, as(3))).statusCode, 403)
  t.equal((await put('/api/message/1/', { content: 'x' }, as(2))).statusCode, 200)
  t.equal((await put('/api/message/1/', { content: 'x' }, as('nobody'))).statusCode, 403)
  t.equal((await post('/api/message/', { content: 'x' }, as(3))).json().user_id, 3)
})

test('D-131: an owner field refers to the model that hostAuth names as its users', async (t) => {
  const Desk = defineModel('Desk', { note: foreignKey(() => Note), title: text() })
  const withUsers = async (auth: Policy) => await buildApp(t, {
    models: [User, Note, Desk], register: (registry) => { registry.register(Desk, { auth, ownerField: 'note' }) }
  })
  await t.rejects(withUsers(session({ users: User })), { message: /the policy's users are model 'User'/ })
  await t.resolves(withUsers(session({ users: Note })))
  await t.resolves(withUsers(session()), 'nothing tells who the users are')
})

test('D-131: the id of a user may be a UUID in any case, and owns what it created', async (t) => {
  const Person = defineModel('Person', { id: uuid(), name: text() })
  const Card = defineModel('Card', { person: foreignKey(() => Person), text: text() })
  const id = '0190A000-0000-7000-8000-00000000000A'
  const { post, put, delete: remove } = await buildApp(t, {
    models: [Person, Card],
    rows: { person: [{ id: id.toLowerCase(), name: 'a' }] },
    register: (registry) => {
      registry.register(Card, { auth: hostAuth(() => ({ id }), { users: Person }), ownerField: 'person' })
    }
  })
  const created = await post('/api/card/', { text: 'x' })
  t.equal(created.json().person_id, id.toLowerCase())
  t.equal((await put('/api/card/1/', { text: 'y' })).statusCode, 200)
  t.equal((await remove('/api/card/1/')).statusCode, 204)
})

test('D-136: without the plugin nobody is known', async (t) => {
  const app = Fastify()
  app.get('/', async (request) => ({ user: userOf(request) }))
  t.same((await app.inject('/')).json(), { user: null })
  await app.close()
})

test('D-132: openAuth permits everything to everybody', async (t) => {
  const { get, post, put, delete: remove } = await notes(t, openAuth())
  t.equal((await post('/api/note/', { message: 'x' })).statusCode, 201)
  t.equal((await put('/api/note/1/', { message: 'x' })).statusCode, 200)
  t.equal((await remove('/api/note/1/')).statusCode, 204)
  t.equal((await get('/api/note/')).headers['cache-control'], undefined)
})

const schemes: ReadonlyArray<readonly [SecurityScheme | undefined, challenge: string]> = [
  [undefined, 'Basic realm="Login Required"'],
  [{ type: 'http', scheme: 'Basic' }, 'Basic realm="Login Required"'],
  [{ type: 'http', scheme: 'bearer' }, 'Bearer realm="Login Required"'],
  [{ type: 'http' }, 'Bearer realm="Login Required"'],
  [{ type: 'oauth2', scheme: 'basic' }, 'Bearer realm="Login Required"'],
  [{ type: 'oauth2', flows: {} }, 'Bearer realm="Login Required"'],
  [{ type: 'openIdConnect', openIdConnectUrl: 'https://example.com' }, 'Bearer realm="Login Required"'],
  [{ type: 'apiKey', in: 'cookie', name: 'session' }, 'ApiKey realm="Login Required"']
]

test('D-133: the 401 of a policy opens a dialog of the browser only for HTTP Basic', async (t) => {
  for (const [scheme, challenge] of schemes) {
    const { get } = await notes(t, session({ protect: 'all', ...(scheme && { scheme }) }))
    const { statusCode, headers, body } = await get('/api/note/')
    t.equal(statusCode, 401)
    t.equal(headers['www-authenticate'], challenge)
    t.equal(headers['cache-control'], 'no-store')
    if (challenge.startsWith('Basic')) {
      t.equal(body, 'Authentication failed')
      t.equal(headers['x-content-type-options'], 'nosniff')
    } else t.match(JSON.parse(body), { statusCode: 401, code: 'REST_MODELS_AUTHENTICATION_FAILED' })
  }
})

test('D-134: no cache keeps the answer of an operation that is not open, refusals included', async (t) => {
  const { get, post, put, app } = await notes(t, session())
  const stored = async (answer: ReturnType<typeof get>) => (await answer).headers['cache-control']
  t.equal(await stored(get('/api/note/')), undefined)
  t.equal(await stored(post('/api/note/', { message: 'x' })), 'no-store')
  t.equal(await stored(post('/api/note/', { message: 'x' }, as(1))), 'no-store')
  t.equal(await stored(put('/api/note/9/', { message: 'x' }, as(1))), 'no-store')
  t.equal(await stored(put('/api/note/1/', { message: 1 }, as(1))), 'no-store')
  t.equal(await stored(get('/api/note/', { headers: { authorization: 'Bearer x' } })), 'no-store', 'a login is sent')
  const browser = { headers: { ...as(1).headers, 'sec-fetch-site': 'cross-site' } }
  t.equal(await stored(post('/api/note/', { message: 'x' }, browser)), 'no-store')
  t.equal((await app.inject({ method: 'PATCH', url: '/api/note/1/' })).headers['cache-control'], 'no-store')
  const all = await notes(t, session({ protect: 'all' }))
  t.equal(await stored(all.get('/api/note/', as(1))), 'no-store')
})

const Company = defineModel('Company', { name: text() })
const Member = defineModel('Member', {
  company: foreignKey(() => Company),
  username: text(),
  password: password(),
  role: text({ enum: ['member', 'manager'], default: 'member' }),
  active: boolean({ default: true }),
  admin: boolean({ default: false })
})

async function companies (t: Test, auth: Policy): Promise<TestApp> {
  const hash = await hashPassword('ann')
  return await buildApp(t, {
    models: [Company, Member],
    rows: {
      company: [{ id: 1, name: 'Acme' }],
      member: [
        { id: 1, company_id: 1, username: 'ann', password: hash, role: 'manager', active: 1, admin: 0 },
        { id: 2, company_id: 1, username: 'art', password: hash, role: 'member', active: 1, admin: 1 }
      ]
    },
    register: (registry) => { registry.register(Company, { auth }) }
  })
}

test('D-135: permits of a policy with a model of users gets the fields that it asks for', async (t) => {
  const users: unknown[] = []
  const auth = userAuth(Member, {
    fields: ['company', 'role'],
    permits: (user, operation) => {
      users.push(user)
      return operation !== 'create' || user.role === 'manager'
    }
  })
  const { post, put, statements, forget } = await companies(t, auth as Policy)
  forget()
  t.equal((await post('/api/company/', { name: 'x' }, { as: 'ann' })).statusCode, 201)
  t.equal(statements.length, 2, 'the login and the create')
  t.equal((await post('/api/company/', { name: 'x' }, { as: ['art', 'ann'] })).statusCode, 403)
  t.equal((await put('/api/company/1/', { name: 'x' }, { as: ['art', 'ann'] })).statusCode, 200)
  t.same(users[0], { id: 1, admin: false, company: 1, role: 'manager' })
})

test('D-135: adminAuth asks permits of admins alone', async (t) => {
  const auth = adminAuth(Member, { permits: (_user, operation) => operation !== 'delete' })
  const { put, delete: remove } = await companies(t, auth as Policy)
  t.equal((await put('/api/company/1/', { name: 'x' }, { as: 'ann' })).statusCode, 403)
  t.equal((await put('/api/company/1/', { name: 'x' }, { as: ['art', 'ann'] })).statusCode, 200)
  t.equal((await remove('/api/company/1/', { as: ['art', 'ann'] })).statusCode, 403)
})

test('D-131, D-135: wrong options of the built-in policies are errors that name them', async (t) => {
  const wrong = (make: () => unknown, message: RegExp, code = 'REST_MODELS_INVALID_OPTIONS') =>
    t.throws(make, { code, message })
  wrong(() => hostAuth('no' as never), /takes a function/)
  wrong(() => hostAuth(() => null, { protects: 'all' } as never), /unknown option 'protects', did you mean 'protect'/)
  wrong(() => hostAuth(() => null, { protect: 'reads' as never }), /'protect'/)
  wrong(() => hostAuth(() => null, { permits: true as never }), /'permits'/)
  wrong(() => userAuth(Member, { permits: 1 as never }), /'permits'/)
  wrong(() => userAuth(Member, { fields: 'role' as never }), /'fields'.*list/)
  wrong(() => userAuth(Member, { fields: ['password'] }), /'fields'.*'password'/)
  wrong(() => userAuth(Member, { fields: ['admin'] }), /'fields'.*'admin'/)
  const misspelt = () => userAuth(Member, { fields: ['rol' as 'role'] })
  wrong(misspelt, /did you mean 'role'/, 'REST_MODELS_UNKNOWN_OPTION_FIELD')
  const byKey = () => userAuth(Member, { fields: ['company_id' as 'company'] })
  wrong(byKey, /field 'company_id', did you mean 'company'/, 'REST_MODELS_UNKNOWN_OPTION_FIELD')
})

async function guarded (t: Test) {
  const db = await openDatabase(t)
  const app = Fastify()
  t.teardown(async () => { await app.close() })
  await createTables(db, [User, Message])
  await db.insertInto('user').values([2, 3].map((id) => ({
    id, username: `u${id}`, password: '', email: '', join_date: '2024-01-01 00:00:00', active: 1, admin: 0
  }))).execute()
  await db.insertInto('message').values(rows.message).execute()
  await app.register(restModels, { db, allowedOrigins: ['https://app.example.com'] })
  app.restModels.register(Message, { auth: session({ users: User }), ownerField: 'user' })
  app.restModels.register(Message, { path: 'public', auth: openAuth() })
  app.restModels.register(Message, {
    path: 'scoped',
    auth: hostAuth(() => null),
    scope: (user) => user === null ? { content: 'public' } : {}
  })
  t.throws(() => app.restModels.guard('message', 'update'), { code: 'REST_MODELS_NOT_SET_UP' })
  await app.restModels.setup()
  const handler = async (request: Parameters<typeof userOf>[0]) => ({ user: userOf<Identity>(request) })
  const guard = app.restModels.guard.bind(app.restModels)
  app.post('/publish/:id/', { preHandler: guard('message', 'update') }, handler)
  app.post('/publish/', { preHandler: guard('message', 'update') }, handler)
  app.get('/raw/:id/', { preHandler: guard('message', 'read') }, handler)
  app.post('/copy/:id/', { preHandler: guard('message', 'create') }, handler)
  app.post('/broken/', { preHandler: app.restModels.guard('public', 'create') }, handler)
  const two = [...guard('message', 'update'), ...guard('scoped', 'read')]
  app.get('/two/:id/', { preHandler: two }, handler)
  app.get('/open/:id/', { preHandler: [...guard('message', 'update'), ...guard('public', 'read')] }, handler)
  return app
}

test('D-136: guard() answers 401, 403, 404 and the owner\'s 403 before a route of the host', async (t) => {
  const app = await guarded(t)
  const send = async (method: 'GET' | 'POST', url: string, headers = {}) => await app.inject({ method, url, headers })
  const user = { 'x-session': '2' }
  t.equal((await send('POST', '/publish/1/')).statusCode, 401)
  t.same((await send('POST', '/publish/1/', user)).json(), { user: { id: 2, admin: false } })
  t.equal((await send('POST', '/publish/1/', user)).headers['cache-control'], 'no-store')
  t.equal((await send('POST', '/publish/1/', { 'x-session': '3' })).statusCode, 403)
  t.equal((await send('POST', '/publish/9/', user)).statusCode, 404)
  t.equal((await send('POST', '/publish/', user)).statusCode, 200, 'no record without :id')
  t.equal((await send('POST', '/publish/1/', { ...user, 'sec-fetch-site': 'cross-site' })).statusCode, 403)
  t.equal((await send('POST', '/publish/1/', { ...user, origin: 'https://app.example.com' })).statusCode, 200)
  t.equal((await send('POST', '/publish/1/', { ...user, 'if-match': 'x' })).statusCode, 200, 'up to the host')
  t.same((await send('GET', '/raw/1/')).json(), { user: null })
  t.equal((await send('GET', '/raw/1/', { 'sec-fetch-site': 'cross-site' })).statusCode, 200, 'a read changes nothing')
  t.equal((await send('GET', '/raw/1/')).headers['cache-control'], undefined)
  t.equal((await send('GET', '/raw/9/')).statusCode, 404)
  t.equal((await send('POST', '/copy/9/', user)).statusCode, 200, 'a create looks for no record')
  t.equal((await send('POST', '/broken/')).statusCode, 200)
})

test('D-136: a guard warns once that it checks no record, if no parameter of the path is called :id', async (t) => {
  const lines: string[] = []
  const app = Fastify({ logger: { level: 'warn', stream: { write: (line: string) => { lines.push(line) } } } })
  t.teardown(async () => { await app.close() })
  const db = await openDatabase(t)
  await createTables(db, [User, Message])
  await app.register(restModels, { db })
  app.restModels.register(Message, { auth: openAuth() })
  await app.restModels.setup()
  const handler = async () => 'done'
  app.get('/report/:messageId', { preHandler: app.restModels.guard('message', 'read') }, handler)
  app.get('/list/:page', { preHandler: app.restModels.guard(Message, 'list') }, handler)
  app.get('/all', { preHandler: app.restModels.guard(Message, 'read') }, handler)
  for (const url of ['/report/1', '/report/2', '/list/1', '/all']) t.equal((await app.inject(url)).payload, 'done')
  t.same(lines.map((line) => (JSON.parse(line) as { msg: string }).msg), [
    "A guard of resource 'message' checks no record on '/report/:messageId', because the path has no parameter " +
    "':id'. If the record's id is in the path, call its parameter ':id'"
  ])
})

test('D-136: of two guards on one route, each knows only the users of its own policy', async (t) => {
  const app = await guarded(t)
  const headers = { 'x-session': '2' }
  t.equal((await app.inject({ url: '/api/scoped/1/', headers })).statusCode, 404)
  t.equal((await app.inject({ url: '/two/1/', headers })).statusCode, 404)
  t.equal((await app.inject({ url: '/two/1/' })).statusCode, 401)
  const { user } = (await app.inject({ url: '/open/1/', headers })).json()
  t.same(user, { id: 2, admin: false }, 'the handler gets the one that was found')
})

test('D-136: guard() of an unknown or an ambiguous resource, or of an unknown operation, is an error', async (t) => {
  const app = await guarded(t)
  const invalid = { code: 'REST_MODELS_INVALID_OPTIONS' }
  t.throws(() => app.restModels.guard('mesage', 'update'), { ...invalid, message: /did you mean 'message'/ })
  t.throws(() => app.restModels.guard(User, 'update'), { ...invalid, message: /'User'/ })
  t.throws(() => app.restModels.guard(undefined as never, 'update'), invalid)
  t.throws(() => app.restModels.guard(Message, 'update'), { ...invalid, message: /'message', 'public', 'scoped'/ })
  t.throws(() => app.restModels.guard('message', 'updte' as never), { ...invalid, message: /did you mean 'update'/ })
  t.throws(() => app.restModels.guard('message', 'patch' as never), { ...invalid, message: /: name one of list, read/ })
})

test('D-136: guard() of an app whose setup() had no models says that the resource is unknown', async (t) => {
  const app = Fastify()
  t.teardown(async () => { await app.close() })
  await app.register(restModels, { db: await openDatabase(t) })
  t.throws(() => app.restModels.guard('note', 'list'), { code: 'REST_MODELS_NOT_SET_UP' })
  await app.restModels.setup()
  const message = "guard() knows no resource 'note': register it before setup()"
  const unknown = { code: 'REST_MODELS_INVALID_OPTIONS', message }
  t.throws(() => app.restModels.guard('note', 'list'), unknown)
})

test('D-136: a guard of a route outside of the scope of the plugin lets nobody in, and the log says why', async (t) => {
  const db = await openDatabase(t)
  const lines: string[] = []
  const app = Fastify({ logger: { level: 'error', stream: { write: (line) => { lines.push(line) } } } })
  t.teardown(async () => { await app.close() })
  await createTables(db, [Note])
  await app.register(async (inner) => {
    await inner.register(restModels, { db })
    inner.restModels.register(Note, { auth: hostAuth(() => ({ id: 1 })) })
    await inner.restModels.setup()
    app.post('/x/', { preHandler: inner.restModels.guard(Note, 'create') }, async () => 'done')
  })
  t.match((await app.inject({ method: 'POST', url: '/x/' })).json(), { statusCode: 500, code: 'REST_MODELS_INTERNAL' })
  t.match(lines.join(), /The route '\/x\/' has a guard, but lies outside of the scope.*register the plugin where the/)
})

test('D-136: an error behind guard() tells no more than one behind a resource', async (t) => {
  const db = await openDatabase(t)
  const app = Fastify()
  t.teardown(async () => { await app.close() })
  await createTables(db, [Note])
  await app.register(restModels, { db })
  app.restModels.register(Note, { auth: hostAuth(() => { throw new Error('secret') }) })
  await app.restModels.setup()
  app.post('/x/', { preHandler: app.restModels.guard(Note, 'create') }, async () => 'done')
  const { statusCode, body } = await app.inject({ method: 'POST', url: '/x/', headers: { authorization: basic('a') } })
  t.equal(statusCode, 500)
  t.notMatch(body, /secret/)
})
