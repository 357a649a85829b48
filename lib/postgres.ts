import { PostgresDialect, type Kysely, type PostgresPool } from 'kysely'
import { propertyOf } from './engines/failure-properties.js'
import { Events } from './events/events.js'
import { openKysely, type Tables } from './engines/executor.js'
import { down, type HealthReport } from './engines/health.js'
import type { PostgresConnection } from './engines/postgres/connection.js'
import { postgresDialect } from './engines/postgres/dialect.js'
import { checkMaxLag, maxLagNames, type MaxLag } from './engines/postgres/max-lag.js'
import { PostgresNode, type NodeOptions } from './engines/postgres/node.js'
import { unprepare } from './engines/postgres/prepared-query.js'
import { nodeUrls } from './engines/server/database-url.js'
import type { Purpose } from './engines/server/node-connections.js'
import { readNodesHealth } from './engines/server/nodes-health.js'
import { Nodes } from './engines/server/nodes.js'
import { pooledExecutors } from './engines/server/pooled-executor.js'
import { PreparedStatements } from './engines/server/prepared-statements.js'
import { checkServerOptions, type ServerOptions } from './engines/server/server-options.js'

export type { Tables } from './engines/executor.js'

export type PostgresOptions = ServerOptions & MaxLag

/** The SQLSTATE `too_many_connections` of a server that accepts no more connections. */
const tooManyConnections = '53300'
const isFull = (error: unknown): boolean => propertyOf(error, 'code') === tooManyConnections

/**
 * Opens a PostgreSQL database as the plugin needs it: a pool that survives the loss of any connection, dates and times
 * as text, prepared statements, a time-out for statements. If the URL has several hosts, statements go to one that
 * accepts writes; with `readonly` or `writable: false`, to the first that answers. When that host fails, they go to
 * another one. `db.destroy()` closes all connections. The first statement opens the first connection.
 *
 * @param url  `postgres://user:password@host:port/database`, with several hosts separated by commas
 * @throws REST_MODELS_INVALID_OPTIONS if the URL has another form, or an option is wrong;
 *   REST_MODELS_UNSUPPORTED_DATABASE if the package `pg` is not installed
 */
export function openPostgres<DB = Tables> (url: string, options: PostgresOptions = {}): Kysely<DB> {
  const urls = nodeUrls(url, ['postgres', 'postgresql'])
  const checked = checkServerOptions('openPostgres()', { options, nodes: urls.length, more: maxLagNames })
  const events = new Events()
  const pool = new NodePool(urls, events, { ...checked, ...checkMaxLag(options, checked) })
  const executors = pooledExecutors({ rules: postgresDialect, connect: (purpose) => pool.connect(purpose), events })
  const dialect = new PostgresDialect({ pool })
  return openKysely<DB>(dialect, () => executors, {
    close: async () => { await pool.end() },
    readHealth: async () => await pool.readHealth(),
    events
  })
}

/**
 * The connection pools of all nodes. A node is one of the database servers in the URL. Kysely uses all pools as one.
 */
class NodePool implements PostgresPool {
  readonly #nodes: Nodes<PostgresNode>
  #ended: Promise<unknown> | undefined

  constructor ([first, ...others]: readonly [string, ...string[]], events: Events, options: NodeOptions) {
    const prepared = options.preparedStatements ? new PreparedStatements(unprepare) : undefined
    const leave = (node: PostgresNode, code: string): void => { this.#nodes.leave(node, code) }
    const open = (url: string): PostgresNode => new PostgresNode(url, { options, prepared, leave, events })
    this.#nodes = new Nodes([open(first), ...others.map(open)], {
      check: async (node) => { await node.check() },
      isFull,
      events,
      isWatched: options.maxLag !== undefined || (others.length > 0 && !options.writable)
    })
  }

  connect (purpose: Purpose = 'write'): Promise<PostgresConnection> {
    return this.#nodes.connect((node) => node.connect(purpose))
  }

  async readHealth (): Promise<HealthReport> {
    return this.#ended === undefined ? await readNodesHealth(this.#nodes, isFull) : down
  }

  /**
   * Closes the connections to all nodes. Kysely's driver and `db.destroy()` may both call it; the second call only
   * waits.
   */
  async end (): Promise<void> {
    this.#ended ??= Promise.all(this.#nodes.all.map(async (node) => { await node.close() }))
    await this.#ended
  }
}
