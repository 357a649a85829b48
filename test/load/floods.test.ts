// @alone: starts processes, and measures memory
// @long: floods a process, on each engine

import { once } from 'node:events'
import { get as getHttp } from 'node:http'
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { test, type Test } from 'tap'
import { runAutocannon, startAutocannon } from '../endurance/overloading.js'
import { engine } from '../support/database.js'
import { waitFor } from '../support/engines/wait-for.js'
import { emptyDatabase } from '../support/database.js'
import type { Usage } from './flooded.js'
import { startWorker } from '../support/workers.js'

async function startApp (t: Test, length = 50) {
  const { url, remove } = await emptyDatabase()
  t.teardown(remove)
  const worker = startWorker<string | Usage>(t, 'load/flooded.ts', url, String(length))
  const address = String(await worker.next())
  const measure = async (): Promise<Usage> => {
    worker.send('measure')
    return await worker.next() as Usage
  }
  const get = async (path: string): Promise<number> => {
    const answer = await fetch(`${address}${path}`, { headers: { connection: 'close' } })
    await answer.arrayBuffer()
    return answer.status
  }
  /** Asks again where it is told to, three times at most, as a client does. */
  const getPatiently = async (path: string): Promise<number> => {
    for (let count = 0; count < 3; count++) {
      const status = await get(path)
      if (status !== 503) return status
      await sleep(1000)
    }
    return 503
  }
  for (let count = 0; count < 30; count++) await get('/api/text/')
  await measure()
  await sleep(100)
  return { address, get, getPatiently, measure }
}

/** Connects clients that send something and never read. */
async function sendUnread (
  t: Test, address: string, { connections, sent }: { readonly connections: number, readonly sent: string }
): Promise<readonly Socket[]> {
  const { hostname, port } = new URL(address)
  const sockets = Array.from({ length: connections }, () =>
    connect(Number(port), hostname).pause().on('error', () => {}))
  t.teardown(() => { for (const socket of sockets) socket.destroy() })
  await Promise.all(sockets.map(async (socket) => {
    await once(socket, 'connect')
    socket.write(sent)
  }))
  return sockets
}

test('R-32: 24 connections that read no answer stop no app, and ten are served', { timeout: 120_000 }, async (t) => {
  const { address, get, measure } = await startApp(t)
  const before = await measure()
  await sendUnread(t, address, {
    connections: 24, sent: 'GET /api/text/ HTTP/1.1\r\nhost: localhost\r\n\r\n'.repeat(2000)
  })
  t.same([await get('/health'), await get('/api/text/')], [200, 200])
  const { held, memory } = await measure()
  t.ok(held > 0 && held < 1500, `it was held for ${held} ms of CPU`)
  t.ok(memory - before.memory < 200, `its memory grew from ${before.memory} to ${memory} MiB`)
  const { '2xx': served, non2xx, errors } = await runAutocannon([
    '-c', '20', '-p', '10', '-d', '3', `${address}/api/text/1/`
  ])
  t.ok(served > 50, `${served} were served`)
  t.same([non2xx, errors], [0, 0])
})

test('R-36: of clients that do not read large pages some are cut off, not others', { timeout: 120_000 }, async (t) => {
  const { address, getPatiently } = await startApp(t, 40_000)
  // Several, because a slow machine refuses some with 503, and the buffers of the network may take a whole page.
  const sockets = await sendUnread(t, address, {
    connections: 32, sent: 'GET /api/text/?limit=100 HTTP/1.1\r\nhost: localhost\r\n\r\n'.repeat(20)
  })
  t.same([await getPatiently('/health'), await getPatiently('/api/text/?limit=100')], [200, 200])
  // Whoever does not read finds out by writing.
  const cut = (): number => sockets.filter(({ destroyed }) => destroyed).length
  for (let count = 0; count < 150 && cut() === 0; count++) {
    t.equal(await getPatiently('/api/text/1/'), 200)
    for (const socket of sockets) socket.write('GET /health HTTP/1.1\r\nhost: localhost\r\n\r\n')
    await sleep(100)
  }
  t.ok(cut() > 0, `${cut()} were cut off`)
})

/** Asks on a new connection: the status, and after how many milliseconds the answer was complete. */
async function askFresh (url: string): Promise<readonly [status: number, took: number]> {
  const start = performance.now()
  const [answer] = await once(getHttp(url, { agent: false }), 'response')
  await once(answer.resume(), 'end')
  return [answer.statusCode, performance.now() - start]
}

test('R-43: with 1,000 busy connections, a new one is told that the app lives', {
  timeout: 180_000,
  skip: engine === 'sqlite' ? false : 'the answers come from the process, so one engine is enough'
}, async (t) => {
  const { address } = await startApp(t)
  const ask = async (path: string): Promise<number> => Number(await (await fetch(`${address}${path}`)).text())
  // On a slow machine a client waits for longer than autocannon does by default, and would leave again.
  const load = startAutocannon(['-c', '1000', '-d', '150', '-t', '150', `${address}/api/text/?limit=20`])
  t.teardown(() => load.kill())
  await waitFor('all are connected', async () => await ask('/connections') >= 1000, 120_000)
  const before = await ask('/served')
  const times: Record<string, number[]> = { healthz: [], readyz: [] }
  for (const end = performance.now() + 3000; performance.now() < end; await sleep(10)) {
    for (const [path, took] of Object.entries(times)) {
      const [status, milliseconds] = await askFresh(`${address}/${path}`)
      if (status !== 200) t.fail(`/${path} was answered with ${status}`)
      took.push(milliseconds)
    }
  }
  const served = await ask('/served') - before
  t.ok(served > 100, `${served} lists were served meanwhile`)
  for (const [path, took] of Object.entries(times)) {
    const p99 = took.sort((one, other) => one - other)[Math.floor(took.length * 0.99)] ?? Infinity
    const most = path === 'healthz' ? 250 : 1500
    t.ok(took.length > 10 && p99 <= most, `/${path}: p99 ${p99.toFixed(0)} ms of ${took.length}`)
  }
})
