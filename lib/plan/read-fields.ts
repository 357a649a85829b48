import type { Check, FieldFault } from '../errors.js'
import { valueKindOf, type Column } from '../model/column.js'
import type { Model } from '../model/define-model.js'
import { keySuggestion } from '../model/key.js'
import type { Payload } from '../request/payload.js'
import { typoSuggestion } from '../suggest.js'
import type { Json } from '../values/values.js'

/**
 * A field of a body: its column, the name that the client wrote, and its value. At first, the value is as the client
 * wrote it. After the checks, it has the one JSON form of such values, such as a UUID in lower case.
 */
export interface WrittenField {
  readonly column: Column
  readonly name: string
  readonly value: Json
}

/** Checks that the fields of a body have to pass. */
interface Rules {
  readonly check: Check
  /**
   * True if a field, as the client wrote it, repeats what the record has. The field is then left out without any check.
   */
  isKept? (field: WrittenField): boolean
}

/** A model, its columns that a client may name, and those whose names are suggested if a client mistypes one. */
interface Names {
  readonly model: Model
  readonly known: ReadonlySet<Column>
  readonly writable: ReadonlySet<Column>
}

/**
 * Reads the fields of a body by column, and lists what is wrong with them: at most one fault for each name, and at most
 * {@link maxFaults} in all.
 */
export function readFields (names: Names, payload: Payload, { check, isKept }: Rules): {
  readonly fields: ReadonlyMap<Column, WrittenField>
  readonly faults: readonly FieldFault[]
} {
  const faults = new Faults()
  const fields = nameFields(names, payload, faults)
  for (const field of fields.values()) if (isKept?.(field) === true) fields.delete(field.column)
  const values: Record<string, Json> = {}
  for (const { column, name, value } of fields.values()) {
    values[column.key] = value
    if (value === null && !column.nullable) faults.add(name, 'must not be null')
  }
  for (const { field, message } of check(values)) {
    const written = [...fields.values()].find(({ column }) => column.key === field)
    faults.add(written?.name ?? field, message)
  }
  for (const field of fields.values()) fields.set(field.column, accepted(field, faults))
  return { fields, faults: faults.list }
}

/**
 * Most faults that are listed for a body; further ones are left out. A body may hold some hundred thousand unknown
 * names.
 */
export const maxFaults = 20

/** Collects the first fault of each name, up to {@link maxFaults} names. */
class Faults {
  readonly list: FieldFault[] = []

  get isFull (): boolean {
    return this.list.length >= maxFaults
  }

  add (field: string, message: string): void {
    if (!this.has(field) && !this.isFull) this.list.push({ field, message })
  }

  has (name: string): boolean {
    return this.list.some(({ field }) => field === name)
  }
}

function nameFields ({ model, known, writable }: Names, payload: Payload, faults: Faults): Map<Column, WrittenField> {
  const fields = new Map<Column, WrittenField>()
  for (const name of Object.keys(payload)) {
    if (faults.isFull) return fields
    const { [name]: value } = payload
    const column = model.byName.get(name)
    if (column === undefined || !known.has(column)) {
      const hint = keySuggestion(model, name, known) ?? typoSuggestion(name, namesOf(writable))
      faults.add(name, `is not a field of this resource${hint}`)
      continue
    }
    const before = fields.get(column)
    if (before !== undefined && before.value !== value) faults.add(name, `contradicts '${before.name}'`)
    else fields.set(column, { column, name, value: value as Json })
  }
  return fields
}

function namesOf (columns: ReadonlySet<Column>): ReadonlySet<string> {
  return new Set([...columns].flatMap(({ key, field }) => [key, field]))
}

/**
 * Returns the field with its value in the canonical JSON form of its kind, such as lower case for a UUID. Adds a fault
 * if the value cannot be stored. A value that has a fault stays as it is.
 */
function accepted (field: WrittenField, faults: Faults): WrittenField {
  const { column, name, value } = field
  const valueKind = valueKindOf(column)
  if (value === null || faults.has(name)) return field
  const stored = valueKind.accept(value, column.options)
  if (stored === undefined) faults.add(name, `must be ${valueKind.expects}`)
  return { column, name, value: stored ?? value }
}
