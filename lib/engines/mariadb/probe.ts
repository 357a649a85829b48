import type { ConnectionOptions } from 'mysql2'
import { askAlone } from '../server/ask-alone.js'
import { answerOf, driver } from './driver.js'
import { requireFit, stateQuery, type NodeState } from './node-state.js'

/**
 * Checks that a server can serve statements and, if `writable` is true, that it accepts writes.
 *
 * @throws the driver's failure, within two seconds, if the server does not answer the question; the error of
 *   {@link requireFit} if its answer says that it cannot be used
 */
export async function probeMariadb (config: ConnectionOptions, writable: boolean): Promise<void> {
  const [node] = await ask<NodeState>(config, stateQuery)
  requireFit(node, writable)
}

/**
 * Returns what a server reports of its state; undefined if its answer has no row.
 *
 * @throws the driver's failure, within `maxMs` milliseconds, if the server does not answer the question; the error of
 *   {@link requireFit} if it is a Galera node without a majority
 */
export async function readState (config: ConnectionOptions, maxMs: number): Promise<NodeState | undefined> {
  const [node] = await ask<NodeState>(config, stateQuery, maxMs)
  requireFit(node, false)
  return node
}

/**
 * Returns those of the given connection ids for which the server still works on a statement. Rejects if the server does
 * not answer within two seconds.
 */
export async function busyOn (config: ConnectionOptions, ids: readonly number[]): Promise<ReadonlySet<number>> {
  const busy = `select id from information_schema.processlist where id in (${ids.join(', ')}) and command <> 'Sleep'`
  const rows = await ask<{ readonly id: number }>(config, busy)
  return new Set(rows.map(({ id }) => id))
}

async function ask<Row> (config: ConnectionOptions, sql: string, maxMs?: number): Promise<readonly Row[]> {
  const connection = driver().createConnection(config)
  connection.on('error', () => {})
  const alone = { socket: () => connection.stream, end: () => { connection.end(() => {}) } }
  return await askAlone(alone, async () => await new Promise((resolve, reject) => {
    connection.query<Row>(sql, (error, result) => error === null ? resolve(answerOf(result).rows) : reject(error))
  }), maxMs)
}
