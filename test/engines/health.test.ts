// @once: opens both servers itself

import { once } from 'node:events'
import { renameSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import SQLite from 'better-sqlite3'
import Fastify from 'fastify'
import { Kysely, PostgresDialect, SqliteDialect } from 'kysely'
import pg from 'pg'
import { test, type Test } from 'tap'
import type { HealthReport } from '../../lib/engines/health.js'
import { toNodeReport as ofMariadb } from '../../lib/engines/mariadb/node-state.js'
import { toNodeReport as ofPostgres } from '../../lib/engines/postgres/node-report.js'
import { NodeConnections } from '../../lib/engines/server/node-connections.js'
import { readNodesHealth, type NodeReport } from '../../lib/engines/server/nodes-health.js'
import { HealthCheck, type Health } from '../../lib/database/health.js'
import type { AnyKysely } from '../../lib/database/engine.js'
import type { Tables } from '../../lib/engines/executor.js'
import restModels, { type RestModelsOptions } from '../../lib/index.js'
import { openMariadb } from '../../lib/mariadb.js'
import { openPostgres } from '../../lib/postgres.js'
import { openSqlite } from '../../lib/sqlite.js'
import { engineNames } from '../support/engines/find-engine.js'
import { requireDatabase } from '../support/engines/lacks.js'
import { openProxy } from '../failover/tcp-proxy.js'

async function register (t: Test, options: RestModelsOptions) {
  const app = Fastify()
  t.teardown(async () => { await app.close() })
  await app.register(restModels, options)
  return app.restModels
}

const healthOf = async (db: AnyKysely, readDb = db): Promise<Health> => await new HealthCheck(db, readDb).read()

test('D-222: health tells the state of the database that the app uses, before setup() too', async (t) => {
  const db = openSqlite(':memory:')
  t.teardown(async () => { await db.destroy() })
  t.same(await (await register(t, { db })).health(), {
    status: 'up', engine: 'sqlite', role: 'single', replicaLagSeconds: 0, pool: null
  })
})

const openers = { postgres: openPostgres<Tables>, mariadb: openMariadb<Tables> }
for (const engine of engineNames) {
  test(`D-223: ${engine}: health takes no connection of the pool, and says who waits`, async (t) => {
    const url = await requireDatabase(t, engine)
    if (url === undefined) return
    const db = openers[engine](url, { connections: 1 })
    t.teardown(async () => { await db.destroy() })
    t.same(await healthOf(db), {
      status: 'up', engine, role: 'single', replicaLagSeconds: 0, pool: { size: 0, idle: 0, waiting: 0 }
    })
    let free = (): void => {}
    const isHeld = new Promise<void>((resolve) => { free = resolve })
    const holding = db.connection().execute(async (held) => {
      const waiting = db.selectNoFrom(({ lit }) => lit(1).as('one')).execute().catch((error: unknown) => error)
      const start = performance.now()
      t.match(await healthOf(db), { status: 'up', pool: { size: 1, idle: 0, waiting: 1 } })
      t.ok(performance.now() - start < 1500)
      await isHeld
      return { held, waiting }
    })
    free()
    await (await holding).waiting
    t.match(await healthOf(db), { status: 'up', pool: { size: 1, idle: 1, waiting: 0 } })
  })

  test(`D-222: ${engine} that is not reachable is down, in bounded time`, async (t) => {
    const url = await requireDatabase(t, engine)
    if (url === undefined) return
    const proxy = await openProxy(t, url)
    const db = openers[engine](proxy.url)
    t.teardown(async () => { await db.destroy() })
    t.equal((await healthOf(db)).status, 'up')
    proxy.freeze()
    const start = performance.now()
    t.match(await healthOf(db), { status: 'down', engine, role: null, replicaLagSeconds: null })
    const took = performance.now() - start
    t.ok(took > 900 && took < 1900, `${Math.round(took)} ms`)
    const closed = openers[engine](Object.assign(new URL(url), { port: '1' }).href)
    t.equal((await healthOf(closed)).status, 'down')
  })

  test(`D-222: ${engine} is down if it is closed, and nobody asks the server`, async (t) => {
    const server = createServer().listen(0, '127.0.0.1')
    t.teardown(() => server.close())
    server.on('connection', (socket) => {
      t.fail('asked')
      socket.destroy()
    })
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const db = openers[engine](`${engine}://me:secret@127.0.0.1:${port}/site`)
    await db.destroy()
    t.same(await healthOf(db), { status: 'down', engine, role: null, replicaLagSeconds: null, pool: null })
  })

  test(`D-222: ${engine} that is opened to read is read-only`, async (t) => {
    const url = await requireDatabase(t, engine)
    if (url === undefined) return
    const db = openers[engine](url, { readonly: true })
    t.teardown(async () => { await db.destroy() })
    t.match(await healthOf(db), { status: 'read-only', replicaLagSeconds: 0 })
  })
}

test('D-222: a file of SQLite that is opened to read is read-only', async (t) => {
  const path = join(t.testdir(), 'site.db')
  await openSqlite(path).destroy()
  const db = openSqlite(path, { readonly: true })
  t.match(await healthOf(db), { status: 'read-only', replicaLagSeconds: 0 })
  await db.destroy()
})

test('D-222: SQLite is read-only if its file was moved, and down if it is closed', async (t) => {
  const path = join(t.testdir(), 'site.db')
  const db = openSqlite(path)
  const whole = { engine: 'sqlite', role: 'single', replicaLagSeconds: 0, pool: null }
  t.same(await healthOf(db), { ...whole, status: 'up' })
  renameSync(path, `${path}.moved`)
  await new Promise((resolve) => setTimeout(resolve, 10))
  t.same(await healthOf(db), { ...whole, status: 'read-only' })
  await db.destroy()
  t.same(await healthOf(db), { ...whole, status: 'down', replicaLagSeconds: null })
})

test('D-224: a Kysely instance of your own is asked on its pool, one question at a time', async (t) => {
  const db = new Kysely<Tables>({ dialect: new SqliteDialect({ database: new SQLite(':memory:') }) })
  t.same(
    await healthOf(db), { status: 'up', engine: 'sqlite', role: null, replicaLagSeconds: null, pool: null })
  const gone = new Kysely<Tables>({
    dialect: new PostgresDialect({ pool: new pg.Pool({ connectionString: 'postgres://127.0.0.1:1/none' }) })
  })
  t.match(await healthOf(gone), { status: 'down', engine: 'postgres' })
  const own = openSqlite(':memory:')
  t.match(await healthOf(own, db), { status: 'up', role: 'single', replicaLagSeconds: null }, 'readDb tells no lag')
  t.match(await healthOf(db, own), { status: 'up', role: null, replicaLagSeconds: 0 })
  await own.destroy()
  let free = (): void => {}
  const isHeld = new Promise<void>((resolve) => { free = resolve })
  const held = db.connection().execute(async () => { await isHeld })
  const check = new HealthCheck(db, db)
  t.equal((await check.read()).status, 'down', 'somebody holds its only connection')
  free()
  await held
  await new Promise((resolve) => setTimeout(resolve, 300))
  t.equal((await check.read()).status, 'up')
  await db.destroy()
})

test('D-223: those who ask together, or soon after each other, get one answer', async (t) => {
  const db = openSqlite(':memory:')
  const check = new HealthCheck(db, db)
  const [one, other] = await Promise.all([check.read(), check.read()])
  t.equal(one, other)
  t.equal(await check.read(), one)
  await new Promise((resolve) => setTimeout(resolve, 300))
  t.not(await check.read(), one)
  await db.destroy()
})

interface Fake {
  readonly name: string
  readonly pool: { readonly size: number, readonly idle: number, readonly waiting: number }
  report (): Promise<NodeReport>
}

const fake = (name: string, size: number, report: NodeReport | Error): Fake => ({
  name,
  pool: { size, idle: 0, waiting: 0 },
  report: async () => {
    if (report instanceof Error) throw report
    return report
  }
})

test('D-222: of several servers, the one in use counts, then the first that serves', async (t) => {
  const up: NodeReport = { status: 'up', role: 'single', lag: 0, isUsable: true }
  const standby: NodeReport = { status: 'read-only', role: 'replica', lag: 5, isUsable: false }
  const gone = new Error('gone')
  const full = new Error('full')
  const of = async (used: Fake, ...others: readonly Fake[]): Promise<HealthReport> =>
    await readNodesHealth({ all: [...others, used], used }, (error) => error === full)
  t.same(await of(fake('a', 3, up)), {
    status: 'up', role: 'single', lag: 0, pool: { size: 3, idle: 0, waiting: 0 }
  })
  t.match(await of(fake('a', 3, up), fake('b', 1, up)), { role: 'primary', pool: { size: 3 } })
  t.match(await of(fake('a', 3, gone), fake('b', 1, up)), { status: 'up', role: 'primary', pool: { size: 1 } })
  t.match(await of(fake('a', 3, gone), fake('b', 1, standby)), { status: 'read-only', role: 'replica', lag: 5 })
  t.match(await of(fake('a', 3, gone), fake('b', 1, gone)), { status: 'down', role: null, pool: { size: 3 } })
  t.match(await of(fake('a', 3, full)), { status: 'up', role: null }, 'full, but this process has connections')
  t.match(await of(fake('a', 0, full)), { status: 'down' })
})

test('a server of PostgreSQL is judged by what it says, and by what it is for', (t) => {
  const primary = { standby: false, isReadOnly: false, hasStandbys: true, lag: 0 }
  const standby = { standby: true, isReadOnly: true, hasStandbys: false, lag: 700 }
  t.same(ofPostgres(primary, { writable: true }), { status: 'up', role: 'primary', lag: 0, isUsable: true })
  t.match(ofPostgres({ ...primary, hasStandbys: false }, { writable: true }), { role: 'single' })
  t.same(ofPostgres(standby, { writable: true }), { status: 'read-only', role: 'replica', lag: 700, isUsable: false })
  t.match(ofPostgres(standby, { writable: false, maxLag: 700 }), { isUsable: true })
  t.match(ofPostgres(standby, { writable: false, maxLag: 699 }), { lag: 700, isUsable: false })
  t.match(ofPostgres({ ...standby, lag: null }, { writable: false, maxLag: 699 }), { lag: null, isUsable: false })
  t.match(ofPostgres({ ...standby, lag: null }, { writable: false }), { status: 'read-only', isUsable: true })
  t.end()
})

test('a server of MariaDB, likewise', (t) => {
  const writer = { writable: true, readonly: false }
  const [single, replica] = [
    { isWritable: 1, isInCluster: 0, isReady: 0 }, { isWritable: 0, isInCluster: 0, isReady: 0 }
  ] as const
  t.same(ofMariadb(single, writer), { status: 'up', role: 'single', lag: 0, isUsable: true })
  t.match(ofMariadb({ isWritable: 1, isInCluster: 1, isReady: 1 }, writer), { status: 'up', role: 'primary', lag: 0 })
  t.same(ofMariadb(replica, writer), {
    status: 'read-only', role: 'replica', lag: null, isUsable: false
  })
  t.match(ofMariadb(replica, { writable: false, readonly: true }), { isUsable: true })
  t.match(ofMariadb(single, { writable: false, readonly: true }), { status: 'read-only' })
  t.match(ofMariadb(undefined, writer), { status: 'read-only', isUsable: false })
  t.end()
})

test('a pool counts those who wait for a connection', async (t) => {
  let give = (): void => {}
  const connections = new NodeConnections<object>({
    options: { connections: 2, readConnections: 1, readonly: false, statementTimeout: 1 },
    server: { name: 'PostgreSQL', opener: 'openPostgres()', host: 'db' },
    take: async () => { await new Promise<void>((resolve) => { give = resolve }); return {} },
    socketOf: () => { throw new Error('there is none') },
    idOf: () => 1,
    askBusy: async () => new Set<number>()
  })
  t.same(connections.pool, { size: 0, idle: 0, waiting: 0 })
  const taken = connections.take('read').catch((error: unknown) => error)
  t.same(connections.pool, { size: 0, idle: 0, waiting: 1 })
  give()
  await taken
  t.same(connections.pool, { size: 0, idle: 0, waiting: 0 })
})
