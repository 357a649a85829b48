import { maxPrecision, type FieldOptions } from '../values/field-options.js'
import type { StorageName } from './storage.js'

/**
 * Kind and options of the field that `introspect` makes of a column. `loss` says in words what the field does not keep
 * of the column, or why its kind is not that of the column's type; absent if neither applies.
 */
export interface DescribedType {
  readonly kind: StorageName
  readonly options: FieldOptions
  readonly loss?: string
}

/** A type, as `written` in SQL: `numeric(10,2)`. `digits` are the numbers in parentheses; empty if there are none. */
export interface WrittenType {
  /** Name without length or digits, in lower case. */
  readonly name: string
  readonly digits: readonly number[]
  readonly written: string
}

/**
 * Functions by the name of a type of the engine, in lower case. Each returns the field that a column of the type
 * becomes, or undefined if no field can hold its values. `Catalog.otherTypes` is for the types without a function.
 */
export type TypeTable = Readonly<Record<string, (type: WrittenType) => DescribedType | undefined>>

const plain = (kind: StorageName) => (): DescribedType => ({ kind, options: {} })

/**
 * Functions that engines use in their {@link TypeTable}, each under the kind of the field that it returns. But `enum`
 * returns a text field, and `decimal` may return a number field.
 */
export const described = {
  integer: plain('integer'),
  bigint: plain('bigint'),
  number: plain('number'),
  boolean: plain('boolean'),
  datetime: plain('datetime'),
  date: plain('date'),
  json: plain('json'),
  uuid: plain('uuid'),
  /**
   * Returns a text field that takes only the labels of an enumeration, written as `enum('a','b''c')`. Returns undefined
   * if the enumeration has no labels.
   */
  enum: ({ written }) => {
    const labels = labelsOf(written)
    return labels.length === 0 ? undefined : { kind: 'text', options: { enum: labels } }
  },
  text: ({ digits: [maxLength] }) => ({ kind: 'text', options: maxLength === undefined ? {} : { maxLength } }),
  /**
   * Returns a decimal field if the type has 1 to {@link maxPrecision} digits, and a scale from 0 to its precision.
   * Otherwise returns a number field and the loss, because a decimal field cannot have such digits.
   */
  decimal: ({ digits: [precision = 0, scale = 0], written }) => {
    const isExact = precision >= 1 && precision <= maxPrecision && scale >= 0 && scale <= precision
    if (isExact) return { kind: 'decimal', options: { precision, scale } }
    const loss = `is ${written}, of which ${maxPrecision} digits are exact, and is read as a floating-point number`
    return { kind: 'number', options: {}, loss }
  }
} as const satisfies TypeTable

/**
 * Returns the labels of an enumeration, written as `enum('a','b''c')`. Quotes and backslashes in a label are doubled
 * there.
 */
export function labelsOf (written: string): readonly string[] {
  return [...written.matchAll(/'((?:[^']|'')*)'/g)]
    .map(([, label = '']) => label.replaceAll("''", "'").replaceAll('\\\\', '\\'))
}

/**
 * Parses a type as an engine writes it: its name, and its length or digits.
 *
 * @param name     `ColumnRow.type`, in upper or lower case, possibly with a length or digits
 * @param written  `ColumnRow.written`, with the length or digits if there are any
 */
export function readType (name: string, written: string): WrittenType {
  const [, digits = ''] = /\(([-\d, ]+)\)/.exec(written) ?? []
  return {
    name: name.replace(/\(.*/s, '').trim().toLowerCase(),
    digits: digits === '' ? [] : digits.split(',').map(Number),
    written
  }
}

/** Returns the field that a column becomes by its type; undefined if no field can hold values of the type. */
export function describedAs (
  { types, otherTypes }: { readonly types: TypeTable, readonly otherTypes?: TypeTable[string] },
  { type, written }: Readonly<Record<'type' | 'written', string>>
): DescribedType | undefined {
  const described = readType(type, written)
  // SQLite takes any name of a type, such as `constructor`, which every object inherits.
  return (Object.hasOwn(types, described.name) ? types[described.name] : otherTypes)?.(described)
}
