import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { setTimeout as pause } from 'node:timers/promises'
import { queryObjects } from 'node:v8'
import Fastify from 'fastify'
import { sql } from 'kysely'
import { test, type Test } from 'tap'
import restModels, {
  createTables, datetime, defineModel, foreignKey, integer, invalidRecord, json, openAuth, text, uuid, type Policy,
  type ResourceOptions
} from '../../lib/index.js'
import { RecordTurns, turnsOf } from '../../lib/database/record-turns.js'
import { Semaphore } from '../../lib/engines/semaphore.js'
import { NoConnection, notSent, markDriverFailure } from '../../lib/engines/statement-failure.js'
import { openProxy } from '../failover/tcp-proxy.js'
import { emptyDatabase, engine, openUrl } from '../support/database.js'
import { waitFor } from '../support/engines/wait-for.js'
import { beforeStatements } from '../support/interleaving.js'
import { buildApp, client, User, type BuildOptions, type TestApp } from '../support/site.js'

const open = openAuth()
const Item = defineModel('Item', {
  id: uuid(),
  company: integer({ default: 1 }),
  name: text({ maxLength: 40 }),
  buyer: foreignKey(() => User, { nullable: true }),
  count: integer({ default: 0 }),
  due: datetime({ nullable: true }),
  data: json({ nullable: true })
}, { unique: [['company', 'name']] })
const Outbox = defineModel('Outbox', { topic: text() })
const Plain = defineModel('Plain', { name: text() })

type Hooks = ResourceOptions<typeof Item, typeof open>
type After = NonNullable<Hooks['afterWrite']>

const outbox: After = async ({ operation, db }) => {
  await db.insertInto('outbox').values({ topic: operation }).execute()
}
const [first, second] = ['00000000-0000-7000-8000-000000000001', '00000000-0000-7000-8000-000000000002']
const item = (id: string, name: string) => ({ id, company: 1, name, buyer_id: null, count: 1, due: null, data: null })

async function shop (t: Test, hooks: Hooks, options: BuildOptions = {}): Promise<TestApp> {
  return await buildApp(t, {
    models: [User, Item, Outbox, Plain],
    rows: { item: [item(String(first), 'a'), item(String(second), 'b')] },
    register: (registry) => {
      registry.register(Item, { auth: open, ...hooks })
      registry.register(Plain, { auth: open })
    },
    undocumented: 'a hook may throw what is no error',
    ...options
  })
}

const path = `/api/item/${first}/`
const isFirst = (row: unknown): boolean => (row as { readonly id: string }).id === first

async function statementsOf (app: TestApp, act: () => Promise<{ readonly statusCode: number }>): Promise<string[]> {
  app.forget()
  const { statusCode } = await act()
  if (statusCode >= 300) throw new Error(String(statusCode))
  return app.statements.map((query) => query.sql.split(' ')[0] ?? '')
}

test('D-157: a write with hooks costs its transaction, the lock and what the hook asks', async (t) => {
  const app = await shop(t, { afterWrite: outbox })
  const reread = engine === 'mariadb' ? ['select'] : []
  t.same(await statementsOf(app, async () => await app.post('/api/item/', { name: 'c' })), [
    'begin', 'insert', 'insert', 'commit'
  ])
  t.same(await statementsOf(app, async () => await app.put(path, { name: 'd' })), [
    'select', 'begin', 'select', 'update', ...reread, 'insert', 'commit'
  ])
  t.same(await statementsOf(app, async () => await app.delete(path)), [
    'select', 'begin', 'select', 'delete', 'insert', 'commit'
  ])
  t.same(await statementsOf(app, async () => await app.put(`/api/item/${second}/`, { name: 'b' })), ['select'])
})

test('D-156: beforeWrite alone costs a create nothing but the check of its references', async (t) => {
  const app = await shop(t, { beforeWrite: () => {} })
  t.same(await statementsOf(app, async () => await app.post('/api/item/', { name: 'c' })), ['insert'])
  t.same(
    (await statementsOf(app, async () => await app.post('/api/item/', { name: 'e', buyer: 2 }))).at(-1), 'insert'
  )
  t.same(await statementsOf(app, async () => await app.post('/api/plain/', { name: 'c' })), ['insert'])
})

test('D-156: a hook may put back what a client sets to null', async (t) => {
  const app = await shop(t, { beforeWrite: ({ stored }) => stored && { buyer_id: stored.buyer_id } })
  t.match((await app.post('/api/item/', { name: 'c', buyer: 2 })).json(), { buyer_id: 2 })
  const [{ id }] = (await app.db.selectFrom('item').select('id').where('name', '=', 'c').execute()) as [{ id: string }]
  t.match((await app.put(`/api/item/${id}/`, { buyer: null, count: 9 })).json(), { buyer_id: 2, count: 9 })
})

test('D-156: an update whose hook puts everything back writes nothing', async (t) => {
  const Page = defineModel('Page', {
    title: text(),
    secret: text({ default: 's' }),
    count: integer({ default: 0 }),
    at: datetime({ default: 'now', onUpdate: 'now' })
  })
  let isBack = true
  const at = '2020-01-01 00:00:00'
  const app = await buildApp(t, {
    models: [User, Page, Outbox],
    rows: { page: [{ id: 1, title: 'a', secret: 's', count: 1, at }] },
    register: (registry) => {
      registry.register(Page, {
        auth: open,
        exclude: ['secret'],
        beforeWrite: ({ stored }) => stored && (isBack ? { title: stored.title, secret: stored.secret } : { count: 2 }),
        afterWrite: async ({ db }) => { await db.insertInto('outbox').values({ topic: 'page' }).execute() }
      })
    }
  })
  const back = await statementsOf(app, async () => await app.put('/api/page/1/', { title: 'c' }))
  t.same(back, ['select', 'select', 'begin', 'select', 'commit'])
  t.strictSame(await app.rowsOf('page'), [{ id: 1, title: 'a', secret: 's', count: 1, at }])
  t.same(await app.rowsOf('outbox'), [])
  t.same((await app.put('/api/page/1/', { title: 'c' })).json(), { id: 1, title: 'a', count: 1, at })
  isBack = false
  const changed = (await app.put('/api/page/1/', { title: 'c' })).json<Record<string, unknown>>()
  t.match(changed, { title: 'c', count: 2 })
  t.not(changed['at'], at)
  t.equal((await app.rowsOf('outbox')).length, 1)
})

test('D-156: an update that its hook takes back is written if the record changes before the lock', async (t) => {
  let calls = 0
  const app = await shop(t, {
    beforeWrite: async ({ stored }) => {
      if (stored === undefined) return
      if (calls++ === 0) await app.db.updateTable('item').set({ count: 5 }).where('id', '=', String(first)).execute()
      return stored.count === 1 ? { name: stored.name } : { name: 'other' }
    },
    afterWrite: outbox
  })
  t.match((await app.put(path, { name: 'c' })).json(), { name: 'other', count: 5 })
  t.equal(calls, 2)
  t.equal((await app.rowsOf('outbox')).length, 1)
})

test('D-156: what a hook does to its arguments changes neither the write nor the answer', async (t) => {
  const app = await shop(t, {
    beforeWrite: ({ values, stored, user }) => {
      t.equal(user, null)
      Object.assign(values, { name: 'changed', unknown: 1 })
      ;(values.data as unknown as number[] | undefined)?.push(3)
      Object.assign(stored ?? {}, { id: 'x', name: 'changed' })
    },
    afterWrite: ({ record }) => {
      Object.assign(record, { name: 'changed' })
      ;(record.data as unknown as number[] | null)?.push(4)
    }
  })
  const written = [
    await app.post('/api/item/', { name: 'c', data: [1] }), await app.put(path, { data: [2] }), await app.get(path)
  ].map((answer) => answer.json<Record<string, unknown>>())
  t.same(written.map(({ name, data }) => [name, data]), [['c', [1]], ['a', [2]], ['a', [2]]])
})

test('D-156: whatever a hook returns, the answer is a status, and nothing wrong is stored', async (t) => {
  let returned: unknown
  const app = await shop(t, { beforeWrite: () => returned as undefined })
  const cyclic: unknown[] = []
  cyclic.push(cyclic)
  const hostile: ReadonlyArray<readonly [string, unknown, readonly number[]]> = [
    ['a date', { due: new Date(0) }, [400]],
    ['a promise', { name: Promise.resolve('x') }, [500]],
    ['a function', { name: () => 'x' }, [400]],
    ['a symbol', { name: Symbol('x') }, [400]],
    ['a bigint', { count: 1n }, [400]],
    ['NaN', { count: NaN }, [400]],
    ['a text that is too long', { name: 'x'.repeat(1e6) }, [400]],
    ['NUL', { name: 'a\0b' }, [400]],
    ['half a surrogate pair', { name: '\ud800' }, [400]],
    ['a cycle', { data: cyclic }, [400]],
    ['deep JSON', { data: JSON.parse('['.repeat(5000) + ']'.repeat(5000)) as unknown }, [400]],
    ['a bigint in JSON', { data: { a: 1n } }, [400]],
    ['__proto__', JSON.parse('{"__proto__":{"name":"x"}}'), [500]],
    ['constructor', { constructor: 1 }, [500]],
    ['both names of a foreign key', { buyer: 2, buyer_id: 3 }, [400, 500]],
    ['a reference to nothing', { buyer: 99 }, [400, 409, 500]],
    ['a getter that throws', { get name () { throw new Error('secret') } }, [500]],
    ['a number', 7, [500]],
    ['a text', 'name', [500]],
    ['a list', [{ name: 'x' }], [500]],
    ['a map', new Map([['name', 'x']]), [500]],
    ['a set', new Set(['name']), [500]],
    ['a date in place of the values', new Date(0), [500]],
    ['a function in place of the values', () => ({ name: 'x' }), [500]],
    ['a function for JSON', { data: () => 1 }, [400]],
    ['a symbol for JSON', { data: Symbol('x') }, [400]],
    ['a bigint for JSON', { data: 1n }, [400]],
    ['NaN in JSON', { data: [NaN] }, [400]],
    ['a map for JSON', { data: new Map([[1, 2]]) }, [400]],
    ['a date in JSON', { data: { at: new Date(0) } }, [400]],
    ['a boxed boolean for JSON', { data: Object(true) as unknown }, [400]],
    ['a function in JSON', { data: { a: () => 1 } }, [400]],
    ['undefined in a list of JSON', { data: [undefined] }, [400]],
    ['a list of JSON with a hole', { data: Array(3) }, [400]],
    ['an object that shows other JSON', { data: Object.create({ toJSON: () => 1 }) as unknown }, [400]]
  ]
  for (const [what, value, statuses] of hostile) {
    returned = value
    for (const answer of [await app.post('/api/item/', { name: 'c' }), await app.put(path, { count: 7 })]) {
      t.ok(statuses.includes(answer.statusCode), `${what}: ${answer.statusCode} ${answer.body}`)
      t.notMatch(answer.body, /secret/)
    }
  }
  t.match(await app.db.selectFrom('item').select(['name', 'count']).orderBy('id').execute(), [
    { name: 'a', count: 1 }, { name: 'b', count: 1 }
  ])
  returned = Object.create({ name: 'inherited' })
  t.match((await app.put(path, { count: 8 })).json(), { name: 'a', count: 8 })
  t.notOk('name' in {}, 'no prototype was changed')
})

test('D-156: a clash that a hook causes is explained like one of the client', async (t) => {
  const app = await shop(t, { beforeWrite: () => ({ name: 'b' }), afterWrite: outbox })
  for (const answer of [await app.post('/api/item/', { name: 'c' }), await app.put(path, { name: 'c' })]) {
    t.match(answer.json(), { statusCode: 409, details: [{ field: 'company' }, { field: 'name' }] })
  }
  t.same(await app.rowsOf('outbox'), [])
})

/** What a database throws that cannot execute a statement now. */
const busy = {
  sqlite: { code: 'SQLITE_SCHEMA' },
  postgres: { code: '40001', severity: 'ERROR' },
  mariadb: { code: 'ER_LOCK_DEADLOCK', errno: 1213, sqlState: '40001' }
}[engine]

test('D-157: a hook may throw anything', async (t) => {
  let thrown: unknown
  const hooks: Hooks[] = [
    { beforeWrite: () => { throw thrown } }, { afterWrite: async (write) => { await outbox(write); throw thrown } }
  ]
  for (const hook of hooks) {
    const app = await shop(t, hook)
    const hostile: ReadonlyArray<readonly [unknown, number]> = [
      [null, 500], [undefined, 500], ['secret', 500], [7, 500], [Symbol('x'), 500], [{}, 500],
      [{ statusCode: 204 }, 500], [{ statusCode: 418, message: 'tea' }, 418], [{ statusCode: 503 }, 500],
      [Object.assign(new Error('secret'), { statusCode: 200 }), 500],
      [Object.assign(new Error('secret'), { statusCode: '404' }), 500],
      [Object.freeze(Object.assign(new Error('closed'), { statusCode: 409 })), 409],
      [Object.assign(new Error('secret'), { code: 'SQLITE_CONSTRAINT_UNIQUE' }), 500],
      [Object.assign(new Error('secret'), { code: '40001', errno: 1213 }), 500],
      [new Proxy({}, { get () { throw new Error('secret') } }), 500]
    ]
    for (const [index, [value, status]] of hostile.entries()) {
      thrown = value
      for (const answer of [await app.post('/api/item/', { name: 'c' }), await app.put(path, { count: 7 })]) {
        t.equal(answer.statusCode, status, `${index}: ${answer.body}`)
        t.notMatch(answer.body, /secret/)
      }
    }
    t.match(await app.db.selectFrom('item').select('count').execute(), [{ count: 1 }, { count: 1 }])
    t.same(await app.rowsOf('outbox'), [])
  }
})

test('D-62: hooks that lock each other out are repeated, and nothing is doubled', async (t) => {
  const other = (id: unknown) => id === first ? second : first
  const app = await shop(t, {
    afterWrite: async (write) => {
      await outbox(write)
      await new Promise((resolve) => setTimeout(resolve, 50))
      await write.db.updateTable('item').set(({ eb }) => ({ count: eb('count', '+', 10) }))
        .where('id', '=', String(other(write.record.id))).execute()
    }
  })
  const answers = await Promise.all([first, second].map(async (id) => await app.put(`/api/item/${id}/`, { name: id })))
  t.same(answers.map(({ statusCode }) => statusCode), [200, 200])
  t.same(await app.db.selectFrom('item').select('count').execute(), [{ count: 11 }, { count: 11 }])
  t.equal((await app.rowsOf('outbox')).length, 2)
})

test('D-62: a hook that catches a deadlock stores nothing afterwards, and is called again', async (t) => {
  const other = (id: unknown) => id === first ? second : first
  const refuse = (): never => { throw invalidRecord({ name: 'must be another' }) }
  for (const act of [() => {}, refuse]) {
    const app = await shop(t, {
      afterWrite: async (write) => {
        await new Promise((resolve) => setTimeout(resolve, 50))
        await write.db.updateTable('item').set(({ eb }) => ({ count: eb('count', '+', 10) }))
          .where('id', '=', String(other(write.record.id))).execute().catch(act)
        await Promise.resolve(outbox(write)).catch(() => {})
      }
    })
    // Twice, because a server gives the two connections one after the other when they are first needed.
    for (const [name, count] of [['x', 11], ['y', 21]] as const) {
      const answers = await Promise.all([first, second].map(async (id) =>
        await app.put(`/api/item/${id}/`, { name: `${name} ${id}` })))
      t.same(answers.map(({ statusCode }) => statusCode), [200, 200])
      t.same(await app.db.selectFrom('item').select('count').execute(), [{ count }, { count }])
    }
    t.equal((await app.rowsOf('outbox')).length, 4)
  }
})

/** Returns a function that makes the next insert of a hook into its outbox fail, once, with what it is given. */
async function failNext (t: Test, { db }: TestApp): Promise<(failure: object) => void> {
  let next: object | undefined
  await beforeStatements(t, db, (text) => {
    if (next === undefined || !/^insert into .outbox/.test(text)) return
    const failure = next
    next = undefined
    throw failure
  })
  return (failure) => { next = failure }
}

test('D-227: the event of a repeated write with afterWrite names its operation and resource', async (t) => {
  const messages: unknown[] = []
  const note = (message: unknown): void => { messages.push(message) }
  subscribe('fastify-rest-models:retry', note)
  t.teardown(() => { unsubscribe('fastify-rest-models:retry', note) })
  const app = await shop(t, { afterWrite: outbox })
  const fail = await failNext(t, app)
  for (const [operation, send] of [
    ['create', async () => await app.post('/api/item/', { name: 'c' })],
    ['lock', async () => await app.put(path, { name: 'd' })],
    ['lock', async () => await app.delete(path)]
  ] as const) {
    messages.length = 0
    fail(Object.assign(new Error('busy'), busy))
    t.ok((await send()).statusCode < 300)
    t.match(messages, [{ operation, resource: 'item', outcome: 'done', attempts: 2 }])
  }
})

/** What a database throws for a table that is missing, for a value that a check refuses, and if it does not serve. */
const [missing, refused, away] = {
  sqlite: [{ code: 'SQLITE_ERROR' }, { code: 'SQLITE_CONSTRAINT_CHECK' }, { code: 'SQLITE_IOERR_READ' }],
  postgres: ['42P01', '23514', '57014'].map((code) => ({ code, severity: 'ERROR' })),
  mariadb: [[1146, '42S02'], [4025, '23000'], [1969, '70100']].map(([errno, sqlState]) => ({ errno, sqlState }))
}[engine]

test('D-157: what a hook throws is the answer, unless a statement is to be repeated or found an outage', async (t) => {
  const app = await shop(t, {
    afterWrite: async (write) => {
      try {
        await outbox(write)
      } catch {
        throw invalidRecord({ name: 'must be another' })
      }
    }
  })
  const fail = await failNext(t, app)
  const writes = [
    async () => await app.post('/api/item/', { name: 'c' }), async () => await app.put(path, { name: 'd' }),
    async () => await app.delete(path)
  ]
  for (const [failure, statuses, stored] of [
    [missing, [400, 400, 400], 0], [refused, [400, 400, 400], 0], [away, [503, 503, 503], 0], [busy, [201, 200, 204], 3]
  ] as const) {
    const answers: number[] = []
    for (const write of writes) {
      fail(Object.assign(new Error('secret'), failure))
      answers.push((await write()).statusCode)
    }
    t.same(answers, statuses, JSON.stringify(failure))
    t.equal((await app.rowsOf('outbox')).length, stored)
  }
})

const onServer = { skip: engine === 'sqlite' && 'SQLite has no connection to lose' }

test('D-269: parallel writes of one record, whose beforeWrite reads by the db of the app, go one by one', async (t) => {
  const app: TestApp = await shop(t, {
    beforeWrite: async ({ stored }) => {
      await app.db.selectFrom('outbox').selectAll().execute()
      return { count: Number(stored?.count) + 1 }
    }
  })
  const start = performance.now()
  const answers = await Promise.all(Array.from({ length: 24 }, async (_, index) =>
    await app.put(path, { name: `name ${index}` })))
  t.same(answers.map(({ statusCode }) => statusCode), answers.map(() => 200))
  t.ok(performance.now() - start < 2000, 'none waits until another one gives up')
  t.match((await app.rowsOf('item')).find(isFirst), { count: 25 })
  const ends = await Promise.all([1, 2, 3].map(async () => await app.delete(path)))
  t.same(ends.map(({ statusCode }) => statusCode).toSorted((a, b) => a - b), [204, 404, 404])
})

test('D-269: writes by two registrations of the plugin on one Kysely instance wait for each other, too', async (t) => {
  let calls = 0
  const hooks: Hooks = {
    beforeWrite: async ({ stored }) => {
      calls++
      await pause(5)
      await app.db.selectFrom('outbox').selectAll().execute()
      return { count: Number(stored?.count) + 1 }
    }
  }
  const app = await shop(t, hooks)
  const otherApp = Fastify()
  t.teardown(async () => { await otherApp.close() })
  await otherApp.register(restModels, { db: app.db })
  otherApp.restModels.register(Item, { auth: open, ...hooks })
  await otherApp.restModels.setup()
  const other = client(otherApp)
  const answers = await Promise.all(Array.from({ length: 12 }, async (_, index) =>
    await (index % 2 === 0 ? app : other).put(path, { name: `name ${index}` })))
  t.same(answers.map(({ statusCode }) => statusCode), answers.map(() => 200))
  t.equal(calls, 12, 'none is called again under the lock')
  t.match((await app.rowsOf('item')).find(isFirst), { count: 13 })
})

test('D-269: a write that waits for others of its record for two seconds is a 503, and changes nothing', async (t) => {
  let calls = 0
  const slowAtFirst = { beforeWrite: async () => { if (calls++ === 0) await pause(2500) } }
  const app = await shop(t, slowAtFirst, { options: { limits: { statementTime: 4000 } } })
  const replies = await Promise.all(['one', 'other'].map(async (name) => await app.put(path, { name })))
  const written = replies.find(({ statusCode }) => statusCode === 200)
  t.match(replies.find((reply) => reply !== written)?.json(), { statusCode: 503, code: 'REST_MODELS_UNAVAILABLE' })
  t.match((await app.rowsOf('item')).find(isFirst), { name: written?.json().name })
  t.equal((await app.put(path, { name: 'next' })).statusCode, 200, 'the turn is free again')
})

test('D-269: on a server, 56 writes of one record run or wait; one more is a 503, others are written', async (t) => {
  let release = (): void => {}
  const released = new Promise<void>((resolve) => { release = resolve })
  const app = await shop(t, { beforeWrite: async ({ stored }) => { if (stored?.id === first) await released } })
  const most = engine === 'sqlite' ? 64 : 56
  let open = 64
  const answers = Promise.all(Array.from({ length: open }, async (_, index) => {
    const { statusCode, headers } = await app.put(path, { count: 100 + index })
    open--
    return [statusCode, headers['retry-after']]
  }))
  t.equal((await app.put(`/api/item/${second}/`, { name: 'other' })).statusCode, 200)
  await waitFor('the refusals', async () => open === most, 1500)
  release()
  const [written, refused] = [200, 503].map(async (wanted) => (await answers).filter(([status]) => status === wanted))
  t.same(await written, Array.from({ length: most }, () => [200, undefined]))
  t.same(await refused, Array.from({ length: 64 - most }, () => [503, '1']))
  t.equal((await app.put(path, { name: 'next' })).statusCode, 200, 'the record is free again')
})

test('D-269: a server refuses the 57th write of a record at once, SQLite none', async (t) => {
  for (const [isEmbedded, refusals] of [[true, 0], [false, 4]] as const) {
    const turns = turnsOf({}, { isEmbedded })
    let release = (): void => {}
    const released = new Promise<void>((resolve) => { release = resolve })
    const writes = Array.from({ length: 60 }, async () => await turns.inTurn('item', 1, async () => await released))
    release()
    const outcomes = await Promise.allSettled(writes)
    t.equal(outcomes.filter(({ status }) => status === 'rejected').length, refusals)
  }
})

test('D-269: nothing is kept of a turn that is over, whether the write succeeded or not', async (t) => {
  const turns = new RecordTurns(Infinity)
  const kept = queryObjects(Semaphore)
  for (let id = 0; id < 100; id++) {
    await Promise.allSettled([1, 2].map(async () => await turns.inTurn('item', id, async () => {
      if (id % 2 === 0) throw new Error('refused')
    })))
  }
  t.equal(queryObjects(Semaphore), kept)
  t.equal(await turns.inTurn('item', 1, async () => 'next'), 'next')
})

/** A policy that asks before it finds the user. */
const asking = (ask: () => Promise<void>): Policy => ({
  open: [],
  authenticator: () => async () => {
    await ask()
    return { id: 1, admin: false }
  },
  permits: () => true
})

test('D-51: a policy or a hook that finds no free connection of the database is a 503 with Retry-After', onServer,
  async (t) => {
    const { url, remove } = await emptyDatabase()
    const db = openUrl(url, { connections: 2 })
    const app = Fastify()
    t.teardown(async () => {
      await app.close()
      await db.destroy()
      await remove()
    })
    await createTables(db, [Plain])
    // Hooks get more time than the pool takes to give up.
    await app.register(restModels, { db, limits: { statementTime: 4000 } })
    const ask = async (): Promise<void> => { await sql`select 1`.execute(db) }
    app.restModels.register(Plain, { auth: asking(ask), path: 'asking' })
    app.restModels.register(Plain, { auth: open, path: 'hooked', beforeWrite: ask })
    await app.restModels.setup()
    const send = async (path: string) => await app.inject({ method: 'POST', url: path, payload: { name: 'x' } })
    let release = (): void => {}
    const ended = new Promise<void>((resolve) => { release = resolve })
    // Of two connections, one is kept for reads.
    const holder = db.connection().execute(async (held) => {
      await sql`select 1`.execute(held)
      await ended
    })
    await pause(100)
    for (const path of ['/api/asking/', '/api/hooked/']) {
      const { statusCode, headers, body } = await send(path)
      t.match({ statusCode, ...headers, body }, {
        statusCode: 503, 'retry-after': '1', body: '"REST_MODELS_UNAVAILABLE"'
      }, path)
    }
    release()
    await holder
    for (const path of ['/api/asking/', '/api/hooked/']) t.equal((await send(path)).statusCode, 201, path)
  })

test('D-51: a connection that is lost in a statement by the db of the app is a 503 with Retry-After', onServer,
  async (t) => {
    const { url, remove } = await emptyDatabase()
    t.teardown(remove)
    const proxy = await openProxy(t, url)
    const db = openUrl(proxy.url, { statementTimeout: 500 })
    const app = Fastify()
    t.teardown(async () => {
      await app.close()
      await db.destroy()
    })
    await createTables(db, [Plain])
    await app.register(restModels, { db, limits: { statementTime: 10_000 } })
    let ask = async (): Promise<void> => {}
    app.restModels.register(Plain, { auth: asking(async () => { await ask() }), path: 'asking' })
    app.restModels.register(Plain, { auth: open, path: 'hooked', beforeWrite: async () => { await ask() } })
    await app.restModels.setup()
    const send = async (path: string) => await app.inject({ method: 'POST', url: path, payload: { name: 'x' } })
    const losing = sql`select 'lost' as answer`
    const ways = {
      cut: async () => { await losing.execute(db) },
      'cut in a transaction': async () => {
        await db.transaction().execute(async (transaction) => { await losing.execute(transaction) })
      },
      frozen: async () => {
        await db.connection().execute(async (held) => {
          proxy.freezeOpen()
          await sql`select 'frozen' as answer`.execute(held)
        })
      }
    }
    proxy.cutBehind("'lost'")
    for (const [how, lose] of Object.entries(ways)) {
      for (const path of ['/api/asking/', '/api/hooked/']) {
        ask = lose
        const { statusCode, headers, body } = await send(path)
        t.match({ statusCode, ...headers, body }, {
          statusCode: 503, 'retry-after': '1', body: '"REST_MODELS_UNAVAILABLE"'
        }, `${path}, ${how}`)
        ask = async () => {}
        t.equal((await send(path)).statusCode, 201, `${path} after ${how}`)
      }
    }
  })

test('D-51: what a policy throws decides the answer, but a database that cannot serve now is a 503', async (t) => {
  let thrown: unknown
  const fileFailure = Object.assign(new Error('secret'), { code: 'ENOENT', syscall: 'open' })
  const ofService = Object.assign(new Error('secret'), { code: 'ECONNRESET', syscall: 'read', fatal: true })
  const auth: Policy = { open: [], authenticator: () => async () => { throw thrown }, permits: () => true }
  const { get } = await buildApp(t, {
    models: [Plain], register: (registry) => { registry.register(Plain, { auth }) }, undocumented: 'a policy may throw'
  })
  for (const [failure, status] of [
    [new Error('secret'), 500], [undefined, 500], [Object.assign(new Error('secret'), { code: '403' }), 500],
    [new Error('secret', { cause: { code: '40001' } }), 500], [fileFailure, 500],
    [ofService, 500], [new Error('Connection terminated unexpectedly'), 500],
    [new NoConnection('secret'), 503], [Object.assign(new Error('secret'), { code: 'SQLITE_CONSTRAINT_UNIQUE' }), 500],
    [Object.assign(new Error('secret'), { code: 'NOT_SENT' }), 500],
    [engine === 'sqlite' ? Object.assign(new Error(), { code: 'SQLITE_BUSY' }) : markDriverFailure(notSent()), 503],
    [Object.assign(new Error('secret'), { statusCode: 418 }), 418], [Object.assign(new Error('secret'), busy), 503],
    [Object.assign(new Error('secret'), busy, { statusCode: 418 }), 418]
  ] as const) {
    thrown = failure
    t.equal((await get('/api/plain/')).statusCode, status)
  }
})

test('D-51: a failure of another database in afterWrite is as in beforeWrite, and the write is undone', async (t) => {
  let thrown: unknown
  const app = await shop(t, {
    afterWrite: async (write) => {
      await outbox(write)
      throw thrown
    }
  })
  for (const [failure, status] of [
    [Object.assign(new Error('secret'), busy), 503], [new NoConnection('secret'), 503], [new Error('secret'), 500],
    [Object.assign(new Error('secret'), busy, { statusCode: 418 }), 418], [undefined, 500]
  ] as const) {
    thrown = failure
    const answers = [
      await app.post('/api/item/', { name: 'c' }), await app.put(path, { count: 7 }), await app.delete(path)
    ]
    t.same(answers.map(({ statusCode }) => statusCode), [status, status, status])
  }
  t.same(await app.rowsOf('outbox'), [])
  t.match(await app.db.selectFrom('item').select('count').execute(), [{ count: 1 }, { count: 1 }])
})

test('R-26: a connection that is lost in a hook is a 503, nothing is half done, and none is used up', onServer,
  async (t) => {
    let isLost = true
    const end = engine === 'postgres' ? sql`select pg_terminate_backend(pg_backend_pid())` : sql`kill connection_id()`
    const app = await shop(t, {
      afterWrite: async (write) => {
        await outbox(write)
        if (isLost) await end.execute(write.db).catch(() => {})
      }
    })
    for (let round = 0; round < 12; round++) {
      for (const answer of [await app.post('/api/item/', { name: 'c' }), await app.put(path, { count: 7 })]) {
        t.match([answer.statusCode, answer.headers['retry-after']], [503, '1'], answer.body)
      }
    }
    isLost = false
    t.same(await app.rowsOf('outbox'), [])
    t.match(await app.db.selectFrom('item').select('count').execute(), [{ count: 1 }, { count: 1 }])
    const served = await Promise.all(Array.from({ length: 30 }, async (_, index) =>
      await app.post('/api/item/', { name: `n${index}` })))
    t.ok(served.every(({ statusCode }) => statusCode === 201), 'all are served')
  })

test('R-41: a hook that keeps the connection is given up in time, and what it sends later is refused', async (t) => {
  let late: unknown
  let isKeeping = true
  const app = await shop(t, {
    afterWrite: ({ db }) => {
      if (!isKeeping) return
      db.getExecutor().provideConnection(async (connection) => {
        await pause(600)
        await connection.executeQuery(db.deleteFrom('item').compile())
      }).catch((failure: unknown) => { late = failure })
    }
  }, { options: { limits: { statementTime: 300 } } })
  const count = (await app.rowsOf('item')).length
  t.equal((await app.post('/api/item/', { name: 'kept' })).statusCode, 503)
  await pause(600)
  t.match(late, { message: /The transaction is over/ })
  isKeeping = false
  t.equal((await app.post('/api/item/', { name: 'after' })).statusCode, 201)
  t.equal((await app.rowsOf('item')).length, count + 1)
})

test('R-41: hooks that hang end, and keep others waiting for two seconds at most on SQLite', async (t) => {
  let isHanging = true
  const app = await shop(t, {
    afterWrite: async (write) => {
      await outbox(write)
      if (isHanging) await new Promise(() => {})
    }
  }, { options: { limits: { statementTime: 1500 } } })
  const start = performance.now()
  const answers = await Promise.all(Array.from({ length: 50 }, async (_, index) =>
    await app.post('/api/item/', { name: `hangs ${index}` })))
  t.same([...new Set(answers.map(({ statusCode }) => statusCode))], [503])
  const took = Math.round(performance.now() - start)
  t.ok(took < (engine === 'sqlite' ? 5000 : 15_000), `after ${took} ms`)
  isHanging = false
  t.equal((await app.post('/api/item/', { name: 'after' })).statusCode, 201)
  t.equal((await app.rowsOf('outbox')).length, 1)
})

test('D-156: a promise in what beforeWrite returns is a 500 that says so, and ends nothing', async (t) => {
  const rejected = (): never => Promise.reject(new Error('not awaited')) as never
  const returned: ReadonlyArray<() => unknown> = [
    () => ({ name: rejected() }), () => ({ data: { a: [rejected()] } }), () => [rejected(), rejected()]
  ]
  for (const beforeWrite of returned) {
    const log: string[] = []
    const app = await shop(t, { beforeWrite: beforeWrite as never }, {
      server: { logger: { level: 'error', stream: { write: (line: string) => { log.push(line) } } } }
    })
    for (const act of [
      () => app.post('/api/item/', { name: 'c' }),
      () => app.put(path, { name: 'c' }), () => app.delete(path)
    ]) {
      t.equal((await act()).statusCode, 500)
      t.match(log.pop(), /beforeWrite of model 'Item' gives a promise for '\w+': an 'await' is missing/)
    }
    t.equal((await app.rowsOf('item')).length, 2, 'nothing is written')
  }
})
