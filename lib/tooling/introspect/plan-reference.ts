import type { Handle } from '../../database/engine.js'
import { isYes, type ColumnRow } from '../../engines/catalog.js'
import type { FieldOptions } from '../../values/field-options.js'
import { holdsOnly } from './held-values.js'
import type { Note } from './model-plan.js'
import type { KeyedTable } from './plan-keys.js'
import type { FoundTable } from './read-database.js'

/** The context for planning a foreign key. */
export interface ReferenceSetting {
  readonly handle: Handle
  /** Finds the table that a foreign key names, if that table has a model. */
  readonly targetOf: (name: string) => KeyedTable | undefined
  readonly notes: Note[]
}

export interface PlannedReference {
  readonly target: string
  readonly options: FieldOptions
  readonly values: 'uuid' | 'text' | 'integer'
}

/** End of a note about a column that is no foreign key in the model. */
const plainValue = 'the field is a plain value, not a foreign key'

/**
 * Plans the foreign key of a column. Returns undefined if the column has none. Also returns undefined, and adds a note
 * with the reason, if the foreign key cannot refer to the primary key of a model.
 */
export async function planReference (
  column: ColumnRow, { name, references }: FoundTable, { handle, targetOf, notes }: ReferenceSetting
): Promise<PlannedReference | undefined> {
  const { dialect } = handle
  const found = references.get(column.name)
  if (found === undefined) return undefined
  const note = (why: string): undefined => { notes.push({ table: name, column: column.name, why }) }
  const target = targetOf(found.target)
  if (target === undefined) return note(`refers to '${found.target}', which has no model here; ${plainValue}`)
  const { key, column: { name: keyColumn } } = target
  const isToKey = found.targetColumn === null || dialect.foldName(found.targetColumn) === dialect.foldName(keyColumn)
  const kind = key.kind === 'uuid' || key.kind === 'text' ? key.kind : 'key'
  if (!isToKey || !dialect.storage[kind].holds(column.type)) {
    return note(`refers to '${found.target}', but not to its primary key; ${plainValue}`)
  }
  if (!await holdsOnly(handle, column, kind === 'key' ? 'bigint' : kind)) {
    return note(`refers to '${found.target}', but holds values that cannot be its keys; ${plainValue}`)
  }
  return {
    target: target.table.name,
    options: onDeleteOption(found.onDelete.toLowerCase(), isYes(column.nullable), note),
    values: kind === 'key' ? 'integer' : kind
  }
}

function onDeleteOption (action: string, isNullable: boolean, note: (why: string) => void): FieldOptions {
  if (action === 'cascade' || (action === 'set null' && isNullable)) return { onDelete: action }
  if (action.startsWith('set')) {
    note(`has 'on delete ${action}', which foreignKey() has no option for; the database still does it`)
  }
  return {}
}
