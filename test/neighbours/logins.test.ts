// @once: about other plugins of Fastify

import type { FastifyInstance } from 'fastify'
import { test, type Test } from 'tap'
import { userOf, type Identity } from '../../lib/index.js'
import { client } from '../support/site.js'
import { buildHost, logins, Note } from './logins.js'

for (const [name, login] of Object.entries(logins)) {
  test(`the users of ${name} see and write their own notes`, async (t) => {
    const app = await buildHost(t, login)
    const { get, post, put, delete: remove } = client(app)
    const ann = { headers: await login.logIn(app, 'ann') }
    const bob = { headers: await login.logIn(app, 'bob') }
    const created = await post('/api/note/', { message: 'by ann', author: 'bob' }, ann)
    t.match([created.statusCode, created.json(), created.headers['cache-control']],
      [201, { id: 1, message: 'by ann' }, 'no-store'])
    t.not(created.json().author, 'bob', 'the author is whoever is logged in')
    t.equal((await post('/api/note/', { message: 'by bob' }, bob)).statusCode, 201)
    const list = await get('/api/note/', bob)
    t.match(list.json().objects, [{ id: 2, message: 'by bob' }])
    t.equal(list.json().objects.length, 1)
    t.equal((await get('/api/note/1/', bob)).statusCode, 404)
    t.equal((await put('/api/note/1/', { message: 'x' }, bob)).statusCode, 404)
    t.equal((await put('/api/note/2/', { message: 'x' }, bob)).statusCode, 200)
    t.equal((await remove('/api/note/2/', bob)).statusCode, 403, 'permits gets the user')
    t.equal((await remove('/api/note/1/', ann)).statusCode, 204)
    await t.test('whoever is not logged in is refused', async (t) => { await refuses(t, app, login) })
  })

  test(`many users of ${name} write at the same moment`, async (t) => {
    const app = await buildHost(t, login)
    const { get, post } = client(app)
    const users = await Promise.all(['ann', 'bob', 'cat', 'dan'].map(async (name) => await login.logIn(app, name)))
    const replies = await Promise.all(Array.from({ length: 80 }, async (_, index) =>
      await post('/api/note/', { message: `${index % 4}` }, { headers: users[index % 4] ?? {} })))
    t.same([...new Set(replies.map(({ statusCode }) => statusCode))], [201])
    for (const [index, headers] of users.entries()) {
      const { objects } = (await get('/api/note/?limit=100', { headers })).json()
      t.same(objects.map(({ message }: { message: string }) => message), Array.from({ length: 20 }, () => `${index}`))
    }
  })

  test(`a route of the host behind guard() knows the user of ${name}`, async (t) => {
    const app = await buildHost(t, login)
    app.post('/api/note/:id/print', { preHandler: app.restModels.guard(Note, 'update') }, async (request) =>
      ({ by: userOf<Identity>(request)?.id }))
    const { post } = client(app)
    const ann = { headers: await login.logIn(app, 'ann') }
    const note = (await post('/api/note/', { message: 'by ann' }, ann)).json()
    t.same((await post('/api/note/1/print', {}, ann)).json(), { by: note.author })
    t.equal((await post('/api/note/1/print', {}, { headers: await login.logIn(app, 'bob') })).statusCode, 404)
    t.equal((await post('/api/note/1/print', {}, { headers: login.wrong })).statusCode, 401)
    const foreign = { ...ann.headers, origin: 'https://other.example', 'sec-fetch-site': 'cross-site' }
    t.equal((await post('/api/note/1/print', {}, { headers: foreign })).statusCode, 403)
  })
}

async function refuses (t: Test, app: FastifyInstance, { challenge, wrong }: (typeof logins)[string]): Promise<void> {
  const { get, post } = client(app)
  for (const headers of [{}, wrong]) {
    const read = await get('/api/note/', { headers })
    for (const reply of [read, await post('/api/note/', { message: 'x' }, { headers })]) {
      t.match([reply.statusCode, reply.json().code, reply.headers['www-authenticate'], reply.headers['cache-control']],
        [401, 'REST_MODELS_AUTHENTICATION_FAILED', challenge, 'no-store'])
    }
  }
}

test('a session that was deleted lets nobody in', async (t) => {
  const login = logins['@fastify/secure-session']!
  const app = await buildHost(t, login)
  const cookie = await login.logIn(app, 'ann')
  const left = await app.inject({ method: 'POST', url: '/logout', headers: cookie })
  t.match(left.headers['set-cookie'], /^session=;/)
  t.equal((await client(app).get('/api/note/', { headers: { cookie: 'session=' } })).statusCode, 401)
})
