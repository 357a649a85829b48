import { errors } from '../errors.js'
import { isFilledByDatabase, type Column } from '../model/column.js'
import { writes } from '../policy/operations.js'
import type { Registration } from './registration.js'

/**
 * Returns the model of a resource and the writes that clients may send to its table. `operations` are those of
 * `create`, `update` and `delete` that the policy does not refuse to everybody. `kept` are the owner, and the read-only
 * columns if there is no hook `beforeWrite`. No update sets these, nor the key, nor what only the database fills.
 */
export function openWritesOf ({ model, protections, readOnly, owner, hooks }: Registration) {
  // The hook may set fields that clients may not.
  const fixed: readonly Column[] = hooks?.beforeWrite === undefined ? [...readOnly] : []
  const kept = owner === undefined ? fixed : [...fixed, owner]
  return { model, operations: writes.filter((operation) => protections[operation] !== 'closed'), kept }
}

/** True if updates or deletes of clients lock the record first: those with hooks, and those under `If-Match`. */
export function locksRecords ({ protections, etag, hooks }: Registration): boolean {
  return (etag || hooks !== undefined) && (protections.update !== 'closed' || protections.delete !== 'closed')
}

/**
 * True if clients are meant to create records of a resource: setup then checks that the table permits it. False if the
 * policy refuses `create` to everybody. Also false if the model has fields besides the key, and all of these are
 * read-only or filled by the database, so that no client can give a record a value. Such a resource still accepts a
 * create without values.
 */
export function isCreatable ({ model: { columns, primaryKey }, protections, readOnly }: Registration): boolean {
  const fields = columns.filter((column) => column !== primaryKey)
  return protections.create !== 'closed' &&
    (fields.length === 0 || fields.some((column) => !readOnly.has(column) && !isFilledByDatabase(column)))
}

/**
 * Requires that every read-only field may be null or gets a value without the client when a record is created. Checks
 * nothing if the policy refuses `create` to everybody, or if the resource has a scope or a hook `beforeWrite`, which
 * may set such fields.
 *
 * @throws REST_MODELS_INVALID_OPTIONS
 */
export function requireCreatable (
  { model, protections, readOnly, owner, scopeRule, hooks }: Registration
): void {
  // A scope or a hook may set read-only fields. If nobody may create records, no field needs a value.
  if (scopeRule !== undefined || hooks?.beforeWrite !== undefined || protections.create === 'closed') return
  const unfillable =
    [...readOnly].find((column) => column !== owner && !column.nullable && column.options.default === undefined &&
      !isFilledByDatabase(column))
  if (unfillable !== undefined) {
    throw new errors.InvalidOptions(`'readOnly' of resource '${model.name}' names '${unfillable.field}', ` +
      'which has no default: no record could be created')
  }
}
