import type { NodeReport } from '../server/nodes-health.js'

/**
 * Query for the state of a node (database server). It names a table, because a Galera node that is not ready refuses
 * that.
 */
export const situation = `select @@global.read_only = 0 as writes, (
    select count(*) from information_schema.system_variables where variable_name = 'WSREP_ON' and session_value = 'ON'
  ) as shares from information_schema.schemata limit 1`

/**
 * Answer to {@link situation}: `writes` is 1 if the node accepts writes, `shares` is 1 if it belongs to a Galera
 * cluster, and otherwise 0.
 */
export interface Situation {
  readonly writes: number
  readonly shares: number
}

const sqlMode = 'STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION'
/**
 * Makes a Galera node wait, before it reads, for everything that the other nodes have committed. A user who was
 * deactivated on another node is then refused.
 */
const syncWait = ', wsrep_sync_wait = @@global.wsrep_sync_wait | 1'

/** Returns the statement that sets up a connection to a node before its first use. */
export function sessionSettings (node: Situation | undefined, statementTimeout: number): string {
  const maxTime = `max_statement_time = ${statementTimeout / 1000}`
  const mode = `set session sql_mode = '${sqlMode}', time_zone = '+00:00', ${maxTime}`
  return `${mode}${node?.shares === 1 ? syncWait : ''}`
}

/** Returns the error for a server that only reads, with MariaDB's number 1290. */
export function readsOnly (): Error {
  return Object.assign(new Error('The node is read-only'), { errno: 1290 })
}

/** Returns what a server says of its health. */
export function toNodeReport (
  node: Situation | undefined, { writable, readonly }: { readonly writable: boolean, readonly readonly: boolean }
): NodeReport {
  const [accepts, shares] = [node?.writes === 1, node?.shares === 1]
  return {
    status: accepts && !readonly ? 'up' : 'read-only',
    role: shares ? 'primary' : accepts ? 'single' : 'replica',
    // A connection to a Galera node waits for what the others have committed. Only administrators may ask a replica.
    lag: shares || accepts ? 0 : null,
    serves: accepts || !writable
  }
}
