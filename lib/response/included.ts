import type { Dialect } from '../engines/dialect.js'
import type { Stored } from '../engines/storage.js'
import { isForeignKey, type Column, type ForeignKeyColumn } from '../model/column.js'
import { baseAlias, type PlannedInclude } from '../plan/list-plan.js'
import { RecordCode, type ModelRecord } from './record.js'

/**
 * Returns a function that makes a record, with related records in it, from a row. The row has the values of the
 * record's columns, then those of each related record.
 */
export function compileToIncluded (
  visible: readonly Column[], includes: readonly PlannedInclude[], dialect: Dialect
): (row: readonly Stored[]) => ModelRecord {
  const code = new RecordCode(dialect)
  const starts = startsOf(visible, includes)
  const literalOf = (alias: string, columns: readonly Column[], start: number): string => code.literal(
    columns,
    (_column, index) => String(start + index),
    columns.filter(isForeignKey).map((column) => `${JSON.stringify(column.field)}: ${relatedTo(alias, column)}`)
  )
  // A foreign key that is not included gets an explicit 'undefined'. It may be called `constructor`, and without this,
  // its value would be what every object inherits under that name.
  const relatedTo = (alias: string, column: ForeignKeyColumn): string => {
    const index = includes.findIndex((include) => include.from === alias && include.column === column)
    const { [index]: include } = includes
    const { [index]: start } = starts
    if (include === undefined || start === undefined) return 'undefined'
    // The primary key comes first. It is null only if the row has no related record.
    return `row[${start}] === null ? null : ${literalOf(include.alias, include.visible, start)}`
  }
  return code.compile(literalOf(baseAlias, visible, 0))
}

/** Returns the position in a row of the first column of each related record. */
function startsOf (visible: readonly Column[], includes: readonly PlannedInclude[]): readonly number[] {
  let end = visible.filter(({ parts }) => parts === undefined).length
  return includes.map(({ visible: { length } }) => {
    const start = end
    end += length
    return start
  })
}
