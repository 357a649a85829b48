import { sql, type Expression, type RawBuilder, type SqlBool } from 'kysely'
import { digitsOf, type FieldOptions } from '../values/field-options.js'
import { itemAt } from '../values/lookup.js'
import { finiteNumber, type Json } from '../values/values.js'
import { anyOf } from './any-of.js'
import { readType } from './described-types.js'
import { isRoundedTo, leastDecimal, maxDigits, neighbour } from './doubles.js'
import {
  decodeDecimal, type Exact, type Parameter, type ShownCondition, type Storage, type Stored
} from './storage.js'

// A column may hold more digits than records show, such as 3.3000000000000003 for three times 1.10. Records show the
// nearest floating-point number as `toFixed` rounds it. The engine's own round() would not do: it rounds the digits
// that it would print, so that it makes 1.01 of 1.005, and records show 1.00.

type Bounds = readonly [least: number, until: number]

/**
 * Returns the range of the floating-point numbers that records show as the decimal `value`. `least` is the first number
 * in the range. `until` is the first number after the range, and the least one that records show as the next greater
 * decimal.
 */
export function decimalBounds (value: Json, options: FieldOptions): Bounds {
  const { scale } = digitsOf(options)
  const first = (units: number): number => {
    const edge = (units - 0.5) / 10 ** scale
    const candidates = [neighbour(edge, -1), edge, neighbour(edge, 1)]
    return Number(candidates.find((number) => Number(number.toFixed(scale)) >= units / 10 ** scale))
  }
  const units = Math.round(Number(value) * 10 ** scale)
  return [first(units), first(units + 1)]
}

type Compare = (
  column: RawBuilder<unknown>, bounds: readonly [least: Expression<unknown>, until: Expression<unknown>]
) => RawBuilder<SqlBool>

const comparisons: Readonly<Record<'eq' | 'lt' | 'lte' | 'gt' | 'gte', Compare>> = {
  eq: (column, [least, until]) => sql<SqlBool>`${column} >= ${least} and ${column} < ${until}`,
  lt: (column, [least]) => sql<SqlBool>`${column} < ${least}`,
  lte: (column, [, until]) => sql<SqlBool>`${column} < ${until}`,
  gt: (column, [, until]) => sql<SqlBool>`${column} >= ${until}`,
  gte: (column, [least]) => sql<SqlBool>`${column} >= ${least}`
}

/**
 * Returns a function that makes a condition on a column of decimals. The condition compares the decimals that records
 * show, because the column may hold more digits. The function takes two `values` for each decimal, pair
 * after pair: its bounds, as {@link decimalBounds} returns them. An index on the column serves every operator except
 * `ne`.
 *
 * @param bound  makes SQL of one of these bounds
 */
export function asShownDecimal (bound: (value: Parameter) => Expression<unknown>): ShownCondition {
  return (column, operator, values) => {
    const pairs = values.flatMap((least, index) =>
      index % 2 === 0 ? [[bound(least), bound(itemAt(values, index + 1))] as const] : [])
    const compare = comparisons[operator === 'in' || operator === 'ne' ? 'eq' : operator]
    const isAny = anyOf(pairs.map((bounds) => compare(column, bounds)))
    return operator === 'ne' ? sql<SqlBool>`not ${isAny}` : isAny
  }
}

/**
 * Conversion for cursors of decimals in a column of floating-point numbers. A cursor holds the text that records show,
 * or all digits of the number if records show fewer.
 */
export const exactDouble: Exact = {
  write: (stored, options) => {
    const shown = String(decodeDecimal(stored, options))
    return Number(shown) === Number(stored) ? shown : String(Number(stored))
  },
  read: finiteNumber
}

/**
 * Conversion for cursors of decimals in a column of decimals. Unlike {@link exactDouble}, it keeps the digits as text,
 * because they may be too many for a floating-point number. It refuses a text with an exponent.
 */
const exactDigits: Exact = {
  write: (stored, options) => {
    const [shown, text] = [String(decodeDecimal(stored, options)), withoutZeros(String(stored))]
    return withoutZeros(shown) === text ? shown : text
  },
  // An engine would need much memory for the digits of a number with a large exponent.
  read: (text) => finiteNumber(text) === undefined || /e/i.test(text) ? undefined : text
}

/** Returns a number without the zeros at the end of its fraction. */
export function withoutZeros (text: string): string {
  if (!text.includes('.')) return text
  let end = text.length
  while (text[end - 1] === '0') end--
  return text.slice(0, text[end - 1] === '.' ? end - 1 : end)
}

type Cast = NonNullable<Storage['compared']>
type Comparing = Pick<Storage, 'bounds' | 'shown' | 'compared' | 'exact'>

/**
 * Returns the part of a {@link Storage} that compares decimals in a column of floating-point numbers. `cast` makes such
 * a number of a value.
 */
export function inDoubles (cast: Cast): Comparing {
  return { bounds: decimalBounds, shown: asShownDecimal(cast), compared: cast, exact: exactDouble }
}

/**
 * Returns the part of a {@link Storage} that compares decimals in a column of decimals, if the column has more digits
 * after the point than the field; otherwise undefined.
 *
 * @param written  type of the column, such as `numeric(10,2)`; plain `numeric` permits any number of digits
 * @param cast     makes a decimal of a value, with as many digits after the point as the column has
 */
export function inDecimals (
  written: string, options: FieldOptions, cast: (value: Parameter, digits: number) => Expression<unknown>
): Comparing | undefined {
  const { digits: [precision, columnScale = 0] } = readType('', written)
  const digits = precision === undefined ? maxDigits : Math.min(columnScale, maxDigits)
  if (digits <= digitsOf(options).scale) return undefined
  const compared: Cast = (value) => cast(value, digits)
  const toDecimal = (number: number): Stored => leastDecimal(number, digits)
  const bounds: Storage['bounds'] = (value, options) => {
    const [least, until] = decimalBounds(value, options)
    return [toDecimal(least), toDecimal(until)]
  }
  return { bounds, shown: asShownDecimal(compared), compared, exact: exactDigits }
}

/**
 * Returns the part of a {@link Storage} that compares numbers in a column of integers or decimals by the floating-point
 * numbers that records show, because the column may hold more digits. An index on the column serves, as in
 * {@link asShownDecimal}.
 *
 * @param leastOf  returns the least stored value that records show as this number or a greater one
 * @param cast     makes SQL of such a value
 */
export function inExactNumbers (
  leastOf: (number: number) => Stored, cast: Cast
): Required<Pick<Storage, 'bounds' | 'shown'>> {
  return {
    bounds: (value) => [leastOf(Number(value)), leastOf(neighbour(Number(value), 1))],
    shown: asShownDecimal(cast)
  }
}

/**
 * Returns the part of a {@link Storage} for decimals in a column with `scale` digits after the point, if the field has
 * more; otherwise undefined.
 */
export function inFewerDigits (scale: number, options: FieldOptions): Pick<Storage, 'alters'> | undefined {
  return scale < digitsOf(options).scale ? { alters: isRoundedTo(scale) } : undefined
}
