import { errors } from '../errors.js'
import type { FieldKind } from '../fields/field-kinds.js'
import { suggestion } from '../suggest.js'
import { maxLengthOf, maxUniqueLength, type FieldOptions } from '../values/field-options.js'
import { keyName, type Column, type Field, type FieldSet } from './model.js'

/** Kinds of fields that cannot be unique: no index holds JSON, and a password is hashed. */
export const notUnique: readonly FieldKind[] = ['json', 'password']
/** The largest number of fields in one unique index or primary key. Every engine can index 16 columns together. */
export const maxFieldCount = 16
/**
 * The largest number of characters that the texts in one unique index can have together. An entry of an index has room
 * for 2,704 bytes on PostgreSQL and 3,072 on MariaDB, and a character takes up to 4; the rest is for the other fields.
 */
export const maxTextsLength = 600

/**
 * Returns the fields. Each text that `groups` names, and whose length nothing limits, gets the `maxLength` of a unique
 * text (500), so that an index can hold it. All other fields stay unchanged.
 */
export function withUniqueLengths (fields: FieldSet, groups: ReadonlyArray<readonly string[]>): FieldSet {
  const grouped = new Set(groups.flat())
  return Object.fromEntries(Object.entries(fields).map(([name, field]) =>
    [name, grouped.has(name) && needsLength(field) ? withLength(field) : field]))
}

/** True if a field is a text whose length is limited neither by `maxLength` nor by `enum`. */
export function needsLength (field: Field): boolean {
  return field?.kind === 'text' && field.options.maxLength === undefined && field.options.enum === undefined
}

function withLength <F extends Field> (field: F): F {
  return { ...field, options: Object.freeze({ ...field.options, maxLength: maxUniqueLength }) }
}

/**
 * Returns the number of characters for which the column of a text needs room in an index: `maxLength` or its default;
 * for an `enum` without `maxLength`, the length of the longest choice.
 */
export function indexedLengthOf (options: FieldOptions): number {
  const { enum: choices = [], maxLength } = options
  if (choices.length === 0 || maxLength !== undefined) return maxLengthOf(options)
  return Math.max(...choices.map((choice) => [...choice].length))
}

/** Returns an error message if the option `unique` of a model is no list of lists of names; otherwise undefined. */
export function shapeFault (unique: unknown): string | undefined {
  const isList = Array.isArray(unique) && unique.every((names) =>
    Array.isArray(names) && names.every((name) => typeof name === 'string'))
  return isList ? undefined : "'unique' is a list of lists of field names, such as [['company', 'name']]"
}

/**
 * Checks the option `unique` of a model: lists of fields that are unique together.
 *
 * @throws REST_MODELS_INVALID_MODEL if a list is wrong or occurs twice; the message says what to change
 */
export function requireUnique (model: string, fields: FieldSet, unique: ReadonlyArray<readonly string[]>): void {
  const known = new Set<string>()
  for (const names of unique) {
    const fault = uniqueFault(fields, names)
    if (fault !== undefined) throw new errors.InvalidModel(`model '${model}': ${fault}`)
    const set = names.toSorted().join()
    if (known.has(set)) throw new errors.InvalidModel(`model '${model}': 'unique' has ${names.join(', ')} twice`)
    known.add(set)
  }
}

/** Returns the columns for each list of field names in the option `unique` of a model, in the order of the option. */
export function columnGroups (
  columns: readonly Column[], unique: ReadonlyArray<readonly string[]>
): ReadonlyArray<readonly Column[]> {
  return Object.freeze(unique.map((names) =>
    Object.freeze(names.flatMap((name) => columns.filter(({ field }) => field === name)))))
}

/** Returns the reason why fields cannot be unique together; undefined if they can. */
export function uniqueFault (fields: FieldSet, names: readonly string[]): string | undefined {
  if (names.length < 2 || names.length > maxFieldCount || new Set(names).size < names.length) {
    return `each entry of 'unique' names 2 to ${maxFieldCount} different fields; ` +
      "one field alone has the option 'unique' of its own"
  }
  const fault = names.map((name) => nameFault(fields, name)).find((found) => found !== undefined)
  if (fault !== undefined) return fault
  return textsFault(fields, names, `the entry ${names.join(', ')} of 'unique'`)
}

/** Returns the reason why the texts of fields do not fit into one index; undefined if they do. */
export function textsFault (fields: FieldSet, names: readonly string[], where: string): string | undefined {
  const length = names.map((name) => fields[name] as Field).filter(({ kind }) => kind === 'text')
    .reduce((total, { options }) => total + indexedLengthOf(options), 0)
  if (length <= maxTextsLength) return undefined
  return `the texts of ${where} have ${length} characters, but together at most ` +
    `${maxTextsLength}, because an engine cannot index longer texts; give them a lower 'maxLength'`
}

function nameFault (fields: FieldSet, name: string): string | undefined {
  const field = Object.hasOwn(fields, name) ? fields[name] : undefined
  if (name === keyName) return `'unique' names '${keyName}', which is unique without other fields; leave it out`
  if (field === undefined) {
    const others = Object.keys(fields).filter((other) => other !== keyName)
    return `'unique' names '${name}', which is not a field${suggestion(name, others)}`
  }
  return notUnique.includes(field.kind)
    ? `'unique' names '${name}', which is a ${field.kind} and cannot be unique; leave it out`
    : undefined
}
