import { errors } from '../errors.js'
import { isFilledByDatabase } from '../model/column.js'
import type { Registration } from './registration.js'

/**
 * True if clients are meant to create records of a resource, so that setup checks that its table permits it. They are
 * not if the policy closes `create`, or if the model has fields besides the key, but all of these are read-only or
 * filled by the database. A create is not refused in the second case.
 */
export function isCreatable ({ model: { columns, primaryKey }, protections, readOnly }: Registration): boolean {
  const fields = columns.filter((column) => column !== primaryKey)
  return protections.create !== 'closed' &&
    (fields.length === 0 || fields.some((column) => !readOnly.has(column) && !isFilledByDatabase(column)))
}

/**
 * Requires that every read-only field gets a value when a client creates a record.
 *
 * @throws REST_MODELS_INVALID_OPTIONS
 */
export function requireCreatable ({ model, protections, readOnly, owner, scopeRule }: Registration): void {
  // A scope may set read-only fields. If nobody may create records, no field needs a value.
  if (scopeRule !== undefined || protections.create === 'closed') return
  const unfillable =
    [...readOnly].find((column) => column !== owner && !column.nullable && column.options.default === undefined &&
      !isFilledByDatabase(column))
  if (unfillable !== undefined) {
    throw new errors.InvalidOptions(`'readOnly' of resource '${model.name}' names '${unfillable.field}', ` +
      'which has no default: no record could be created')
  }
}
