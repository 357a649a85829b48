// @once: about headers, which are judged before any statement

import Fastify from 'fastify'
import { test } from 'tap'
import restModels, { userAuth, userOf } from '../../lib/index.js'
import { readPage } from '../documentation/page.js'
import { buildApp, client, Message, User } from '../support/site.js'
import { attack } from './security-helper.js'

const form = { 'content-type': 'application/x-www-form-urlencoded' }
const foreign = 'http://evil.example'
const data = `data=${encodeURIComponent('{"content":"forged"}')}`

test('T-64: a form of another site writes nothing, though the browser adds credentials', async (t) => {
  const { post, put, delete: remove, unchanged, statements, forget } = await attack(t)
  const marks: Array<Record<string, string>> = [
    { origin: foreign, 'sec-fetch-site': 'cross-site' }, { origin: foreign }, { 'sec-fetch-site': 'cross-site' },
    { origin: 'http://localhost:80', 'sec-fetch-site': 'cross-site' }
  ]
  await unchanged(async () => {
    for (const mark of marks) {
      for (const [payload, headers] of [
        [data, form],
        ['--x\r\nContent-Disposition: form-data; name="data"\r\n\r\n{"content":"forged"}\r\n--x--', {
          'content-type': 'multipart/form-data; boundary=x'
        }],
        ['{"content":"forged"}', {}]
      ] as const) {
        forget()
        const reply = await post('/api/message/', payload, { as: 'alice', headers: { ...headers, ...mark } })
        t.equal(reply.statusCode, 403, JSON.stringify({ ...headers, ...mark }))
        t.equal(reply.json().code, 'REST_MODELS_FORBIDDEN')
        t.equal(statements.length, 0, 'not even the credentials are looked at')
      }
      t.equal((await put('/api/message/1/', '{}', { as: 'alice', headers: mark })).statusCode, 403)
      t.equal((await remove('/api/message/1/', { as: 'alice', headers: mark })).statusCode, 403)
      t.equal(
        (await post('/api/message/', 'x'.repeat(2_000_000), { as: 'alice', headers: mark })).statusCode, 403,
        'before the body is read'
      )
    }
  })
  t.equal((await post('/api/message/', data, { as: 'alice', headers: form })).statusCode, 201)
})

test('T-65: an Origin of another site is enough', async (t) => {
  const { post, unchanged } = await attack(t, { options: { allowedOrigins: ['https://app.example'] } })
  const origins = [
    foreign, 'null', 'https://localhost', 'http://localhost:8080', 'http://localhost.evil.example',
    'http://evil.example/http://localhost', 'HTTP://localhost', '', 'localhost', 'file://',
    'https://app.example.evil.example', 'https://app.example:444', 'http://app.example',
    `${foreign}, http://localhost`
  ]
  await unchanged(async () => {
    for (const origin of origins) {
      t.equal((await post(
        '/api/message/', { content: 'a' }, { as: 'alice', headers: { host: 'localhost', origin } }
      )).statusCode, 403, origin)
    }
  })
  for (const origin of ['http://localhost', 'https://app.example']) {
    t.equal((await post(
      '/api/message/', { content: 'a' }, { as: 'alice', headers: { host: 'localhost', origin } }
    )).statusCode, 201, origin)
  }
})

test('T-65: the Origin of a web view is permitted only exactly as allowedOrigins has it', async (t) => {
  const { post, unchanged } = await attack(t, { options: { allowedOrigins: ['capacitor://localhost'] } })
  const send = async (origin: string) => (await post(
    '/api/message/', { content: 'a' }, { as: 'alice', headers: { origin, 'sec-fetch-site': 'cross-site' } }
  )).statusCode
  await unchanged(async () => {
    for (const origin of [
      'null', 'ionic://localhost', 'capacitor://localhost/', 'capacitor://localhost:80', 'capacitor://LOCALHOST',
      'CAPACITOR://localhost', 'capacitor://', 'capacitor://localhost.evil.example', 'https://localhost'
    ]) t.equal(await send(origin), 403, origin)
  })
  t.equal(await send('capacitor://localhost'), 201)
})

test('T-65: the own Origin is permitted however Host writes it', async (t) => {
  const { post, unchanged } = await attack(t, { server: { trustProxy: true } })
  const send = async (headers: Readonly<Record<string, string>>) =>
    (await post('/api/message/', { content: 'a' }, { as: 'alice', headers })).statusCode
  for (const headers of [
    { host: 'site.example:80', origin: 'http://site.example' }, { host: 'SITE.example', origin: 'http://site.example' },
    { host: 'site.example:443', origin: 'https://site.example', 'x-forwarded-proto': 'https' },
    { host: 'site.example:8080', origin: 'http://site.example:8080' }, { host: '[::1]:80', origin: 'http://[::1]' }
  ]) t.equal(await send(headers), 201, JSON.stringify(headers))
  await unchanged(async () => {
    for (const headers of [
      { host: 'site.example:443', origin: 'http://site.example' },
      { host: 'site.example:80', origin: 'https://site.example' },
      { host: 'site.example:8080', origin: 'http://site.example' }, { host: 'a b', origin: 'http://a' },
      { host: 'a b', origin: '' }, { host: 'a', origin: 'null', 'x-forwarded-proto': 'tcp' },
      { host: 'x@evil.example', origin: 'http://evil.example' }, { host: 'localhost/a', origin: 'http://localhost' }
    ]) t.equal(await send(headers), 403, JSON.stringify(headers))
  })
})

test('T-66: nor does a body that needs no preflight', async (t) => {
  const { post, unchanged } = await attack(t)
  await unchanged(async () => {
    for (const type of [
      'text/plain', 'text/plain;charset=UTF-8', 'application/x-www-form-urlencoded', 'text/plain; application/json',
      ''
    ]) {
      t.equal((await post('/api/message/', '{"content":"a"}', {
        as: 'alice',
        headers: { 'content-type': type, origin: foreign, 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors' }
      })).statusCode, 403, type)
    }
  })
  t.equal((await post(
    '/api/message/', '{"content":"a"}', { as: 'alice', headers: { 'content-type': 'text/plain' } }
  )).statusCode, 201)
})

test('T-67: a sibling site is another site', async (t) => {
  const { post, unchanged } = await attack(t)
  await unchanged(async () => {
    for (const site of ['same-site', 'SAME-ORIGIN', 'same-origin, cross-site', 'unknown', '', 'none, none']) {
      t.equal((await post(
        '/api/message/', { content: 'a' }, { as: 'alice', headers: { 'sec-fetch-site': site } }
      )).statusCode, 403, site)
    }
  })
  t.equal((await post(
    '/api/message/', { content: 'a' }, { as: 'alice', headers: { 'sec-fetch-site': 'same-origin' } }
  )).statusCode, 201)
})

test('T-68: clients that are not browsers, and pages of the site itself, are let through', async (t) => {
  const { post, get } = await attack(t)
  const own = [
    {}, { 'user-agent': 'curl/8' }, { 'sec-fetch-site': 'none' },
    { 'sec-fetch-site': 'same-origin', origin: 'http://localhost' },
    { host: 'api.example:8080', origin: 'http://api.example:8080' },
    { 'sec-fetch-site': 'same-origin', origin: 'https://behind.proxy.example' }
  ]
  for (const headers of own) {
    t.equal((await post(
      '/api/message/', { content: 'a' }, { as: 'alice', headers: headers as Record<string, string> }
    )).statusCode, 201, JSON.stringify(headers))
  }
  t.equal(
    (await get('/api/message/', { headers: { origin: foreign, 'sec-fetch-site': 'cross-site' } })).statusCode, 200,
    'links from elsewhere'
  )
})

test('T-69: no answer opens itself to other origins', async (t) => {
  const { app, get, post } = await attack(t)
  const preflight = {
    origin: foreign, 'access-control-request-method': 'PUT', 'access-control-request-headers': 'authorization'
  }
  const replies = [
    await get('/api/message/', { headers: { origin: foreign } }),
    await get('/api/message/99/', { headers: { origin: foreign } }),
    await post('/api/message/', { content: 'a' }, { headers: { origin: foreign } }),
    await app.inject({ method: 'OPTIONS', url: '/api/message/', headers: preflight }),
    await app.inject({ method: 'OPTIONS', url: '/api/message/1/', headers: preflight })
  ]
  t.same(replies.map(({ statusCode }) => statusCode), [200, 404, 403, 404, 404])
  for (const { headers } of replies) {
    t.same(Object.keys(headers).filter((name) => name.startsWith('access-control')), [])
  }
})

test('T-70: the refusal is a constant text', async (t) => {
  const { app, delete: remove } = await attack(t)
  const markup = '<script>alert(1)</script>'
  const refusals = [
    await remove(`/api/note/${encodeURIComponent(markup)}/`),
    await remove(`/api/note/1/?${encodeURIComponent(markup)}`),
    await remove('/api/note/1/', { headers: { authorization: markup, 'x-request-id': markup } }),
    await remove('/api/message/1/', { as: [markup, markup] })
  ]
  for (const { statusCode, headers, body } of refusals) {
    t.equal(statusCode, 401)
    t.equal(body, 'Authentication failed')
    t.equal(headers['x-content-type-options'], 'nosniff')
  }
  const echoes = [
    `/api/note/?${encodeURIComponent(markup)}=1`, `/api/${encodeURIComponent(markup)}/`,
    `/api/note/${encodeURIComponent(markup)}/`, '/api/note/%ff<script>/'
  ]
  for (const url of echoes) {
    const { statusCode, headers } = await app.inject({ url })
    t.ok(statusCode >= 400)
    t.match(headers['content-type'], 'application/json', 'what a client sent is never repeated as HTML')
  }
})

test('T-71: nothing that a client sends becomes a header or a host', async (t) => {
  const { get, post, app } = await attack(t)
  for (const value of ['10%0d%0aX:1', '10%0aX:1', '10%00']) {
    t.equal((await get(`/api/message/?limit=${value}`)).statusCode, 400, value)
  }
  const listed = await get(
    '/api/message/?limit=1&content__ne=%0d%0aX-Evil:%201&user__username__like=%25%26page%3D9%23',
    { headers: { host: 'evil.example', 'x-forwarded-host': 'evil.example' } }
  )
  t.equal(listed.headers['x-evil'], undefined)
  t.equal(listed.json().meta.next, '')
  const { meta } =
    (await get('/api/message/?content__ne=a%26limit%3D9%0d%0a%23%22%3C&limit=1', { headers: { host: 'evil.example' } }))
      .json()
  t.equal(meta.next, '/api/message/?limit=1&page=2&content__ne=a%26limit%3D9%0D%0A%23%22%3C')
  t.equal(
    (await get(meta.next)).json().meta.previous,
    '/api/message/?limit=1&page=1&content__ne=a%26limit%3D9%0D%0A%23%22%3C'
  )
  const created = await post('/api/message/', { content: 'a' }, { as: 'alice', headers: { host: 'evil.example' } })
  t.equal(created.headers.location, '/api/message/4/')
  for (const path of ['/api/message%0d%0aX:1/', '/api/message/1%0d%0aX:1/']) {
    t.equal((await app.inject({ url: path })).statusCode, 404)
  }
})

test('T-72: no shared cache keeps what was answered to credentials', async (t) => {
  const { get, put, post, delete: remove, app } = await attack(t)
  const withCredentials = [
    await get('/api/message/', { as: 'alice' }), await get('/api/message/1/', { as: 'alice' }),
    await get('/api/message/99/', { as: 'alice' }), await get('/api/message/?x=1', { as: 'nobody' }),
    await put('/api/message/1/', {}, { as: 'alice' }), await post('/api/message/', {}, { as: 'alice' }),
    await put('/api/user/2/', {}, { as: 'alice' }), await remove('/api/message/1/', { as: 'alice' }),
    await app.inject({ method: 'HEAD', url: '/api/message/', headers: { authorization: 'x' } }),
    await remove('/api/message/2/')
  ]
  t.same(withCredentials.map(({ statusCode }) => statusCode), [200, 200, 404, 400, 200, 400, 403, 204, 200, 401])
  for (const { headers } of withCredentials) t.equal(headers['cache-control'], 'no-store')
  t.equal((await get('/api/message/')).headers['cache-control'], undefined)
})

test('T-154: a page of another site opens no WebSocket to a guarded route, though the browser logs in', async (t) => {
  const { db } = await attack(t)
  const app = Fastify()
  t.teardown(async () => { await app.close() })
  await app.register(restModels, { db, allowedOrigins: ['https://app.example'] })
  app.restModels.register(Message, { auth: userAuth(User, { protect: 'all' }), ownerField: 'user' })
  await app.restModels.setup()
  for (const operation of ['list', 'update'] as const) {
    app.get(`/${operation}/:id`, { preHandler: app.restModels.guard(Message, operation) }, async (request) =>
      ({ user: userOf(request)?.id }))
  }
  const { get } = client(app)
  const handshake = { connection: 'Upgrade', upgrade: 'websocket' }
  for (const path of ['/list/1', '/update/1']) {
    const open = async (headers: Record<string, string>) =>
      (await get(path, { as: 'alice', headers: { host: 'localhost', ...headers } })).statusCode
    for (const mark of [{ origin: foreign }, { 'sec-fetch-site': 'cross-site' }, { origin: 'null' }]) {
      t.equal(await open({ ...handshake, ...mark }), 403, JSON.stringify(mark))
      t.equal(await open(mark), 200, 'no handshake: the page cannot read the answer')
    }
    for (const origin of ['https://app.example', 'http://localhost']) t.equal(await open({ ...handshake, origin }), 200)
    t.equal(await open(handshake), 200, 'no browser')
  }
})

test('a refused write of another site is logged with its origin, cut, and the option that permits it', async (t) => {
  const lines: Array<Record<string, unknown>> = []
  const write = (line: string): void => { lines.push(JSON.parse(line)) }
  const { post } = await buildApp(t, { server: { logger: { stream: { write } } } })
  for (const headers of [{ origin: foreign }, { origin: 'x'.repeat(200) }, { 'sec-fetch-site': 'cross-site' }]) {
    await post('/api/message/', '{}', { headers })
  }
  const logged = lines.filter(({ msg }) => /Refused a write.*'allowedOrigins'/.test(String(msg)))
  t.same(logged.map(({ origin }) => origin), [foreign, `${'x'.repeat(100)}…`, undefined])
  const [sentence] = String(logged[0]?.['msg']).split('. ')
  t.match(readPage('docs/cors.md').text, `the log says "${sentence}"`)
})
