/**
 * State of a database: `up` if it accepts reads and writes, `read-only` if it answers but accepts no writes, `down` if
 * it does not answer.
 */
export type HealthStatus = 'up' | 'read-only' | 'down'

/**
 * Part of a database server among others: `primary` accepts the writes that others receive, `replica` receives them,
 * and `single` has no others.
 */
export type ServerRole = 'primary' | 'replica' | 'single'

/** The connections of this process to the server in use. */
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
  /** Null if nobody can tell. */
  readonly role: ServerRole | null
  /** Milliseconds that the database is behind its primary, 0 for a primary; null if nobody can tell. */
  readonly lag: number | null
  /** Null for a database without a pool that the plugin knows. */
  readonly pool: PoolState | null
}

/** Stands for the answer of a database that gives none, or that is closed. */
export const down: HealthReport = { status: 'down', role: null, lag: null, pool: null }

/** Asks a database for its state, without a connection of its pool. It never rejects, and takes about 1 s at most. */
export type ReadHealth = () => Promise<HealthReport>

/** Milliseconds after which a database that does not answer counts as down. */
export const healthTimeoutMs = 1000
