// @once: about what the client sends; that a key creates one record on each engine is in writes/own-keys.test.ts

import { randomUUID } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import { test, type Test } from 'tap'
import { createClient, RestModelsError, type Fetch } from '../../lib/client.js'
import {
  adminAuth, datetime, defineModel, invalidRecord, text, userAuth, uuid, type PlannedWrite
} from '../../lib/index.js'
import { buildApp, User } from '../support/site.js'

const Task = defineModel('Task', {
  id: uuid({ clientGenerated: true }), title: text({ unique: true }), made: datetime({ default: 'now' })
})
const Note = defineModel('Note', { message: text() })
type Resources = [typeof Task, typeof Note]

const id = '3d6b1c0e-8a1f-4f6a-9b5e-2f1c7d9a0b11'
const body = { id, title: 'a' }
const record = { ...body, made: '2024-01-01 00:00:00' }

/** An answer, or a text that `fetch` fails with. */
type Answer = { readonly status: number, readonly body?: object | string, readonly retryAfter?: string }
type Step = string | Answer

const taken: Answer = {
  status: 409, body: { code: 'REST_MODELS_NOT_UNIQUE', message: 'x', details: [{ field: 'id', message: 'x' }] }
}
const titleTaken: Answer = {
  status: 409, body: { code: 'REST_MODELS_NOT_UNIQUE', message: 'x', details: [{ field: 'title', message: 'x' }] }
}
const lost = 'the connection was closed'
const twice: Answer = { status: 400, body: { code: 'REST_MODELS_INVALID_RECORD' } }
const missing: Answer = { status: 404 }
const undone: Answer = { status: 503, retryAfter: '0', body: { code: 'REST_MODELS_UNAVAILABLE' } }
const unknown: Answer = { status: 503, retryAfter: '0', body: { code: 'REST_MODELS_OUTCOME_UNKNOWN' } }
const created: Step = { status: 201, body: record }
const found: Step = { status: 200, body: record }

/** A client whose requests are answered step by step, and the methods and paths that it sent. */
function clientOf (steps: readonly Step[]) {
  const sent: string[] = []
  const fetch: Fetch = async (url, { method }) => {
    const step = steps[sent.length]
    sent.push(`${method} ${new URL(url).pathname}`)
    if (step === undefined || typeof step === 'string') throw new TypeError(step)
    const text = typeof step.body === 'string' ? step.body : JSON.stringify(step.body ?? {})
    const headers = { get: (name: string) => name === 'retry-after' ? step.retryAfter ?? null : null }
    return { ok: step.status < 300, status: step.status, statusText: '', headers, text: async () => text }
  }
  return { sent, client: createClient<Resources>({ baseUrl: 'http://localhost', fetch }) }
}

const post = 'POST /api/task/'
const get = `GET /api/task/${id}/`

const repeated: Readonly<Record<string, readonly [steps: readonly Step[], sent: readonly string[]]>> = {
  'nothing went wrong': [[created], [post]],
  'the answer was lost': [[lost, created], [post, post]],
  'the answer was lost after the record was stored': [[lost, taken, found], [post, post, get]],
  'the server could not serve': [[{ status: 503, retryAfter: '0' }, created], [post, post]],
  'the server could not tell whether it stored the record': [
    [{ status: 503, retryAfter: '0' }, taken, found], [post, post, get]
  ],
  'gateways got no answer': [[{ status: 502, body: '<html>' }, { status: 504 }, created], [post, post, post]],
  'the server certainly did not store it': [[undone, created], [post, post]],
  'the server could not tell, and then certainly did not store it': [
    [unknown, undone, taken, found], [post, post, post, get]
  ],
  'a read was lost': [[lost, taken, lost, taken, found], [post, post, get, post, get]],
  'a replica lags': [[lost, taken, missing, taken, found], [post, post, get, post, get]],
  'a rule refuses the repetition': [[lost, twice, found], [post, post, get]],
  'the repetition is one request too many': [[unknown, { status: 429, retryAfter: '60' }, found], [post, post, get]],
  'the login ended, and everybody may read': [[{ status: 504 }, { status: 401 }, found], [post, post, get]],
  'the user may no longer create': [[lost, undone, { status: 403 }, found], [post, post, post, get]],
  'its own value is taken': [[lost, titleTaken, found], [post, post, get]],
  'the repetition is refused, and a replica lags': [[lost, twice, missing, found], [post, post, get, get]],
  'the repetition is refused, and a read is lost': [[lost, twice, lost, found], [post, post, get, get]]
}

for (const [name, [steps, requests]] of Object.entries(repeated)) {
  test(`D-151: a create with an own key gives the record if ${name}`, async (t) => {
    const { client, sent } = clientOf(steps)
    t.same(await client.task.create(body), record)
    t.same(sent, requests)
  })
}

const refused: Readonly<Record<string, readonly [steps: readonly Step[], sent: readonly string[], fault: object]>> = {
  'the first request is told that the key is taken': [[taken], [post], { status: 409 }],
  'the key is taken, and no earlier request can have taken it': [[undone, taken], [post, post], { status: 409 }],
  'another value is taken': [
    [lost, titleTaken, missing, missing], [post, post, get, get], { status: 409, details: [{ field: 'title' }] }
  ],
  'a rule refuses the repetition, and the first request was not executed': [
    [lost, twice, missing, missing], [post, post, get, get], { status: 400, code: 'REST_MODELS_INVALID_RECORD' }
  ],
  'a rule refuses the repetition, and no earlier request can have stored it': [
    [undone, twice], [post, post], { status: 400 }
  ],
  'the login ended': [[lost, { status: 401 }, { status: 401 }], [post, post, get], { status: 401 }],
  'a rule refuses the repetition, and the record may not be read': [
    [lost, twice, { status: 403 }], [post, post, get], { status: 400 }
  ],
  'a rule refuses the repetition, and the read fails': [
    [lost, twice, { status: 500 }], [post, post, get], { status: 500 }
  ],
  'a rule refuses the repetition, and each read is lost': [
    [lost, twice, lost, lost], [post, post, get, get], { message: lost }
  ],
  'the body is wrong': [[{ status: 400 }], [post], { status: 400 }],
  'the server does not say when to come back': [[{ status: 503 }], [post], { status: 503 }],
  'the server says to come back much later': [[{ status: 503, retryAfter: '11' }], [post], { status: 503 }],
  'the stored record may not be read': [
    [lost, taken, { status: 401 }], [post, post, get], { status: 409, code: 'REST_MODELS_NOT_UNIQUE' }
  ],
  'every answer is lost': [[lost, lost, lost, lost], [post, post, post, post], { message: lost }],
  'every answer and every read is lost': [
    [lost, taken, lost, taken, lost, taken, lost], [post, post, get, post, get, post, get], { message: lost }
  ],
  'the server has no time for the read': [
    [lost, taken, { status: 503, retryAfter: '11' }], [post, post, get], { status: 503 }
  ],
  'the stored record may not be read so often': [[lost, taken, { status: 429 }], [post, post, get], { status: 429 }],
  'the stored record is not found': [
    [lost, taken, missing, taken, missing, taken, missing],
    [post, post, get, post, get, post, get], { status: 409 }
  ]
}

for (const [name, [steps, requests, fault]] of Object.entries(refused)) {
  test(`D-151: a create with an own key fails if ${name}`, async (t) => {
    const { client, sent } = clientOf(steps)
    t.match(await client.task.create(body).catch((failure: unknown) => ({ failure })), { failure: fault })
    t.same(sent, requests)
  })
}

test('D-151: a create with an own key asks for its headers once, and its repetitions send the same', async (t) => {
  let asked = 0
  const sent: Array<string | undefined> = []
  const client = createClient<Resources>({
    baseUrl: 'http://localhost',
    headers: () => ({ number: String(++asked) }),
    fetch: async (_url, { headers }) => {
      sent.push(headers['number'])
      throw new TypeError(lost)
    }
  })
  await t.rejects(client.task.create(body), { message: lost })
  t.same([asked, sent], [1, ['1', '1', '1', '1']])
})

test('D-151: a create without an own key is sent once', async (t) => {
  for (const given of [{ title: 'a' }, { id: 'x', title: 'a' }, { id: 1, title: 'a' }, null, undefined]) {
    for (const step of [lost, { status: 503, retryAfter: '0' }]) {
      const { client, sent } = clientOf([step, created])
      await t.rejects(client.task.create(given as typeof body))
      t.same(sent, [post], JSON.stringify(given))
    }
  }
})

const calls: Readonly<Record<string, (client: ReturnType<typeof clientOf>['client']) => PromiseLike<unknown>>> = {
  list: (client) => client.note.list(),
  read: (client) => client.note.read(1),
  create: (client) => client.note.create({ message: 'a' }),
  update: (client) => client.note.update(1, { message: 'a' }),
  delete: (client) => client.note.delete(1)
}

for (const [name, call] of Object.entries(calls)) {
  test(`D-235: a ${name} is repeated if it certainly was not executed, and only then`, async (t) => {
    const good = clientOf([undone, undone, { status: 200, body: {} }])
    await t.resolves(Promise.resolve(call(good.client)))
    t.equal(good.sent.length, 3)
    for (const step of [
      lost, unknown, { status: 503, retryAfter: '0' }, { status: 502 }, { status: 504 },
      { ...undone, retryAfter: '11' },
      { status: 503, body: undone.body ?? {} }
    ] as const) {
      const { client, sent } = clientOf([step, { status: 200, body: {} }])
      await t.rejects(Promise.resolve(call(client)), JSON.stringify(step))
      t.equal(sent.length, 1)
    }
  })
}

test('D-235: a request that certainly was not executed is repeated three times, and not once aborted', async (t) => {
  const { client, sent } = clientOf(Array(9).fill(undone))
  await t.rejects(client.note.create({ message: 'a' }), { code: 'REST_MODELS_UNAVAILABLE' })
  t.equal(sent.length, 4)
  const pausing = new AbortController()
  const aborted = clientOf([{ ...undone, retryAfter: '5' }, created])
  setTimeout(() => { pausing.abort(new Error('no longer')) }, 20)
  await t.rejects(aborted.client.note.delete(1, { signal: pausing.signal }), { message: 'no longer' })
  t.equal(aborted.sent.length, 1)
  const before = new AbortController()
  const ignoring = createClient<Resources>({
    baseUrl: 'http://localhost',
    fetch: async () => {
      before.abort(new Error('no longer'))
      const headers = { get: (name: string) => name === 'retry-after' ? '5' : null }
      return { ok: false, status: 503, statusText: '', headers, text: async () => JSON.stringify(undone.body) }
    }
  })
  const start = performance.now()
  await t.rejects(ignoring.note.delete(1, { signal: before.signal }), { message: 'no longer' })
  t.ok(performance.now() - start < 3000, 'nothing waits for the pause')
})

test('D-151: what the client itself refuses is not sent', async (t) => {
  const { client, sent } = clientOf([created])
  await t.rejects(client.task.create({ id, title: NaN as never }), { message: /'title' must be a finite number/ })
  t.same(sent, [])
})

test('D-151: the signal ends the repetitions, in a request and in a pause', async (t) => {
  const { client, sent } = clientOf([{ status: 503, retryAfter: '5' }, created])
  const pausing = new AbortController()
  setTimeout(() => { pausing.abort(new Error('no longer')) }, 50)
  const start = performance.now()
  await t.rejects(client.task.create(body, { signal: pausing.signal }), { message: 'no longer' })
  t.ok(performance.now() - start < 2000)
  t.same(sent, [post])
  const early = new AbortController()
  const aborting = createClient<Resources>({
    baseUrl: 'http://localhost',
    fetch: async () => {
      early.abort()
      throw new Error('aborted')
    }
  })
  await t.rejects(aborting.task.create(body, { signal: early.signal }), { message: 'aborted' })
  for (const refusal of [taken, twice]) {
    const late = new AbortController()
    const answers = [
      () => { throw new TypeError('fetch failed') },
      () => Response.json(refusal.body, { status: refusal.status }),
      () => {
        late.abort()
        throw new Error('aborted while it was read')
      }
    ]
    const reading = createClient<Resources>({
      baseUrl: 'http://localhost', fetch: async () => (answers.shift() as () => Response)()
    })
    await t.rejects(reading.task.create(body, { signal: late.signal }), { message: 'aborted while it was read' })
  }
  const lagging = clientOf([lost, twice, { status: 503, retryAfter: '5' }, found])
  const waiting = new AbortController()
  setTimeout(() => { waiting.abort(new Error('no longer')) }, 700)
  await t.rejects(lagging.client.task.create(body, { signal: waiting.signal }), { message: 'no longer' })
  t.same(lagging.sent, [post, post, get])
  const unused = new AbortController()
  const { client: third } = clientOf([lost, created])
  t.same(await third.task.create(body, { signal: unused.signal }), record, 'a signal that nothing aborts')
})

/** An app that cuts the connection of the first requests for each record: after the commit, or before the handler. */
async function cutting (
  t: Test, { times, isBefore = false, beforeWrite }:
  { times: number, isBefore?: boolean, beforeWrite?: (write: PlannedWrite<typeof Task>) => Promise<undefined> }
) {
  const asked = new Map<string, number>()
  const site = await buildApp(t, {
    models: [User, Task, Note],
    undocumented: 'connections are cut',
    register: (registry) => {
      registry.register(Task, { auth: userAuth(User), ...beforeWrite && { beforeWrite } })
      registry.register(Note, { auth: adminAuth(User) })
    },
    prepare: async (app) => {
      app.addHook(isBefore ? 'onRequest' : 'onSend', async (request: FastifyRequest) => {
        const { 'x-number': number } = request.headers
        const count = (asked.get(String(number)) ?? 0) + 1
        asked.set(String(number), count)
        if (request.method === 'POST' && count <= times) request.raw.socket.destroy()
      })
    }
  })
  const address = await site.app.listen({ port: 0, host: '127.0.0.1' })
  const create = async (number: number, key = randomUUID() as string) =>
    await createClient<Resources>({
      baseUrl: address, username: 'alice', password: 'alice', headers: { 'x-number': String(number) }
    }).task.create({ id: key, title: `task ${number}` })
  return { ...site, create, asked }
}

const cuts = 50

for (const [name, options] of Object.entries({
  'once after the commit': { times: 1 },
  'twice after the commit': { times: 2 },
  'once before the handler': { times: 1, isBefore: true }
})) {
  test(`D-151: ${cuts} creates whose connections are cut ${name} create ${cuts} records`, async (t) => {
    t.setTimeout(240_000)
    const { create, rowsOf, asked } = await cutting(t, options)
    const records = await Promise.all(Array.from({ length: cuts }, async (_, number) => await create(number)))
    t.same(records.map(({ title }) => title), records.map((_, number) => `task ${number}`))
    const rows = (await rowsOf('task')) as Array<{ readonly id: string }>
    t.same(rows.map(({ id }) => id).sort(), records.map(({ id }) => id).sort())
    t.ok([...asked.values()].every((count) => count > options.times), 'each connection was cut')
  })
}

test('D-152: a record that was stored is returned although a rule refuses the repetition', async (t) => {
  const { create, rowsOf } = await cutting(t, {
    times: 1,
    beforeWrite: async (): Promise<undefined> => {
      if ((await rowsOf('task')).length > 0) throw invalidRecord({ title: 'there is a task already' })
    }
  })
  t.match(await create(1), { title: 'task 1' })
  const failure: unknown = await create(2).catch((error: unknown) => error)
  t.match(failure, { status: 400, details: [{ field: 'title', message: 'there is a task already' }] })
  t.equal((await rowsOf('task')).length, 1)
})

test('D-152: the record with the key is returned, whatever its fields are by now', async (t) => {
  const { client } = clientOf([lost, taken, { status: 200, body: { ...record, title: 'changed by others' } }])
  t.match(await client.task.create(body), { id, title: 'changed by others' })
})

test('D-152: a key that somebody else took before is a 409', async (t) => {
  const { create } = await cutting(t, { times: 0 })
  await create(1, id)
  const failure: unknown = await create(2, id).catch((error: unknown) => error)
  t.ok(failure instanceof RestModelsError)
  t.match(failure, { status: 409, details: [{ field: 'id' }] })
})
