import type { Dialect } from '../engines/dialect.js'
import type { Stored } from '../engines/storage.js'
import { errors, withDetails } from '../errors.js'
import { decode, encode, storageOf, valueKindOf, type Column } from '../model/column.js'
import type { ListPlan, PlannedOrder } from './list-plan.js'

/** Where a page begins: behind how many records, and what the last of them has in the columns of the ordering. */
interface Position {
  readonly start: number
  readonly after: readonly Stored[]
}

const parameter = 'after'
const firstPage: Position = Object.freeze({ start: 0, after: [] })
/** More records than any table has, and exact when another page is added. */
const maxStart = 2 ** 52

/**
 * The cursor of the page behind a list: base64url of the JSON of how many records come before that page, the ordering, and
 * for each of its columns a value as the text of a filter, or null.
 *
 * @param last  what the last record of the list has in the columns of the ordering, as the engine gave it
 * @returns undefined if a filter by these texts would not find exactly these values
 */
export function writeCursor ({ ordering, start, limit }: ListPlan, last: readonly Stored[], dialect: Dialect): string | undefined {
  const next = start + limit
  if (!isStart(next)) return undefined
  const texts: Array<string | null> = []
  for (const [index, { column }] of ordering.entries()) {
    const text = writeValue(column, last[index] as Stored, dialect)
    if (text === undefined) return undefined
    texts.push(text)
  }
  return Buffer.from(JSON.stringify([next, nameOf(ordering), ...texts])).toString('base64url')
}

/**
 * Where a cursor leads, which may be anything that a client makes up.
 *
 * @param text  empty for the first page
 * @throws REST_MODELS_INVALID_PAGE (400) if it is not a cursor of this ordering
 */
export function readCursor (text: string, ordering: readonly PlannedOrder[], dialect: Dialect): Position {
  if (text === '') return firstPage
  const [start, name, ...texts] = decodeList(text)
  if (!isStart(start) || name !== nameOf(ordering) || texts.length !== ordering.length) throw notACursor()
  return { start, after: ordering.map(({ column }, index) => readValue(column, texts[index], dialect)) }
}

/** Whether cursors of an ordering hold nothing but what the records show: nobody must learn more from one. */
export function isShown (ordering: readonly PlannedOrder[], shown: readonly Column[]): boolean {
  return ordering.every(({ column }) => shown.includes(column))
}

/** @throws REST_MODELS_INVALID_PAGE (400) if cursors of this ordering would show more than the records do, so that there are none */
export function requireShown (ordering: readonly PlannedOrder[], shown: readonly Column[]): void {
  if (!isShown(ordering, shown)) throw invalidCursor('must not be given with an ordering by a column that records do not show')
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

/** Tables that were made elsewhere hold values that ours do not, and that no text of a cursor may lead to. */
function writeValue (column: Column, stored: Stored, dialect: Dialect): string | null | undefined {
  if (stored === null) return column.nullable ? null : undefined
  const { exact } = storageOf(column, dialect)
  if (exact !== undefined) {
    const text = exact.write(stored)
    return exact.read(text) === undefined ? undefined : text
  }
  const text = String(decode(column, stored, dialect))
  // What stands for bytes that are no text, which SQLite keeps and finds in another place of the ordering.
  if (text.includes('\ufffd')) return undefined
  const value = valueKindOf(column).parse(text, column.options)
  if (value === undefined) return undefined
  const encoded = encode(column, value, dialect)
  // Drivers give some numbers as text.
  return encoded === stored || (typeof stored === 'string' && String(encoded) === stored) ? text : undefined
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
  return withDetails(new errors.InvalidPage(parameter), [{ field: parameter, message }])
}
