import { isYes } from '../engines/catalog.js'
import { errors } from '../errors.js'
import { isFilledByDatabase, isGenerated, type Column } from '../model/column.js'
import { keyColumnsOf } from '../model/key.js'
import { nameField } from './compare-tables.js'
import type { PermittedWrites } from './enforceable.js'
import type { DatabaseTables } from './read-tables.js'

/**
 * Checks that no write of clients sets a column that the database computes. The database would refuse every such write.
 *
 * @throws REST_MODELS_TABLE_MISMATCH naming the fields and the remedy
 */
export function requireUncomputed (tables: DatabaseTables, writes: readonly PermittedWrites[]): void {
  const lines = writes.flatMap((permitted) => {
    const { model } = permitted
    return writtenBy(permitted).filter((column) => isYes(tables.columnOf(model, column)?.computed))
      .map((column) => `- ${nameField(model, column)}: column '${column.name}' of table '${model.table}'`)
  })
  if (lines.length === 0) return
  throw new errors.TableMismatch('The database computes what the API would write:\n' +
    `${[...new Set(lines)].join('\n')}\nGive these fields 'readOnly: true' in the model; a key of numbers is key()`)
}

/**
 * Returns the columns that permitted writes set. If creates are permitted, these are all columns that the API ever
 * writes. If only updates are, these are the same without the columns of the key and those in `kept`. Otherwise there
 * are none.
 */
function writtenBy ({ model, operations, kept }: PermittedWrites): readonly Column[] {
  const columns = model.columns.filter((column) => !isFilledByDatabase(column) && !isGenerated(column))
  if (operations.includes('create')) return columns
  const fixed = [...keyColumnsOf(model), ...kept]
  return operations.includes('update') ? columns.filter((column) => !fixed.includes(column)) : []
}
