import { AsyncLocalStorage } from 'node:async_hooks'
import { once } from 'node:events'
import { connect } from 'node:net'
import { test } from 'tap'
import { ResponseBatcher } from '../../lib/plugin/scheduling/scheduler.js'
import { nextTurn, stopClock } from '../support/clock.js'
import { engine } from '../support/database.js'
import { buildApp, Note } from '../support/site.js'

/** Answers that become ready in one turn, each after some work; the order in which they become ready and leave. */
async function answer (flush: ResponseBatcher, count: number, work = () => {}): Promise<readonly string[]> {
  const order: string[] = []
  const answerOne = async (number: number): Promise<void> => {
    work()
    order.push(`${number} ready`)
    await flush.wait()
    order.push(`${number} leaves`)
  }
  const all: Array<Promise<void>> = []
  for (let number = 1; number <= count; number++) {
    all.push(answerOne(number))
    await null
    await null
  }
  order.push('end')
  await Promise.all(all)
  await nextTurn()
  return order
}

const apart = (count: number): readonly string[] =>
  [...Array.from({ length: count }, (_, index) => [`${index + 1} ready`, `${index + 1} leaves`]).flat(), 'end']
const together = (count: number): readonly string[] =>
  [
    ...Array.from({ length: count }, (_, index) => `${index + 1} ready`), 'end',
    ...Array.from({ length: count }, (_, index) => `${index + 1} leaves`)
  ]

test('D-97: answers of one turn leave together if there were many in the last turn that had any', async (t) => {
  stopClock(t)
  const flush = new ResponseBatcher()
  t.same(await answer(flush, 4), apart(4), 'nobody knows yet that there are many')
  t.same(await answer(flush, 5), together(5))
  t.same(await answer(flush, 3), together(3))
  t.same(await answer(flush, 4), apart(4), 'few wait for nobody')
  t.same(await answer(flush, 1), together(1))
  t.same(await answer(flush, 1), apart(1))
})

test('D-97: an answer that has waited for two milliseconds leaves with the next one that becomes ready', async (t) => {
  const putForward = stopClock(t)
  const flush = new ResponseBatcher()
  await answer(flush, 4)
  const order = await answer(flush, 6, () => { putForward(1.5) })
  t.ok(order.indexOf('1 leaves') < order.indexOf('4 ready'), order.join())
  t.ok(order.indexOf('2 ready') < order.indexOf('1 leaves'), order.join())
  t.equal(order.length, 13)
})

test('D-97: lists that arrive at once are answered when all have been read, each in what it keeps itself', {
  skip: engine !== 'sqlite' && 'elsewhere the database decides when an answer is ready'
}, async (t) => {
  const storage = new AsyncLocalStorage<string>()
  const order: string[] = []
  const { app } = await buildApp(t, {
    models: [Note],
    register: (registry) => { registry.register(Note) },
    prepare: (app) => {
      app.addHook('onRequest', (request, _reply, done) => { storage.run(request.id, done) })
      app.addHook('preHandler', async () => { order.push('in') })
      app.addHook('onSend', async (request) => {
        order.push('out')
        t.equal(storage.getStore(), request.id)
      })
    }
  })
  const { port } = new URL(await app.listen({ host: '127.0.0.1', port: 0 }))
  const sockets = Array.from({ length: 6 }, () => connect(Number(port), '127.0.0.1'))
  t.teardown(() => { for (const socket of sockets) socket.destroy() })
  await Promise.all(sockets.map(async (socket) => await once(socket, 'connect')))
  const crowd = async (): Promise<string> => {
    order.length = 0
    for (const socket of sockets) socket.write('GET /api/note/ HTTP/1.1\r\nhost: localhost\r\n\r\n')
    await Promise.all(sockets.map(async (socket) => await once(socket, 'data')))
    return order.join(' ')
  }
  t.match(await crowd(), /^(in out ){4}/, 'nobody knows yet that there are many')
  // On a slow machine some arrive later, and what has waited for two milliseconds leaves sooner.
  const crowds: string[] = []
  do crowds.push(await crowd())
  while (crowds.at(-1) !== 'in in in in in in out out out out out out' && crowds.length < 200)
  t.ok(crowds.length < 200, `the last one was answered so: ${crowds.at(-1)}`)
})
