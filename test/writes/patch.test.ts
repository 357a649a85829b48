import { test, type Test } from 'tap'
import { defineModel, integer, json, text, userAuth } from '../../lib/index.js'
import { Message, User, buildApp, type Rows } from '../support/site.js'

const Sheet = defineModel('Sheet', {
  title: text({ maxLength: 9 }),
  state: text({ unique: true, nullable: true }),
  extra: json({ nullable: true }),
  size: integer({ default: 1 })
})
const rows: Rows = {
  sheet: [
    { id: 1, title: 'one', state: 'a', extra: '{"a":{"b":1}}', size: 3 },
    { id: 2, title: 'two', state: 'b', extra: null, size: 4 }
  ],
  message: [{ id: 1, user_id: 2, content: 'from alice', pub_date: '2024-02-01 10:00:00' }]
}
const as = 'alice'

async function build (t: Test) {
  return await buildApp(t, {
    models: [User, Message, Sheet],
    rows,
    register: (registry) => {
      registry.register(Sheet, { auth: userAuth(User), readOnly: ['size'] })
      registry.register(Message, { auth: userAuth(User), ownerField: 'user' })
    }
  })
}

const bodies = [
  {}, { title: 'new' }, { title: 'one' }, { title: 'too long for it' }, { title: null }, { nothing: 1 }, { state: 'b' },
  { state: null }, { extra: { c: [1] } }, { extra: null }, { id: 1, title: 'all', size: 3 }, { id: 2 }, { size: 4 }
]

test('D-147: PATCH answers what PUT answers, with the same statements, with and without the final slash', async (t) => {
  const urls = ['/api/sheet/1/', '/api/sheet/1', '/api/sheet/9/', '/api/sheet/x/', '/api/sheet/1/?a=1']
  const outcomeOf = async (method: 'patch' | 'put') => {
    const app = await build(t)
    const answers: unknown[] = []
    for (const url of urls) {
      for (const sent of bodies) {
        const { statusCode, body } = await app[method](url, sent, { as })
        answers.push([url, sent, statusCode, body])
      }
    }
    const statements = app.statements.map(({ sql, parameters }) => [sql, parameters])
    // The plugin remembers logins, so the statement that looks for the user comes as often as it forgets them.
    return {
      answers,
      statements: statements.filter(([sql]) => !/["`]user["`]/.test(String(sql))),
      rows: await app.rowsOf('sheet')
    }
  }
  const patched = await outcomeOf('patch')
  t.ok(patched.statements.length > 10)
  t.same(patched, await outcomeOf('put'))
})

test('D-147: a field that holds JSON is replaced as a whole, under the type of a merge patch too', async (t) => {
  const { patch } = await build(t)
  for (const [type, value] of [
    ['application/json', { c: 1 }], ['application/merge-patch+json', { d: null }],
    ['application/merge-patch+json; charset=utf-8', {}]
  ] as const) {
    const reply = await patch('/api/sheet/1/', JSON.stringify({ extra: value }), {
      as, headers: { 'content-type': type }
    })
    t.same([reply.statusCode, reply.json().extra], [200, value])
  }
})

test('D-147: forms work as with PUT', async (t) => {
  const { patch } = await build(t)
  const headers = { 'content-type': 'application/x-www-form-urlencoded' }
  const reply = await patch('/api/sheet/1/', `data=${encodeURIComponent('{"title":"form"}')}`, { as, headers })
  t.match([reply.statusCode, reply.json()], [200, { title: 'form' }])
})

test('D-148: a JSON Patch is a 400 that says what is expected', async (t) => {
  const { patch, put, rowsOf } = await build(t)
  const steps = JSON.stringify([{ op: 'replace', path: '/title', value: 'x' }])
  const message = 'The body must be one JSON object of the fields to change, not a JSON Patch'
  for (const [type, body] of [
    ['application/json-patch+json', steps], ['Application/JSON-Patch+json; charset=utf-8', steps],
    ['application/json', steps], ['application/merge-patch+json', '[]'],
    ['application/json-patch+json', '{"title":"x"}'],
    ['application/x-www-form-urlencoded', `data=${encodeURIComponent(steps)}`]
  ] as const) {
    const reply = await patch('/api/sheet/1/', body, { as, headers: { 'content-type': type } })
    t.match([reply.statusCode, reply.json()], [400, { code: 'REST_MODELS_INVALID_BODY', message }], `${type} ${body}`)
  }
  t.equal((await put('/api/sheet/1/', steps, { as, headers: { 'content-type': 'application/json' } })).json().message,
    'The body must be one JSON object')
  t.match(await rowsOf('sheet'), [{ title: 'one' }, { title: 'two' }])
})

test('D-148: a JSON Patch is refused after everybody who may not write', async (t) => {
  const { patch } = await build(t)
  const send = async (url: string, user?: string) =>
    (await patch(url, '[]', { ...(user && { as: user }), headers: { 'content-type': 'application/json-patch+json' } }))
      .statusCode
  t.same([
    await send('/api/message/1/'), await send('/api/message/9/', 'bob'), await send('/api/message/1/', 'bob'),
    await send('/api/message/1/', 'alice')
  ], [401, 404, 403, 400])
})

test('D-147: PATCH is on one record alone, and Allow names it there', async (t) => {
  const { patch, post } = await build(t)
  const list = await patch('/api/sheet/', {}, { as })
  t.same([list.statusCode, list.headers.allow, list.json().message],
    [405, 'GET, HEAD, POST', 'This method is not allowed here'])
  const record = await post('/api/sheet/1/', {}, { as })
  t.same([record.statusCode, record.headers.allow], [405, 'GET, HEAD, PUT, PATCH, DELETE'])
})
