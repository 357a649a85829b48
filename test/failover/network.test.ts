// @once: starts its own clusters
// @alone: measures how long others wait
// @covers: connections that are cut
// @long: waits until servers have failed and come back

import { setTimeout as sleep } from 'node:timers/promises'
import tap, { test, type Test } from 'tap'
import { openMariadb } from '../../lib/mariadb.js'
import { openPostgres } from '../../lib/postgres.js'
import { requireDatabase } from '../support/engines/lacks.js'
import { runSql } from '../support/engines/sql.js'
import { waitFor } from '../support/engines/wait-for.js'
import { serve } from './serve.js'
import { seed } from './site.js'
import { openProxy } from './tcp-proxy.js'

tap.setTimeout(120_000)

const openers = { postgres: openPostgres, mariadb: openMariadb }
const as = 'alice'

for (const engine of ['postgres', 'mariadb'] as const) {
  async function serveBehindProxy (t: Test) {
    const direct = await requireDatabase(t, engine)
    if (direct === undefined) return undefined
    await seed(direct)
    const proxy = await openProxy(t, direct)
    const db = openers[engine](proxy.url, { statementTimeout: 500, connections: 2 })
    return { ...await serve(t, db), proxy, direct }
  }

  test(`R-13: ${engine}: a connection cut during a write is 503, and the write is not sent again`, async (t) => {
    const served = await serveBehindProxy(t)
    if (served === undefined) return
    const { get, post, put, proxy, direct } = served
    const created = await post('/api/entry/', { label: 'before' }, { as })
    t.equal(created.statusCode, 201)
    // MariaDB updates in a transaction, whose commit has not been sent by then.
    const ofUpdate = engine === 'mariadb' ? 'REST_MODELS_UNAVAILABLE' : 'REST_MODELS_OUTCOME_UNKNOWN'
    const writes = [
      [async () => await post('/api/entry/', { label: 'cut here' }, { as }), 'REST_MODELS_OUTCOME_UNKNOWN'],
      [async () => await put(String(created.headers.location), { note: 'cut here' }, { as }), ofUpdate]
    ] as const
    for (const [write, code] of writes) {
      const cuts = proxy.cutBehind('cut here')
      t.match(await write().then((reply) => ({ ...reply.json(), after: reply.headers['retry-after'] })), {
        statusCode: 503, code, after: '1'
      })
      await sleep(500)
      t.equal(cuts(), 1)
    }
    proxy.cutBehind('never sent')
    const stored = async () =>
      Number((await runSql(direct, "select count(*) as count from entry where label = 'cut here'"))[0]?.['count'])
    await waitFor('the server has done what it was sent', async () => await stored() === 1)
    t.match((await get('/api/entry/?label=before')).json().objects[0].note, /^(cut here)?$/, 'a change is there or not')
    t.equal(
      (await post('/api/entry/', { label: 'cut here' }, { as })).statusCode, 409,
      'whoever repeats a write can find out what became of it'
    )
    t.equal((await post('/api/entry/', { label: 'after' }, { as })).statusCode, 201)
  })

  test(`R-14: ${engine}: a network slower than a statement may be is 503 in bounded time, and passes`, async (t) => {
    const served = await serveBehindProxy(t)
    if (served === undefined) return
    const { get, post, proxy } = served
    t.equal((await get('/api/entry/')).statusCode, 200)
    proxy.slowDown(3000)
    const start = performance.now()
    const replies = await Promise.all([
      get('/api/entry/'), get('/api/entry/1/'), post('/api/entry/', { label: 'slow' }, { as }),
      get('/api/entry/?label=x')
    ])
    const took = performance.now() - start
    for (const { statusCode, headers } of replies) {
      t.match({ statusCode, after: headers['retry-after'] }, { statusCode: 503, after: '1' })
    }
    t.ok(took < 15_000, `after ${took} ms`)
    proxy.slowDown(0)
    await waitFor('it goes on', async () => (await post('/api/entry/', { label: 'after' }, { as })).statusCode === 201)
  })
}
