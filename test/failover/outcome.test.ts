// @once: cuts the connections to both servers
// @alone: measures nothing, but has hundreds of connections cut
// @long: waits for answers that never come

import { setTimeout as sleep } from 'node:timers/promises'
import Fastify from 'fastify'
import tap, { test, type Test } from 'tap'
import restModels, { createTables, defineModel, openAuth, text } from '../../lib/index.js'
import { openMariadb } from '../../lib/mariadb.js'
import { openPostgres } from '../../lib/postgres.js'
import { requireDatabase } from '../support/engines/lacks.js'
import { runSql } from '../support/engines/sql.js'
import { waitFor } from '../support/engines/wait-for.js'
import { openCuttingProxy } from './cutting-proxy.js'

/** Writes to each server. By hand: `OUTCOME_WRITES=20000`. */
const writes = Number(process.env['OUTCOME_WRITES'] ?? 400)
const seed = Number(process.env['OUTCOME_SEED'] ?? 28)
const writers = 24

tap.setTimeout(Math.max(120_000, writes * 50))

const openers = { postgres: openPostgres, mariadb: openMariadb }

const Entry = defineModel('Entry', { label: text({ unique: true }) })
const Log = defineModel('Log', { label: text({ unique: true }) })
/** Records that are there from the beginning, each to be changed once. */
const Sheet = defineModel('Sheet', { label: text() })

const kinds = ['create', 'create', 'create in a transaction', 'update'] as const

/** Statements that end the connections of the app that are busy, as an administrator would. */
const kills = {
  postgres: "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'fastify-rest-models' " +
    "and datname = current_database() and state <> 'idle'",
  mariadb: "select concat('kill ', id) as kill_it from information_schema.processlist where db = database() and " +
    "id <> connection_id() and command <> 'Sleep'"
}

async function serveBehindCuts (t: Test, engine: keyof typeof openers) {
  const direct = await requireDatabase(t, engine)
  if (direct === undefined) return undefined
  const setup = openers[engine](direct)
  await createTables(setup, [Entry, Log, Sheet])
  for (let first = 0; first < writes; first += 1000) {
    await setup.insertInto('sheet').values(
      Array.from({ length: Math.min(1000, writes - first) }, (_, number) => ({ id: first + number + 1, label: '-' }))
    ).execute()
  }
  await setup.destroy()
  const proxy = await openCuttingProxy(t, direct, seed)
  const db = openers[engine](proxy.url, { statementTimeout: 400, connections: 10 })
  const app = Fastify()
  t.teardown(async () => { await app.close() })
  app.addHook('onClose', async () => { await db.destroy() })
  await app.register(restModels, { db, defaultAuth: openAuth() })
  app.restModels.register(Entry).register(Sheet)
  app.restModels.register(Log, { afterWrite: async () => {} })
  await app.restModels.setup()
  return { app, direct, proxy }
}

type Served = NonNullable<Awaited<ReturnType<typeof serveBehindCuts>>>

const requests = {
  create: ['POST', '/api/entry/'], 'create in a transaction': ['POST', '/api/log/'], update: ['PUT', '/api/sheet/']
} as const

/** Sends writes, and returns the labels by what their clients were told. */
async function writeAll ({ app }: Served): Promise<ReadonlyMap<string, readonly string[]>> {
  const told = new Map<string, string[]>()
  let next = 1
  const write = async (): Promise<void> => {
    for (let number = next++; number <= writes; number = next++) {
      const label = `<${number}>`
      const kind = kinds[number % kinds.length] ?? 'create'
      const [method, path] = requests[kind]
      const url = kind === 'update' ? `${path}${number}/` : path
      const reply = await app.inject({ method, url, payload: { label } })
      const outcome = reply.statusCode < 300 ? 'done' : String(reply.json().code)
      told.set(outcome, [...told.get(outcome) ?? [], label])
    }
  }
  await Promise.all(Array.from({ length: writers }, write))
  return told
}

async function storedIn (url: string): Promise<readonly string[]> {
  const rows = await Promise.all(['entry', 'log', 'sheet'].map(async (table) =>
    await runSql(url, `select label from ${table} where label <> '-'`)))
  return rows.flat().map(({ label }) => String(label))
}

async function killSometimes (url: string, engine: keyof typeof kills, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await sleep(700)
    const rows = await runSql(url, kills[engine])
    for (const { kill_it: kill } of rows) if (kill !== undefined) await runSql(url, String(kill)).catch(() => {})
  }
}

for (const engine of ['postgres', 'mariadb'] as const) {
  test(`R-46: ${engine}: each 503 tells rightly whether the write was certainly not done`, async (t) => {
    const served = await serveBehindCuts(t, engine)
    if (served === undefined) return
    const end = new AbortController()
    const killing = killSometimes(served.direct, engine, end.signal)
    const told = await writeAll(served)
    end.abort()
    await killing
    const { done = [], REST_MODELS_UNAVAILABLE: undone = [], REST_MODELS_OUTCOME_UNKNOWN: unknown = [], ...others } =
      Object.fromEntries(told)
    let stored = await storedIn(served.direct)
    await waitFor('the server has done what it was sent', async () => {
      const before = stored.length
      await sleep(1500)
      stored = await storedIn(served.direct)
      return stored.length === before
    })
    const there = new Set(stored)
    t.equal(there.size, stored.length, 'nothing is there twice')
    t.same(others, {}, 'no other answers')
    t.same(done.filter((label) => !there.has(label)), [], 'what is done is there')
    t.same(undone.filter((label) => there.has(label)), [], 'what is certainly not done is not there')
    t.same(unknown.filter((label) => !served.proxy.sent.has(label)), [], 'unknown is only what was sent')
    t.ok(undone.length > 0 && unknown.length > 0)
    t.comment(`seed ${seed}: ${writes} writes: done ${done.length}, certainly not ${undone.length}, unknown ` +
      `${unknown.length} (of which done ${unknown.filter((label) => there.has(label)).length}); ` +
      JSON.stringify(served.proxy.faults))
  })
}
