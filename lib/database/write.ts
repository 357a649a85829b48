import type { Outcome, Row, MaybePromise } from '../engines/executor.js'
import type { Stored } from '../engines/storage.js'
import { errors } from '../errors.js'
import { encode, type Column } from '../model/column.js'
import type { WritePlan } from '../plan/plan-write.js'
import { updateStatement, type Statements, type StatementShape } from '../sql/statements.js'
import type { RecordKey } from '../values/values.js'
import type { Engine } from './engine.js'
import { explainFailure } from './explain-failure.js'
import { StatementFailure, catchFailure } from './retry.js'
import { run, runTogether } from './run.js'

/** A table to write to, and its statements. */
export interface WriteTarget {
  readonly shape: StatementShape
  readonly statements: Statements
  /** Columns that a client may be told of. */
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
  engine: Engine, { shape, statements, known }: WriteTarget, plan: WritePlan
): Promise<Row> {
  const values = encodeAll(engine, plan)
  const { row } = await write(engine, { shape, known, values }, () =>
    run(engine, statements.create(...values.values())))
  if (row === undefined) throw new errors.Constraint()
  return row
}

/**
 * Changes a record, if it is there and still belongs to the owner.
 *
 * @returns its visible columns, or undefined if nothing was changed
 * @throws as {@link runCreate}
 */
export async function runUpdate (
  engine: Engine,
  { shape, statements, known }: WriteTarget,
  { id, plan, ownerId }: { readonly id: RecordKey, readonly plan: WritePlan, readonly ownerId: Stored }
): Promise<Row | undefined> {
  const values = encodeAll(engine, plan)
  const fill = updateStatement(engine, shape, [...values.keys()])
  const update = fill(...values.values(), ...ownParameters(shape, id, ownerId))
  const { row } = await write(engine, { shape, known, values, id }, () => engine.dialect.returnsUpdates
    ? run(engine, update)
    : runTogether(engine, update, statements.own(...ownParameters(shape, id, ownerId))))
  return row
}

/**
 * Deletes a record, if it is there and still belongs to the owner.
 *
 * @returns true if it deleted the record
 * @throws REST_MODELS_STILL_REFERENCED (409), REST_MODELS_FORBIDDEN (403), REST_MODELS_CONSTRAINT (409)
 */
export async function runDelete (
  engine: Engine, { shape, statements }: WriteTarget, id: RecordKey, ownerId: Stored
): Promise<boolean> {
  try {
    const { changed } = await run(engine, statements.delete(...ownParameters(shape, id, ownerId)))
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

function ownParameters ({ owner }: StatementShape, id: RecordKey, ownerId: Stored): readonly Stored[] {
  return owner === undefined ? [id] : [id, ownerId]
}

function encodeAll ({ dialect }: Engine, plan: WritePlan): ReadonlyMap<Column, Stored> {
  return new Map([...plan].map(([column, value]) => [column, encode(column, value, dialect)]))
}

interface Written extends Pick<WriteTarget, 'shape' | 'known'> {
  readonly values: ReadonlyMap<Column, Stored>
  /** Key of the record that is updated; absent for a create. */
  readonly id?: RecordKey
}

function write (engine: Engine, written: Written, execute: () => MaybePromise<Outcome>): MaybePromise<Outcome> {
  const explain = async (failure: unknown): Promise<never> => {
    if (!(failure instanceof StatementFailure)) throw failure
    throw await explainFailure(engine, { ...written, model: written.shape.model, failure })
  }
  return catchFailure(explain, execute)
}
