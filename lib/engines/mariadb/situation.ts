/** Query for the state of a node. It names a table, which a Galera node refuses while it is not ready. */
export const situation = `select @@global.read_only = 0 as writes, (
    select count(*) from information_schema.system_variables where variable_name = 'WSREP_ON' and session_value = 'ON'
  ) as shares from information_schema.schemata limit 1`

/** Answer to {@link situation}: `writes` is 1 if the node accepts writes, `shares` if it belongs to Galera. */
export interface Situation {
  readonly writes: number
  readonly shares: number
}

const sqlMode = 'STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION'
/**
 * Makes a Galera node wait, before it reads, for everything that the others have committed. A user who was deactivated
 * elsewhere is then refused.
 */
const syncWait = ', wsrep_sync_wait = @@global.wsrep_sync_wait | 1'

/** Returns the statement that sets up a connection to a node before its first use. */
export function sessionSettings (node: Situation | undefined, statementTimeout: number): string {
  const maxTime = `max_statement_time = ${statementTimeout / 1000}`
  const mode = `set session sql_mode = '${sqlMode}', time_zone = '+00:00', ${maxTime}`
  return `${mode}${node?.shares === 1 ? syncWait : ''}`
}

/** Returns the error for a server that only reads. */
export function readsOnly (): Error {
  return Object.assign(new Error('The node is read-only'), { errno: 1290 })
}
