import { MysqlAdapter, MysqlDialect, type Kysely, type MysqlPool } from 'kysely'
import { propertyOf } from './engines/failure-properties.js'
import { Events } from './events/events.js'
import { openKysely, type Tables } from './engines/executor.js'
import { down, type HealthReport } from './engines/health.js'
import type { MariadbConnection } from './engines/mariadb/connection.js'
import { mariadbDialect } from './engines/mariadb/dialect.js'
import { unprepare } from './engines/mariadb/driver.js'
import { MariadbNode } from './engines/mariadb/node.js'
import { nodeUrls } from './engines/server/database-url.js'
import type { Purpose } from './engines/server/node-connections.js'
import { readNodesHealth } from './engines/server/nodes-health.js'
import { Nodes } from './engines/server/nodes.js'
import { pooledExecutors } from './engines/server/pooled-executor.js'
import { PreparedStatements } from './engines/server/prepared-statements.js'
import { checkServerOptions, type ServerOptions } from './engines/server/server-options.js'

export type { Tables } from './engines/executor.js'

export type MariadbOptions = ServerOptions

/** MariaDB's error numbers for a server that accepts no more connections, in all (1040) or from one user. */
const tooManyConnections = new Set([1040, 1203, 1226])
const isFull = (error: unknown): boolean => tooManyConnections.has(Number(propertyOf(error, 'errno')))

/**
 * Opens a MariaDB database as the plugin needs it: dates and times as text, prepared statements, a time-out for
 * statements, an SQL mode that refuses values which do not fit. If the URL has several hosts, statements go to one that
 * accepts writes; with `readonly` or `writable: false`, to the first that answers. When that host fails, they go to
 * another one. `db.destroy()` closes all connections. The first statement opens the first connection.
 *
 * @param url  `mariadb://user:password@host:port/database`, with several hosts separated by commas
 * @throws REST_MODELS_INVALID_OPTIONS if the URL has another form, or an option is wrong;
 *   REST_MODELS_UNSUPPORTED_DATABASE if the package `mysql2` is not installed
 */
export function openMariadb<DB = Tables> (url: string, options: MariadbOptions = {}): Kysely<DB> {
  const urls = nodeUrls(url, ['mariadb', 'mysql'])
  const checked = checkServerOptions('openMariadb()', { options, nodes: urls.length })
  const events = new Events()
  const pool = new NodePool(urls, events, checked)
  const executors = pooledExecutors({ rules: mariadbDialect, connect: (purpose) => pool.connect(purpose), events })
  const dialect = new MariadbDialect({ pool })
  return openKysely<DB>(dialect, () => executors, {
    close: async () => { await pool.close() },
    readHealth: async () => await pool.readHealth(),
    events
  })
}

/**
 * Kysely's MySQL dialect, but with the rows of `returning`. MariaDB returns rows from inserts and deletes. Kysely's own
 * dialect discards these rows.
 */
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

/**
 * The connection pools of all nodes. A node is one of the database servers in the URL. Kysely uses all pools as one.
 */
class NodePool implements MysqlPool {
  readonly #nodes: Nodes<MariadbNode>
  #closed: Promise<unknown> | undefined

  constructor ([first, ...others]: readonly [string, ...string[]], events: Events, options: Required<ServerOptions>) {
    const prepared = options.preparedStatements ? new PreparedStatements(unprepare) : undefined
    const leave = (node: MariadbNode, code: string): void => { this.#nodes.leave(node, code) }
    const open = (url: string): MariadbNode => new MariadbNode(url, { options, prepared, leave, events })
    this.#nodes = new Nodes([open(first), ...others.map(open)], {
      check: async (node) => { await node.check() },
      isFull,
      events,
      isWatched: others.length > 0 && !options.writable
    })
  }

  getConnection (callback: (error: unknown, connection: MariadbConnection) => void): void {
    this.connect('write').then((connection) => callback(null, connection), callback as (error: unknown) => void)
  }

  end (callback: (error: unknown) => void): void {
    this.close().then(() => callback(null), callback)
  }

  async readHealth (): Promise<HealthReport> {
    return this.#closed === undefined ? await readNodesHealth(this.#nodes, isFull) : down
  }

  /**
   * Closes the connections to all nodes. Kysely's driver and `db.destroy()` may both call it; the second call only
   * waits.
   */
  async close (): Promise<void> {
    this.#closed ??= Promise.all(this.#nodes.all.map(async (node) => { await node.close() }))
    await this.#closed
  }

  connect (purpose: Purpose): Promise<MariadbConnection> {
    return this.#nodes.connect((node) => node.connect(purpose))
  }
}
