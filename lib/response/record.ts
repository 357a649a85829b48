import { decode, type Column } from '../model/column.js'
import type { Row } from '../query/engine.js'
import type { Dialect } from '../vocabulary/dialects.js'
import type { Stored } from '../vocabulary/storage.js'
import type { Json } from '../vocabulary/values.js'

/** A record as it is serialized: one key for each visible column. */
export type ModelRecord = Readonly<Record<string, Json>>

/** The record of a row; columns that the row does not hold are left out. */
export function toRecord (columns: readonly Column[], row: Row, dialect: Dialect): ModelRecord {
  const record: Record<string, Json> = {}
  for (const column of columns) {
    const stored = row[column.key]
    if (stored !== undefined) record[column.key] = decode(column, stored, dialect)
  }
  return record
}

/** The record of a row without keys, whose values are in the order of the columns. */
export function recordOfValues (columns: readonly Column[], values: readonly Stored[], dialect: Dialect): ModelRecord {
  const record: Record<string, Json> = {}
  let index = 0
  for (const column of columns) record[column.key] = decode(column, values[index++] as Stored, dialect)
  return record
}
