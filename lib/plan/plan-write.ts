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

/** What a create or an update of a resource may write, fixed at setup. */
export interface WriteScope {
  readonly model: Model
  readonly owner: Column | undefined
  /** The columns that a create writes: all that the database does not generate. */
  readonly created: readonly Column[]
  /** The columns that a client may name: those that records show, and those that it may write. All others do not exist for it. */
  readonly known: ReadonlySet<Column>
  /** The columns that a client may write: neither the primary key, nor the owner, nor read-only. */
  readonly writable: ReadonlySet<Column>
  /** Checks a create: required fields, and the values of the writable ones. */
  readonly checkCreate: Check
  /** Checks the values of any columns, none of them required. */
  readonly checkValues: Check
}

/** The values to write, by column: typed, in the form in which they are stored, passwords not yet hashed. */
export type WritePlan = ReadonlyMap<Column, Json>

/**
 * The values of a new record: those of the body, the owner, and defaults.
 *
 * @param ownerId  id of the user who creates; what the body says of the owner is not looked at, excluded or not
 * @returns a value for each column that the database does not generate, in the order of the model
 * @throws REST_MODELS_INVALID_RECORD (400) listing every fault by field; REST_MODELS_CONSTRAINT (409) if nobody here can make a primary key
 */
export function planCreate (scope: WriteScope, payload: Payload, ownerId: Json): WritePlan {
  const { model, created, owner, writable, checkCreate } = scope
  if (isGivenByOthers(model.columns[0])) throw new errors.Constraint()
  const { fields, faults } = readFields(scope, withoutOwner(payload, owner), { check: checkCreate })
  const fixed = [...fields.values()].filter(({ column }) => !writable.has(column))
  requireNoFaults(faults, fixed, 'is set by the server')
  const now = new Date()
  return new Map(created.map((column) => {
    const written = fields.get(column)
    if (column === owner) return [column, ownerValue(column, ownerId)]
    return [column, written === undefined ? givenValue(scope, column, now) : written.value]
  }))
}

/** A policy of the deployer's own may give an id that is no key of the owner's model. */
function ownerValue (owner: Column, id: Json): Json {
  const value = valueKindOf(owner).accept(id as Exclude<Json, null>, owner.options)
  if (value === undefined) throw new TypeError(`The policy gives a user whose id is no key of what '${owner.field}' refers to`)
  return value
}

/** UUIDs of version 7 begin with the time, so that new records stand together in the index. */
function givenValue ({ model, checkValues }: WriteScope, column: Column, now: Date): Json {
  return column === model.columns[0] ? makeUuid() : defaultOf(column, now, checkValues)
}

/** The value of a column of the record that is updated; undefined if a write must not look at it. */
type StoredOf = (column: Column) => Json | undefined

/**
 * The values that an update changes.
 *
 * @param storedOf  gives the value of a column before the update: what may not be written is accepted if it equals that
 * @returns possibly empty; what the body leaves out is left out
 * @throws REST_MODELS_INVALID_RECORD (400) listing every fault by field
 */
export function planUpdate (scope: WriteScope, payload: Payload, storedOf: StoredOf): WritePlan {
  const { writable } = scope
  const isSame = (field: WrittenField): boolean => isKept(field, storedOf, writable)
  const { fields, faults } = readFields(scope, payload, { check: (values) => faultsOfChanges(scope, values, storedOf), isKept: isSame })
  // Once more, since other spellings of a value are the same as well.
  const changed = [...fields.values()].filter((field) => !isSame(field))
  const fixed = changed.filter(({ column }) => !writable.has(column))
  requireNoFaults(faults, fixed, 'cannot be changed')
  return new Map(changed.map(({ column, value }) => [column, value]))
}

/** A record that was read can be sent back whole, although it is older than the rules of its model. */
function faultsOfChanges ({ model, checkValues }: WriteScope, values: object, storedOf: StoredOf): readonly FieldFault[] {
  const faults = checkValues(values)
  if (faults.length === 0) return faults
  const written = new Map<string, unknown>(Object.entries(values))
  return faults.filter(({ field }) => {
    const value = written.get(field)
    return typeof value !== 'string' || value !== storedOf(model.byName.get(field) as Column)
  })
}

/** @see service document, "POST create": the owner is the authenticated user, whatever the body says */
function withoutOwner (payload: Payload, owner: Column | undefined): Payload {
  return owner === undefined ? payload : Object.fromEntries(Object.entries(payload).filter(([name]) => name !== owner.field && name !== owner.key))
}

/** Values that records may show less of than is stored, in whole seconds, in fewer digits, or as null, or that are stored in another spelling. */
const shortened: ReadonlySet<StorageName> = new Set(['datetime', 'date', 'number', 'decimal', 'json', 'uuid'])

/** A record that was read and is sent back whole holds the hash of a password, which must not be hashed again, and less than is stored of others. */
function isKept ({ column, value }: WrittenField, storedOf: StoredOf, writable: ReadonlySet<Column>): boolean {
  const { storage } = valueKindOf(column)
  const mayLose = isSecret(column) || !writable.has(column) || shortened.has(storage)
  return mayLose && isShownAs(value, storage, () => storedOf(column))
}

function isShownAs (value: Json, storage: StorageName, stored: () => Json | undefined): boolean {
  try {
    const shown = stored()
    return isDeepStrictEqual(value, storage === 'uuid' && typeof shown === 'string' && value !== shown ? shown.toLowerCase() : shown)
  } catch {
    // What cannot be shown was not read.
    return false
  }
}

/** Refuses faults, and fields that no client may write, each name once. */
function requireNoFaults (faults: readonly FieldFault[], fixed: readonly WrittenField[], message: string): void {
  const unwritable = fixed.filter(({ name }) => !faults.some(({ field }) => field === name)).map(({ name }) => ({ field: name, message }))
  const all = [...faults, ...unwritable]
  if (all.length > 0) throw withDetails(new errors.InvalidRecord(all.map(({ field }) => `'${shownName(field)}'`).join(', ')), all)
}
