// @once: starts its own clusters
// @alone: measures how long others wait
// @long: waits until servers have failed and come back

import tap, { test, type Test } from 'tap'
import { lacks } from '../support/engines/lacks.js'
import { startPostgresCluster, type PostgresCluster } from '../support/engines/postgres-cluster.js'
import type { PrivateServer } from '../support/engines/private-server.js'
import { runSql } from '../support/engines/sql.js'
import { waitFor } from '../support/engines/wait-for.js'
import { startApp, type App } from './apps.js'
import { Client } from './client.js'
import { startLoad } from './load.js'
import { crash } from './processes.js'
import { turns } from './readiness.js'
import { seed, type Seeds } from './site.js'
import { checkLoad } from './tally.js'
import { checkRefused, checkLog } from './log-checks.js'

tap.setTimeout(120_000)

test('PostgreSQL, a primary and two standbys', async (t) => {
  if (lacks(t, 'postgresCluster')) return
  const cluster = await startPostgresCluster()
  t.teardown(cluster.stop)
  const seeds = await seed(cluster.url)
  const nodes = { primary: cluster.primary, replica: cluster.nodes[1] ?? cluster.primary }
  const [reader, ...apps] = await Promise.all([
    startApp(t, cluster.url, nodes.replica.url), startApp(t, cluster.url), startApp(t, cluster.url)
  ])
  const users = { alice: new Client(reader.address, 'alice'), bob: new Client(reader.address, 'bob') }
  t.teardown(() => { for (const user of [users.alice, users.bob]) user.close() })
  await t.test('lists and reads come from the replica that is named for them, all else from the primary', async (t) => {
    await readBehind(t, users, nodes)
  })
  await t.test('with remote_apply the replica has what was acknowledged', async (t) => {
    await readApplied(t, users, nodes)
  })
  await t.test('the primary crashes and a standby takes over: nothing that was acknowledged is lost', async (t) => {
    await failOver(t, cluster, { apps, seeds })
  })
})

/** Two users of an app that reads from a replica. */
interface Users {
  readonly alice: Client
  readonly bob: Client
}

interface Nodes {
  readonly primary: PrivateServer
  readonly replica: PrivateServer
}

async function readBehind (t: Test, { alice, bob }: Users, { primary, replica }: Nodes): Promise<void> {
  await halt(replica)
  const { status, path } = await create(alice, 'unseen')
  t.equal(status, 201)
  t.strictSame(
    [await statusOf(alice, 'GET', path), await lists(alice, 'unseen')], [404, false],
    'what is read is that of the replica'
  )
  t.equal(await statusOf(alice, 'PUT', path, { note: 'changed' }), 200, 'a write finds what it changes')
  t.equal(await statusOf(bob, 'PUT', path, { note: 'changed' }), 403, 'and who owns it')
  t.equal((await create(alice, 'unseen')).status, 409, 'and what is taken')
  await runSql(primary.url, 'update "user" set active = false where username = \'bob\'')
  t.strictSame(await runSql(replica.url, 'select active from "user" where username = \'bob\''), [{ active: true }])
  t.equal(await statusOf(bob, 'POST', '', { label: 'by bob' }), 401, 'whoever was deactivated is refused at once')
  await runSql(primary.url, 'update "user" set active = true where username = \'bob\'')
  await resume(replica)
  await waitFor('the replica has it', async () => await lists(alice, 'unseen'))
  t.match((await alice.send('GET', path)).body, '"note":"changed"')
}

async function readApplied (t: Test, { alice, bob }: Users, { primary, replica }: Nodes): Promise<void> {
  await configure(primary, { synchronous_commit: 'remote_apply', synchronous_standby_names: 's1' })
  await waitFor('the replica is asked for commits', async () =>
    await finds(primary, "select 1 from pg_stat_replication where sync_state = 'sync'"))
  await halt(replica)
  const waiting = create(alice, 'waiting')
  await waitFor('the create waits for the replica', async () =>
    await finds(primary, "select 1 from pg_stat_activity where wait_event = 'SyncRep'"))
  t.notOk(await lists(bob, 'waiting'))
  await resume(replica)
  t.equal(await statusOf(alice, 'GET', (await waiting).path), 200)
  const statuses: number[] = []
  for (let number = 0; number < 50; number++) {
    statuses.push(await statusOf(alice, 'GET', (await create(alice, `applied ${number}`)).path))
  }
  t.strictSame(statuses, Array(50).fill(200), 'what is acknowledged can be read')
  await configure(primary, { synchronous_commit: 'on', synchronous_standby_names: 'ANY 1 (s1,s2)' })
}

async function create (client: Client, label: string): Promise<{ readonly status: number, readonly path: string }> {
  const { status, body } = await client.send('POST', '', { label })
  return { status, path: `${JSON.parse(body).id}/` }
}

async function statusOf (client: Client, ...asked: Parameters<Client['send']>): Promise<number> {
  return (await client.send(...asked)).status
}

async function lists (client: Client, label: string): Promise<boolean> {
  return (await client.send('GET', `?label=${label}`)).body.includes(label)
}

/** Lets a standby go on receiving, but show nothing new. */
async function halt (replica: PrivateServer): Promise<void> {
  await runSql(replica.url, 'select pg_wal_replay_pause()')
  await waitFor('the replica stands still', async () =>
    await finds(replica, "select 1 where pg_get_wal_replay_pause_state() = 'paused'"))
}

async function resume ({ url }: PrivateServer): Promise<void> {
  await runSql(url, 'select pg_wal_replay_resume()')
}

async function finds ({ url }: PrivateServer, question: string): Promise<boolean> {
  return (await runSql(url, question)).length > 0
}

async function configure ({ url }: PrivateServer, settings: Readonly<Record<string, string>>): Promise<void> {
  for (const [name, value] of Object.entries(settings)) await runSql(url, `alter system set ${name} = '${value}'`)
  await runSql(url, 'select pg_reload_conf()')
}

async function failOver (
  t: Test, cluster: PostgresCluster, { apps, seeds }: { readonly apps: readonly [App, App], readonly seeds: Seeds }
): Promise<void> {
  const { seen, goOn, pause, recover, stop } = startLoad(apps, seeds)
  await goOn(600)
  const lost = cluster.primary
  const times = { lost: Date.now(), back: 0 }
  await crash(lost)
  await turns(t, apps[0], false)
  await pause()
  const primary = await cluster.promote()
  times.back = Date.now()
  await turns(t, apps[0], true)
  await recover(performance.now())
  await goOn(600)
  await stop()
  for (const app of apps) await checkLog(t, app, { from: nameOf(lost), to: nameOf(primary), ...times })
  checkRefused(t, apps, seen)
  const others = cluster.nodes.slice(1).filter((node) => node !== primary)
  for (const standby of others) await catchUp(standby, primary)
  await checkLoad(t, seen, { apps, seeds, urls: [primary.url, ...others.map(({ url }) => url)] })
}

function nameOf ({ port }: PrivateServer): string {
  return `127.0.0.1:${port}`
}

async function catchUp (standby: PrivateServer, primary: PrivateServer): Promise<void> {
  const [row] = await runSql(primary.url, 'select pg_current_wal_lsn()::text as position')
  const question = `select 1 where pg_last_wal_replay_lsn() >= '${String(row?.['position'])}'`
  await waitFor('the other standby has everything', async () => await finds(standby, question))
}
