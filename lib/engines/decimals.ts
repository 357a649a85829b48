import { sql, type Expression, type RawBuilder, type SqlBool } from 'kysely'
import { digitsOf, type FieldOptions } from '../values/field-options.js'
import { itemAt } from '../values/lookup.js'
import { finiteNumber, type Json } from '../values/values.js'
import { anyOf } from './any-of.js'
import { readType } from './catalog.js'
import {
  decodeDecimal, type Exact, type Parameter, type ShownCondition, type Storage, type Stored
} from './storage.js'

// A column may hold more digits than records show, such as 3.3000000000000003 for three times 1.10. Records show the
// digits of the nearest floating-point number. The engine's own round() would not do: it rounds the digits that it
// would print, so that it makes 1.01 of 1.005, and records show 1.00.

type Bounds = readonly [least: number, until: number]

/**
 * Returns the least floating-point number that records show as a decimal, and the least one that they show as the next
 * greater decimal.
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

/**
 * Returns the next greater floating-point number (direction 1), or the next less one (-1), of a finite one that is not
 * zero.
 */
export function neighbour (number: number, direction: 1 | -1): number {
  const view = new DataView(new ArrayBuffer(8))
  view.setFloat64(0, number)
  view.setBigInt64(0, view.getBigInt64(0) + BigInt(number < 0 ? -direction : direction))
  return view.getFloat64(0)
}

/** Digits after the point that `toFixed` writes at most. The mean of two such numbers has one more. */
const writtenDigits = 100
const maxDigits = writtenDigits + 1

/**
 * Returns the least number with at most `digits` digits after the point to which `least` is the nearest floating-point
 * number, or a greater one is. `least` must be below 1e21.
 */
export function leastDecimal (least: number, digits: number): string {
  const exactly = (number: number): bigint => BigInt(number.toFixed(writtenDigits).replace('.', ''))
  const middle = (exactly(least) + exactly(neighbour(least, -1))) * 5n
  const units = middle / 10n ** BigInt(maxDigits - digits)
  const text = `${units}e-${digits}`
  return Number(text) < least ? `${units + 1n}e-${digits}` : text
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
 * Returns a function that makes a condition on a column of decimals by what records show of them. Its `values` are the
 * bounds of each value, in turn. An index serves.
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

/** Cursors hold a decimal as records and other engines write it; a number of further digits is written as it is. */
export const exactDouble: Exact = {
  write: (stored, options) => {
    const shown = String(decodeDecimal(stored, options))
    return Number(shown) === Number(stored) ? shown : String(Number(stored))
  },
  read: finiteNumber
}

/** Does the same with decimals that may have too many digits for a floating-point number. */
const exactDigits: Exact = {
  write: (stored, options) => {
    const [shown, text] = [String(decodeDecimal(stored, options)), withoutZeros(String(stored))]
    return withoutZeros(shown) === text ? shown : text
  },
  // An engine would need much memory for the digits of a number with a large exponent.
  read: (text) => finiteNumber(text) === undefined || /e/i.test(text) ? undefined : text
}

/** Returns a number without the zeros at the end of its fraction. */
function withoutZeros (text: string): string {
  if (!text.includes('.')) return text
  let end = text.length
  while (text[end - 1] === '0') end--
  return text.slice(0, text[end - 1] === '.' ? end - 1 : end)
}

type Cast = NonNullable<Storage['compared']>
type Comparing = Pick<Storage, 'bounds' | 'shown' | 'compared' | 'exact'>

/** Returns how decimals are compared in a column of floating-point numbers. `cast` makes such a number of a value. */
export function inDoubles (cast: Cast): Comparing {
  return { bounds: decimalBounds, shown: asShownDecimal(cast), compared: cast, exact: exactDouble }
}

/**
 * Returns how decimals are compared in a column of decimals that has more digits after the point than the field;
 * undefined if it has not.
 *
 * @param written  type of the column: without digits it takes any number of them
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
