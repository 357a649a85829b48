// @once: starts with servers of its own choice
// @long: waits for locks and time-outs

import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { promisify } from 'node:util'
import Fastify from 'fastify'
import { sql, type Kysely } from 'kysely'
import { test, type Test } from 'tap'
import restModels, { createTables, defineModel, integer, openAuth, text } from '../../lib/index.js'
import type { Tables } from '../../lib/engines/executor.js'
import { openMariadb } from '../../lib/mariadb.js'
import { openPostgres } from '../../lib/postgres.js'
import { requireDatabase } from '../support/engines/lacks.js'
import { readPage } from './page.js'

const run = promisify(execFile)
const { text: page, blocks } = readPage('docs/zero-downtime.md')
const Item = defineModel('Item', { name: text(), pieces: integer({ column: 'qty', default: 1 }) })

/** An app that is asked all the time. @returns what ends it, with the statuses and the longest wait */
async function startAsking (t: Test, db: Kysely<Tables>) {
  await createTables(db, [Item])
  const app = Fastify()
  app.addHook('onClose', async () => { await db.destroy() })
  t.teardown(async () => { await app.close() })
  await app.register(restModels, { db, defaultAuth: openAuth() })
  app.restModels.register(Item)
  await app.restModels.setup()
  const seen = { statuses: new Set<number>(), longest: 0 }
  const stopped = new AbortController()
  const asking = (async () => {
    for (; !stopped.signal.aborted; await wait(20)) {
      const began = performance.now()
      const { statusCode } = await app.inject({ method: 'POST', url: '/api/item/', payload: { name: 'x' } })
      seen.statuses.add(statusCode)
      seen.longest = Math.max(seen.longest, performance.now() - began)
    }
  })()
  return async () => {
    stopped.abort()
    await asking
    return { statuses: [...seen.statuses], longest: seen.longest }
  }
}

/** Reads the table in a transaction that takes its time, as a report does. @returns once it has read, with its end */
async function startReport (db: Kysely<Tables>, milliseconds: number): Promise<{ readonly ended: Promise<void> }> {
  return await new Promise((resolve, reject) => {
    const ended = db.transaction().execute(async (transaction) => {
      await transaction.selectFrom('item').select('id').limit(1).execute()
      resolve({ ended })
      await wait(milliseconds)
    }).finally(async () => { await db.destroy() })
    ended.catch(reject)
  })
}

/** More than a request may wait; the migration would have to wait as long. */
const reportMs = 7000

test('D-244: migrate.mjs waits two seconds for its lock, and tries again until a report has ended', async (t) => {
  const url = await requireDatabase(t, 'postgres')
  if (url === undefined) return
  const folder = mkdtempSync(join(resolve('dist'), 'page-'))
  t.teardown(() => { rmSync(folder, { recursive: true }) })
  mkdirSync(join(folder, 'migrations'))
  const programOf = (name: string): string =>
    blocks.find(({ content }) => content.startsWith(`// ${name}\n`))?.content ?? ''
  writeFileSync(join(folder, 'migrate.mjs'), programOf('migrate.mjs'))
  writeFileSync(join(folder, 'migrations', '1-expand.mjs'), programOf('1-expand.mjs'))
  const stopAsking = await startAsking(t, openPostgres(url))
  const report = await startReport(openPostgres(url), reportMs)
  const began = performance.now()
  const { stdout } = await run(process.execPath, ['migrate.mjs'], {
    cwd: folder, env: { PATH: process.env['PATH'], DATABASE_URL: url }
  })
  t.match(stdout, '1-expand Error\n', 'it had to give up')
  t.match(stdout, /1-expand Success\n$/)
  t.ok(performance.now() - began > reportMs - 1000)
  await report.ended
  const { statuses, longest } = await stopAsking()
  t.same(statuses, [201])
  t.ok(longest > 1000 && longest < 4000, `requests waited for ${longest} ms`)
})

test('D-244: `wait 2` does the same on MariaDB', async (t) => {
  const url = await requireDatabase(t, 'mariadb')
  if (url === undefined) return
  const statement = /`(alter table item wait 2 add column) …`/.exec(page)?.[1] ?? ''
  const stopAsking = await startAsking(t, openMariadb(url))
  const report = await startReport(openMariadb(url), 4000)
  const db = openMariadb(url, { statementTimeout: 3_600_000 })
  t.teardown(async () => { await db.destroy() })
  const migrate = async (): Promise<unknown> =>
    await sql.raw(`${statement} pieces integer not null default 1`).execute(db)
  const began = performance.now()
  await t.rejects(migrate(), /Lock wait timeout exceeded/)
  t.ok(performance.now() - began < 3500)
  await report.ended
  await migrate()
  const { statuses, longest } = await stopAsking()
  t.same(statuses, [201])
  t.ok(longest > 1000 && longest < 4000, `requests waited for ${longest} ms`)
})

test('D-244: statements of a handle for migrations may take longer than five seconds', async (t) => {
  const urls = await Promise.all((['postgres', 'mariadb'] as const).map(async (name) => await requireDatabase(t, name)))
  const [milliseconds] = /(?<=statementTimeout: )[\d_]+(?= \}\)\nconst provider)/.exec(page) ?? []
  const statementTimeout = Number(milliseconds?.replaceAll('_', ''))
  t.equal(statementTimeout, 3_600_000)
  await Promise.all(urls.flatMap((url) => {
    if (url === undefined) return []
    const [open, nap] = url.startsWith('postgres')
      ? [openPostgres, sql`select pg_sleep(6.5)`] as const
      : [openMariadb, sql`select sleep(6.5)`] as const
    return [
      t.resolves(napOn(open(url, { statementTimeout }), nap)),
      t.rejects(napOn(open(url), nap), /statement timeout|max_statement_time exceeded|The server does not answer/)
    ]
  }))
})

async function napOn (db: Kysely<Tables>, nap: ReturnType<typeof sql>): Promise<void> {
  await nap.execute(db).finally(async () => { await db.destroy() })
}
