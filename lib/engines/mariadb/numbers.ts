import { sql, type Expression } from 'kysely'
import type { FieldOptions } from '../../values/field-options.js'
import type { Json } from '../../values/values.js'
import { inDecimals, inDoubles, inExactNumbers, inFewerDigits } from '../decimals.js'
import { readType } from '../described-types.js'
import { isRoundedTo, leastUnits } from '../doubles.js'
import { asSingle } from '../single.js'
import {
  decimalType, decodeDecimal, exactNumber, named, type Parameter, type Storage, type Stored, type WrittenColumn
} from '../storage.js'
import { asText } from './texts.js'

export const integers = ['tinyint', 'smallint', 'mediumint', 'int', 'bigint'] as const

const asDouble = (value: Parameter | Expression<unknown>) => sql`cast(${value} as double)`
/**
 * Selects all digits of a floating-point number. The text of a column `double(12,4)` itself would have four digits
 * after the point.
 */
const inFull = (column: Expression<unknown>) => asText(asDouble(column))

/** Significant digits of a decimal that a floating-point number always keeps. */
const keptDigits = 15
/** Greatest decimal, in units of its last digit. MariaDB does not cast a greater number without an error. */
const maxUnits = 10n ** 65n - 1n

const asDecimal = (value: Parameter | Expression<unknown>, digits: number) =>
  sql`cast(${value} as decimal(65, ${sql.lit(digits)}))`

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
  const scale = scaleOf(written)
  const isRounded = scale === Infinity ? undefined : isRoundedTo(scale)
  if (written.startsWith('float')) {
    const alters = (value: Json): boolean => asSingle.alters(value) || isRounded?.(value) === true
    return { ...number, select: asDouble, ...asSingle, alters }
  }
  return isRounded && { ...number, exact: exactNumber, ...furtherDigits(written, scale), alters: isRounded }
}

/**
 * Returns how numbers are compared in a column of integers or decimals that may have more digits than records show. A
 * cursor holds a number only if a double shows all its digits, and is compared by all digits of the column.
 */
function furtherDigits (written: string, scale: number): Partial<Storage> | undefined {
  const { digits: [precision = 0] } = readType('', written)
  if (!/^(?:bigint|decimal)\b/.test(written) || precision <= keptDigits) return undefined
  const compared = (value: Parameter | Expression<unknown>) => asDecimal(value, scale)
  return {
    ...inExactNumbers((least) => leastCastable(least, scale), compared),
    compared,
    isWhole: (column) => sql`${column} = ${compared(asDouble(column))}`
  }
}

/**
 * Returns the storage of decimals in a `double` column, or in a column with more or fewer digits after the point than
 * the field's `scale`. Returns undefined for other columns.
 */
function decimalsOf ({ written }: WrittenColumn, options: FieldOptions): Storage | undefined {
  const fewer = inFewerDigits(scaleOf(written), options)
  if (written.startsWith('double')) return { ...decimal, select: inFull, ...inDoubles(asDouble), ...fewer }
  // MariaDB compares a decimal with a text by floating-point numbers, which have too few digits.
  const further = written.startsWith('decimal') ? inDecimals(written, options, asDecimal) : undefined
  const differing = fewer ?? further
  return differing && { ...decimal, ...differing }
}

/** Storage of `number()`. */
export const number = {
  type: () => 'double',
  holds: named('double', 'float', 'decimal', ...integers),
  ofType: numbersOf,
  // A driver may return a number as a text or a BigInt.
  decode: (stored: Stored): number => Number(stored)
} as const satisfies Storage

/** Storage of `decimal()`. */
export const decimal = {
  type: decimalType('decimal'),
  holds: named('decimal', 'double', ...integers),
  select: asText,
  ofType: decimalsOf,
  decode: decodeDecimal
} as const satisfies Storage
