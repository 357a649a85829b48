import { isDeepStrictEqual } from 'node:util'
import type { MaybePromise, Outcome, Query, Row } from '../engines/executor.js'
import type { Stored } from '../engines/storage.js'
import { errors } from '../errors.js'
import { decodeIn, encodeAll, type Column } from '../model/column.js'
import { idOf, keyColumnsOf, keyValues } from '../model/key.js'
import type { WritePlan } from '../plan/plan-write.js'
import type { RecordGuard, ScopedRecord } from '../plan/record-guard.js'
import type { Scope } from '../plan/viewer.js'
import { scopedDelete, scopedInsert, scopedSelect, scopedUpdate } from '../sql/scoped-statements.js'
import { updateStatement, type StatementShape } from '../sql/statements.js'
import { isPromise, type RecordKey } from '../values/values.js'
import type { Engine } from './engine.js'
import { explainDelete, Unwritten } from './explain-failure.js'
import { explainWrite } from './explain-write.js'
import { requirePermittedReferences } from './permitted-references.js'
import type { ReadTarget } from './read.js'
import { writeAndRead, type WriteAndRead } from './transaction.js'

const unknownKey = "The database gave no key of the new record: a trigger 'instead of insert' must set it in 'new'"

/** A resource's table, and the columns that the answer to a failed write may name. */
export interface WriteTarget extends ReadTarget {
  /** Columns that an error sent to the client may name: those that records show or that clients may write. */
  readonly known: ReadonlySet<Column>
}

/** An update of one record by a request: its key, the new values, and who may do it. */
export interface RecordUpdate {
  readonly id: RecordKey
  readonly plan: WritePlan
  /**
   * Id of the user who must own the record; null stands for nobody, who owns no record. Not used if the resource has no
   * owner field.
   */
  readonly ownerId: RecordKey | null
  readonly guard: RecordGuard
  /** Conditions that the record must meet before the update, in addition to the scope. */
  readonly unchanged?: Scope
  /** Columns that records show. Default: {@link StatementShape.visible}, which has hidden columns, too, for hooks. */
  readonly shown?: readonly Column[]
}

/**
 * Creates a record, if the foreign keys in `guard.references` refer to records that meet the conditions given there.
 *
 * @returns the columns {@link StatementShape.visible} of the record
 * @throws the error that {@link explainWrite} returns for a failure
 */
export function runCreate (
  engine: Engine, target: WriteTarget, plan: WritePlan, guard: RecordGuard
): MaybePromise<Row> {
  const values = encodeAll(plan, engine.dialect)
  const { statements } = target
  const isGuarded = guard.references.length + guard.outcome.length > 0
  const fail = async (failure: unknown): Promise<never> => {
    throw await explainWrite(engine, target, { plan, guard }, failure)
  }
  try {
    const written = isGuarded || statements.readsCreated
      ? createGuarded(engine, target, values, guard)
      : engine.executor.execute(statements.create(...values.values()))
    return isPromise(written) ? written.then(rowOf).catch(fail) : rowOf(written)
  } catch (failure) {
    return fail(failure)
  }
}

async function createGuarded (
  engine: Engine, target: WriteTarget, values: ReadonlyMap<Column, Stored>, guard: RecordGuard
): Promise<Outcome> {
  const { references, outcome } = guard
  await requirePermittedReferences(engine, target, references)
  const write = references.length === 0
    ? target.statements.create(...values.values())
    : scopedInsert(engine, target, { values, references })
  return outcome.length === 0 && !target.statements.readsCreated
    ? await engine.executor.execute(write)
    : await writeAndRead(engine, { write, ...readAfterCreate(engine, target, guard) })
}

function rowOf ({ row }: Outcome): Row {
  if (row === undefined) throw new Unwritten()
  return row
}

/**
 * Changes a record, if it is there, inside the user's scope (the records that the user may see), still belongs to the
 * owner, and the foreign keys in `guard.references` refer to records that meet the conditions given there.
 *
 * @returns the columns {@link StatementShape.visible} of the record, also if its values were equal before; undefined if
 *   no record meets the conditions (those of `change.unchanged`, too), if a trigger discarded the change, or, on
 *   PostgreSQL, if the update had to wait for another write and so would see related records as they were before
 * @throws the error that {@link explainWrite} returns for a failure
 */
export function runUpdate (
  engine: Engine, target: WriteTarget, change: RecordUpdate
): MaybePromise<Row | undefined> {
  const { id, plan, ownerId, guard: { scope, references }, unchanged = [] } = change
  const values = encodeAll(plan, engine.dialect)
  const update = scope.length + references.length + unchanged.length === 0
    ? updateStatement(engine, target, values, ownParameters(engine, target, change))
    : scopedUpdate(engine, target, { id, ownerId, scope: [...scope, ...unchanged] }, { values, references })
  const finish = ({ row }: Outcome) => row ?? readEqual(engine, target, change)
  const fail = async (failure: unknown): Promise<never> => { throw await explainWrite(engine, target, change, failure) }
  try {
    const written = references.length === 0 && returnsRecord(engine, target, change)
      ? engine.executor.execute(update)
      : updateGuarded(engine, target, change, update)
    const row = isPromise(written) ? written.then(finish) : finish(written)
    return isPromise(row) ? row.catch(fail) : row
  } catch (failure) {
    return fail(failure)
  }
}

async function updateGuarded (
  engine: Engine, target: WriteTarget, change: RecordUpdate, update: Query
): Promise<Outcome> {
  await requirePermittedReferences(engine, target, change.guard.references)
  return returnsRecord(engine, target, change)
    ? await engine.executor.execute(update)
    : await writeAndRead(engine, { write: update, ...readAfter(engine, target, change) })
}

/** True if the statement of an update returns the record as it is afterwards, and nothing else must be checked. */
function returnsRecord ({ dialect }: Engine, { statements }: WriteTarget, { guard }: RecordUpdate): boolean {
  return dialect.returnsUpdates && !statements.isTriggered && guard.outcome.length === 0
}

/**
 * Reads a record that an update did not write, and returns it if the update would change nothing. Triggers may discard
 * such an update, for example `suppress_redundant_updates_trigger()` of PostgreSQL. Values of hidden columns count as
 * different, because the answer must not tell what is in them.
 */
async function readEqual (
  engine: Engine, target: WriteTarget, { plan, guard: { scope }, shown = target.visible, ...record }: RecordUpdate
): Promise<Row | undefined> {
  const { row } = await engine.executor.execute(scopedSelect(engine, target, 'visible', { ...record, scope }))
  const isEqual = row !== undefined && [...plan].every(([column, value]) =>
    shown.includes(column) && isDeepStrictEqual(value, decodeIn(row, column, engine.dialect)))
  return isEqual ? row : undefined
}

/**
 * Returns the read after an update, for {@link writeAndRead}. The read does not check the owner, because a trigger may
 * have changed the owner. With a scope, it finds only a record inside the scope. If it finds none, the write is rolled
 * back and refused: with 403 if there is a scope, otherwise with 409. There is one exception: if the engine's updates
 * return rows and `outcome` is empty, the update itself leaves the record inside the scope. Only a trigger can then
 * have moved the record out, and the row that the update returned is the answer.
 */
function readAfter (
  engine: Engine, target: WriteTarget, { id, guard: { scope, outcome } }: RecordUpdate
): Omit<WriteAndRead, 'write'> {
  const isSure = engine.dialect.returnsUpdates && outcome.length === 0
  const refuse = isSure ? undefined : () => scope.length === 0 ? new Unwritten() : new errors.Forbidden()
  return scope.length === 0
    ? { refuse, read: () => target.statements.written(...keyValues(target.model.primaryKey, id, engine.dialect)) }
    : { refuse, read: () => scopedSelect(engine, target, 'visible', { id, scope }) }
}

/**
 * Returns the read after a create, for {@link writeAndRead}. The read finds the record only if it meets the conditions
 * in `outcome`; otherwise the create is rolled back and refused with 403. `outcome` is empty, so that nothing is
 * refused, if the written values and the checked references already show that the record lies inside the user's scope.
 * Without a key the record could not be found, so the create is rolled back, too, and is a 500.
 */
function readAfterCreate (engine: Engine, target: WriteTarget, { outcome }: RecordGuard): Omit<WriteAndRead, 'write'> {
  return {
    read: (written = {}) => {
      if (keyColumnsOf(target.model).some(({ key }) => written[key] === null)) throw new Error(unknownKey)
      const id = idOf(target.model, written, engine.dialect)
      return scopedSelect(engine, target, 'visible', { id, scope: outcome })
    },
    refuse: outcome.length === 0 ? undefined : () => new errors.Forbidden()
  }
}

/**
 * Deletes a record, if it is there, inside the user's scope (the records that the user may see), and still belongs to
 * the owner.
 *
 * @returns true if it deleted the record
 * @throws REST_MODELS_STILL_REFERENCED (409) if other records refer to the record, REST_MODELS_FORBIDDEN (403) if a
 *   row-level security policy refuses the delete, REST_MODELS_CONSTRAINT (409) if another rule of the database does
 */
export async function runDelete (engine: Engine, target: WriteTarget, record: ScopedRecord): Promise<boolean> {
  const { id, scope, ownerId = null } = record
  const query = scope.length === 0
    ? target.statements.delete(...ownParameters(engine, target, { id, ownerId }))
    : scopedDelete(engine, target, record)
  try {
    const { changed } = await engine.executor.execute(query)
    return changed > 0
  } catch (failure) {
    throw explainDelete(failure)
  }
}

function ownParameters (
  { dialect }: Engine, { owner, model }: StatementShape, { id, ownerId }: Pick<RecordUpdate, 'id' | 'ownerId'>
): readonly Stored[] {
  const key = keyValues(model.primaryKey, id, dialect)
  return owner === undefined ? key : [...key, ownerId]
}
