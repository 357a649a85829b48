// @alone: starts processes
// @long: four processes and all guarantees

import { join } from 'node:path'
import { test, type Test } from 'tap'
import { createTables } from '../../lib/index.js'
import { openSqlite } from '../../lib/sqlite.js'
import { emptyDatabase, engine, openUrl } from '../support/database.js'
import { basic, insert, siteModels, siteUsers } from '../support/site.js'
import { startWorker } from '../support/workers.js'

interface Request {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'DELETE'
  readonly path: string
  readonly as?: string
  readonly password?: string
  readonly body?: object
}

/** Sends a request to one of the processes, by number. */
type Send =
  (process: number, request: Request) => Promise<{ readonly status: number, readonly body: Record<string, unknown> }>

/** Four processes that serve the example project on one database, with a message and a relationship of alice's. */
async function startProcesses (t: Test): Promise<Send> {
  const url = await prepare(t)
  const workers = Array.from({ length: 4 }, () => startWorker<string>(t, 'processes/serve.ts', engine, url))
  const addresses = await Promise.all(workers.map(async ({ next }) => await next()))
  return async (process, { method = 'GET', path, as, password = as, body }) => {
    const reply = await fetch(`${addresses[process % addresses.length]}/api/${path}`, {
      method,
      headers: as === undefined ? {} : { authorization: basic(as, password) },
      ...(body && { body: JSON.stringify(body) })
    })
    const text = await reply.text()
    return { status: reply.status, body: text.startsWith('{') ? JSON.parse(text) as Record<string, unknown> : {} }
  }
}

async function prepare (t: Test): Promise<string> {
  const database = engine === 'sqlite'
    ? { url: join(t.testdir(), 'site.db'), remove: async () => {} }
    : await emptyDatabase()
  const db = engine === 'sqlite' ? openSqlite(database.url) : openUrl(database.url)
  await createTables(db, siteModels)
  await insert(db, {
    user: await siteUsers(),
    message: [{ id: 1, user_id: 2, content: 'first', pub_date: '2024-01-01 00:00:00' }],
    relationship: [{ id: 1, from_user_id: 2, to_user_id: 3 }]
  })
  await db.destroy()
  // After the processes have ended.
  t.teardown(database.remove)
  return database.url
}

function countOf (replies: ReadonlyArray<{ readonly status: number }>): Record<number, number> {
  const counts: Record<number, number> = {}
  for (const { status } of replies) counts[status] = (counts[status] ?? 0) + 1
  return counts
}

const newUser = { username: 'dave', password: 'dave', email: 'dave@example.com' }

async function onlyOneCreates (t: Test, send: Send): Promise<void> {
  const replies = await Promise.all(Array.from({ length: 20 }, async (_, number) =>
    await send(number, { method: 'POST', path: 'user/', as: 'admin', body: newUser })))
  t.same(countOf(replies), { 201: 1, 409: 19 })
  t.ok(replies.every(({ status, body }) => status === 201 ||
    (body['details'] as Array<{ field: string }>)[0]?.field === 'username'))
}

async function ownerRuleHolds (t: Test, send: Send): Promise<void> {
  const attempts = Array.from({ length: 40 }, async (_, number) => number % 2 === 0
    ? await send(number, { method: 'PUT', path: 'message/1/', as: 'alice', body: { content: `alice ${number}` } })
    : await send(number + number % 3, {
      method: number % 4 === 1 ? 'PUT' : 'DELETE', path: 'message/1/', as: 'bob', body: { content: 'bob' }
    }))
  t.same(countOf(await Promise.all(attempts)), { 200: 20, 403: 20 })
  t.match((await send(3, { path: 'message/1/' })).body, { id: 1, user_id: 2, content: /^alice / })
}

async function loginsEndEverywhere (t: Test, send: Send): Promise<void> {
  const everywhere = async (as: string, password?: string) =>
    countOf(await Promise.all([0, 1, 2, 3].map(async (number) =>
      await send(number, {
        method: 'PUT', path: 'message/1/', as, ...(password !== undefined && { password }), body: {}
      }))))
  const change = async (process: number, id: number, body: object, as = 'admin') =>
    (await send(process, { method: 'PUT', path: `user/${id}/`, as, body })).status
  t.same(await everywhere('alice'), { 200: 4 })
  t.equal(await change(1, 2, { password: 'new' }), 200)
  t.same(await everywhere('alice'), { 401: 4 }, 'the old password')
  t.same(await everywhere('alice', 'new'), { 200: 4 })
  t.equal(await change(2, 2, { active: false }), 200)
  t.same(await everywhere('alice', 'new'), { 401: 4 }, 'not active')
  t.equal(await change(3, 3, { admin: true }), 200)
  t.equal(await change(0, 4, { active: true }, 'bob'), 200)
  t.equal(await change(1, 3, { admin: false }), 200)
  t.same(
    countOf(await Promise.all([0, 1, 2, 3].map(async (number) =>
      await send(number, { method: 'DELETE', path: 'user/4/', as: 'bob' })))),
    { 403: 4 }, 'no admin any more'
  )
}

async function onlyOneDeletes (t: Test, send: Send): Promise<void> {
  const refused = await Promise.all([0, 1, 2, 3].map(async (number) =>
    await send(number, { method: 'DELETE', path: 'message/1/', as: 'bob' })))
  t.same(countOf(refused), { 403: 4 })
  const deleted = await Promise.all([0, 1, 2, 3].map(async (number) =>
    await send(number, { method: 'DELETE', path: 'relationship/1/', as: 'alice' })))
  t.same(countOf(deleted), { 204: 1, 404: 3 })
}

test('several processes on one database keep all guarantees', async (t) => {
  const send = await startProcesses(t)
  await t.test('of creates of one unique value one succeeds', async (t) => { await onlyOneCreates(t, send) })
  await t.test('the owner rule holds, whatever the others do at that moment', async (t) => {
    await ownerRuleHolds(t, send)
  })
  await t.test('of deletes of one record one succeeds, and none of a stranger', async (t) => {
    await onlyOneDeletes(t, send)
  })
  await t.test('a login that is revoked in one process ends in all of them with the next request', async (t) => {
    await loginsEndEverywhere(t, send)
  })
})
