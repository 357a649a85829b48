import type { Dialect } from '../engines/dialect.js'
import type { Row } from '../engines/executor.js'
import type { Stored } from '../engines/storage.js'
import { decode, decoderOf, storageOf, type Column } from '../model/column.js'
import { idOf, joinId } from '../model/key.js'
import type { Json } from '../values/values.js'

/** A record as it is serialized: one key for each visible column, and one for each related record in it. */
export type ModelRecord = Readonly<Record<string, Json>>

/** Returns the value of a column in a row, as records show it; undefined if the row was read without that column. */
export function valueOf (column: Column, row: Row, dialect: Dialect): Json | undefined {
  if (column.parts !== undefined) return idOf({ primaryKey: column }, row, dialect)
  const stored = row[column.key]
  return stored === undefined ? undefined : decode(column, stored, dialect)
}

/** Returns a function that makes a record from a row that has each value under the key of its column. */
export function compileToRecord (columns: readonly Column[], dialect: Dialect): (row: Row) => ModelRecord {
  const code = new RecordCode(dialect)
  return code.compile(code.literal(columns, ({ key }) => JSON.stringify(key)))
}

/**
 * Returns a function that makes a record from a row without keys: an array of values in the order of the columns. The
 * row has no value for an `id` that stands for several columns: the function joins this `id` from their values.
 */
export function compileToListed (
  columns: readonly Column[], dialect: Dialect
): (values: readonly Stored[]) => ModelRecord {
  const code = new RecordCode(dialect)
  return code.compile(code.literal(columns, (_column, index) => String(index)))
}

/**
 * The code of a function that makes records from rows. It is generated as one object literal, which takes a fifth of
 * the time of a loop that adds keys.
 */
export class RecordCode {
  readonly #dialect: Dialect
  readonly #decoders: Array<ReturnType<typeof decoderOf>> = []

  constructor (dialect: Dialect) {
    this.#dialect = dialect
  }

  /**
   * Returns JavaScript for the record of a row: an object literal that reads the row in the variable `row`.
   *
   * @param nameOf  returns the name under which a row holds a column, as JavaScript
   * @param others  more properties of the record, as JavaScript
   */
  literal (
    columns: readonly Column[], nameOf: (column: Column, index: number) => string, others: readonly string[] = []
  ): string {
    const stored = columns.filter(({ parts }) => parts === undefined)
    const valueOf = (column: Column): string => this.#value(column, nameOf(column, stored.indexOf(column)))
    const properties = columns.map((column) => {
      const value = column.parts === undefined ? valueOf(column) : `joinId([${column.parts.map(valueOf).join()}])`
      return `${JSON.stringify(column.key)}: ${value}`
    })
    return `{ ${[...properties, ...others].join()} }`
  }

  /** Compiles the function that makes a record from a row by evaluating `literal`, which {@link literal} returned. */
  compile<Given> (literal: string): (row: Given) => ModelRecord {
    const names = this.#decoders.map((_, index) => `decode${index}`)
    // eslint-disable-next-line no-new-func -- the keys, which are quoted, are all that comes from elsewhere
    const compile = new Function('joinId', `[${names.join()}]`, `return (row) => (${literal})`)
    return compile(joinId, this.#decoders)
  }

  #value (column: Column, name: string): string {
    const { inlined } = storageOf(column, this.#dialect)
    if (inlined !== undefined) return inlined(`row[${name}]`)
    const decoder = decoderOf(column, this.#dialect)
    return decoder === undefined ? `row[${name}]` : `decode${this.#decoders.push(decoder) - 1}(row[${name}])`
  }
}
