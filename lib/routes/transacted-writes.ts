import { isDeepStrictEqual } from 'node:util'
import type { Engine } from '../database/engine.js'
import { explainDelete, Unwritten } from '../database/explain-failure.js'
import { insideOf, withLockedRecord, type LockedRecord } from '../database/locked-record.js'
import { readStored } from '../database/read.js'
import { inTransaction } from '../database/transaction.js'
import { explainWrite, requireReferences } from '../database/explain-write.js'
import { requirePermittedReferences } from '../database/permitted-references.js'
import { runCreate, runDelete, runUpdate } from '../database/write.js'
import type { Row } from '../engines/executor.js'
import { errors } from '../errors.js'
import type { GuardedPlan } from '../plan/plan-guarded-write.js'
import { requireStillOwn } from '../policy/owner.js'
import type { Resource } from '../resource/resource.js'
import type { TransactedTarget } from '../resource/transacted-target.js'
import { callAfter, callBeforeDelete, isWritten, planWithHook, type TransactedRequest } from './call-hooks.js'

/**
 * A record to write, and the id of the user who must own it. The id counts only if the resource has an owner field.
 * There, a write with null finds no record, because null owns none.
 */
export type OwnedRecord = LockedRecord & { readonly ownerId: LockedRecord['id'] | null }

/** A request that writes to a resource without hooks. */
export type UnhookedRequest = Omit<TransactedRequest, 'target'>

/**
 * Returns the target of a resource that has no hooks, for its writes under a precondition (`If-Match`), and for its
 * deletes if its table has triggers.
 */
export function targetWithoutHooks (resource: Resource): TransactedTarget {
  return { hooks: {}, whole: resource, toWhole: resource.toWritten }
}

/**
 * Creates a record as {@link runCreate} does, and calls the hooks of the resource. If a hook fails, no record is
 * created, and this throws as {@link planWithHook} and {@link callAfter} say.
 */
export async function createWithHooks (write: TransactedRequest, planned: GuardedPlan): Promise<Row> {
  const { resource: { engine, passwords }, resource, target: { hooks, whole } } = write
  if (hooks.beforeWrite !== undefined) await requireReferences(engine, resource, planned)
  const { plan: values, guard } = await planWithHook(write, planned, { operation: 'create' })
  const plan = await passwords.hashIn(values)
  if (hooks.afterWrite === undefined) return await runCreate(engine, resource, plan, guard)
  try {
    await requirePermittedReferences(engine, whole, guard.references)
    return await inTransaction(engine, async (transaction) => {
      const row = await runCreate(insideOf(transaction, engine), whole, plan, guard)
      await callAfter(write, transaction, { operation: 'create' }, row)
      return row
    }, { operation: 'create', resource: whole.name })
  } catch (failure) {
    throw await explainWrite(engine, resource, { plan, guard }, failure)
  }
}

/**
 * Locks a record, checks the precondition again if there is one, and changes the record as {@link runUpdate} does, with
 * the hooks of the resource. The hook `beforeWrite` is called before the lock, so that it may use the database. Until
 * this update has ended, other writes of this process that would call the hook for the same record wait. If another
 * write still changes the record between the hook and the lock, the hook is called again, under the lock. If the record
 * has all values of the update by then ({@link isWritten}), or if the hook took its changes back, nothing is written,
 * and no further hook is called.
 *
 * @throws REST_MODELS_RECORD_NOT_FOUND (404) if the record is gone or has left its scope, also if it was created again
 *   after that; REST_MODELS_FORBIDDEN (403) if it has another owner; what a hook or the precondition throws; what
 *   {@link explainWrite} makes of a failure; REST_MODELS_UNAVAILABLE (503) if the other writes of the record are too
 *   many, or take longer than two seconds
 */
export async function updateLocked (
  write: TransactedRequest, planned: GuardedPlan, record: OwnedRecord
): Promise<Row> {
  const row = await inTurn(write, record, async () => await attemptUpdate(write, planned, record))
  return row ?? await notFound(write, record)
}

/**
 * Repeats an update without hooks that wrote nothing, with the record locked. There may be another record of this key
 * by now. On PostgreSQL, an update that waited for another write also sees related records as they were before. Throws
 * as {@link updateLocked}, such as a 409 if a trigger discards the update, and a 400 if a reference leads to no record.
 */
export async function repeatUpdate (
  write: UnhookedRequest, planned: GuardedPlan, record: OwnedRecord
): Promise<Row> {
  await requireStillOwn(write.resource, record)
  return await updateLocked({ ...write, target: targetWithoutHooks(write.resource) }, planned, record)
}

/** Throws as {@link requireStillOwn}, or a 404 if the record was created again after a write had not found it. */
async function notFound ({ resource }: TransactedRequest, record: LockedRecord): Promise<never> {
  await requireStillOwn(resource, record)
  throw new errors.RecordNotFound()
}

/**
 * Runs a write of a record: at once or, if the resource has the hook `beforeWrite`, after all earlier writes of the
 * record in this process that have such a hook.
 */
async function inTurn<Result> (
  { resource: { engine, model }, target: { hooks } }: TransactedRequest, { id }: LockedRecord,
  act: () => Promise<Result>
): Promise<Result> {
  return hooks.beforeWrite === undefined ? await act() : await engine.turns.inTurn(model.table, id, act)
}

async function attemptUpdate (write: TransactedRequest, planned: GuardedPlan, record: OwnedRecord) {
  const { resource: { engine, passwords }, resource, target: { hooks: { beforeWrite }, whole } } = write
  if (beforeWrite !== undefined) await requireReferences(engine, resource, planned)
  const prepare = async (seen: Row | undefined) => {
    const changed = await planWithHook(write, planned, { operation: 'update', ...seen && { stored: seen } })
    return { seen, change: { ...changed, plan: await passwords.hashIn(changed.plan) } }
  }
  const row = await rowForHook(write, record)
  if (beforeWrite !== undefined && row === undefined) return undefined
  let prepared = await prepare(row)
  try {
    await requirePermittedReferences(engine, whole, prepared.change.guard.references)
    return await withLockedRecord(engine, whole, record, async (stored, inside) => {
      if (isStale(prepared.seen, stored)) prepared = await prepare(stored)
      if (isWritten(write, prepared.change, stored)) return stored
      const row = await runUpdate(inside, whole, { ...record, ...prepared.change, shown: resource.visible })
      // The record is locked, so it exists. But a record that a foreign key leads to may have changed, so that the
      // scope does not hold any more, or a reference of the update is wrong.
      if (row === undefined) throw new Unwritten()
      await callAfter(write, inside.executor, { operation: 'update', stored }, row)
      return row
    })
  } catch (failure) {
    throw await explainLocked(resource, record, prepared.change, failure)
  }
}

async function explainLocked (
  resource: Resource, record: LockedRecord, change: GuardedPlan, failure: unknown
): Promise<unknown> {
  if (failure instanceof Unwritten) await requireStillOwn(resource, record)
  return await explainWrite(resource.engine, resource, { ...change, id: record.id }, failure)
}

/**
 * Deletes a record as {@link runDelete} does, with the lock and the hooks of {@link updateLocked}. It counts as deleted
 * if a trigger replaces the delete by a change of the record. If a trigger keeps the record as it was, its other
 * changes are rolled back.
 *
 * @throws as {@link updateLocked}, and what {@link explainDelete} makes of a failure; REST_MODELS_CONSTRAINT (409) if a
 *   trigger kept the record
 */
export async function deleteLocked (write: TransactedRequest, record: LockedRecord): Promise<void> {
  if (!await inTurn(write, record, async () => await attemptDelete(write, record))) await notFound(write, record)
}

/** Repeats a delete without hooks that deleted nothing, as {@link repeatUpdate} does for an update. */
export async function repeatDelete (write: UnhookedRequest, record: LockedRecord): Promise<void> {
  await requireStillOwn(write.resource, record)
  await deleteLocked({ ...write, target: targetWithoutHooks(write.resource) }, record)
}

async function attemptDelete (write: TransactedRequest, record: LockedRecord): Promise<boolean> {
  const { resource, target: { hooks, whole } } = write
  let seen = await rowForHook(write, record)
  if (hooks.beforeWrite !== undefined && seen === undefined) return false
  if (seen !== undefined) await callBeforeDelete(write, seen)
  try {
    return await withLockedRecord(resource.engine, whole, record, async (stored, inside) => {
      if (isStale(seen, stored)) {
        await callBeforeDelete(write, stored)
        seen = stored
      }
      const isDeleted = await runDelete(inside, resource, record) || await isReplaced(inside, write, record, stored)
      if (!isDeleted) throw new Unwritten()
      await callAfter(write, inside.executor, { operation: 'delete', stored }, stored)
      return true
    }) === true
  } catch (failure) {
    // The commit may fail, too: a deferred foreign key is checked only then.
    if (!(failure instanceof Unwritten)) throw explainDelete(failure)
    await requireStillOwn(resource, record)
    throw new errors.Constraint()
  }
}

/**
 * True if a trigger has changed the record in place of a delete that deleted no row, for example marked it as deleted.
 * The record then has other values than before, or has left its scope. It must be locked, so that nobody else can have
 * changed it.
 *
 * @param locked  the row of the record before the delete
 */
async function isReplaced (
  inside: Engine, { resource, target: { whole } }: TransactedRequest, { id, scope }: LockedRecord, locked: Row
): Promise<boolean> {
  // Without known triggers, and with hooks, which see all columns, the scope is not asked: a change of a related
  // record, which is not locked, may have taken this one out of the scope.
  const asksScope = whole.statements.isTriggered && resource.hooked === undefined
  const { row } = await readStored(inside, whole, { id, scope: asksScope ? scope : [] })
  return !isDeepStrictEqual(row, locked)
}

/** Returns the row of a record for the hook `beforeWrite`; undefined if there is no such hook, or no such record. */
async function rowForHook ({ resource: { engine }, target }: TransactedRequest, record: LockedRecord) {
  return target.hooks.beforeWrite && (await readStored(engine, target.whole, record)).row
}

/** True if a record has changed since the hook `beforeWrite` saw it; false if the hook has not seen it. */
function isStale (seen: Row | undefined, locked: Row): boolean {
  return seen !== undefined && !isDeepStrictEqual(seen, locked)
}
