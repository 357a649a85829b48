import type { AnyKysely } from '../../index.js'
import type { Model } from '../../model/define-model.js'
import { operations, writes, type Operation } from '../../policy/operations.js'
import type { Policy } from '../../policy/policy.js'
import { findComputed } from '../../tables/computed.js'
import { findUnfillable } from '../../tables/fillable.js'
import { findDenied } from '../../tables/denied.js'
import { findRefused, type ImpossibleWrite, type PermittedWrites } from '../../tables/enforceable.js'
import { readTables, type DatabaseTables } from '../../tables/read-tables.js'
import { findReplacing } from '../../tables/replacing.js'
import { findUntransactional } from '../../tables/transactional.js'
import type { Note } from '../introspect/model-plan.js'

/** A model, and the writes that the app must refuse to everybody (`closed`); none if its table takes all writes. */
export interface ClosedWrites {
  readonly model: Model
  readonly closed: readonly Operation[]
}

const replaces = 'takes no create and no update: ' +
  "by its constraint 'on conflict replace' they would delete another record"

/**
 * Finds the writes that an app must refuse to everybody: those that a table refuses whatever a client sends, all
 * writes to a table without transactions, and creates and updates that would delete another record with the same
 * values. Without transactions, a write that the API refuses after making it could not be undone.
 *
 * @returns a row for each model, also if no write is refused, and notes with the reasons
 */
export async function findClosedWrites (
  db: AnyKysely, models: readonly Model[]
): Promise<{ readonly served: readonly ClosedWrites[], readonly notes: readonly Note[] }> {
  const tables = await readTables(db, models)
  const unfillable = await findUnfillable(db, tables, models)
  const open = models.map((model) => ({ model, operations: writes, kept: [] }))
  const denied = await findDenied(db, tables, models)
  const refused = [...await findRefused(db, tables, open), ...computedKeys(tables, open), ...denied]
  const untransactional = await findUntransactional(db, tables, open)
  const replacing = await findReplacing(db, tables, open)
  const served = models.map((model) => ({
    model,
    closed: [...unfillable.has(model) ? ['create'] as const : [], ...untransactional.has(model) ? writes : [],
      ...replacing.has(model) ? ['create', 'update'] as const : [],
      ...refused.filter((row) => row.model === model).map(({ operation }) => operation)]
  }))
  const notes = [
    ...[...untransactional].map(([{ table }, why]) => ({ table, why: `takes no writes: it ${why}` })),
    ...[...replacing].map(({ table }) => ({ table, why: replaces })),
    ...refused.map(({ model: { table }, operation, why }) => ({ table, why: `takes no ${operation}: ${why}` }))
  ]
  return { served, notes: [...[...unfillable].flatMap(unfillableNotes), ...notes] }
}

/**
 * Returns the creates that would set a column that the database computes. In the models of `introspect` only a key can
 * be such a column, because the other ones are read-only.
 */
function computedKeys (tables: DatabaseTables, open: readonly PermittedWrites[]): readonly ImpossibleWrite[] {
  return findComputed(tables, open).map(({ model, column: { name } }) =>
    ({ model, operation: 'create', why: `the database computes its key '${name}'` }))
}

function unfillableNotes ([{ table }, columns]: readonly [Model, readonly string[]]): readonly Note[] {
  const why = 'must have a value and has no default, so that no record can be created'
  return columns.map((column) => ({ table, column, why }))
}

/**
 * Returns the policy under which anybody may do everything except the operations in `closed`. These are answered with
 * 401, as the specification of the API demands for writes under its read-only policy.
 */
export function openExcept (closed: readonly Operation[]): Policy {
  return Object.freeze({
    open: operations.filter((operation) => !closed.includes(operation)),
    closed,
    authenticator: () => async () => null,
    permits: () => false
  } satisfies Policy)
}
