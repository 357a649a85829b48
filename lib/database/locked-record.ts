import type { Row } from '../engines/executor.js'
import type { ScopedRecord } from '../plan/record-guard.js'
import { lockingSelect } from '../sql/scoped-statements.js'
import { isSeenLate } from '../sql/shaped-statement.js'
import type { StatementShape } from '../sql/statements.js'
import type { Engine } from './engine.js'
import type { OpenTransaction } from './open-transaction.js'
import { inTransaction } from './transaction.js'

/** An engine whose statements run in an open transaction. */
export interface TransactionEngine extends Engine {
  readonly executor: OpenTransaction
}

/** Returns an engine whose statements are part of a transaction. A spread of a frozen object would take longer. */
export function insideOf (transaction: OpenTransaction, engine: Engine): TransactionEngine {
  const { db, host, dialect, events, provideConnection, runTransaction, shapes, turns } = engine
  return { db, host, dialect, executor: transaction, events, provideConnection, runTransaction, shapes, turns }
}

/** A record to lock, and what must hold for it. */
export interface LockedRecord extends ScopedRecord {
  /**
   * Throws if the record may not be written. It gets the columns of the record, as read under the lock. Absent if the
   * record may be written in any state.
   */
  readonly requireUnchanged?: ((locked: Row) => void) | undefined
}

/**
 * Locks a record and calls `work` with it, in one transaction. Until the transaction ends, nobody else changes the
 * record. What `work` throws rolls the transaction back; {@link inTransaction} says when `work` is called again.
 *
 * @param work  gets the values of {@link StatementShape.stored}, as read under the lock, and the engine whose
 *   statements run in the transaction
 * @returns what `work` returns; undefined if there is no such record, if it lies outside the scope, so that the user
 *   may not see it, or if it has another owner
 * @throws what `requireUnchanged` throws
 */
export async function withLockedRecord<Result> (
  engine: Engine, target: StatementShape, record: LockedRecord,
  work: (stored: Row, inside: TransactionEngine) => Promise<Result>
): Promise<Result | undefined> {
  const label = { operation: 'lock', resource: target.name } as const
  return await inTransaction(engine, async (transaction) => {
    const inside = insideOf(transaction, engine)
    // Once the record is locked, the next statement sees what holds now, also of related records.
    if (isSeenLate(engine.dialect, record)) {
      await transaction.execute(lockingSelect(inside, target, { id: record.id, scope: [] }))
    }
    const { row } = await transaction.execute(lockingSelect(inside, target, record))
    if (row === undefined) return undefined
    record.requireUnchanged?.(row)
    return await work(row, inside)
  }, label)
}
