import type { Handle } from '../../database/engine.js'
import { isYes, type ColumnRow } from '../../engines/catalog.js'
import type { FieldOptions } from '../../values/field-options.js'
import { holdsOnly } from './held-values.js'
import type { Note } from './model-plan.js'
import type { KeyedTable } from './plan-keys.js'
import type { FoundReference, FoundTable } from './read-database.js'

/**
 * Database and tables that are needed to plan the field of a foreign key. `introspect` shows what is added to `notes`
 * to its user.
 */
export interface ReferenceSetting {
  readonly handle: Handle
  /** Returns the table of a name, if it has a model with a primary key of one column; otherwise undefined. */
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
 * Plans the foreign key of a column. Returns undefined if the column has none, or shares it with other columns. Also
 * returns undefined, and adds a note with the reason, if the foreign key cannot refer to the primary key of a model.
 */
export async function planReference (
  column: ColumnRow, { name, references }: FoundTable, { handle, targetOf, notes }: ReferenceSetting
): Promise<PlannedReference | undefined> {
  const found = references.get(column.name)
  if (found === undefined) return undefined
  const note = (why: string): undefined => { notes.push({ table: name, column: column.name, why }) }
  const target = targetOf(found.target)
  const why = target === undefined ? 'which has no model here' : await whyUnfit({ column, found, target }, handle)
  if (target === undefined || why !== undefined) {
    // The catalog does not name a table that is not found by its bare name.
    const named = found.target === '' ? 'a table of another schema' : `'${found.target}'`
    return note(`refers to ${named}, ${why}; ${plainValue}`)
  }
  const kind = kindOf(target)
  return {
    target: target.table.name,
    options: onDeleteOption(found.onDelete.toLowerCase(), isYes(column.nullable), note),
    values: kind === 'key' ? 'integer' : kind
  }
}

/** A foreign key of one column, and the table that it names. */
interface Reference {
  readonly column: ColumnRow
  readonly found: FoundReference
  readonly target: KeyedTable
}

function kindOf ({ key: { kind } }: KeyedTable): 'uuid' | 'text' | 'key' {
  return kind === 'uuid' || kind === 'text' ? kind : 'key'
}

/** Returns the reason why a foreign key cannot refer to the primary key of a model; undefined if it can. */
async function whyUnfit ({ column, found, target }: Reference, handle: Handle): Promise<string | undefined> {
  const { dialect: { foldName, storage } } = handle
  const isToKey = found.targetColumn === null || foldName(found.targetColumn) === foldName(target.column.name)
  if (!isToKey) return 'but not to its primary key'
  const kind = kindOf(target)
  if (!storage[kind].holds(column.type)) return `but is ${column.written || 'of no type'}, which cannot hold its keys`
  return await holdsOnly(handle, column, kind === 'key' ? 'bigint' : kind)
    ? undefined
    : 'but holds values that cannot be its keys'
}

function onDeleteOption (action: string, isNullable: boolean, note: (why: string) => void): FieldOptions {
  if (action === 'cascade' || (action === 'set null' && isNullable)) return { onDelete: action }
  if (action.startsWith('set')) {
    note(`has 'on delete ${action}', which foreignKey() has no option for; the database still does it`)
  }
  return {}
}
