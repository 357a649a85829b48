import { once } from 'node:events'
import { connect as connectHttp2, createServer as createHttp2 } from 'node:http2'
import { text as readText } from 'node:stream/consumers'
import Fastify, { type FastifyInstance } from 'fastify'
import { sql } from 'kysely'
import { test, type Test } from 'tap'
import restModels, {
  bigint, boolean, createTables, date, datetime, decimal, defineModel, foreignKey, integer, json, number, openAuth,
  password, text, userAuth, uuid
} from '../../lib/index.js'
import { errors } from '../../lib/errors.js'
import { suggestion } from '../../lib/suggest.js'
import { engine, openDatabase } from '../support/database.js'
import { checkAnswers } from '../support/answers.js'
import {
  Message, Note, Relationship, User, buildApp, client, insert, registerSite, siteModels, siteUsers, type BuildOptions
} from '../support/site.js'

const as = 'alice'
const byAlice = { id: 1, user_id: 2, content: 'from alice', pub_date: '2024-02-01 10:00:00' }
const rows = { message: [byAlice], relationship: [{ id: 1, from_user_id: 2, to_user_id: 3 }] }
const urlencoded = 'application/x-www-form-urlencoded'

/** A body of `multipart/form-data` with text fields, and files where a name begins with `@`. */
function multipart (parts: ReadonlyArray<readonly [name: string, value: string]>): string {
  const part = ([name, value]: readonly [string, string]) => name.startsWith('@')
    ? `--edge\r\nContent-Disposition: form-data; name="${name.slice(1)}"; filename="a.json"\r\nContent-Type: ` +
      `application/json\r\n\r\n${value}\r\n`
    : `--edge\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`
  return `${parts.map(part).join('')}--edge--\r\n`
}

/** Sends one body as a create and as an update; a content type of null is none at all. */
async function writer (t: Test, options: BuildOptions = {}) {
  const site = await buildApp(t, { rows, ...options })
  const send = async (payload: string | Buffer, type: string | null) => {
    const headers: Record<string, string> = type === null ? {} : { 'content-type': type }
    const replies = [
      await site.post('/api/message/', payload, { as, headers }),
      await site.put('/api/message/1/', payload, { as, headers })
    ]
    return replies.map(({ statusCode }) => statusCode)
  }
  return { ...site, send }
}
const good = [201, 200]
const bad = [400, 400]

test('D-34: a body is JSON under any content type or none, on POST and PUT', async (t) => {
  const { send, rowsOf } = await writer(t)
  for (const type of [
    null, 'application/json', 'application/json; charset=utf-8', 'text/plain', 'application/vnd.api+json',
    'application/octet-stream', 'text/html', 'image/png', 'APPLICATION/JSON', urlencoded
  ]) {
    t.same(await send('{"content":"é 😀"}', type), good, String(type))
    t.same(await send('content=x', type), bad, String(type))
  }
  t.match((await rowsOf('message')).at(-1), { content: 'é 😀' })
})

const http2Apps: Readonly<Record<string, () => FastifyInstance>> = {
  'with the option http2': () => Fastify({ http2: true }) as unknown as FastifyInstance,
  'of a serverFactory': () => Fastify({ serverFactory: (handler) => createHttp2(handler as never) as never })
}

for (const [how, build] of Object.entries(http2Apps)) {
  test(`D-34: so it is over HTTP/2 ${how}, where a request need not say that it has a body`, async (t) => {
    const { db } = await buildApp(t, { models: [Note], register: () => {} })
    const app = build()
    t.teardown(async () => { await app.close() })
    await app.register(restModels, { db })
    app.restModels.register(Note, { auth: openAuth() })
    await app.restModels.setup()
    const session = connectHttp2(await app.listen({ host: '127.0.0.1', port: 0 }))
    t.teardown(() => { session.destroy() })
    const send = async (method: string, path: string, body = ''): Promise<unknown> => {
      const stream = session.request({ ':method': method, ':path': path }, { endStream: body === '' })
      if (body !== '') stream.end(body)
      const [[headers]] = await Promise.all([once(stream, 'response'), readText(stream)])
      return headers[':status']
    }
    t.equal(await send('POST', '/api/note/', '{"message":"é"}'), 201)
    t.equal(await send('PUT', '/api/note/1/', '{"message":"b"}'), 200)
    t.equal(await send('POST', '/api/note/'), 400, 'no body is no object')
    t.equal(await send('GET', '/api/note/1/'), 200)
    t.equal(await send('DELETE', '/api/note/1/'), 204)
  })
}

test('D-34: a body is a form, urlencoded, with one field data', async (t) => {
  const { send, rowsOf } = await writer(t)
  const data = `data=${encodeURIComponent('{"content":"a+b & c"}')}`
  for (const type of [urlencoded, `${urlencoded}; charset=utf-8`, 'Application/X-WWW-Form-Urlencoded']) {
    t.same(await send(data, type), good, type)
  }
  t.same(await send('data={"content":"a+b"}', urlencoded), good)
  t.match((await rowsOf('message')).at(-1), { content: 'a b' }, 'a plus is a space there')
  const before = await rowsOf('message')
  for (const broken of [
    '', 'data', 'data=', 'content=x', `${data}&${data}`, `${data}&other=1`, `other=1&${data}`,
    'data=%7B%22content%22%3A%ff', '[]', `Data${data.slice(4)}`
  ]) {
    t.same(await send(broken, urlencoded), bad, broken)
  }
  t.same(await rowsOf('message'), before)
})

test('D-34: a body is a form, multipart, with one field data', async (t) => {
  const { send, rowsOf } = await writer(t)
  const type = 'multipart/form-data; boundary=edge'
  const data = ['data', '{"content":"é & ü"}'] as const
  t.same(await send(multipart([data]), type), good)
  t.match((await rowsOf('message')).at(-1), { content: 'é & ü' })
  const before = await rowsOf('message')
  for (const parts of [
    [], [data, data], [data, ['other', '1']], [['other', '1'], data], [['other', '{}']],
    [['@data', '{"content":"x"}']], [data, ['@file', 'x']]
  ] as const) {
    t.same(await send(multipart(parts), type), bad, JSON.stringify(parts))
  }
  for (const broken of ['', 'nonsense', '--edge', multipart([data]).slice(0, -20)]) {
    t.same(await send(broken, type), bad, broken)
  }
  t.same(await send(multipart([data]), 'multipart/form-data'), bad, 'no boundary')
  t.same(await rowsOf('message'), before)
})

test('D-34: a part data is UTF-8, whatever charset it names', async (t) => {
  const { send, rowsOf } = await writer(t)
  const type = 'multipart/form-data; boundary=edge'
  for (const charset of ['iso-8859-1', 'utf-16le', 'base64', 'nonsense', 'utf-8']) {
    const header = `"data"\r\nContent-Type: text/plain; charset=${charset}`
    const body = multipart([['data', '{"content":"é & ü 😀"}']]).replace('"data"', header)
    t.same(await send(body, type), good, charset)
    t.match((await rowsOf('message')).at(-1), { content: 'é & ü 😀' }, charset)
  }
})

test('D-34: a body is valid UTF-8', async (t) => {
  const { send, rowsOf } = await writer(t)
  const before = await rowsOf('message')
  for (const bytes of [[0xff], [0xc3], [0xed, 0xa0, 0x80], [0xc0, 0x80]]) {
    t.same(
      await send(
        Buffer.concat([Buffer.from('{"content":"'), Buffer.from(bytes), Buffer.from('"}')]), 'application/json'
      ),
      bad
    )
  }
  t.same(await send(Buffer.from('{"content":"x"}', 'utf16le'), 'application/json; charset=utf-16'), bad)
  t.same(await rowsOf('message'), before)
  t.same(await send(Buffer.from('{"content":"ü"}'), 'application/json'), good)
})

test('D-34: a body is one JSON object', async (t) => {
  const { send, post, rowsOf } = await writer(t)
  const before = await rowsOf('message')
  for (const body of [
    '', ' ', 'null', '[]', '[{"content":"x"}]', '"x"', '1', 'true', '{"content":"x"', "{'content':'x'}",
    '{"content":"x"}{}', '{"content":"x",}', '// x', 'undefined', '{"content":NaN}'
  ]) {
    t.same(await send(body, 'application/json'), bad, body)
  }
  t.equal((await post('/api/message/', undefined, { as })).json().code, 'REST_MODELS_INVALID_BODY', 'no body at all')
  t.same(await rowsOf('message'), before)
  t.same(await send(' {"content":"x"}\n', 'application/json'), good)
})

test('D-34: a body with __proto__ or constructor.prototype is 400, however deep and however spelled', async (t) => {
  const Blob = defineModel('Message', { content: json() })
  const { send, rowsOf } = await writer(t, {
    models: [User, Blob],
    rows: { message: [{ content: '{}' }] },
    register: (registry) => { registry.register(Blob, { auth: userAuth(User) }) }
  })
  for (const body of [
    '{"__proto__":{"admin":true},"content":{}}', '{"content":{"__proto__":{}}}',
    '{"content":[{"a":{"__proto__":1}}]}', '{"content":{"\\u005f_proto__":{}}}',
    '{"constructor":{"prototype":{}},"content":{}}', '{"content":{"constructor":{"prototype":{"admin":true}}}}'
  ]) {
    t.same(await send(body, 'application/json'), bad, body)
    t.same(await send(`data=${encodeURIComponent(body)}`, urlencoded), bad, body)
  }
  // The driver of PostgreSQL parses JSON.
  t.same(await rowsOf('message'), [{ id: 1, content: engine === 'postgres' ? {} : '{}' }])
  t.same(await send('{"content":{"proto":1,"constructor":2,"prototype":3}}', 'application/json'), good)
})

test('D-34: a body that is too large is 413', async (t) => {
  const { send, post, rowsOf } = await writer(t)
  const body = (length: number) => JSON.stringify({ content: 'x'.repeat(length - '{"content":""}'.length) })
  t.same(await send(body(1024 * 1024 + 1), 'application/json'), [413, 413])
  t.same(await rowsOf('message'), [byAlice])
  t.match((await post('/api/message/', body(1024 * 1024 + 1), { as })).json(), {
    statusCode: 413, error: 'Payload Too Large'
  })
  t.same(await send(body(20_000).padEnd(1024 * 1024), 'application/json'), good)
  const small = await writer(t, { server: { bodyLimit: 20 } })
  t.same(await small.send(body(21), 'text/plain'), [413, 413])
  t.same(await small.send(body(20), 'text/plain'), good)
})

test('D-34: a body that is too large, and a malformed type, are refused before the policy is asked', async (t) => {
  const { app, rowsOf } = await writer(t)
  const send = async (payload: string, type: string): Promise<number> => (await app.inject({
    method: 'POST', url: '/api/message/', payload, headers: { 'content-type': type }
  })).statusCode
  t.equal(await send('{"content":"x"}', 'application/json'), 401)
  t.equal(await send('{"content":"x"}', 'nonsense'), 415)
  t.equal(await send(`{"content":"${'x'.repeat(1024 * 1024)}"}`, 'application/json'), 413)
  t.same(await rowsOf('message'), [byAlice])
})

const Task = defineModel('Task', {
  title: text(),
  size: integer(),
  note: text({ nullable: true }),
  done: boolean({ default: false }),
  code: text({ default: () => 'generated' }),
  parent: foreignKey(() => Note),
  owner: foreignKey(() => User)
})
const tasks = {
  models: [User, Note, Task],
  rows: { note: [{ id: 1, message: 'a', created: '2024-01-01 00:00:00' }] },
  register: (registry) => { registry.register(Task, { auth: userAuth(User), ownerField: 'owner' }) }
} satisfies BuildOptions

test('D-35: fields that are not nullable, defaulted, key or owner are required; all missing are listed', async (t) => {
  const { post, rowsOf } = await buildApp(t, tasks)
  const reply = await post('/api/task/', {}, { as })
  t.equal(reply.statusCode, 400)
  t.same(reply.json().details, ['title', 'size', 'parent_id'].map((field) => ({ field, message: 'is required' })))
  t.equal(reply.json().message, "Invalid 'title', 'size', 'parent_id'")
  t.same((await post('/api/task/', { title: 'a', parent: 1 }, { as })).json().details, [
    { field: 'size', message: 'is required' }
  ])
  t.same(await rowsOf('task'), [])
  const created = await post('/api/task/', { title: 'a', size: 1, parent: 1 }, { as })
  t.same(created.json(), {
    id: 1, title: 'a', size: 1, note: null, done: false, code: 'generated', parent_id: 1, owner_id: 2
  })
})

test('D-35: missing and faulty fields are listed together', async (t) => {
  const { post } = await buildApp(t, tasks)
  const { details } = (await post('/api/task/', { title: 1, done: null, nonsense: 1 }, { as })).json()
  t.same(details.map(({ field }: { field: string }) => field).sort(), [
    'done', 'nonsense', 'parent_id', 'size', 'title'
  ])
})

test('D-36: an unknown key is 400 naming it and the nearest right one', async (t) => {
  const { post, put, rowsOf } = await buildApp(t, { rows })
  for (const reply of [
    await post('/api/message/', { content: 'x', contnet: 'y' }, { as }),
    await put('/api/message/1/', { contnet: 'y' }, { as })
  ]) {
    t.equal(reply.statusCode, 400)
    t.same(reply.json().details, [
      { field: 'contnet', message: "is not a field of this resource, did you mean 'content'?" }
    ])
  }
  for (const name of ['Content', 'user__username', 'toString', 'constructor', '', 'objects']) {
    t.match(
      (await put('/api/message/1/', { [name]: 'y' }, { as })).json(), { statusCode: 400, details: [{ field: name }] },
      name
    )
  }
  t.same(await rowsOf('message'), [byAlice])
  t.equal((await put('/api/message/1/', { content: 'y' }, { as })).statusCode, 200)
})

const withReadOnly = {
  rows,
  register: (registry) => {
    registry.register(Message, { auth: userAuth(User), ownerField: 'user', readOnly: ['pub_date'] })
  }
} satisfies BuildOptions

test('D-37: on PUT the id, read-only fields and the owner are accepted when equal to what is stored', async (t) => {
  const { get, put, rowsOf } = await buildApp(t, withReadOnly)
  const record = (await get('/api/message/1/')).json()
  t.same((await put('/api/message/1/', record, { as })).json(), record, 'a record that was read can be sent back')
  t.same((await put('/api/message/1/', { ...record, content: 'changed' }, { as })).json(), {
    ...record, content: 'changed'
  })
  t.equal((await put('/api/message/1/', { user: 2 }, { as })).statusCode, 200)
  t.same(await rowsOf('message'), [{ ...byAlice, content: 'changed' }])
})

test('D-37: on PUT other values of them are 400', async (t) => {
  const { put, rowsOf } = await buildApp(t, withReadOnly)
  for (const [field, value] of [
    ['id', 2], ['id', '1'], ['pub_date', '2025-01-01 00:00:00'], ['user_id', 3], ['user', 3], ['user', 99],
    ['user', null]
  ] as const) {
    const reply = await put('/api/message/1/', { content: 'changed', [field]: value }, { as })
    t.equal(reply.statusCode, 400, field)
    t.match(reply.json().details, [{ field }])
  }
  t.same(await rowsOf('message'), [byAlice])
  t.equal((await put('/api/message/1/', { content: 'changed' }, { as })).statusCode, 200)
})

test('D-37: on POST the owner is ignored, whatever it is; the id and read-only fields are 400', async (t) => {
  const { post, rowsOf } = await buildApp(t, { ...withReadOnly, rows: {} })
  for (const [field, value] of [['id', 1], ['id', null], ['pub_date', '2025-01-01 00:00:00']] as const) {
    const reply = await post('/api/message/', { content: 'x', [field]: value }, { as })
    t.equal(reply.statusCode, 400)
    t.match(reply.json().details, [{ field }])
  }
  t.same(await rowsOf('message'), [])
  for (const owner of [
    { user: 3 }, { user_id: 99 }, { user: 'x' }, { user: null }, { user: {} }, { user: 1, user_id: 3 }
  ]) {
    t.equal((await post('/api/message/', { content: 'x', ...owner }, { as })).json().user_id, 2)
  }
})

const Thing = defineModel('Thing', {
  title: text({ default: 'a', minLength: 1, maxLength: 3 }),
  mail: text({ default: 'a@example.com', format: 'email' }),
  color: text({ default: 'red', enum: ['red', 'green'] }),
  count: integer({ default: 1, minimum: 0, maximum: 10 }),
  whole: integer({ default: 1 }),
  big: bigint({ default: '1' }),
  ratio: number({ default: 1 }),
  price: decimal({ default: '1.00' }),
  done: boolean({ default: true }),
  at: datetime({ default: 'now' }),
  day: date({ default: 'now' }),
  extra: json({ default: {} }),
  code: uuid({ default: '00000000-0000-4000-8000-000000000000' }),
  secret: password({ default: 'secret' }),
  friend: foreignKey(() => User, { default: 2 })
})
const things = {
  models: [User, Thing],
  register: (registry) => { registry.register(Thing, { auth: userAuth(User), exclude: ['secret'] }) }
} satisfies BuildOptions

const nul = 'a\0'
const half = 'a\ud800'
const wrongValues: Record<string, { readonly wrong: readonly unknown[], readonly right: readonly unknown[] }> = {
  title: { wrong: [1, true, [], {}, '', 'abcd', nul, half, '\udc00'], right: ['x', 'abc', '😀😀😀', '1'] },
  mail: { wrong: ['x', 'x@'], right: ['x@example.com'] },
  color: { wrong: ['blue', 'Red', ''], right: ['green'] },
  count: { wrong: ['1', 1.5, -1, 11, true, [1]], right: [0, 10, 5] },
  whole: { wrong: [2 ** 31, -(2 ** 31) - 1, 1e300], right: [2 ** 31 - 1, -(2 ** 31)] },
  big: {
    wrong: [1, '01', '1.0', '9223372036854775808', '-9223372036854775809', 'x'],
    right: ['9223372036854775807', '-9223372036854775808']
  },
  ratio: { wrong: ['1', true, [], '1.5'], right: [1.5, -2, 1e300] },
  price: { wrong: [1.5, '1.555', '.5', '1e2', '99999999999999.99'], right: ['1.50', '-2.25'] },
  done: { wrong: [1, 0, 'true', 'false', ''], right: [false, true] },
  at: { wrong: [1704103200, 'x', '2024-02-30', '', '2024-01-01 24:00:00', true], right: ['2024-01-01 10:00:00'] },
  day: { wrong: [1, 'x', '2024-02-30', '2024-01-01 10:00:00'], right: ['2024-02-29'] },
  extra: { wrong: [{ a: nul }, [half], { [nul]: 1 }], right: [{ a: [1, null, 'x'] }, [], 'text', 1, false] },
  code: { wrong: [1, 'x', '00000000-0000-4000-8000-00000000000'], right: ['00000000-0000-4000-8000-00000000000a'] },
  secret: { wrong: [1, {}, nul, half], right: ['other'] },
  friend: { wrong: ['2', 1.5, true, [2], { id: 2 }, 2 ** 53], right: [3] }
}

for (const [field, { wrong, right }] of Object.entries(wrongValues)) {
  test(`D-38: a wrong value of a field (${field}) is 400 naming it, and nothing is coerced`, async (t) => {
    const { post, put, rowsOf } = await buildApp(t, things)
    t.equal((await post('/api/thing/', {}, { as })).statusCode, 201)
    const before = await rowsOf('thing')
    const key = field === 'friend' ? 'friend_id' : field
    for (const value of [null, ...wrong]) {
      for (const reply of [
        await post('/api/thing/', { [key]: value }, { as }), await put('/api/thing/1/', { [key]: value }, { as })
      ]) {
        t.equal(reply.statusCode, 400, JSON.stringify(value))
        t.match(reply.json(), { code: 'REST_MODELS_INVALID_RECORD', details: [{ field: key }] })
      }
    }
    t.same(await rowsOf('thing'), before)
    for (const value of right) {
      const reply = await put('/api/thing/1/', { [key]: value }, { as })
      t.equal(reply.statusCode, 200, JSON.stringify(value))
      if (field !== 'secret') t.same(reply.json()[key], value)
    }
  })
}

test('D-38: null is accepted where a field is nullable', async (t) => {
  const { post } = await buildApp(t, tasks)
  t.equal((await post('/api/task/', { title: 'a', size: 1, parent: 1, note: null }, { as })).json().note, null)
  t.match((await post('/api/task/', { title: null, size: 1, parent: 1 }, { as })).json().details, [
    { field: 'title', message: 'must not be null' }
  ])
})

test('D-38: a fault is named as the client wrote the field', async (t) => {
  const { post } = await buildApp(t, tasks)
  t.same((await post('/api/task/', { title: 'a', size: 1, parent: 'x' }, { as })).json().details.map((
    { field }: { field: string }
  ) => field), ['parent'])
  t.same((await post('/api/task/', { title: 'a', size: 1, parent_id: 'x' }, { as })).json().details.map((
    { field }: { field: string }
  ) => field), ['parent_id'])
})

test('D-39: a unique value that is taken is 409 naming the field', async (t) => {
  const { post, put, rowsOf } = await buildApp(t)
  const before = await rowsOf('user')
  const dora = { username: 'dora', password: 'secret', email: 'd@example.com' }
  for (const reply of [
    await post('/api/user/', { ...dora, username: 'bob' }, { as: 'admin' }),
    await put('/api/user/2/', { username: 'bob' }, { as: 'admin' })
  ]) {
    t.equal(reply.statusCode, 409)
    t.same(reply.json(), {
      statusCode: 409,
      code: 'REST_MODELS_NOT_UNIQUE',
      error: 'Conflict',
      message: "Another record has the same 'username'",
      details: [{ field: 'username', message: 'is already taken' }]
    })
  }
  t.same(await rowsOf('user'), before)
  t.equal((await put('/api/user/2/', { username: 'alice' }, { as: 'admin' })).statusCode, 200, "the record's own")
  t.equal((await post('/api/user/', dora, { as: 'admin' })).statusCode, 201)
})

test('D-39: of several unique fields the one that is taken is named', async (t) => {
  const Key = defineModel('Key', { a: text({ unique: true }), b: integer({ unique: true, nullable: true }) })
  const { post, put } = await buildApp(t, {
    models: [User, Key],
    register: (registry) => { registry.register(Key, { auth: userAuth(User) }) },
    rows: { key: [{ a: 'x', b: 1 }] }
  })
  t.match((await post('/api/key/', { a: 'y', b: 1 }, { as })).json(), { statusCode: 409, details: [{ field: 'b' }] })
  t.match((await post('/api/key/', { a: 'x', b: 2 }, { as })).json(), { statusCode: 409, details: [{ field: 'a' }] })
  t.equal((await post('/api/key/', { a: 'y' }, { as })).statusCode, 201)
  t.equal((await post('/api/key/', { a: 'z' }, { as })).statusCode, 201, 'null is taken by nobody')
  t.match((await put('/api/key/1/', { a: 'x', b: 1 }, { as })).json(), { a: 'x', b: 1 })
  t.match((await put('/api/key/1/', { a: 'z', b: 1 }, { as })).json(), { statusCode: 409, details: [{ field: 'a' }] })
})

const Ticket = defineModel('Ticket', {
  title: text(),
  secret: text({ default: 'same', unique: true, maxLength: 5 }),
  level: integer({ default: 1, minimum: 1, maximum: 3 }),
  friend: foreignKey(() => User, { nullable: true, default: null }),
  owner: foreignKey(() => User),
  pin: password({ nullable: true })
})
const hidingTickets = {
  models: [User, Ticket],
  register: (registry) => {
    registry.register(Ticket, {
      auth: userAuth(User),
      ownerField: 'owner',
      exclude: ['secret', 'level', 'friend', 'owner', 'pin'],
      readOnly: ['secret', 'level', 'friend']
    })
  }
} satisfies BuildOptions

test('D-117: in a body, an excluded field that no client may write is an unknown name for any value', async (t) => {
  const { post, put, rowsOf } = await buildApp(t, hidingTickets)
  t.equal(
    (await post('/api/ticket/', { title: 'a', pin: 'x' }, { as })).statusCode, 201,
    'an excluded field that may be written is known'
  )
  const before = await rowsOf('ticket')
  const create = async (body: object) => await post('/api/ticket/', body, { as })
  const update = async (body: object) => await put('/api/ticket/1/', body, { as })
  for (const send of [create, update]) {
    const answerFor = (name: string) => ({
      statusCode: 400,
      code: 'REST_MODELS_INVALID_RECORD',
      error: 'Bad Request',
      message: `Invalid '${name}'`,
      details: [{ field: name, message: `is not a field of this resource${suggestion(name, ['title', 'pin'])}` }]
    })
    t.same((await send({ title: 'b', nowhere: 1 })).json(), answerFor('nowhere'))
    const hidden = ['secret', 'level', 'friend', 'friend_id']
    for (const name of send === create ? hidden : [...hidden, 'owner', 'owner_id']) {
      for (const value of ['same', 'too long', 1, 2, 99, 1.5, null, {}, 'a\0']) {
        t.same((await send({ title: 'b', [name]: value })).json(), answerFor(name), `${name}: ${JSON.stringify(value)}`)
      }
    }
  }
  t.same(await rowsOf('ticket'), before)
})

test('D-117: on POST an excluded owner is the authenticated user, whatever the body says', async (t) => {
  const { post, db, rowsOf } = await buildApp(t, hidingTickets)
  for (const [name, value] of Object.entries({ owner: 1, owner_id: 'x' })) {
    await db.deleteFrom('ticket').execute()
    t.equal((await post('/api/ticket/', { title: 'a', [name]: value }, { as })).statusCode, 201, name)
    t.match(await rowsOf('ticket'), [{ owner_id: 2 }], name)
  }
})

test('D-118: the default of a hidden field is not named if it is taken or refers to nothing', async (t) => {
  const { post, rowsOf } = await buildApp(t, hidingTickets)
  t.equal((await post('/api/ticket/', { title: 'a' }, { as })).statusCode, 201)
  const refused = await post('/api/ticket/', { title: 'b' }, { as })
  const { message } = new errors.Constraint()
  t.same(refused.json(), { statusCode: 409, code: 'REST_MODELS_CONSTRAINT', error: 'Conflict', message })
  t.equal((await rowsOf('ticket')).length, 1)
  const Paper = defineModel('Paper', {
    title: text({ unique: true }),
    friend: foreignKey(() => User, { default: 99 }),
    code: text({ unique: true, default: 'x' })
  })
  const papers = await buildApp(t, {
    models: [User, Paper],
    register: (registry) => {
      registry.register(Paper, { auth: userAuth(User), exclude: ['friend', 'code'], readOnly: ['friend', 'code'] })
    },
    rows: { paper: [{ id: 1, title: 'a', friend_id: 2, code: 'x' }] }
  })
  t.same((await papers.post('/api/paper/', { title: 'b' }, { as })).json(), refused.json())
  await papers.db.updateTable('paper').set({ code: 'y' }).execute()
  t.same((await papers.post('/api/paper/', { title: 'b' }, { as })).json(), refused.json(), 'a reference to nothing')
  await papers.db.updateTable('paper').set({ code: 'x' }).execute()
  t.match(
    (await papers.post('/api/paper/', { title: 'a' }, { as })).json().details, [{ field: 'title' }],
    'what the client wrote is named'
  )
})

test('D-40: a reference to a record that is not there is 400 naming the field', async (t) => {
  const { post, put, rowsOf } = await buildApp(t, { rows })
  for (const id of [99, 0, -1]) {
    for (const reply of [
      await post('/api/relationship/', { to_user: id }, { as }),
      await put('/api/relationship/1/', { to_user_id: id }, { as })
    ]) {
      t.equal(reply.statusCode, 400)
      t.match(reply.json(), { code: 'REST_MODELS_UNKNOWN_REFERENCE', details: [{ field: 'to_user_id' }] })
    }
  }
  t.same(await rowsOf('relationship'), rows.relationship)
  t.equal((await post('/api/relationship/', { to_user: 4 }, { as })).statusCode, 201)
})

test('D-40: of several references the one that is not there is named', async (t) => {
  const { post } = await buildApp(t, {
    register: (registry) => { registry.register(Relationship, { auth: userAuth(User) }) }
  })
  t.match(
    (await post('/api/relationship/', { from_user: 2, to_user: 99 }, { as })).json().details,
    [{ field: 'to_user_id' }]
  )
  t.match((await post('/api/relationship/', { from_user: 99, to_user: 2 }, { as })).json().details, [
    { field: 'from_user_id' }
  ])
})

test('D-41: PUT is partial, and {} changes nothing and answers the record', async (t) => {
  const { put, rowsOf, statements, forget } = await buildApp(t, { rows })
  forget()
  const reply = await put('/api/message/1/', {}, { as })
  t.equal(reply.statusCode, 200)
  t.same(reply.json(), byAlice)
  t.notMatch(statements.map((statement) => statement.sql).join(), /update/)
  t.same((await put('/api/message/1/', { content: 'y' }, { as })).json(), { ...byAlice, content: 'y' })
  t.same(await rowsOf('message'), [{ ...byAlice, content: 'y' }])
})

test('D-41: on PUT defaults are not applied again', async (t) => {
  const { put, rowsOf } = await buildApp(t, { rows })
  await put('/api/user/1/', { email: 'new@example.com' }, { as: 'admin' })
  t.match((await rowsOf('user'))[0], {
    email: 'new@example.com', join_date: '2024-01-01 10:00:00', admin: 1, active: 1
  })
})

test('D-42: a stored password that is sent back as it was read is kept, not hashed again', async (t) => {
  const { get, put, rowsOf } = await buildApp(t, {
    register: (registry) => { registry.register(User, { auth: userAuth(User) }) }
  })
  const before = await rowsOf('user')
  const record = (await get('/api/user/2/')).json()
  t.match(record.password, /^\$argon2id\$/)
  const reply = await put('/api/user/2/', { ...record, email: 'new@example.com' }, { as })
  t.same(reply.json(), { ...record, email: 'new@example.com' })
  t.same((await rowsOf('user'))[1], { ...before[1] as object, email: 'new@example.com' })
  t.equal((await put('/api/user/2/', {}, { as })).statusCode, 200, 'the password is still the same')
  await put('/api/user/2/', { password: 'changed' }, { as })
  t.equal((await put('/api/user/2/', {}, { as })).statusCode, 401, 'another one is hashed')
  t.equal((await put('/api/user/2/', {}, { as: ['alice', 'changed'] })).statusCode, 200)
})

test('D-42: if the password is excluded, nobody has read it, so its hash is a password like any other', async (t) => {
  const { put, rowsOf } = await buildApp(t, { rows })
  const { password: hash } = (await rowsOf('user'))[1] as { password: string }
  t.equal((await put('/api/message/1/', {}, { as: ['alice', 'alice'] })).statusCode, 200)
  t.equal((await put('/api/user/2/', { password: hash }, { as: 'admin' })).statusCode, 200)
  t.equal((await put('/api/message/1/', {}, { as: ['alice', 'alice'] })).statusCode, 401)
  t.equal((await put('/api/message/1/', {}, { as: ['alice', hash] })).statusCode, 200)
})

/** Creates two messages in a site whose plugin has an option `prefix`, in a scope with another. Checks all links. */
async function checkLinks (t: Test, outer: string, prefix: string | undefined, below: string): Promise<void> {
  const db = await openDatabase(t)
  const app = Fastify()
  await checkAnswers(t, app)
  t.teardown(async () => { await app.close() })
  await createTables(db, siteModels)
  await insert(db, { user: await siteUsers() })
  await app.register(async (scope) => {
    await scope.register(restModels, { db, ...prefix !== undefined && { prefix } })
    registerSite(scope.restModels)
    await scope.restModels.setup()
  }, { prefix: outer })
  const { get, post } = client(app)
  const created = await post(below, { content: 'x' }, { as })
  t.equal(created.statusCode, 201)
  t.equal(created.headers.location, `${below}1/`)
  t.equal((await get(`${below}1/`)).json().content, 'x')
  await post(below, { content: 'y' }, { as })
  const { meta } = (await get(`${below}?limit=1`)).json()
  t.equal(meta.next, `${below}?limit=1&page=2`)
  t.equal((await get(meta.next)).json().meta.previous, `${below}?limit=1&page=1`)
}

test('D-43: Location and links carry the prefix of the scope in which the plugin is registered', async (t) => {
  await checkLinks(t, '/v1', undefined, '/v1/api/message/')
  await checkLinks(t, '/v1/', '', '/v1/message/')
  await checkLinks(t, '/', '', '/message/')
})

test('D-254: Location and links are percent-encoded, whatever characters the prefixes have', async (t) => {
  await checkLinks(t, '/日本', '/ä/100%', '/%E6%97%A5%E6%9C%AC/%C3%A4/100%25/message/')
})

test('D-255: the plugin refuses to be registered below a path with a parameter or a wildcard', async (t) => {
  const db = await openDatabase(t)
  for (const prefix of ['/:tenant', '/v1/*']) {
    const app = Fastify()
    t.teardown(async () => { await app.close() })
    app.register(async (scope) => { await scope.register(restModels, { db }) }, { prefix })
    await t.rejects(Promise.resolve(app.ready()), {
      code: 'REST_MODELS_INVALID_OPTIONS',
      message: `The plugin is registered below '${prefix}'; links need a path without parameters`
    })
  }
})

test('D-36: of many unknown keys the first twenty are listed, and a body full of them costs little', async (t) => {
  const { post, rowsOf } = await buildApp(t)
  const unknown = Object.fromEntries(Array.from({ length: 50_000 }, (_, index) => [`unknown${index}`, index]))
  const costs: number[] = []
  for (let attempt = 0; attempt < 3; attempt++) {
    const started = process.cpuUsage()
    const reply = await post('/api/message/', { content: 'x', ...unknown }, { as: 'alice' })
    const { user, system } = process.cpuUsage(started)
    costs.push((user + system) / 1000)
    t.equal(reply.statusCode, 400)
    t.equal(reply.json().details.length, 20)
  }
  t.ok(Math.min(...costs) < 1000, `${costs.join(', ')} ms`)
  const fixed = await post('/api/message/', { id: 5, content: 'x', ...unknown }, { as: 'alice' })
  t.equal(fixed.json().details.length, 20, 'those that are set by the server among them')
  t.same(await rowsOf('message'), [])
  t.equal((await post('/api/message/', { content: 'x' }, { as: 'alice' })).statusCode, 201)
})

test('D-38: a field with several faults is listed once', async (t) => {
  const { put } = await buildApp(t, { rows: { message: [{ user_id: 2, content: 'x' }] } })
  const { message, details } = (await put('/api/message/1/', { id: [[1]], content: 5 }, { as: 'alice' })).json()
  t.same(details.map(({ field }: { field: string }) => field), ['id', 'content'])
  t.equal(message, "Invalid 'id', 'content'")
})

test('a model of which a client writes no field gets records from empty bodies', async (t) => {
  const Visit = defineModel('Visit', { at: datetime({ readOnly: true, nullable: true }) })
  const { get, post } = await buildApp(t, {
    models: [Visit], register: (registry) => { registry.register(Visit, { auth: openAuth() }) }
  })
  t.match(await post('/api/visit/', {}), { statusCode: 201, headers: { location: '/api/visit/1/' } })
  t.match((await post('/api/visit/', {})).json(), { id: 2, at: null })
  t.equal((await post('/api/visit/', { at: '2024-01-01' })).statusCode, 400)
  t.equal((await get('/api/visit/')).json().objects.length, 2)
})

test('D-37: a record whose reference leads nowhere can be sent back as it was read', {
  skip: engine !== 'sqlite' && 'only SQLite checks a reference that is written once more'
}, async (t) => {
  const Box = defineModel('Box', { name: text() })
  const Item = defineModel('Item', { box: foreignKey(() => Box), count: integer() })
  const { get, put, rowsOf } = await buildApp(t, {
    models: [Box, Item],
    prepare: async (_app, db) => {
      await sql`pragma foreign_keys = off`.execute(db)
      await sql`insert into item values (1, 77, 1)`.execute(db)
      await sql`pragma foreign_keys = on`.execute(db)
    },
    register: (registry) => {
      for (const model of [Box, Item]) registry.register(model, { auth: openAuth() })
    }
  })
  const read = (await get('/api/item/1/')).json()
  t.match(await put('/api/item/1/', read), { statusCode: 200 })
  t.match(await put('/api/item/1/', { ...read, count: 2 }), { statusCode: 200 })
  t.match(await put('/api/item/1/', { ...read, box_id: 78 }), { statusCode: 400 })
  t.strictSame(await rowsOf('item'), [{ id: 1, box_id: 77, count: 2 }])
})
