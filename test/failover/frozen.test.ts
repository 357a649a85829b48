// @once: starts its own clusters
// @alone: measures how long others wait
// @covers: servers that no longer answer
// @long: waits until servers have failed and come back

import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import tap, { test, type Test } from 'tap'
import { openMariadb } from '../../lib/mariadb.js'
import { openPostgres } from '../../lib/postgres.js'
import { lacks } from '../support/engines/lacks.js'
import { startMariadb } from '../support/engines/mariadb-server.js'
import { startPostgres } from '../support/engines/postgres-server.js'
import type { PrivateServer } from '../support/engines/private-server.js'
import { freeze } from './processes.js'
import { serve } from './serve.js'
import { seed } from './site.js'

const engines = {
  postgres: { start: startPostgres, open: openPostgres },
  mariadb: { start: startMariadb, open: openMariadb }
}
const as = 'alice'

// They wait more than they work.
tap.jobs = 4

/** A host that takes connections and never says a word. */
async function startMute (t: Test): Promise<number> {
  const mute = createServer().listen(0, '127.0.0.1')
  t.teardown(() => { mute.close() })
  await once(mute, 'listening')
  return (mute.address() as AddressInfo).port
}

async function startServer (t: Test, engine: keyof typeof engines): Promise<PrivateServer> {
  const server = await engines[engine].start()
  t.teardown(server.stop)
  await seed(server.url)
  return server
}

async function timed<Result> (work: () => Promise<Result>): Promise<readonly [Result, number]> {
  const start = performance.now()
  return [await work(), performance.now() - start] as const
}

for (const engine of ['postgres', 'mariadb'] as const) {
  test(`${engine}: a silent host is passed over after 250 ms, and not asked again`, { buffered: true }, async (t) => {
    if (lacks(t, engine)) return
    const { url, port } = await startServer(t, engine)
    const [{ post }, start] = await timed(async () =>
      await serve(t, engines[engine].open(url.replace(`:${port}`, `:${await startMute(t)},127.0.0.1:${port}`))))
    t.ok(start > 240 && start < 4000, `the start took ${Math.round(start)} ms`)
    const [reply, took] = await timed(async () => await post('/api/entry/', { label: 'a' }, { as }))
    t.equal(reply.statusCode, 201)
    t.ok(took < 1900, `a request took ${Math.round(took)} ms`)
  })

  test(`${engine}: when the server freezes, all requests are put off in time`, { buffered: true }, async (t) => {
    if (lacks(t, engine)) return
    const server = await startServer(t, engine)
    const { get, post, put, health } = await serve(
      t, engines[engine].open(server.url, { statementTimeout: 500, connections: 4 })
    )
    await Promise.all(['a', 'b', 'c', 'd'].map(async (label) => {
      t.equal((await post('/api/entry/', { label }, { as })).statusCode, 201)
    }))
    const thaw = await freeze(server)
    const [{ status }, frozen] = await timed(async () => await health())
    t.ok(status === 'down' && frozen < 2000, `R-44: ${status} after ${Math.round(frozen)} ms`)
    t.teardown(thaw)
    const asked = Array.from({ length: 10 }, (_, number) => [
      async () => await get('/api/entry/'),
      async () => await post('/api/entry/', { label: `${number}` }, { as }),
      async () => await put('/api/entry/1/', { note: 'changed' }, { as })
    ]).flat()
    const answers = await Promise.all(asked.map(timed))
    for (const [{ statusCode, headers }] of answers) {
      t.match({ statusCode, headers }, { statusCode: 503, headers: { 'retry-after': /^[1-9]\d*$/ } })
    }
    const slowest = Math.max(...answers.map(([, took]) => took))
    t.ok(slowest < 10_000, `the last of ${asked.length} is answered after ${Math.round(slowest)} ms`)
    thaw()
    t.equal((await post('/api/entry/', { label: 'e' }, { as })).statusCode, 201, 'and then it goes on')
  })
}
