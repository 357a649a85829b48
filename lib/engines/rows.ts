import type { ArrayRows, Outcome } from './executor.js'

/**
 * Returns the number of rows of an outcome: 1 if the statement returned a row, otherwise the number of rows that it
 * changed.
 */
export function countOf ({ row, changed }: Outcome): number {
  return row === undefined ? changed : 1
}

export function lengthOf ({ length }: ArrayRows): number {
  return length
}
