import { CompiledQuery } from 'kysely'
import type { Outcome, Query, Row } from '../engines/executor.js'
import { outcomeOf } from '../engines/kysely-executor.js'
import { withRetries } from '../engines/retry.js'
import { toStatementError } from '../engines/statement-failure.js'
import type { Handle } from './engine.js'

const begin = CompiledQuery.raw('begin')
const commit = CompiledQuery.raw('commit')
const rollback = CompiledQuery.raw('rollback')

/**
 * Runs an update and, if it changed something, a read in one transaction, for an engine whose updates return no rows.
 * Both are repeated together or not at all.
 *
 * @returns the row of the read, and how many rows the update changed
 * @throws as {@link Executor} says
 */
export async function updateAndRead (handle: Handle, update: Query, read: Query): Promise<Outcome> {
  return await withRetries(() => attempt(handle, update, read))
}

async function attempt ({ db, dialect }: Handle, update: Query, read: Query): Promise<Outcome> {
  let isConnected = false
  try {
    return await db.getExecutor().provideConnection(async (connection) => {
      await connection.executeQuery(begin)
      isConnected = true
      try {
        const { changed } = outcomeOf(await connection.executeQuery<Row>(update))
        // If the update did not find the record, a read could find one that was created since.
        const row = changed === 0 ? undefined : (await connection.executeQuery<Row>(read)).rows[0]
        await connection.executeQuery(commit)
        return { row, changed }
      } catch (failure) {
        // A failed rollback would say that nothing was done, and hide that the outcome of the commit is unknown.
        await connection.executeQuery(rollback).catch(() => {})
        throw failure
      }
    })
  } catch (failure) {
    throw toStatementError(dialect, failure, { isRead: false, isConnected })
  }
}
