import { MysqlAdapter, MysqlDialect, type Kysely, type MysqlPool } from 'kysely'
import { openKysely, type Tables } from './engines/executor.js'
import { unprepare, type MariadbConnection } from './engines/mariadb/connection.js'
import { MariadbNode } from './engines/mariadb/node.js'
import { nodeUrls } from './engines/server/database-url.js'
import type { Purpose } from './engines/server/node-connections.js'
import { Nodes } from './engines/server/nodes.js'
import { PooledExecutor } from './engines/server/pooled-executor.js'
import { PreparedStatements } from './engines/server/prepared-statements.js'
import { checkServerOptions, type ServerOptions } from './engines/server/server-options.js'

export type MariadbOptions = ServerOptions

/** The numbers of a server that accepts no more connections: in all, of a user. */
const tooManyConnections = new Set([1040, 1203, 1226])

/**
 * Opens a MariaDB database the way the plugin wants it: dates and times as text, prepared statements, a time-out for
 * statements, strict values. Of several hosts it uses one, and the next one when that does not serve. `db.destroy()` closes it.
 *
 * @param url  `mariadb://user:password@host:port/database`, with several hosts separated by commas
 * @throws REST_MODELS_INVALID_OPTIONS; nothing is connected to before the first statement
 */
export function openMariadb<DB = Tables> (url: string, options: MariadbOptions = {}): Kysely<DB> {
  const urls = nodeUrls(url, ['mariadb', 'mysql'])
  const checked = checkServerOptions('openMariadb()', { options, nodes: urls.length })
  const pool = new NodePool(urls, checked)
  const road = new PooledExecutor((purpose) => pool.connect(purpose))
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
  readonly #nodes: Nodes<MariadbNode>
  #closed: Promise<unknown> | undefined

  constructor ([first, ...others]: readonly [string, ...string[]], options: Required<ServerOptions>) {
    const prepared = options.preparedStatements ? new PreparedStatements(unprepare) : undefined
    const leave = (node: MariadbNode): void => { this.#nodes.leave(node) }
    const open = (url: string): MariadbNode => new MariadbNode(url, { options, prepared, leave })
    this.#nodes = new Nodes([open(first), ...others.map(open)], {
      check: async (node) => { await node.check() },
      isFull: (error) => tooManyConnections.has(Number((error as { readonly errno?: unknown }).errno)),
      isWatched: others.length > 0 && !options.writable
    })
  }

  getConnection (callback: (error: unknown, connection: MariadbConnection) => void): void {
    this.connect('write').then((connection) => callback(null, connection), callback as (error: unknown) => void)
  }

  end (callback: (error: unknown) => void): void {
    this.close().then(() => callback(null), callback)
  }

  /** Once: Kysely's driver ends the pool, or what closes the database if that was never used. */
  async close (): Promise<void> {
    this.#closed ??= Promise.all(this.#nodes.all.map(async (node) => { await node.close() }))
    await this.#closed
  }

  connect (purpose: Purpose): Promise<MariadbConnection> {
    return this.#nodes.connect((node) => node.connect(purpose))
  }
}
