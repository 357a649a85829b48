import type { MaybePromise, Outcome, Query } from '../engines/executor.js'
import type { Stored } from '../engines/storage.js'
import { keyValues } from '../model/key.js'
import type { PlannedInclude } from '../plan/list-plan.js'
import type { ScopedRecord } from '../plan/record-guard.js'
import { includingSelect, keysWith } from '../sql/include-read.js'
import { scopedSelect } from '../sql/scoped-statements.js'
import { toFindText, type Statements, type StatementShape } from '../sql/statements.js'
import type { RecordKey } from '../values/values.js'
import type { Engine } from './engine.js'

/** A resource's table, and the statements that are compiled for it. */
export interface ReadTarget extends StatementShape {
  readonly statements: Statements
}

/**
 * Reads the columns {@link StatementShape.visible} of a record. Returns no row if there is no such record, or if it
 * lies outside the scope, so that the user may not see it.
 */
export function readVisible (reader: Engine, target: ReadTarget, { id, scope }: ScopedRecord): MaybePromise<Outcome> {
  const query = scope.length === 0
    ? target.statements.read(...keyOf(reader, target, id))
    : scopedSelect(reader, target, 'visible', { id, scope })
  return find(reader, target, query)
}

/**
 * Reads the columns {@link StatementShape.visible} of a record, followed by those of related records.
 *
 * @returns the values of these columns; undefined if there is no such record, or if it lies outside the scope, so that
 *   the user may not see it
 */
export async function readIncluding (
  reader: Engine, target: ReadTarget, record: ScopedRecord, includes: readonly PlannedInclude[]
): Promise<readonly Stored[] | undefined> {
  const query = toFindText(includingSelect(reader, target, record, includes))
  const [row] = await reader.executor.readArrays(query, keysWith(target, includes))
  return row
}

/**
 * Reads the columns {@link StatementShape.stored} of a record, which an update or delete needs before it writes.
 *
 * @returns no row if there is no such record, or if it lies outside the scope, so that the user may not see it
 */
export function readStored (
  engine: Engine, target: ReadTarget, { id, scope }: ScopedRecord
): MaybePromise<Outcome> {
  const query = scope.length === 0
    ? target.statements.stored(...keyOf(engine, target, id))
    : scopedSelect(engine, target, 'stored', { id, scope })
  return find(engine, target, query)
}

/** Reads what {@link readStored} reads. Returns no row either if the user `record.ownerId` does not own the record. */
export function readOwned (engine: Engine, target: ReadTarget, record: ScopedRecord): MaybePromise<Outcome> {
  return find(engine, target, scopedSelect(engine, target, 'stored', record))
}

/** Runs a read of one record by its key. */
function find ({ executor }: Engine, { statements }: ReadTarget, query: Query): MaybePromise<Outcome> {
  return executor.execute(statements.comparesTexts ? toFindText(query) : query)
}

function keyOf ({ dialect }: Engine, { model }: ReadTarget, id: RecordKey): readonly Stored[] {
  return keyValues(model.primaryKey, id, dialect)
}
