// @once: about SQLite; servers commit for several connections at once by themselves
import { AsyncLocalStorage } from 'node:async_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { CompiledQuery, Kysely, SqliteDialect } from 'kysely'
import { test, type Test } from 'tap'
import { readHandle } from '../../lib/database/engine.js'
import type { OpenTransaction } from '../../lib/database/open-transaction.js'
import { inTransaction, type RunTransaction } from '../../lib/database/transaction.js'
import { TransactionGroups } from '../../lib/database/transaction-groups.js'
import { outcomeUnknown } from '../../lib/errors.js'
import type { Tables } from '../../lib/engines/executor.js'
import { Events } from '../../lib/events/events.js'
import { defineModel, integer, text } from '../../lib/index.js'
import { openSqlite } from '../../lib/sqlite.js'
import { nextTurn, stopClock } from '../support/clock.js'
import { listen } from '../support/listen.js'
import { buildApp } from '../support/site.js'

const schema = [
  'create table word (id integer primary key, text text not null unique)',
  'create table mark (id integer primary key, word_id integer references word deferrable initially deferred)',
  `create trigger word_rollback before insert on word when new.text = 'rollback' begin
    select raise(rollback, 'all is undone'); end`
]

type Statement = (transaction: OpenTransaction) => Promise<unknown>

const run = (sql: string, value: unknown): Statement => async (transaction) =>
  await transaction.execute({ ...CompiledQuery.raw(sql, [value]), label: { operation: 'other', resource: null } })
const add = (word: string): Statement => run('insert into word (text) values (?)', word)
const mark = (word: number): Statement => run('insert into mark (word_id) values (?)', word)
const isDone = ({ status }: PromiseSettledResult<unknown>): boolean => status === 'fulfilled'

/** A database whose next transactions run in a group, and what its events tell from then on. */
async function openWords (t: Test, db: Kysely<Tables> = openSqlite(`${t.testdir()}/words.db`)) {
  const putForward = stopClock(t)
  t.teardown(async () => { await db.destroy() })
  for (const statement of schema) await db.executeQuery(CompiledQuery.raw(statement))
  const handle = readHandle(db)
  const each = async (...works: readonly Statement[]) =>
    await Promise.allSettled(works.map(async (work) => await inTransaction(handle, work)))
  const words = async (): Promise<unknown[]> => (await db.selectFrom('word').select('text').orderBy('id').execute())
    .map((row) => row['text'])
  /** Makes the next turn expect many transactions. */
  const expectMany = async (): Promise<void> => {
    await each(async () => {}, async () => {})
    await nextTurn()
  }
  await expectMany()
  const groups = listen(t, 'fastify-rest-models:group-commit')
  const statements = listen(t, 'fastify-rest-models:statement')
  const commits = (): number => statements.filter(({ operation }) => operation === 'commit').length
  return { db, each, words, groups, commits, putForward }
}

test('D-292: transactions of one event-loop turn have one commit', async (t) => {
  const { each, words, groups, commits } = await openWords(t)
  t.ok((await each(add('a'), add('b'), add('c'))).every(isDone))
  t.same([await words(), commits()], [['a', 'b', 'c'], 1])
  t.match(groups, [{ writes: 3, duration: 0 }])
})

test('D-292: a transaction that comes alone runs at once, without a savepoint', async (t) => {
  const { each, words, groups, commits } = await openWords(t)
  await each(add('a'))
  await nextTurn()
  await each(add('b'))
  t.same([await words(), commits(), groups], [['a', 'b'], 2, []])
})

test('D-292: a transaction that fails is undone alone, with all of its statements', async (t) => {
  const { each, words, commits } = await openWords(t)
  const outcomes = await each(add('a'), async (transaction) => {
    await add('b')(transaction)
    throw new Error('refused')
  }, add('a'), add('c'))
  t.match(outcomes, [
    { status: 'fulfilled' }, { reason: { message: 'refused' } }, { reason: { kind: 'unique' } }, { status: 'fulfilled' }
  ])
  t.same([await words(), commits()], [['a', 'c'], 1])
})

test('D-292: if one ends the transaction of its group, each runs again by itself', async (t) => {
  const { each, words, groups, commits } = await openWords(t)
  let calls = 0
  const outcomes = await each(async (transaction) => {
    calls++
    return await add('a')(transaction)
  }, add('rollback'), add('c'))
  t.match(outcomes, [{ status: 'fulfilled' }, { status: 'rejected' }, { status: 'fulfilled' }])
  t.same([await words(), calls, groups, commits()], [['a', 'c'], 2, [], 2])
})

test('D-292: if a group cannot be committed, each runs again by itself', async (t) => {
  const { each, words, groups } = await openWords(t)
  const outcomes = await each(add('a'), mark(9), add('c'))
  t.match(outcomes, [{ status: 'fulfilled' }, { reason: { kind: 'reference' } }, { status: 'fulfilled' }])
  t.same([await words(), groups], [['a', 'c'], []])
})

test('D-292: after 10 ms, the rest of a group is committed with the next one', async (t) => {
  const { each, words, groups, putForward } = await openWords(t)
  const outcomes = await each(add('a'), async (transaction) => {
    await add('b')(transaction)
    putForward(11)
  }, add('c'), add('d'))
  t.ok(outcomes.every(isDone))
  t.same(await words(), ['a', 'b', 'c', 'd'])
  t.match(groups, [{ writes: 2 }, { writes: 2 }])
})

test('D-292: those that come while one waits for something else are for the next group', async (t) => {
  const { each, words, groups, putForward } = await openWords(t)
  const slow: Statement = async (transaction) => {
    await add('slow')(transaction)
    await sleep(20)
    putForward(20)
  }
  const first = each(add('a'), slow, add('b'))
  await sleep(10)
  t.ok([...await each(add('c'), add('d')), ...await first].every(isDone))
  t.same(await words(), ['a', 'slow', 'b', 'c', 'd'])
  t.match(groups, [{ writes: 2, duration: 20 }, { writes: 3 }])
})

test('D-292: a transaction whose group has not begun after two seconds is refused, and never runs', async (t) => {
  const { db, each, words } = await openWords(t)
  let release = (): void => {}
  const holding = db.connection().execute(async () => await new Promise<void>((resolve) => { release = resolve }))
  const refused = await each(add('a'), add('b'))
  t.match(refused, [1, 2].map(() => ({ reason: { code: 'REST_MODELS_UNAVAILABLE', statusCode: 503 } })))
  const [first, second] = refused.map((outcome) => (outcome as PromiseRejectedResult).reason as Error)
  t.not(first, second, 'a host may add to the error of one request')
  release()
  await holding
  await sleep(10)
  t.ok((await each(add('c'))).every(isDone))
  t.same(await words(), ['c'])
})

test("D-292: Kysely's own driver for SQLite, which throws without a promise, has the same groups", async (t) => {
  const database = new Database(':memory:')
  database.pragma('foreign_keys = on')
  const { each, words } = await openWords(t, new Kysely({ dialect: new SqliteDialect({ database }) }))
  t.match(await each(add('a'), add('rollback'), add('b'), add('b')), [
    { status: 'fulfilled' }, { status: 'rejected' }, { status: 'fulfilled' }, { reason: { kind: 'unique' } }
  ])
  t.same(await words(), ['a', 'b'])
})

test('D-292: each transaction of a group sees the AsyncLocalStorage of its own request', async (t) => {
  const { each } = await openWords(t)
  const storage = new AsyncLocalStorage<number>()
  const outcomes = await Promise.all([1, 2, 3].map(async (request) =>
    await storage.run(request, async () => await each(async () => storage.getStore()))))
  t.match(outcomes, [[{ value: 1 }], [{ value: 2 }], [{ value: 3 }]])
})

test('D-292: if a group cannot begin, each of its transactions fails', async (t) => {
  const { db, each } = await openWords(t)
  let calls = 0
  const count: Statement = async () => { calls++ }
  const outcomes = each(count, count)
  await db.destroy()
  t.match(await outcomes, [{ status: 'rejected' }, { status: 'rejected' }])
  t.equal(calls, 0)
})

/** Groups whose connection the test gives or refuses, and whose time-outs it ends. No time passes meanwhile. */
function heldGroups (t: Test) {
  stopClock(t)
  const timers = new Set<() => void>()
  t.intercept(globalThis, 'setTimeout', { value: (call: () => void) => { timers.add(call); return call } })
  t.intercept(globalThis, 'clearTimeout', { value: (call: () => void) => { timers.delete(call) } })
  const transaction = { inSavepoint: async (work: () => Promise<unknown>) => await work() } as OpenTransaction
  const asked: Array<PromiseWithResolvers<void>> = []
  const runAlone: RunTransaction = async (work) => {
    const connection = withResolvers()
    asked.push(connection)
    await connection.promise
    return await work(transaction)
  }
  const groups = new TransactionGroups(runAlone, new Events())
  return {
    asked,
    run: async (result: number) => await groups.run(async () => result),
    groups,
    give: () => { for (const { resolve } of asked.splice(0)) resolve() },
    expire: () => { for (const call of timers) call() },
    /** Lets as many transactions run as make the next turn expect further ones. */
    expectMany: async (): Promise<void> => {
      const both = [groups.run(async () => {}), groups.run(async () => {})]
      for (const { resolve } of asked.splice(0)) resolve()
      await Promise.all(both)
      await nextTurn()
    }
  }
}

interface PromiseWithResolvers<T> {
  readonly promise: Promise<T>
  readonly resolve: (value: T) => void
  readonly reject: (failure: unknown) => void
}

function withResolvers (): PromiseWithResolvers<void> {
  let resolve = (): void => {}
  let reject = (_failure: unknown): void => {}
  const promise = new Promise<void>((...functions) => { [resolve, reject] = functions })
  return { promise, resolve, reject }
}

const refused = { reason: { code: 'REST_MODELS_UNAVAILABLE' } }

test('D-292: a transaction that was refused after two seconds does not run later, alone or in a group', async (t) => {
  for (const count of [1, 2]) {
    const { groups, give, expire, expectMany } = heldGroups(t)
    await expectMany()
    let calls = 0
    const all = Array.from({ length: count }, async () => await groups.run(async () => ++calls))
    await nextTurn()
    expire()
    t.match(await Promise.allSettled(all), all.map(() => refused))
    give()
    await nextTurn()
    t.equal(calls, 0)
  }
})

test('D-292: a transaction that has begun is not refused after two seconds', async (t) => {
  const { groups, give, expire, expectMany } = heldGroups(t)
  await expectMany()
  const statement = withResolvers()
  const one = groups.run(async () => await statement.promise)
  await nextTurn()
  give()
  await nextTurn()
  expire()
  statement.resolve()
  await t.resolves(one)
})

test('D-292: a transaction that comes while others wait is in their group', async (t) => {
  const { asked, run, give, expectMany } = heldGroups(t)
  await expectMany()
  const all = [run(1), run(2)]
  await nextTurn()
  all.push(run(3))
  await nextTurn()
  all.push(run(4))
  t.equal(asked.length, 1)
  give()
  t.same(await Promise.all(all), [1, 2, 3, 4])
})

test('D-292: if a group cannot begin, each of its transactions runs by itself', async (t) => {
  const { asked, run, give, expectMany } = heldGroups(t)
  await expectMany()
  const both = [run(1), run(2)]
  await nextTurn()
  asked.pop()?.reject(new Error('locked'))
  await nextTurn()
  t.equal(asked.length, 2)
  give()
  t.same(await Promise.all(both), [1, 2])
})

test('D-292: if nobody knows whether a group was committed, none of it runs again', async (t) => {
  let calls = 0
  const transaction = { inSavepoint: async (work: () => Promise<unknown>) => await work() } as OpenTransaction
  const groups = new TransactionGroups(async (work) => {
    await work(transaction)
    throw outcomeUnknown({ cause: new Error('no answer') })
  }, new Events())
  const both = async () => await Promise.allSettled([1, 2].map(async () => await groups.run(async () => ++calls)))
  await both()
  await nextTurn()
  const outcomes = await both()
  const unknown = { reason: { code: 'REST_MODELS_OUTCOME_UNKNOWN' } }
  t.match([outcomes, calls], [[unknown, unknown], 4])
  const [first, second] = outcomes.map((outcome) => (outcome as PromiseRejectedResult).reason as Error)
  t.not(first, second, 'a host may add to the error of one request')
})

test('D-292: creates with hooks that come at once are answered as if each came alone', async (t) => {
  const Item = defineModel('Item', { name: text({ unique: true }), count: integer({ default: 0 }) })
  const Log = defineModel('Log', { name: text() })
  const groups = listen(t, 'fastify-rest-models:group-commit')
  const { post, rowsOf } = await buildApp(t, {
    models: [Item, Log],
    register: (registry) => {
      registry.register(Item, {
        auth: { open: ['create'], authenticator: () => () => null, permits: () => false },
        afterWrite: async ({ record: { name, count }, db }) => {
          await db.insertInto('log').values({ name }).execute()
          if (count === 7) throw Object.assign(new Error('no seven'), { statusCode: 422 })
        }
      })
    }
  })
  const create = async (index: number): Promise<number> =>
    (await post('/api/item/', { name: `item ${index % 40}`, count: index % 10 })).statusCode
  const statuses: number[] = []
  for (const round of [0, 1, 2, 3, 4]) {
    const indices = Array.from({ length: 10 }, (_, index) => 10 * round + index)
    statuses.push(...await Promise.all(indices.map(create)))
  }
  const expected = Array.from({ length: 50 }, (_, index) => index % 10 === 7 ? [422, 409] : index < 40 ? [201] : [409])
  for (const [index, status] of statuses.entries()) t.ok(expected[index]?.includes(status), `${index}: ${status}`)
  const [items, logs] = await Promise.all(['item', 'log'].map(async (table) =>
    (await rowsOf(table)).map((row) => (row as { name: string }).name)))
  t.equal(items?.length, 36)
  t.same(logs, items)
  t.ok(groups.length > 0)
})
