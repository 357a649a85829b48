// @once: about other plugins of Fastify

import rateLimit from '@fastify/rate-limit'
import type {
  FastifyContextConfig, FastifyInstance, FastifyRequest, LightMyRequestResponse, RouteOptions
} from 'fastify'
import { test, type Test } from 'tap'
import { userAuth, userOf, type ResourceOptions } from '../../lib/index.js'
import { basic, buildApp, Message, Note, User, type BuildOptions } from '../support/site.js'
import { requireWorking, rows } from './working.js'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** What a plugin of a host looks for. */
    colour?: string
  }
}

async function buildHost (
  t: Test, config: FastifyContextConfig, prepare: NonNullable<BuildOptions['prepare']>
): Promise<FastifyInstance> {
  const { app } = await buildApp(t, {
    rows,
    prepare,
    undocumented: 'neighbours answer as well',
    register: (registry) => {
      registry.register(Message, { auth: userAuth(User), ownerField: 'user', config })
      registry.register(User, { exclude: ['password'] })
    }
  })
  return app
}

test("D-90: a resource's config is that of all its routes, and of no others", async (t) => {
  const seen = new Map<string, FastifyContextConfig | undefined>()
  const config = { colour: 'red' }
  const app = await buildHost(t, config, (app) => {
    app.addHook('onRoute', (route) => { seen.set(`${String(route.method)} ${route.url}`, route.config) })
    app.addHook('onSend', async ({ routeOptions }, reply) => {
      reply.header('x-colour', routeOptions.config.colour ?? 'none')
    })
  })
  const routes = [...seen].filter(([route]) => route.includes('/message'))
  t.ok(routes.length >= 14, 'five routes, with and without the slash, HEAD, and the methods that paths do not have')
  for (const [route, own] of routes) t.match(own, { colour: 'red' }, route)
  for (const [route, own] of seen) if (route.includes('/user')) t.equal(own?.colour, undefined, route)
  t.equal((await app.inject('/api/message')).headers['x-colour'], 'red')
  t.equal((await app.inject('/api/user/')).headers['x-colour'], 'none')
  t.strictSame(config, { colour: 'red' }, 'the object itself is left as it is')
})

test('a config that is no object is told at the start', async (t) => {
  for (const config of [null, 'red', ['red'], 1]) {
    const options = { config } as unknown as ResourceOptions<typeof Note>
    await t.rejects(buildApp(t, { register: (registry) => { registry.register(Note, options) } }), {
      code: 'REST_MODELS_INVALID_OPTIONS',
      message: "'config' of resource 'Note' must be an object, such as a route of Fastify takes"
    })
  }
})

test('what an onRoute hook writes to one route is not on its twin without the slash', async (t) => {
  let runs = 0
  const app = await buildHost(t, {}, (app) => {
    app.addHook('onRoute', (route: RouteOptions) => {
      Object.assign(route.config ?? {}, { colour: route.url })
      // As plugins do that add a hook behind those of the route.
      if (Array.isArray(route.preHandler)) route.preHandler.push(async () => { runs++ })
    })
    app.addHook('onSend', async ({ routeOptions }, reply) => {
      reply.header('x-colour', String(routeOptions.config.colour))
    })
  })
  for (const url of ['/api/message/', '/api/message']) {
    runs = 0
    const reply = await app.inject({
      method: 'POST', url, payload: { content: 'x' }, headers: { authorization: basic('alice') }
    })
    t.strictSame([reply.statusCode, reply.headers['x-colour'], runs], [201, url, 1])
  }
})

test('a hook that an onRoute hook adds to each route runs once, also for GET and HEAD', async (t) => {
  const names = ['onRequest', 'preHandler', 'onSend'] as const
  let runs: string[] = []
  const app = await buildHost(t, {}, (app) => {
    app.addHook('onRoute', (route: RouteOptions) => {
      // As plugins do that add to the list that is there.
      for (const name of names) (route[name] as unknown[]).push(async () => { runs.push(name) })
    })
  })
  for (const method of ['GET', 'HEAD'] as const) {
    for (const url of ['/api/message/', '/api/message', '/api/message/1/', '/api/message/1']) {
      runs = []
      t.equal((await app.inject({ method, url })).statusCode, 200)
      t.strictSame(runs, names, `${method} ${url}`)
    }
  }
})

const statuses = async (count: number, send: () => Promise<LightMyRequestResponse>): Promise<number[]> => {
  const replies = []
  for (let index = 0; index < count; index++) replies.push((await send()).statusCode)
  return replies
}

test('@fastify/rate-limit: a resource has its own limit, which counts what is refused as well', async (t) => {
  const app = await buildHost(t, { rateLimit: { max: 2, timeWindow: '1 minute' } }, async (app) => {
    await app.register(rateLimit, { global: false })
  })
  t.strictSame(await statuses(3, async () => await app.inject('/api/message/')), [200, 200, 429])
  t.strictSame(await statuses(3, async () => await app.inject('/api/user/')), [200, 200, 200], 'no other resource')
  t.strictSame(
    await statuses(3, async () => await app.inject({ method: 'POST', url: '/api/message/' })), [401, 401, 429],
    'each operation counts by itself'
  )
  t.strictSame(
    await statuses(3, async () =>
      await app.inject({ method: 'PUT', url: '/api/message/', headers: { authorization: basic('alice') } })),
    [405, 405, 429]
  )
  t.strictSame(
    await statuses(3, async () => await app.inject({ method: 'HEAD', url: '/api/message/' })), [200, 200, 429],
    'HEAD and'
  )
  t.strictSame(
    await statuses(3, async () => await app.inject('/api/message')), [200, 200, 429],
    'the path without the slash are routes as well'
  )
  const limited = await app.inject('/api/message/')
  t.match(limited.headers, {
    'x-ratelimit-limit': '2', 'retry-after': String, 'content-type': 'application/json; charset=utf-8'
  })
  t.match(limited.json(), { statusCode: 429, error: 'Too Many Requests', message: /^Rate limit exceeded/ })
})

test('@fastify/rate-limit: a limit for all routes counts them all together', async (t) => {
  const app = await buildHost(t, {}, async (app) => { await app.register(rateLimit, { max: 4 }) })
  const requests = [
    ['GET', '/api/message/'], ['GET', '/api/message'], ['HEAD', '/api/message/'], ['POST', '/api/message/'],
    ['GET', '/api/user/']
  ] as const
  const replies = []
  for (const [method, url] of requests) replies.push((await app.inject({ method, url })).statusCode)
  t.strictSame(replies, [200, 200, 200, 401, 429])
})

test('D-92, @fastify/rate-limit: its answer that is no Error is sent, and the error handler sees it', async (t) => {
  const limit = async (app: FastifyInstance) => {
    await app.register(rateLimit, {
      max: 0,
      errorResponseBuilder: (_request, { statusCode, max }) =>
        ({ statusCode, error: 'Slow down', message: `only ${max}` })
    })
  }
  const app = await buildHost(t, {}, limit)
  const limited = await app.inject('/api/message/')
  t.strictSame([limited.statusCode, limited.json()], [429, { statusCode: 429, error: 'Slow down', message: 'only 0' }])
  const handled = await buildHost(t, {}, async (app) => {
    await limit(app)
    app.setErrorHandler(async (error: { statusCode: number, error: string }, _request, reply) =>
      await reply.code(error.statusCode).send({ host: error.error }))
  })
  const answer = await handled.inject('/api/message/')
  t.strictSame([answer.statusCode, answer.json()], [429, { host: 'Slow down' }])
})

test('D-92: what a hook throws that has no status of an error is a 500 that tells nothing', async (t) => {
  const secrets: readonly unknown[] = [
    { statusCode: 500, sql: 'secret' }, { statusCode: 200, body: 'secret' },
    { statusCode: undefined, body: 'secret' }, { statusCode: 'abc', body: 'secret' },
    Object.assign(new Error('secret'), { statusCode: undefined }),
    Object.assign(new Error('secret'), { statusCode: 302 }),
    { get statusCode () { throw new Error('secret') } }, 'secret'
  ]
  for (const thrown of secrets) {
    const app = await buildHost(t, {}, (app) => { app.addHook('preHandler', () => { throw thrown }) })
    const { statusCode, body } = await app.inject('/api/message/')
    t.equal(statusCode, 500)
    t.match(body, /^\{"statusCode":500,"code":"REST_MODELS_INTERNAL",/)
  }
  const app = await buildHost(t, {}, (app) => {
    app.addHook('preHandler', () => { throw Object.assign(new Error('later'), { statusCode: 503 }) })
  })
  t.match((await app.inject('/api/message/')).json(), { statusCode: 503, message: 'later' })
})

test('@fastify/rate-limit: keyed by the user of the policy, nobody uses up the limit of another', async (t) => {
  const keyGenerator = (request: FastifyRequest) => String(userOf(request)?.id ?? request.ip)
  const app = await buildHost(t, { rateLimit: { max: 2, hook: 'preHandler', keyGenerator } }, async (app) => {
    await app.register(rateLimit, { global: false })
  })
  const create = async (as: string, password = as) => await app.inject({
    method: 'POST', url: '/api/message/', payload: { content: 'x' }, headers: { authorization: basic(as, password) }
  })
  t.strictSame(
    await statuses(3, async () => await create('alice', 'wrong')), [401, 401, 401],
    'who gives a wrong password is not alice'
  )
  t.strictSame(await statuses(3, async () => await create('alice')), [201, 201, 429])
  t.strictSame(await statuses(3, async () => await create('bob')), [201, 201, 429])
  t.strictSame(
    await statuses(3, async () => await app.inject('/api/message/')), [200, 200, 429],
    'by address where nobody has to log in'
  )
})

test('D-91: who sent a request is known behind the policy, and nobody on routes of the host', async (t) => {
  const seen: unknown[] = []
  const app = await buildHost(t, {}, (app) => {
    app.addHook('onRequest', async (request) => { seen.push(userOf(request)) })
    app.addHook('onResponse', async (request) => { seen.push(userOf(request)) })
    app.get('/own', async (request) => ({ user: userOf(request) }))
  })
  t.strictSame((await app.inject({ url: '/own', headers: { authorization: basic('alice') } })).json(), { user: null })
  await app.inject({
    method: 'POST', url: '/api/message/', payload: { content: 'x' }, headers: { authorization: basic('alice') }
  })
  await app.inject({ url: '/api/message/', headers: { authorization: basic('alice') } })
  t.strictSame(seen, [null, null, null, { id: 2, admin: false }, null, null], 'not where reading is open')
})

test('@fastify/rate-limit does not disturb while it allows', async (t) => {
  await requireWorking(t, await buildHost(t, {}, async (app) => { await app.register(rateLimit, { max: 1000 }) }))
})
