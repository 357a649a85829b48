import { isDeepStrictEqual } from 'node:util'
import type { StorageName } from '../engines/storage.js'
import type { FieldFault } from '../errors.js'
import { isSecret, valueKindOf, type Column } from '../model/column.js'
import type { Payload } from '../request/payload.js'
import { valueAt } from '../values/lookup.js'
import type { Json } from '../values/values.js'
import { momentFor } from './defaults.js'
import { requireNoFaults, type GivenValues, type WritePlan, type WriteScope } from './plan-write.js'
import { readFields, type Check, type WrittenField } from './read-fields.js'

/**
 * Returns the value of a column before an update. Returns undefined if the column is hidden: a write must not depend on
 * hidden values.
 */
export type StoredOf = (column: Column) => Json | undefined

/**
 * Plans the values that an update writes.
 *
 * @param storedOf  gives the value of a column before the update; a field that is not writable may repeat that value
 * @param fixed     values that the scope fixes: the record has them already, and no client may change them
 * @returns the changed values, possibly none, and if there are some, the moment of the update; if `comparesAll` is
 *   false, also unchanged values, which do no harm
 * @throws REST_MODELS_INVALID_RECORD (400) listing every fault by field
 */
export function planUpdate (scope: WriteScope, payload: Payload, storedOf: StoredOf, fixed: GivenValues): WritePlan {
  const isWritable = (column: Column): boolean => scope.writable.has(column) && !fixed.has(column)
  const before: StoredOf = (column) => fixed.has(column) ? fixed.get(column) : storedOf(column)
  const isSame = (field: WrittenField): boolean => isKept(scope, field, before, isWritable)
  const check: Check = (values) => faultsOfChanges(scope, values, before)
  const { fields, faults } = readFields(scope, payload, { check, isKept: isSame })
  // Compared once more, because readFields() turns other spellings of a value into the same one.
  const changed = [...fields.values()].filter((field) => !isSame(field))
  const unwritable = changed.filter(({ column }) => !isWritable(column))
  requireNoFaults(faults, unwritable, 'cannot be changed')
  const plan = new Map(changed.map(({ column, value }) => [column, value]))
  return plan.size === 0 || scope.touched.length === 0 ? plan : touch(plan, scope.touched)
}

function touch (plan: Map<Column, Json>, touched: readonly Column[]): WritePlan {
  const now = new Date()
  for (const column of touched) plan.set(column, momentFor(column, now))
  return plan
}

/** True if each value of an update is the one that the record has. Hidden columns count as changed. */
export function changesNothing (plan: WritePlan, storedOf: StoredOf): boolean {
  return [...plan].every(([column, value]) => isDeepStrictEqual(value, storedOf(column)))
}

/**
 * Lists faults, except those of stored values that the body repeats. So a record that was read can be sent back whole,
 * even if its values are older than the rules of its model.
 */
function faultsOfChanges (
  { model, checkValues }: WriteScope, values: object, storedOf: StoredOf
): readonly FieldFault[] {
  const faults = checkValues(values)
  if (faults.length === 0) return faults
  const written = new Map<string, unknown>(Object.entries(values))
  return faults.filter(({ field }) => written.get(field) !== storedOf(valueAt(model.byName, field)))
}

/**
 * Storages of values that a record may show in whole seconds, in fewer digits, as null, or in another spelling. If the
 * body of an update repeats such a value, it is not written: without this, the update could change the stored value.
 */
const lossyStorages: ReadonlySet<StorageName> =
  new Set(['datetime', 'date', 'number', 'integer', 'decimal', 'boolean', 'json', 'uuid'])

/**
 * True if a field of a body repeats the value that the record shows, and is therefore not written. If the resource
 * compares all values, this applies to every field. Otherwise it applies to fields that the client may not write, and
 * to those where writing could do harm. A password is shown as its hash, which must not be hashed again. Other values
 * may show less than is stored, or be a text, a choice or a reference that the API or the database does not permit.
 */
function isKept (
  { comparesAll }: WriteScope, { column, value }: WrittenField, storedOf: StoredOf,
  isWritable: (column: Column) => boolean
): boolean {
  const { storage } = valueKindOf(column)
  const mayLose = comparesAll || isSecret(column) || !isWritable(column) || lossyStorages.has(storage) ||
    column.options.enum !== undefined || column.target !== undefined || isDoubtful(value)
  return mayLose && isShownAs(value, storage, storedOf(column))
}

/**
 * True for a text with a character that stands for bytes which are not UTF-8, or with a NUL, which no body may write
 * but other programs do.
 */
function isDoubtful (value: Json): boolean {
  return typeof value === 'string' && (value.includes('\ufffd') || value.includes('\0'))
}

function isShownAs (value: Json, storage: StorageName, shown: Json | undefined): boolean {
  const isOtherUuid = storage === 'uuid' && typeof shown === 'string' && value !== shown
  return isDeepStrictEqual(value, isOtherUuid ? shown.toLowerCase() : shown)
}
