// @once: about files of SQLite, and processes that share them
// @alone: starts and ends processes
// @long: sends traffic for half a minute

import { test } from 'tap'
import { overload } from '../endurance/overloading.js'
import { beyond, soak, toLine, type SoakReport } from '../endurance/soaking.js'

test('R-21: mixed traffic is answered as it should be, and leaves no open files and no growing log', async (t) => {
  const report = await soak(t, { folder: t.testdir(), seconds: 4 })
  t.same(beyond(report, { answered: 0.1, p99: 2000, growth: 1.5 }), [], toLine(report))
})

test('R-21: what grows, is slow or is answered wrongly is found', async (t) => {
  const sound: SoakReport = {
    answered: 3000, seconds: 10, p99: 10, wrong: {}, rss: [100, 110], descriptors: [9, 9], wal: 4096
  }
  const bounds = { answered: 0.9, p99: 100, growth: 1.2 }
  t.same(beyond(sound, bounds), [])
  const broken: ReadonlyArray<Partial<SoakReport>> = [
    { answered: 2000 }, { p99: 101 }, { rss: [100, 121] }, { descriptors: [9, 30] }, { wal: 65 * 2 ** 20 },
    { wrong: { 'GET /: 500 in place of 200': 1 } }
  ]
  for (const change of broken) t.equal(beyond({ ...sound, ...change }, bounds).length, 1, Object.keys(change).join())
})

test('R-22: @fastify/under-pressure answers a crowd with 503; the health route and others are served', async (t) => {
  const { crowd, health, others, after, loop } = await overload(t, {
    folder: t.testdir(), seconds: 1, visits: 4, connections: 300, slowSenders: 60, messages: 2000, sheds: true
  })
  t.ok(Number(crowd['200']) > 0 && Number(crowd['503']) > 0, JSON.stringify(crowd))
  t.same([crowd['none'], Object.keys(crowd).sort()], [0, ['200', '503', 'none']], 'nobody is left without an answer')
  t.same(Object.keys(health.statuses), ['200'])
  t.ok(
    Number(others.statuses['200']) > 0 &&
      Object.keys(others.statuses).every((status) => ['200', '503'].includes(status)),
    JSON.stringify(others)
  )
  t.ok(loop.max < 5000, `the event loop was held for ${loop.max} ms at most`)
  t.ok(Number(after.statuses['200']) > 0, 'and then it goes on')
})
