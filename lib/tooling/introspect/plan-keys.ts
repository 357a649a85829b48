import type { Handle } from '../../database/engine.js'
import { isYes, readType, type ColumnRow } from '../../engines/catalog.js'
import type { Dialect } from '../../engines/dialect.js'
import { defineModel } from '../../model/define-model.js'
import { keyName } from '../../model/model.js'
import { holdsOnly } from './held-values.js'
import type { FieldPlan, Note } from './model-plan.js'
import { holdsUuids, whyUnreadable, type FoundTable } from './read-database.js'

/** A table that can have a model, and its primary key. */
export interface KeyedTable {
  readonly table: FoundTable
  readonly key: FieldPlan
  readonly column: ColumnRow
}

/** Plans the primary keys of tables. Notes give the reasons why other tables can have no model. */
export async function planKeys (
  handle: Handle, tables: readonly FoundTable[]
): Promise<{ readonly keyed: readonly KeyedTable[], readonly leftOut: readonly Note[] }> {
  const keyed: KeyedTable[] = []
  const leftOut: Note[] = []
  for (const table of tables) {
    const found = await planKey(handle, table)
    if (typeof found === 'string') leftOut.push({ table: table.name, why: found })
    else keyed.push(found)
  }
  return { keyed, leftOut }
}

async function planKey (handle: Handle, table: FoundTable): Promise<KeyedTable | string> {
  const { kind, name, key: [first, ...others] } = table
  if (kind !== 'table') return `is a ${kind}`
  if (!isPlainName(name)) return 'has a name that is not made of letters, digits and underscores, at most 60'
  if (first === undefined) return 'has no primary key'
  if (others.length > 0) return `has a primary key of several columns (${[first, ...others].join(', ')})`
  const column = table.columns.find(({ name }) => name === first) as ColumnRow
  if (!isPlainName(first)) {
    return `has a primary key '${first}' whose name is not made of letters, digits and underscores`
  }
  const fault = await whyUnreadable(handle, table)
  if (fault !== undefined) return `cannot be read: ${fault}`
  const isKey = await keyKind(handle, table, column)
  if (isKey === undefined) {
    const type = column.written === '' ? 'of no type' : column.written
    return `has a primary key '${first}' that is ${type}, not an integer or a UUID`
  }
  const isGenerated = isYes(column.generated)
  if (isYes(column.nullable) && !(isKey === 'key' && isGenerated)) {
    return `has a primary key '${first}' that may be null`
  }
  if (!await holdsOnly(handle, column, isKey)) {
    const values = isKey === 'key' ? 'integers of at most 2^53 - 1, which JSON has exactly' : 'texts'
    return `has a primary key '${first}' with values that are not all ${values}`
  }
  const options = {
    ...(first !== keyName && { column: first }),
    ...(isKey === 'key' && !isGenerated && { generated: false })
  }
  const key: FieldPlan = { name: keyName, kind: isKey, options }
  return whyUndefinable(key) ?? { table, column, key }
}

/** Returns the reason why a primary key cannot be declared, in the words of defineModel(). */
function whyUndefinable ({ name, kind, options }: FieldPlan): string | undefined {
  try {
    defineModel('Model', { [name]: { kind, options } })
    return undefined
  } catch (error) {
    return `cannot have a model: ${(error as Error).message}`
  }
}

/** True if a model can have a name of the database for its table or a column. */
export function isPlainName (name: string): boolean {
  return /^[A-Za-z_][A-Za-z0-9_]{0,59}$/.test(name)
}

async function keyKind (
  handle: Handle, { name }: FoundTable, { name: column, type, written }: ColumnRow
): Promise<'key' | 'uuid' | undefined> {
  const { dialect } = handle
  const kind = kindOf(dialect, type, written)
  if (kind === 'uuid') return 'uuid'
  if (kind === 'integer' || kind === 'bigint') return 'key'
  // Engines without a UUID type keep UUIDs as texts.
  const mayBeUuid = kind === 'text' && dialect.storage.uuid.holds(readType(type, type).name)
  return mayBeUuid && await holdsUuids(handle, name, column) ? 'uuid' : undefined
}

function kindOf ({ catalog: { types } }: Dialect, type: string, written: string): string | undefined {
  const described = readType(type, written)
  return types[described.name]?.(described).kind
}
