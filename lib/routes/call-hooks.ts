import { isDeepStrictEqual } from 'node:util'
import type { FastifyRequest } from 'fastify'
import { withHookDatabase } from '../database/hook-database.js'
import { toHostError, withinTime } from '../database/host-failure.js'
import type { OpenTransaction } from '../database/open-transaction.js'
import type { Row } from '../engines/executor.js'
import type { GuardedPlan } from '../plan/plan-guarded-write.js'
import { addHookValues } from '../plan/plan-hook-values.js'
import { changesNothing } from '../plan/plan-update.js'
import { hasValue, type WritePlan } from '../plan/plan-write.js'
import type { Viewer } from '../plan/viewer.js'
import { userOf } from '../policy/guard.js'
import type { Identity } from '../policy/policy.js'
import type { Resource } from '../resource/resource.js'
import type { TransactedTarget } from '../resource/transacted-target.js'
import { valueOf } from '../response/record.js'
import { requireNoPromisesWithin } from '../values/promises.js'
import type { Json } from '../values/values.js'

/**
 * A request that writes to a resource with hooks, that writes under a precondition (`If-Match`), or that deletes from a
 * table with triggers.
 */
export interface TransactedRequest {
  readonly resource: Resource
  readonly target: TransactedTarget
  readonly request: FastifyRequest
  readonly viewer: Viewer
}

/** The operation for which a hook is called, and the row before the write. A create has no such row. */
interface Occasion {
  readonly operation: 'create' | 'update' | 'delete'
  readonly stored?: Row
}

/**
 * Calls the hook `beforeWrite`, if there is one.
 *
 * @returns what the hook returns; undefined if there is no hook
 * @throws what the hook throws; REST_MODELS_UNAVAILABLE (503) if the hook takes longer than `limits.statementTime`, or
 *   if it throws a failure of a database that cannot serve now
 */
async function callBefore (
  { resource, target: { hooks: { beforeWrite }, toWhole }, request }: TransactedRequest,
  { operation, stored: row }: Occasion, plan: WritePlan
): Promise<unknown> {
  // The hook gets a copy. Without the copy, a hook that changes a JSON value in place would change what is written, and
  // again if the write is repeated.
  const values = structuredClone(valuesFor(resource, plan, row))
  const occasion = { operation, values, stored: row && toWhole(row), user: userOf<Identity>(request), request }
  return await inTime(resource, 'beforeWrite', async () => await beforeWrite?.(occasion))
}

/**
 * Calls the hook `beforeWrite` for a delete, which no returned values can change.
 *
 * @param stored  the row of the record
 * @throws as {@link callBefore}; TypeError, which becomes a 500, if the hook returned promises
 */
export async function callBeforeDelete (write: TransactedRequest, stored: Row): Promise<void> {
  const returned = await callBefore(write, { operation: 'delete', stored }, new Map())
  requireNoPromisesWithin(`beforeWrite of model '${write.resource.model.name}'`, Object(returned))
}

/**
 * Returns the values that the hook `beforeWrite` gets, by the keys of their columns in records. For a create, these are
 * all values of the plan, except nulls in columns that are not nullable: the hook must set such a column
 * ({@link hasValue}). For an update, these are the values that differ from the row, and all values of hidden columns: a
 * rule of the hook on such a column must not tell clients what is in it.
 */
function valuesFor (
  { stored, engine: { dialect } }: Resource, plan: WritePlan, row: Row | undefined
): Record<string, Json> {
  const given = [...plan].filter((entry) => row === undefined
    ? hasValue(entry)
    : !stored.includes(entry[0]) || !isDeepStrictEqual(entry[1], valueOf(entry[0], row, dialect)))
  return Object.fromEntries(given.map(([{ key }, value]) => [key, value]))
}

/**
 * True if a row has all values of a planned update already, because another request wrote them since this one was
 * planned, or because the hook `beforeWrite` took the changes back. Clients must not learn what is in hidden columns,
 * so these count as changed.
 */
export function isWritten ({ resource }: TransactedRequest, { plan }: GuardedPlan, row: Row): boolean {
  return changesNothing(resource, plan, (column) =>
    resource.stored.includes(column) ? valueOf(column, row, resource.engine.dialect) : undefined)
}

/**
 * Returns the plan of a create or update with the values that the hook `beforeWrite` adds; the same plan if there is no
 * such hook, or if the update would change nothing ({@link isWritten}). Throws as {@link callBefore} and
 * {@link addHookValues}.
 */
export async function planWithHook (
  write: TransactedRequest, planned: GuardedPlan, occasion: Occasion
): Promise<GuardedPlan> {
  const { resource, target: { hooks, toWhole }, viewer } = write
  const { stored: row } = occasion
  if (hooks.beforeWrite === undefined || (row !== undefined && isWritten(write, planned, row))) return planned
  const returned = await callBefore(write, occasion, planned.plan)
  const stored = row && toWhole(row)
  return addHookValues(resource, viewer, { ...planned, stored }, returned)
}

/**
 * Calls the hook `afterWrite`, if there is one, in the transaction of the write.
 *
 * @param written  the row of the record after the write; for a delete, the one before it
 * @throws what the hook throws, or the failure of one of its statements, even if the hook caught it;
 *   REST_MODELS_UNAVAILABLE (503) if the hook takes longer than `limits.statementTime`, or if it throws a failure of
 *   another database that cannot serve now
 */
export async function callAfter (
  { resource, target: { hooks: { afterWrite }, toWhole }, request }: TransactedRequest, transaction: OpenTransaction,
  { operation, stored: row }: Occasion, written: Row
): Promise<void> {
  if (afterWrite === undefined) return
  const [record, stored, user] = [toWhole(written), row && toWhole(row), userOf<Identity>(request)]
  await withHookDatabase(resource, transaction, async (db, end) => await inTime(resource, 'afterWrite', async () => {
    try {
      await afterWrite({ operation, record, stored, user, db })
    } finally {
      await end()
    }
  }))
}

/**
 * Calls a hook and returns its result.
 *
 * @throws REST_MODELS_UNAVAILABLE (503) if the hook takes longer than `limits.statementTime` (milliseconds), or if it
 *   throws a failure of a database that cannot serve now; otherwise what the hook throws. A failure of the transaction
 *   itself stays as it is, so that the transaction is repeated if possible ({@link toHostError}).
 */
async function inTime<Result> (
  { name, limits: { statementTime }, engine: { dialect } }: Resource, hook: string, call: () => Promise<Result>
): Promise<Result> {
  try {
    return await withinTime(statementTime, `${hook} of resource '${name}'`, call)
  } catch (failure) {
    throw toHostError(dialect, failure)
  }
}
