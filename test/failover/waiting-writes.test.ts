// @once: starts its own clusters
// @alone: measures how long others wait
// @long: waits until servers have failed and come back

import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import tap, { test, type Test } from 'tap'
import type { ServerOptions } from '../../lib/engines/server/server-options.js'
import { openMariadb } from '../../lib/mariadb.js'
import { openPostgres } from '../../lib/postgres.js'
import { lacks } from '../support/engines/lacks.js'
import { startMariadb } from '../support/engines/mariadb-server.js'
import { startPostgres } from '../support/engines/postgres-server.js'
import type { ServerOptions as StartOptions } from '../support/engines/private-server.js'
import { runSql } from '../support/engines/sql.js'
import { waitFor } from '../support/engines/wait-for.js'
import { serve } from './serve.js'
import { seed } from './site.js'

tap.setTimeout(120_000)
tap.jobs = 2

const engines = {
  postgres: { start: startPostgres, open: openPostgres },
  mariadb: { start: startMariadb, open: openMariadb }
}
const as = 'alice'

interface Start {
  readonly options: ServerOptions
  readonly settings: NonNullable<StartOptions['settings']>
}

async function start (t: Test, engine: keyof typeof engines, { options, settings }: Start) {
  const server = await engines[engine].start({ settings })
  t.teardown(server.stop)
  await seed(server.url)
  const db = engines[engine].open(server.url, options)
  return { server, db, ...await serve(t, db) }
}

type Served = Awaited<ReturnType<typeof serve>>

/**
 * Writers and readers that do the same again and again for some time: how often each status was answered, and the
 * slowest read.
 */
async function work ({ get, post }: Pick<Served, 'get' | 'post'>, milliseconds: number) {
  const start = performance.now()
  const end = start + milliseconds
  const seen = { reads: new Map<number, number>(), writes: new Map<number, number>(), slowestRead: 0 }
  const count = (map: Map<number, number>, status: number): void => { map.set(status, (map.get(status) ?? 0) + 1) }
  const read = async (): Promise<void> => {
    while (performance.now() < end) {
      const asked = performance.now()
      count(seen.reads, (await get('/api/entry/?limit=3')).statusCode)
      seen.slowestRead = Math.max(seen.slowestRead, performance.now() - asked)
      await sleep(20)
    }
  }
  const write = async (writer: number): Promise<void> => {
    for (let number = 0; performance.now() < end; number++) {
      count(seen.writes, (await post('/api/entry/', { label: `${start} ${writer} ${number}` }, { as })).statusCode)
      await sleep(20)
    }
  }
  await Promise.all([
    ...Array.from({ length: 4 }, read), ...Array.from({ length: 12 }, async (_, writer) => { await write(writer) })
  ])
  return { ...seen, reads: [...seen.reads.keys()], writes: [...seen.writes.keys()] }
}

test('R-37: postgres: while no standby confirms a write, reads are answered', { buffered: true }, async (t) => {
  if (lacks(t, 'postgres')) return
  const most = 24
  const served = await start(t, 'postgres', {
    options: { connections: 10, statementTimeout: 500 }, settings: { max_connections: most }
  })
  const { url } = served.server
  const require = async (names: string): Promise<void> => {
    await runSql(url, `alter system set synchronous_standby_names = '${names}'`)
    await runSql(url, 'select pg_reload_conf()')
  }
  await require('ANY 1 (gone, lost)')
  await waitFor('writes wait', async () =>
    (await served.post('/api/entry/', { label: 'first' }, { as })).statusCode === 503)
  const { reads, writes, slowestRead } = await work(served, 12_000)
  t.strictSame([reads, writes], [[200], [503]])
  t.ok(slowestRead < 1500, `the slowest read took ${Math.round(slowestRead)} ms`)
  // One that has just been given up ends a moment after another one has taken its place.
  await waitFor('the server has ten connections of the app at most', async () => (await runSql(
    url, "select pid from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid()"
  )).length <= 10, 1000)
  await require('')
  await waitFor(
    'writes go on', async () => (await served.post('/api/entry/', { label: 'after' }, { as })).statusCode === 201,
    5000
  )
  const next = await work(served, 500)
  t.strictSame(next.writes, [201])
})

test('D-234: postgres: a commit whose wait for a standby is cancelled is unknown', { buffered: true }, async (t) => {
  if (lacks(t, 'postgres')) return
  const { server: { url }, post, get } = await start(t, 'postgres', { options: {}, settings: {} })
  await runSql(url, "alter system set synchronous_standby_names = 'ANY 1 (gone, lost)'")
  await runSql(url, 'select pg_reload_conf()')
  const cancel = "select pg_cancel_backend(pid) as done from pg_stat_activity where wait_event = 'SyncRep'"
  await waitFor('commits wait', async () => {
    const answer = post('/api/entry/', { label: 'cancelled' }, { as })
    await waitFor('it waits or has ended', async () =>
      (await runSql(url, cancel)).length > 0 || await Promise.race([answer.then(() => true), sleep(50, false)]))
    const { code } = (await answer).json<{ code?: string }>()
    if (code === undefined) await runSql(url, "delete from entry where label = 'cancelled'; select 1").catch(() => {})
    return code === 'REST_MODELS_OUTCOME_UNKNOWN'
  })
  t.equal((await get('/api/entry/?label=cancelled')).json().objects.length, 1, 'it is there on this server')
})

const locks = {
  postgres: { take: 'begin; lock table entry in share mode', give: 'rollback' },
  mariadb: { take: 'flush tables with read lock', give: 'unlock tables' }
}

for (const engine of ['postgres', 'mariadb'] as const) {
  test(`D-124: ${engine}: writes that wait for a lock leave connections for reads`, { buffered: true }, async (t) => {
    if (lacks(t, engine)) return
    const { server, db, get, post } = await start(t, engine, { options: { connections: 5 }, settings: {} })
    const other = engines[engine].open(server.url, { connections: 1 })
    t.teardown(async () => { await other.destroy() })
    await other.connection().execute(async (held) => {
      for (const statement of locks[engine].take.split('; ')) await sql.raw(statement).execute(held)
      const waiting = Promise.all(Array.from({ length: 20 }, async (_, number) =>
        await post('/api/entry/', { label: `${number}` }, { as })))
      await sleep(500)
      for (let number = 0; number < 20; number++) {
        const start = performance.now()
        t.equal((await get('/api/entry/?limit=3')).statusCode, 200)
        const took = performance.now() - start
        t.ok(took < 1900, `a read took ${Math.round(took)} ms`)
        await sleep(50)
      }
      await sql.raw(locks[engine].give).execute(held)
      const statuses = new Set((await waiting).map(({ statusCode }) => statusCode))
      for (const status of statuses) t.ok([201, 503].includes(status), String(status))
    })
    t.ok((await sql`select 1`.execute(db)).rows.length === 1)
  })
}
