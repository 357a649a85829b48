// @once: starts its own clusters
// @alone: measures how long others wait
// @covers: servers that are gone
// @long: waits until servers have failed and come back

import { setTimeout as sleep } from 'node:timers/promises'
import { sql, type Kysely } from 'kysely'
import tap, { test, type Test } from 'tap'
import { openMariadb } from '../../lib/mariadb.js'
import { openPostgres } from '../../lib/postgres.js'
import type { Tables } from '../../lib/engines/executor.js'
import { requireDatabase } from '../support/engines/lacks.js'
import { waitFor } from '../support/engines/wait-for.js'
import { startApp, type App } from './apps.js'
import { Client } from './client.js'
import { seed } from './site.js'
import { openProxy } from './tcp-proxy.js'

tap.setTimeout(120_000)
tap.jobs = 3

const openers = { postgres: openPostgres, mariadb: openMariadb }

/** How an app ends, and after how many milliseconds. */
async function end (app: App): Promise<readonly [unknown, number]> {
  const start = performance.now()
  const exit = await Promise.race([app.close(), sleep(15_000, 'it runs on')])
  return [exit, performance.now() - start]
}

/** Opens so many connections at once. */
async function openAll (db: Kysely<Tables>, count: number, nap: ReturnType<typeof sql>): Promise<void> {
  await Promise.all(Array.from({ length: count }, async () => await nap.execute(db)))
}

async function listUntilFull (t: Test, address: string): Promise<void> {
  const clients = Array.from({ length: 8 }, () => new Client(address, 'alice'))
  t.teardown(() => { for (const client of clients) client.close() })
  for (let round = 0; round < 5; round++) {
    t.ok((await Promise.all(clients.map(async (client) => await client.send('GET', ''))))
      .every(({ status }) => status === 200))
  }
}

for (const engine of ['postgres', 'mariadb'] as const) {
  const nap = engine === 'postgres' ? sql`select pg_sleep(0.2)` : sql`select sleep(0.2)`

  test(`R-38: ${engine}: an app whose server has vanished closes within seconds`, { buffered: true }, async (t) => {
    const direct = await requireDatabase(t, engine)
    if (direct === undefined) return
    await seed(direct)
    const proxy = await openProxy(t, direct)
    const app = await startApp(t, proxy.url)
    await listUntilFull(t, app.address)
    proxy.freeze()
    const [exit, took] = await end(app)
    t.strictSame(exit, [0, null])
    t.ok(took < 5000, `it ended after ${Math.round(took)} ms`)
  })

  test(`R-38: ${engine}: an app closes in seconds also after another host took over`, { buffered: true }, async (t) => {
    const direct = await requireDatabase(t, engine)
    if (direct === undefined) return
    await seed(direct)
    const [first, second] = [await openProxy(t, direct), await openProxy(t, direct)]
    const app = await startApp(t, first.url.replace(`:${first.port}`, `:${first.port},127.0.0.1:${second.port}`))
    await listUntilFull(t, app.address)
    first.freeze()
    const client = new Client(app.address, 'alice')
    t.teardown(() => { client.close() })
    await waitFor('the other host takes over', async () => (await client.send('GET', '')).status === 200)
    const [exit, took] = await end(app)
    t.strictSame(exit, [0, null])
    t.ok(took < 10_000, `it ended after ${Math.round(took)} ms`)
  })

  test(`D-125: ${engine}: a running statement ends before its connection is closed`, { buffered: true }, async (t) => {
    const direct = await requireDatabase(t, engine)
    if (direct === undefined) return
    const proxy = await openProxy(t, direct)
    const db = openers[engine]<Tables>(proxy.url, { connections: 4 })
    await openAll(db, 4, nap)
    const long = engine === 'postgres' ? sql`select pg_sleep(3)` : sql`select sleep(3)`
    const start = performance.now()
    const running = long.execute(db)
    await sleep(100)
    await db.destroy()
    const took = performance.now() - start
    await t.resolves(running)
    t.ok(took > 2900 && took < 5500, `closed ${Math.round(took)} ms after the beginning of a statement of 3000 ms`)
    await waitFor('nothing stays open', async () => proxy.open === 0)
  })
  test(`D-125: ${engine}: a connection held to a vanished server delays no closing`, { buffered: true }, async (t) => {
    const direct = await requireDatabase(t, engine)
    if (direct === undefined) return
    const proxy = await openProxy(t, direct)
    const db = openers[engine]<Tables>(proxy.url, { connections: 2, statementTimeout: 500 })
    let letGo = (): void => {}
    const held = db.connection().execute(async (connection) => {
      await nap.execute(connection)
      proxy.freeze()
      await t.rejects(nap.execute(connection), { message: 'The server does not answer' })
      await t.rejects(
        nap.execute(connection), { message: /^The statement was not sent/ }, 'at once, without another wait'
      )
      await new Promise<void>((resolve) => { letGo = resolve })
    })
    await sleep(3000)
    const start = performance.now()
    await db.destroy()
    const took = performance.now() - start
    t.ok(took < 5000, `closed after ${Math.round(took)} ms`)
    letGo()
    await held
  })

  test(`D-123: ${engine}: a connection is given up if no answer can come any more`, { buffered: true }, async (t) => {
    const direct = await requireDatabase(t, engine)
    if (direct === undefined) return
    const proxy = await openProxy(t, direct)
    const db = openers[engine]<Tables>(proxy.url, { connections: 1, statementTimeout: 500 })
    t.teardown(async () => { await db.destroy() })
    await nap.execute(db)
    proxy.freezeOpen()
    await t.rejects(nap.execute(db), { message: 'The server does not answer' })
    t.equal(proxy.open, 1, 'it is kept at first')
    await t.resolves(waitFor(
      'there is room for another one', async () => (await nap.execute(db)).rows.length === 1, 10_000
    ))
  })
}
