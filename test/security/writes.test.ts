import { test } from 'tap'
import { defineModel, readOnlyAuth, text, userAuth, uuid } from '../../lib/index.js'
import { Message, siteModels, User } from '../support/site.js'
import { attack, siteRows } from './security-helper.js'

test('T-126: PATCH has every guard that PUT has', async (t) => {
  const { app, patch, put, unchanged } = await attack(t)
  const closed = await attack(t, {
    models: siteModels, rows: siteRows, register: (registry) => { registry.register(Message, { auth: readOnlyAuth() }) }
  })
  const denials = [
    ['/api/message/2/', {}], ['/api/message/2/', { as: 'alice' }], ['/api/message/2', { as: 'admin' }],
    ['/api/message/2/', { as: ['bob', 'wrong'] }], ['/api/message/99/', { as: 'bob' }],
    ['/api/user/2/', { as: 'alice' }],
    ['/api/message/2/', { as: 'bob', headers: { 'sec-fetch-site': 'cross-site' } }],
    ['/api/message/2', { as: 'bob', headers: { origin: 'https://evil.example' } }],
    ['/api/message/2/?a=1', { as: 'bob' }], ['/api/note/1/', { as: 'admin' }]
  ] as const
  await unchanged(async () => {
    for (const [url, options] of denials) {
      const [one, other] = [await patch(url, { content: 'x' }, options), await put(url, { content: 'x' }, options)]
      t.same([one.statusCode, one.body], [other.statusCode, other.body], url)
      t.ok(one.statusCode >= 400)
    }
    for (const body of [{ user: 2 }, { user_id: 2 }, { id: 9 }, { admin: true }]) {
      t.equal((await patch('/api/message/2/', body, { as: 'bob' })).statusCode, 400, JSON.stringify(body))
    }
    const override = { as: 'bob', headers: { 'x-http-method-override': 'PATCH' } }
    t.equal((await app.inject({ method: 'POST', url: '/api/message/2/', headers: override.headers })).statusCode, 401)
  })
  await closed.unchanged(async () => {
    t.equal((await closed.patch('/api/message/2/', { content: 'x' }, { as: 'bob' })).statusCode, 401)
  })
  t.equal((await patch('/api/message/2/', { content: 'changed' }, { as: 'bob' })).statusCode, 200)
})

const Task = defineModel('Task', { id: uuid({ clientGenerated: true }), title: text() })
const [own, others] = ['3d6b1c0e-8a1f-4f6a-9b5e-2f1c7d9a0b11', '0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b']

test('T-127: a key of a client reaches neither another record nor another field', async (t) => {
  const { post, put, patch, unchanged } = await attack(t, {
    models: [User, Task],
    rows: { task: [{ id: others, title: 'taken' }] },
    register: (registry) => { registry.register(Task, { auth: userAuth(User) }) }
  })
  const as = 'bob'
  await unchanged(async () => {
    for (const id of [
      "1'; drop table task; --", `${own}' or 1=1`, { id: own }, true, own.replace('3', '\u01c0'), [own], `%${own}`
    ]) {
      t.equal((await post('/api/task/', { id, title: 'x' }, { as })).statusCode, 400, JSON.stringify(id))
    }
    t.equal((await post('/api/task/', { id: others, title: 'x' }, { as })).statusCode, 409)
    t.equal((await post('/api/task/', { id: own, title: 'x' })).statusCode, 401)
    for (const send of [put, patch]) {
      t.equal((await send(`/api/task/${own}/`, { title: 'x' }, { as })).statusCode, 404, 'an update creates nothing')
      t.equal((await send(`/api/task/${others}/`, { id: own }, { as })).statusCode, 400)
    }
  })
  t.equal((await post('/api/task/', { id: own, title: 'x' }, { as })).statusCode, 201)
})
