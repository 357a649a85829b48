import { isDeepStrictEqual } from 'node:util'
import type { Dialect } from '../engines/dialect.js'
import type { StorageName } from '../engines/storage.js'
import type { Check, FieldFault } from '../errors.js'
import { acceptValue, isSecret, storageOf, valueKindOf, type Column } from '../model/column.js'
import type { Payload } from '../request/payload.js'
import { valueAt } from '../values/lookup.js'
import type { Json } from '../values/values.js'
import { momentFor } from './defaults.js'
import { requireNoFaults, type GivenValues, type WritePlan, type WriteRules } from './plan-write.js'
import { readFields, type WrittenField } from './read-fields.js'
import { everything, type Scope } from './viewer.js'

/**
 * Returns the value of a column before an update. Returns undefined for a hidden column other than the owner: a write
 * must not depend on hidden values.
 */
export type StoredOf = (column: Column) => Json | undefined

/**
 * Plans the values that an update writes. A value that the record has already is written, too, because somebody else
 * may change it at the same moment. A value for which {@link isKept} is true is not written.
 *
 * @param storedOf  gives the value of a column before the update. A body may repeat this value even if the client may
 *   not write the field
 * @param fixed     the columns for which the user's scope permits one value only, with this value. The record has it
 *   already, and no client may change it
 * @returns the values to write and, if there are any, the moment of the update for each column of `rules.touched`.
 *   Empty if there is nothing to write, or if `rules.needsChange` is true and the record has all of the values already
 * @throws REST_MODELS_INVALID_RECORD (400) listing up to 20 faults by field; one that cannot be changed is a fault
 */
export function planUpdate (rules: WriteRules, payload: Payload, storedOf: StoredOf, fixed: GivenValues): WritePlan {
  const isWritable = (column: Column): boolean => rules.writable.has(column) && !fixed.has(column)
  const before: StoredOf = (column) => fixed.has(column) ? fixed.get(column) : storedOf(column)
  const isSame = (field: WrittenField): boolean => isKept(rules, field, before, isWritable)
  const check: Check = (values) => faultsOfChanges(rules, values, before)
  const { fields, faults } = readFields(rules, payload, { check, isKept: isSame })
  const plan = new Map<Column, Json>()
  const unwritable: WrittenField[] = []
  for (const field of fields.values()) {
    // Compared once more, because readFields() turns other spellings of a value into the same one.
    if (isSame(field)) continue
    if (!isWritable(field.column)) unwritable.push(field)
    plan.set(field.column, field.value)
  }
  requireNoFaults(faults, unwritable, 'cannot be changed')
  if (rules.needsChange && changesNothing(rules, plan, before)) return new Map()
  return plan.size === 0 || rules.touched.length === 0 ? plan : touch(plan, rules.touched)
}

function touch (plan: Map<Column, Json>, touched: readonly Column[]): WritePlan {
  const now = new Date()
  for (const column of touched) plan.set(column, momentFor(column, now))
  return plan
}

/**
 * True if each value of an update is the one that the record has, or is a moment of the update (`rules.touched`).
 * Hidden columns count as changed.
 */
export function changesNothing (
  { touched }: Pick<WriteRules, 'touched'>, plan: WritePlan, storedOf: StoredOf
): boolean {
  return [...plan].every(([column, value]) =>
    touched.includes(column) || isShownAs(value, valueKindOf(column).storage, storedOf(column)))
}

/**
 * Returns the condition that nobody has updated a record since it was read: a column of `rules.touched` still has its
 * moment. Without such a column, or if records show none, there is no condition.
 */
export function untouchedSince ({ touched }: Pick<WriteRules, 'touched'>, storedOf: StoredOf): Scope {
  const column = touched.find((column) => storedOf(column) !== undefined)
  const value = column && storedOf(column)
  return column === undefined || value === undefined
    ? everything
    : [{ path: { joins: [], column }, operator: value === null ? 'is' : 'eq', values: [value] }]
}

/**
 * Lists faults, except those of stored values that the body repeats. So a record that was read can be sent back whole,
 * even if its values are older than the rules of its model.
 */
function faultsOfChanges (
  { model, checkValues }: WriteRules, values: object, storedOf: StoredOf
): readonly FieldFault[] {
  const faults = checkValues(values)
  if (faults.length === 0) return faults
  const written = new Map<string, unknown>(Object.entries(values))
  return faults.filter(({ field }) => written.get(field) !== storedOf(valueAt(model.byName, field)))
}

/**
 * Storages whose values may look different in a record: a time in whole seconds, a number with fewer digits, null for
 * a value that does not fit the field, or another spelling.
 */
const lossyStorages: ReadonlySet<StorageName> = new Set(['datetime', 'date', 'number', 'decimal', 'json', 'uuid'])

/**
 * Returns the columns that an update does not write if the body repeats the value that the record shows. Records may
 * show less than is stored, or another form of it, so writing that value could change the stored one, or be refused. A
 * foreign key may refer to a record that is gone, or out of scope. A password is shown as its hash, which must not be
 * hashed again.
 */
export function keptIfEqual (columns: readonly Column[], dialect: Dialect): ReadonlySet<Column> {
  return new Set(columns.filter((column) => {
    const { alters, keepsShown = false, showsOthers } = storageOf(column, dialect)
    return isSecret(column) || column.target !== undefined || lossyStorages.has(valueKindOf(column).storage) ||
      (alters !== undefined && !keepsShown) || showsOthers === true
  }))
}

/**
 * True if a field of a body repeats the value that the record shows, and is therefore not written. This applies to
 * fields that the client may not write, to the columns of `keptIfEqual`, and to values that {@link isDoubtful} finds.
 */
function isKept (
  rules: WriteRules, { column, value }: WrittenField, storedOf: StoredOf, isWritable: (column: Column) => boolean
): boolean {
  return isShownAs(value, valueKindOf(column).storage, storedOf(column)) &&
    (rules.keptIfEqual.has(column) || !isWritable(column) || isDoubtful(column, value))
}

/**
 * True if the value that a record shows may differ from the stored one, or if an update with it would be refused.
 *
 * - Null may differ, because records also show null for stored values that do not fit the field. In a
 *   nullable text, null is taken for the stored value.
 * - A text with U+FFFD may differ, because that character stands for bytes that are not UTF-8.
 * - Refused are integers beyond the range of their kind, texts that `enum` does not list, and texts with a NUL.
 */
function isDoubtful (column: Column, shown: Json): boolean {
  const { kind, nullable, options } = column
  if (shown === null) return kind !== 'text' || !nullable
  if (acceptValue(column, shown) === undefined) return true
  return typeof shown === 'string' && (shown.includes('\ufffd') || options.enum?.includes(shown) === false)
}

/**
 * True if a value is the one that a record shows. A UUID may be shown in capitals. The JSON of a record has 0 in place
 * of -0, and null in place of a number that is too large for JavaScript.
 */
export function isShownAs (value: unknown, storage: StorageName, shown: Json | undefined): boolean {
  if (isDeepStrictEqual(value, shown)) return true
  if (storage === 'uuid') return typeof shown === 'string' && value === shown.toLowerCase()
  return (storage === 'json' || storage === 'number') && shown !== undefined &&
    isDeepStrictEqual(value, JSON.parse(JSON.stringify(shown)))
}
