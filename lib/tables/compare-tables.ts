import { errors } from '../errors.js'
import { primaryKey, type Column } from '../model/column.js'
import type { Model } from '../model/define-model.js'
import type { AnyKysely } from '../query/engine.js'
import type { Dialect, DialectName } from '../vocabulary/dialects.js'
import { fieldKinds } from '../vocabulary/field-kinds.js'

type Table = Awaited<ReturnType<AnyKysely['introspection']['getTables']>>[number]
type TableColumn = Table['columns'][number] & Pick<Table, 'isView'>

/** The tables of a database. */
export interface DatabaseTables {
  /** The columns of a model's table by name, undefined if there is no such table. */
  of (model: Model): ReadonlyMap<string, TableColumn> | undefined
}

export async function readTables (db: AnyKysely, { foldName }: Dialect): Promise<DatabaseTables> {
  const tables = await db.introspection.getTables()
  const byName = new Map(tables.map(({ name, isView, columns }) =>
    [foldName(name), new Map(columns.map((column) => [foldName(column.name), { ...column, isView }]))] as const))
  return { of: ({ table }) => byName.get(foldName(table)) }
}

/**
 * Compares models with their tables: columns, types, and whether null is permitted.
 *
 * @throws REST_MODELS_TABLE_MISMATCH naming both sides of every difference
 */
export function requireTables (tables: DatabaseTables, models: Iterable<Model>, dialect: Dialect): void {
  const differences = [...models].flatMap((model) => compareTable(tables, model, dialect))
  if (differences.length > 0) throw new errors.TableMismatch(`The database does not fit the models:\n- ${differences.join('\n- ')}`)
}

function compareTable (tables: DatabaseTables, model: Model, dialect: Dialect): readonly string[] {
  const columns = tables.of(model)
  if (columns === undefined) {
    return [`model '${model.name}' needs table '${model.table}', which does not exist; createTables() creates it`]
  }
  return model.columns.flatMap((column) => {
    const where = `field '${column.field}' of model '${model.name}'`
    const found = columns.get(dialect.foldName(column.name))
    if (found === undefined) return [`${where} needs column '${column.name}' of table '${model.table}', which does not exist; add it by a migration, or name another with 'column'`]
    return compareColumn(column, found, dialect.name).map((difference) => `${where} ${difference} in table '${model.table}'`)
  })
}

function compareColumn (column: Column, { name, dataType, isNullable, isAutoIncrementing, isView }: TableColumn, dialect: DialectName): readonly string[] {
  const differences: string[] = []
  if (!fieldKinds[column.kind].storage[dialect].holds(dataType)) {
    differences.push(`is ${column.kind}, but column '${name}' is ${dataType || 'of no type'}`)
  }
  if (column === primaryKey && !isAutoIncrementing && !isView) differences.push(`needs column '${name}' to be the integer primary key`)
  if (column !== primaryKey && column.nullable !== isNullable) {
    differences.push(`${column.nullable ? 'is nullable' : 'is not nullable'}, but column '${name}' is ${isNullable ? 'nullable' : 'not null'}`)
  }
  return differences
}
