import type { Handle } from '../../database/engine.js'
import { isYes, type ColumnRow } from '../../engines/catalog.js'
import { describedAs, readType } from '../../engines/described-types.js'
import type { Dialect } from '../../engines/dialect.js'
import { messageOf } from '../../errors.js'
import { isSqlName } from '../../model/check-options.js'
import { defineModel } from '../../model/define-model.js'
import { keyName } from '../../model/model.js'
import { maxKeyLength } from '../../values/field-options.js'
import { holdsNegative, holdsNull, holdsOnly } from './held-values.js'
import type { FieldPlan, Note } from './model-plan.js'
import { holdsUuids, whyUnreadable, type FoundReference, type FoundTable } from './read-database.js'
import { byView, computedKey, negativeKey, oddName, renameTable, targetName, whyNoTable } from './remedies.js'

/** A table that can have a model, and its primary key, which has one column. */
export interface KeyedTable {
  readonly table: FoundTable
  readonly key: FieldPlan
  readonly column: ColumnRow
  /** Notes about what the model cannot declare of the key, such as a default. */
  readonly notes: readonly Note[]
}

/** A table whose primary key has several columns. They become fields in the same way as the other columns. */
export interface PlannedTable {
  readonly table: FoundTable
}

interface PlannedKeys {
  readonly keyed: readonly KeyedTable[]
  readonly composite: readonly PlannedTable[]
  readonly leftOut: readonly Note[]
}

/** Plans the primary keys of tables. `leftOut` has a note with the reason for each table that can have no model. */
export async function planKeys (handle: Handle, tables: readonly FoundTable[]): Promise<PlannedKeys> {
  const keyed: KeyedTable[] = []
  const composite: PlannedTable[] = []
  const leftOut: Note[] = []
  for (const table of tables) {
    const found = await planKey(handle, table)
    if (typeof found === 'string') leftOut.push({ table: table.name, why: found })
    else if ('key' in found) keyed.push(found)
    else composite.push(found)
  }
  return { keyed, composite, leftOut }
}

/** Plans the primary key of a table, or returns the reason why the table can have no model. */
async function planKey (handle: Handle, table: FoundTable): Promise<KeyedTable | PlannedTable | string> {
  const column = keyColumnOf(table)
  if (typeof column === 'string') return column
  const fault = await whyUnreadable(handle, table)
  if (fault !== undefined) return `cannot be read: ${fault}`
  if (column === undefined) return await planComposite(handle, table)
  const kind = await keyKind(handle, column)
  if (kind === undefined) {
    return `has a primary key '${column.name}' that is ${column.written}, not an integer, a UUID or a text; ${byView}`
  }
  const foundKey: FoundKey = { column, kind, reference: table.references.get(column.name) }
  const key = keyOf(foundKey, handle.dialect)
  return await whyUnfit(handle, column, kind) ?? whyUndefinable(key) ??
    { table, column, key, notes: [...notesOf(foundKey), ...await negativeNotes(handle, foundKey)] }
}

/**
 * Returns a table whose key has several columns, with these columns marked as never null. If one of them may hold null,
 * returns the reason why the table can have no model.
 */
async function planComposite (handle: Handle, table: FoundTable): Promise<PlannedTable | string> {
  const columns: ColumnRow[] = []
  for (const column of table.columns) {
    const isKey = table.key.includes(column.name)
    if (isKey && isYes(column.nullable) && await holdsNull(handle, column)) {
      return `has a primary key with '${column.name}', which may be null; declare it not null`
    }
    columns.push(isKey ? { ...column, nullable: 0 } : column)
  }
  return { table: { ...table, columns } }
}

/** Reason why a table without a key can have no model, and the remedy. */
const keyless = 'has no primary key and no unique index without nulls; add one'

const prefixKeyed = 'has a primary key of the first characters of a column, which is no key of a model; ' +
  'add a unique index of whole columns that are never null'

/**
 * Returns the one column of a primary key, undefined if there are several, or the reason why the table can have no
 * model.
 */
function keyColumnOf ({ kind, name, key, hasPrefixKey, columns }: FoundTable): ColumnRow | string | undefined {
  if (kind !== 'table') return whyNoTable(kind)
  if (!isSqlName(name)) return `has a name ${oddName}; ${renameTable}`
  if (key.length > 1) return undefined
  const column = columns.find(({ name }) => key.includes(name))
  if (column === undefined) return hasPrefixKey ? prefixKeyed : keyless
  if (isSqlName(column.name)) return column
  return `has a primary key '${column.name}' with a name ${oddName}; ${renameTable}`
}

type KeyKind = 'key' | 'uuid' | 'text'

/**
 * Returns the reason why a column cannot be a primary key: it may be null, or some of its values do not fit the kind.
 * Undefined if it can.
 */
async function whyUnfit (handle: Handle, column: ColumnRow, kind: KeyKind): Promise<string | undefined> {
  const { name, nullable, generated } = column
  if (isYes(nullable) && !(kind === 'key' && isYes(generated)) && await holdsNull(handle, column)) {
    return `has a primary key '${name}' that may be null; declare it not null`
  }
  if (await holdsOnly(handle, column, kind)) return undefined
  const values = kind === 'key' ? 'integers up to 2^53 - 1, beyond which JSON numbers lose digits' : 'texts'
  return `has a primary key '${name}' with values that are not all ${values}; ${byView}`
}

/** A column that is the primary key of a table. */
interface FoundKey {
  readonly column: ColumnRow
  readonly kind: KeyKind
  /** The foreign key of the column; undefined if it has none. */
  readonly reference: FoundReference | undefined
}

function keyOf (found: FoundKey, { catalog }: Dialect): FieldPlan {
  const { kind, column, column: { name }, reference } = found
  const maxLength = describedAs(catalog, column)?.options.maxLength ?? Infinity
  const options = {
    ...(kind === 'text' && maxLength <= maxKeyLength && { maxLength }),
    ...(name !== keyName && { column: name }),
    ...(kind === 'key' && !isMade(found) && { generated: false }),
    ...(kind === 'uuid' && reference !== undefined && { clientGenerated: true })
  }
  return { name: keyName, kind, options }
}

/**
 * True if the database makes the integers of a key. A new integer would be that of an arbitrary record of another table
 * if the key is also a foreign key, so clients must send such a key.
 */
function isMade ({ kind, column: { generated }, reference }: FoundKey): boolean {
  return kind === 'key' && isYes(generated) && reference === undefined
}

/**
 * Returns notes about what a primary key cannot declare: that the database computes it, that it is also a foreign key,
 * or the column's default.
 */
function notesOf (found: FoundKey): readonly Note[] {
  const { column: { table, name, computed }, reference } = found
  if (isYes(computed) && !isMade(found)) return [{ table, column: name, why: computedKey }]
  const why = reference === undefined
    ? whyUndeclared(found)
    : `also refers to ${targetName(reference)}, which the key cannot declare: no 'include' and no filter follows it, ` +
      "and a create must send 'id'"
  return why === undefined ? [] : [{ table, column: name, why }]
}

/** Returns a note about an integer key that holds negative integers; none for any other key. */
async function negativeNotes (handle: Handle, { kind, column }: FoundKey): Promise<readonly Note[]> {
  if (kind !== 'key' || !await holdsNegative(handle, column)) return []
  return [{ table: column.table, column: column.name, why: negativeKey }]
}

/**
 * Returns the note about the column's default: a create must contain the key. Returns undefined if there is no default,
 * or if the API or the database makes the key.
 */
function whyUndeclared (found: FoundKey): string | undefined {
  const { kind, column: { declared } } = found
  if (kind === 'uuid' || declared === null || isMade(found)) return undefined
  const condition = kind === 'text' ? ' if you declare no function as its default' : ''
  return `has the default ${declared}, which the key cannot declare: on create 'id' is required${condition}`
}

/** Returns the reason why a primary key cannot be declared, in the words of defineModel(); undefined if it can. */
function whyUndefinable ({ name, kind, options }: FieldPlan): string | undefined {
  try {
    defineModel('Model', { [name]: { kind, options } })
    return undefined
  } catch (error) {
    return `cannot have a model: ${messageOf(error)}`
  }
}

async function keyKind (handle: Handle, column: ColumnRow): Promise<KeyKind | undefined> {
  const { dialect } = handle
  const { table, name, type } = column
  const kind = describedAs(dialect.catalog, column)?.kind
  if (kind === 'uuid') return 'uuid'
  const isInteger = kind === 'integer' || kind === 'bigint'
  if (isInteger && dialect.storage.key.holds(type)) return 'key'
  // Engines without a UUID type keep UUIDs as texts.
  const mayBeUuid = kind === 'text' && dialect.storage.uuid.holds(readType(type, type).name)
  if (mayBeUuid && await holdsUuids(handle, table, name)) return 'uuid'
  return kind === 'text' && dialect.storage.text.holds(type) ? 'text' : undefined
}
