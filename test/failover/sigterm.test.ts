// @once: on both servers
// @alone: 300 clients, and an app that must end in time
// @long: waits until an app has given a vanished server up

import { once } from 'node:events'
import { Agent, request } from 'node:http'
import { resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import tap, { test, type Test } from 'tap'
import { requireDatabase } from '../support/engines/lacks.js'
import { startServer } from '../support/process.js'
import { basic } from '../support/site.js'
import { openProxy } from './tcp-proxy.js'

tap.setTimeout(120_000)

const clients = 300
const site = resolve('dist/examples/site/main.js')

interface Answer {
  readonly status: number
  readonly code: string
}

async function ask (url: string, agent: Agent, isWrite: boolean): Promise<Answer> {
  const method = isWrite ? 'POST' : 'GET'
  return await new Promise((resolve) => {
    const fail = (error: NodeJS.ErrnoException): void => { resolve({ status: 0, code: String(error.code) }) }
    request(url, { agent, method, headers: isWrite ? { authorization: basic('alice') } : {} }, (answer) => {
      let body = ''
      answer.on('data', (chunk: Buffer) => { body += chunk.toString() }).once('error', fail).once('end', () => {
        const { statusCode: status = 0 } = answer
        resolve({ status, code: status < 300 ? '' : String(JSON.parse(body).code) })
      })
    }).once('error', fail).end(isWrite ? '{"content": "x"}' : '')
  })
}

/** Ends the example site while 300 clients ask again at once, each on its own connection; what they were answered. */
async function endUnderLoad (t: Test, url: string, beforeEnd: () => void) {
  const { child, address } = await startServer(t, site, { cwd: t.testdir(), env: { DATABASE_URL: url } })
  const exited = once(child, 'exit')
  const agent = new Agent({ keepAlive: true, maxSockets: clients })
  t.teardown(() => { agent.destroy() })
  const counts: Record<string, number> = {}
  const seen = { answers: 0 }
  const all = Promise.all(Array.from({ length: clients }, async (_, client) => {
    for (let status = 200; status !== 0;) {
      const isWrite = client % 5 === 0
      const answer = await ask(`${address}/api/message/${isWrite ? '' : '?limit=1'}`, agent, isWrite)
      status = answer.status
      seen.answers++
      const name = `${answer.status} ${answer.code}`.trim()
      counts[name] = (counts[name] ?? 0) + 1
    }
  }))
  while (seen.answers < 1500) await sleep(10)
  beforeEnd()
  const start = performance.now()
  child.kill('SIGTERM')
  const exit = await exited
  const took = performance.now() - start
  await all
  return { counts, exit, took }
}

/** Each server and each state once, because each takes a dozen seconds; `npm run test:all` runs all four. */
const states = { postgres: 'has vanished', mariadb: 'serves' } as const
const cases = (['postgres', 'mariadb'] as const)
  .flatMap((engine) => (['has vanished', 'serves'] as const).map((state) => ({ engine, state })))
  .filter(({ engine, state }) => process.env['TEST_ALL'] === 'true' || states[engine] === state)

for (const { engine, state } of cases) {
  test(`R-48: SIGTERM resets none of 300 busy clients while ${engine} ${state}, and ends in time`, async (t) => {
    const direct = await requireDatabase(t, engine)
    if (direct === undefined) return
    const proxy = await openProxy(t, direct)
    const { counts, exit, took } = await endUnderLoad(t, proxy.url, () => { if (state !== 'serves') proxy.freeze() })
    t.strictSame(exit, [0, null])
    t.ok(took < 10_000, `after ${Math.round(took)} ms`)
    const expected = new Set([
      '200', '201', '503 REST_MODELS_UNAVAILABLE', '503 REST_MODELS_OUTCOME_UNKNOWN', '0 ECONNREFUSED'
    ])
    t.same(Object.keys(counts).filter((answer) => !expected.has(answer)), [], JSON.stringify(counts))
    t.equal(counts['0 ECONNREFUSED'], clients, 'each was told that its connection ends')
    t.comment(`${Math.round(took)} ms`, counts)
  })
}
