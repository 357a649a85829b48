import type { MaybePromise, Outcome, Row } from '../engines/executor.js'
import { StatementFailure } from '../engines/statement-failure.js'
import type { Stored } from '../engines/storage.js'
import { errors } from '../errors.js'
import { encode, type Column } from '../model/column.js'
import type { WritePlan } from '../plan/plan-write.js'
import { updateStatement, type Statements, type StatementShape } from '../sql/statements.js'
import type { RecordKey } from '../values/values.js'
import type { Engine } from './engine.js'
import { explainFailure } from './explain-failure.js'
import { updateAndRead } from './update-and-read.js'

/** A resource's table, and the statements that write to it. */
export interface WriteTarget extends StatementShape {
  readonly statements: Statements
  /** Columns that an error may name. */
  readonly known: ReadonlySet<Column>
}

/**
 * Creates a record.
 *
 * @returns its visible columns
 * @throws REST_MODELS_NOT_UNIQUE (409), REST_MODELS_UNKNOWN_REFERENCE (400), REST_MODELS_INVALID_RECORD (400) if a text
 *   is too long for an index, REST_MODELS_FORBIDDEN (403) if a policy for rows refuses it, REST_MODELS_CONSTRAINT (409)
 */
export async function runCreate (
  engine: Engine, { model, statements, known }: WriteTarget, plan: WritePlan
): Promise<Row> {
  const values = encodeAll(engine, plan)
  try {
    const { row } = await engine.executor.execute(statements.create(...values.values()))
    if (row === undefined) throw new errors.Constraint()
    return row
  } catch (failure) {
    throw await explainFailure(engine, { model, known, values }, failure)
  }
}

/**
 * Changes a record, if it is there and still belongs to the owner.
 *
 * @returns its visible columns, or undefined if nothing was changed
 * @throws as {@link runCreate}
 */
export async function runUpdate (
  engine: Engine,
  target: WriteTarget,
  { id, plan, ownerId }: { readonly id: RecordKey, readonly plan: WritePlan, readonly ownerId: Stored }
): Promise<Row | undefined> {
  const values = encodeAll(engine, plan)
  const fill = updateStatement(engine, target, [...values.keys()])
  const own = ownParameters(target, id, ownerId)
  const update = fill(...values.values(), ...own)
  try {
    const { row } = engine.dialect.returnsUpdates
      ? await engine.executor.execute(update)
      : await updateAndRead(engine, update, target.statements.own(...own))
    return row
  } catch (failure) {
    const { model, known } = target
    throw await explainFailure(engine, { model, known, values, id }, failure)
  }
}

/**
 * Deletes a record, if it is there and still belongs to the owner.
 *
 * @returns true if it deleted the record
 * @throws REST_MODELS_STILL_REFERENCED (409), REST_MODELS_FORBIDDEN (403), REST_MODELS_CONSTRAINT (409)
 */
export async function runDelete (
  engine: Engine, target: WriteTarget, id: RecordKey, ownerId: Stored
): Promise<boolean> {
  try {
    const { changed } = await engine.executor.execute(target.statements.delete(...ownParameters(target, id, ownerId)))
    return changed > 0
  } catch (failure) {
    if (!(failure instanceof StatementFailure)) throw failure
    const refusals = { reference: errors.StillReferenced, forbidden: errors.Forbidden }
    const Refusal = failure.kind === 'reference' || failure.kind === 'forbidden'
      ? refusals[failure.kind]
      : errors.Constraint
    throw new Refusal({ cause: failure })
  }
}

/**
 * Reads the columns of a record that an update or delete has to know: those that records show, and the owner.
 *
 * @returns no row if there is no such record
 */
export function readStored ({ executor }: Engine, { statements }: WriteTarget, id: RecordKey): MaybePromise<Outcome> {
  return executor.execute(statements.stored(id))
}

function ownParameters ({ owner }: StatementShape, id: RecordKey, ownerId: Stored): readonly Stored[] {
  return owner === undefined ? [id] : [id, ownerId]
}

function encodeAll ({ dialect }: Engine, plan: WritePlan): ReadonlyMap<Column, Stored> {
  const values = new Map<Column, Stored>()
  for (const [column, value] of plan) values.set(column, encode(column, value, dialect))
  return values
}
