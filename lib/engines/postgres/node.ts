import type pg from 'pg'
import type { Events } from '../../events/events.js'
import { healthTimeoutMs, type PoolState } from '../health.js'
import { NodeConnections, type Purpose } from '../server/node-connections.js'
import type { NodeReport, ReportingNode } from '../server/nodes-health.js'
import type { PreparedStatements } from '../server/prepared-statements.js'
import { connectTimeoutMs, driverTimeout, type ServerOptions } from '../server/server-options.js'
import { columnTypes } from './column-types.js'
import { PostgresConnection, watchConnection, type ConnectionSetting } from './connection.js'
import { driver, type DriverClient, type DriverPool } from './driver.js'
import type { MaxLag } from './max-lag.js'
import { faultOf, toNodeReport } from './node-report.js'
import { probePostgres } from './probe.js'

export type NodeOptions = Required<ServerOptions> & MaxLag

interface NodeSetting {
  readonly options: NodeOptions
  readonly prepared: PreparedStatements<DriverClient> | undefined
  /**
   * Called if the node reports that it cannot serve, for example because it accepts no writes or shuts down. Also
   * called if a connection to it breaks or gives no answer in time. `code` is the error code of the reason. The
   * receiver must make the next connection look for a usable database server.
   */
  leave (node: PostgresNode, code: string): void
  readonly events: Events
}

/** Node: one of the database servers in the URL, with the pool of connections to it. */
export class PostgresNode implements ReportingNode {
  readonly name: string
  readonly #config: pg.ClientConfig
  readonly #options: NodeOptions
  readonly #setting: ConnectionSetting
  readonly #pool: DriverPool
  readonly #connections: NodeConnections<DriverClient>
  readonly #ready = new WeakSet<DriverClient>()

  constructor (url: string, { options, prepared, leave, events }: NodeSetting) {
    this.name = new URL(url).host
    this.#options = options
    const timeout = driverTimeout(options.statementTimeout)
    this.#setting = { prepared, timeout, leave: (code) => { leave(this, code) } }
    this.#config = configOf(url, options)
    this.#pool = openPool(this.#config, options)
    this.#connections = new NodeConnections({
      options,
      events,
      server: { name: 'PostgreSQL', opener: 'openPostgres()', host: this.name },
      take: () => this.#pool.connect(),
      socketOf: (client) => client.connection.stream,
      idOf: (client) => client.processID,
      askBusy: async (ids) => new Set((await probePostgres(this.#config, { processes: ids })).busy)
    })
    this.#pool.on('connect', (client) => {
      watchConnection(client)
      this.#connections.opened(client)
    })
  }

  async connect (purpose: Purpose): Promise<PostgresConnection> {
    const lease = await this.#connections.take(purpose)
    const connection = new PostgresConnection(lease, this.#setting)
    // One check is enough: a promoted standby keeps its connections, and a primary that fails loses them.
    if (this.#ready.has(lease.raw)) return connection
    await connection.makeReady(this.#options)
    this.#ready.add(lease.raw)
    return connection
  }

  /**
   * Checks that the server is no standby if the option `writable` is true, and that it lags at most `maxLag`
   * milliseconds if that option is given.
   *
   * @throws the driver's error, or an error that says why the server must not be used
   */
  async check (): Promise<void> {
    const fault = faultOf(await probePostgres(this.#config), this.#options)
    if (fault !== undefined) throw fault
  }

  get pool (): PoolState {
    return this.#connections.pool
  }

  async report (): Promise<NodeReport> {
    return toNodeReport(await probePostgres(this.#config, { maxMs: healthTimeoutMs }), this.#options)
  }

  async close (): Promise<void> {
    await this.#connections.close(this.#pool.end())
  }
}

function configOf (url: string, { statementTimeout, readonly }: NodeOptions): pg.ClientConfig {
  return {
    connectionString: readonly ? readOnlyUrl(url) : url,
    connectionTimeoutMillis: connectTimeoutMs,
    keepAlive: true,
    fallback_application_name: 'fastify-rest-models',
    types: columnTypes(),
    ...(statementTimeout > 0 && { statement_timeout: statementTimeout })
  }
}

function openPool (config: pg.ClientConfig, { connections }: NodeOptions): DriverPool {
  const pool = new (driver().Pool)({ ...config, max: connections })
  // Without a listener the process ends when an idle connection dies.
  pool.on('error', () => {})
  return pool
}

/**
 * Returns a URL whose connections are read-only from the start. To set this by a later statement would be wrong: a
 * pooler keeps the setting, and may give the connection to another client.
 */
function readOnlyUrl (url: string): string {
  const changed = new URL(url)
  const options = changed.searchParams.get('options') ?? ''
  changed.searchParams.set('options', `${options} -c default_transaction_read_only=on`.trim())
  return changed.href
}
