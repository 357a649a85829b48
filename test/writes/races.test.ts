import { hash } from '@node-rs/argon2'
import type { LightMyRequestResponse } from 'fastify'
import { sql, type CompiledQuery, type Kysely } from 'kysely'
import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { test, type Test } from 'tap'
import {
  boolean as flag, datetime, decimal, defineModel, foreignKey, integer, openAuth, text, type FinishedWrite,
  type PlannedWrite
} from '../../lib/index.js'
import type { Tables } from '../../lib/engines/executor.js'
import { engine } from '../support/database.js'
import { buildApp, insert, User } from '../support/site.js'
import { beforeStatements } from '../support/interleaving.js'

/** What others do at the same moment; on SQLite's one connection, between two statements of a request. */

const anybody = {
  open: ['list', 'read', 'create', 'update', 'delete'] as const,
  authenticator: () => async () => null,
  permits: () => false
}

const Link = defineModel('Link', { user: foreignKey(() => User) })

const boolean = (value: boolean): boolean | number => engine === 'postgres' ? value : Number(value)

/** How often each answer was given. */
function count (replies: ReadonlyArray<Pick<LightMyRequestResponse, 'statusCode'>>): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const { statusCode } of replies) counts[statusCode] = (counts[statusCode] ?? 0) + 1
  return counts
}

/** Gives a message to bob, and says so in it. */
const transfer = (db: Kysely<Tables>, id: number): CompiledQuery =>
  db.updateTable('message').set({ user_id: 3, content: 'transferred' }).where('id', '=', id).compile()

/** Executes a statement; again, if an engine has to give up one of several writes. */
async function withRetries (execute: () => Promise<unknown>): Promise<void> {
  try {
    await execute()
  } catch (error) {
    const { code, errno } = error as { code?: string, errno?: number }
    if (errno !== 1213 && code !== '40P01') throw error
    await withRetries(execute)
  }
}

async function turns (count: number): Promise<void> {
  for (let index = 0; index < count; index++) await turn()
}

const rounds = 50
const messages = Array.from(
  { length: rounds }, (_, index) => ({ id: index + 1, user_id: 2, content: 'new', pub_date: '2024-01-01 00:00:00' })
)

test(`of ${rounds} messages that change hands during writes, only the owner of that moment writes any`, async (t) => {
  const { db, get, put, delete: remove } = await buildApp(t, { rows: { message: messages } })
  // Passwords that were verified once cost nothing, so that the writes meet.
  for (const name of ['alice', 'bob']) await put('/api/message/999/', {}, { as: name })
  const seen: Record<string, number> = {}
  const next = { id: 0, statements: 0 }
  if (engine === 'sqlite') {
    await beforeStatements(t, db, async (_sql, execute) => {
      if (--next.statements === 0) await execute(transfer(db, next.id))
    })
  }
  const change = async (id: number): Promise<void> => {
    await turns(id % 7)
    await withRetries(async () => await db.executeQuery(transfer(db, id)))
  }
  for (const { id } of messages) {
    const url = `/api/message/${id}/`
    const deletes = id % 3 === 0
    const [formers, latters] = await Promise.all([
      Promise.all([0, 2].map(async (later) => {
        await turns(id % 4 + later)
        return await put(url, { content: 'former' }, { as: 'alice' })
      })),
      Promise.all([0, 2].map(async (later) => {
        await turns(id % 5 + later)
        return deletes ? await remove(url, { as: 'bob' }) : await put(url, { content: 'latter' }, { as: 'bob' })
      })),
      engine === 'sqlite' ? Object.assign(next, { id, statements: id % 8 + 1 }) : change(id)
    ])
    if (engine === 'sqlite') t.ok(next.statements <= 0, 'it did change hands')
    const found = await get(url)
    const { content } = found.json()
    const succeeded = latters.some(({ statusCode }) => statusCode < 300)
    if (deletes && succeeded) t.equal(found.statusCode, 404, 'what bob deleted is gone')
    else {
      t.strictSame(
        [content, found.json().user_id], [succeeded ? 'latter' : 'transferred', 3],
        `bob wrote ${succeeded ? 'it after' : 'nothing, and neither did alice after'} the transfer`
      )
    }
    for (const reply of formers) {
      t.ok([200, 403, 404].includes(reply.statusCode), `alice: ${reply.statusCode}`)
      if (reply.statusCode === 200) {
        t.strictSame([reply.json().content, reply.json().user_id], ['former', 2], 'alice is answered a record of hers')
      }
    }
    for (const reply of latters) {
      t.ok((deletes ? [204, 403, 404] : [200, 403]).includes(reply.statusCode), `bob: ${reply.statusCode}`)
      if (reply.statusCode === 200) {
        t.strictSame([reply.json().content, reply.json().user_id], ['latter', 3], 'bob is answered a record of his')
      }
    }
    if (deletes) t.ok((count(latters)['204'] ?? 0) <= 1, 'a record is deleted once')
    for (const [who, replies] of Object.entries({ alice: formers, bob: latters })) {
      for (const { statusCode } of replies) seen[`${who} ${statusCode}`] = (seen[`${who} ${statusCode}`] ?? 0) + 1
    }
  }
  t.comment(Object.entries(seen).sort().map(([answer, times]) => `${answer}: ${times}`).join(', '))
})

test('of many creates of one unique value at once one is answered 201, the others 409 naming the field', async (t) => {
  const Tag = defineModel('Tag', { name: text({ unique: true }), size: integer({ nullable: true, unique: true }) })
  const { post, get } = await buildApp(t, {
    models: [Tag], register: (registry) => { registry.register(Tag, { auth: anybody }) }
  })
  for (let round = 0; round < 5; round++) {
    const replies = await Promise.all(Array.from({ length: 20 }, async () =>
      await post('/api/tag/', { name: `tag ${round}` })))
    t.strictSame(count(replies), { 201: 1, 409: 19 })
    for (const reply of replies.filter(({ statusCode }) => statusCode === 409)) {
      t.match(reply.json(), {
        code: 'REST_MODELS_NOT_UNIQUE',
        message: "Another record has the same 'name'",
        details: [{ field: 'name', message: 'is already taken' }]
      })
    }
    t.equal((await get(`/api/tag/?name=tag%20${round}`)).json().objects.length, 1)
  }
})

test('of many updates to one unique value at once one is answered 200, the others 409 naming the field', async (t) => {
  const Tag = defineModel('Tag', { name: text({ unique: true }) })
  const rows = { tag: Array.from({ length: 20 }, (_, index) => ({ id: index + 1, name: `tag ${index}` })) }
  const { put, get } = await buildApp(t, {
    models: [Tag], register: (registry) => { registry.register(Tag, { auth: anybody }) }, rows
  })
  const replies = await Promise.all(rows.tag.map(async ({ id }) => await put(`/api/tag/${id}/`, { name: 'the one' })))
  t.strictSame(count(replies), { 200: 1, 409: 19 })
  for (const reply of replies) {
    if (reply.statusCode === 409) {
      t.match(reply.json(), { code: 'REST_MODELS_NOT_UNIQUE', details: [{ field: 'name' }] })
    }
  }
  t.equal((await get('/api/tag/?name=the+one')).json().objects.length, 1)
})

test('of many deletes of one record at once one is answered 204, the others 404', async (t) => {
  const { db, delete: remove, rowsOf } = await buildApp(t)
  for (let round = 1; round <= 5; round++) {
    await insert(db, { message: [{ id: round, user_id: 2, content: 'x' }] })
    const replies = await Promise.all(Array.from({ length: 20 }, async () =>
      await remove(`/api/message/${round}/`, { as: 'alice' })))
    t.strictSame(count(replies), { 204: 1, 404: 19 })
  }
  t.strictSame(await rowsOf('message'), [])
})

test('of many updates of one record at once each answers what it wrote; of each field the last stays', async (t) => {
  const Counter = defineModel('Counter', {
    first: integer({ default: 0 }), second: integer({ default: 0 }), third: text({ default: 'untouched' })
  })
  const { get, put } = await buildApp(t, {
    models: [Counter],
    register: (registry) => { registry.register(Counter, { auth: anybody }) },
    rows: { counter: [{ id: 1 }] }
  })
  for (let round = 1; round <= 5; round++) {
    const bodies =
      Array.from({ length: 20 }, (_, index) => ({ [index % 2 === 0 ? 'first' : 'second']: round * 100 + index }))
    const replies = await Promise.all(bodies.map(async (body) => await put('/api/counter/1/', body)))
    t.strictSame(count(replies), { 200: 20 })
    t.strictSame(
      replies.map((reply, index) => ({ ...reply.json(), ...bodies[index] })), replies.map((reply) => reply.json()),
      'each answer shows what its request wrote'
    )
    const { first, second, third } = (await get('/api/counter/1/')).json()
    t.ok(
      bodies.some((body) => body['first'] === first) && bodies.some((body) => body['second'] === second),
      `${first} and ${second} were written in this round`
    )
    t.equal(third, 'untouched')
  }
})

test('creates and deletes of records that refer to each other leave no reference to nothing', async (t) => {
  const { db, post, delete: remove } = await buildApp(t, {
    register: (registry) => {
      registry.register(User, { auth: anybody, exclude: ['password'], path: 'account' })
        .register(Link, { auth: anybody })
    },
    models: [User, Link]
  })
  for (let round = 0; round < 10; round++) {
    await insert(db, { user: [{ id: 100 + round, username: `user ${round}`, password: 'x', email: 'x' }] })
    const [removed, ...created] = await Promise.all([
      remove(`/api/account/${100 + round}/`),
      ...[1, 2, 3].map(async () => await post('/api/link/', { user: 100 + round }))
    ])
    const isGone = removed.statusCode === 204
    t.ok([204, 409].includes(removed.statusCode), `${removed.statusCode} ${removed.body}`)
    for (const reply of created) {
      t.ok((isGone ? [400] : [201, 400]).includes(reply.statusCode), `${reply.statusCode} ${reply.body}`)
    }
    if (!isGone) {
      t.ok(created.some(({ statusCode }) => statusCode === 201), 'somebody refers to what could not be deleted')
    }
  }
  const dangling = await db.selectFrom('link').leftJoin('user', 'user.id', 'link.user_id').where('user.id', 'is', null)
    .select('link.id').execute()
  t.strictSame(dangling, [])
})

test('a new password, deactivation, demotion or deletion in the database counts on the next request', async (t) => {
  const { db, post, put } = await buildApp(t)
  const change = async (id: number, values: Record<string, unknown>) =>
    await db.updateTable('user').set(values).where('id', '=', id).execute()
  const writes = async (name: string, password = name) => count(await Promise.all(Array.from({ length: 10 }, async () =>
    await post('/api/message/', { content: 'x' }, { as: [name, password] }))))

  t.strictSame(await writes('alice'), { 201: 10 })
  await change(2, { password: await hash('changed') })
  t.strictSame(await writes('alice'), { 401: 10 }, 'the former password')
  t.strictSame(await writes('alice', 'changed'), { 201: 10 })
  await change(2, { active: boolean(false) })
  t.strictSame(await writes('alice', 'changed'), { 401: 10 }, 'deactivated')
  await change(2, { active: boolean(true), username: 'alicia' })
  t.strictSame(await writes('alice', 'changed'), { 401: 10 }, 'the former name')
  t.strictSame(await writes('alicia', 'changed'), { 201: 10 })

  const promote = async () => (await put('/api/user/3/', { email: 'new' }, { as: 'admin' })).statusCode
  t.equal(await promote(), 200)
  await change(1, { admin: boolean(false) })
  t.equal(await promote(), 403, 'demoted')
  await db.deleteFrom('user').where('id', '=', 1).execute()
  t.equal(await promote(), 401, 'deleted')
})

test('a user who is deactivated during many requests writes nothing that was begun afterwards', async (t) => {
  const { db, post, rowsOf } = await buildApp(t)
  t.equal((await post('/api/message/', { content: 'before' }, { as: 'alice' })).statusCode, 201)
  const state = { isOver: false }
  const sent: Array<Promise<{ statusCode: number, begunAfter: boolean }>> = []
  const send = (): void => {
    const begunAfter = state.isOver
    sent.push(post('/api/message/', { content: 'during' }, { as: 'alice' })
      .then(({ statusCode }) => ({ statusCode, begunAfter })))
  }
  for (let index = 0; index < 10; index++) send()
  await turns(4)
  const deactivation = db.updateTable('user').set({ active: boolean(false) }).where('id', '=', 2).execute()
    .then(() => { state.isOver = true })
  for (let index = 0; index < 60 || !state.isOver; index++) {
    send()
    await turn()
  }
  await deactivation
  sent.push(...Array.from({ length: 10 }, async () => {
    const { statusCode } = await post('/api/message/', { content: 'after' }, { as: 'alice' })
    return { statusCode, begunAfter: true }
  }))
  const answers = await Promise.all(sent)
  t.strictSame(count(answers.filter(({ begunAfter }) => begunAfter)), {
    401: answers.filter(({ begunAfter }) => begunAfter).length
  })
  t.ok(answers.every(({ statusCode }) => [201, 401].includes(statusCode)))
  const { 201: written = 0 } = count(answers)
  t.equal((await rowsOf('message')).length, written + 1)
  t.notOk((await rowsOf('message')).some((row) => (row as { content: string }).content === 'after'))
  t.comment(count(answers))
})

test('D-272: two updates of the whole record at the same moment are one after the other, as answered', async (t) => {
  const fields = () => ({
    a: text(), note: text({ nullable: true }), count: integer(), done: flag(), state: text({ enum: ['on', 'off'] })
  })
  const Plain = defineModel('Plain', fields())
  const Timed = defineModel('Timed', { ...fields(), at: datetime({ onUpdate: 'now', default: 'now' }) })
  const auth = openAuth()
  const { post, put, get } = await buildApp(t, {
    models: [Plain, Timed],
    register: (registry) => {
      registry.register(Plain, { auth })
      registry.register(Plain, { auth, path: 'after', afterWrite: async () => {} })
      registry.register(Plain, { auth, path: 'before', beforeWrite: async () => { await sleep(2) } })
      registry.register(Timed, { auth })
    }
  })
  const stored = { a: '0', note: null, count: 0, done: false, state: 'on' }
  const bodies = [{ ...stored, a: '1', done: true }, { ...stored, note: 'x', count: 1, state: 'off' }]
  for (const path of ['plain', 'after', 'before', 'timed'].flatMap((path) => [path, path, path])) {
    const { id } = (await post(`/api/${path}/`, stored)).json()
    const replies = await Promise.all(bodies.map(async (body) => (await put(`/api/${path}/${id}/`, body)).json()))
    t.match(replies, bodies, path)
    const end = (await get(`/api/${path}/${id}/`)).json()
    t.ok(replies.some((reply) => isDeepStrictEqual({ ...reply, at: '' }, { ...end, at: '' })), path)
  }
})

test('D-272: a hook that is called again gets the values that differ from the newer record', async (t) => {
  const Pair = defineModel('Pair', { a: text(), b: text() })
  const seen: unknown[] = []
  const { post, put } = await buildApp(t, {
    models: [Pair],
    register: (registry) => {
      registry.register(Pair, {
        auth: openAuth(),
        beforeWrite: async ({ stored, values }) => {
          if (stored !== undefined) seen.push([stored.a + stored.b, values])
          await sleep(2)
        }
      })
    }
  })
  await post('/api/pair/', { a: '0', b: '0' })
  await Promise.all([{ a: '1', b: '0' }, { a: '0', b: '1' }].map(async (body) => await put('/api/pair/1/', body)))
  t.strictSame(new Set(seen), new Set([['00', { a: '1' }], ['10', { a: '0', b: '1' }]]))
})

const Task = defineModel('Task', {
  state: text({ default: 'draft' }),
  price: decimal({ default: '1.00' }),
  due: datetime({ nullable: true }),
  note: text({ default: 'n' }),
  at: datetime({ onUpdate: 'now', nullable: true })
})

/** An app with resources of one model that have hooks, and the calls of these hooks for updates. */
async function buildTasks (t: Test) {
  const calls: unknown[] = []
  const afterWrite = ({ stored, record }: FinishedWrite<typeof Task>): void => {
    if (stored !== undefined) calls.push([stored.state, record.state])
  }
  const beforeWrite = async ({ stored, values }: PlannedWrite<typeof Task>): Promise<void> => {
    await sleep(2)
    if (stored !== undefined) calls.push(Object.keys(values))
  }
  const app = await buildApp(t, {
    models: [Task],
    register: (registry) => {
      const options = { auth: openAuth(), exclude: ['note'], etag: true } as const
      registry.register(Task, { ...options, path: 'plain' })
      registry.register(Task, { ...options, path: 'after', afterWrite })
      registry.register(Task, { ...options, path: 'before', beforeWrite })
      registry.register(Task, { ...options, path: 'both', beforeWrite, afterWrite })
    }
  })
  return { ...app, calls }
}

test('a record that is deleted and created again while a write waits for it is written, or is not found', async (t) => {
  const { db, post, put, delete: remove, rowsOf } = await buildTasks(t)
  for (const path of ['plain', 'after', 'before', 'both']) {
    for (const write of [async (url: string) => await put(url, { state: 'placed' }), remove]) {
      const { id } = (await post('/api/plain/', {})).json()
      const [row] = (await rowsOf('task')).slice(-1)
      const { reply } = await db.transaction().execute(async (transaction) => {
        await transaction.deleteFrom('task').where('id', '=', id).execute()
        await transaction.insertInto('task').values(row as object).execute()
        const reply = write(`/api/${path}/${id}/`)
        await sleep(100)
        return { reply }
      })
      const { statusCode, body } = await reply
      t.ok([200, 204, 404].includes(statusCode), `${path}: ${statusCode} ${body}`)
    }
  }
})

test('a record that is created again when a write has not found it is written, or is not found', async (t) => {
  const { db, post, put, delete: remove, rowsOf } = await buildTasks(t)
  const next: Array<readonly [before: RegExp, query: CompiledQuery]> = []
  await beforeStatements(t, db, async (text, execute) => {
    if (next[0]?.[0].test(text) !== true) return
    const [[, query]] = next.splice(0, 1) as [typeof next[0]]
    await execute(query)
  })
  for (const [path, statement] of [['plain', /^(update|delete)/], ['before', /^select/]] as const) {
    for (const write of [async (url: string) => await put(url, { state: 'placed' }), remove]) {
      const { id } = (await post('/api/plain/', {})).json()
      const [row] = (await rowsOf('task')).slice(-1)
      if (path === 'before') next.push([statement, sql`select 1`.compile(db)])
      next.push([statement, db.deleteFrom('task').where('id', '=', id).compile()])
      next.push([/^select/, db.insertInto('task').values(row as object).compile()])
      const { statusCode, body } = await write(`/api/${path}/${id}/`)
      t.ok([200, 204, 404].includes(statusCode), `${path}: ${statusCode} ${body}`)
      t.equal(next.length, 0)
    }
  }
})

test('D-272: of equal updates at the same moment one writes and calls the hooks', async (t) => {
  const { post, put, calls, statements, forget } = await buildTasks(t)
  const body = { state: 'placed', price: '2.50', due: '2024-01-01 00:00:00' }
  const [before, after] = [[...Object.keys(body), 'at'], ['draft', 'placed']]
  for (const [path, expected] of [['after', [after]], ['before', [before]], ['both', [before, after]]] as const) {
    const { id } = (await post(`/api/${path}/`, {})).json()
    calls.length = 0
    forget()
    const replies = await Promise.all(Array.from({ length: 30 }, async () => await put(`/api/${path}/${id}/`, body)))
    t.strictSame(count(replies), { 200: 30 }, path)
    for (const reply of replies) t.match(reply.json(), body, path)
    t.strictSame(calls, expected, path)
    t.equal(statements.filter(({ sql }) => sql.startsWith('update')).length, 1, 'the moment of the update is kept')
  }
})

test('D-272: of equal updates at the same moment with If-Match one is a 200, the others are a 412', async (t) => {
  const { post, put, calls } = await buildTasks(t)
  for (const path of ['after', 'before', 'both']) {
    const created = await post(`/api/${path}/`, {})
    const headers = { 'if-match': String(created.headers['etag']) }
    calls.length = 0
    const replies = await Promise.all(Array.from({ length: 20 }, async () =>
      await put(`/api/${path}/${created.json().id}/`, { state: 'placed' }, { headers })))
    t.strictSame(count(replies), { 200: 1, 412: 19 }, path)
    t.equal(calls.length, path === 'both' ? 2 : 1)
  }
})

test('D-272: updates of a hidden field are all written, also if they are equal', async (t) => {
  const { post, put, calls } = await buildTasks(t)
  const { id } = (await post('/api/both/', {})).json()
  const replies = await Promise.all(Array.from({ length: 5 }, async () => await put(`/api/both/${id}/`, { note: 'x' })))
  t.strictSame(count(replies), { 200: 5 })
  t.equal(calls.length, 10)
})

test('D-272: a record that repeats an update when beforeWrite would be called, and not any more when it is locked',
  async (t) => {
    const { db, post, put, calls } = await buildTasks(t)
    const { id } = (await post('/api/both/', {})).json()
    const setState = (state: string) => db.updateTable('task').set({ state }).where('id', '=', id).compile()
    let reads = 0
    await beforeStatements(t, db, async (text, execute) => {
      if (!/^select .*from ["`]task/.test(text)) return
      reads++
      if (reads === 2) await execute(setState('placed'))
      if (reads === 3) await execute(setState('other'))
    })
    t.match((await put(`/api/both/${id}/`, { state: 'placed' })).json(), { state: 'placed' })
    t.strictSame(calls, [['state', 'at'], ['other', 'placed']])
  })
