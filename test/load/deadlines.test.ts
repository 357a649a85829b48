// @alone: measures time
// @long: measures time

import { AsyncLocalStorage } from 'node:async_hooks'
import { EventEmitter } from 'node:events'
import type { ServerResponse } from 'node:http'
import type { Server } from 'node:net'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { sql } from 'kysely'
import { test, type Test } from 'tap'
import { Connections } from '../../lib/plugin/scheduling/connections.js'
import { TurnQueue } from '../../lib/plugin/scheduling/turn-queue.js'
import type { Policy } from '../../lib/index.js'
import { boundedSite } from '../support/bounded.js'
import { engine } from '../support/database.js'
import { buildApp, Message, registerSite, type BuildOptions, type Rows, type TestApp } from '../support/site.js'

/**
 * Texts, in SQLite as long as a body may be, and patterns that are tried at each of their characters: a minute of work,
 * and more. The servers look at the time between two rows only.
 */
const [count, length] = engine === 'sqlite' ? [30, 2 ** 20 - 100] : [100, 2 ** 14]
const rows: Rows = {
  message: Array.from({ length: count }, (_, index) =>
    ({ id: index + 1, user_id: 2, content: 'a'.repeat(length), pub_date: '2024-01-01 00:00:00' }))
}
const patterns = (operator: string): string =>
  Array.from({ length: 19 }, (_, index) => `content__${operator}=%25${'a'.repeat(100 + index)}b`).join('&')
const endless = [
  `/api/message/?${patterns('like')}`, `/api/message/?${patterns('ilike')}&ordering=-content`,
  `/api/message/?user__username=alice&${patterns('like')}`
]

/** Milliseconds for a statement. */
const time = 400
/** Milliseconds of processor time that a single pattern takes in a single text, on a slow machine, and all others. */
const tolerance = 1000
/** Milliseconds that the process may have to wait for a processor: the machine tests other things at the same time. */
const starved = 5000

async function serve (
  t: Test, milliseconds: number, prepare: NonNullable<BuildOptions['prepare']> = () => {}
): Promise<TestApp> {
  if (engine === 'sqlite') {
    return await buildApp(t, { rows, prepare, options: { limits: { statementTime: milliseconds } } })
  }
  const { bounded, db } = await boundedSite(t, rows, { statementTimeout: milliseconds })
  for (let doubling = 0; doubling < 4; doubling++) {
    await sql`insert into message (user_id, content, pub_date) select user_id, content, pub_date from message`
      .execute(db)
  }
  return await buildApp(t, { models: [], prepare, register: registerSite, options: { db: bounded } })
}

test('R-15: a statement of minutes is given up in time, and others are answered', { timeout: 120_000 }, async (t) => {
  const { get, post } = await serve(t, time)
  for (let count = 0; count < 20; count++) {
    await Promise.all([get('/api/note/'), get('/api/message/?content__like=b&limit=1&id=1')])
  }
  for (const url of endless) {
    const delay = monitorEventLoopDelay({ resolution: 10 })
    delay.enable()
    await sleep(50)
    const start = performance.now()
    const before = process.cpuUsage()
    const [slow, ...others] = await Promise.all([
      get(url), ...Array.from({ length: 20 }, async () => await get('/api/note/')),
      post('/api/message/', { content: 'x' }, { as: 'alice' })
    ])
    const took = performance.now() - start
    const { user, system } = process.cpuUsage(before)
    await sleep(50)
    delay.disable()
    t.match(slow.json(), { statusCode: 503, code: 'REST_MODELS_UNAVAILABLE' })
    t.match(slow.headers['retry-after'], /^[1-9]\d*$/)
    const work = (user + system) / 1000
    t.ok(work < time + tolerance, `everything took ${work} ms of processor time`)
    t.ok(took < time + starved, `everything was answered after ${took} ms`)
    t.same([...new Set(others.map(({ statusCode }) => statusCode))], [200, 201])
    const longest = delay.max / 1e6
    t.ok(longest > 0 && longest < time + starved, `the event loop was held for ${longest} ms`)
    if (engine !== 'sqlite') t.ok(work < time, 'the work is done in another process')
  }
  t.equal((await get('/api/message/?content=x&limit=3')).json().objects.length, 3, 'the connection goes on')
})

test('R-22: costly lists let others in between, and each keeps its own context', { timeout: 120_000 }, async (t) => {
  const storage = new AsyncLocalStorage<string>()
  const { get, post } = await serve(t, 10_000, (app) => {
    app.addHook('onRequest', (request, _reply, done) => { storage.run(request.id, done) })
    app.addHook('onSend', async (request) => { t.equal(storage.getStore(), request.id) })
  })
  const costly = `/api/message/?id=7&content__like=%25${'a'.repeat(126)}b`
  await get(costly)
  const delay = monitorEventLoopDelay({ resolution: 10 })
  delay.enable()
  await sleep(50)
  const start = performance.now()
  const replies = await Promise.all([
    ...Array.from({ length: 8 }, async () => await get(costly)),
    post('/api/message/', { content: 'x' }, { as: 'alice' })
  ])
  const took = performance.now() - start
  await sleep(50)
  delay.disable()
  t.ok(replies.every(({ statusCode }) => [200, 201, 503].includes(statusCode)))
  t.ok(replies.filter(({ statusCode }) => statusCode === 200).length > 1)
  const longest = delay.max / 1e6
  t.ok(
    longest > 0 && longest < Math.max(took * 0.7, 100),
    `of ${took} ms, the event loop was held for ${longest} ms at a time`
  )
})

test('D-96: whoever needs no credentials does not wait behind a crowd whose credentials are checked', {
  skip: engine !== 'sqlite' && 'turns are for an engine in the process'
}, async (t) => {
  const slow: Policy = {
    open: ['list', 'read'],
    permits: () => true,
    authenticator: () => async () => {
      holdUp(5)
      return null
    }
  }
  const { get, put } = await buildApp(t, {
    rows: { message: [{ id: 1, user_id: 2, content: 'x', pub_date: '2024-01-01 00:00:00' }] },
    register: (registry) => { registry.register(Message, { auth: slow }) }
  })
  const answered: number[] = []
  const crowd = Array.from({ length: 100 }, async () => {
    const { statusCode } = await put('/api/message/1/', {})
    answered.push(statusCode)
  })
  while (answered.length === 0) await sleep(1)
  const before = answered.length
  t.equal((await get('/api/message/1/')).statusCode, 200)
  const meanwhile = answered.length - before
  t.ok(meanwhile < 30, `${meanwhile} of ${100 - before} that came before the read were refused before it was answered`)
  await Promise.all(crowd)
  t.same([...new Set(answered)], [401])
})

function holdUp (milliseconds: number): void {
  for (const end = performance.now() + milliseconds; performance.now() < end;);
}

/** Puts a request into a queue, of which only what the queue looks at is there. */
function enterQueue (queue: TurnQueue, resume: (failure?: Error) => void, isGone = false): void {
  const socket = { destroyed: isGone }
  const answer = Object.assign(new EventEmitter(), { req: { socket } }) as unknown as ServerResponse
  queue.enter({ raw: { socket } } as FastifyRequest, { raw: answer } as FastifyReply, resume)
}

const openQueue = () => new TurnQueue(new Connections(new EventEmitter() as Server))

test('D-96: whoever has gone while others had their turns is not served', async (t) => {
  const queue = openQueue()
  const served: string[] = []
  const enter = (name: string, isGone: boolean) => {
    enterQueue(queue, (failure) => { served.push(`${name} ${failure === undefined}`) }, isGone)
  }
  enterQueue(queue, () => { holdUp(30) })
  enter('a', true)
  enter('b', false)
  await sleep(50)
  t.same(served, ['a false', 'b true'])
})

test('D-96: whoever waits for a turn for two seconds is told to come back', async (t) => {
  const queue = openQueue()
  const order: string[] = []
  const enter = (name: string, milliseconds: number) => {
    enterQueue(queue, (failure) => {
      order.push(failure === undefined ? name : `${name} late`)
      if (name === 'c') {
        t.match(failure, { code: 'REST_MODELS_UNAVAILABLE', statusCode: 503, headers: { 'retry-after': '1' } })
      }
      holdUp(milliseconds)
    })
  }
  enter('a', 30)
  enter('b', 2100)
  enter('c', 0)
  enter('d', 0)
  t.same(order, ['a'])
  await sleep(2500)
  t.same(order, ['a', 'b', 'c late', 'd late'])
  enter('e', 0)
  t.equal(order.at(-1), 'e')
})

test('D-96: waiting requests are served in turn even while the host itself takes longer than a turn', async (t) => {
  const queue = openQueue()
  const served: string[] = []
  const enter = (name: string) => {
    enterQueue(queue, (failure) => { served.push(failure === undefined ? name : `${name} late`) })
  }
  const names = Array.from({ length: 10 }, (_, index) => `${index}`)
  enterQueue(queue, () => { holdUp(30) })
  for (const name of names) {
    enter(name)
    const nextTurn = sleep(1)
    holdUp(30)
    await nextTurn
  }
  t.ok(served.length > 5, `${served.length} of 10 were served in 10 turns`)
  await sleep(20)
  t.same(served, names)
})
