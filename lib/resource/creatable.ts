import { errors } from '../errors.js'
import { isFilledByDatabase } from '../model/column.js'
import type { Registration } from './registration.js'

/**
 * True if clients may create records of a resource. They may not if the policy closes `create`, or if every field
 * except the key is read-only or filled by the database.
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
