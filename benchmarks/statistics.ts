/** Several measurements of the same thing. */
export interface Spread {
  readonly median: number
  readonly lowest: number
  readonly highest: number
}

export function spreadOf (values: readonly number[]): Spread {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = (sorted.length - 1) / 2
  const [lower = NaN, upper = NaN] = [sorted[Math.floor(middle)], sorted[Math.ceil(middle)]]
  return { median: (lower + upper) / 2, lowest: sorted[0] ?? NaN, highest: sorted.at(-1) ?? NaN }
}

export function medianOf (values: readonly number[]): number {
  return spreadOf(values).median
}
