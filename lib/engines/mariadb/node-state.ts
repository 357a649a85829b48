import type { NodeReport } from '../server/nodes-health.js'

/** Query for the state of a node (database server). A Galera node answers it even if it refuses all other queries. */
export const stateQuery = `select @@global.read_only = 0 as isWritable, (
    select count(*) from information_schema.system_variables where variable_name = 'WSREP_ON' and session_value = 'ON'
  ) as isInCluster, (
    select count(*) from information_schema.global_status where variable_name = 'WSREP_READY' and variable_value = 'ON'
  ) as isReady`

/**
 * Answer to {@link stateQuery}: `isWritable` is 1 if the node accepts writes, `isInCluster` is 1 if it belongs to a
 * Galera cluster, `isReady` is 1 if it is connected to the majority of that cluster. Otherwise each is 0.
 */
export interface NodeState {
  readonly isWritable: number
  readonly isInCluster: number
  readonly isReady: number
}

/** With NO_AUTO_VALUE_ON_ZERO, a column with `auto_increment` keeps the 0 that a client gives, as any other number. */
const sqlMode = 'STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION,NO_AUTO_VALUE_ON_ZERO'
/**
 * Makes a Galera node wait, before it reads, for everything that the other nodes have committed. A user who was
 * deactivated on another node is then refused.
 */
const syncWait = ', wsrep_sync_wait = @@global.wsrep_sync_wait | 1'

/**
 * Bytes of a text that count for its place in an ordering. With the default of 1,024, only 255 characters count, and
 * pages overlap. With much more, an ordering by many texts fails, because its sort keys do not fit into
 * `sort_buffer_size`.
 */
export const maxSortLength = 8192
/** Least `sort_buffer_size` in bytes, MariaDB's default. With less, an ordering by a dozen texts fails. */
const minSortBuffer = 2 ** 21

/**
 * Returns the statement that sets up a connection to a node before its first use. `statementTimeout` is in
 * milliseconds; if it is 0, the server's own limit stays.
 */
export function sessionSettings (node: NodeState | undefined, statementTimeout: number): string {
  const mode = `set session sql_mode = '${sqlMode}', time_zone = '+00:00', max_sort_length = ${maxSortLength}, ` +
    `autocommit = 1, foreign_key_checks = 1, sort_buffer_size = greatest(@@sort_buffer_size, ${minSortBuffer})`
  const maxTime = statementTimeout === 0 ? '' : `, max_statement_time = ${statementTimeout / 1000}`
  return `${mode}${maxTime}${node?.isInCluster === 1 ? syncWait : ''}`
}

/**
 * Checks that a node (database server) answers and, if `writable` is true, that it accepts writes.
 *
 * @throws an error with the number that MariaDB gives to statements for such a node: 1047 for a Galera node without a
 *   majority, 1290 for a node that only reads
 */
export function requireFit (node: NodeState | undefined, writable: boolean): void {
  if (node?.isInCluster === 1 && node.isReady !== 1) {
    throw Object.assign(new Error('The node has no majority of its cluster'), { errno: 1047, code: 'WSREP_NOT_READY' })
  }
  if (writable && node?.isWritable !== 1) {
    throw Object.assign(new Error('The node is read-only'), { errno: 1290, code: 'ER_OPTION_PREVENTS_STATEMENT' })
  }
}

/**
 * Error numbers after which a node cannot serve the next statement either: it is not ready, shutting down, cut off in a
 * commit, or read-only.
 */
const unfitErrors = new Set<number | undefined>([1047, 1053, 1180, 1290, 1836])
/**
 * Error numbers after which a node of a Galera cluster cannot serve the next statement either: {@link unfitErrors} and
 * 1205. A lock wait fails with 1205, but so does a read on such a node if it has no majority.
 */
const unfitInCluster = new Set([...unfitErrors, 1205])

/** Returns the error numbers after which a node cannot serve the next statement either. */
export function unfitErrorsOf (node: NodeState | undefined): ReadonlySet<number | undefined> {
  return node?.isInCluster === 1 ? unfitInCluster : unfitErrors
}

/**
 * Makes the report on a node's health from its answer to {@link stateQuery}. `writable` and `readonly` are options of
 * the database: with `writable`, only a node that accepts writes is usable; with `readonly`, the status is never `up`.
 */
export function toNodeReport (
  node: NodeState | undefined, { writable, readonly }: { readonly writable: boolean, readonly readonly: boolean }
): NodeReport {
  const [isWritable, isInCluster] = [node?.isWritable === 1, node?.isInCluster === 1]
  return {
    status: isWritable && !readonly ? 'up' : 'read-only',
    role: isInCluster ? 'primary' : isWritable ? 'single' : 'replica',
    // A connection to a Galera node waits for what the others have committed. Only administrators may ask a replica for
    // its lag.
    lag: isInCluster || isWritable ? 0 : null,
    isUsable: isWritable || !writable
  }
}
