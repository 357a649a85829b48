import type { Dialect } from '../engines/dialect.js'
import type { Row } from '../engines/executor.js'
import type { Stored } from '../engines/storage.js'
import { decode, decoderOf, type Column } from '../model/column.js'
import type { Json } from '../values/values.js'

/** A record as it is serialized: one key for each visible column. */
export type ModelRecord = Readonly<Record<string, Json>>

/** Returns the record of a row; columns that the row does not hold are left out. */
export function toRecord (columns: readonly Column[], row: Row, dialect: Dialect): ModelRecord {
  const record: Record<string, Json> = {}
  for (const column of columns) {
    const value = valueOf(column, row, dialect)
    if (value !== undefined) record[column.key] = value
  }
  return record
}

/** Returns the value of a column; undefined if the row does not hold it. */
export function valueOf (column: Column, row: Row, dialect: Dialect): Json | undefined {
  const stored = row[column.key]
  return stored === undefined ? undefined : decode(column, stored, dialect)
}

type RecordMaker = (values: readonly Stored[]) => ModelRecord

/**
 * Compiles a function that turns rows without keys into records. The values of a row are in the order of the columns.
 * The function is generated code, because an object literal takes a fifth of the time of a loop that adds keys.
 */
export function recordMaker (columns: readonly Column[], dialect: Dialect): RecordMaker {
  const decoders = columns.map((column) => decoderOf(column, dialect))
  const properties = columns.map(({ key }, index) => {
    const value = `values[${index}]`
    return `${JSON.stringify(key)}: ${decoders[index] === undefined ? value : `decode${index}(${value})`}`
  })
  const names = decoders.map((_, index) => `decode${index}`)
  // eslint-disable-next-line no-new-func -- the keys, which are quoted, are all that comes from elsewhere
  const compile = new Function(`[${names.join()}]`, `return (values) => ({ ${properties.join()} })`)
  return (compile as (given: typeof decoders) => RecordMaker)(decoders)
}
