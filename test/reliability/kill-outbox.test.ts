// @alone: starts and ends processes
// @long: kills an app under load

import { join } from 'node:path'
import { test } from 'tap'
import { emptyDatabase, engine } from '../support/database.js'
import { basic } from '../support/site.js'
import { openSite, startWorker } from '../support/workers.js'
import { killRounds, type KillReport } from './kill-rounds.js'
import { outboxSite } from './outbox-site.js'

const rounds = 3

test(`R-01: a killed process leaves each record and its outbox row, or neither, ${rounds} times`, async (t) => {
  const database = engine === 'sqlite'
    ? { url: join(t.testdir(), 'site.db'), remove: async () => {} }
    : await emptyDatabase()
  t.teardown(database.remove)
  let report: KillReport | undefined
  for await (report of killRounds(t, { site: await outboxSite(database.url), rounds, seed: 1 })) {
    t.match(report, { lost: [], halfDone: [], damages: [] })
  }
  t.equal(report?.rounds, rounds)
  t.ok(Number(report?.acknowledged) > rounds, `${report?.acknowledged} writes are enough to mean something`)
})

test('D-98: two processes with hooks and one without write to a file, and no write is lost or doubled', {
  skip: engine !== 'sqlite' && 'about files of SQLite'
}, async (t) => {
  const url = join(t.testdir(), 'site.db')
  const { look } = await outboxSite(url)
  const { app } = await openSite(url)
  t.teardown(async () => { await app.close() })
  const workers = [1, 2].map(() => startWorker<string>(t, 'reliability/outbox-serve.ts', url))
  const addresses = await Promise.all(workers.map(async ({ next }) => await next()))
  const headers = { authorization: basic('alice') }
  const statuses = await Promise.all(Array.from({ length: 60 }, async (_, index) => {
    const body = JSON.stringify({ content: `message ${index}`, pub_date: '2024-01-01 00:00:00' })
    if (index % 3 < 2) {
      return (await fetch(`${addresses[index % 3]}/api/message/`, { method: 'POST', headers, body })).status
    }
    const payload = { to_user: 3 }
    return (await app.inject({ method: 'POST', url: '/api/relationship/', headers, payload })).statusCode
  }))
  const count = (status: number) => statuses.filter((one) => one === status).length
  t.equal(count(201) + count(503), 60, 'each is done or put off')
  t.ok(count(201) > 20, `${count(201)} are done`)
  const { stored, damages } = await look()
  t.same(damages, [], 'each message has its row in the outbox')
  t.ok(stored.size <= 40 && new Set([...stored.values()].map(({ content }) => content)).size === stored.size)
})
