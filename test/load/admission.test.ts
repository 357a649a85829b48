import { AsyncLocalStorage } from 'node:async_hooks'
import { EventEmitter, once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import { connect as connectHttp2 } from 'node:http2'
import { connect, type AddressInfo, type Server, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { test, type Test } from 'tap'
import { Connections, UnreadAnswers } from '../../lib/plugin/scheduling/connections.js'
import type { RequestQueue } from '../../lib/plugin/scheduling/request-queue.js'
import { Scheduler } from '../../lib/plugin/scheduling/scheduler.js'
import { keepingSlot, SlotQueue } from '../../lib/plugin/scheduling/slot-queue.js'
import { TurnQueue } from '../../lib/plugin/scheduling/turn-queue.js'
import type { Operation } from '../../lib/policy/operations.js'
import type { Protection } from '../../lib/policy/protection.js'
import restModels from '../../lib/index.js'
import { nextTurn, stopClock } from '../support/clock.js'
import { engine } from '../support/database.js'
import { waitFor } from '../support/engines/wait-for.js'
import { basic, buildApp, Note, type BuildOptions } from '../support/site.js'

const notes = Array.from(
  { length: 100 }, (_, index) => ({ id: index + 1, message: `note ${index + 1}`, created: '2024-01-01 00:00:00' })
)

/** An app with a hundred notes that listens, and its port. */
async function listen (t: Test, prepare: NonNullable<BuildOptions['prepare']> = () => {}): Promise<number> {
  const { app } = await buildApp(t, {
    models: [Note], rows: { note: notes }, register: (registry) => { registry.register(Note) }, prepare
  })
  return Number(new URL(await app.listen({ host: '127.0.0.1', port: 0 })).port)
}

async function open (t: Test, port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1').on('error', () => {})
  t.teardown(() => { socket.destroy() })
  await once(socket, 'connect')
  return socket
}

const ask = (ids: readonly number[], last = ''): string => ids.map((id, index) =>
  `GET /api/note/${id}/ HTTP/1.1\r\nhost: localhost\r\n${index === ids.length - 1 ? last : ''}\r\n`)
  .join('')
const numbers = (count: number): number[] => Array.from({ length: count }, (_, index) => index + 1)
const idsIn = (answers: string): number[] => [...answers.matchAll(/\{"id":(\d+),/g)].map(([, id]) => Number(id))

test('D-100: 64 requests that are sent at once on one connection are answered in their order', async (t) => {
  const socket = await open(t, await listen(t))
  const ids = numbers(64).reverse()
  socket.write(ask(ids, 'connection: close\r\n'))
  t.same(idsIn(await text(socket)), ids)
})

test('D-100: a connection with more requests than that is closed, and other connections are answered', async (t) => {
  const port = await listen(t)
  const [flood, other] = await Promise.all([open(t, port), open(t, port)])
  const closed = once(flood, 'close')
  flood.write(ask(numbers(100)))
  other.write(ask(numbers(10), 'connection: close\r\n'))
  flood.resume()
  await closed
  t.same(idsIn(await text(other)), numbers(10))
})

test('D-100: the HTTP version that a client names does not matter', async (t) => {
  const port = await listen(t)
  for (const version of ['0.9', '2.0']) {
    const flood = await open(t, port)
    flood.write(ask(numbers(100)).replaceAll('HTTP/1.1\r\n', `HTTP/${version}\r\nconnection: keep-alive\r\n`))
    t.ok(idsIn(await text(flood)).length < 100, version)
  }
})

test('D-102: the second server with which Fastify listens to localhost has the same limit', async (t) => {
  const { app } = await buildApp(t, {
    models: [Note], rows: { note: notes }, register: (registry) => { registry.register(Note) }
  })
  const second = createServer((request, response) => { app.routing(request, response) })
  t.teardown(() => { second.close() })
  second.listen(0, '127.0.0.1')
  await once(second, 'listening')
  const { port } = second.address() as AddressInfo
  let paused = 0
  second.on('connection', (socket: Socket) => { socket.on('pause', () => { paused++ }) })
  const sockets = await Promise.all(numbers(20).map(async () => await open(t, port)))
  await sleep(100)
  for (const socket of sockets) socket.write(ask(numbers(60), 'connection: close\r\n'))
  for (const socket of sockets) t.same(idsIn(await text(socket)), numbers(60))
  t.ok(paused > 0, 'its sockets wait for the next turn, too')
})

test('D-102: requests that arrive on many connections are not all read in one event-loop turn', async (t) => {
  let inTurn = 0
  const turns: number[] = []
  const port = await listen(t, (app) => {
    app.addHook('onRequest', (_request, _reply, done) => {
      if (inTurn++ === 0) setImmediate(() => { turns.push(inTurn); inTurn = 0 })
      done()
    })
  })
  const sockets = await Promise.all(numbers(20).map(async () => await open(t, port)))
  await sleep(100)
  for (const socket of sockets) socket.write(ask(numbers(60), 'connection: close\r\n'))
  for (const answers of await Promise.all(sockets.map(async (socket) => await text(socket)))) {
    t.same(idsIn(answers), numbers(60))
  }
  t.equal(turns.reduce((sum, count) => sum + count), 1200)
  t.ok(Math.max(...turns) <= 560, `in the turns came ${turns.join()}`)
})

test('D-100: over HTTP/2 requests are answered as well', async (t) => {
  const { db } = await buildApp(t, {
    models: [Note], rows: { note: notes }, register: (registry) => { registry.register(Note) }
  })
  const { default: Fastify } = await import('fastify')
  const app = Fastify({ http2: true })
  t.teardown(async () => { await app.close() })
  await app.register(restModels, { db })
  app.restModels.register(Note)
  await app.restModels.setup()
  const session = connectHttp2(await app.listen({ host: '127.0.0.1', port: 0 }))
  t.teardown(() => { session.destroy() })
  const answers = await Promise.all(numbers(80).map(async (id) =>
    await text(session.request({ ':path': `/api/note/${id}/` }))))
  t.same(answers.flatMap(idsIn), numbers(80))
})

/** A connection, and requests on it, of which only what the queues look at is there. */
function pretend (connections: Connections) {
  const socket = Object.assign(new EventEmitter(), {
    destroyed: false,
    destroy: () => {
      socket.destroyed = true
      socket.emit('close')
    }
  })
  const send = (queue: Pick<RequestQueue, 'enter'>, resume: (failure?: Error) => void = () => {}, isNext = true) => {
    const raw = { httpVersionMajor: 1, socket }
    const state = { writableEnded: false, writableFinished: false, destroyed: false, writableLength: 0 }
    const answer = Object.assign(new EventEmitter(), state, { req: raw, socket: isNext ? socket : null })
    const request = { raw, log: { info: () => {} } } as unknown as FastifyRequest
    const reply = { raw: answer as unknown as ServerResponse } as FastifyReply
    connections.onRequest.call({} as FastifyInstance, request, reply, () => { queue.enter(request, reply, resume) })
    return answer
  }
  return { socket, send }
}

const openConnections = (server = new EventEmitter()) => new Connections(server as Server)

test('R-33: a request starts when all answers before it on its connection have been sent', async (t) => {
  const connections = openConnections()
  const queue = new SlotQueue(connections, 64)
  const { send } = pretend(connections)
  const served: string[] = []
  send(queue, () => { served.push('a') })
  const [second, third] = ['b', 'c'].map((name) => send(queue, () => { served.push(name) }, false))
  await sleep(20)
  t.same(served, ['a'])
  // Node does this when the answer before has been sent.
  second?.emit('socket')
  t.same(served, ['a', 'b'])
  third?.emit('socket')
  t.same(served, ['a', 'b', 'c'])
})

test('R-34: 64 requests ask a server at a time; one more begins for each that ends or loses its client', async (t) => {
  const connections = openConnections()
  const queue = new SlotQueue(connections, 64)
  let served = 0
  const answers = numbers(67).map(() => pretend(connections).send(queue, () => { served++ }))
  t.equal(served, 64)
  queue.leave(answers[0] as unknown as ServerResponse)
  t.equal(served, 65)
  queue.leave(answers[0] as unknown as ServerResponse)
  answers[1]?.emit('close')
  t.equal(served, 66)
  answers[2]?.emit('close')
  t.equal(served, 67)
})

test('R-34: requests whose client has gone give back their slots, unless a handler has begun', async (t) => {
  const connections = openConnections()
  const queue = new SlotQueue(connections, 4)
  const answers = numbers(4).map(() => pretend(connections).send(queue))
  queue.begin(answers[3] as unknown as ServerResponse)
  let served = 0
  for (let number = 0; number < 5; number++) pretend(connections).send(queue, () => { served++ })
  t.equal(served, 0)
  for (const answer of answers) answer.emit('close')
  t.equal(served, 3)
  queue.leave(answers[3] as unknown as ServerResponse)
  t.equal(served, 4)
})

test('R-33: a request that waited goes on in its own AsyncLocalStorage context; its answer counts as unread', (t) => {
  const connections = openConnections()
  const queue = new SlotQueue(connections, 64)
  const { send, socket } = pretend(connections)
  const context = new AsyncLocalStorage<string>()
  let seen: string | undefined
  context.run('first', () => send(queue))
  const second = context.run('second', () => send(queue, () => { seen = context.getStore() }, false))
  context.run('first', () => {
    Object.assign(second, { socket }).emit('socket')
  })
  t.equal(seen, 'second')
  Object.assign(second, { writableEnded: true, writableLength: 2 ** 27 })
  t.equal(connections.unread.hasRoom(performance.now() + 1000), false)
  t.end()
})

test('D-101: answers of app.inject(), which has no connection, are neither counted nor kept', (t) => {
  const connections = openConnections()
  const { send } = pretend(connections)
  const answer = send(new SlotQueue(connections, 64), () => {}, false)
  const injected = Object.assign(new EventEmitter(), { req: answer.req, destroyed: false, socket: new EventEmitter() })
  const request = { raw: answer.req } as unknown as FastifyRequest
  let isDone = false
  connections.onRequest.call({} as FastifyInstance, request, { raw: injected } as unknown as FastifyReply, () => {
    isDone = true
  })
  Object.assign(injected, { writableLength: 2 ** 27 })
  t.equal(isDone, true)
  t.equal(connections.unread.hasRoom(performance.now() + 1000), true)
  t.end()
})

test('R-33: requests that wait for the answers before them end when their client goes', async (t) => {
  const connections = openConnections()
  const queue = new SlotQueue(connections, 64)
  const { socket, send } = pretend(connections)
  const ended: unknown[] = []
  send(queue)
  const waiting = send(queue, (failure) => { ended.push(failure) }, false)
  t.same(ended, [])
  socket.destroy()
  t.match(ended, [{ code: 'REST_MODELS_CLIENT_GONE' }])
  waiting.emit('socket')
  t.equal(ended.length, 1, 'only once')
})

test('D-265: requests of a connection that is closed end with 499, because hosts count them', (t) => {
  const connections = openConnections()
  const queue = new SlotQueue(connections, 64)
  const { send, socket } = pretend(connections)
  const ended: unknown[] = []
  const raw = { httpVersionMajor: 1, socket }
  const request = { raw, log: { info: () => {} } } as unknown as FastifyRequest
  send(queue)
  for (let number = 0; number < 70; number++) {
    const reply = { raw: Object.assign(new EventEmitter(), { socket: null }) } as unknown as FastifyReply
    connections.onRequest.call({} as FastifyInstance, request, reply, (failure) => { ended.push(failure) })
  }
  t.equal(socket.destroyed, true)
  t.equal(ended.length, 70)
  t.match(ended.slice(63), Array(7).fill({ code: 'REST_MODELS_CLIENT_GONE', statusCode: 499 }))
  t.end()
})

test('R-34: 1,900 waiting requests that a later hook answers at once all end, and leave their slots', (t) => {
  const connections = openConnections()
  const queue = new SlotQueue(connections, 1)
  const first = pretend(connections).send(queue)
  let answered = 0
  for (let number = 0; number < 1900; number++) {
    const answer = pretend(connections).send(queue, () => {
      answered++
      queue.release(answer as unknown as ServerResponse)
    })
  }
  t.equal(answered, 0)
  queue.leave(first as unknown as ServerResponse)
  t.equal(answered, 1900)
  t.end()
})

test('R-34: 2,000 requests wait; more are refused at once, and those whose client goes make room', async (t) => {
  const connections = openConnections()
  const queue = new SlotQueue(connections, 64)
  const ended: string[] = []
  const enter = (name: string) => {
    return pretend(connections).send(queue, (failure?: Error & { readonly code?: string }) => {
      ended.push(`${name} ${failure?.code ?? 'served'}`)
    })
  }
  for (let number = 0; number < 64; number++) enter('running')
  const waiting = numbers(2000).map(() => enter('waiting'))
  t.equal(ended.length, 64)
  enter('late')
  t.equal(ended.at(-1), 'late REST_MODELS_UNAVAILABLE')
  waiting[1000]?.emit('close')
  t.equal(ended.at(-1), 'waiting REST_MODELS_CLIENT_GONE')
  enter('later')
  t.equal(ended.length, 66, 'it waits')
  for (const answer of waiting) answer.emit('close')
  t.equal(ended.length, 2065)
})

test('D-238: on a server, writes of anybody and of users do not wait behind reads', (t) => {
  const scheduler = new Scheduler(new EventEmitter() as Server, false)
  const connections = openConnections()
  const enter = (operation: Operation, protection: Protection): boolean => {
    const [hook] = scheduler.scheduleOf(operation, protection).preHandler
    let isServed = false
    pretend(connections).send({
      enter: (request, reply, resume) => {
        hook?.call({} as FastifyInstance, request as FastifyRequest, reply as FastifyReply, resume)
      }
    }, () => { isServed = true })
    return isServed
  }
  for (const protection of ['open', 'guarded'] as const) {
    for (let number = 0; number < 1000; number++) enter('list', protection)
    t.same(
      (['list', 'read', 'create', 'update', 'delete'] as const).map((operation) => enter(operation, protection)),
      [false, false, true, true, true], protection)
  }
  t.end()
})

test('R-34: a request that waits for the database for two seconds is refused, though none is done', async (t) => {
  const putForward = stopClock(t)
  const connections = openConnections()
  const queue = new SlotQueue(connections, 64)
  const ended: unknown[] = []
  for (let number = 0; number < 65; number++) pretend(connections).send(queue, (failure) => { ended.push(failure) })
  t.equal(ended.length, 64)
  putForward(2001)
  await waitFor('the last one has ended', async () => ended.length === 65)
  t.match(ended.at(64), { code: 'REST_MODELS_UNAVAILABLE', headers: { 'retry-after': '1' } })
})

test('R-35: while connections are opened, an event-loop turn lasts two milliseconds and not twenty', async (t) => {
  const putForward = stopClock(t)
  const server = new EventEmitter()
  const connections = openConnections(server)
  server.emit('connection', new EventEmitter())
  const queue = new TurnQueue(connections)
  const served: number[] = []
  const clients = numbers(10).map(() => pretend(connections))
  for (const [index, { send }] of clients.entries()) {
    send(queue, () => {
      served.push(index)
      putForward(1)
    })
  }
  t.same(served, [0, 1])
  await waitFor('an answer for each', async () => served.length === 10)
  t.same(served, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
  await nextTurn()
  putForward(200)
  for (const [index, { send }] of clients.entries()) {
    send(queue, () => {
      served.push(index)
      putForward(5)
    })
  }
  t.same(served.slice(10), [0, 1, 2, 3])
})

test('R-35: a request that arrives while others wait for their turn is served in that turn', async (t) => {
  const putForward = stopClock(t)
  const connections = openConnections()
  const queue = new TurnQueue(connections)
  const events: string[] = []
  const enter = (resume: () => void): void => { pretend(connections).send(queue, resume) }
  enter(() => { putForward(30) })
  enter(() => {
    events.push('served')
    setImmediate(() => { events.push('turn ended') })
  })
  setImmediate(() => { enter(() => { events.push('served, which came later') }) })
  await waitFor('all is done', async () => events.length === 3)
  t.same(events, ['served', 'served, which came later', 'turn ended'])
})

/** An answer of so many mebibytes, of which only what the count of unread answers looks at is there. */
function pretendAnswer (mebibytes: number) {
  const answer = {
    writableEnded: false,
    writableFinished: false,
    destroyed: false,
    writableLength: 0,
    send: () => Object.assign(answer, { writableEnded: true, writableLength: mebibytes * 2 ** 20 })
  }
  return answer
}

function pretendSocket () {
  const socket = { destroyed: false, destroy: () => { socket.destroyed = true } }
  return socket
}

const watchAnswer = (
  unread: UnreadAnswers, socket: { readonly destroyed: boolean }, answer: { readonly writableLength: number }
): void => { unread.watch(socket as Socket, answer as ServerResponse) }

test('D-101: if 64 MiB of answers are not taken, those who delay theirs longest lose their connections', (t) => {
  const unread = new UnreadAnswers()
  const clients = [10, 30, 20, 10, 30]
    .map((mebibytes) => ({ socket: pretendSocket(), answer: pretendAnswer(mebibytes) }))
  for (const { socket, answer } of clients) watchAnswer(unread, socket, answer)
  const closed = () => clients.map(({ socket }) => socket.destroyed)
  const [first, second, third, fourth, last] = clients
  t.ok(unread.hasRoom(0))
  second?.answer.send()
  t.ok(unread.hasRoom(100))
  for (const client of [first, third, fourth]) client?.answer.send()
  t.notOk(unread.hasRoom(200), 'nobody is cut off before 200 ms')
  t.ok(unread.hasRoom(301))
  t.same(closed(), [false, true, false, false, false])
  last?.answer.send()
  t.ok(unread.hasRoom(500))
  t.same(closed(), [true, true, false, false, false], 'no more than necessary')
  for (const client of [third, fourth, last]) Object.assign(client?.answer ?? {}, { writableFinished: true })
  t.ok(unread.hasRoom(1000))
  t.end()
})

test('D-101: all registrations of the plugin in one app share the limits of its connections', (t) => {
  const server = new EventEmitter() as Server
  const schedulers = Array.from({ length: 12 }, (_, index) => new Scheduler(server, index % 2 === 0))
  t.equal(new Set(schedulers.map(({ onRequest }) => onRequest)).size, 1)
  t.equal(server.listenerCount('connection'), 1)
  t.not(new Scheduler(new EventEmitter() as Server, true).onRequest, schedulers[0]?.onRequest, 'another app does not')
  t.end()
})

test('R-35: a request that waits after the only one before it has gone has its turn at once', async (t) => {
  const putForward = stopClock(t)
  const connections = openConnections()
  const queue = new TurnQueue(connections)
  const served: string[] = []
  const enter = (name: string) => pretend(connections).send(queue, (failure) => {
    served.push(`${name} ${failure === undefined}`)
  })
  enter('first')
  putForward(30)
  enter('gone').emit('close')
  await nextTurn()
  enter('second')
  putForward(30)
  enter('third')
  await nextTurn()
  await nextTurn()
  await nextTurn()
  t.same(served, ['first true', 'gone false', 'second true', 'third true'])
})

test('R-35: a request whose client has gone takes no slot, although its connection has not closed yet', (t) => {
  const connections = openConnections()
  const queue = new SlotQueue(connections, 1)
  const served: string[] = []
  const [first, gone] = ['first', 'gone', 'third'].map((name) => {
    const { socket, send } = pretend(connections)
    const answer = send(queue, (failure) => { served.push(`${name} ${failure === undefined}`) })
    return { socket, answer: answer as unknown as ServerResponse }
  })
  Object.assign(gone?.socket ?? {}, { destroyed: true })
  if (first !== undefined) queue.release(first.answer)
  t.same(served, ['first true', 'gone false', 'third true'])
  t.end()
})

test('D-101: an answer counts however long it takes, and nothing else on its connection does', (t) => {
  const unread = new UnreadAnswers()
  const [slow, other] = [pretendAnswer(40), pretendAnswer(40)]
  const sockets = [pretendSocket(), pretendSocket()] as const
  watchAnswer(unread, sockets[0], slow)
  watchAnswer(unread, sockets[1], other)
  t.ok(unread.hasRoom(0))
  t.ok(unread.hasRoom(60_000))
  for (const answer of [slow, other]) answer.send()
  t.notOk(unread.hasRoom(60_100), 'a minute later it still counts')
  Object.assign(slow, { writableFinished: true })
  unread.forget(sockets[1] as unknown as Socket)
  unread.hasRoom(60_200)
  Object.assign(slow, { writableLength: 2 ** 30 })
  t.ok(unread.hasRoom(60_300), 'an answer that was taken and a closed connection do not')
  t.end()
})

test('R-36: requests wait while there is no room for answers, and go on when there is', async (t) => {
  const connections = openConnections()
  const queue = engine === 'sqlite' ? new TurnQueue(connections) : new SlotQueue(connections, 64)
  const lazy = pretend(connections)
  Object.assign(lazy.send(queue), { writableEnded: true, writableLength: 2 ** 27 })
  await sleep(60)
  let isServed = false
  pretend(connections).send(queue, () => { isServed = true })
  t.equal(isServed, false)
  await waitFor('the request goes on', async () => isServed)
  t.equal(lazy.socket.destroyed, true)
})

/** An app with users and messages that listens. */
async function listenSite (t: Test, prepare: NonNullable<BuildOptions['prepare']> = () => {}) {
  const rows = { message: [{ id: 1, user_id: 2, content: 'first', pub_date: '2024-01-01 00:00:00' }] }
  const site = await buildApp(t, { rows, prepare, undocumented: 'most of what is asked for is never answered' })
  return { ...site, port: Number(new URL(await site.app.listen({ host: '127.0.0.1', port: 0 })).port) }
}

const refusedDelete = 'DELETE /api/message/1/ HTTP/1.1\r\nhost: localhost\r\n\r\n'

test('R-34: writes go on after clients have gone whose pipelined requests were refused', async (t) => {
  const { port, post } = await listenSite(t)
  for (let number = 0; number < 16; number++) {
    const socket = await open(t, port)
    socket.write('GET /api/message/ HTTP/1.1\r\nhost: localhost\r\n\r\n' + refusedDelete.repeat(15))
    await sleep(2)
    socket.destroy()
  }
  const start = performance.now()
  t.equal((await post('/api/message/', { content: 'x' }, { as: 'alice' })).statusCode, 201)
  t.ok(performance.now() - start < 1500)
})

test('R-34: writes go on after clients have gone while a hook of the host took its time', async (t) => {
  let entered = 0
  let resume = (): void => {}
  const gone = new Promise<void>((resolve) => { resume = resolve })
  const { port, post } = await listenSite(t, (app) => {
    app.addHook('preHandler', async ({ method }) => {
      entered++
      if (method === 'DELETE') await gone
    })
  })
  const count = 200
  const sockets = await Promise.all(numbers(count).map(async () => await open(t, port)))
  for (const socket of sockets) socket.write(refusedDelete)
  await waitFor('all requests are with the hook', async () => entered === count)
  for (const socket of sockets) socket.destroy()
  await sleep(100)
  resume()
  await sleep(100)
  t.equal((await post('/api/message/', { content: 'x' }, { as: 'alice' })).statusCode, 201)
})

test('R-34: what a hook answers gives back its place, whether its client reads that or not', (t) => {
  const connections = openConnections()
  const queue = new SlotQueue(connections, 1)
  const refused = pretend(connections).send(queue)
  let served = 0
  const handled = pretend(connections).send(queue, () => { served++ })
  queue.release(refused as unknown as ServerResponse)
  t.equal(served, 1)
  t.equal(queue.begin(handled as unknown as ServerResponse), true)
  queue.release(handled as unknown as ServerResponse)
  pretend(connections).send(queue, () => { served++ })
  t.equal(served, 1, 'but not while a handler works')
  t.end()
})

test('R-34: a request whose client left during a hook has no slot, and its handler does not begin', async (t) => {
  const connections = openConnections()
  const queue = new SlotQueue(connections, 1)
  const answer = pretend(connections).send(queue)
  const gone = { raw: answer } as unknown as FastifyReply
  const handled: string[] = []
  const handler = keepingSlot(queue, async () => { handled.push('handled') })
  answer.emit('close')
  await t.rejects(handler({} as FastifyRequest, gone), { code: 'REST_MODELS_CLIENT_GONE' })
  t.same(handled, [])
})

test('R-34: writes go on while clients do not read that theirs were refused', async (t) => {
  const { port, post, db } = await listenSite(t)
  await db.insertInto('message').values(
    numbers(4).map((index) => ({ user_id: 2, content: 'x'.repeat(1_000_000), pub_date: `2024-01-01 00:00:0${index}` }))
  ).execute()
  await Promise.all(numbers(14).map(async () => {
    const socket = await open(t, port)
    socket.pause()
    socket.write('GET /api/message/?limit=100&after= HTTP/1.1\r\nhost: localhost\r\n\r\n' + refusedDelete.repeat(15))
  }))
  await sleep(500)
  t.equal((await post('/api/message/', { content: 'y' }, { as: 'alice' })).statusCode, 201)
})

test('R-33: a write between large answers and many reads on one connection is done; all are answered', async (t) => {
  const { port, db } = await listenSite(t)
  await db.insertInto('message').values(
    numbers(8).map((index) => ({ user_id: 2, content: 'x'.repeat(1_000_000), pub_date: `2024-01-01 00:00:0${index}` }))
  ).execute()
  const socket = await open(t, port)
  socket.pause()
  socket.write('GET /api/message/?limit=100&after= HTTP/1.1\r\nhost: localhost\r\n\r\n'.repeat(4))
  await sleep(300)
  const body = '{"content":"posted"}'
  const head = `authorization: ${basic('alice')}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}`
  socket.write(`POST /api/message/ HTTP/1.1\r\nhost: localhost\r\n${head}\r\n\r\n${body}` +
    'GET /api/message/1/ HTTP/1.1\r\nhost: localhost\r\n\r\n'.repeat(19))
  socket.write('GET /api/message/1/ HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n')
  await sleep(300)
  const answers = (await text(socket)).match(/HTTP\/1\.1 \d+/g) ?? []
  t.same(answers.map((line) => line.slice(-3)), [
    ...Array<string>(4).fill('200'), '201', ...Array<string>(20).fill('200')
  ])
})
