/**
 * State of a database: `up` if it accepts reads and writes, or answers and nothing more is known; `read-only` if it
 * answers but accepts no writes; `down` if it does not answer, refuses all queries, or is closed.
 */
export type HealthStatus = 'up' | 'read-only' | 'down'

/**
 * Role of a database server: `primary` passes writes to other servers, `replica` receives the writes of a primary,
 * `single` has no other servers that are known. A MariaDB server counts as `primary` if it belongs to a Galera cluster,
 * and otherwise as `replica` if it is read-only. If the URL names several servers, `single` becomes `primary`.
 */
export type ServerRole = 'primary' | 'replica' | 'single'

/** The connections of this process to one server. */
export interface PoolState {
  /** Number of open connections. */
  readonly size: number
  /** Number of open connections that nobody uses. */
  readonly idle: number
  /** Number of statements and transactions that wait for a connection. */
  readonly waiting: number
}

/** Answer of a database about its state. */
export interface HealthReport {
  readonly status: HealthStatus
  /** Role of the server; null if it is not known. */
  readonly role: ServerRole | null
  /** Milliseconds that the database is behind its primary, 0 if it is no replica; null if that is not known. */
  readonly lag: number | null
  /** State of the connection pool. Null if the database is closed, or has no pool that the plugin knows. */
  readonly pool: PoolState | null
}

/** Report on a database that gives no answer, or that is closed. */
export const down: HealthReport = { status: 'down', role: null, lag: null, pool: null }

/**
 * Function that asks a database for its state, without a connection of the pool. Its promise never rejects, and settles
 * after about 1 s at most.
 */
export type ReadHealth = () => Promise<HealthReport>

/** Milliseconds after which a database that does not answer counts as down. */
export const healthTimeoutMs = 1000
