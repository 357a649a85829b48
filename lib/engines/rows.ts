import type { ArrayRows, Outcome } from './executor.js'

/** Returns the number of rows of an outcome: those that it returned, or those that it changed. */
export function countOf ({ row, changed }: Outcome): number {
  return row === undefined ? changed : 1
}

export function lengthOf ({ length }: ArrayRows): number {
  return length
}
