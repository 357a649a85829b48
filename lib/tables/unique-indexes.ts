import { readHandle, type AnyKysely } from '../database/engine.js'
import type { KeyRow } from '../engines/catalog.js'
import type { Dialect } from '../engines/dialect.js'
import { errors } from '../errors.js'
import type { Column } from '../model/column.js'
import type { Model } from '../model/define-model.js'
import { keyColumnsOf } from '../model/key.js'
import type { DatabaseTables } from './read-tables.js'

/**
 * Checks that each table has a unique index, or a primary key, for each entry of its model's option `unique`, and for
 * the primary key of the model. Skips what is no table, such as a view, because it has no indexes.
 * The caller calls `requireTables` first, so all columns of the models exist.
 *
 * @throws REST_MODELS_TABLE_MISMATCH naming the columns and the remedy
 */
export async function requireUniqueIndexes (
  handle: AnyKysely, tables: DatabaseTables, models: Iterable<Model>
): Promise<void> {
  const declaring = [...models].filter((model) => groupsOf(model).length > 0)
  if (declaring.length === 0) return
  const { db, dialect } = readHandle(handle)
  const { rows } = await dialect.catalog.keys.execute(db)
  const lines = declaring.filter((model) => !tables.isView(model)).flatMap((model) => {
    const own = rows.filter((row) => tables.isSameTable(row, model))
    const indexes = uniqueSets(own, dialect)
    const remark = own.some(({ column }) => column === null) ? notWhole : ''
    return groupsOf(model).filter((group) => !indexes.has(setOf(group.map(({ name }) => name), dialect)))
      .map((group) => `${differenceOf(model, group)}${remark}`)
  })
  if (lines.length === 0) return
  throw new errors.TableMismatch(`The database does not fit the models:\n- ${lines.join('\n- ')}`)
}

const notWhole = '; an index of expressions or of the first characters of a column does not count'

/** Returns the columns of each primary key and unique index of one table, as {@link setOf} writes them. */
export function uniqueSets (rows: readonly KeyRow[], dialect: Dialect): Set<string> {
  return new Set(columnsByKey(rows).map((names) => setOf(names, dialect)))
}

/**
 * Returns the names of columns as one text, sorted and separated by commas. Lists of the same columns give the same
 * text, whatever their order.
 */
export function setOf (names: readonly string[], { foldName }: Dialect): string {
  return names.map(foldName).sort().join()
}

/** Returns the columns of each primary key and unique index of one table. An indexed expression has the name ''. */
function columnsByKey (rows: readonly KeyRow[]): ReadonlyArray<readonly string[]> {
  const byKey = new Map<string, string[]>()
  for (const { key, column } of rows) byKey.set(key, [...byKey.get(key) ?? [], column ?? ''])
  return [...byKey.values()]
}

/**
 * Returns groups of columns. The columns of each group must have a unique index together. A group is an entry of the
 * option `unique`, or the primary key.
 */
function groupsOf (model: Model): ReadonlyArray<readonly Column[]> {
  return [keyColumnsOf(model), ...model.uniqueTogether]
}

function differenceOf (model: Model, group: readonly Column[]): string {
  const { name, table } = model
  const fields = group.map(({ field }) => `'${field}'`).join(' and ')
  const columns = group.map((column) => column.name).join(', ')
  const key = keyColumnsOf(model)
  if (group.length === key.length && group.every((column) => key.includes(column))) {
    return `model '${name}' has its primary key in ${columns}, but table '${table}' has neither a primary key nor a ` +
      'unique index of exactly that; add one by a migration'
  }
  return `model '${name}' has the fields ${fields} in 'unique', but table '${table}' has no unique index of exactly ` +
    `the columns ${columns}; add one by a migration, or leave the fields out of 'unique'`
}
