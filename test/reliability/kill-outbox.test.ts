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
  const answers = await Promise.all(Array.from({ length: 60 }, async (_, index) => {
    const content = `message ${index}`
    const body = JSON.stringify({ content, pub_date: '2024-01-01 00:00:00' })
    if (index % 3 < 2) {
      const { status } = await fetch(`${addresses[index % 3]}/api/message/`, { method: 'POST', headers, body })
      return { status, content }
    }
    const payload = { to_user: 3 }
    const { statusCode } = await app.inject({ method: 'POST', url: '/api/relationship/', headers, payload })
    return { status: statusCode, content: undefined }
  }))
  const done = answers.filter(({ status }) => status === 201)
  t.equal(done.length + answers.filter(({ status }) => status === 503).length, 60, 'each is done or put off')
  t.ok(done.length > 20, `${done.length} are done`)
  const { stored, damages } = await look()
  t.same(damages, [], 'each message has its row in the outbox')
  const messages = done.flatMap(({ content }) => content ?? []).sort()
  t.same([...stored.values()].map(({ content }) => content).sort(), messages)
  const { meta } = (await app.inject('/api/relationship/?count=true')).json()
  t.equal(meta.count, done.length - messages.length, 'each relationship is there')
})
