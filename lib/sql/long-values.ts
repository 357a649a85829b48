import { sql, type RawBuilder } from 'kysely'
import type { ArrayRows } from '../engines/executor.js'
import type { Parameter, Stored } from '../engines/storage.js'
import { valueKindOf, type Column } from '../model/column.js'

/** Begins what stands in a row for a value that was withheld, before its length in bytes. A text that looks like one makes its page shorter, no more. MariaDB mixes nothing but ASCII with any character set. */
const withheld = '\u0001'
const withheldCode = withheld.charCodeAt(0)

/** No value is longer, and every engine takes this for an integer. */
export const unlimited = 2 ** 31 - 1

/** Whether values of a column may be long, so that pages are bounded by them. */
export function isLong (column: Column): boolean {
  const { storage } = valueKindOf(column)
  return storage === 'text' || storage === 'json'
}

/** A value, or its length if that is more than `longest` bytes: it is then neither sent nor, if it is kept apart from its row, read. */
export function withholdLong (value: RawBuilder<unknown>, longest: Parameter): RawBuilder<unknown> {
  return sql`case when octet_length(${value}) > ${longest} then concat(${sql.lit(withheld)}, octet_length(${value})) else ${value} end`
}

/** What is to be known of the long values of a list. */
export interface LongValues {
  /** Where they stand in a row. */
  readonly long: readonly number[]
  readonly pageBytes: number
}

/** Bytes of the longest value that is read at first: if none of them is longer, all of the rows fit on a page. */
export function longestOf ({ long, pageBytes }: LongValues, rowCount: number): number {
  return Math.min(unlimited, Math.floor(pageBytes / (rowCount * Math.max(1, long.length))))
}

/** Whether a value was withheld in one of the rows. */
export function isAnyWithheld (rows: ArrayRows, long: readonly number[]): boolean {
  for (const row of rows) {
    for (const index of long) {
      const { [index]: value } = row
      if (typeof value === 'string' && value.charCodeAt(0) === withheldCode) return true
    }
  }
  return false
}

/** How many of the rows fit on a page together, from the first one on, which always fits. */
export function countFitting (rows: ArrayRows, { long, pageBytes }: LongValues): number {
  let bytes = 0
  const beyond = rows.findIndex((row) => {
    for (const index of long) bytes += lengthOf(row[index] as Stored)
    return bytes > pageBytes
  })
  return beyond === -1 ? rows.length : Math.max(1, beyond)
}

function lengthOf (value: Stored): number {
  const text = String(value ?? '')
  const told = text.startsWith(withheld) ? text.slice(1) : ''
  return /^\d{1,10}$/.test(told) ? Number(told) : Buffer.byteLength(text)
}
