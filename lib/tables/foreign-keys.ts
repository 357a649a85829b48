import type { Handle } from '../database/engine.js'
import type { KeyRow } from '../engines/catalog.js'
import type { Dialect } from '../engines/dialect.js'
import type { Storage } from '../engines/storage.js'
import { isForeignKey, storageOf, type Column } from '../model/column.js'
import type { Model } from '../model/define-model.js'
import { nameField } from './compare-tables.js'
import type { DatabaseTables } from './read-tables.js'
import type { Reference } from './plan-tables.js'
import { setOf, uniqueSets } from './unique-indexes.js'

/** Returns the foreign keys among columns of a model. */
export function referencesOf (model: Model, columns: readonly Column[] = model.columns): readonly Reference[] {
  return columns.filter(isForeignKey).map((column) => ({ model, column }))
}

/**
 * Returns storages for the foreign keys that refer to existing columns. Each has exactly the type of the column that
 * the foreign key refers to, because PostgreSQL and MariaDB may refuse another. Returns none for SQLite.
 */
export function referringStorages (
  tables: DatabaseTables, models: readonly Model[], dialect: Dialect
): ReadonlyMap<Column, Storage> {
  const storages = new Map<Column, Storage>()
  for (const { column } of models.flatMap((model) => referencesOf(model))) {
    const target = column.target()
    const type = tables.columnOf(target, target.primaryKey)?.referring
    if (type !== undefined) storages.set(column, { ...storageOf(column, dialect), type: () => type })
  }
  return storages
}

/** Facts about the database that decide if a foreign key can be made. */
interface Existing {
  readonly tables: DatabaseTables
  readonly dialect: Dialect
  readonly keys: readonly KeyRow[]
  /** Tables that can have no foreign keys, and to which none can refer, with the reason. */
  readonly detached: ReadonlyArray<{ readonly table: string, readonly why: string }>
}

/**
 * Finds new foreign keys that the database would refuse because of tables that exist, and returns the reasons with the
 * remedies, as sentences.
 */
export async function findUnreferable (
  { db, dialect }: Pick<Handle, 'db' | 'dialect'>, tables: DatabaseTables, added: readonly Reference[]
): Promise<readonly string[]> {
  if (added.length === 0) return []
  const { rows: keys } = await dialect.catalog.keys.execute(db)
  const { rows: detached } = await dialect.catalog.tablesWithoutForeignKeys?.execute(db) ?? { rows: [] }
  return added.flatMap((reference) => {
    const why = whyUnreferable(reference, { tables, dialect, keys, detached })
    return why === undefined ? [] : [`${nameField(reference.model, reference.column)} ${why}`]
  })
}

function whyUnreferable ({ model, column }: Reference, existing: Existing): string | undefined {
  const { tables, detached } = existing
  const target = column.target()
  const kept = detached.find((row) => [model, target].some((of) => tables.isSameTable(of, row)))
  if (kept !== undefined) return `cannot be a foreign key, because table '${kept.table}' ${kept.why}`
  return tables.has(target) ? whyNoTarget(target, existing) : undefined
}

function whyNoTarget (target: Model, { tables, dialect, keys }: Existing): string | undefined {
  const { name, table, primaryKey } = target
  if (tables.isView(target)) {
    return `refers to model '${name}', but no foreign key can refer to view '${table}': declare a field of another kind`
  }
  const where = `refers to column '${primaryKey.name}' of table '${table}', which`
  const found = tables.columnOf(target, primaryKey)
  if (found === undefined) return `${where} does not exist: name another with 'column' in model '${name}'`
  const { type, named = type } = found
  if (!storageOf(primaryKey, dialect).holds(type)) {
    return `${where} is ${named}, and not ${primaryKey.kind} as in model '${name}': change that model`
  }
  const unique = uniqueSets(keys.filter((row) => tables.isSameTable(row, target)), dialect)
  if (unique.has(setOf([primaryKey.name], dialect))) return undefined
  return `${where} is no primary key and has no unique index of its own: add one by a statement of your own`
}
