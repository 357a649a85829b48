import { PostgresDialect, type Kysely, type PostgresPool } from 'kysely'
import pg from 'pg'
import { nodeUrls } from './connect/database-url.js'
import { NodeConnections, type Purpose } from './connect/node-connections.js'
import { Nodes } from './connect/nodes.js'
import { PooledRoad } from './connect/pooled-road.js'
import {
  isStandby, PostgresConnection, unprepare, type ConnectionSetting, type DriverClient
} from './connect/postgres-connection.js'
import { probePostgres } from './connect/postgres-probe.js'
import { columnTypes } from './connect/postgres-types.js'
import { PreparedStatements } from './connect/prepared-statements.js'
import {
  checkMaxLag, checkServerOptions, connectTimeout, driverTimeout, type MaxLag, type ServerOptions
} from './connect/server-options.js'
import { openKysely, type Tables } from './query/engine.js'

export type PostgresOptions = ServerOptions & MaxLag

type CheckedOptions = Required<ServerOptions> & MaxLag

/** The SQLSTATE of a server that accepts no more connections. */
const tooManyConnections = '53300'

/**
 * Opens a PostgreSQL database the way the plugin wants it: a pool that survives the death of any connection, dates and
 * times as text, prepared statements, a time-out for statements. Of several hosts it finds the one that accepts writes,
 * and the next one when that dies. `db.destroy()` closes it.
 *
 * @param url  `postgres://user:password@host:port/database`, with several hosts separated by commas
 * @throws REST_MODELS_INVALID_OPTIONS; nothing is connected to before the first statement
 */
export function openPostgres<DB = Tables> (url: string, options: PostgresOptions = {}): Kysely<DB> {
  const urls = nodeUrls(url, ['postgres', 'postgresql'])
  const checked = checkServerOptions('openPostgres()', { options, nodes: urls.length, more: ['maxLag'] })
  const pool = new NodePool(urls, { ...checked, ...checkMaxLag(options, checked) })
  const road = new PooledRoad((purpose) => pool.connect(purpose))
  return openKysely<DB>(new PostgresDialect({ pool }), { reader: road, writer: road }, async () => await pool.end())
}

/** A pool for each node, together what Kysely takes for one. */
class NodePool implements PostgresPool {
  readonly #nodes: Nodes<PostgresNode>
  #ended: Promise<unknown> | undefined

  constructor ([first, ...others]: readonly [string, ...string[]], options: CheckedOptions) {
    const prepared = options.preparedStatements ? new PreparedStatements(unprepare) : undefined
    const leave = (node: PostgresNode): void => { this.#nodes.leave(node) }
    const open = (url: string): PostgresNode => new PostgresNode(url, { options, prepared, leave })
    this.#nodes = new Nodes([open(first), ...others.map(open)], {
      check: async (node) => { await node.check() },
      isFull: (error) => (error as { readonly code?: unknown }).code === tooManyConnections,
      isWatched: options.maxLag !== undefined || (others.length > 0 && !options.writable)
    })
  }

  connect (purpose: Purpose = 'write'): Promise<PostgresConnection> {
    return this.#nodes.connect((node) => node.connect(purpose))
  }

  /** Once: Kysely's driver ends it, or what closes the database if that was never used. */
  async end (): Promise<void> {
    this.#ended ??= Promise.all(this.#nodes.all.map(async (node) => { await node.close() }))
    await this.#ended
  }
}

interface NodeSetting {
  readonly options: CheckedOptions
  readonly prepared: PreparedStatements<DriverClient> | undefined
  /** Called when a node turns out to be the wrong one. */
  leave (node: PostgresNode): void
}

/** One server and the pool of connections to it. */
class PostgresNode {
  readonly name: string
  readonly #config: pg.ClientConfig
  readonly #options: CheckedOptions
  readonly #setting: ConnectionSetting
  readonly #pool: pg.Pool
  readonly #connections: NodeConnections<DriverClient>
  readonly #ready = new WeakSet<DriverClient>()

  constructor (url: string, { options, prepared, leave }: NodeSetting) {
    this.name = new URL(url).host
    this.#options = options
    this.#setting = { prepared, timeout: driverTimeout(options.statementTimeout), leave: () => { leave(this) } }
    this.#config = configOf(url, options)
    this.#pool = openPool(this.#config, options)
    this.#connections = new NodeConnections({
      options,
      take: () => this.#pool.connect() as Promise<DriverClient>,
      socketOf: (client) => client.connection.stream,
      idOf: (client) => client.processID,
      askBusy: async (ids) => new Set((await probePostgres(this.#config, ids)).busy)
    })
    this.#pool.on('connect', (client) => { this.#connections.opened(client as DriverClient) })
  }

  async connect (purpose: Purpose): Promise<PostgresConnection> {
    const lease = await this.#connections.take(purpose)
    const connection = new PostgresConnection(lease, this.#setting)
    // A standby that is promoted keeps its connections, a primary that fails does not.
    if (this.#ready.has(lease.raw)) return connection
    await connection.makeReady(this.#options)
    this.#ready.add(lease.raw)
    return connection
  }

  /** @throws why the server will not do */
  async check (): Promise<void> {
    const { writable, maxLag } = this.#options
    const { standby, lag } = await probePostgres(this.#config)
    if (writable && standby) throw isStandby()
    if (maxLag === undefined || (lag !== null && lag <= maxLag)) return
    throw new Error(lag === null ? 'The standby follows no primary' : `The standby is ${Math.round(lag)} ms behind`)
  }

  async close (): Promise<void> {
    await this.#connections.close(this.#pool.end())
  }
}

function configOf (url: string, { statementTimeout, readonly }: CheckedOptions): pg.ClientConfig {
  return {
    connectionString: readonly ? readOnlyUrl(url) : url,
    connectionTimeoutMillis: connectTimeout,
    keepAlive: true,
    fallback_application_name: 'fastify-rest-models',
    types: columnTypes,
    ...(statementTimeout > 0 && { statement_timeout: statementTimeout })
  }
}

function openPool (config: pg.ClientConfig, { connections }: CheckedOptions): pg.Pool {
  const pool = new pg.Pool({ ...config, max: connections })
  // Without listeners the death of a connection ends the process: of an idle one, and of one that is in use.
  pool.on('error', () => {})
  pool.on('connect', (client) => client.on('error', () => {}))
  return pool
}

/** Told when a connection is opened: a setting that is made later would stay with a pooler, for others. */
function readOnlyUrl (url: string): string {
  const changed = new URL(url)
  changed.searchParams.set('options', `${changed.searchParams.get('options') ?? ''} -c default_transaction_read_only=on`.trim())
  return changed.href
}
