import type { Json } from '../values/values.js'

// Floating-point numbers of 64 bits, and the decimals nearest to them.

/**
 * Returns the floating-point number next to a finite one: the next greater one (direction 1), or the next smaller one
 * (-1), which zero must not be asked for.
 */
export function neighbour (number: number, direction: 1 | -1): number {
  const view = new DataView(new ArrayBuffer(8))
  view.setFloat64(0, number)
  view.setBigInt64(0, view.getBigInt64(0) + BigInt(number < 0 ? -direction : direction))
  return view.getFloat64(0)
}

/** Most digits after the point that `toFixed` can write. */
const writtenDigits = 100
/** Digits after the point of the mean of two numbers that `toFixed` wrote: halving adds one digit. */
export const maxDigits = writtenDigits + 1
/** Least number that `toFixed` writes with an exponent. It is a whole number, and all greater ones are. */
const leastExponential = 1e21

/** Returns a finite number in units of the last digit that `toFixed` can write. */
function exactUnits (number: number): bigint {
  return Math.abs(number) < leastExponential
    ? BigInt(number.toFixed(writtenDigits).replace('.', ''))
    : BigInt(number) * 10n ** BigInt(writtenDigits)
}

/**
 * Returns the least decimal with at most `digits` digits after the point whose nearest floating-point number is `least`
 * or greater. The decimal is in units of its last digit: 1095n stands for 1.095 if `digits` is 3.
 */
export function leastUnits (least: number, digits: number): bigint {
  if (least === 0) return 0n
  const middle = (exactUnits(least) + exactUnits(neighbour(least, -1))) * 5n
  const units = middle / 10n ** BigInt(maxDigits - digits)
  return Number(`${units}e-${digits}`) < least ? units + 1n : units
}

/** Returns the decimal of {@link leastUnits} as text, such as `1095e-3`. */
export function leastDecimal (least: number, digits: number): string {
  return `${leastUnits(least, digits)}e-${digits}`
}

/**
 * Returns the function that is true for a number, or the text of a decimal, that a column with `scale` digits after the
 * point would round. With a negative `scale`, the column rounds to tens or hundreds. With more digits than `toFixed`
 * can write, the function is never true.
 */
export function isRoundedTo (scale: number): (value: Json) => boolean {
  if (scale < 0) return (value) => Number(value) % 10 ** -scale !== 0
  if (scale > writtenDigits) return () => false
  return (value) => Number(Number(value).toFixed(scale)) !== Number(value)
}
