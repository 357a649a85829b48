import { sql } from 'kysely'
import { requireOf, type Engine } from '../database/engine.js'
import { storageOf, type Column } from '../model/column.js'
import type { Model } from '../model/define-model.js'
import { hasType, requireTables, storagesOf, type DatabaseTables } from './compare-tables.js'

/**
 * Returns an engine that knows how the tables of the models keep their values.
 *
 * @throws REST_MODELS_TABLE_MISMATCH if a table does not fit its model, REST_MODELS_UNSUPPORTED_DATABASE if the
 *   connection does not meet a requirement of a column type
 */
export async function fitEngine (engine: Engine, tables: DatabaseTables, models: ReadonlySet<Model>): Promise<Engine> {
  const { db, dialect, dialect: { requiredBy = {} } } = engine
  requireTables(tables, models, { dialect, shownAsNull: await findShownAsNull(engine, tables, models) })
  for (const [type, requirement] of Object.entries(requiredBy)) {
    if (hasType(tables, models, { type, dialect })) await requireOf(db, requirement)
  }
  const storages = storagesOf(tables, models, dialect)
  return storages.size === 0 ? engine : Object.freeze({ ...engine, dialect: { ...dialect, storages } })
}

/** Finds nullable fields over NOT NULL columns that hold values which the API answers as null, such as NaN. */
export async function findShownAsNull (
  engine: Engine, tables: DatabaseTables, models: ReadonlySet<Model>
): Promise<ReadonlySet<Column>> {
  const found = new Set<Column>()
  for (const model of models) {
    const columns = tables.of(model)
    for (const column of model.columns) {
      const isNullable = columns?.get(engine.dialect.foldName(column.name))?.isNullable
      if (column.nullable && isNullable === false && await holdsUnshown(engine, model, column)) found.add(column)
    }
  }
  return found
}

async function holdsUnshown ({ db, dialect }: Engine, { table }: Model, column: Column): Promise<boolean> {
  const { isShown } = storageOf(column, dialect)
  if (isShown === undefined) return false
  const isUnshown = sql`not (${isShown(sql.ref(column.name))})`
  const find = sql`select 1 from ${sql.table(table)} where ${isUnshown} limit 1`
  // A column that cannot be read counts as one without such values, so it is reported as a mismatch.
  return await find.execute(db).then(({ rows }) => rows.length > 0, () => false)
}
