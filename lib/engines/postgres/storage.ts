import { sql, type Expression, type SqlBool } from 'kysely'
import type { FieldOptions } from '../../values/field-options.js'
import { anyOf } from '../any-of.js'
import { inDecimals, inDoubles, inFewerDigits, withoutZeros } from '../decimals.js'
import { readType } from '../described-types.js'
import { isRoundedTo } from '../doubles.js'
import { asSafeIntegers } from '../safe-integers.js'
import {
  asFinite, asIs, asJson, decimalType, decodeDecimal, exactNumber, named,
  type Parameter, type ShownCondition, type Storage, type StorageTable, type Stored, type WrittenColumn
} from '../storage.js'
import { asSingle } from '../single.js'
import { date, datetime, ownDate, ownDatetime } from './moments.js'
import { asText, symbols, textsOf, textTypes } from './texts.js'

const integers = ['int2', 'int4', 'int8'] as const
/**
 * Casts a parameter to bigint. Without this, a number beyond the range of the column's type would be an error, instead
 * of a value that no row has.
 */
const bigint = (value: Parameter) => sql`cast(${value} as bigint)`

/**
 * Returns a stored boolean; throws for a value of any other type. A text must not pass for true, because a boolean may
 * decide who is an admin.
 */
function decodeBoolean (stored: Stored): boolean {
  if (typeof stored === 'boolean') return stored
  throw new TypeError('The driver returns booleans as another type')
}

/**
 * Returns a condition that is true if a number is finite and not too large for a double, so that JSON can hold it.
 * Casting a larger number to a double would be an error.
 */
const isFinite = (column: Expression<unknown>) =>
  sql<SqlBool>`abs(cast(${column} as numeric)) <= 1.7976931348623157e308`

/**
 * Returns a condition that is true if a number is not 0, but a double cannot tell it from 0. PostgreSQL fails if such a
 * number is cast to a double.
 */
const isTiny = (column: Expression<unknown>) =>
  sql<SqlBool>`(${column} <> 0 and abs(cast(${column} as numeric)) < 4.9e-324)`

const double = (value: Parameter | Expression<unknown>) => sql`cast(${value} as double precision)`
/** Largest double. Records show null for a larger number, which JavaScript would read as infinity. */
const maxDouble = sql`1.7976931348623157e308::numeric`

/**
 * Returns conditions that compare a numeric column by the doubles that records show. Records show null for a number
 * beyond the range of doubles. Such a number counts as infinite here, so that it comes before or after all doubles, as
 * in an ordering by the engine.
 */
const asDouble: ShownCondition = (column, operator, values) => {
  const infinite = sql`when ${column} > ${maxDouble} then 'Infinity' when ${column} < -${maxDouble} then '-Infinity'`
  const shown = sql`case ${infinite} when ${isTiny(column)} then 0 else cast(${column} as double precision) end`
  if (operator === 'eq' || operator === 'in') return sql<SqlBool>`${shown} in (${sql.join(values.map(double))})`
  if (operator === 'ne') return sql<SqlBool>`${shown} not in (${sql.join(values.map(double))})`
  return anyOf(values.map((value) => sql<SqlBool>`${shown} ${symbols[operator]} ${double(value)}`))
}

/** Returns the digits after the point that a `numeric` column keeps; infinity for plain `numeric`. */
function scaleOf (written: string): number {
  const { digits: [precision, scale = 0] } = readType('', written)
  return precision === undefined ? Infinity : scale
}

/**
 * Returns the storage of numbers in a column of type `numeric` or `real`; undefined for a column of another type. A
 * `numeric` may be larger or have more digits than a double, so filters compare the doubles that records show. The
 * condition for the rows after a cursor compares the column itself: a cursor holds a number only if a double shows all
 * its digits.
 */
function numbersOf ({ written }: WrittenColumn): Storage | undefined {
  if (written === 'real') return singles()
  if (!written.startsWith('numeric')) return undefined
  const asNumeric = (column: Expression<unknown>) => sql`cast(${double(column)} as numeric)`
  const scale = scaleOf(written)
  return {
    ...postgresStorage.number,
    ...scale !== Infinity && { alters: isRoundedTo(scale) },
    shown: asDouble,
    compared: postgresStorage.decimal.compared,
    exact: exactNumber,
    isWhole: (column) =>
      sql`case when ${isFinite(column)} and not ${isTiny(column)} then ${column} = ${asNumeric(column)} else false end`
  }
}

/**
 * Returns the storage of decimals in a `double precision` column, in a column of integers, which takes no `3.00`, or in
 * a `numeric` column that may have more or fewer digits after the point than the field's `scale`. Returns undefined for
 * other columns.
 */
function decimalsOf ({ written }: WrittenColumn, options: FieldOptions): Storage | undefined {
  const { decimal } = postgresStorage
  if (written === 'double precision') return { ...decimal, ...inDoubles(double) }
  if (!written.startsWith('numeric')) {
    const whole = inFewerDigits(0, options)
    return whole && { ...decimal, ...whole, encode: (value) => withoutZeros(String(value)) }
  }
  const differing = inFewerDigits(scaleOf(written), options) ?? inDecimals(written, options, decimal.compared)
  return differing && { ...decimal, ...differing }
}

/**
 * Returns the storage of floating-point numbers of 32 bits. They are selected as doubles, which hold their exact binary
 * values. For each, {@link asSingle} finds the number with the fewest digits that identify it.
 */
function singles (): Storage {
  return { ...postgresStorage.number, select: double, isWhole: isFinite, ...asSingle }
}

const texts = {
  type: () => 'text collate "C"', holds: named(...textTypes), isCollated: true, ...asIs
} as const satisfies Storage

/**
 * Storage of each kind of value. Dates and numbers with many digits are selected as text, because what drivers make of
 * them depends on their settings and the time zone.
 */
export const postgresStorage = {
  key: asSafeIntegers({ type: () => 'bigint', holds: named(...integers), compared: bigint }),
  text: { ...texts, ofType: (column, options) => textsOf(texts, column, options) },
  integer: asSafeIntegers({ type: () => 'integer', holds: named(...integers), compared: bigint }),
  bigint: { type: () => 'bigint', holds: named(...integers), select: asText, compared: bigint, ...asIs },
  number: {
    type: () => 'double precision',
    holds: named('float8', 'float4', 'numeric', ...integers),
    compared: double,
    ofType: numbersOf,
    isShown: isFinite,
    isWhole: (column) => {
      const isEqual = sql`${asText(column)} = ${asText(sql`cast(${column} as double precision)`)}`
      return sql`case when ${isFinite(column)} and not ${isTiny(column)} then ${isEqual} else false end`
    },
    ...asFinite
  },
  decimal: {
    type: decimalType('numeric'),
    holds: named('numeric', 'float8', ...integers),
    select: asText,
    compared: (value) => sql`cast(${value} as numeric)`,
    ofType: decimalsOf,
    isShown: isFinite,
    decode: decodeDecimal
  },
  boolean: { type: () => 'boolean', holds: named('bool'), decode: decodeBoolean },
  datetime,
  date,
  json: { type: () => 'json', holds: named('json', 'jsonb', 'text', 'varchar'), select: asText, ...asJson },
  uuid: { type: () => 'uuid', holds: named('uuid', 'text', 'varchar'), ...asIs }
} as const satisfies StorageTable

/** Storage for connections of openPostgres(), on which the driver leaves dates as the server writes them. */
export const ownPostgresStorage = { ...postgresStorage, datetime: ownDatetime, date: ownDate } satisfies StorageTable
