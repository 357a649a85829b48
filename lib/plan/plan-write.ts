import { v7 as makeUuid } from 'uuid'
import { errors, shownName, withDetails, type Check, type FieldFault } from '../errors.js'
import { isMadeByApi, jsonTypeOf, valueKindOf, type Column, type ForeignKeyColumn } from '../model/column.js'
import type { Model } from '../model/define-model.js'
import type { Payload } from '../request/payload.js'
import { isRecordKey, type Json, type RecordKey } from '../values/values.js'
import { defaultOf } from './defaults.js'
import type { KeyFaults } from './key-faults.js'
import { maxFaults, readFields, type WrittenField } from './read-fields.js'

/** Columns that writes of a resource may name, and the checks of their values, fixed at setup. */
export interface WriteRules {
  readonly model: Model
  readonly owner: ForeignKeyColumn | undefined
  /** Columns that a create writes: all except a key that the database generates, and what only the database fills. */
  readonly created: readonly Column[]
  /**
   * Columns that a client may name: those that records show or that the client may write. Any other name is refused as
   * unknown.
   */
  readonly known: ReadonlySet<Column>
  /** Columns that a client may write: neither the primary key, nor the owner, nor read-only, nor set by each update. */
  readonly writable: ReadonlySet<Column>
  /**
   * True if an update is skipped when all of its values equal those of the record. If false, the values are written
   * again.
   */
  readonly needsChange: boolean
  /**
   * Columns that an update does not write if the body has the value that records show. Writing it could change what is
   * stored, such as a time with a fraction of a second, or be refused.
   */
  readonly keptIfEqual: ReadonlySet<Column>
  /**
   * Columns that a client may set in a create: the writable ones, a primary key that clients may generate, and the
   * columns of a key of several columns.
   */
  readonly creatable: ReadonlySet<Column>
  /** Columns that every update which changes something sets to the moment of the update. */
  readonly touched: readonly Column[]
  /** Checks that a path can lead to a new record; undefined if the key has no texts. */
  readonly keyFaults: KeyFaults | undefined
  /** Lists the faults of the values of a create, and the required fields that are missing. */
  readonly checkCreate: Check
  /** Lists the faults of the values of any columns. Unlike `checkCreate`, it requires no field. */
  readonly checkValues: Check
}

/**
 * Values to write, by column: JSON values in their one form, such as UUIDs in lower case. They are not yet converted
 * for the driver. Passwords stay as they are until `hashIn` replaces them by hashes.
 */
export type WritePlan = ReadonlyMap<Column, Json>

/**
 * True if a column can hold the value: false only for null in a column that is not nullable. In the plan of a create,
 * such a null marks a column that no client may set and that has no default: the hook `beforeWrite` must set it.
 */
export function hasValue ([{ nullable }, value]: readonly [Column, Json]): boolean {
  return value !== null || nullable
}

/**
 * Values that no client may choose, by column: the id of the owner of a new record, and the value of each column for
 * which the user's scope permits only one value. A create ignores what the body says of these columns, and an update
 * refuses any other value.
 */
export type GivenValues = ReadonlyMap<Column, Json>

/**
 * Plans the values of a new record: those of the body, those that the server gives, and defaults.
 *
 * @param given  values that the server sets; what the body says of their columns is ignored, even if records do not
 *   show these columns
 * @returns a value for each column that a create writes, in the order of the model
 * @throws REST_MODELS_INVALID_RECORD (400) listing up to 20 faults by field. A field of the body, outside `given`,
 *   that is not in `rules.creatable` is a fault, too. So is a key to which no path leads
 */
export function planCreate (rules: WriteRules, payload: Payload, given: GivenValues): WritePlan {
  const { created, owner, creatable, checkCreate, keyFaults } = rules
  const ownerCount = owner === undefined ? 0 : 1
  const hasFixedByScope = given.size > ownerCount
  // checkCreate never requires the owner.
  const check = hasFixedByScope ? checkOthers(checkCreate, given) : checkCreate
  const { fields, faults } = readFields(rules, withoutGiven(payload, given), { check })
  const unwritable: WrittenField[] = []
  for (const field of fields.values()) if (!creatable.has(field.column)) unwritable.push(field)
  requireNoFaults(faults, unwritable, 'is set by the server')
  const now = new Date()
  const values = new Map<Column, Json>()
  for (const column of created) {
    const written = given.has(column) ? given.get(column) : fields.get(column)?.value
    values.set(column, written === undefined ? defaultValue(rules, column, now) : written)
  }
  if (keyFaults !== undefined) requireNoFaults(keyFaults(values), [], '')
  return values
}

/**
 * Returns the values that the server gives to a new record: those in `fixed`, and the id of the user as the owner, if
 * records have one.
 *
 * @param fixed  for some columns, the only value that the user's scope permits
 * @throws TypeError if records have an owner, and `id` is null or is not a valid key of the model that `owner` refers
 *   to. A policy that the deployer wrote may give such an id.
 */
export function givenValues (
  owner: ForeignKeyColumn | undefined, id: RecordKey | null, fixed: GivenValues
): GivenValues {
  if (owner === undefined) return fixed
  const value = acceptId(owner, id)
  if (value === undefined) {
    throw new TypeError(whyNoOwner(owner, id))
  }
  return new Map(fixed).set(owner, value)
}

/** Returns, for the log, why a user with the given id can own no record. The text has the id's type, not the id. */
export function whyNoOwner (owner: ForeignKeyColumn, id: RecordKey | null): string {
  return `The policy gives a user whose id is no key of model '${owner.target().name}', to which the owner field ` +
    `'${owner.field}' refers: the id is a ${typeof id}, and keys are of the type ${jsonTypeOf(owner)}`
}

/**
 * Returns the id of a user in the form that an owner field holds; undefined if the id does not have the type and form
 * of the key that the field refers to. A text such as "1" is never taken for the integer 1, nor the integer for the
 * text: the id may come from another system.
 */
export function acceptId (owner: Column, id: RecordKey | null): RecordKey | undefined {
  const given = typeof id
  if (given !== jsonTypeOf(owner)) return undefined
  const accepted = valueKindOf(owner).accept(id, owner.options)
  return isRecordKey(accepted) ? accepted : undefined
}

/** Returns a check that reports no faults in the columns that the server sets. */
function checkOthers (check: Check, given: GivenValues): Check {
  const keys = new Set([...given.keys()].map(({ key }) => key))
  return (values) => check(values).filter(({ field }) => !keys.has(field))
}

/**
 * Returns a value for a column that the body leaves out: a new UUID for a primary key of that kind, otherwise the
 * default. UUIDs of version 7 begin with the time, so new records stand together in the index.
 */
function defaultValue ({ checkValues }: WriteRules, column: Column, now: Date): Json {
  return isMadeByApi(column) ? makeUuid() : defaultOf(column, now, checkValues)
}

/**
 * Returns a body without the fields that the server sets.
 *
 * @see service document, "POST create": the owner is the authenticated user, whatever the body says
 */
function withoutGiven (payload: Payload, given: GivenValues): Payload {
  if (given.size === 0) return payload
  const names = new Set<string>()
  for (const { field, key } of given.keys()) names.add(field).add(key)
  return Object.fromEntries(Object.entries(payload).filter(([name]) => !names.has(name)))
}

/**
 * Throws REST_MODELS_INVALID_RECORD (400) if there are faults, or `unwritable` fields, which no client may write. The
 * error lists each name once.
 */
export function requireNoFaults (
  faults: readonly FieldFault[], unwritable: readonly WrittenField[], message: string
): void {
  if (faults.length + unwritable.length === 0) return
  const others = unwritable.filter(({ name }) => !faults.some(({ field }) => field === name))
    .map(({ name }) => ({ field: name, message }))
  const all = [...faults, ...others].slice(0, maxFaults)
  throw withDetails(new errors.InvalidRecord(all.map(({ field }) => `'${shownName(field)}'`).join(', ')), all)
}
