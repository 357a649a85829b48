import { isDeepStrictEqual } from 'node:util'
import { v7 as makeUuid } from 'uuid'
import type { StorageName } from '../engines/storage.js'
import { errors, shownName, withDetails, type FieldFault } from '../errors.js'
import { isGivenByOthers, isSecret, valueKindOf, type Column } from '../model/column.js'
import type { Model } from '../model/define-model.js'
import type { Payload } from '../request/payload.js'
import type { Json } from '../values/values.js'
import { defaultOf } from './defaults.js'
import { readFields, type Check, type WrittenField } from './read-fields.js'

/** Columns that writes of a resource may name, and the checks of their values, fixed at setup. */
export interface WriteScope {
  readonly model: Model
  readonly owner: Column | undefined
  /** Columns that a create writes: all that the database does not generate. */
  readonly created: readonly Column[]
  /**
   * Columns that a client may name: those that records show or that the client may write. Any other name is refused as
   * unknown.
   */
  readonly known: ReadonlySet<Column>
  /** Columns that a client may write: neither the primary key, nor the owner, nor read-only. */
  readonly writable: ReadonlySet<Column>
  /** Lists the faults of the values of a create, and the required fields that are missing. */
  readonly checkCreate: Check
  /** Lists the faults of the values of any columns. Unlike `checkCreate`, it requires no field. */
  readonly checkValues: Check
}

/** Values to write, by column: typed, in the form in which they are stored, passwords not yet hashed. */
export type WritePlan = ReadonlyMap<Column, Json>

/**
 * Plans the values of a new record: those of the body, the owner, and defaults.
 *
 * @param ownerId  id of the user who creates. An owner in the body is ignored and never a fault, even if that field is
 *   excluded, although any other excluded field in the body is a fault
 * @returns a value for each column that the database does not generate, in the order of the model
 * @throws REST_MODELS_INVALID_RECORD (400) listing every fault by field; REST_MODELS_CONSTRAINT (409) if neither the
 *   API nor the database can make a primary key
 */
export function planCreate (scope: WriteScope, payload: Payload, ownerId: Json): WritePlan {
  const { model, created, owner, writable, checkCreate } = scope
  if (isGivenByOthers(model.primaryKey)) throw new errors.Constraint()
  const { fields, faults } = readFields(scope, withoutOwner(payload, owner), { check: checkCreate })
  const fixed = [...fields.values()].filter(({ column }) => !writable.has(column))
  requireNoFaults(faults, fixed, 'is set by the server')
  const now = new Date()
  const values = new Map<Column, Json>()
  for (const column of created) {
    const written = fields.get(column)
    if (column === owner) values.set(column, ownerValue(column, ownerId))
    else values.set(column, written === undefined ? givenValue(scope, column, now) : written.value)
  }
  return values
}

/**
 * Returns the id of the user as a value of the owner field.
 *
 * @throws TypeError if a policy of the deployer's own gives an id that is no key of the owner's model
 */
function ownerValue (owner: Column, id: Json): Json {
  const value = valueKindOf(owner).accept(id as Exclude<Json, null>, owner.options)
  if (value === undefined) {
    throw new TypeError(`The policy gives a user whose id is no key of what '${owner.field}' refers to`)
  }
  return value
}

/**
 * Returns a value for a column that the body leaves out: a new UUID for the primary key, otherwise the default. UUIDs
 * of version 7 begin with the time, so new records stand together in the index.
 */
function givenValue ({ model, checkValues }: WriteScope, column: Column, now: Date): Json {
  return column === model.primaryKey ? makeUuid() : defaultOf(column, now, checkValues)
}

/**
 * Returns the value of a column before an update; undefined if the column is hidden, so that a write must not look at
 * it.
 */
type StoredOf = (column: Column) => Json | undefined

/**
 * Plans the values that an update changes.
 *
 * @param storedOf  gives the value of a column before the update; a field that is not writable may repeat that value
 * @returns the changed values only, possibly none
 * @throws REST_MODELS_INVALID_RECORD (400) listing every fault by field
 */
export function planUpdate (scope: WriteScope, payload: Payload, storedOf: StoredOf): WritePlan {
  const { writable } = scope
  const isSame = (field: WrittenField): boolean => isKept(field, storedOf, writable)
  const check: Check = (values) => faultsOfChanges(scope, values, storedOf)
  const { fields, faults } = readFields(scope, payload, { check, isKept: isSame })
  // Compared once more, because readFields() turns other spellings of a value into the same one.
  const changed = [...fields.values()].filter((field) => !isSame(field))
  const fixed = changed.filter(({ column }) => !writable.has(column))
  requireNoFaults(faults, fixed, 'cannot be changed')
  return new Map(changed.map(({ column, value }) => [column, value]))
}

/**
 * Lists faults, except those of stored texts that the body repeats. So a record that was read can be sent back whole,
 * even if it is older than the rules of its model.
 */
function faultsOfChanges (
  { model, checkValues }: WriteScope, values: object, storedOf: StoredOf
): readonly FieldFault[] {
  const faults = checkValues(values)
  if (faults.length === 0) return faults
  const written = new Map<string, unknown>(Object.entries(values))
  return faults.filter(({ field }) => {
    const value = written.get(field)
    return typeof value !== 'string' || value !== storedOf(model.byName.get(field) as Column)
  })
}

/**
 * Removes the owner from a body.
 *
 * @see service document, "POST create": the owner is the authenticated user, whatever the body says
 */
function withoutOwner (payload: Payload, owner: Column | undefined): Payload {
  if (owner === undefined) return payload
  return Object.fromEntries(Object.entries(payload).filter(([name]) => name !== owner.field && name !== owner.key))
}

/** Storages of values that a record may show in whole seconds, in fewer digits, as null, or in another spelling. */
const lossyStorages: ReadonlySet<StorageName> = new Set(['datetime', 'date', 'number', 'decimal', 'json', 'uuid'])

/**
 * True if a field repeats the value that the record shows, and to write it could do harm. A body that repeats a whole
 * record holds the hash of its password, which must not be hashed again. Other values in it may be less than what is
 * stored.
 */
function isKept ({ column, value }: WrittenField, storedOf: StoredOf, writable: ReadonlySet<Column>): boolean {
  const { storage } = valueKindOf(column)
  const mayLose = isSecret(column) || !writable.has(column) || lossyStorages.has(storage)
  return mayLose && isShownAs(value, storage, () => storedOf(column))
}

function isShownAs (value: Json, storage: StorageName, stored: () => Json | undefined): boolean {
  try {
    const shown = stored()
    const isOtherUuid = storage === 'uuid' && typeof shown === 'string' && value !== shown
    return isDeepStrictEqual(value, isOtherUuid ? shown.toLowerCase() : shown)
  } catch {
    // A value that cannot be shown was never read, so the body does not repeat it.
    return false
  }
}

/** Throws if there are faults, or fields that no client may write. The error lists each name once. */
function requireNoFaults (faults: readonly FieldFault[], fixed: readonly WrittenField[], message: string): void {
  const unwritable = fixed.filter(({ name }) => !faults.some(({ field }) => field === name))
    .map(({ name }) => ({ field: name, message }))
  const all = [...faults, ...unwritable]
  if (all.length === 0) return
  throw withDetails(new errors.InvalidRecord(all.map(({ field }) => `'${shownName(field)}'`).join(', ')), all)
}
