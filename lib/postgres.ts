import { PostgresDialect, type Kysely, type PostgresPool } from 'kysely'
import pg from 'pg'
import { nodeUrls } from './connect/database-url.js'
import { Nodes, NoneIsFree } from './connect/nodes.js'
import { PooledRoad } from './connect/pooled-road.js'
import { PostgresConnection, unprepare } from './connect/postgres-connection.js'
import { columnTypes } from './connect/postgres-types.js'
import { PreparedStatements } from './connect/prepared-statements.js'
import { checkServerOptions, connectTimeout, driverTimeout, type ServerOptions } from './connect/server-options.js'
import { openKysely, type Tables } from './query/engine.js'

export type PostgresOptions = ServerOptions

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
  const checked = checkServerOptions('openPostgres()', options, urls.length)
  const pool = new NodePool(urls, checked)
  const road = new PooledRoad(() => pool.connect())
  return openKysely<DB>(new PostgresDialect({ pool }), { reader: road, writer: road }, async () => await pool.end())
}

/** A pool for each node, together what Kysely takes for one. */
class NodePool implements PostgresPool {
  readonly #nodes: Nodes<pg.Pool>
  readonly #prepared: PreparedStatements<pg.PoolClient> | undefined
  readonly #options: Required<ServerOptions>
  readonly #timeout: number
  readonly #ready = new WeakSet<pg.PoolClient>()
  #ended: Promise<unknown> | undefined

  constructor ([first, ...others]: readonly [string, ...string[]], options: Required<ServerOptions>) {
    this.#nodes = new Nodes([openPool(first, options), ...others.map((url) => openPool(url, options))])
    this.#prepared = options.preparedStatements ? new PreparedStatements(unprepare) : undefined
    this.#options = options
    this.#timeout = driverTimeout(options.statementTimeout)
  }

  connect (): Promise<PostgresConnection> {
    return this.#nodes.connect(async (node) => {
      const client = await take(node, () => this.#nodes.inUse(node) >= node.options.max)
      const release = this.#nodes.use(node)
      const connection = new PostgresConnection(client, { prepared: this.#prepared, timeout: this.#timeout, release, leave: () => this.#nodes.leave(node) })
      // A standby that is promoted keeps its connections, a primary that fails does not.
      if (!this.#ready.has(client)) await connection.makeReady(this.#options)
      this.#ready.add(client)
      return connection
    })
  }

  /** Once: Kysely's driver ends it, or what closes the database if that was never used. */
  async end (): Promise<void> {
    this.#ended ??= Promise.all(this.#nodes.all.map(async (node) => await node.end()))
    await this.#ended
  }
}

async function take (pool: pg.Pool, isFull: () => boolean): Promise<pg.PoolClient> {
  try {
    return await pool.connect()
  } catch (error) {
    throw isFull() ? new NoneIsFree('No connection has become free', { cause: error }) : error
  }
}

function openPool (url: string, { connections, statementTimeout, readonly }: Required<ServerOptions>): pg.Pool {
  const pool = new pg.Pool({
    connectionString: readonly ? readOnlyUrl(url) : url,
    max: connections,
    connectionTimeoutMillis: connectTimeout,
    keepAlive: true,
    fallback_application_name: 'fastify-rest-models',
    types: columnTypes,
    ...(statementTimeout > 0 && { statement_timeout: statementTimeout })
  })
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
