import type { Handle } from '../../database/engine.js'
import { isYes, type ColumnRow } from '../../engines/catalog.js'
import type { FieldOptions } from '../../values/field-options.js'
import { holdsOnly } from './held-values.js'
import type { Note } from './model-plan.js'
import type { KeyedTable, PlannedTable } from './plan-keys.js'
import type { FoundReference, FoundTable, SharedReference } from './read-database.js'
import { targetName } from './remedies.js'

/**
 * Database and tables that are needed to plan the field of a foreign key. `introspect` shows what is added to `notes`
 * to its user.
 */
export interface ReferenceSetting {
  readonly handle: Handle
  /** Returns the table of a name, if it has a primary key that a model can have; otherwise undefined. */
  readonly targetOf: (name: string) => KeyedTable | PlannedTable | undefined
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
 * with the reason, if the foreign key has several columns or cannot refer to the primary key of a model. Adds a note
 * about each further foreign key of the column.
 */
export async function planReference (
  column: ColumnRow, table: FoundTable, { handle, targetOf, notes }: ReferenceSetting
): Promise<PlannedReference | undefined> {
  const note = (why: string): undefined => { notes.push({ table: table.name, column: column.name, why }) }
  const found = table.references.get(column.name)
  if (found === undefined) {
    const [shared] = table.sharedReferences.filter(({ columns }) => columns.includes(column.name))
    return shared === undefined ? undefined : note(whyShared(column, shared))
  }
  for (const why of whyFurther(column, table)) note(why)
  const unfit = (why: string): undefined => note(`refers to ${targetName(found)}, ${why}; ${plainValue}`)
  const target = targetOf(found.target)
  if (target === undefined) return unfit('which has no model here')
  if (!('key' in target)) return unfit('whose primary key has several columns')
  const why = await whyUnfit({ column, found, target }, handle)
  if (why !== undefined) return unfit(why)
  const kind = kindOf(target)
  return {
    target: target.table.name,
    options: onDeleteOption(found.onDelete.toLowerCase(), isYes(column.nullable), note),
    values: kind === 'key' ? 'integer' : kind
  }
}

function whyShared (column: ColumnRow, shared: SharedReference): string {
  const others = shared.columns.filter((name) => name !== column.name).map((name) => `'${name}'`)
  return `refers to ${targetName(shared)} together with ${others.join(', ')}; ${plainValue}`
}

function whyFurther (column: ColumnRow, { furtherReferences }: FoundTable): readonly string[] {
  return furtherReferences.filter((further) => further.column === column.name).map((further) =>
    `also refers to ${targetName(further)}, which the field cannot declare; the database still checks it. ` +
    'To follow it instead, name its model in foreignKey()')
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
