import { readHandle, type AnyKysely } from '../database/engine.js'
import { isYes, type ColumnRow } from '../engines/catalog.js'
import type { Dialect } from '../engines/dialect.js'
import type { Storage, WrittenColumn } from '../engines/storage.js'
import { errors } from '../errors.js'
import { isGenerated, storageOf, type Column } from '../model/column.js'
import { keyColumnsOf } from '../model/key.js'
import type { Model } from '../model/model.js'

type Table = Awaited<ReturnType<AnyKysely['introspection']['getTables']>>[number]
/** A column, with its type as the engine writes it. */
type TableColumn = Table['columns'][number] & Pick<Table, 'isView'> & { readonly written: WrittenColumn }

/** The tables of a database. */
export interface DatabaseTables {
  /**
   * Returns the columns of a model's table, by names folded as the engine compares them; undefined if there is no such
   * table.
   */
  of (model: Model): ReadonlyMap<string, TableColumn> | undefined
  /**
   * Returns a name of a table for comparisons: two tables have the same one if the server does not tell their names
   * apart.
   */
  nameOf (of: Pick<Model, 'table'>): string
}

/** Reads the tables of a database. */
export async function readTables (handle: AnyKysely): Promise<DatabaseTables> {
  const { db, dialect: { foldName, schema: { foldsTables, keys, written } } } = readHandle(handle)
  const foldsAnswer = await foldsTables?.execute(db).then(({ rows: [row] }) => Number(row?.answer))
  const fold = foldsAnswer === 0 ? (name: string) => name : foldName
  const { rows: described } = await keys?.execute(db) ?? { rows: [] }
  const { rows: types } = await written.execute(db)
  const generates = (table: string, { name, isAutoIncrementing }: Table['columns'][number]): boolean =>
    isAutoIncrementing || described.some((row) => row.table === table && row.name === name && isYes(row.generated))
  const writtenAs = new Map(types.map((row) => [`${row.table}.${row.name}`, row]))
  const describe = (table: string, column: Table['columns'][number]) => ({
    ...column,
    isAutoIncrementing: generates(table, column),
    written: writtenAs.get(`${table}.${column.name}`) ?? { table, name: column.name, written: column.dataType }
  })
  const byName = new Map((await listTables(handle)).map(({ name, isView, columns }) => [
    fold(name), new Map([...columns, ...computedIn(described, name)].map((column) =>
      [foldName(column.name), { ...describe(name, column), isView }]))
  ] as const))
  return { of: ({ table }) => byName.get(fold(table)), nameOf: ({ table }) => fold(table) }
}

/** Lists tables and their columns. Of several tables of one name, the one that is found by that name comes last. */
async function listTables (handle: AnyKysely): Promise<ReadonlyArray<Pick<Table, 'name' | 'isView' | 'columns'>>> {
  const { db, dialect: { schema: { schemas } } } = readHandle(handle)
  const tables = await handle.introspection.getTables()
  if (schemas === undefined) return tables
  const { rows: path } = await schemas.path.execute(db)
  const { rows } = await schemas.unlisted.execute(db)
  return [
    ...path.toReversed().flatMap(({ name }) => tables.filter(({ schema }) => schema === name)),
    ...[...new Set(rows.map(({ table }) => table))].map((name) =>
      ({ name, isView: true, columns: rows.filter(({ table }) => table === name).map(columnOf) }))
  ]
}

/** Returns the computed columns of a table, which Kysely does not see in SQLite. */
function computedIn (described: readonly ColumnRow[], table: string): Table['columns'] {
  return described.filter((row) => row.table === table && isYes(row.computed)).map(columnOf)
}

function columnOf ({ name, type, nullable }: ColumnRow): Table['columns'][number] {
  return { name, dataType: type, isNullable: isYes(nullable), isAutoIncrementing: false, hasDefaultValue: false }
}

/**
 * Compares models with their tables: columns, types, and whether null is permitted.
 *
 * @throws REST_MODELS_TABLE_MISMATCH naming both sides of every difference
 */
export function requireTables (tables: DatabaseTables, models: Iterable<Model>, dialect: Dialect): void {
  const differences = [...models].flatMap((model) => compareTable(tables, model, dialect))
  if (differences.length > 0) {
    throw new errors.TableMismatch(`The database does not fit the models:\n- ${differences.join('\n- ')}`)
  }
}

/** True if a model is of a view. */
export function isView (tables: DatabaseTables, model: Model, { foldName }: Dialect): boolean {
  return model.columns.some(({ name }) => tables.of(model)?.get(foldName(name))?.isView === true)
}

/** True if at least one column of the models has the given type in the database. */
export function hasType (
  tables: DatabaseTables, models: Iterable<Model>,
  { type, dialect }: { readonly type: string, readonly dialect: Dialect }
): boolean {
  return [...models].some((model) =>
    model.columns.some(({ name }) => tables.of(model)?.get(dialect.foldName(name))?.dataType === type))
}

/**
 * Returns how the database keeps the values of each column whose type is not the one that createTables() gives it.
 * {@link requireTables} must have found all columns of the models before.
 */
export function storagesOf (
  tables: DatabaseTables, models: Iterable<Model>, dialect: Dialect
): ReadonlyMap<Column, Storage> {
  const storages = new Map<Column, Storage>()
  for (const model of models) {
    for (const column of model.columns) {
      const found = tables.of(model)?.get(dialect.foldName(column.name))
      const storage = found && storageOf(column, dialect).ofType?.(found.written)
      if (storage !== undefined) storages.set(column, storage)
    }
  }
  return storages
}

function compareTable (tables: DatabaseTables, model: Model, dialect: Dialect): readonly string[] {
  const columns = tables.of(model)
  if (columns === undefined) {
    const { schema: { elsewhere = '' } } = dialect
    return [`model '${model.name}' needs table '${model.table}', which does not exist; ` +
      `createTables() creates it${elsewhere}`]
  }
  return model.columns.flatMap((column) => {
    const found = columns.get(dialect.foldName(column.name))
    return found === undefined
      ? [`${nameField(model, column)} needs column '${column.name}' of table '${model.table}', which does not exist; ` +
        "add it by a migration, or name another with 'column'"]
      : compareField({ model, column }, found, dialect)
  })
}

/** Returns the field of a column in words, for messages. */
export function nameField ({ name }: Model, { field }: Column): string {
  return `field '${field}' of model '${name}'`
}

/** Returns how a field differs from a column that exists, as sentences. */
export function compareField (
  { model, column }: { readonly model: Model, readonly column: Column }, found: TableColumn, dialect: Dialect
): readonly string[] {
  const isKey = keyColumnsOf(model).includes(column) && dialect.schema.keysMayBeNull === true
  return compareColumn(column, found, { dialect, mayBeNull: isKey })
    .map((difference) => `${nameField(model, column)} ${difference} in table '${model.table}'`)
}

function compareColumn (
  column: Column, found: TableColumn, { dialect, mayBeNull }: { readonly dialect: Dialect, readonly mayBeNull: boolean }
): readonly string[] {
  const { holds, isShown } = storageOf(column, dialect)
  const { name, dataType, isNullable, isAutoIncrementing, isView, written: { type = dataType } } = found
  const differences: string[] = []
  if (!holds(type)) {
    differences.push(`is ${column.kind}, but column '${name}' is ${dataType || 'of no type'}`)
  }
  const isMade = isGenerated(column)
  if (isMade && !isAutoIncrementing && !isView) {
    differences.push(`needs column '${name}' to be the primary key whose integers the database generates`)
  }
  const isNeverNull = column.kind === 'key' && isAutoIncrementing
  // A column that is not null may hold values that no record can show, or may get one at any time: records show null.
  const isShownAsNull = column.nullable && isShown !== undefined
  // SQLite and PostgreSQL call every column of a view nullable.
  const mayDiffer = isView || isMade || isNeverNull || mayBeNull || isShownAsNull
  if (!mayDiffer && column.nullable !== isNullable) {
    differences.push(`${column.nullable ? 'is nullable' : 'is not nullable'}, ` +
      `but column '${name}' is ${isNullable ? 'nullable' : 'not null'}`)
  }
  return differences
}
