import { MysqlAdapter, MysqlDialect, type Kysely, type MysqlPool } from 'kysely'
import { createPool, type Pool } from 'mysql2'
import { nodeUrls } from './connect/database-url.js'
import { MariadbConnection, unprepare, type DriverConnection } from './connect/mariadb-connection.js'
import { Nodes, NoneIsFree } from './connect/nodes.js'
import { PooledRoad } from './connect/pooled-road.js'
import { PreparedStatements } from './connect/prepared-statements.js'
import { checkServerOptions, connectTimeout, type ServerOptions } from './connect/server-options.js'
import { openKysely, type Tables } from './query/engine.js'

export type MariadbOptions = ServerOptions

/**
 * Opens a MariaDB database the way the plugin wants it: dates and times as text, prepared statements, a time-out for
 * statements, strict values. Of several hosts it uses one, and the next one when that does not serve. `db.destroy()` closes it.
 *
 * @param url  `mariadb://user:password@host:port/database`, with several hosts separated by commas
 * @throws REST_MODELS_INVALID_OPTIONS; nothing is connected to before the first statement
 */
export function openMariadb<DB = Tables> (url: string, options: MariadbOptions = {}): Kysely<DB> {
  const urls = nodeUrls(url, ['mariadb', 'mysql'])
  const checked = checkServerOptions('openMariadb()', options, urls.length)
  const pool = new NodePool(urls, checked)
  const road = new PooledRoad(() => pool.connect())
  return openKysely<DB>(new MariadbDialect({ pool }), { reader: road, writer: road }, async () => await pool.close())
}

/** Kysely's dialect for MySQL, but for the rows that MariaDB returns from inserts and deletes, which that one throws away. */
export class MariadbDialect extends MysqlDialect {
  override createAdapter (): MysqlAdapter {
    return new MariadbAdapter()
  }
}

class MariadbAdapter extends MysqlAdapter {
  override get supportsReturning (): boolean {
    return true
  }
}

/** A pool for each node, together what Kysely takes for one. */
class NodePool implements MysqlPool {
  readonly #nodes: Nodes<Pool>
  readonly #options: Required<ServerOptions>
  readonly #prepared: PreparedStatements<DriverConnection> | undefined
  readonly #ready = new WeakSet<DriverConnection>()
  #closed: Promise<unknown> | undefined

  constructor ([first, ...others]: readonly [string, ...string[]], options: Required<ServerOptions>) {
    this.#options = options
    this.#prepared = options.preparedStatements ? new PreparedStatements(unprepare) : undefined
    this.#nodes = new Nodes([openPool(first, options), ...others.map((url) => openPool(url, options))])
  }

  getConnection (callback: (error: unknown, connection: MariadbConnection) => void): void {
    this.connect().then((connection) => callback(null, connection), callback as (error: unknown) => void)
  }

  end (callback: (error: unknown) => void): void {
    this.close().then(() => callback(null), callback)
  }

  /** Once: Kysely's driver ends the pool, or what closes the database if that was never used. */
  async close (): Promise<void> {
    // A connection that fails while it is closed is closed.
    this.#closed ??= Promise.all(this.#nodes.all.map(async (pool) => { await pool.promise().end().catch(() => {}) }))
    await this.#closed
  }

  connect (): Promise<MariadbConnection> {
    return this.#nodes.connect(async (node) => {
      const raw = await take(node, () => this.#nodes.inUse(node) >= this.#options.connections)
      const release = this.#nodes.use(node)
      const connection = new MariadbConnection(raw, { options: this.#options, prepared: this.#prepared, release, leave: () => this.#nodes.leave(node) })
      if (!this.#ready.has(raw)) await connection.makeReady()
      this.#ready.add(raw)
      return connection
    })
  }
}

/** A connection that is free or new; the driver would wait for ever for one of those that are in use. */
function take (pool: Pool, isFull: () => boolean): Promise<DriverConnection> {
  return new Promise((resolve, reject) => {
    let isLate = false
    const timer = setTimeout(() => {
      isLate = true
      reject(isFull() ? new NoneIsFree('No connection has become free') : new Error('The server does not answer'))
    }, connectTimeout)
    pool.getConnection((error, connection) => {
      clearTimeout(timer)
      if (error !== null) reject(error)
      else if (isLate) connection.release()
      else resolve(connection as DriverConnection)
    })
  })
}

function openPool (uri: string, { connections }: Required<ServerOptions>): Pool {
  return createPool({
    uri,
    connectionLimit: connections,
    connectTimeout,
    enableKeepAlive: true,
    dateStrings: true,
    timezone: 'Z',
    supportBigNumbers: true,
    stringifyObjects: true,
    jsonStrings: true
  })
}
