// @once: about the server for HTTP

import { once } from 'node:events'
import { Agent, get, type IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import Fastify from 'fastify'
import { test, type Test } from 'tap'
import { drainOnClose } from '../../examples/site/drain.js'

async function listen (t: Test, maxMs?: number) {
  const app = Fastify({ return503OnClosing: false })
  t.teardown(async () => { await app.close() })
  drainOnClose(app, maxMs)
  app.get('/', async () => 'now')
  app.get('/slow', async () => {
    await sleep(300)
    return 'later'
  })
  return { app, address: await app.listen({ host: '127.0.0.1', port: 0 }) }
}

async function ask (agent: Agent, url: string): Promise<string> {
  const [answer] = await once(get(url, { agent }), 'response') as [IncomingMessage]
  await once(answer.resume(), 'end')
  return `${answer.statusCode} ${answer.headers.connection}`
}

test('D-103: an app that is told to end still answers on open connections, and says that they end', async (t) => {
  const { app, address } = await listen(t)
  const [idle, busy, fresh] = [new Agent({ keepAlive: true }), new Agent({ keepAlive: true }), new Agent()]
  t.same([await ask(idle, address), await ask(busy, address)], ['200 keep-alive', '200 keep-alive'])
  const slow = ask(busy, `${address}/slow`)
  await sleep(50)
  const closed = app.close()
  t.equal(await slow, '200 close', 'what had begun before')
  t.equal(await ask(idle, address), '200 close')
  await t.rejects(ask(fresh, address), { code: 'ECONNREFUSED' })
  await closed
})

test('D-103: what is open after its time is cut', async (t) => {
  const { app, address } = await listen(t, 1500)
  const socket = connect(Number(new URL(address).port), '127.0.0.1').on('error', () => {}).resume()
  await once(socket, 'connect')
  socket.write('GET / HTTP/1.1\r\n')
  const cut = once(socket, 'close')
  await sleep(50)
  const start = performance.now()
  await app.close()
  await cut
  t.ok(performance.now() - start >= 1400, 'not before its time')
})

test('D-103: an app that does not listen ends at once', async (t) => {
  const app = Fastify()
  drainOnClose(app)
  await app.ready()
  const start = performance.now()
  await app.close()
  t.ok(performance.now() - start < 900)
})
