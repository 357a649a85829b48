import { sql, type RawBuilder } from 'kysely'
import { randomBytes } from 'node:crypto'
import type { ArrayRows } from '../engines/executor.js'
import type { Parameter, Stored } from '../engines/storage.js'
import { valueKindOf, type Column } from '../model/column.js'

/**
 * Prefix of the text that a row holds in place of a value that {@link withholdLong} leaves out; the value's length in
 * bytes follows it. Nobody can store a text that looks the same, because each process makes its prefix at random. The
 * prefix is ASCII, because MariaDB combines only ASCII with every character set.
 */
const withheldPrefix = `\u0001${randomBytes(12).toString('hex')}:`
const withheldPrefixCode = withheldPrefix.charCodeAt(0)

/**
 * Limit, in bytes, for a statement that reads all values in full: no value has more. Every engine accepts this integer.
 */
export const unlimited = 2 ** 31 - 1

/** True for text and JSON columns, whose values may be long. The bytes of such values bound the size of a page. */
export function isLong (column: Column): boolean {
  const { storage } = valueKindOf(column)
  return storage === 'text' || storage === 'json'
}

/**
 * Returns SQL that gives the value. If the value has more than `maxBytes` bytes, the SQL gives {@link withheldPrefix}
 * and the length in bytes, and the engine does not send the value. SQLite and PostgreSQL do not even read a long text
 * that they keep apart from its row.
 */
export function withholdLong (value: RawBuilder<unknown>, maxBytes: Parameter): RawBuilder<unknown> {
  const length = sql`octet_length(${value})`
  return sql`case when ${length} > ${maxBytes} then concat(${sql.lit(withheldPrefix)}, ${length}) else ${value} end`
}

/** Columns of a list with long values, and the limits of a list. */
export interface LongValues {
  /** Zero-based positions, in a row, of the text and JSON columns. */
  readonly long: readonly number[]
  readonly limits: {
    /**
     * Bytes that the long values of one page may have together. With more, the page gets fewer rows, but at least one.
     */
    readonly pageBytes: number
    /** Maximum count of a list's records. If there are more, the count ends there and is `capped`. */
    readonly count: number
    /** Milliseconds after which a list on SQLite is ended, and the client gets 503. */
    readonly statementTime: number
  }
}

/**
 * Returns the maximum size, in bytes, of a value that the first statement of a list reads in full. If no value is
 * longer, all `rowCount` rows fit on a page.
 */
export function maxValueBytesOf ({ long, limits: { pageBytes } }: LongValues, rowCount: number): number {
  return Math.min(unlimited, Math.floor(pageBytes / (rowCount * Math.max(1, long.length))))
}

/** True if one of the rows holds only the length of a long value, as {@link withholdLong} selects it. */
export function isAnyWithheld (rows: ArrayRows, long: readonly number[]): boolean {
  for (const row of rows) {
    for (const index of long) {
      const { [index]: value } = row
      // Only the few texts with the same first character are compared with the whole prefix.
      if (typeof value !== 'string' || value.charCodeAt(0) !== withheldPrefixCode) continue
      if (value.startsWith(withheldPrefix)) return true
    }
  }
  return false
}

/** Counts the rows, from the first one on, that fit on a page together. The first one always fits. */
export function countFitting (rows: ArrayRows, { long, limits: { pageBytes } }: LongValues): number {
  let bytes = 0
  const beyond = rows.findIndex((row) => {
    for (const index of long) bytes += lengthOf(row[index])
    return bytes > pageBytes
  })
  return beyond === -1 ? rows.length : Math.max(1, beyond)
}

function lengthOf (value: Stored | undefined): number {
  const text = String(value ?? '')
  return text.startsWith(withheldPrefix) ? Number(text.slice(withheldPrefix.length)) : Buffer.byteLength(text)
}
