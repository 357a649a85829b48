import { CompiledQuery } from 'kysely'
import type { Outcome, Query, Row } from '../engines/executor.js'
import { outcomeOf } from '../engines/kysely-executor.js'
import { withRetries } from '../engines/retry.js'
import { toStatementError } from '../engines/statement-failure.js'
import type { Handle } from './engine.js'

const begin = CompiledQuery.raw('begin')
const commit = CompiledQuery.raw('commit')
const rollback = CompiledQuery.raw('rollback')

/** A write, and a read of the written record in the same transaction. */
export interface WriteAndRead {
  readonly write: Query
  /** Returns the read; `written` is the row that the write returned, if any. */
  read (written: Row | undefined): Query
  /**
   * Makes the error for a read that finds nothing although something was written. It is thrown after a rollback.
   * Without it, the outcome has no row.
   */
  readonly refuse?: (() => Error) | undefined
}

/**
 * Runs a write and, if it changed something, a read in one transaction: for an engine whose updates return no rows, and
 * for writes whose result must be checked. Both are repeated together or not at all.
 *
 * @returns the row of the read, and how many rows the write changed
 * @throws as {@link Executor} says, and what `refuse` returns
 */
export async function writeAndRead (handle: Handle, both: WriteAndRead): Promise<Outcome> {
  return await withRetries(() => attempt(handle, both))
}

async function attempt ({ db, dialect }: Handle, { write, read, refuse }: WriteAndRead): Promise<Outcome> {
  let isConnected = false
  let refusal: Error | undefined
  try {
    return await db.getExecutor().provideConnection(async (connection) => {
      await connection.executeQuery(begin)
      isConnected = true
      try {
        const written = outcomeOf(await connection.executeQuery<Row>(write))
        const isWritten = written.row !== undefined || written.changed > 0
        // If the write did not find the record, a read could find one that was created since.
        const row = isWritten ? (await connection.executeQuery<Row>(read(written.row))).rows[0] : undefined
        if (isWritten && row === undefined) refusal = refuse?.()
        if (refusal !== undefined) throw refusal
        await connection.executeQuery(commit)
        return { row, changed: written.changed }
      } catch (failure) {
        // A failed rollback would say that nothing was done, and hide that the outcome of the commit is unknown.
        await connection.executeQuery(rollback).catch(() => {})
        throw failure
      }
    })
  } catch (failure) {
    throw refusal ?? toStatementError(dialect, failure, { isRead: false, isConnected })
  }
}
