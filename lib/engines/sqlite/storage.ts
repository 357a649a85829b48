import { sql, type Expression, type SqlBool } from 'kysely'
import { datetime, finiteNumber } from '../../values/values.js'
import { isYes } from '../catalog.js'
import { asShownDecimal, decimalBounds, exactDouble, inExactNumbers } from '../decimals.js'
import { leastUnits } from '../doubles.js'
import {
  asBit, asFinite, asInteger, asIs, asJson, decimalType, decodeDecimal, named,
  type Exact, type Storage, type StorageTable, type Stored
} from '../storage.js'
import { asShown, isOtherForm, otherFormIndex } from './moments.js'
import { asText, byNumericText, byUntypedText } from './shown-texts.js'

/** Returns a column's affinity, by which SQLite converts values: https://www.sqlite.org/datatype3.html, section 3.1. */
export function affinity (declaredType: string): 'integer' | 'text' | 'none' | 'blob' | 'real' | 'numeric' {
  const type = declaredType.toLowerCase()
  if (type.includes('int')) return 'integer'
  if (/char|clob|text/.test(type)) return 'text'
  if (type === '') return 'none'
  if (type.includes('blob')) return 'blob'
  return /real|floa|doub/.test(type) ? 'real' : 'numeric'
}

const held = (...affinities: Array<ReturnType<typeof affinity>>) =>
  (declaredType: string) => affinities.includes(affinity(declaredType))

const plainDatetime = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/

/**
 * Returns a moment in the form of records, or the stored text if it tells no moment. Databases made elsewhere also hold
 * `T` between date and time, fractions of a second and offsets.
 */
function decodeDatetime (stored: Stored): string {
  const text = String(stored)
  return plainDatetime.test(text) ? text : datetime(text) ?? text
}

const plainDate = /^\d{4}-\d\d-\d\d$/

/** Returns the date of a stored date or moment; any other text as it is. */
function decodeDate (stored: Stored): string {
  const text = String(stored)
  return plainDate.test(text) ? text : datetime(text)?.slice(0, plainLength) ?? text
}

const plainLength = '2024-02-29'.length

/**
 * Conversion of moments for cursors: a cursor holds the text as it is stored. If a value is no moment, no cursor is
 * written. Bytes, for example, have another place than their text, because SQLite orders bytes after all texts.
 */
const exact: Exact = {
  write: (stored) => typeof stored === 'string' ? stored : '',
  read: (text) => datetime(text) === undefined ? undefined : text
}

/**
 * True for the types that programs give to columns of texts, although SQLite stores a text of digits there as a number.
 */
const isTextual = named('time', 'uuid', 'guid', 'uniqueidentifier', 'string')
const isJson = named('json', 'jsonb')
const holdsText = held('text', 'none')
/** Storage of texts. A column of any type may hold bytes, too, which records show as text. */
const plainText = {
  type: () => 'text',
  holds: (declaredType) => holdsText(declaredType) || isTextual(declaredType),
  isCollated: true,
  decode: String,
  inlined: (expression) =>
    `(typeof ${expression} === 'string' || ${expression} === null ? ${expression} : String(${expression}))`
} as const satisfies Storage
/** Matches the texts that SQLite would store as numbers in a column of a type for which {@link isTextual} is true. */
const numeric = /^\s*[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?\s*$/i
/**
 * Storage of texts in columns of a type for which {@link isTextual} is true. A stored number is selected as text. A
 * write of a text that SQLite would store as a number is refused.
 */
const textualTypes: Storage = {
  ...plainText, select: asText, shown: byNumericText, alters: (value) => numeric.test(String(value))
}
/**
 * Storage of texts in columns without a type. SQLite keeps a number there as a number, and records show it as text. No
 * cursor is written for a number. Its text would mark another position, because SQLite orders numbers before all texts.
 */
const untyped: Storage = {
  ...plainText,
  select: asText,
  isWhole: (column) => sql`typeof(${column}) = 'text'`,
  shown: byUntypedText,
  showsOthers: true
}
const text: Storage = {
  ...plainText,
  ofType: ({ written }) => {
    if (isTextual(written)) return textualTypes
    return affinity(written) === 'none' ? untyped : undefined
  }
}
const integers = { type: () => 'integer', holds: held('integer', 'numeric'), ...asInteger }

/** Returns a condition that is true if a number is finite. It avoids `abs()`, which fails for the least integer. */
const isFinite = (column: Expression<unknown>) => sql<SqlBool>`(${column} > -9e999 and ${column} < 9e999)`

const moments = {
  type: () => 'datetime',
  holds: held('numeric', 'text'),
  now: sql`current_timestamp`,
  index: { name: otherFormIndex, of: (column) => isOtherForm(column, 'datetime') },
  shown: asShown('datetime'),
  exact,
  decode: decodeDatetime
} as const satisfies Storage

const dates = {
  type: () => 'date', holds: held('numeric', 'text'), now: sql`current_date`, decode: String
} as const satisfies Storage

/**
 * True if the driver's value is exactly the stored number. False for texts and bytes, and for numbers that may be
 * rounded integers: a column that is not `real` may hold integers of 64 bits, and the driver rounds them from 2^53 on.
 * A number beyond 2^63 is never rounded, because SQLite stores it as a double.
 */
function isRead (stored: Stored): stored is number {
  const isDouble = typeof stored === 'number' && !(Number.isInteger(stored) && Math.abs(stored) <= 2 ** 63)
  return isDouble || Number.isSafeInteger(stored)
}

/**
 * Conversion of numbers for cursors. If {@link isRead} is false for a value, no cursor is written, because the cursor
 * would mark another position.
 */
const exactRead: Exact = { write: (stored) => isRead(stored) ? String(stored) : '', read: finiteNumber }

const exactDecimal: Exact = {
  ...exactDouble, write: (stored, options) => isRead(stored) ? exactDouble.write(stored, options) : ''
}

const numbers = {
  type: () => 'real', holds: held('real', 'numeric', 'integer'), isShown: isFinite, ...asFinite
} as const satisfies Storage

/** Returns the least number in a column that the driver reads as `least` or greater: see {@link isRead}. */
function leastStored (least: number): Stored {
  const isRounded = Math.abs(least) >= 2 ** 53 && least > -(2 ** 63) && least <= 2 ** 63
  return isRounded ? leastUnits(least, 0) : least
}

/** Storage of numbers in a column that may hold integers with more digits than the driver reads. */
const roundedNumbers: Storage = {
  ...numbers, exact: exactRead, ...inExactNumbers(leastStored, (value) => sql`${value}`)
}

export const sqliteStorage = {
  key: integers,
  text,
  integer: integers,
  bigint: {
    type: () => 'bigint',
    holds: held('integer', 'numeric'),
    select: asText,
    encode: (value) => BigInt(String(value)),
    decode: asIs.decode
  },
  number: {
    ...numbers,
    ofType: ({ written }) => affinity(written) === 'real' ? undefined : roundedNumbers
  },
  decimal: {
    type: decimalType('decimal'),
    holds: held('numeric', 'real', 'integer'),
    isShown: isFinite,
    bounds: decimalBounds,
    shown: asShownDecimal((value) => sql`${value}`),
    exact: exactDecimal,
    encode: Number,
    decode: decodeDecimal
  },
  boolean: {
    type: () => 'boolean',
    holds: held('numeric', 'integer'),
    check: (column) => sql`${column} in (0, 1)`,
    ...asBit
  },
  datetime: {
    ...moments,
    ofType: (column) => isYes(column.indexed) ? { ...moments, shown: asShown('datetime', column) } : undefined
  },
  date: {
    ...dates,
    ofType: ({ written }) => written.toLowerCase() === 'date'
      ? undefined
      : { ...dates, shown: asShown('date'), exact, decode: decodeDate }
  },
  json: { type: () => 'text', holds: (declaredType) => holdsText(declaredType) || isJson(declaredType), ...asJson },
  uuid: text
} as const satisfies StorageTable
