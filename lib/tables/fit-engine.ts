import { requireMet, type Engine } from '../database/engine.js'
import type { Column } from '../model/column.js'
import type { Model } from '../model/define-model.js'
import { hasType, requireTables, storagesOf } from './compare-tables.js'
import type { DatabaseTables } from './read-tables.js'

/**
 * Returns an engine whose dialect knows how the columns of the models keep their values in this database, and which
 * tables have triggers or are views. Returns the engine unchanged if each column can use the storage that the dialect
 * has for its kind, and no table has triggers or is a view.
 *
 * @throws REST_MODELS_TABLE_MISMATCH if a table does not fit its model, REST_MODELS_UNSUPPORTED_DATABASE if the
 *   connection does not meet a requirement of a column type
 */
export async function fitEngine (engine: Engine, tables: DatabaseTables, models: ReadonlySet<Model>): Promise<Engine> {
  const { db, dialect, dialect: { requiredBy = {} } } = engine
  requireTables(tables, models, dialect)
  for (const [type, requirement] of Object.entries(requiredBy)) {
    if (hasType(tables, models, type)) await requireMet(db, requirement)
  }
  const storages = storagesOf(tables, models, dialect)
  const changedLater = await findChangedLater(engine, tables, models)
  const views = new Set([...models].filter((model) => tables.isView(model)))
  const isPlain = storages.size === 0 && changedLater.size === 0 && views.size === 0
  return isPlain ? engine : Object.freeze({ ...engine, dialect: { ...dialect, storages, changedLater, views } })
}

/**
 * Returns the models whose tables have triggers or rules that may change a record after the statement that wrote it has
 * returned it, or that may change a record instead of deleting it. Also returns the columns that may have another value
 * than an insert returned.
 */
async function findChangedLater (
  { db, dialect: { catalog, foldName } }: Engine, tables: DatabaseTables, models: ReadonlySet<Model>
): Promise<ReadonlySet<Model | Column>> {
  const { rows } = await catalog.tablesChangedLater.execute(db)
  const nameOf = (table: string, column: string | null): string =>
    JSON.stringify([tables.nameOf({ table }), column === null ? null : foldName(column)])
  const changed = new Set(rows.map(({ table, column }) => nameOf(table, column)))
  return new Set([...models].flatMap((model) => [
    ...changed.has(nameOf(model.table, null)) ? [model] : [],
    ...model.columns.filter(({ name }) => changed.has(nameOf(model.table, name)))
  ]))
}
