import type { RecordGuard } from '../plan/record-guard.js'
import { permittedReferences } from '../sql/scoped-statements.js'
import type { StatementShape } from '../sql/statements.js'
import type { Engine } from './engine.js'
import { Unwritten } from './explain-failure.js'
import { OpenTransaction } from './transaction.js'

/**
 * Checks by a read that all references of a write lead to permitted records, on an engine whose write would wait for
 * the locks of hidden ones. The write checks them again, because the records may change meanwhile. Does nothing in a
 * transaction, whose reads would from then on see the state of this moment: to be called before it begins.
 *
 * @throws Unwritten
 */
export async function requirePermittedReferences (
  engine: Engine, shape: StatementShape, references: RecordGuard['references']
): Promise<void> {
  const { dialect: { subqueriesLockRows }, executor } = engine
  if (!subqueriesLockRows || references.length === 0 || executor instanceof OpenTransaction) return
  const { row } = await executor.execute(permittedReferences(engine, shape, references))
  if (row === undefined) throw new Unwritten()
}
