import type { Json } from '../values/values.js'
import type { Stored } from './storage.js'
import { asFinite } from './storage.js'

/** Significant digits that always suffice for a number of 32 bits. */
const maxDigits = 9

/**
 * Returns the number with the fewest digits that a column of 32 bits stores as the given one: 1.1 for
 * 1.100000023841858.
 */
function shortest (single: number): number {
  for (let digits = 1; digits < maxDigits; digits++) {
    const short = Number(single.toPrecision(digits))
    if (Math.fround(short) === single) return short
  }
  return Number(single.toPrecision(maxDigits))
}

/** Returns the double next to a finite number other than 0, away from it in the direction of `towards`. */
function next (value: number, towards: number): number {
  const bits = new DataView(new ArrayBuffer(8))
  bits.setFloat64(0, value)
  bits.setBigInt64(0, bits.getBigInt64(0) + ((towards > value) === (value > 0) ? 1n : -1n))
  return bits.getFloat64(0)
}

/**
 * Returns the double that stands to all stored numbers of 32 bits as `value` stands to what records show of them. So
 * the engine may compare a column with it as it is, and an index serves. A column stores it as the nearest number.
 */
function toSingle (value: number): number {
  const single = Math.fround(value)
  if (!Number.isFinite(single) || single === 0) return value
  const shown = shortest(single)
  return shown === value ? single : next(single, value > shown ? Infinity : -Infinity)
}

/** Stores numbers in a column of 32 bits, which is selected as a double. Records show the fewest digits. */
export const asSingle = {
  encode: (value: Json): Stored => toSingle(Number(value)),
  decode: (stored: Stored): number | null => {
    const value = asFinite.decode(stored)
    return value === null ? null : shortest(value)
  }
}
