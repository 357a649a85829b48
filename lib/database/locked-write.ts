import type { Row } from '../engines/executor.js'
import type { ScopedRecord } from '../plan/record-guard.js'
import type { Engine } from './engine.js'
import { withLockedRecord } from './locked-record.js'
import { explainWrite, runDelete, runUpdate, type RecordUpdate, type WriteTarget } from './write.js'

/** Throws if a record with these visible columns may not be written. */
export type RequireUnchanged = (locked: Row) => void

/**
 * Changes a record as `runUpdate` does, in a transaction that has locked the record and checked it.
 *
 * @returns its visible columns, or undefined if nothing was changed
 * @throws what `requireUnchanged` throws, and what {@link explainWrite} makes of a failure
 */
export async function updateUnchanged (
  engine: Engine, target: WriteTarget, change: RecordUpdate, requireUnchanged: RequireUnchanged
): Promise<Row | undefined> {
  const { id, ownerId, guard: { scope } } = change
  try {
    return await withLockedRecord(engine, target, { id, ownerId, scope }, async (stored, inside) => {
      requireUnchanged(stored)
      return await runUpdate(inside, target, change)
    })
  } catch (failure) {
    throw await explainWrite(engine, target, change, failure)
  }
}

/** Deletes a record as `runDelete` does, in a transaction that has locked the record and checked it. */
export async function deleteUnchanged (
  engine: Engine, target: WriteTarget, record: ScopedRecord, requireUnchanged: RequireUnchanged
): Promise<boolean> {
  const isDeleted = await withLockedRecord(engine, target, record, async (stored, inside) => {
    requireUnchanged(stored)
    return await runDelete(inside, target, record)
  })
  return isDeleted === true
}
