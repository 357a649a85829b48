import { CompiledQuery, type DatabaseConnection } from 'kysely'
import type { ProvideConnection } from '../engines/connection-queue.js'
import type { Dialect } from '../engines/dialect.js'
import { rollbackText, type Executor, type Outcome, type Query, type Row } from '../engines/executor.js'
import { withRetries } from '../engines/retry.js'
import { toStatementError } from '../engines/statement-failure.js'
import type { Events } from '../events/events.js'
import type { StatementLabel } from '../events/messages.js'
import { OpenTransaction } from './open-transaction.js'

const rollback = CompiledQuery.raw(rollbackText)

/** Statements of a transaction between its begin and its commit. */
export type Work<Result> = (transaction: OpenTransaction) => Promise<Result>

/** Begins a transaction, calls `work`, and commits what it did; rolls it back if `work` throws. */
export type RunTransaction = <Result>(work: Work<Result>) => Promise<Result>

/** A database for statements and transactions. */
export interface TransactionHandle {
  readonly executor: Executor
  readonly events: Events
  /** Runs a transaction once; on an embedded engine perhaps together with others. */
  readonly runTransaction: RunTransaction
}

/**
 * Calls `work` in a transaction, and commits what it did. If `work` throws, the transaction is rolled back. `work` is
 * called again, up to 4 times, if the engine says that certainly nothing was done, such as after a deadlock. If the
 * handle's executor is a transaction already, `work` becomes part of that one.
 *
 * @param work   may read before it writes, because on SQLite the transaction locks the database for writes when it
 *   begins
 * @param label  operation and resource, which the event about repetitions names
 * @returns what `work` returns
 * @throws what `work` throws, and otherwise as {@link Executor} says
 */
export async function inTransaction<Result> (
  { executor, events, runTransaction }: TransactionHandle, work: Work<Result>, label?: StatementLabel
): Promise<Result> {
  return executor instanceof OpenTransaction
    ? await work(executor)
    : await withRetries(async () => await runTransaction(work), events, label)
}

/** Runs one transaction on a connection of its own, once; {@link inTransaction} repeats it. */
export async function runAlone<Result> (
  dialect: Dialect, events: Events, provideConnection: ProvideConnection, work: Work<Result>
): Promise<Result> {
  let hasBegun = false
  try {
    return await provideConnection(async (connection) => {
      await connection.executeQuery(dialect.begin)
      hasBegun = true
      const transaction = new OpenTransaction(connection, dialect, events)
      try {
        const result = await work(transaction)
        await transaction.commit()
        return result
      } catch (failure) {
        await rollBack(connection)
        throw failure
      }
    })
  } catch (failure) {
    throw hasBegun ? failure : toStatementError(dialect, failure, 'nothing')
  }
}

/** Rolls a transaction back. A failure would hide whether something was done, or that nobody knows. */
async function rollBack (connection: DatabaseConnection): Promise<void> {
  try {
    await connection.executeQuery(rollback)
  } catch {}
}

/** A write, and a read of the written record in the same transaction. */
export interface WriteAndRead {
  readonly write: Query
  /** Returns the read; `written` is the row that the write returned, if any. */
  read (written: Row | undefined): Query
  /**
   * Makes the error for a read that finds nothing although something was written. The error is thrown after a rollback.
   * If `refuse` is absent, the write is committed.
   */
  readonly refuse?: (() => Error) | undefined
}

/**
 * Runs a write and, if it changed something, a read in one transaction: for an engine whose updates return no rows, and
 * for writes whose result must be checked. Both are repeated together or not at all.
 *
 * @returns the row of the read; if the read found none, the row that the write returned. `changed` is that of the
 *   write, as {@link Outcome} says. If the write found no record, there is no row, and `changed` is 0.
 * @throws as {@link Executor} says, and what `refuse` returns
 */
export async function writeAndRead (
  handle: TransactionHandle, { write, read, refuse }: WriteAndRead
): Promise<Outcome> {
  return await inTransaction(handle, async (transaction) => {
    const written = await transaction.execute(write)
    // If the write did not find the record, a read could find one that was created since.
    if (written.row === undefined && written.changed === 0) return { row: undefined, changed: 0 }
    const { row } = await transaction.execute(read(written.row))
    const refusal = row === undefined ? refuse?.() : undefined
    if (refusal !== undefined) throw refusal
    // A trigger may have moved or deleted the record: then the write's own row is the answer.
    return { row: row ?? written.row, changed: written.changed }
  }, write.label)
}
