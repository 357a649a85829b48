// @once: starts its own clusters
// @alone: measures how long others wait
// @covers: nodes that refuse
// @long: waits until servers have failed and come back

import { createConnection } from 'mysql2/promise'
import tap, { test, type Test } from 'tap'
import { startGaleraCluster, type GaleraCluster } from '../support/engines/galera-cluster.js'
import { lacks } from '../support/engines/lacks.js'
import type { PrivateServer } from '../support/engines/private-server.js'
import { runSql } from '../support/engines/sql.js'
import { waitFor } from '../support/engines/wait-for.js'
import { startApps, type App } from './apps.js'
import { Client } from './client.js'
import { startLoad, type Load, type Seen } from './load.js'
import { turns } from './readiness.js'
import { seed, type Seeds } from './site.js'
import { checkLoad } from './tally.js'
import { checkRefused, checkLog, type Loss } from './log-checks.js'

tap.setTimeout(120_000)

test('Galera, three nodes, and two apps on different ones', async (t) => {
  if (lacks(t, 'galera')) return
  const cluster = await startGaleraCluster()
  t.teardown(cluster.stop)
  const [first = '', second = '', third = ''] = cluster.nodes.map(({ port }) => `127.0.0.1:${port}`)
  const seeds = await seed(cluster.url)
  const apps = await startApps(
    t, `mariadb://root@${first},${second},${third}/test`, `mariadb://root@${second},${third},${first}/test`
  )
  await t.test('what was done on one node counts on the other, though that is behind', async (t) => {
    await readBehind(t, cluster, apps)
  })
  await t.test('D-257: nodes crash under load, one comes back: nothing that was acknowledged is lost', async (t) => {
    await failOver(t, cluster, { apps, seeds })
  })
})

async function readBehind (t: Test, { nodes }: GaleraCluster, apps: readonly [App, App]): Promise<void> {
  const [{ url: ahead }, { url: behind }] = nodes as [PrivateServer, PrivateServer]
  const [writer, reader, bob] = [
    new Client(apps[0].address, 'alice'), new Client(apps[1].address, 'alice'), new Client(apps[1].address, 'bob')
  ]
  t.teardown(() => { for (const client of [writer, reader, bob]) client.close() })
  t.equal((await bob.send('POST', '', { label: 'by bob' })).status, 201)
  const lock = await createConnection({ uri: behind })
  await lock.query('flush tables with read lock')
  const created = await writer.send('POST', '', { label: 'new' })
  await runSql(ahead, "update user set active = 0 where username = 'bob'")
  let answered = 0
  const asked = [reader.send('GET', `${JSON.parse(created.body).id}/`), bob.send('POST', '', { label: 'again by bob' })]
  for (const answer of asked) answer.then(() => { answered++ }, t.threw)
  await waitFor('both requests are answered or wait', async () => {
    const waiting = await runSql(
      behind, "select id from information_schema.processlist where db = 'test' and command in ('Prepare', 'Execute')"
    )
    return answered + waiting.length >= asked.length
  })
  await lock.end()
  t.strictSame(
    (await Promise.all(asked)).map(({ status }) => status), [200, 401],
    'what was created is read, and whoever was deactivated is refused'
  )
  await runSql(ahead, "update user set active = 1 where username = 'bob'")
}

async function failOver (
  t: Test, cluster: GaleraCluster,
  { apps, seeds }: { readonly apps: readonly [App, App], readonly seeds: Seeds }
): Promise<void> {
  const { nodes, kill, rejoin } = cluster
  const load = startLoad(apps, seeds)
  const { seen, goOn, recover, stop } = load
  await goOn(500)
  await kill(0)
  await recover(performance.now())
  await goOn(500)
  await rejoin(0)
  await goOn(300)
  await agree(nodes, seen)
  const loss = await loseMajority(t, cluster, { load, app: apps[0] })
  await goOn(200)
  await stop()
  for (const app of apps) await checkLog(t, app, loss)
  checkRefused(t, apps, seen)
  await checkLoad(t, seen, { apps, seeds, urls: [nodes[2]?.url ?? ''] })
}

/** Two nodes crash: the third serves nobody until an administrator makes it a cluster of its own. */
async function loseMajority (
  t: Test, { nodes, kill }: GaleraCluster, { load, app }: { readonly load: Load, readonly app: App }
): Promise<Loss> {
  const [, , last] = nodes as [PrivateServer, PrivateServer, PrivateServer]
  await Promise.all([kill(0), kill(1)])
  await waitFor('the third is alone', async () => await statusOf(last, 'wsrep_ready') === 'OFF')
  const lost = Date.now()
  await turns(t, app, false)
  await load.pause()
  await runSql(last.url, "set global wsrep_provider_options = 'pc.bootstrap = true'")
  const back = Date.now()
  await turns(t, app, true)
  await load.recover(performance.now())
  return { from: nameOf(last), to: nameOf(last), lost, back }
}

function nameOf ({ port }: PrivateServer): string {
  return `127.0.0.1:${port}`
}

/** Waits until every node has what clients were told, also the one that was away. */
async function agree (nodes: readonly PrivateServer[], { acknowledged }: Seen): Promise<void> {
  const labels = acknowledged.map(({ label }) => label)
  for (const { url } of nodes) {
    await waitFor('a node has everything', async () => {
      const stored = new Set((await runSql(url, 'select label from entry')).map(({ label }) => label))
      return labels.every((label) => stored.has(label))
    })
  }
}

async function statusOf ({ url }: PrivateServer, name: string): Promise<unknown> {
  const [row] = await runSql(url, `show status like '${name}'`)
  return row?.['Value']
}
