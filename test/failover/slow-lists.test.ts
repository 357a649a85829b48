// @once: on both servers
// @alone: 1,000 clients
// @long: keeps each server busy for seconds

import { Agent, request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { hash } from '@node-rs/argon2'
import Fastify from 'fastify'
import { sql } from 'kysely'
import tap, { test, type Test } from 'tap'
import restModels, {
  boolean, createTables, defineModel, openAuth, password, text, userAuth
} from '../../lib/index.js'
import { openMariadb } from '../../lib/mariadb.js'
import { openPostgres } from '../../lib/postgres.js'
import { requireDatabase } from '../support/engines/lacks.js'
import { basic } from '../support/site.js'

tap.setTimeout(120_000)

const readers = 1000
const writers = 8
/** Of each writer. */
const creates = 10
const openers = { postgres: openPostgres, mariadb: openMariadb }
/** A view whose one row takes a second. */
const views = {
  postgres: sql`create view report as select 1::bigint as id, 'x'::text collate "C" as label from pg_sleep(1)`,
  mariadb: sql`
    create view report as select id, nullif(label, '') as label from entry where label = 'x' and sleep(1) = 0`
}

const User = defineModel('User', {
  username: text({ unique: true }), password: password(), active: boolean({ default: true })
})
const Entry = defineModel('Entry', { label: text() })
const Report = defineModel('Report', { label: text({ nullable: true }) })

async function listen (t: Test, engine: keyof typeof openers): Promise<string | undefined> {
  const url = await requireDatabase(t, engine)
  if (url === undefined) return undefined
  const db = openers[engine](url)
  const app = Fastify({ forceCloseConnections: true })
  t.teardown(async () => { await app.close() })
  app.addHook('onClose', async () => { await db.destroy() })
  await createTables(db, [User, Entry])
  await db.insertInto('user').values({ username: 'alice', password: await hash('alice'), active: 1 }).execute()
  await db.insertInto('entry').values({ label: 'x' }).execute()
  await views[engine].execute(db)
  await app.register(restModels, { db, defaultAuth: userAuth(User) })
  app.restModels.register(Entry).register(Entry, { path: 'guestbook', auth: openAuth() }).register(Report)
  await app.restModels.setup()
  return await app.listen({ host: '127.0.0.1', port: 0 })
}

interface Asked {
  readonly url: string
  readonly method?: string
  readonly body?: string
}

/** Asks once; returns the status, or 0 if there was no answer. */
async function ask (agent: Agent, { url, method = 'GET', body = '' }: Asked): Promise<number> {
  const headers = { authorization: basic('alice'), 'content-type': 'application/json', 'content-length': body.length }
  return await new Promise<number>((resolve) => {
    request(url, { agent, method, headers }, (answer) => {
      answer.resume().once('close', () => { resolve(answer.statusCode ?? 0) })
    }).once('error', () => { resolve(0) }).end(body)
  })
}

/** Asks until `isEnough` says so of the number of answers; returns how often each status was answered. */
async function askOften (
  agent: Agent, asked: Asked, isEnough: (count: number) => boolean, pause = 0
): Promise<Map<number, number>> {
  const statuses = new Map<number, number>()
  for (let count = 0; !isEnough(count); count++) {
    const status = await ask(agent, asked)
    statuses.set(status, (statuses.get(status) ?? 0) + 1)
    await sleep(pause)
  }
  return statuses
}

function totalOf (counts: ReadonlyArray<ReadonlyMap<number, number>>): Record<number, number> {
  const total: Record<number, number> = {}
  for (const count of counts) for (const [status, times] of count) total[status] = (total[status] ?? 0) + times
  return total
}

for (const engine of ['postgres', 'mariadb'] as const) {
  test(`R-47: ${engine}: while 1,000 clients ask for slow lists, records are created`, async (t) => {
    const address = await listen(t, engine)
    if (address === undefined) return
    const agent = new Agent({ keepAlive: true, maxSockets: Infinity })
    t.teardown(() => { agent.destroy() })
    const body = JSON.stringify({ label: 'y' })
    let isOver = false
    const lists = Array.from({ length: readers }, async () =>
      await askOften(agent, { url: `${address}/api/report/` }, () => isOver))
    await sleep(1000)
    const created = await Promise.all(['entry', 'guestbook'].map(async (path) => totalOf(await Promise.all(
      Array.from({ length: writers }, async () => await askOften(
        agent, { url: `${address}/api/${path}/`, method: 'POST', body }, (count) => count === creates, 50))))))
    isOver = true
    for (const [index, name] of ['by users', 'by anybody'].entries()) {
      const { 201: count = 0 } = created[index] ?? {}
      t.ok(count >= 0.9 * writers * creates, `${name}: ${count} of ${writers * creates} were created`)
      t.comment(name, created[index])
    }
    const listed = totalOf(await Promise.all(lists))
    t.ok((listed[200] ?? 0) > 0, 'some lists are answered')
    t.ok((listed[503] ?? 0) > (listed[200] ?? 0), 'most are refused')
    t.comment('lists', listed)
  })
}
