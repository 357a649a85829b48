import { readHandle, type AnyKysely } from '../database/engine.js'
import { isYes, type ColumnRow } from '../engines/catalog.js'
import type { Dialect } from '../engines/dialect.js'
import { errors } from '../errors.js'
import { isFilledByDatabase } from '../model/column.js'
import type { Model } from '../model/define-model.js'
import type { DatabaseTables } from './read-tables.js'

/**
 * Finds the columns that keep every record of a model from being created: the model lacks them or never writes them,
 * and they must have a value but have no default. Skips views, and tables whose rows a trigger may complete, because
 * their columns do not show what a create needs.
 *
 * @returns the names of such columns, by model; a model that has none is not in the map
 */
export async function findUnfillable (
  handle: AnyKysely, tables: DatabaseTables, models: readonly Model[]
): Promise<ReadonlyMap<Model, readonly string[]>> {
  if (models.length === 0) return new Map()
  const { db, dialect } = readHandle(handle)
  const { rows: completed } = await dialect.catalog.tablesWithTriggers?.execute(db) ?? { rows: [] }
  const isUnknown = new Set(completed.map(tables.nameOf))
  const known = models.filter((model) => !isUnknown.has(tables.nameOf(model)) && !tables.isView(model))
  const unfillable = known.map((model) => {
    const written = model.columns.filter((column) => !isFilledByDatabase(column))
    const own = new Set(written.map(({ name }) => dialect.foldName(name)))
    const others = [...tables.columnsOf(model)].filter(([name]) => !own.has(name)).map(([, column]) => column)
    return [model, others.filter((column) => needsValue(column, dialect)).map(({ name }) => name)] as const
  })
  return new Map(unfillable.filter(([, names]) => names.length > 0))
}

function needsValue ({ nullable, generated, computed, declared, type }: ColumnRow, { catalog }: Dialect): boolean {
  const hasNone = (declared ?? 'null').toLowerCase() === 'null'
  return ![nullable, generated, computed].some(isYes) && hasNone &&
    catalog.implicitDefaults?.includes(type) !== true
}

/** Returns a line for each column that {@link findUnfillable} found. It says why no record can be created. */
export function unfillableLines (
  found: ReadonlyMap<Model, readonly string[]>, { foldName }: Dialect
): readonly string[] {
  return [...found].flatMap(([{ name, table, columns }, unfilled]) => unfilled.map((column) => {
    const isOwn = columns.some((own) => foldName(own.name) === foldName(column))
    const verb = isOwn ? "declares as 'readOnly' the" : 'lacks'
    return `model '${name}' ${verb} column '${column}' of table '${table}', which must have a value and has no default`
  }))
}

/**
 * Checks that records of all models can be created.
 *
 * @throws REST_MODELS_TABLE_MISMATCH naming the columns and the remedies
 */
export async function requireFillable (
  handle: AnyKysely, tables: DatabaseTables, models: readonly Model[]
): Promise<void> {
  const found = await findUnfillable(handle, tables, models)
  if (found.size === 0) return
  const lines = unfillableLines(found, readHandle(handle).dialect)
  throw new errors.TableMismatch(`No record could be created:\n- ${lines.join('\n- ')}\n` +
    "Declare the column in the model, give it a default in the table, or use a policy with closed: ['create']")
}
