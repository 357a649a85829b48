import type { ArrayRows, Outcome, Row } from './executor.js'

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

/** Returns the values of each row, in the order of the keys. */
export function toArrays ({ rows }: { readonly rows: readonly Row[] }, keys: readonly string[]): ArrayRows {
  return rows.map((row) => keys.map((key) => {
    const { [key]: value = null } = row
    return value
  }))
}
