import { sql, type RawBuilder, type SqlBool } from 'kysely'
import type { FieldOptions } from '../../values/field-options.js'
import { itemAt } from '../../values/lookup.js'
import { finiteNumber, type Json } from '../../values/values.js'
import { anyOf } from '../any-of.js'
import { decodeDecimal, type Exact, type Parameter, type ShownCondition, type Stored } from '../storage.js'

// SQLite keeps decimals as floating-point numbers. So what other programs compute may have more digits than records
// show, such as 3.3000000000000003 for three times 1.10. SQLite's own round() would not do: it rounds the digits that
// it would print, and records show the digits of the number itself.

/** Returns the least and the greatest number that records show as a decimal. */
export function decimalBounds (value: Json, { scale = 2 }: FieldOptions): readonly [number, number] {
  const wanted = Number(value)
  const units = Math.round(wanted * 10 ** scale)
  const isShown = (number: number): boolean => Number(number.toFixed(scale)) === wanted
  const edge = (end: number, inwards: 1 | -1): number => {
    const candidates = [neighbour(end, inwards === 1 ? -1 : 1), end, neighbour(end, inwards)]
    return Number(candidates.find(isShown))
  }
  return [edge((units - 0.5) / 10 ** scale, 1), edge((units + 0.5) / 10 ** scale, -1)]
}

/** Returns the next greater floating-point number (direction 1), or the next less one (-1), of one that is not zero. */
function neighbour (number: number, direction: 1 | -1): number {
  const view = new DataView(new ArrayBuffer(8))
  view.setFloat64(0, number)
  view.setBigInt64(0, view.getBigInt64(0) + BigInt(number < 0 ? -direction : direction))
  return view.getFloat64(0)
}

/**
 * True if a value was read as the number that is stored. A column that is not `real` may also hold texts, bytes, and
 * integers of 64 bits, of which the driver rounds those from 2^53 on. Beyond 2^63 every stored number is a double.
 */
function isRead (stored: Stored): stored is number {
  const isDouble = typeof stored === 'number' && !(Number.isInteger(stored) && Math.abs(stored) <= 2 ** 63)
  return isDouble || Number.isSafeInteger(stored)
}

/** Keeps numbers in cursors. No cursor holds a value that is not read as it is stored. */
export const exactRead: Exact = {
  write: (stored) => isRead(stored) ? String(stored) : '',
  read: finiteNumber
}

/** Cursors hold a decimal as records and other engines write it; a number of further digits is written as it is. */
export const exactDecimal: Exact = {
  write: (stored, options) => {
    const shown = String(decodeDecimal(stored, options))
    return isRead(stored) && Number(shown) === stored ? shown : exactRead.write(stored, options)
  },
  read: exactRead.read
}

type Bounds = readonly [least: Parameter, greatest: Parameter]
type Column = RawBuilder<unknown>

type Compare = (column: Column, bounds: Bounds) => RawBuilder<SqlBool>

const comparisons: Readonly<Record<'eq' | 'lt' | 'lte' | 'gt' | 'gte', Compare>> = {
  eq: (column, [least, greatest]) => sql<SqlBool>`${column} >= ${least} and ${column} <= ${greatest}`,
  lt: (column, [least]) => sql<SqlBool>`${column} < ${least}`,
  lte: (column, [, greatest]) => sql<SqlBool>`${column} <= ${greatest}`,
  gt: (column, [, greatest]) => sql<SqlBool>`${column} > ${greatest}`,
  gte: (column, [least]) => sql<SqlBool>`${column} >= ${least}`
}

/** Compares decimals by what records show of them. `values` are the bounds of each value, in turn. An index serves. */
export const asShownDecimal: ShownCondition = (column, operator, values) => {
  const pairs = values.flatMap((least, index) => index % 2 === 0 ? [[least, itemAt(values, index + 1)] as const] : [])
  const compare = comparisons[operator === 'in' || operator === 'ne' ? 'eq' : operator]
  const isAny = anyOf(pairs.map((bounds) => compare(column, bounds)))
  return operator === 'ne' ? sql<SqlBool>`not ${isAny}` : isAny
}
