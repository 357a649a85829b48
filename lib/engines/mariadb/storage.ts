import { sql, type Expression } from 'kysely'
import type { FieldOptions } from '../../values/field-options.js'
import { isYes } from '../catalog.js'
import { inDecimals, inDoubles, inExactNumbers, inFewerDigits, isRoundedTo, leastUnits } from '../decimals.js'
import { readType } from '../described-types.js'
import { asSingle } from '../single.js'
import {
  asBit, asIs, asJson, asNumber, decimalType, decodeDecimal, named,
  type Parameter, type Storage, type StorageTable, type WrittenColumn
} from '../storage.js'
import { date, datetime } from './moments.js'
import { asText, exactCharset, text, textTypes } from './texts.js'

const integers = ['tinyint', 'smallint', 'mediumint', 'int', 'bigint'] as const

const asDouble = (value: Parameter | Expression<unknown>) => sql`cast(${value} as double)`
/**
 * Selects all digits of a floating-point number. The text of a column `double(12,4)` itself would have four digits
 * after the point.
 */
const inFull = (column: Expression<unknown>) => asText(asDouble(column))

const integer = { type: () => 'integer', holds: named(...integers), ...asNumber } as const satisfies Storage

/**
 * Storage of years. MariaDB reads the number 70 as the year 1970, even in a comparison. So a number from 1 to 99 is
 * sent as -1, which no row has, and which MariaDB refuses to store.
 */
const years: Storage = {
  ...integer, encode: (value) => Number(value) > 0 && Number(value) < 100 ? -1 : Number(value)
}

const booleans = {
  type: () => 'boolean', holds: named('tinyint', 'bit'), check: (column) => sql`${column} in (0, 1)`, ...asBit
} as const satisfies Storage

/** Storage of booleans in columns of one bit, which the driver would return as bytes. */
const bits: Storage = { ...booleans, select: (column) => sql`${column} + 0` }

/** Significant digits of a decimal that a floating-point number always keeps. */
const keptDigits = 15
/** Greatest decimal, in units of its last digit. MariaDB does not cast a greater number without an error. */
const maxUnits = 10n ** 65n - 1n

const asDecimal = (value: Parameter, digits: number) => sql`cast(${value} as decimal(65, ${sql.lit(digits)}))`

/** Returns what {@link leastUnits} does, as the text of a number that MariaDB can cast to a decimal. */
function leastCastable (least: number, digits: number): string {
  const units = leastUnits(Math.min(least, Number.MAX_VALUE), digits)
  const bounded = units > maxUnits ? maxUnits : units < -maxUnits ? -maxUnits : units
  return `${bounded}e-${digits}`
}

/** Returns the digits after the point that a column keeps; infinity if its type does not say. */
function scaleOf (written: string): number {
  const { digits: [, scale] } = readType('', written)
  return scale ?? (/^(?:double|float)/.test(written) ? Infinity : 0)
}

/**
 * Returns the storage of numbers in a column of type `float`, or in one that rounds numbers; undefined for other
 * columns. Numbers of 32 bits are selected as doubles, because the server would round them to six digits in a text.
 */
function numbersOf ({ written }: WrittenColumn): Storage | undefined {
  const { number } = mariadbStorage
  const scale = scaleOf(written)
  const alters = scale === Infinity ? undefined : { alters: isRoundedTo(scale) }
  if (written.startsWith('float')) {
    const { isWhole, ...others } = number
    return { ...others, select: asDouble, ...asSingle, ...alters }
  }
  return alters && { ...number, ...furtherDigits(written, scale), ...alters }
}

/** Returns how numbers are compared in a column of integers or decimals that may have more digits than records show. */
function furtherDigits (written: string, scale: number): Partial<Storage> | undefined {
  const { digits: [precision = 0] } = readType('', written)
  if (!/^(?:bigint|decimal)\b/.test(written) || precision <= keptDigits) return undefined
  return inExactNumbers((least) => leastCastable(least, scale), (value) => asDecimal(value, scale))
}

/**
 * Returns the storage of decimals in a `double` column, or in a column with more or fewer digits after the point than
 * the field's `scale`. Returns undefined for other columns.
 */
function decimalsOf ({ written }: WrittenColumn, options: FieldOptions): Storage | undefined {
  const { decimal } = mariadbStorage
  const fewer = inFewerDigits(scaleOf(written), options)
  if (written.startsWith('double')) return { ...decimal, select: inFull, ...inDoubles(asDouble), ...fewer }
  // MariaDB compares a decimal with a text by floating-point numbers, which have too few digits.
  const further = written.startsWith('decimal') ? inDecimals(written, options, asDecimal) : undefined
  const differing = fewer ?? further
  return differing && { ...decimal, ...differing }
}

/**
 * Storage of values in MariaDB. Dates and numbers with many digits are selected as text, because the driver would
 * convert them by its settings and the time zone.
 */
export const mariadbStorage = {
  key: { type: () => 'bigint', holds: named(...integers), ...asNumber },
  text,
  integer: {
    ...integer,
    holds: named(...integers, 'year'),
    ofType: ({ written }) => written.startsWith('year') ? years : undefined
  },
  bigint: {
    type: () => 'bigint',
    holds: named(...integers),
    // The sum has no leading zeros, which a column with `zerofill` has.
    select: (column) => asText(sql`${column} + 0`),
    ...asIs
  },
  number: {
    type: () => 'double',
    holds: named('double', 'float', 'decimal', ...integers),
    isWhole: (column) => sql`${asText(column)} = ${inFull(column)}`,
    ofType: numbersOf,
    ...asNumber
  },
  decimal: {
    type: decimalType('decimal'),
    holds: named('decimal', 'double', ...integers),
    select: asText,
    ofType: decimalsOf,
    decode: decodeDecimal
  },
  boolean: { ...booleans, ofType: ({ written }) => written.startsWith('bit') ? bits : undefined },
  datetime,
  date,
  json: {
    type: () => `longtext ${exactCharset}`,
    holds: named(...textTypes),
    // An expression, because the driver parses columns that the server marks as JSON.
    select: (column) => sql`concat(${column}, '')`,
    ...asJson
  },
  uuid: {
    type: () => 'char(36) character set ascii collate ascii_bin', holds: named('char', 'varchar', 'uuid'), ...asIs
  }
} as const satisfies StorageTable

/**
 * Returns the storage of integers on connections whose `sql_mode` may lack NO_AUTO_VALUE_ON_ZERO. There, a column with
 * `auto_increment` gets the next number in place of 0.
 */
function withoutZero (storage: Storage): Storage {
  return {
    ...storage,
    ofType: (column, options) => isYes(column.generated)
      ? { ...storage, alters: (value) => Number(value) === 0 }
      : storage.ofType?.(column, options)
  }
}

/** Storage for connections that openMariadb() did not open. */
export const foreignMariadbStorage = {
  ...mariadbStorage,
  key: withoutZero(mariadbStorage.key),
  integer: withoutZero(mariadbStorage.integer),
  bigint: withoutZero(mariadbStorage.bigint)
} satisfies StorageTable
