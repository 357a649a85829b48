import type { Statement } from 'better-sqlite3'
import type { Row } from '../executor.js'
import type { Stored } from '../storage.js'

type ToRow = (values: readonly Stored[]) => Row

/** A prepared statement. If it returns rows, these are arrays of values. */
export class ArrayStatement {
  readonly statement: Statement<unknown[], readonly Stored[]>

  constructor (statement: Statement) {
    this.statement = (statement.reader ? statement.raw(true) : statement) as Statement<unknown[], readonly Stored[]>
  }

  /** Returns the values of a row under the names of their columns. The driver takes longer to make such an object. */
  toRow: ToRow = (values) => {
    // Not before, because most statements are lists, whose rows stay arrays.
    this.toRow = compileToRow(this.statement.columns().map(({ name }) => name))
    return this.toRow(values)
  }
}

/** Returns a function that makes an object of an array. Its code is one object literal, which is faster than a loop. */
function compileToRow (names: readonly string[]): ToRow {
  const properties = names.map((name, index) => `[${JSON.stringify(name)}]: values[${index}]`)
  // eslint-disable-next-line no-new-func -- the names, which are quoted, are all that comes from elsewhere
  return new Function('values', `return { ${properties.join()} }`) as ToRow
}
