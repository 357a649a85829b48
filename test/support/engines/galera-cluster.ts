import { chownSync, mkdirSync } from 'node:fs'
import { freePort } from './free-port.js'
import { installMariadb, planMariadb } from './mariadb-server.js'
import { serverUser } from './owned-process.js'
import { orElse, startServer, type PrivateServer, type Settings } from './private-server.js'
import { requirePrograms } from './programs.js'
import { makeFolder, type ServerFolder } from './server-folder.js'
import { runSql } from './sql.js'

/** Three MariaDB servers, each of which takes writes and has those of the others; each with real durability. */
export interface GaleraCluster {
  /** All three hosts in one. */
  readonly url: string
  readonly nodes: readonly PrivateServer[]
  /** SIGKILL for the node with this index; the others take no writes until they have noticed. */
  kill (index: number): Promise<void>
  /** Starts a killed node again and waits until it has what it missed. */
  rejoin (index: number): Promise<void>
  stop (): Promise<void>
}

/** The ports of a node: for clients, for the group, for the whole state and for a part of it. */
interface Ports {
  readonly client: number
  readonly group: number
  readonly state: number
  readonly increment: number
}

// A node that is dead is voted out after one to three seconds, during which nobody can write.
const timers = [
  'evs.keepalive_period=PT0.3S', 'evs.inactive_check_period=PT0.3S', 'evs.suspect_timeout=PT1S',
  'evs.inactive_timeout=PT3S', 'evs.install_timeout=PT3S'
]

export async function startGaleraCluster (): Promise<GaleraCluster> {
  requirePrograms('galera')
  const ports = await Promise.all([0, 1, 2].map(async () => await freePorts()))
  const nodes: PrivateServer[] = []
  const stop = async (): Promise<void> => { await Promise.all(nodes.map(async (node) => { await node.stop() })) }
  await orElse(stop, (async () => {
    for (const own of ports) nodes.push(await startNode(own, ports))
  })())
  return {
    url: `mariadb://root@${ports.map(({ client }) => `127.0.0.1:${client}`).join(',')}/test`,
    nodes,
    kill: async (index) => { await nodes[index]?.kill('SIGKILL') },
    rejoin: async (index) => { await nodes[index]?.restart() },
    stop
  }
}

/** The first node has the data and makes the cluster; each other gets them from those before. */
async function startNode (own: Ports, all: readonly Ports[]): Promise<PrivateServer> {
  const isFirst = own === all[0]
  const plan = planMariadb(isFirst ? await installMariadb() : emptyFolder(), own.client, galeraSettings(own, all))
  return await startServer({
    ...plan,
    firstArgs: isFirst ? ['--wsrep-new-cluster'] : [],
    stopsWith: 'SIGKILL',
    isReady: async () => {
      const [status] = await runSql(plan.url, "show status like 'wsrep_local_state_comment'", 2000)
      return status?.['Value'] === 'Synced'
    }
  })
}

function galeraSettings ({ client, group, state, increment }: Ports, all: readonly Ports[]): Settings {
  const own = [
    `base_port=${group}`, `gmcast.listen_addr=tcp://127.0.0.1:${group}`, `ist.recv_addr=127.0.0.1:${increment}`,
    'gcache.size=32M'
  ]
  return {
    wsrep_on: 'ON',
    wsrep_provider: requirePrograms('galera')['libgalera_smm.so'],
    wsrep_cluster_address: `gcomm://${all.map((node) => `127.0.0.1:${node.group}`).join(',')}`,
    wsrep_node_address: `127.0.0.1:${group}`,
    wsrep_node_incoming_address: `127.0.0.1:${client}`,
    wsrep_sst_method: 'rsync',
    wsrep_sst_receive_address: `127.0.0.1:${state}`,
    wsrep_provider_options: [...own, ...timers].join(';'),
    binlog_format: 'ROW',
    innodb_autoinc_lock_mode: 2
  }
}

async function freePorts (): Promise<Ports> {
  return { client: await freePort(), group: await freePort(), state: await freePort(), increment: await freePort() }
}

function emptyFolder (): ServerFolder {
  const user = serverUser('mysql')
  const folder = makeFolder('mariadb', user)
  mkdirSync(folder.data)
  if (user !== undefined) chownSync(folder.data, user.uid, user.gid)
  return folder
}
