// @once: starts its own clusters
// @alone: measures how long others wait
// @long: waits until servers have failed and come back

import tap, { test } from 'tap'
import { lacks } from '../support/engines/lacks.js'
import { startMariadb } from '../support/engines/mariadb-server.js'
import { startPostgres } from '../support/engines/postgres-server.js'
import type { PrivateServer } from '../support/engines/private-server.js'
import { startApps } from './apps.js'
import { crash } from './processes.js'
import { startLoad } from './load.js'
import { turns } from './readiness.js'
import { seed } from './site.js'
import { checkLoad } from './tally.js'

tap.setTimeout(120_000)
tap.jobs = 2

const signal = (name: NodeJS.Signals) => async ({ kill }: PrivateServer) => { await kill(name) }

const engines = {
  postgres: { start: startPostgres, ends: { 'fast stop': signal('SIGINT'), crash } },
  mariadb: { start: startMariadb, ends: { stop: signal('SIGTERM'), crash } }
}

for (const engine of ['postgres', 'mariadb'] as const) {
  test(`R-12: ${engine}: clients are put off without a server; no write is lost`, { buffered: true }, async (t) => {
    if (lacks(t, engine)) return
    const { start, ends } = engines[engine]
    const server = await start({ durable: true })
    t.teardown(server.stop)
    const seeds = await seed(server.url)
    const apps = await startApps(t, server.url, server.url)
    const { seen, goOn, pause, recover, stop } = startLoad(apps, seeds)
    for (const [what, end] of Object.entries(ends)) {
      await goOn(200)
      await end(server)
      await t.test(`R-44: a ${what} is seen within 2 s`, async (t) => { await turns(t, apps[0], false) })
      await pause()
      await server.restart()
      await t.test(`R-44: the return from a ${what}, too`, async (t) => { await turns(t, apps[0], true) })
      const took = await recover(performance.now())
      t.ok(took < 5000, `every client is served ${Math.round(took)} ms after the return from a ${what}`)
    }
    await goOn(200)
    await stop()
    await checkLoad(t, seen, { apps, seeds, urls: [server.url] })
  })
}
