import type { Json } from '../values/values.js'
import { neighbour } from './doubles.js'
import type { Stored } from './storage.js'
import { asFinite } from './storage.js'

/** Significant digits that always suffice for a floating-point number of 32 bits. */
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

/**
 * Returns the number that is sent to the engine in place of `value`. The engine compares it with stored numbers of 32
 * bits, and finds the same rows as if it compared `value` with the numbers that records show. So it can compare the
 * column itself, and an index serves. If the returned number is written, the column stores the same as for `value`.
 */
function toSingle (value: number): number {
  const single = Math.fround(value)
  if (!Number.isFinite(single) || single === 0) return value
  const shown = shortest(single)
  return shown === value ? single : neighbour(single, value > shown ? 1 : -1)
}

/**
 * Stores numbers in a column of floating-point numbers of 32 bits, which is selected as a double. Records show each
 * number with the fewest digits that identify it. A number that would be shown as another one is refused.
 */
export const asSingle = {
  alters: (value: Json): boolean => {
    const single = Math.fround(Number(value))
    return !Number.isFinite(single) || shortest(single) !== value
  },
  encode: (value: Json): Stored => toSingle(Number(value)),
  decode: (stored: Stored): number | null => {
    const value = asFinite.decode(stored)
    return value === null ? null : shortest(value)
  }
}
