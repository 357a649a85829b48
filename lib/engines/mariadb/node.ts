import type { ConnectionOptions } from 'mysql2'
import type { Events } from '../../events/events.js'
import { healthTimeoutMs, type PoolState } from '../health.js'
import { noAnswer } from '../server/ask-alone.js'
import { NodeConnections, type Purpose } from '../server/node-connections.js'
import type { NodeReport, ReportingNode } from '../server/nodes-health.js'
import type { PreparedStatements } from '../server/prepared-statements.js'
import { connectTimeoutMs, type ServerOptions } from '../server/server-options.js'
import { MariadbConnection, type ConnectionSetting } from './connection.js'
import { driver, type DriverConnection, type DriverPool } from './driver.js'
import { busyOn, probeMariadb, readState } from './probe.js'
import { toNodeReport } from './node-state.js'

/**
 * Maximum number of callers that wait in the driver for a connection to one node. A further caller gets an error at
 * once. The limit keeps the queue from growing without end if the server hangs. A caller that gave up after two seconds
 * counts until the driver has a connection for it.
 */
const queueLimit = 500

const driverOptions = {
  connectTimeout: connectTimeoutMs,
  enableKeepAlive: true,
  dateStrings: true,
  timezone: 'Z',
  supportBigNumbers: true,
  stringifyObjects: true,
  jsonStrings: true
} as const satisfies ConnectionOptions

interface NodeSetting {
  readonly options: Required<ServerOptions>
  readonly prepared: PreparedStatements<DriverConnection> | undefined
  /**
   * Called if the node reports that it cannot serve, for example because it accepts no writes or shuts down. Also
   * called if a connection to it breaks or gives no answer in time. `code` is the error code of the reason. The
   * receiver must make the next connection look for a usable database server.
   */
  leave (node: MariadbNode, code: string): void
  readonly events: Events
}

/** Node: one of the database servers in the URL, with the pool of connections to it. */
export class MariadbNode implements ReportingNode {
  readonly name: string
  readonly #config: ConnectionOptions
  readonly #setting: ConnectionSetting
  readonly #pool: DriverPool
  readonly #connections: NodeConnections<DriverConnection>
  readonly #ready = new WeakSet<DriverConnection>()

  constructor (uri: string, { options, prepared, leave, events }: NodeSetting) {
    this.name = new URL(uri).host
    this.#config = { uri, ...driverOptions }
    this.#setting = { options, prepared, leave: (code) => { leave(this, code) } }
    this.#pool = driver().createPool({ ...this.#config, connectionLimit: options.connections, queueLimit })
    this.#connections = new NodeConnections({
      options,
      events,
      server: { name: 'MariaDB', opener: 'openMariadb()', host: this.name },
      take: () => take(this.#pool),
      socketOf: ({ stream }) => stream,
      idOf: ({ threadId }) => threadId,
      askBusy: async (ids) => await busyOn(this.#config, ids)
    })
    this.#pool.on('connection', (connection: DriverConnection) => {
      // Without a listener, what the driver sends on a connection that has just closed would end the process.
      connection.on('error', () => {})
      this.#connections.opened(connection)
    })
  }

  async connect (purpose: Purpose): Promise<MariadbConnection> {
    const lease = await this.#connections.take(purpose)
    const connection = new MariadbConnection(lease, this.#setting)
    if (this.#ready.has(lease.raw)) return connection
    await connection.makeReady()
    this.#ready.add(lease.raw)
    return connection
  }

  /**
   * Checks that the node can serve statements and, if the option `writable` is true, that it accepts writes.
   *
   * @throws the driver's failure, or an error that says why the node cannot be used
   */
  async check (): Promise<void> {
    await probeMariadb(this.#config, this.#setting.options.writable)
  }

  get pool (): PoolState {
    return this.#connections.pool
  }

  async report (): Promise<NodeReport> {
    return toNodeReport(await readState(this.#config, healthTimeoutMs), this.#setting.options)
  }

  async close (): Promise<void> {
    // A failure is ignored, because a connection that fails while it is closed is closed.
    await this.#connections.close(this.#pool.promise().end().catch(() => {}))
  }
}

/**
 * Takes a connection that is free or new. Rejects after two seconds, because the driver would wait for ever if all are
 * in use.
 */
function take (pool: DriverPool): Promise<DriverConnection> {
  return new Promise((resolve, reject) => {
    let isLate = false
    const timer = setTimeout(() => {
      isLate = true
      reject(noAnswer())
    }, connectTimeoutMs)
    pool.getConnection((error, connection) => {
      clearTimeout(timer)
      if (error !== null) reject(error)
      else if (isLate) connection.release()
      else resolve(connection)
    })
  })
}
