import { once } from 'node:events'
import { connect, type AddressInfo } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import Fastify, { type InjectOptions } from 'fastify'
import type { CompiledQuery } from 'kysely'
import { test, type Test } from 'tap'
import restModels, { adminAuth, defineModel, foreignKey, text, userAuth } from '../../lib/index.js'
import { engine } from '../support/database.js'
import { basic, buildApp, Message, Note, registerSite, siteModels, User } from '../support/site.js'
import { beforeStatements } from '../support/interleaving.js'
import { attack, type Site } from './security-helper.js'

test('T-33: nobody but the owner changes a record', async (t) => {
  const { put, unchanged, rowsOf } = await attack(t)
  await unchanged(async () => {
    for (const as of ['alice', 'admin']) {
      t.equal((await put('/api/message/2/', { content: 'mine' }, { as })).statusCode, 403, as)
    }
    for (const as of ['alice', 'admin']) {
      t.equal((await put('/api/relationship/2/', { to_user: 1 }, { as })).statusCode, 403, as)
    }
    for (const as of [['carol', 'carol'], ['bob', 'alice']] as const) {
      t.equal((await put('/api/message/2/', { content: 'mine' }, { as })).statusCode, 401)
    }
    t.equal((await put('/api/message/2/', { content: 'mine' })).statusCode, 401)
  })
  t.equal((await put('/api/message/2/', { content: 'changed' }, { as: 'bob' })).statusCode, 200)
  t.match(await rowsOf('message'), [{ content: 'by alice' }, { content: 'changed', user_id: 3 }])
})

test('T-34: nobody but the owner deletes a record', async (t) => {
  const { delete: remove, unchanged, rowsOf } = await attack(t)
  await unchanged(async () => {
    for (const as of ['alice', 'admin']) t.equal((await remove('/api/message/2/', { as })).statusCode, 403)
    t.equal((await remove('/api/message/2/?user=2', { as: 'alice' })).statusCode, 403)
    t.equal((await remove('/api/message/2/')).statusCode, 401)
    t.equal((await remove('/api/message/2/?user=3', { as: 'bob' })).statusCode, 400)
  })
  t.equal((await remove('/api/message/2/', { as: 'bob' })).statusCode, 204)
  t.same((await rowsOf('message')).length, 2)
})

test('T-35: whoever creates a record owns it, whatever the body says', async (t) => {
  const { post, rowsOf, unchanged } = await attack(t)
  const forged = [
    { user: 1 }, { user_id: 1 }, { user: { id: 1 } }, { user_id: 1, user: 3 }, { user: null }, { user: '1' },
    { user: [1] }, { user_id: true }, { user: 999999 }, { user: -1 }
  ]
  for (const owner of forged) {
    const reply = await post('/api/message/', { content: 'forged', ...owner }, { as: 'alice' })
    t.equal(reply.statusCode, 201, JSON.stringify(owner))
    t.equal(reply.json().user_id, 2)
  }
  await unchanged(async () => {
    for (const name of [
      'USER', 'User_id', 'userId', 'user__id', 'owner', 'user ', 'user\u0000', 'uſer', 't0.user_id'
    ]) {
      t.equal((await post('/api/message/', { content: 'forged', [name]: 1 }, { as: 'alice' })).statusCode, 400, name)
    }
  })
  t.same((await rowsOf('message')).slice(3).map((row) => (row as { user_id: number }).user_id), forged.map(() => 2))
})

test('T-36: an update does not move a record to another owner', async (t) => {
  const { put, post, unchanged } = await attack(t)
  await unchanged(async () => {
    for (const owner of [
      { user: 3 }, { user_id: 3 }, { user: null }, { user: { id: 3 } }, { user: 2, user_id: 3 }, { user_id: '2' }
    ]) {
      t.equal((await put('/api/message/1/', owner, { as: 'alice' })).statusCode, 400, JSON.stringify(owner))
    }
    t.equal((await post('/api/message/1/', { user: 3 }, { as: 'alice' })).statusCode, 405)
  })
  t.equal(
    (await put('/api/message/1/', { user: 2, user_id: 2, content: 'changed' }, { as: 'alice' })).json().content,
    'changed', 'a record may be sent back'
  )
})

test('T-37: of many writes at once only those of the owner count', async (t) => {
  const { put, delete: remove, rowsOf } = await attack(t)
  const writes = await Promise.all(Array.from({ length: 30 }, async (_, index) =>
    await put(
      '/api/message/1/', { content: index % 2 === 0 ? 'alice' : 'bob' }, { as: index % 2 === 0 ? 'alice' : 'bob' }
    )))
  t.same(writes.map(({ statusCode }) => statusCode), writes.map((_, index) => index % 2 === 0 ? 200 : 403))
  t.match((await rowsOf('message'))[0], { content: 'alice', user_id: 2 })
  const removals = await Promise.all(Array.from({ length: 10 }, async () =>
    await remove('/api/message/1/', { as: 'alice' })))
  t.same(removals.map(({ statusCode }) => statusCode).toSorted(), [204, ...Array<number>(9).fill(404)])
})

const ofOwner = {
  sqlite: /where "id" = \? and "user_id" = \?/,
  postgres: /where "id" = cast\(\$\d as bigint\) and "user_id" = cast\(\$\d as bigint\)/,
  mariadb: /where `id` = \? and `user_id` = \?/
}

test('T-37: nothing slips in between the check of the owner and the write', async (t) => {
  const site = await attack(t)
  const { put, delete: remove, rowsOf, db, statements } = site
  const beforeWrite = await interferer(t, site)
  const message = db.updateTable('message').where('id', '=', 1)
  beforeWrite(message.set({ user_id: 3 }).compile())
  t.equal((await put('/api/message/1/', { content: 'late' }, { as: 'alice' })).statusCode, 403)
  t.match((await rowsOf('message'))[0], { content: 'by alice', user_id: 3 })

  await message.set({ user_id: 2 }).execute()
  beforeWrite(message.set({ user_id: 3 }).compile())
  t.equal((await remove('/api/message/1/', { as: 'alice' })).statusCode, 403)
  t.equal((await rowsOf('message')).length, 3)

  await message.set({ user_id: 2 }).execute()
  beforeWrite(db.deleteFrom('message').where('id', '=', 1).compile())
  t.equal((await put('/api/message/1/', { content: 'late' }, { as: 'alice' })).statusCode, 404)
  t.match(statements.find(({ sql }) => /set ["`]content["`]/.test(sql))?.sql, ofOwner[engine])
  t.equal((await put('/api/message/2/', { content: 'in time' }, { as: 'bob' })).statusCode, 200)
})

/** Runs a statement once, just before the next write of a request reaches the database. */
async function interferer (t: Test, { db }: Site): Promise<(change: CompiledQuery) => void> {
  let next: CompiledQuery | undefined
  await beforeStatements(t, db, async (sql, execute) => {
    if (next === undefined || !/^(?:update|delete)/.test(sql)) return
    const change = next
    next = undefined
    await execute(change)
  })
  return (change) => { next = change }
}

test('T-38: the primary key never comes from a body', async (t) => {
  const { post, put, unchanged, get } = await attack(t)
  await unchanged(async () => {
    for (const id of [1, 99, null, '99', 0, -1]) {
      t.equal((await post('/api/message/', { id, content: 'a' }, { as: 'alice' })).statusCode, 400, String(id))
      if (id !== 1) {
        t.equal((await put('/api/message/1/', { id, content: 'a' }, { as: 'alice' })).statusCode, 400, String(id))
      }
    }
    for (const name of ['rowid', '_rowid_', 'oid', 'ID', 'pk']) {
      t.equal((await put('/api/message/1/', { [name]: 99 }, { as: 'alice' })).statusCode, 400, name)
    }
  })
  t.equal((await put('/api/message/1/', { id: 1, content: 'a' }, { as: 'alice' })).json().id, 1)
  t.equal((await get('/api/message/99/')).statusCode, 404)
})

test('T-39: fields that a resource does not have, or a user may not write, are not assigned', async (t) => {
  const { post, put, unchanged } = await attack(t)
  await unchanged(async () => {
    t.equal((await post('/api/message/', { content: 'a', admin: true }, { as: 'alice' })).statusCode, 400)
    t.equal((await put('/api/message/1/', { 'user.admin': true }, { as: 'alice' })).statusCode, 400)
    t.equal((await put('/api/user/2/', { admin: true }, { as: 'alice' })).statusCode, 403)
    t.equal((await put('/api/user/2/', { admin: true })).statusCode, 401)
    t.equal((await post(
      '/api/user/', { username: 'eve', password: 'eve', email: '', admin: true }, { as: 'bob' }
    )).statusCode, 403)
  })
  t.equal((await put('/api/user/2/', { admin: true }, { as: 'admin' })).json().admin, true)
})

test('T-39: read-only fields are set by nobody', async (t) => {
  const { post, put, rowsOf } = await attack(t, {
    register: (registry) =>
      registry.register(User, { auth: userAuth(User), exclude: ['password'], readOnly: ['admin', 'active'] })
  })
  t.equal((await put('/api/user/2/', { admin: true }, { as: 'alice' })).statusCode, 400)
  t.equal((await post(
    '/api/user/', { username: 'eve', password: 'eve', email: '', admin: true }, { as: 'alice' }
  )).statusCode, 400)
  t.equal(
    (await post('/api/user/', { username: 'eve', password: 'eve', email: '' }, { as: 'alice' })).json().admin, false
  )
  t.match((await rowsOf('user'))[1], { admin: 0 })
})

test('T-40: nothing is written through a foreign key', async (t) => {
  const { post, put, unchanged } = await attack(t)
  await unchanged(async () => {
    for (const to of [{ id: 2, admin: true }, { admin: true }, [{ id: 2 }], { id: 2 }]) {
      for (const name of ['to_user', 'to_user_id']) {
        t.equal((await post('/api/relationship/', { [name]: to }, { as: 'alice' })).statusCode, 400)
        t.equal((await put('/api/relationship/1/', { [name]: to }, { as: 'alice' })).statusCode, 400)
      }
      t.equal((await put('/api/message/1/', { user: to }, { as: 'alice' })).statusCode, 400)
    }
    t.equal((await put('/api/relationship/1/', { to_user__admin: true }, { as: 'alice' })).statusCode, 400)
  })
  t.equal((await put('/api/relationship/1/', { to_user: 1 }, { as: 'alice' })).json().to_user_id, 1)
})

test('T-41: an excluded password is written only by whom the policy lets, and hashed', async (t) => {
  const { put, rowsOf, unchanged } = await attack(t)
  await unchanged(async () => {
    t.equal((await put('/api/user/3/', { password: 'stolen' }, { as: 'bob' })).statusCode, 403)
  })
  const reply = await put('/api/user/3/', { password: 'renewed' }, { as: 'admin' })
  t.equal(reply.statusCode, 200)
  t.notMatch(reply.body, /password|renewed/)
  t.match((await rowsOf('user'))[2], { password: /^\$argon2id\$/ })
  t.equal((await put('/api/message/2/', {}, { as: 'bob' })).statusCode, 401, 'the old password')
  t.equal((await put('/api/message/2/', {}, { as: ['bob', 'renewed'] })).statusCode, 200)
})

test('T-42: no request writes more than one record', async (t) => {
  const { app, unchanged, delete: remove } = await attack(t)
  await unchanged(async () => {
    for (const method of ['PUT', 'PATCH', 'DELETE'] as const) {
      for (const query of ['', '?id__gt=0', '?id=1']) {
        const reply = await app.inject({
          method, url: `/api/message/${query}`, payload: { content: 'x' }, headers: { authorization: basic('alice') }
        })
        t.equal(reply.statusCode, 405)
        t.equal(reply.headers.allow, 'GET, HEAD, POST')
      }
      t.equal((await app.inject({ method, url: '/api/message/' })).statusCode, 401)
    }
    for (const path of ['1,2', '1;2', '1%2C2', '*', '%2A']) {
      t.equal((await remove(`/api/message/${path}/`, { as: 'alice' })).statusCode, 404, path)
    }
  })
  t.equal((await remove('/api/message/1/', { as: 'alice' })).statusCode, 204)
})

test('T-43: a method is what the request line says', async (t) => {
  const { get, post, put, unchanged, rowsOf } = await attack(t)
  const overrides = ['x-http-method-override', 'x-http-method', 'x-method-override', 'x-original-method']
  await unchanged(async () => {
    for (const name of overrides) {
      const headers = { [name]: 'DELETE' }
      t.equal((await get('/api/message/1/', { as: 'alice', headers })).statusCode, 200)
      t.equal((await post('/api/message/1/', '', { as: 'alice', headers })).statusCode, 405)
      t.equal((await put('/api/message/1/', {}, { as: 'alice', headers })).statusCode, 200)
    }
    for (const query of ['_method=DELETE', '_method=PUT', 'method=delete']) {
      t.equal((await get(`/api/message/1/?${query}`, { as: 'alice' })).statusCode, 400)
    }
    t.equal((await post('/api/message/', { _method: 'DELETE', content: 'a' }, { as: 'alice' })).statusCode, 400)
  })
  t.equal((await rowsOf('message')).length, 3)
})

test('T-44: HEAD is guarded as GET is', async (t) => {
  const closed = await attack(t, {
    register: (registry) => registry.register(User, { auth: userAuth(User, { protect: 'all' }), exclude: ['password'] })
  })
  for (const [site, expected] of [[closed, [401, 200]], [await attack(t), [200, 200]]] as const) {
    for (const url of ['/api/user/', '/api/user/2/', '/api/user']) {
      for (const [index, headers] of [{}, { authorization: basic('bob') }].entries()) {
        const [get, head] = await Promise.all((['GET', 'HEAD'] as const).map(async (method) =>
          await site.app.inject({ method, url, headers })))
        t.equal(get?.statusCode, expected[index], url)
        t.equal(head?.statusCode, get?.statusCode)
        t.equal(head?.body, '')
      }
    }
    t.equal((await site.app.inject({ method: 'OPTIONS', url: '/api/user/' })).statusCode, 404, 'there is no OPTIONS')
  }
  t.equal(
    (await closed.app.inject({ method: 'HEAD', url: '/api/user/?email__like=a%25' })).headers['content-length'],
    (await closed.get('/api/user/')).headers['content-length']
  )
})

test('T-45: nobody writes under the read-only policy', async (t) => {
  const { post, put, delete: remove, get, unchanged } = await attack(t)
  await unchanged(async () => {
    for (const options of [{}, { as: 'admin' }, { as: 'alice' }]) {
      t.equal((await post('/api/note/', { message: 'a' }, options)).statusCode, 401)
      t.equal((await put('/api/note/1/', { message: 'a' }, options)).statusCode, 401)
      t.equal((await remove('/api/note/1/', options)).statusCode, 401)
      t.equal((await remove('/api/note/999/', options)).statusCode, 401)
    }
  })
  t.equal((await get('/api/note/1/')).statusCode, 200)
})

test('T-46: no other path leads to a resource past its guard', async (t) => {
  const { app, unchanged, get } = await attack(t, {
    register: (registry) => {
      registerSite(registry)
      registry.register(User, { path: 'closed', auth: userAuth(User, { protect: 'all' }), exclude: ['password'] })
    }
  })
  const paths = [
    '//api/closed/', '/api//closed/', '/api/./closed/', '/api/%2e/closed/', '/api/note/../closed/',
    '/api/note/%2e%2e/closed/', '/api/note%2f..%2fclosed/', '/api/%63losed/', '/api/CLOSED/', '/API/closed/',
    '/api/closed;x/', '/api/closed/;x', '/api/closed./', '/api/closed%20/', '/api/closed%00/', '/api/closed/%00',
    '/api/closed//', '/api/closed/1//', '/api/closed/./1/', '/api/closed%2f1/', '/api/closed/1/..;/',
    '/api/closed/1%2f/', '/api/closed/?/../note/', '/api/closed/#/', '/api/cl\u00f6sed/', '/api/closed\\',
    '/api\\closed\\', '/api/closed/1/password/', '/api/closed/1.json', '/api/closed.json'
  ]
  await unchanged(async () => {
    for (const url of paths) {
      for (const method of ['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE'] as const) {
        const { statusCode, body } = await app.inject({
          method, url, payload: method.startsWith('P') ? '{}' : undefined
        } as InjectOptions)
        t.ok([400, 401, 404].includes(statusCode), `${method} ${url}: ${statusCode}`)
        t.notMatch(body, /alice/)
      }
    }
  })
  t.equal((await get('/api/%63losed/')).statusCode, 401, 'an escaped name is the same guarded route')
  t.equal((await get('/api/closed/', { as: 'alice' })).statusCode, 200)
})

test('T-47: only registered models have paths', async (t) => {
  const { get, post } = await attack(t)
  const names = [
    'sqlite_schema', 'sqlite_sequence', 'pg_catalog', 'information_schema', 'mysql', '__proto__', 'constructor',
    'toString', 'hasOwnProperty', 'prototype', 'users', 'Message', 'undefined', '', '*', ':id', 'message__user'
  ]
  for (const name of names) {
    t.equal((await get(`/api/${name}/`)).statusCode, 404, name)
    t.equal((await post(`/api/${name}/`, { content: 'a' }, { as: 'admin' })).statusCode, 404, name)
  }
  for (const name of ['user', 'relationship', 'message', 'note']) t.equal((await get(`/api/${name}/`)).statusCode, 200)
})

test('T-48: a record that others refer to is not deleted, and nothing goes with it', async (t) => {
  const { delete: remove, unchanged, rowsOf } = await attack(t)
  await unchanged(async () => {
    for (const id of [1, 2, 3]) t.equal((await remove(`/api/user/${id}/`, { as: 'admin' })).statusCode, 409)
  })
  t.equal((await remove('/api/user/4/', { as: 'admin' })).statusCode, 204)
  t.equal((await rowsOf('user')).length, 3)
})

test('T-48: a model may declare otherwise', async (t) => {
  const Part = defineModel('Part', { user: foreignKey(() => User, { onDelete: 'cascade' }), name: text() })
  const Trace = defineModel('Trace', {
    user: foreignKey(() => User, { onDelete: 'set null', nullable: true }), name: text()
  })
  const { delete: remove, put, rowsOf } = await attack(t, {
    models: [...siteModels, Part, Trace],
    register: (registry) => {
      registerSite(registry)
      registry.register(Trace, { auth: userAuth(User), ownerField: 'user' })
    },
    rows: {
      part: [{ id: 1, user_id: 2, name: 'a' }, { id: 2, user_id: 3, name: 'b' }],
      trace: [{ id: 1, user_id: 2, name: 'a' }]
    }
  })
  t.equal((await remove('/api/user/2/', { as: 'admin' })).statusCode, 204)
  t.match(await rowsOf('part'), [{ id: 2 }])
  t.match(await rowsOf('trace'), [{ id: 1, user_id: null }])
  for (const as of ['admin', 'bob']) {
    t.equal(
      (await put('/api/trace/1/', { name: 'x' }, { as })).statusCode, 403, 'a record without an owner is nobody\'s'
    )
    t.equal((await remove('/api/trace/1/', { as })).statusCode, 403)
  }
})

test('T-49: a reference to a record that does not exist is refused', async (t) => {
  const { post, put, unchanged } = await attack(t)
  await unchanged(async () => {
    for (const id of [999999, 0, -1, Number.MAX_SAFE_INTEGER, 1.5, '2', null, true]) {
      t.equal((await post('/api/relationship/', { to_user: id }, { as: 'alice' })).statusCode, 400, String(id))
      t.equal((await put('/api/relationship/1/', { to_user: id }, { as: 'alice' })).statusCode, 400, String(id))
    }
  })
  const { details } = (await post('/api/relationship/', { to_user: 999999 }, { as: 'alice' })).json()
  t.same(details, [{ field: 'to_user_id', message: 'refers to a record that does not exist' }])
  t.equal((await post('/api/relationship/', { to_user: 4 }, { as: 'alice' })).statusCode, 201)
})

test('T-50: what proxies add to a request opens nothing', async (t) => {
  const { get, put, unchanged } = await attack(t)
  const headers = {
    'x-original-url': '/api/user/',
    'x-rewrite-url': '/api/user/',
    'x-forwarded-for': '127.0.0.1',
    'x-real-ip': '127.0.0.1',
    'x-forwarded-user': 'admin',
    'x-remote-user': 'admin',
    'x-forwarded-host': 'evil.example',
    'x-forwarded-prefix': '/evil',
    'x-forwarded-proto': 'https',
    forwarded: 'for=127.0.0.1;host=evil.example',
    'proxy-authorization': basic('admin'),
    cookie: 'user=admin; authorization=x'
  }
  t.same((await get('/api/note/?limit=1', { headers })).json(), (await get('/api/note/?limit=1')).json())
  await unchanged(async () => {
    t.equal((await put('/api/user/2/', { admin: true }, { headers })).statusCode, 401)
    t.equal((await put('/api/user/2/', { admin: true }, { as: 'bob', headers })).statusCode, 403)
  })
  t.equal((await put('/api/user/2/', { active: true }, { as: 'admin', headers })).statusCode, 200)
})

test('T-150: a refused request ends there, also if the client goes away while an onSend hook is waiting', async (t) => {
  const { db, rowsOf, forget, statements } = await buildApp(t, {
    rows: { note: [{ id: 1, message: 'x', created: '2024-01-01 00:00:00' }] }
  })
  const app = Fastify()
  t.teardown(async () => { await app.close() })
  app.addHook('onSend', async () => { await setTimeout(5) })
  await app.register(restModels, { db })
  app.restModels.register(Note)
  app.restModels.register(User, { auth: adminAuth(User, { protect: 'all' }), exclude: ['password'] })
  app.restModels.register(Message, { auth: userAuth(User) })
  await app.restModels.setup()
  let handled = 0
  const handler = (): string => { handled++; return '' }
  app.post('/closed', { preHandler: app.restModels.guard(Note, 'create') }, handler)
  app.post('/guarded', { preHandler: app.restModels.guard(User, 'create') }, handler)
  await app.listen({ port: 0, host: '127.0.0.1' })
  const { port } = app.server.address() as AddressInfo
  const before = [await rowsOf('user'), await rowsOf('message'), await rowsOf('note')]
  forget()
  const wrong = `Authorization: ${basic('alice', 'wrong')}\r\n`
  for (const [line, body, credentials = ''] of [
    ['POST /api/note/', '{"message":"x"}'],
    ['DELETE /api/note/1/', ''],
    ['PUT /api/user/1/', '{"password":"stolen"}'],
    ['PUT /api/user/1/', '{"password":"stolen"}', wrong],
    ['POST /api/message/', '{"content":"x"}'],
    ['POST /closed', '{}'],
    ['POST /guarded', '{}']
  ] as const) {
    const head = `${line} HTTP/1.1\r\nHost: x\r\n${credentials}Content-Type: application/json\r\n`
    for (let round = 0; round < 3; round++) {
      await abandon(port, `${head}Content-Length: ${body.length}\r\n\r\n${body}`)
    }
  }
  await setTimeout(100)
  t.equal(handled, 0, "the host's handlers")
  t.same([await rowsOf('user'), await rowsOf('message'), await rowsOf('note')], before)
  t.same(statements.filter(({ sql }) => /^(?:insert|update|delete)/.test(sql)), [])
})

/** Sends a request, and ends the connection as soon as it is sent. */
async function abandon (port: number, request: string): Promise<void> {
  const socket = connect(port, '127.0.0.1')
  await once(socket, 'connect')
  await new Promise<void>((resolve) => { socket.write(request, () => { resolve() }) })
  await setTimeout(2)
  socket.resetAndDestroy()
}
