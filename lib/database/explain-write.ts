import { encodeAll, type Column } from '../model/column.js'
import type { Model } from '../model/define-model.js'
import type { WritePlan } from '../plan/plan-write.js'
import type { RecordGuard } from '../plan/record-guard.js'
import type { RecordKey } from '../values/values.js'
import type { Engine } from './engine.js'
import { explainFailure, explainReferences } from './explain-failure.js'
import { OpenTransaction } from './open-transaction.js'

/**
 * A model, and its columns (`known`) that an error sent to the client may name. The other columns stay hidden from
 * clients.
 */
interface Named {
  readonly model: Model
  readonly known: ReadonlySet<Column>
}

/** A create, or an update of the record `id`. */
interface Change {
  readonly id?: RecordKey
  readonly plan: WritePlan
  readonly guard: RecordGuard
}

/**
 * Returns the error that a client gets for a create or update that failed: the result of {@link explainFailure}. Inside
 * a transaction it returns `failure` itself on every engine: {@link explainFailure} runs queries, which PostgreSQL
 * refuses in a transaction after a failure. Whoever began the transaction calls this function again after its end.
 */
export async function explainWrite (
  engine: Engine, { model, known }: Named, { id, plan, guard }: Change, failure: unknown
): Promise<unknown> {
  if (engine.executor instanceof OpenTransaction) return failure
  const key = id === undefined ? {} : { id }
  const values = encodeAll(plan, engine.dialect)
  return await explainFailure(engine, { model, known, values, ...key, ...guard }, failure)
}

/**
 * Checks the foreign keys of a planned write before it is executed.
 *
 * @throws REST_MODELS_UNKNOWN_REFERENCE (400) if one leads to no record that the client may see, REST_MODELS_FORBIDDEN
 *   (403) if the record would lie outside the user's scope (the records that the user may see), REST_MODELS_CONSTRAINT
 *   (409) if the column of a value would refuse or change that value
 */
export async function requireReferences (
  engine: Engine, { model, known }: Named, { plan, guard: { references } }: Pick<Change, 'plan' | 'guard'>
): Promise<void> {
  const error = await explainReferences(engine, { model, known, values: encodeAll(plan, engine.dialect), references })
  if (error !== undefined) throw error
}
