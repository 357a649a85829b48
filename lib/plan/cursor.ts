import type { Dialect } from '../engines/dialect.js'
import type { Stored } from '../engines/storage.js'
import { errors, fieldError } from '../errors.js'
import { decode, encode, storageOf, valueKindOf, type Column } from '../model/column.js'
import { itemAt } from '../values/lookup.js'
import type { ListPlan, PlannedOrder } from './list-plan.js'

/**
 * Position at which a page begins: the number of records before the page, and the values that the last of these records
 * has in the columns of the ordering. `after` is empty for the first page.
 */
interface Position {
  readonly start: number
  readonly after: readonly Stored[]
}

const parameter = 'after'
const firstPage: Position = Object.freeze({ start: 0, after: [] })
/**
 * Limit of the number of records before a page: at or above it, no cursor is written or accepted. No table has so many
 * records. A smaller number plus the size of a page is still an exact number in JavaScript.
 */
const maxStart = 2 ** 52

/**
 * Returns the cursor of the page that follows the page of a plan. `limit` of this plan must be the number of records
 * that its page really has. The cursor is a JSON array as base64url: the number of records before the following page,
 * the ordering, and the value of `last` for each column of the ordering, as text or null.
 *
 * @param last  values of the last record of the plan's page in the columns of the ordering, as the engine gave them
 * @returns undefined if {@link readCursor} could not read back exactly these values, or if {@link maxStart} or more
 *   records are before the following page
 */
export function writeCursor (
  { ordering, start, limit }: ListPlan, last: readonly Stored[], dialect: Dialect
): string | undefined {
  const next = start + limit
  if (!isStart(next)) return undefined
  const texts: Array<string | null> = []
  for (const [index, { column }] of ordering.entries()) {
    const text = writeValue(column, itemAt(last, index), dialect)
    if (text === undefined) return undefined
    texts.push(text)
  }
  return Buffer.from(JSON.stringify([next, nameOf(ordering), ...texts])).toString('base64url')
}

/**
 * Returns the position that a cursor leads to. A client may send any text as a cursor: its values are checked against
 * their columns, but its number of records before the page may be wrong.
 *
 * @param text  empty for the first page
 * @throws REST_MODELS_INVALID_PAGE (400) if the text is not a cursor of this ordering
 */
export function readCursor (text: string, ordering: readonly PlannedOrder[], dialect: Dialect): Position {
  if (text === '') return firstPage
  const [start, name, ...texts] = decodeList(text)
  if (!isStart(start) || name !== nameOf(ordering) || texts.length !== ordering.length) throw notACursor()
  return { start, after: ordering.map(({ column }, index) => readValue(column, texts[index], dialect)) }
}

/**
 * True if records show all columns of an ordering. A cursor holds the values of these columns, and no client may learn
 * those of a hidden column from it.
 */
export function permitsCursors (ordering: readonly PlannedOrder[], shown: readonly Column[]): boolean {
  return ordering.every(({ column }) => shown.includes(column))
}

/**
 * Requires an ordering that permits cursors.
 *
 * @throws REST_MODELS_INVALID_PAGE (400) if records do not show all columns of this ordering
 */
export function requireCursors (ordering: readonly PlannedOrder[], shown: readonly Column[]): void {
  if (!permitsCursors(ordering, shown)) {
    throw invalidCursor('must not be given with an ordering by a column that records do not show')
  }
}

function nameOf (ordering: readonly PlannedOrder[]): string {
  return ordering.map(({ column, descending }) => `${descending ? '-' : ''}${column.key}`).join()
}

function isStart (start: unknown): start is number {
  return Number.isSafeInteger(start) && Number(start) > 0 && Number(start) < maxStart
}

function decodeList (text: string): readonly unknown[] {
  try {
    const list: unknown = JSON.parse(Buffer.from(text, 'base64url').toString())
    return Array.isArray(list) ? list : []
  } catch {
    throw notACursor()
  }
}

/**
 * Returns the text of a value in a cursor, or null for null. Undefined if the text would not be read as the same value,
 * as may happen with values that other programs stored.
 */
function writeValue (column: Column, stored: Stored, dialect: Dialect): string | null | undefined {
  if (stored === null) return column.nullable ? null : undefined
  const { exact } = storageOf(column, dialect)
  if (exact !== undefined) {
    const text = exact.write(stored, column.options)
    return exact.read(text) === undefined ? undefined : text
  }
  const text = String(decode(column, stored, dialect))
  // U+FFFD stands for bytes that are not text. SQLite orders by these bytes, so the text has another place.
  if (text.includes('\ufffd')) return undefined
  const value = valueKindOf(column).parse(text, column.options)
  if (value === undefined) return undefined
  return isSame(column, encode(column, value, dialect), stored) ? text : undefined
}

/**
 * True if a value that the engine takes is the stored one. Drivers may return it as another type: a number as text or
 * BigInt, and a bit as a boolean. A decimal may have zeros before it, or fewer at its end than the field has.
 */
function isSame ({ kind }: Column, encoded: Stored, stored: Stored): boolean {
  if (typeof stored === 'boolean' || kind === 'decimal') return Number(encoded) === Number(stored)
  return encoded === stored || (typeof stored !== 'number' && String(encoded) === String(stored))
}

function readValue (column: Column, text: unknown, dialect: Dialect): Stored {
  if (text === null && column.nullable) return null
  const value = typeof text === 'string' ? readText(column, text, dialect) : undefined
  if (value === undefined) throw notACursor()
  return value
}

function readText (column: Column, text: string, dialect: Dialect): Stored | undefined {
  const { exact } = storageOf(column, dialect)
  if (exact !== undefined) return exact.read(text)
  const value = valueKindOf(column).parse(text, column.options)
  return value === undefined ? undefined : encode(column, value, dialect)
}

function notACursor (): Error {
  return invalidCursor('must be empty, or what the link to a next page has, with the same ordering')
}

function invalidCursor (message: string): Error {
  return fieldError(errors.InvalidPage, parameter, message)
}
