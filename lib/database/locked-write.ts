import type { MaybePromise, Outcome, Row } from '../engines/executor.js'
import type { ScopedRecord } from '../plan/record-guard.js'
import type { StatementShape } from '../sql/statements.js'
import type { Engine } from './engine.js'
import { withLockedRecord } from './locked-record.js'

/** A condition for the write of a record, on the record as it is when nobody else can change it any more. */
export interface Precondition {
  /** Throws if the record may not be written, given its visible columns. Absent if any state of the record will do. */
  readonly requireUnchanged?: ((locked: Row) => void) | undefined
}

const nothingDone: Outcome = { row: undefined, changed: 0 }

/**
 * Writes a record. With a precondition this is done in a transaction, after the record was locked and the precondition
 * checked. If there is then no such record inside the scope, or if its owner is another, nothing is done.
 */
export async function runLocked (
  engine: Engine,
  target: StatementShape,
  { requireUnchanged, ...record }: ScopedRecord & Precondition,
  write: (engine: Engine) => MaybePromise<Outcome>
): Promise<Outcome> {
  if (requireUnchanged === undefined) return await write(engine)
  const outcome = await withLockedRecord(engine, target, record, async (stored, inside) => {
    requireUnchanged(stored)
    return await write(inside)
  })
  return outcome ?? nothingDone
}
