import type { ReferenceRow } from '../engines/catalog.js'
import type { Dialect } from '../engines/dialect.js'
import type { Model } from '../model/define-model.js'
import { nameField } from './compare-tables.js'
import { referencesOf } from './foreign-keys.js'
import type { Reference } from './plan-tables.js'
import type { DatabaseTables } from './read-tables.js'
import { onDeleteOf } from './table.js'

/** Facts about the database that tell which foreign keys it has. */
interface Existing {
  readonly tables: DatabaseTables
  readonly dialect: Dialect
  readonly references: readonly ReferenceRow[]
  /** Tables that can have no foreign keys, and to which none can refer, with the reason. */
  readonly detached: ReadonlyArray<{ readonly table: string, readonly why: string }>
}

/**
 * Returns a sentence with the remedy for each foreign key of a model that the database does not have, or has with
 * another action of `on delete`. Skips views, and tables and columns that do not exist.
 */
export function missingReferences (models: readonly Model[], existing: Existing): readonly string[] {
  const { tables } = existing
  const isTable = (model: Model): boolean => tables.has(model) && !tables.isView(model)
  return models.filter(isTable).flatMap((model) => referencesOf(model)
    .filter(({ column }) => tables.columnOf(model, column) !== undefined && isTable(column.target()))
    .flatMap((reference) => differencesOf(reference, existing)))
}

function differencesOf ({ model, column }: Reference, existing: Existing): readonly string[] {
  const { tables, dialect, references, detached } = existing
  const target = column.target()
  const found = references.filter((row) => tables.isSameTable(row, model) &&
    dialect.foldName(row.column) === dialect.foldName(column.name) &&
    // The name is empty for a table that is found only by its schema. It may be the right one.
    [tables.nameOf(target), ''].includes(tables.nameOf({ table: row.target })))
  const where = `column '${column.name}' of table '${model.table}'`
  const actions = found.map(({ onDelete }) => onDelete.toLowerCase().replace('restrict', 'no action'))
  const [action] = actions
  if (action === undefined) {
    const kept = detached.find((row) => [model, target].some((of) => tables.isSameTable(of, row)))
    const remedy = kept === undefined
      ? 'add it by a statement of your own, so that no record refers to one that does not exist'
      : `table '${kept.table}' ${kept.why}`
    return [`${nameField(model, column)} refers to model '${target.name}', but ${where} has no foreign key: ${remedy}`]
  }
  const wanted = onDeleteOf(column)
  if (actions.includes(wanted) || !comparable.includes(action)) return []
  return [`${nameField(model, column)} needs 'on delete ${wanted}', but the foreign key of ${where} has ` +
    `'on delete ${action}': change the model, or the foreign key by a statement of your own`]
}

/**
 * Actions of foreign keys for which the field option `onDelete` has a value; `no action` also stands for `restrict`. A
 * foreign key with any other action is not compared with its model.
 */
const comparable: readonly string[] = ['no action', 'cascade', 'set null']
