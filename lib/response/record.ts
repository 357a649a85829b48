import { decode, storageOf, type Column } from '../model/column.js'
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
    const value = valueOf(column, row, dialect)
    if (value !== undefined) record[column.key] = value
  }
  return record
}

/** The value of a column; undefined if the row does not hold it. */
export function valueOf (column: Column, row: Row, dialect: Dialect): Json | undefined {
  const stored = row[column.key]
  return stored === undefined ? undefined : decode(column, stored, dialect)
}

/** What makes records of rows without keys, whose values are in the order of the columns. */
export function recordMaker (columns: readonly Column[], dialect: Dialect): (values: readonly Stored[]) => ModelRecord {
  const fields = columns.map((column) => ({ key: column.key, options: column.options, storage: storageOf(column, dialect) }))
  return (values) => {
    const record: Record<string, Json> = {}
    let index = 0
    for (const { key, options, storage } of fields) {
      const stored = values[index++] as Stored
      record[key] = stored === null ? null : storage.decode(stored, options)
    }
    return record
  }
}
