import { AsyncLocalStorage } from 'node:async_hooks'
import { setImmediate as turn } from 'node:timers/promises'
import { test } from 'tap'
import { Flush } from '../lib/flush.js'
import { engine } from './database.js'
import { buildApp, Note } from './helper.js'

/** Answers that become ready in one turn, each after some milliseconds of work; the order in which they become ready and leave. */
async function answer (flush: Flush, count: number, milliseconds = 0): Promise<readonly string[]> {
  const order: string[] = []
  const answerOne = async (number: number): Promise<void> => {
    for (const end = performance.now() + milliseconds; performance.now() < end;);
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
  await turn()
  return order
}

const apart = (count: number): readonly string[] => [...Array.from({ length: count }, (_, index) => [`${index + 1} ready`, `${index + 1} leaves`]).flat(), 'end']
const together = (count: number): readonly string[] =>
  [...Array.from({ length: count }, (_, index) => `${index + 1} ready`), 'end', ...Array.from({ length: count }, (_, index) => `${index + 1} leaves`)]

test('D-97: answers that become ready in one turn leave together, if there were many in the last turn that had any', async (t) => {
  const flush = new Flush()
  t.same(await answer(flush, 4), apart(4), 'nobody knows yet that there are many')
  t.same(await answer(flush, 5), together(5))
  t.same(await answer(flush, 3), together(3))
  t.same(await answer(flush, 4), apart(4), 'few wait for nobody')
  t.same(await answer(flush, 1), together(1))
  t.same(await answer(flush, 1), apart(1))
})

test('D-97: an answer that has waited for two milliseconds leaves with the next one that becomes ready', async (t) => {
  const flush = new Flush()
  await answer(flush, 4)
  const order = await answer(flush, 6, 1.5)
  t.ok(order.indexOf('1 leaves') < order.indexOf('4 ready'), order.join())
  t.ok(order.indexOf('2 ready') < order.indexOf('1 leaves'), order.join())
  t.equal(order.length, 13)
})

test('D-97: lists of one turn are answered when all have been read, each in what it keeps itself', { skip: engine !== 'sqlite' && 'elsewhere the database decides when an answer is ready' }, async (t) => {
  const storage = new AsyncLocalStorage<string>()
  const order: string[] = []
  const { get } = await buildApp(t, {
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
  const lists = async (count: number): Promise<readonly string[]> => {
    order.length = 0
    const replies = await Promise.all(Array.from({ length: count }, async () => await get('/api/note/')))
    t.same([...new Set(replies.map(({ statusCode }) => statusCode))], [200])
    return [...order]
  }
  await lists(6)
  const crowd = await lists(6)
  t.same(crowd, [...Array.from({ length: 6 }, () => 'in'), ...Array.from({ length: 6 }, () => 'out')])
})
