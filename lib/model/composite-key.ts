import { errors } from '../errors.js'
import type { FieldKind } from '../fields/field-kinds.js'
import { suggestion } from '../suggest.js'
import { keyName, type Column, type FieldSet } from './model.js'
import { maxFieldCount, textsFault } from './unique-together.js'

/** Kinds whose values are exact and have one spelling, so that they can identify a record. */
const keyKinds: readonly FieldKind[] = ['text', 'integer', 'bigint', 'boolean', 'date', 'uuid', 'foreignKey']

/**
 * Checks the option `key` of a model: the fields that make up its primary key.
 *
 * @throws REST_MODELS_INVALID_MODEL if they cannot be a primary key; the message says what to change
 */
export function requireCompositeKey (model: string, fields: FieldSet, names: unknown): void {
  const fault = compositeFault(fields, names)
  if (fault !== undefined) throw new errors.InvalidModel(`model '${model}': ${fault}`)
}

/** Returns the reason why fields cannot be a primary key; undefined if they can. */
export function compositeFault (fields: FieldSet, names: unknown): string | undefined {
  const isList = Array.isArray(names) && names.every((name) => typeof name === 'string')
  if (!isList || names.length < 2 || names.length > maxFieldCount || new Set(names).size < names.length) {
    return `'key' names 2 to ${maxFieldCount} different fields; a key of one field is the field '${keyName}'`
  }
  if (Object.hasOwn(fields, keyName)) {
    return `'key' makes the '${keyName}' of a record, so there is no field '${keyName}'; give it another name`
  }
  return names.map((name) => partFault(fields, name)).find((found) => found !== undefined) ??
    textsFault(fields, names, "'key'")
}

function partFault (fields: FieldSet, name: string): string | undefined {
  const field = Object.hasOwn(fields, name) ? fields[name] : undefined
  if (field === undefined) return `'key' names '${name}', which is not a field${suggestion(name, Object.keys(fields))}`
  if (field.options.nullable === true) return `'key' names '${name}', which is nullable; a key is never null`
  if (keyKinds.includes(field.kind)) return undefined
  return `'key' names '${name}', which is a ${field.kind}; a field of a key is one of ${keyKinds.join(', ')}`
}

/**
 * Returns the {@link Column} for the `id` of records whose key has several columns. The table has no such column: the
 * `id` is made of the values of the columns of the key, which the property `parts` of the returned column holds.
 *
 * @param columns  all columns of the model
 * @param names    names of the fields that make up the key, in its order
 */
export function compositeKeyOf (columns: readonly Column[], names: readonly string[]): Column {
  const parts = Object.freeze(names.flatMap((name) => columns.filter(({ field }) => field === name)))
  return Object.freeze({
    field: keyName,
    key: keyName,
    name: keyName,
    kind: 'compositeKey',
    options: Object.freeze({}),
    nullable: false,
    parts
  })
}
