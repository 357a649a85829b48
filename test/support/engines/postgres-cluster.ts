import { runPostgres, startPostgres } from './postgres-server.js'
import { serverUser } from './owned-process.js'
import { orElse, type PrivateServer } from './private-server.js'
import { requirePrograms } from './programs.js'
import { installFolder } from './server-folder.js'
import { runSql } from './sql.js'
import { waitFor } from './wait-for.js'

/** A primary and two standbys, one of which has every commit before it is acknowledged; each with real durability. */
export interface PostgresCluster {
  /** All three hosts in one. */
  readonly url: string
  /** The first primary, then its standbys. */
  readonly nodes: readonly PrivateServer[]
  /** Who takes writes, or took them last. */
  readonly primary: PrivateServer
  /** SIGKILL: nothing takes writes until another is promoted. */
  killPrimary (): Promise<void>
  /** Makes the standby that has received most the primary, and lets the other one follow it. */
  promote (): Promise<PrivateServer>
  stop (): Promise<void>
}

// A standby that has just lost its primary looks up so often, also to see whether it is promoted; five seconds if
// absent.
const settings = {
  wal_keep_size: '128MB', wal_log_hints: 'on', hot_standby: 'on', wal_retrieve_retry_interval: '200ms'
}
const names = ['s0', 's1', 's2']

export async function startPostgresCluster (): Promise<PostgresCluster> {
  requirePrograms('postgresCluster')
  const nodes = [await startPostgres({ durable: true, settings })]
  const stop = async (): Promise<void> => { await Promise.all(nodes.map(async (node) => { await node.stop() })) }
  let [primary] = nodes as [PrivateServer]
  await orElse(stop, (async () => {
    for (const name of names.slice(1)) nodes.push(await startStandby(primary, name))
    await waitFor('both standbys stream', async () => await countStandbys(primary, "state = 'streaming'") === 2)
    await requireStandby(primary, nodes)
    await waitFor('both standbys are asked for commits', async () =>
      await countStandbys(primary, "sync_state = 'quorum'") === 2)
  })())
  return {
    url: `postgres://postgres@${nodes.map(({ port }) => `127.0.0.1:${port}`).join(',')}/postgres`,
    nodes,
    get primary () { return primary },
    killPrimary: async () => { await primary.kill('SIGKILL') },
    promote: async () => {
      primary = await promoteBest(nodes, nodes.filter((node) => node !== primary && isRunning(node)))
      return primary
    },
    stop
  }
}

async function startStandby (primary: PrivateServer, name: string): Promise<PrivateServer> {
  const { pg_basebackup: copy } = requirePrograms('postgresCluster')
  const folder = await installFolder('postgres', serverUser('postgres'), (data) => (
    [copy, '-D', data, '-d', follow(primary, name), '-R', '-X', 'stream', '-c', 'fast', '--no-sync']
  ))
  return await runPostgres(folder, settings)
}

async function promoteBest (
  nodes: readonly PrivateServer[], standbys: readonly PrivateServer[]
): Promise<PrivateServer> {
  const received = await Promise.all(
    standbys.map(async (standby) => ({ standby, position: await receivedBy(standby) }))
  )
  // By the other one, a commit might be lost that was acknowledged because the first has it.
  const best = received.sort((a, b) => a.position < b.position ? 1 : -1)[0]?.standby
  if (best === undefined) throw new Error('no standby is left')
  // Before it takes writes: its first commits wait for a standby already.
  await requireStandby(best, nodes)
  await runSql(best.url, 'select pg_promote(true, 10)')
  for (const other of standbys) {
    if (other !== best) await change(other, 'primary_conninfo', follow(best, nameOf(other, nodes)))
  }
  return best
}

async function receivedBy ({ url }: PrivateServer): Promise<bigint> {
  const [row] = await runSql(
    url,
    "select pg_wal_lsn_diff(coalesce(pg_last_wal_receive_lsn(), pg_last_wal_replay_lsn()), '0/0')::text as position"
  )
  return BigInt(String(row?.['position']))
}

async function requireStandby (primary: PrivateServer, nodes: readonly PrivateServer[]): Promise<void> {
  await change(
    primary, 'synchronous_standby_names',
    `ANY 1 (${names.filter((name) => name !== nameOf(primary, nodes)).join(',')})`
  )
}

async function countStandbys ({ url }: PrivateServer, condition: string): Promise<number> {
  const [row] = await runSql(url, `select count(*)::int as standbys from pg_stat_replication where ${condition}`)
  return Number(row?.['standbys'])
}

async function change ({ url }: PrivateServer, setting: string, value: string): Promise<void> {
  await runSql(url, `alter system set ${setting} = '${value}'`)
  await runSql(url, 'select pg_reload_conf()')
}

function follow ({ port }: PrivateServer, name: string): string {
  return `host=127.0.0.1 port=${port} user=postgres application_name=${name}`
}

function nameOf (node: PrivateServer, nodes: readonly PrivateServer[]): string {
  return names[nodes.indexOf(node)] ?? ''
}

function isRunning ({ child }: PrivateServer): boolean {
  return child.exitCode === null && child.signalCode === null
}
