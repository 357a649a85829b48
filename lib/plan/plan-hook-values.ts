import { withDetails, errors, type FieldFault } from '../errors.js'
import { isFilledByDatabase, valueKindOf, type Column } from '../model/column.js'
import { keyColumnsOf, withId } from '../model/key.js'
import type { Model } from '../model/define-model.js'
import type { Payload } from '../request/payload.js'
import { valueAt } from '../values/lookup.js'
import { requireNoPromisesWithin } from '../values/promises.js'
import { hasProperties, type Json } from '../values/values.js'
import { fixedBy, withGuard, type GuardedPlan, type PlannedWrite, type WriteSetting } from './plan-guarded-write.js'
import { isShownAs } from './plan-update.js'
import { hasValue, type WritePlan } from './plan-write.js'
import { readFields, type WrittenField } from './read-fields.js'
import type { Viewer } from './viewer.js'

/**
 * A planned create or update to which the hook `beforeWrite` may add values, and the record as it was before the write.
 */
export interface HookedWrite extends PlannedWrite {
  /**
   * Values of the record before the write, by the names that records use, such as `user_id` for a foreign key `user`.
   * Hidden fields are included, passwords are not. Undefined for a create.
   */
  readonly stored: Readonly<Record<string, Json>> | undefined
}

/**
 * Adds to a write the values that the hook `beforeWrite` returned. They are checked like a body. The hook may set any
 * field except the key, the owner, a field that only the database fills, and a field for which the user's scope permits
 * one value only. A returned value is ignored if the planned write sets the same value, or if the write does not set
 * the field and the record has that value already.
 *
 * @throws REST_MODELS_INVALID_RECORD (400) if values are wrong, and clients may name all fields with wrong values;
 *   REST_MODELS_FORBIDDEN (403) if the values show that the record would lie outside the scope, so that the user could
 *   not see it; TypeError, which becomes a 500, for any other mistake of the hook
 */
export function addHookValues (
  setting: WriteSetting, viewer: Viewer, write: HookedWrite, returned: unknown
): GuardedPlan {
  const { model, known, checkValues } = setting
  const columns = new Set(withId(model, model.columns))
  const values = changesOf(model, write, returned)
  const { fields, faults } = readFields({ model, known: columns, writable: columns }, values, { check: checkValues })
  // Compared once more, because readFields() turns other spellings of a value into the same one.
  const changed = [...fields.values()].filter(({ column, value }) => !isSame(write, column, value))
  requireFree(setting, viewer, changed)
  if (faults.length > 0) throw faultOf(model, known, faults)
  const added = new Map(changed.map(({ column, value }) => [column, value]))
  const plan = new Map([...write.plan, ...added])
  requireValues(model, plan)
  const { isCreate, sourceOf } = write
  return withGuard(setting, viewer, {
    plan, isCreate, sourceOf: (column) => added.has(column) ? 'server' : sourceOf(column)
  })
}

/**
 * Returns the values that a hook returned, under the names that the hook wrote. Leaves out values that are undefined,
 * and values that change nothing: the planned write sets the same value, or it does not set the field and the record
 * has the value already. Empty if the hook returned nothing. Throws TypeError if the hook returned anything but an
 * object, a promise as or in a value, or a field that the model does not have.
 */
function changesOf ({ name, byName }: Model, write: HookedWrite, returned: unknown): Payload {
  if (returned === undefined || returned === null) return {}
  requireNoPromisesWithin(`beforeWrite of model '${name}'`, returned)
  if (!hasProperties(returned)) {
    throw new TypeError(`beforeWrite of model '${name}' must return an object of fields, or nothing`)
  }
  const values: Array<[string, unknown]> = Object.entries(returned)
  const changed = values.filter(([field, value]) => {
    const column = byName.get(field)
    if (column === undefined) throw new TypeError(`beforeWrite of model '${name}' returned unknown field '${field}'`)
    return value !== undefined && !isSame(write, column, value)
  })
  return Object.fromEntries(changed)
}

/** True if the planned write sets a column to a value, or does not set the column and the record has the value. */
function isSame ({ plan, stored }: HookedWrite, column: Column, value: unknown): boolean {
  const before = plan.has(column) ? plan.get(column) : stored?.[column.key]
  return isShownAs(value, valueKindOf(column).storage, before)
}

function requireFree (setting: WriteSetting, viewer: Viewer, fields: readonly WrittenField[]): void {
  const { model, owner } = setting
  const fixed = fixedBy(viewer, setting)
  const isKey = (column: Column): boolean => withId(model, keyColumnsOf(model)).includes(column)
  for (const { name, column } of fields) {
    if (isKey(column) || column === owner || fixed.has(column) || isFilledByDatabase(column)) {
      throw new TypeError(`beforeWrite of model '${model.name}' must not set '${name}': ` +
        'a hook sets no key, no owner, nothing that only the database fills, and nothing that the scope fixes')
    }
  }
}

/** Throws TypeError if a column has no value: no client may set it, it has no default, and the hook left it out. */
function requireValues ({ name }: Model, plan: WritePlan): void {
  const missing = [...plan].find((entry) => !hasValue(entry))
  if (missing === undefined) return
  throw new TypeError(`beforeWrite of model '${name}' must set '${missing[0].field}': ` +
    'no client may set it, and it has neither a default nor null')
}

/**
 * Returns the error for wrong values of a hook: REST_MODELS_INVALID_RECORD (400) if clients may name all wrong fields.
 * Otherwise it is a TypeError, because clients must learn nothing about hidden fields.
 */
function faultOf ({ name, byName }: Model, known: ReadonlySet<Column>, faults: readonly FieldFault[]): Error {
  const names = faults.map(({ field }) => `'${field}'`).join(', ')
  return faults.every(({ field }) => known.has(valueAt(byName, field)))
    ? withDetails(new errors.InvalidRecord(names), faults)
    : new TypeError(`beforeWrite of model '${name}' returned wrong values: ` +
      faults.map(({ field, message }) => `'${field}' ${message}`).join('; '))
}
