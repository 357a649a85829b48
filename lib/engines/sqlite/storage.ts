import { sql, type Expression, type SqlBool } from 'kysely'
import { datetime, finiteNumber } from '../../values/values.js'
import { isYes } from '../catalog.js'
import { asShownDecimal, decimalBounds, exactDouble, inExactNumbers } from '../decimals.js'
import { leastUnits } from '../doubles.js'
import {
  asBit, asFinite, asInteger, asIs, asJson, decimalType, decodeDecimal, named,
  type Exact, type Storage, type StorageTable, type Stored
} from '../storage.js'
import { affinity, held } from './affinity.js'
import { asShown, isOtherForm, otherFormIndex } from './moments.js'
import { asText, holdsText, text } from './texts.js'

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

const isJson = named('json', 'jsonb')
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
