// @once: about other plugins of Fastify

import { gunzipSync, gzipSync } from 'node:zlib'
import compress from '@fastify/compress'
import cors from '@fastify/cors'
import etag from '@fastify/etag'
import helmet from '@fastify/helmet'
import underPressure from '@fastify/under-pressure'
import type { FastifyInstance } from 'fastify'
import { test, type Test } from 'tap'
import { userAuth } from '../../lib/index.js'
import { basic, buildApp, Message, User, type BuildOptions, type Rows } from '../support/site.js'
import { requireWorking, rows } from './working.js'

const origin = 'https://app.example'

async function buildHost (
  t: Test, prepare: NonNullable<BuildOptions['prepare']>, options: Omit<BuildOptions, 'prepare'> = {}
): Promise<FastifyInstance> {
  return (await buildApp(t, { rows, prepare, undocumented: 'neighbours answer as well', ...options })).app
}

test('@fastify/cors: pages of an origin that both allow may write, those of another are told 403', async (t) => {
  const app = await buildHost(
    t, async (app) => {
      await app.register(cors, { origin: [origin], methods: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] })
    },
    { options: { allowedOrigins: [origin] } }
  )
  for (const method of ['PUT', 'PATCH', 'DELETE']) {
    const preflight = await app.inject({
      method: 'OPTIONS',
      url: '/api/message/1/',
      headers: {
        origin, 'access-control-request-method': method, 'access-control-request-headers': 'authorization,content-type'
      }
    })
    t.equal(preflight.statusCode, 204)
    t.match(preflight.headers, {
      'access-control-allow-origin': origin,
      'access-control-allow-methods': 'GET, POST, PUT, PATCH, DELETE',
      'access-control-allow-headers': 'authorization,content-type'
    })
  }
  const write = async (from: string) => await app.inject({
    method: 'PUT',
    url: '/api/message/1/',
    payload: { content: from },
    headers: { origin: from, 'sec-fetch-site': 'cross-site', authorization: basic('alice') }
  })
  const own = await write(origin)
  t.match([own.statusCode, own.headers['access-control-allow-origin'], own.json().content], [200, origin, origin])
  const other = await write('https://other.example')
  t.match([other.statusCode, other.headers['access-control-allow-origin']], [403, undefined])
  const refused = await app.inject({
    method: 'DELETE', url: '/api/message/1/', headers: { origin, 'sec-fetch-site': 'cross-site' }
  })
  t.match([refused.statusCode, refused.headers['access-control-allow-origin']], [401, origin], 'the page may read why')
  await requireWorking(t, await buildHost(t, async (app) => { await app.register(cors) }))
})

test('@fastify/cors: an origin that it alone allows may read, and still not write', async (t) => {
  const app = await buildHost(t, async (app) => { await app.register(cors, { origin: true, credentials: true }) })
  const headers = { origin, 'sec-fetch-site': 'cross-site', authorization: basic('alice') }
  t.match((await app.inject({ url: '/api/message/', headers })).headers, { 'access-control-allow-origin': origin })
  const refused = await app.inject({ method: 'POST', url: '/api/message/', payload: { content: 'x' }, headers })
  t.match([refused.statusCode, refused.headers['access-control-allow-origin'], refused.json().code], [
    403, origin, 'REST_MODELS_FORBIDDEN'
  ])
})

test('@fastify/helmet: its headers stand on every answer, refusals and errors among them', async (t) => {
  const app = await buildHost(t, async (app) => { await app.register(helmet) })
  const replies = [
    await app.inject('/api/message/'), await app.inject('/api/message/99/'),
    await app.inject({ method: 'POST', url: '/api/message/' }),
    await app.inject({ method: 'PATCH', url: '/api/note/1/' })
  ]
  t.strictSame(replies.map(({ statusCode }) => statusCode), [200, 404, 401, 401])
  for (const { headers } of replies) {
    t.match(headers, {
      'content-security-policy': /default-src 'self'/,
      'x-content-type-options': 'nosniff',
      'strict-transport-security': String
    })
  }
  await requireWorking(t, app)
})

const many: Rows = {
  message: Array.from({ length: 60 }, (_, index) =>
    ({ id: index + 1, user_id: 2, content: `message ${index + 1}`, pub_date: '2024-01-01 00:00:00' }))
}

test('@fastify/etag: what has not changed is 304, what has changed is not', async (t) => {
  const app = await buildHost(t, async (app) => { await app.register(etag) })
  for (const url of ['/api/message/?limit=5', '/api/message/1/', '/api/message/1']) {
    const { headers: { etag: tag } } = await app.inject(url)
    t.type(tag, 'string')
    const again = await app.inject({ url, headers: { 'if-none-match': String(tag) } })
    t.strictSame([again.statusCode, again.body], [304, ''])
    const head = await app.inject({ method: 'HEAD', url })
    t.strictSame([head.statusCode, head.headers.etag, head.body], [200, tag, ''])
  }
  const { headers } = await app.inject('/api/message/1/')
  await app.inject({
    method: 'PUT', url: '/api/message/1/', payload: { content: 'changed' }, headers: { authorization: basic('alice') }
  })
  const changed = await app.inject({ url: '/api/message/1/', headers: { 'if-none-match': String(headers.etag) } })
  t.match([changed.statusCode, changed.json().content], [200, 'changed'])
  await requireWorking(t, await buildHost(t, async (app) => { await app.register(etag) }))
})

test('@fastify/etag keeps the tags of resources that have their own, and gives lists tags', async (t) => {
  const app = await buildHost(t, async (app) => { await app.register(etag) }, {
    register: (registry) => {
      registry.register(Message, { auth: userAuth(User), ownerField: 'user', path: 'tagged', etag: true })
    }
  })
  const url = '/api/tagged/1/'
  const { headers: { etag: tag } } = await app.inject(url)
  t.match(tag, /^"[\w-]{22}"$/)
  const again = await app.inject({ url, headers: { 'if-none-match': String(tag) } })
  t.strictSame([again.statusCode, again.body, again.headers.etag], [304, '', tag])
  const head = await app.inject({ method: 'HEAD', url })
  t.strictSame([head.statusCode, head.headers.etag], [200, tag])
  t.match((await app.inject('/api/tagged/')).headers.etag, /^"/)
  const headers = { authorization: basic('alice'), 'if-match': String(tag) }
  const put = async () => await app.inject({ method: 'PUT', url, payload: { content: 'changed' }, headers })
  const changed = await put()
  t.strictSame([changed.statusCode, (await put()).statusCode], [200, 412])
  t.equal((await app.inject(url)).headers.etag, changed.headers.etag)
})

test('@fastify/compress: long answers are compressed, short and empty ones not; bodies may be', async (t) => {
  const app = await buildHost(t, async (app) => { await app.register(compress) }, { rows: many })
  const headers = { 'accept-encoding': 'gzip' }
  const plain = await app.inject('/api/message/?limit=50')
  const list = await app.inject({ url: '/api/message/?limit=50', headers })
  t.match(list.headers, {
    'content-encoding': 'gzip', vary: /accept-encoding/, 'content-type': 'application/json; charset=utf-8'
  })
  t.equal(gunzipSync(list.rawPayload).toString(), plain.body)
  const head = await app.inject({ method: 'HEAD', url: '/api/message/?limit=50', headers })
  t.strictSame([head.statusCode, head.body], [200, ''])
  const alice = { ...headers, authorization: basic('alice') }
  t.equal((await app.inject({ url: '/api/message/1/', headers })).headers['content-encoding'], undefined)
  const payload = gzipSync('{"content":"compressed"}')
  const created = await app.inject({
    method: 'POST',
    url: '/api/message/',
    payload,
    headers: { ...alice, 'content-encoding': 'gzip', 'content-type': 'application/json' }
  })
  t.match([created.statusCode, created.json().content], [201, 'compressed'])
  const removed = await app.inject({ method: 'DELETE', url: String(created.headers.location), headers: alice })
  t.strictSame([removed.statusCode, removed.body, removed.headers['content-encoding']], [204, '', undefined])
  await requireWorking(t, await buildHost(t, async (app) => { await app.register(compress, { threshold: 0 }) }))
})

test('@fastify/under-pressure: its 503 comes first, in its own words, through the error handler', async (t) => {
  let healthy = true
  const pressure = async (app: FastifyInstance) => {
    await app.register(underPressure, {
      healthCheck: async () => healthy, healthCheckInterval: 50, message: 'Under pressure!', retryAfter: 30
    })
  }
  const app = await buildHost(t, pressure)
  const handled = await buildHost(t, async (app) => {
    await pressure(app)
    app.setErrorHandler(async (error: Error, _request, reply) => await reply.code(503).send({ host: error.message }))
  })
  await requireWorking(t, app)
  healthy = false
  await new Promise((resolve) => setTimeout(resolve, 200))
  const refused = await app.inject({
    method: 'POST', url: '/api/message/', payload: { content: 'x' }, headers: { authorization: basic('alice') }
  })
  t.strictSame([refused.statusCode, refused.headers['retry-after']], [503, '30'])
  t.strictSame(refused.json(), {
    statusCode: 503, code: 'FST_UNDER_PRESSURE', error: 'Service Unavailable', message: 'Under pressure!'
  })
  t.strictSame((await handled.inject('/api/message/')).json(), { host: 'Under pressure!' })
})
