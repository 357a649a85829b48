import type { Dialect } from '../engines/dialect.js'
import type { Row } from '../engines/executor.js'
import type { Stored } from '../engines/storage.js'
import { decode, decoderOf, isForeignKey, type Column } from '../model/column.js'
import { idOf, joinId } from '../model/key.js'
import type { Json } from '../values/values.js'

/** A record as it is serialized: one key for each visible column. */
export type ModelRecord = Readonly<Record<string, Json>>

/** Returns the value of a column in a row, as records show it; undefined if the row was read without that column. */
export function valueOf (column: Column, row: Row, dialect: Dialect): Json | undefined {
  if (column.parts !== undefined) return idOf({ primaryKey: column }, row, dialect)
  const stored = row[column.key]
  return stored === undefined ? undefined : decode(column, stored, dialect)
}

/** Returns a function that makes a record of a row that has each value under the key of its column. */
export function compileToRecord (columns: readonly Column[], dialect: Dialect): (row: Row) => ModelRecord {
  return compileRecord<Row>(columns, dialect, ({ key }) => JSON.stringify(key))
}

/** Returns a function that makes a record of a row without keys: an array of values in the order of the columns. */
export function compileToListed (
  columns: readonly Column[], dialect: Dialect
): (values: readonly Stored[]) => ModelRecord {
  return compileRecord<readonly Stored[]>(columns, dialect, (_column, index) => String(index))
}

/** A new record, to which related records are added. */
export type OpenRecord = Record<string, Json>

/**
 * Returns a function that makes a record of the values of a row from a position on, in the order of the columns. The
 * record has a place for each related record, which is undefined: adding a key to an object takes longer. Besides, a
 * foreign key may be called `constructor`, and what every object inherits under that name is no related record.
 */
export function compileToOpen (
  columns: readonly Column[], dialect: Dialect
): (values: readonly Stored[], start: number) => OpenRecord {
  const places = columns.filter(isForeignKey).map(({ field }) => `${JSON.stringify(field)}: undefined`)
  return compileRecord<readonly Stored[], OpenRecord>(columns, dialect, (_column, index) => `start + ${index}`, places)
}

/**
 * Returns a function that makes a record of a row. Its code is one generated object literal, which takes a fifth of the
 * time of a loop that adds keys.
 *
 * @param nameOf  returns the name under which a row holds a column, as JavaScript; it may use the variable `start`
 * @param others  more properties of the record, as JavaScript
 */
function compileRecord<Given, Made = ModelRecord> (
  columns: readonly Column[], dialect: Dialect, nameOf: (column: Column, index: number) => string,
  others: readonly string[] = []
): (row: Given, start?: number) => Made {
  const stored = columns.filter(({ parts }) => parts === undefined)
  const decoders = stored.map((column) => decoderOf(column, dialect))
  const valueOf = (column: Column): string => {
    const index = stored.indexOf(column)
    const value = `row[${nameOf(column, index)}]`
    return decoders[index] === undefined ? value : `decode${index}(${value})`
  }
  const properties = columns.map((column) => {
    const value = column.parts === undefined ? valueOf(column) : `joinId([${column.parts.map(valueOf).join()}])`
    return `${JSON.stringify(column.key)}: ${value}`
  })
  const names = decoders.map((_, index) => `decode${index}`)
  const literal = `{ ${[...properties, ...others].join()} }`
  // eslint-disable-next-line no-new-func -- the keys, which are quoted, are all that comes from elsewhere
  const compile = new Function('joinId', `[${names.join()}]`, `return (row, start) => (${literal})`)
  return compile(joinId, decoders)
}
