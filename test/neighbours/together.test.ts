// @once: about other plugins of Fastify

import { gunzipSync } from 'node:zlib'
import basicAuth from '@fastify/basic-auth'
import compress from '@fastify/compress'
import cors from '@fastify/cors'
import etag from '@fastify/etag'
import helmet from '@fastify/helmet'
import rateLimit from '@fastify/rate-limit'
import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import { TypeBoxValidatorCompiler, type TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import underPressure from '@fastify/under-pressure'
import { Type } from '@sinclair/typebox'
import Fastify, { type FastifyInstance, type FastifyServerOptions } from 'fastify'
import { test, type Test } from 'tap'
import restModels, { createTables, userAuth } from '../../lib/index.js'
import { openSqlite } from '../../lib/sqlite.js'
import { checkAnswers } from '../support/answers.js'
import { basic, client, insert, Message, Note, siteModels, siteUsers, User } from '../support/site.js'
import { requireWorking, rows } from './working.js'

const origin = 'https://app.example'

/** What a host registers, as its own documentation tells it to. */
async function addNeighbours (app: FastifyInstance): Promise<void> {
  await app.register(underPressure, { maxEventLoopDelay: 60_000, exposeStatusRoute: true })
  await app.register(helmet)
  await app.register(cors, { origin: [origin], methods: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'], credentials: true })
  await app.register(rateLimit, { max: 1000 })
  await app.register(etag)
  await app.register(compress, { threshold: 64 })
  await app.register(swagger, { openapi: { openapi: '3.1.0', info: { title: 'All together', version: '1.0.0' } } })
  await app.register(swaggerUi, { routePrefix: '/documentation' })
  await app.register(basicAuth, {
    authenticate: { realm: 'Host' },
    validate: async (username) => { if (username !== 'host') throw new Error('not the host') }
  })
}

/** An app as real hosts have it: all neighbours, its own settings and routes, and the plugin. */
async function buildHost (t: Test, server: FastifyServerOptions): Promise<FastifyInstance> {
  const db = openSqlite(':memory:')
  const app = Fastify({
    ...server,
    ajv: { customOptions: { coerceTypes: 'array', removeAdditional: 'all', useDefaults: true, allErrors: true } }
  }).withTypeProvider<TypeBoxTypeProvider>()
  await checkAnswers(t, app)
  t.teardown(async () => {
    await app.close()
    await db.destroy()
  })
  await createTables(db, siteModels)
  await insert(db, { user: await siteUsers(), ...rows })
  await addNeighbours(app)
  app.setErrorHandler(async (error: Error & { statusCode?: number }, _request, reply) => {
    reply.header('x-handled', 'by the host')
    return await reply.send(error)
  })
  await app.register(restModels, { db, allowedOrigins: [origin] })
  app.restModels.register(User, { exclude: ['password', 'email'] })
  app.restModels.register(Message, { auth: userAuth(User), ownerField: 'user', config: { rateLimit: { max: 500 } } })
  app.restModels.register(Note)
  await app.restModels.setup()
  app.get(
    '/coerced', { schema: { querystring: Type.Object({ count: Type.Integer() }) } },
    async ({ query }) => ({ next: query.count + 1 })
  )
  await app.register(async (scope) => {
    scope.setValidatorCompiler(TypeBoxValidatorCompiler)
    scope.withTypeProvider<TypeBoxTypeProvider>().post(
      '/strict', { schema: { body: Type.Object({ count: Type.Integer() }) } },
      async ({ body }) => ({ next: body.count + 1 })
    )
  })
  app.get('/own', { onRequest: app.basicAuth }, async () => 'own')
  return app
}

const lines: string[] = []
const loggers: Record<string, FastifyServerOptions> = {
  'without a logger': { logger: false },
  'with a logger': { logger: { level: 'trace', stream: { write: (line: string) => { lines.push(line) } } } }
}

for (const [name, server] of Object.entries(loggers)) {
  test(`all neighbours in one app, ${name}`, async (t) => {
    const app = await buildHost(t, server)
    await requireWorking(t, app)
    await t.test('what each of them adds is on one answer', async (t) => { await addsUp(t, app) })
    await t.test('an error passes the handler of the host, and keeps its shape', async (t) => { await fails(t, app) })
    await t.test("the host's own routes are as it made them", async (t) => { await keepsOwn(t, app) })
  })
}

async function addsUp (t: Test, app: FastifyInstance): Promise<void> {
  const url = '/api/message/?user=2'
  const plain = await app.inject(url)
  const reply = await app.inject({ url, headers: { origin, 'accept-encoding': 'gzip' } })
  t.equal(gunzipSync(reply.rawPayload).toString(), plain.body)
  t.match(reply.headers, {
    'content-type': 'application/json; charset=utf-8',
    'content-encoding': 'gzip',
    etag: plain.headers.etag,
    'access-control-allow-origin': origin,
    'content-security-policy': String,
    'x-ratelimit-limit': '500'
  })
  t.match(String(reply.headers.vary), /origin/i)
  t.match(String(reply.headers.vary), /accept-encoding/i)
  const again = await app.inject({
    url, headers: { 'accept-encoding': 'gzip', 'if-none-match': String(reply.headers.etag) }
  })
  t.strictSame([again.statusCode, again.body, again.headers['content-encoding']], [304, '', undefined])
  const head = await app.inject({ method: 'HEAD', url, headers: { 'accept-encoding': 'gzip' } })
  t.strictSame([head.statusCode, head.body, head.headers.etag], [200, '', reply.headers.etag])
}

async function fails (t: Test, app: FastifyInstance): Promise<void> {
  const { get, post } = client(app)
  const faulty = await get('/api/message/?nothing=1', { headers: { 'accept-encoding': 'gzip', origin } })
  t.strictSame([faulty.statusCode, faulty.headers['x-handled'], faulty.headers['access-control-allow-origin']], [
    400, 'by the host', origin
  ])
  t.strictSame(JSON.parse(gunzipSync(faulty.rawPayload).toString()), {
    statusCode: 400,
    code: 'REST_MODELS_UNKNOWN_PARAMETER',
    error: 'Bad Request',
    message: "Unknown parameter 'nothing'",
    details: [{ field: 'nothing', message: 'is not a parameter of this resource' }]
  })
  const refused = await post('/api/message/', { content: 'x' }, { headers: { 'accept-encoding': 'gzip' } })
  t.match([refused.statusCode, refused.headers['content-type'], refused.headers['www-authenticate'], refused.body],
    [401, 'text/html; charset=utf-8', 'Basic realm="Login Required"', 'Authentication failed'])
  t.match([refused.headers['x-handled'], refused.headers['cache-control']], [undefined, 'no-store'])
}

async function keepsOwn (t: Test, app: FastifyInstance): Promise<void> {
  const { get, post } = client(app)
  t.strictSame((await get('/coerced?count=7&more=1')).json(), { next: 8 })
  t.equal((await post('/strict', { count: '7' })).statusCode, 400)
  t.strictSame((await post('/strict', { count: 7 })).json(), { next: 8 })
  t.equal((await get('/own', { as: 'host' })).body, 'own')
  t.equal((await get('/own', { as: 'alice' })).headers['www-authenticate'], 'Basic realm="Host", charset="UTF-8"')
  t.strictSame((await get('/status')).json(), { status: 'ok' })
  t.match((await get('/documentation/json')).json(), {
    openapi: '3.1.0', paths: { '/own': Object, '/api/message/': Object, '/api/message/{id}/': Object }
  })
  t.equal((await get('/documentation/')).statusCode, 200)
}

test('the log of all that, down to its finest level, holds neither credentials nor bodies', async (t) => {
  t.ok(lines.length > 20)
  for (const secret of [basic('alice').slice(6), basic('bob').slice(6), '"content":', '$argon2id$']) {
    t.notOk(lines.some((line) => line.includes(secret)), secret)
  }
})

test('an error handler and onRoute hooks that a host adds after setup() do not reach the routes', async (t) => {
  const db = openSqlite(':memory:')
  const app = Fastify()
  await checkAnswers(t, app)
  t.teardown(async () => {
    await app.close()
    await db.destroy()
  })
  await createTables(db, [Note])
  await app.register(restModels, { db })
  app.restModels.register(Note)
  await app.restModels.setup()
  await app.register(async (scope) => { scope.get('/plain', async () => { throw new Error('plain') }) })
  app.setErrorHandler(async () => ({ handled: 'late' }))
  const seen: string[] = []
  app.addHook('onRoute', ({ url }) => { seen.push(url) })
  app.get('/later', async () => { throw new Error('later') })
  const bodies = await Promise.all(
    ['/plain', '/api/note/9/', '/later'].map(async (url) => (await app.inject(url)).json().handled)
  )
  t.strictSame(bodies, [undefined, undefined, 'late'])
  t.strictSame(seen, ['/later', '/later'], 'GET and HEAD')
})
