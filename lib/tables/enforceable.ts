import { readHandle, type AnyKysely } from '../database/engine.js'
import { isYes, type KeyRow, type ReferenceRow } from '../engines/catalog.js'
import type { Dialect } from '../engines/dialect.js'
import { errors } from '../errors.js'
import type { Model } from '../model/model.js'
import type { DatabaseTables } from './read-tables.js'
import { setOf, uniqueSets } from './unique-indexes.js'

interface Existing {
  readonly tables: DatabaseTables
  readonly dialect: Dialect
  readonly keys: readonly KeyRow[]
}

/**
 * Checks that the database can enforce the foreign keys of the models' tables, and those that refer to these tables.
 * SQLite permits a foreign key to what does not exist, or to columns that are not unique. It then refuses every write
 * to either table, because the plugin writes with `returning`.
 *
 * @throws REST_MODELS_TABLE_MISMATCH naming the tables, the columns and the remedy
 */
export async function requireEnforceable (
  handle: AnyKysely, tables: DatabaseTables, models: readonly Model[]
): Promise<void> {
  const { db, dialect } = readHandle(handle)
  if (dialect.schema.needsTargets) return
  const { rows: references } = await dialect.catalog.references.execute(db)
  const written = new Set(models.map(tables.nameOf))
  const checked = references.filter(({ table, target }) => [table, target].some((name) =>
    written.has(tables.nameOf({ table: name }))))
  if (checked.length === 0) return
  const { rows: keys } = await dialect.catalog.keys.execute(db)
  const idOf = ({ table, key }: ReferenceRow): string => `${key} ${table}`
  const byKey = new Map(checked.map((row) => [idOf(row), row]))
  const lines = [...byKey].flatMap(([id, reference]) =>
    whyUnenforceable(reference, checked.filter((row) => idOf(row) === id), { tables, dialect, keys }))
  if (lines.length === 0) return
  throw new errors.TableMismatch(
    `The database would refuse writes, because it cannot enforce a foreign key:\n- ${lines.join('\n- ')}`)
}

/**
 * Returns why a foreign key cannot be enforced, as a list of one sentence; an empty list if it can.
 *
 * @param found  the columns of the foreign key, in its order
 */
function whyUnenforceable (
  { table, target, targetColumn }: ReferenceRow, found: readonly ReferenceRow[], { tables, dialect, keys }: Existing
): readonly string[] {
  const where = `the foreign key of table '${table}' (${found.map(({ column }) => column).join(', ')}) refers to ` +
    `table '${target}'`
  if (tables.of({ table: target }) === undefined) {
    return [`${where}, which does not exist: create it, or make table '${table}' anew without the foreign key`]
  }
  const own = keys.filter((row) => tables.nameOf(row) === tables.nameOf({ table: target }))
  const primary = own.filter((row) => isYes(row.primary)).map(({ column }) => String(column))
  const names = targetColumn === null ? primary : found.map((row) => String(row.targetColumn))
  if (names.length === found.length && uniqueSets(own, dialect).has(setOf(names, dialect))) return []
  return [`${where} (${targetColumn === null ? 'its primary key' : names.join(', ')}), which has neither a primary ` +
    'key nor a unique index of exactly that: add one by a statement of your own']
}
