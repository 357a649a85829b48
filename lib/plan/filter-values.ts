import type { Dialect } from '../engines/dialect.js'
import type { Stored } from '../engines/storage.js'
import { errors, fieldError } from '../errors.js'
import { fieldKinds } from '../fields/field-kinds.js'
import { notNull, operators, type FilterSyntax, type Operator } from '../fields/operators.js'
import { encode, storageOf, valueKindOf, type Column } from '../model/column.js'
import { keyValues, parseId } from '../model/key.js'
import type { WrittenFilter } from '../request/list-query.js'
import { storableText, type Json } from '../values/values.js'
import type { Limits } from './limits.js'
import type { ListRules } from './list-rules.js'

/** Column and operator of a filter, or of a scope's condition. They decide how its values are read and converted. */
export interface FilterTarget {
  readonly column: Column
  readonly operator: Operator
}

type Reader = (text: string, column: Column, limits: Limits) => readonly Json[] | string

/**
 * Readers of filter texts, by syntax. A reader returns a list of values, or the fault in words that follow the
 * parameter's name.
 */
const readers: Readonly<Record<FilterSyntax, Reader>> = {
  value: (text, column, limits) => readAll([text], column, limits),
  list: (text, column, limits) => {
    const items = splitList(text)
    if (items === undefined) return 'has a quote that is not closed or not followed by a comma'
    return items.length > limits.inItems ? `must have at most ${limits.inItems} values` : readAll(items, column, limits)
  },
  pattern: (text, _column, limits) => {
    if (text.length > limits.patternLength) return `must have at most ${limits.patternLength} characters`
    if (isUnfinished(text)) return 'must not end with a single backslash'
    return storableText(text) === undefined ? `must be ${fieldKinds.text.expects}` : [text]
  },
  constant: (text, { kind }) => {
    const constant = constants.get(text.toLowerCase())
    if (constant !== undefined && (typeof constant !== 'boolean' || kind === 'boolean')) return [constant]
    return kind === 'boolean' ? 'must be null, notnull, true or false' : 'must be null or notnull'
  }
}

/** True if a pattern ends with a backslash that escapes nothing. */
export function isUnfinished (pattern: string): boolean {
  return /(?:^|[^\\])(?:\\\\)*\\$/.test(pattern)
}

const constants = new Map<string, typeof notNull | boolean | null>(
  [['null', null], ['none', null], [notNull, notNull], ['true', true], ['false', false]])

/**
 * Returns the values that a filter compares with, as {@link storedValues} converts them.
 *
 * @throws REST_MODELS_INVALID_VALUE (400) if the text does not fit the operator or the column's kind, is too long, or
 *   lists too many values
 * @see service document, "Filtering"
 */
export function readFilterValues (
  { name, text }: WrittenFilter,
  { column, operator }: FilterTarget,
  { limits, reader: { dialect } }: Pick<ListRules, 'limits' | 'reader'>
): readonly Stored[] {
  const { syntax } = operators[operator]
  const values = readers[syntax](text, column, limits)
  if (typeof values === 'string') throw fieldError(errors.InvalidValue, name, values)
  return storedValues({ column, operator, values }, dialect)
}

/**
 * Returns the typed values of a condition as the engine stores them, and its patterns as the engine takes them. The id
 * of a key of several columns becomes one value for each of these columns. If the column may store more digits than
 * records show, its storage has `bounds`, and each value becomes two. The first is the least stored value that records
 * show as the given value. The second is the least one that they show as the next greater value. For `1.01`, these are
 * about 1.005 and 1.015.
 */
export function storedValues (
  { column, operator, values }: FilterTarget & { readonly values: readonly Json[] }, dialect: Dialect
): readonly Stored[] {
  const { inEngine, syntax } = operators[operator]
  const { bounds } = storageOf(column, dialect)
  if (bounds !== undefined && syntax !== 'constant') return values.flatMap((value) => bounds(value, column.options))
  if (column.parts !== undefined) return values.flatMap((value) => keyValues(column, String(value), dialect))
  return values.map((value) => {
    if (syntax === 'constant' && value === notNull) return notNull
    return inEngine === undefined ? encode(column, value, dialect) : inEngine(String(value), dialect)
  })
}

function readAll (texts: readonly string[], column: Column, limits: Limits): readonly Json[] | string {
  if (texts.some((text) => text.length > limits.valueLength)) {
    return `must have at most ${limits.valueLength} characters`
  }
  const values: Json[] = []
  for (const text of texts) {
    const value = parseValue(column, text)
    if (value === undefined) return `must be ${valueKindOf(column).expects}`
    values.push(value)
  }
  return values
}

/** Returns the value of a text in a filter or a scope; undefined if the text is no value of the column. */
export function parseValue (column: Column, text: string): Json | undefined {
  const { parts, options } = column
  return parts === undefined ? valueKindOf(column).parse(text, options) : parseId(parts, text)
}

const item = /(?:"((?:[^"]|"")*)"|((?!")[^,]*))(,|$)/gy

/**
 * Splits a list at commas. An item between double quotes may hold commas, and `""` in it stands for one quote; in other
 * items, a quote is an ordinary character. Returns undefined if a quote at the beginning of an item is not closed, or
 * if more text of the item follows the closing one. An empty text is a list without items.
 */
function splitList (text: string): readonly string[] | undefined {
  if (text === '') return []
  const items: string[] = []
  for (const [, quoted, bare = '', end] of text.matchAll(item)) {
    items.push(quoted?.replaceAll('""', '"') ?? bare)
    if (end === '') return items
  }
  return undefined
}
