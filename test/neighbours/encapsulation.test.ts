// @once: about Fastify

import basicAuth from '@fastify/basic-auth'
import Fastify, { type FastifyInstance, type FastifyServerOptions, type FastifySchemaCompiler } from 'fastify'
import { CamelCasePlugin, type Kysely } from 'kysely'
import { test, type Test } from 'tap'
import restModels, { createTables, defineModel, text, userAuth, type ResourceRegistry } from '../../lib/index.js'
import type { Tables } from '../../lib/engines/executor.js'
import { openSqlite } from '../../lib/sqlite.js'
import { checkAnswers } from '../support/answers.js'
import {
  basic, buildApp, client, insert, Message, Note, registerSite, siteModels, siteUsers, User, type BuildOptions
} from '../support/site.js'
import { requireWorking, rows } from './working.js'

declare module 'fastify' {
  interface FastifyInstance {
    second: ResourceRegistry
  }
}

async function buildHost (
  t: Test, prepare: NonNullable<BuildOptions['prepare']>, server: FastifyServerOptions = {},
  more: Pick<BuildOptions, 'undocumented'> = {}
): Promise<FastifyInstance> {
  return (await buildApp(t, { rows, prepare, server, ...more })).app
}

test("the host's own routes and content type parsers are untouched", async (t) => {
  const app = await buildHost(t, (app) => {
    app.addContentTypeParser('text/csv', { parseAs: 'string' }, (_request, body, done) => {
      done(null, String(body).split(','))
    })
    app.addContentTypeParser('application/json', { parseAs: 'string' }, (_request, body, done) => {
      done(null, { parsedByHost: body })
    })
    app.post('/echo', async ({ body }) => ({ body }))
    app.get('/api/health', async () => ({ ok: true }))
  })
  const echo = async (type: string, payload: string) =>
    await app.inject({ method: 'POST', url: '/echo', headers: { 'content-type': type }, payload })
  t.strictSame((await echo('text/csv', 'a,b')).json(), { body: ['a', 'b'] })
  t.strictSame((await echo('application/json', '[1]')).json(), { body: { parsedByHost: '[1]' } })
  t.strictSame(
    (await echo('application/x-www-form-urlencoded', 'data={}')).json().code, 'FST_ERR_CTP_INVALID_MEDIA_TYPE'
  )
  t.strictSame((await app.inject('/api/health')).json(), { ok: true })
  t.equal((await app.inject('/api/health')).headers['cache-control'], undefined)
  await requireWorking(t, app)
})

test("the host's routes are neither guarded nor marked: a write of another site reaches them", async (t) => {
  const app = await buildHost(t, (app) => { app.post('/webhook', async () => 'taken') })
  const headers = { 'sec-fetch-site': 'cross-site', authorization: basic('nobody') }
  const reply = await app.inject({ method: 'POST', url: '/webhook', headers })
  t.strictSame([reply.statusCode, reply.body, reply.headers['cache-control']], [200, 'taken', undefined])
  t.equal((await app.inject({ method: 'POST', url: '/api/message/', headers })).statusCode, 403)
})

test("the host's error handler sees the plugin's errors and may change them; its own routes keep it", async (t) => {
  const seen: unknown[] = []
  const app = await buildHost(t, (app) => {
    app.setErrorHandler(async (error: Error & { code?: string, statusCode?: number }, _request, reply) => {
      seen.push(error.code)
      return await reply.code(error.statusCode ?? 500).send({ host: error.message })
    })
    app.get('/broken', async () => { throw new Error('own') })
  }, {}, { undocumented: "the host's error handler answers" })
  t.strictSame((await app.inject('/broken')).json(), { host: 'own' })
  const reply = await app.inject('/api/message/?nothing=1')
  t.strictSame([reply.statusCode, reply.json()], [400, { host: "Unknown parameter 'nothing'" }])
  t.strictSame(seen, [undefined, 'REST_MODELS_UNKNOWN_PARAMETER'])
  const refusal = await app.inject({ method: 'POST', url: '/api/message/' })
  t.strictSame([refusal.statusCode, refusal.body], [401, 'Authentication failed'], 'the refusal alone is not an error')
})

test("the host's not-found handler answers what no resource has", async (t) => {
  const app = await buildHost(t, (app) => {
    app.setNotFoundHandler(async (_request, reply) => await reply.code(404).send({ host: 'not here' }))
  })
  t.strictSame((await app.inject('/api/nothing/')).json(), { host: 'not here' })
  await requireWorking(t, app)
})

const size = { type: 'object', properties: { size: { type: 'integer' } }, required: ['size'] } as const

test("the host's validator coerces for the host and for nobody else", async (t) => {
  const app = await buildHost(t, (app) => {
    app.post('/size', { schema: { body: size } }, async ({ body }) => body)
  }, { ajv: { customOptions: { coerceTypes: 'array', removeAdditional: 'all', useDefaults: true } } })
  t.strictSame(
    (await app.inject({ method: 'POST', url: '/size', payload: { size: '7', more: 1 } })).json(), { size: 7 }
  )
  t.equal((await app.inject({ method: 'POST', url: '/size', payload: { size: 'x' } })).statusCode, 400)
  await requireWorking(t, app)
})

test("the host's compilers of validators and serializers work for the host alone", async (t) => {
  const refuseAll: FastifySchemaCompiler<unknown> = () => () => ({ error: new Error('refused by the host') })
  const app = await buildHost(t, (app) => {
    app.setValidatorCompiler(refuseAll)
    app.setSerializerCompiler(() => () => '"by the host"')
    app.post('/size', { schema: { body: size } }, async ({ body }) => body)
    app.get('/size', { schema: { response: { 200: size } } }, async () => ({ size: 1 }))
  })
  t.match((await app.inject({ method: 'POST', url: '/size', payload: { size: 1 } })).json(), {
    message: 'refused by the host'
  })
  t.equal((await app.inject('/size')).body, '"by the host"')
  await requireWorking(t, app)
})

for (const order of ['before', 'after'] as const) {
  test(`the host's own basic auth, registered ${order} the plugin, keeps its users and its challenge`, async (t) => {
    const db = await openSite(t)
    const app = Fastify()
    await checkAnswers(t, app)
    t.teardown(async () => { await app.close() })
    const own = async () => {
      await app.register(basicAuth, {
        authenticate: { realm: 'Host' },
        validate: async (username) => { if (username !== 'host') throw new Error('not the host') }
      })
    }
    if (order === 'before') await own()
    await app.register(restModels, { db })
    registerSite(app.restModels)
    await app.restModels.setup()
    if (order === 'after') await own()
    app.get('/own', { onRequest: app.basicAuth }, async () => 'own')
    const { get } = client(app)
    t.equal((await get('/own', { as: 'host' })).body, 'own')
    const refused = await get('/own', { as: 'alice' })
    t.strictSame([refused.statusCode, refused.headers['www-authenticate']], [
      401, 'Basic realm="Host", charset="UTF-8"'
    ])
    await requireWorking(t, app)
  })
}

test("the host's decorators of requests and replies are untouched", async (t) => {
  const app = await buildHost(t, (app) => {
    app.decorateRequest('user', '')
    app.decorateReply('user', null)
    app.decorate('user', 'decorated')
    app.addHook('onRequest', async (request) => { Object.assign(request, { user: 'by the host' }) })
    app.get('/user', async (request) => ({ user: (request as unknown as { user: string }).user }))
  })
  t.strictSame((await app.inject('/user')).json(), { user: 'by the host' })
  await requireWorking(t, app)
})

test("the host's parser of query strings works for the host alone", async (t) => {
  const app = await buildHost(t, (app) => {
    app.get('/query', async ({ query }) => query)
  }, { routerOptions: { querystringParser: (text) => ({ length: text.length }) } })
  t.strictSame((await app.inject('/query?abc')).json(), { length: 3 })
  await requireWorking(t, app)
})

const routerSettings: Record<string, FastifyServerOptions> = {
  'exposeHeadRoutes: false': { exposeHeadRoutes: false },
  'useSemicolonDelimiter: true': { useSemicolonDelimiter: true },
  'ignoreTrailingSlash: true': { routerOptions: { ignoreTrailingSlash: true } },
  'ignoreTrailingSlash: true, in its old place': { ignoreTrailingSlash: true },
  'caseSensitive: false': { routerOptions: { caseSensitive: false } },
  'ignoreDuplicateSlashes: true': { routerOptions: { ignoreDuplicateSlashes: true } },
  'a low maxParamLength': { routerOptions: { maxParamLength: 5 } }
}

for (const [name, server] of Object.entries(routerSettings)) {
  test(`the plugin works on a host with ${name}`, async (t) => {
    const app = await buildHost(t, (app) => { app.get('/own', async () => 'own') }, server)
    await requireWorking(t, app)
    t.equal((await app.inject('/api/message')).statusCode, 200, 'without the final slash')
    t.equal((await app.inject({ method: 'HEAD', url: '/api/message/' })).statusCode, 200)
    t.equal((await app.inject('/own')).body, 'own')
    t.equal(
      (await app.inject({ method: 'HEAD', url: '/own' })).statusCode, server.exposeHeadRoutes === false ? 404 : 200
    )
    t.equal((await app.inject('/OWN')).statusCode, server.routerOptions?.caseSensitive === false ? 200 : 404)
  })
}

test('a semicolon is part of a path, unless the host lets it begin a query', async (t) => {
  const Place = defineModel('Place', { id: text(), name: text() })
  const servers: readonly object[] = [
    {}, { useSemicolonDelimiter: true }, { routerOptions: { useSemicolonDelimiter: true } }
  ]
  for (const server of servers) {
    const app = Fastify(server)
    const db = openSqlite(':memory:')
    t.teardown(async () => { await app.close(); await db.destroy() })
    await createTables(db, [Place])
    await db.insertInto('place').values([{ id: 'a;b', name: 'b' }, { id: 'a', name: 'a' }]).execute()
    await app.register(restModels, { db })
    app.restModels.register(Place)
    await app.restModels.setup()
    t.match((await app.inject('/api/place/a%3Bb/')).json(), { name: 'b' })
    const isQuery = Object.keys(server).length > 0
    const { statusCode } = await app.inject('/api/place/;limit=1')
    t.equal(statusCode, isQuery ? 200 : 404, JSON.stringify(server))
    if (!isQuery) t.match((await app.inject('/api/place/a;b/')).json(), { name: 'b' })
  }
})

test("hooks of the host run before the plugin's own", async (t) => {
  const app = await buildHost(t, (app) => {
    app.addHook('onRequest', async (request, reply) => {
      if (request.headers['x-closed'] !== undefined) return await reply.code(503).send('closed')
    })
    app.addHook('onSend', async (_request, reply) => { reply.header('x-host', 'yes') })
  }, {}, { undocumented: "the host's hook answers" })
  const closed = await app.inject({ url: '/api/message/', headers: { 'x-closed': '1' } })
  t.strictSame([closed.statusCode, closed.body], [503, 'closed'])
  t.equal((await app.inject('/api/message/')).headers['x-host'], 'yes')
  await requireWorking(t, app)
})

test('models have no endpoints before setup(), and others never', async (t) => {
  const app = Fastify()
  await checkAnswers(t, app)
  t.teardown(async () => { await app.close() })
  await app.register(restModels, { db: await openSite(t) })
  app.restModels.register(Note)
  t.equal(app.hasRoute({ method: 'GET', url: '/api/note/' }), false)
  await app.restModels.setup()
  t.equal(app.hasRoute({ method: 'GET', url: '/api/note/' }), true)
  t.equal((await app.inject('/api/note/')).statusCode, 200)
  t.equal((await app.inject('/api/message/')).statusCode, 404)
})

test('an app that registers no model has no endpoints', async (t) => {
  const app = Fastify()
  await checkAnswers(t, app)
  t.teardown(async () => { await app.close() })
  await app.register(restModels, { db: await openSite(t) })
  t.equal((await app.inject('/api/note/')).statusCode, 404)
})

async function openSite (t: Test, extra: BuildOptions['rows'] = rows): Promise<Kysely<Tables>> {
  const db = openSqlite(':memory:')
  t.teardown(async () => { await db.destroy() })
  await createTables(db, siteModels)
  await insert(db, { user: await siteUsers(), ...extra })
  return db
}

test('two containers in one app share nothing', async (t) => {
  const app = Fastify()
  await checkAnswers(t, app)
  t.teardown(async () => { await app.close() })
  const other = await openSite(t, {
    note: [
      { id: 8, message: 'other', created: '2024-01-01 00:00:00' },
      { id: 9, message: 'other', created: '2024-01-01 00:00:00' }
    ]
  })
  await other.updateTable('user').set({ username: 'bob', id: 9 }).where('username', '=', 'bob').execute()
  await app.register(restModels, { db: await openSite(t), defaultAuth: userAuth(User) })
  await app.register(restModels, {
    db: other,
    decorator: 'second',
    prefix: '/other',
    defaultLimit: 1,
    maxLimit: 2,
    limits: { filters: 1 },
    allowedOrigins: ['https://a.example']
  })
  registerSite(app.restModels)
  app.restModels.register(Note, { path: 'notes' })
  app.second.register(Note, { exclude: ['created'] })
  app.second.register(Message, { auth: userAuth(User), ownerField: 'user' })
  await app.second.setup()
  await app.restModels.setup()
  const { get, post } = client(app)

  await requireWorking(t, app)
  t.strictSame((await get('/api/note/')).json().objects, rows.note)
  t.strictSame((await get('/other/note/')).json(), {
    meta: { model: 'note', page: 1, next: '/other/note/?limit=1&page=2', previous: '' },
    objects: [{ id: 8, message: 'other' }]
  })
  t.equal((await get('/other/note/?limit=3')).statusCode, 400, 'the limits of the second')
  t.equal((await get('/api/note/?limit=3')).statusCode, 200)
  t.equal((await get('/other/note/?id=8&message=other')).statusCode, 400)
  t.equal((await get('/api/note/?id=1&message=x')).statusCode, 200)
  t.equal((await get('/other/user/')).statusCode, 404, 'a resource of the first only')
  t.equal(
    (await post('/other/note/', { message: 'x' }, { as: 'alice' })).statusCode, 401,
    'the default policy of the second'
  )
  t.equal((await post('/api/notes/', { message: 'x' }, { as: 'alice' })).statusCode, 201)
  t.equal((await post('/other/message/', { content: 'x' }, { as: 'bob' })).json().user_id, 9, 'the users of the second')
  t.equal((await post('/api/message/', { content: 'x' }, { as: 'bob' })).json().user_id, 3)
  const headers = { origin: 'https://a.example' }
  t.equal(
    (await post('/other/message/', { content: 'x' }, { as: 'bob', headers })).statusCode, 201,
    'the origins of the second'
  )
  t.equal((await post('/api/message/', { content: 'x' }, { as: 'bob', headers })).statusCode, 403)
})

test('a container needs a decorator of its own', async (t) => {
  const app = Fastify()
  await checkAnswers(t, app)
  t.teardown(async () => { await app.close() })
  const db = await openSite(t)
  await app.register(restModels, { db })
  await t.rejects(Promise.resolve(app.register(restModels, { db, prefix: '/other' })), /restModels/)
})

test('a forgotten setup() of the second container is an error too', async (t) => {
  const app = Fastify()
  await checkAnswers(t, app)
  t.teardown(async () => { await app.close() })
  const db = await openSite(t)
  await app.register(restModels, { db })
  await app.register(restModels, { db, prefix: '/other', decorator: 'second' })
  app.restModels.register(Note)
  app.second.register(Note)
  await app.restModels.setup()
  await t.rejects(Promise.resolve(app.ready()), { code: 'REST_MODELS_NOT_SET_UP', message: /app\.second\.setup\(\)/ })
})

test('two apps in one process share nothing, though they share models and policies', async (t) => {
  const [first, second] = [await buildApp(t, { rows }), await buildApp(t, { rows: {} })]
  t.equal((await first.post('/api/message/', { content: 'x' }, { as: 'alice' })).statusCode, 201)
  t.equal((await first.get('/api/message/')).json().objects.length, 2)
  t.strictSame((await second.get('/api/message/')).json().objects, [])
  await second.db.updateTable('user').set({ active: 0 }).where('username', '=', 'alice').execute()
  t.equal((await second.post('/api/message/', { content: 'x' }, { as: 'alice' })).statusCode, 401)
  t.equal((await first.post('/api/message/', { content: 'x' }, { as: 'alice' })).statusCode, 201)
  await second.app.close()
  t.equal((await first.get('/api/message/')).statusCode, 200)
})

test('links and Location carry the prefix of the scope', async (t) => {
  const app = Fastify()
  await checkAnswers(t, app)
  t.teardown(async () => { await app.close() })
  const db = await openSite(t)
  await app.register(async (scope) => {
    await scope.register(restModels, { db })
    registerSite(scope.restModels)
    await scope.restModels.setup()
  }, { prefix: '/v1' })
  await requireWorking(t, app, '/v1/api')
  const { meta } = (await app.inject('/v1/api/user/?limit=2&page=1')).json()
  t.equal(meta.next, '/v1/api/user/?limit=2&page=2')
  t.equal((await app.inject(meta.next)).json().meta.previous, '/v1/api/user/?limit=2&page=1')
  t.equal((await app.inject('/api/user/')).statusCode, 404)
})

test('without any prefix the resources are at the top', async (t) => {
  const { app, get } = await buildApp(t, { rows, options: { prefix: '' } })
  await requireWorking(t, app, '')
  t.equal((await get('/user/?limit=2')).json().meta.next, '/user/?limit=2&page=2')
})

test('a nested plugin keeps its container, hooks and resources to itself', async (t) => {
  const app = Fastify()
  await checkAnswers(t, app)
  t.teardown(async () => { await app.close() })
  const db = await openSite(t)
  app.register(async (outer) => {
    outer.addHook('onSend', async (_request, reply) => { reply.header('x-outer', 'yes') })
    outer.register(async (inner) => {
      await inner.register(restModels, { db })
      registerSite(inner.restModels)
      await inner.restModels.setup()
    })
    outer.get('/outer', async () => 'outer')
  })
  app.get('/own', async () => 'own')
  await app.ready()
  t.equal(app.hasDecorator('restModels'), false)
  t.equal((await app.inject('/api/note/')).headers['x-outer'], 'yes')
  t.equal((await app.inject('/own')).headers['x-outer'], undefined)
  await requireWorking(t, app)
})

test('setup() runs where the plugin was registered, wherever it is called', async (t) => {
  const app = Fastify()
  await checkAnswers(t, app)
  t.teardown(async () => { await app.close() })
  await app.register(restModels, { db: await openSite(t) })
  await app.register(async (scope) => { registerSite(scope.restModels) }, { prefix: '/deep' })
  await app.restModels.setup()
  await requireWorking(t, app)
})

test("the host's Kysely plugins do not disturb: names are those of the models", async (t) => {
  const Entry = defineModel('Entry', { first_name: text(), lastName: text({ column: 'lastName' }) })
  const plain = openSqlite(':memory:')
  t.teardown(async () => { await plain.destroy() })
  const db = plain.withPlugin(new CamelCasePlugin())
  const { get, post } = await buildApp(t, {
    models: [],
    register: (registry) => { registry.register(Entry, { auth: anybody }) },
    options: { db },
    prepare: async () => { await createTables(db, [Entry]) }
  })
  t.strictSame((await post('/api/entry/', { first_name: 'Ann', lastName: 'B' })).json(), {
    id: 1, first_name: 'Ann', lastName: 'B'
  })
  t.strictSame((await get('/api/entry/?first_name=Ann&ordering=-lastName')).json().objects, [
    { id: 1, first_name: 'Ann', lastName: 'B' }
  ])
  t.strictSame(
    await db.selectFrom('entry').select('firstName').execute(), [{ firstName: 'Ann' }],
    "the host's handle keeps its plugins"
  )
})

const anybody = {
  open: ['list', 'read', 'create', 'update', 'delete'] as const,
  authenticator: () => async () => null,
  permits: () => false
}

test('the database is neither opened nor closed by the plugin', async (t) => {
  const db = await openSite(t)
  let destroyed = 0
  const destroy = db.destroy.bind(db)
  db.destroy = async () => { destroyed++; await destroy() }
  const { app, get } = await buildApp(t, { models: [], options: { db } })
  t.equal((await get('/api/note/')).statusCode, 200)
  await app.close()
  t.equal(destroyed, 0)
  t.equal((await db.selectFrom('note').selectAll().execute()).length, 1, 'the host may go on with it')
})

test('the app closes while it serves, and a request under way is finished', async (t) => {
  const { app } = await buildApp(t, { rows })
  const address = await app.listen({ port: 0, host: '127.0.0.1' })
  const headers = { authorization: basic('alice'), connection: 'close' }
  const created = fetch(`${address}/api/message/`, { method: 'POST', body: '{"content":"last"}', headers })
  await new Promise((resolve) => app.server.once('request', resolve))
  await app.close()
  t.equal((await created).status, 201)
  await t.rejects(fetch(`${address}/api/message/`))
})

test('a schema that a host puts in place of ours, and that refers to nothing, is told at the start', async (t) => {
  const prepare: BuildOptions['prepare'] = (app) => {
    app.addHook('onRoute', ({ schema }) => {
      if (schema?.response != null) Object.assign(schema.response, { 200: { $ref: 'nothing#' } })
    })
  }
  await t.rejects(buildHost(t, prepare), /serialization schema/)
  await t.resolves(buildApp(t), 'another app has schemas of its own')
})
