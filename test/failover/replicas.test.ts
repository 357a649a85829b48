// @once: starts its own clusters
// @alone: measures how long others wait
// @covers: replicas that lag
// @long: waits until servers have failed and come back

import { sql, type Kysely } from 'kysely'
import tap, { test, type Test } from 'tap'
import type { Tables } from '../../lib/engines/executor.js'
import { openPostgres, type PostgresOptions } from '../../lib/postgres.js'
import { lacks } from '../support/engines/lacks.js'
import { startPostgresCluster } from '../support/engines/postgres-cluster.js'
import type { PrivateServer } from '../support/engines/private-server.js'
import { runSql } from '../support/engines/sql.js'
import { waitFor } from '../support/engines/wait-for.js'

tap.setTimeout(120_000)

/** Longer than a search that begins within two seconds of a change. */
const enough = 6000

async function portOf (db: Kysely<Tables>): Promise<number> {
  return Number((await sql<{ port: string }>`select current_setting('port') as port`.execute(db)).rows[0]?.port)
}

async function goesTo (
  t: Test, db: Kysely<Tables>, { server, why }: { readonly server: PrivateServer, readonly why: string }
): Promise<void> {
  await t.resolves(waitFor(why, async () => await portOf(db) === server.port, enough), why)
}

/** Whoever reads, and how it finds out where. */
function openReader (t: Test, nodes: readonly PrivateServer[], options: PostgresOptions = {}): Kysely<Tables> {
  const db = openPostgres<Tables>(
    `postgres://postgres@${nodes.map(({ port }) => `127.0.0.1:${port}`).join(',')}/postgres`,
    { writable: false, ...options }
  )
  t.teardown(async () => { await db.destroy() })
  return db
}

test('R-39: PostgreSQL, standbys to read from', async (t) => {
  if (lacks(t, 'postgresCluster')) return
  const cluster = await startPostgresCluster()
  t.teardown(cluster.stop)
  const [primary, first, second] = cluster.nodes as [PrivateServer, PrivateServer, PrivateServer]
  const order = [first, second, primary]
  await runSql(primary.url, 'create table thing (id integer)')

  await t.test('whoever writes is sent past the standbys', async (t) => {
    t.equal(await portOf(openReader(t, order, { writable: true })), primary.port)
  })

  await t.test('a host that was restarted is gone back to', async (t) => {
    const db = openReader(t, order)
    t.equal(await portOf(db), first.port)
    await first.kill('SIGINT')
    await goesTo(t, db, { server: second, why: 'the next host serves meanwhile' })
    await first.restart()
    await goesTo(t, db, { server: first, why: 'the first host serves again' })
  })

  await t.test('a standby that lags too much is not read from, until it has caught up', async (t) => {
    const [db, any] = [openReader(t, order, { maxLag: 500 }), openReader(t, order)]
    for (const standby of [first, second]) await runSql(standby.url, 'select pg_wal_replay_pause()')
    t.equal(
      await portOf(db), first.port, 'one that has replayed all that it received does not lag, however old that is'
    )
    await runSql(primary.url, 'insert into thing values (1)')
    await goesTo(t, db, { server: primary, why: 'both standbys lag' })
    t.equal(await portOf(any), first.port, 'whoever sets no bound reads from it all the same')
    await runSql(second.url, 'select pg_wal_replay_resume()')
    await goesTo(t, db, { server: second, why: 'the second has caught up' })
    await runSql(first.url, 'select pg_wal_replay_resume()')
    await goesTo(t, db, { server: first, why: 'the first has caught up' })
  })

  await t.test('a standby that follows no primary is not read from', async (t) => {
    const db = openReader(t, [first, second], { maxLag: 500 })
    t.equal(await portOf(db), first.port)
    const follow = async ({ url }: PrivateServer, port: number, name: string): Promise<void> => {
      await runSql(
        url,
        `alter system set primary_conninfo = 'host=127.0.0.1 port=${port} user=postgres application_name=${name}'`
      )
      await runSql(url, 'select pg_reload_conf()')
    }
    await follow(first, 1, 's1')
    await goesTo(t, db, { server: second, why: 'the first follows nobody' })
    await follow(second, 1, 's2')
    await t.resolves(waitFor(
      'none is left',
      async () => await portOf(db).then(() => false, ({ message }) =>
        /^No host serves: (?:.*The standby does not follow a primary(?:; |$)){2}/.test(message)),
      enough
    ))
    await follow(first, primary.port, 's1')
    await follow(second, primary.port, 's2')
    await goesTo(t, db, { server: first, why: 'it follows again' })
  })

  await t.test('a single host that lags is refused', async (t) => {
    const db = openReader(t, [first], { maxLag: 500 })
    t.equal(await portOf(db), first.port)
    await runSql(first.url, 'select pg_wal_replay_pause()')
    await runSql(primary.url, 'insert into thing values (2)')
    const lags = /^The standby is \d+ ms behind its primary$/
    await t.resolves(waitFor(
      'it lags',
      async () => await portOf(db).then(() => false, ({ message }) => lags.test(message)),
      enough
    ))
    await runSql(first.url, 'select pg_wal_replay_resume()')
  })
})
