import Fastify from 'fastify'
import { sql, type Kysely } from 'kysely'
import restModels, { createTables } from '../../lib/index.js'
import { openMariadb } from '../../lib/mariadb.js'
import { openPostgres } from '../../lib/postgres.js'
import type { Tables } from '../../lib/engines/executor.js'
import { openSqlite } from '../../lib/sqlite.js'
import { hostileLists, texts, Wide } from './hostile-lists.js'
import type { ShapeReport } from './shapes-by-weight.js'

/** An app that is asked for lists of ever new shapes, by itself, and tells what they leave in memory. */

const connections = 10
/** A fifth of the connections is kept for reads, so that ten may be held here. */
const pool = { connections: 12 }
const openers = {
  sqlite: (path: string) => openSqlite(path),
  postgres: (url: string) => openPostgres(url, pool),
  mariadb: (url: string) => openMariadb(url, pool)
}
const [engine = 'sqlite', url = '', shapes = '0', times = '1', seed = '1'] = process.argv.slice(2) as [
  keyof typeof openers, ...string[]
]
const mebibyte = 2 ** 20
const db: Kysely<Tables> = openers[engine](url)
const app = Fastify()

/** What the connections of this app take of the server, in MiB; nothing where there is no server. */
const serverQueries = {
  sqlite: undefined,
  postgres: sql<{ id: number, bytes: number }>`select pg_backend_pid() as id,
    (select sum(total_bytes) from pg_backend_memory_contexts)::float as bytes`,
  mariadb: sql<{ id: number, bytes: number }>`select connection_id() as id,
    (select memory_used from information_schema.processlist where id = connection_id()) + 0e0 as bytes`
}

async function serverMemory (): Promise<number> {
  const query = serverQueries[engine]
  if (query === undefined) return 0
  let begun = 0
  let allBegun = (): void => {}
  const all = new Promise<void>((resolve) => { allBegun = resolve })
  const sizes = await Promise.all(Array.from({ length: connections }, async () =>
    await db.connection().execute(async (connection) => {
      if (++begun === connections) allBegun()
      await all
      return Number((await query.execute(connection)).rows[0]?.bytes)
    })))
  return sizes.reduce((sum, size) => sum + size, 0) / mebibyte
}

async function measure (): Promise<{ readonly process: number, readonly server: number }> {
  const server = await serverMemory()
  for (let round = 0; round < 3; round++) {
    globalThis.gc?.()
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  return { process: process.memoryUsage().rss / mebibyte, server }
}

let peak = 0
const statuses: Record<string, number> = {}

async function send (urls: readonly string[]): Promise<void> {
  const waiting = [...urls]
  await Promise.all(Array.from({ length: connections }, async () => {
    for (let url = waiting.pop(); url !== undefined; url = waiting.pop()) {
      const { statusCode } = await app.inject({ url })
      statuses[statusCode] = (statuses[statusCode] ?? 0) + 1
      peak = Math.max(peak, process.memoryUsage.rss() / mebibyte)
    }
  }))
}

/** Microseconds that a list of an ordinary shape takes this process. */
async function ordinaryTime (): Promise<number> {
  const ordinary = Array<string>(200).fill('/api/wide/?text1=1&ordering=-integer1')
  await send(ordinary)
  const start = process.cpuUsage()
  await send(ordinary)
  const { user, system } = process.cpuUsage(start)
  return (user + system) / ordinary.length
}

await createTables(db, [Wide])
for (let id = 1; id <= 50; id++) {
  await db.insertInto('wide').values({ id, text1: '1', integer1: 1, parent_id: id }).execute()
}
await app.register(restModels, { db })
app.restModels.register(Wide, { search: texts })
await app.restModels.setup()
await app.ready()

// What any traffic takes is not counted.
await send(Array<string>(1500).fill('/api/wide/?limit=100'))
const timeBefore = await ordinaryTime()
const before = await measure()
peak = before.process
const start = performance.now()
const lists = hostileLists(Number(shapes), Number(seed))
await send(lists.flatMap((url) => Array<string>(Number(times)).fill(url)))
const seconds = (performance.now() - start) / 1000
const after = await measure()
const report: ShapeReport = {
  process: after.process - before.process,
  peak: peak - before.process,
  server: after.server - before.server,
  seconds,
  statuses,
  ordinary: [timeBefore, await ordinaryTime()]
}
await app.close()
await db.destroy()
process.send?.(report, () => process.disconnect())
