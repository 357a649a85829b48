// @once: about files of SQLite, and processes that share them
// @alone: starts and ends processes
// @long: kills an app five times under load

import { test } from 'tap'
import { exampleSite } from './example-site.js'
import { killRounds, type KillReport } from './kill-rounds.js'
import { Ledger } from './ledger.js'

const rounds = 5

test(`R-01: no answered write is lost when the process is killed, ${rounds} times`, { timeout: 120_000 }, async (t) => {
  let report: KillReport | undefined
  for await (report of killRounds(t, { site: exampleSite(t.testdir()), rounds, seed: 1 })) {
    t.match(report, { lost: [], halfDone: [], damages: [] })
  }
  t.equal(report?.rounds, rounds)
  t.ok(Number(report?.acknowledged) > rounds * 10, `${report?.acknowledged} writes are enough to mean something`)
})

test('R-01: what is lost, invented or half done is found', async (t) => {
  const fields = (content: string) => ({ content, pub_date: `2024-01-01 00:00:${content.length}` })
  const [old, changed] = [fields('a record'), fields('a changed record')]
  const told = () => {
    const ledger = new Ledger()
    ledger.askCreate(old)
    ledger.tellCreated(1, old)
    return ledger
  }
  t.match(told().settle(new Map([[1, old]])), { lost: [], halfDone: [] })
  t.match(told().settle(new Map()), { lost: [/^1 a record/], halfDone: [] }, 'an acknowledged create')

  const asked = told()
  asked.askChange(1, changed)
  t.match(
    asked.settle(new Map([[1, { ...changed, pub_date: old.pub_date }]])),
    { lost: [], halfDone: [/^1 a changed record/] }, 'one column of two'
  )
  for (const [stored, isLost] of [[old, true], [changed, false]] as const) {
    const ledger = told()
    ledger.askChange(1, changed)
    ledger.tellChanged(1, changed)
    t.equal(ledger.settle(new Map([[1, stored]])).lost.length, Number(isLost), 'an acknowledged change')
  }
  for (const stored of [old, changed]) {
    const ledger = told()
    ledger.askChange(1, changed)
    t.match(
      ledger.settle(new Map([[1, stored]])), { lost: [], halfDone: [] },
      'a change that was not answered is there or not'
    )
    t.equal(ledger.settle(new Map([[1, stored === old ? changed : old]])).lost.length, 1, 'and then it stays so')
  }
  const removed = told()
  removed.askChange(1, null)
  removed.tellChanged(1, null)
  t.match(removed.settle(new Map([[1, old]])), { lost: [/^1 a record/] }, 'an acknowledged delete')
  t.match(told().settle(new Map([[1, old], [2, fields('of nobody')]])), { halfDone: [/^2 of nobody/] })
  t.match(told().settle(new Map([[1, old], [2, old]])), { lost: [/^2 a record/] }, 'twice')
})
