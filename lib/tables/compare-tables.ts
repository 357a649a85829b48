import { errors } from '../errors.js'
import { primaryKey, type Column } from '../model/column.js'
import type { Model } from '../model/define-model.js'
import type { AnyKysely } from '../query/engine.js'
import type { DialectName } from '../vocabulary/dialects.js'
import { fieldKinds } from '../vocabulary/field-kinds.js'

type TableColumn = Awaited<ReturnType<AnyKysely['introspection']['getTables']>>[number]['columns'][number]

/** The columns of each table of a database, by table name. */
export type TableColumns = ReadonlyMap<string, readonly TableColumn[]>

export async function readTables (db: AnyKysely): Promise<TableColumns> {
  const tables = await db.introspection.getTables()
  return new Map(tables.map(({ name, columns }) => [name, columns]))
}

/**
 * Compares models with their tables: columns, types, and whether null is permitted.
 *
 * @throws REST_MODELS_TABLE_MISMATCH naming both sides of every difference
 */
export function requireTables (tables: TableColumns, models: Iterable<Model>, dialect: DialectName): void {
  const differences = [...models].flatMap((model) => compareTable(tables, model, dialect))
  if (differences.length > 0) throw new errors.TableMismatch(`The database does not fit the models:\n- ${differences.join('\n- ')}`)
}

function compareTable (tables: TableColumns, model: Model, dialect: DialectName): readonly string[] {
  const columns = tables.get(model.table)
  if (columns === undefined) {
    return [`model '${model.name}' needs table '${model.table}', which does not exist; createTables() creates it`]
  }
  return model.columns.flatMap((column) => {
    const where = `field '${column.field}' of model '${model.name}'`
    const found = columns.find(({ name }) => name === column.name)
    if (found === undefined) return [`${where} needs column '${column.name}' of table '${model.table}', which does not exist`]
    return compareColumn(column, found, dialect).map((difference) => `${where} ${difference} in table '${model.table}'`)
  })
}

function compareColumn (column: Column, { name, dataType, isNullable }: TableColumn, dialect: DialectName): readonly string[] {
  const differences: string[] = []
  if (!fieldKinds[column.kind].storage[dialect].holds(dataType)) {
    differences.push(`is ${column.kind}, but column '${name}' is ${dataType || 'of no type'}`)
  }
  if (column !== primaryKey && column.nullable !== isNullable) {
    differences.push(`${column.nullable ? 'is nullable' : 'is not nullable'}, but column '${name}' is ${isNullable ? 'nullable' : 'not null'}`)
  }
  return differences
}
