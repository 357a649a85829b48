// @alone: starts and ends processes
// @long: kills an app under load

import { join } from 'node:path'
import { test } from 'tap'
import { emptyDatabase, engine } from '../support/database.js'
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
