import { isYes } from '../engines/catalog.js'
import { errors } from '../errors.js'
import { isWrittenByApi, type Column } from '../model/column.js'
import { keyColumnsOf } from '../model/key.js'
import type { Model } from '../model/model.js'
import { nameField } from './compare-tables.js'
import type { PermittedWrites } from './enforceable.js'
import type { DatabaseTables } from './read-tables.js'

/** A column that the database computes and that clients would set by the writes that they may make. */
interface ComputedColumn {
  readonly model: Model
  readonly column: Column
}

/** Finds the columns that the database computes and that permitted writes set. It would refuse every such write. */
export function findComputed (
  tables: DatabaseTables, writes: readonly PermittedWrites[]
): readonly ComputedColumn[] {
  return writes.flatMap((permitted) => {
    const { model } = permitted
    return writtenBy(permitted).filter((column) => isYes(tables.columnOf(model, column)?.computed))
      .map((column) => ({ model, column }))
  })
}

/**
 * Checks that no write of clients sets a column that the database computes, as {@link findComputed} tells.
 *
 * @throws REST_MODELS_TABLE_MISMATCH naming the fields and the remedy
 */
export function requireUncomputed (tables: DatabaseTables, writes: readonly PermittedWrites[]): void {
  const found = findComputed(tables, writes)
  if (found.length === 0) return
  const lines = found.map(({ model, column }) =>
    `- ${nameField(model, column)}: column '${column.name}' of table '${model.table}'`)
  const hasKey = found.some(({ model, column }) => column === model.primaryKey)
  throw new errors.TableMismatch('The database computes what the API would write:\n' +
    `${[...new Set(lines)].join('\n')}\nGive these fields 'readOnly: true' in the model${hasKey ? keyRemedy : ''}`)
}

/** Remedy for a key, to which defineModel() gives no option `readOnly`. */
const keyRemedy = ". No key can have it: use a policy with closed: ['create'], or key() for a key of numbers that " +
  'the database generates'

/**
 * Returns the columns that permitted writes set. If creates are permitted, these are all columns that the API ever
 * writes. If only updates are, these are the same without the columns of the key and those in `kept`. Otherwise there
 * are none.
 */
function writtenBy ({ model, operations, kept }: PermittedWrites): readonly Column[] {
  const columns = model.columns.filter(isWrittenByApi)
  if (operations.includes('create')) return columns
  const fixed = [...keyColumnsOf(model), ...kept]
  return operations.includes('update') ? columns.filter((column) => !fixed.includes(column)) : []
}
