// @once: starts its own clusters
// @alone: measures how long others wait
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
import { startLoad } from './load.js'
import { seed, type Seeds } from './site.js'
import { checkLoad } from './tally.js'

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
  await t.test('a node crashes and comes back under load: nothing that was acknowledged is lost', async (t) => {
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
  t: Test, { nodes, kill, rejoin }: GaleraCluster,
  { apps, seeds }: { readonly apps: readonly [App, App], readonly seeds: Seeds }
): Promise<void> {
  const { seen, goOn, recover, stop } = startLoad(apps, seeds)
  await goOn(700)
  await kill(0)
  await recover(performance.now())
  await goOn(700)
  await rejoin(0)
  await goOn(600)
  await stop()
  await agree(nodes)
  await checkLoad(t, seen, { apps, seeds, urls: nodes.map(({ url }) => url) as [string] })
}

/** Waits until every node has applied what the others have committed. */
async function agree (nodes: readonly PrivateServer[]): Promise<void> {
  const goal = Math.max(...await Promise.all(nodes.map(committedOn)))
  for (const node of nodes) await waitFor('a node has everything', async () => await committedOn(node) >= goal)
}

async function committedOn ({ url }: PrivateServer): Promise<number> {
  const [row] = await runSql(url, "show status like 'wsrep_last_committed'")
  return Number(row?.['Value'])
}
