import type { MaybePromise, Outcome } from '../engines/executor.js'
import type { Stored } from '../engines/storage.js'
import type { PlannedInclude } from '../plan/list-plan.js'
import type { ScopedRecord } from '../plan/record-guard.js'
import { includingSelect, keysWith } from '../sql/include-read.js'
import { scopedSelect } from '../sql/scoped-statements.js'
import type { Statements, StatementShape } from '../sql/statements.js'
import type { Engine } from './engine.js'

/** A resource's table, and the statements that are compiled for it. */
export interface ReadTarget extends StatementShape {
  readonly statements: Statements
}

/** Reads the visible columns of a record. Returns no row if there is no such record inside the scope. */
export function readVisible (reader: Engine, target: ReadTarget, { id, scope }: ScopedRecord): MaybePromise<Outcome> {
  return reader.executor.execute(
    scope.length === 0 ? target.statements.read(id) : scopedSelect(reader, target, 'visible', { id, scope }))
}

/**
 * Reads the visible columns of a record, and behind them those of related records.
 *
 * @returns undefined if there is no such record inside the scope
 */
export async function readIncluding (
  reader: Engine, target: ReadTarget, record: ScopedRecord, includes: readonly PlannedInclude[]
): Promise<readonly Stored[] | undefined> {
  const query = includingSelect(reader, target, record, includes)
  const [row] = await reader.executor.readArrays(query, keysWith(target, includes))
  return row
}

/**
 * Reads the columns of a record that an update or delete has to know: those that records show, and the owner.
 *
 * @returns no row if there is no such record inside the scope
 */
export function readStored (
  engine: Engine, target: ReadTarget, { id, scope }: ScopedRecord
): MaybePromise<Outcome> {
  return engine.executor.execute(
    scope.length === 0 ? target.statements.stored(id) : scopedSelect(engine, target, 'stored', { id, scope }))
}
