import { decode, type Column } from '../model/column.js'
import type { Dialect } from '../vocabulary/dialects.js'
import type { Stored } from '../vocabulary/storage.js'
import type { ModelRecord } from './record.js'
import type { Serialize, SerializerCompiler } from './serializer.js'

/** Values of a row, in the order of the columns. */
type Values = readonly Stored[]

/** What becomes of the rows of a list: records, or the JSON of records, byte for byte the same. */
export interface RowFormat {
  toRecord (values: Values): ModelRecord
  writeRecord (values: Values): string
  readonly writeMeta: Serialize
}

/** An object schema, as far as its properties. */
interface Properties {
  readonly properties: Readonly<Record<string, object>>
}

/** Compiles the format of the rows of a resource: each value is written by the serializer of its own property. */
export function compileRowFormat (
  columns: readonly Column[], dialect: Dialect,
  { record, meta, serializerOf }: { readonly record: Properties, readonly meta: object, readonly serializerOf: SerializerCompiler }
): RowFormat {
  const parts = columns.map((column, index) => ({
    column,
    prefix: `${index === 0 ? '{' : ','}${JSON.stringify(column.key)}:`,
    write: serializerOf(record.properties[column.key] as object)
  }))
  return {
    toRecord: (values) => Object.fromEntries(columns.map((column, index) => [column.key, decode(column, values[index] as Stored, dialect)])),
    writeRecord: (values) => {
      let text = ''
      let index = 0
      for (const { column, prefix, write } of parts) text += prefix + write(decode(column, values[index++] as Stored, dialect))
      return `${text}}`
    },
    writeMeta: serializerOf(meta)
  }
}
