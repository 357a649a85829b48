import type { RecordGuard } from '../plan/record-guard.js'
import { permittedReferences } from '../sql/scoped-statements.js'
import { toFindText, type StatementShape } from '../sql/statements.js'
import type { Engine } from './engine.js'
import { Unwritten } from './explain-failure.js'
import { OpenTransaction } from './open-transaction.js'

/**
 * Checks by a read that the foreign keys in `references` refer to records that meet the conditions given there. Does so
 * only on MariaDB, where the write itself would wait for the lock of a record that the user may not see. The write
 * checks the foreign keys again, because the records may change meanwhile. Call this function before a transaction
 * begins. In a transaction it does nothing: otherwise, all later reads of the transaction would see the state of this
 * moment.
 *
 * @throws {@link Unwritten} if a foreign key refers to no record that meets the conditions
 */
export async function requirePermittedReferences (
  engine: Engine, shape: StatementShape, references: RecordGuard['references']
): Promise<void> {
  const { dialect: { subqueriesLockRows }, executor } = engine
  if (!subqueriesLockRows || references.length === 0 || executor instanceof OpenTransaction) return
  const { row } = await executor.execute(toFindText(permittedReferences(engine, shape, references)))
  if (row === undefined) throw new Unwritten()
}
