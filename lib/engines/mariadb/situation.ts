/** It names a table, which a Galera node refuses while it is not ready. */
export const situation = `select @@global.read_only = 0 as writes, (
    select count(*) from information_schema.system_variables where variable_name = 'WSREP_ON' and session_value = 'ON'
  ) as shares from information_schema.schemata limit 1`

/** What {@link situation} answers: 1 if the node accepts writes, and if it is one of Galera. */
export interface Situation {
  readonly writes: number
  readonly shares: number
}

const sqlMode = 'STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION'
/** A node of Galera then waits, before it reads, for what the others have committed: a user who was deactivated elsewhere is refused. */
const readsAll = ', wsrep_sync_wait = @@global.wsrep_sync_wait | 1'

/** What is set on each connection, before its first statement. */
export function sessionSettings ({ shares }: Situation, statementTimeout: number): string {
  const mode = `set session sql_mode = '${sqlMode}', time_zone = '+00:00', max_statement_time = ${statementTimeout / 1000}`
  return `${mode}${shares === 1 ? readsAll : ''}`
}

/** Why a server will not do that only reads. */
export function readsOnly (): Error {
  return Object.assign(new Error('The node only reads'), { errno: 1290 })
}
