import { sql } from 'kysely'
import { readHandle, type AnyKysely } from '../database/engine.js'
import { inheritedKind, isYes, type ColumnRow, type TableRow } from '../engines/catalog.js'
import { failureKind } from '../engines/statement-failure.js'
import { errors, messageOf } from '../errors.js'
import type { Column, Model } from '../model/model.js'
import { reachableModels } from '../model/reachable-models.js'

/** The tables and views of a database. A model may name either. */
export interface DatabaseTables {
  /** True if the table of a model exists. */
  has (model: Model): boolean
  /**
   * Returns the columns of a model's table by their names; none if there is no such table. The names are as `foldName`
   * of the dialect returns them, such as in lower case on SQLite. So two names for the same column are equal.
   */
  columnsOf (model: Model): ReadonlyMap<string, ColumnRow>
  /** Returns a column as the table of its model has it; undefined if the table does not exist or has no such column. */
  columnOf (model: Model, column: Column): ColumnRow | undefined
  /** True if the table of a model is a view, or a materialized view or foreign table of PostgreSQL. */
  isView (model: Model): boolean
  /** True if other tables inherit from the table, so that a statement on it finds their rows, too. */
  isInherited (model: Model): boolean
  /**
   * Returns the name of a table in the form for comparisons. The forms of two names are equal if the server takes both
   * names for the same table.
   */
  nameOf (of: Pick<Model, 'table'>): string
  /** True if the server takes the names of two tables for the same table. */
  isSameTable (one: Pick<Model, 'table'>, other: Pick<Model, 'table'>): boolean
}

interface FoundTable extends TableRow {
  /** Columns by their names, which have the same form as in {@link DatabaseTables.columnsOf}. */
  readonly columns: ReadonlyMap<string, ColumnRow>
}

/**
 * Reads the tables of models, and of those that their foreign keys lead to. A table that does not exist is no error;
 * see {@link DatabaseTables.has}.
 *
 * @throws REST_MODELS_TABLE_MISMATCH if the columns of such a table or view cannot be read, for example because the
 *   table of a view was dropped, or because SQLite has not loaded an extension
 */
export async function readTables (handle: AnyKysely, models: Iterable<Model>): Promise<DatabaseTables> {
  const fold = await tableNameFolder(handle)
  const nameOf: DatabaseTables['nameOf'] = ({ table }) => fold(table)
  const named = new Map([...reachableModels(models)].map((model) => [nameOf(model), model]))
  const found = await findTables(handle, (name) => named.get(fold(name)))
  const byName = new Map(found.map((table) => [fold(table.name), table]))
  const tableOf = (model: Model): FoundTable | undefined => byName.get(nameOf(model))
  const columnsOf: DatabaseTables['columnsOf'] = (model) => tableOf(model)?.columns ?? new Map()
  const { foldName } = readHandle(handle).dialect
  return {
    has: (model) => tableOf(model) !== undefined,
    columnsOf,
    columnOf: (model, { name }) => columnsOf(model).get(foldName(name)),
    isView: (model) => isYes(tableOf(model)?.view),
    isInherited: (model) => tableOf(model)?.kind === inheritedKind,
    nameOf,
    isSameTable: (one, other) => nameOf(one) === nameOf(other)
  }
}

/** Returns the function that gives the name of a table in the form for comparisons. */
async function tableNameFolder (handle: AnyKysely): Promise<(name: string) => string> {
  const { db, dialect: { foldName, schema: { foldsTables } } } = readHandle(handle)
  const answer = await foldsTables?.execute(db).then(({ rows: [row] }) => Number(row?.answer))
  return answer === 0 ? (name) => name : foldName
}

/** Finds the existing tables and views that models name. `modelOf` returns the model of a table, if there is one. */
async function findTables (
  handle: AnyKysely, modelOf: (table: string) => Model | undefined
): Promise<readonly FoundTable[]> {
  const { db, dialect, dialect: { foldName } } = readHandle(handle)
  const { rows } = await dialect.catalog.tables.execute(db)
  const readColumns = await columnReader(handle)
  const tables: FoundTable[] = []
  for (const table of rows) {
    const model = modelOf(table.name)
    if (model === undefined) continue
    const columns = await readColumns(table).catch((failure: unknown) => {
      throw failureKind(dialect, failure) === undefined ? unreadable(model, table, failure) : failure
    })
    tables.push({ ...table, columns: new Map(columns.map((column) => [foldName(column.name), column])) })
  }
  return tables
}

/**
 * Returns the function that reads the columns of a table. It asks for each table by itself on SQLite, where one table
 * that cannot be read makes the query for the columns of all tables fail.
 */
async function columnReader (handle: AnyKysely): Promise<(table: TableRow) => Promise<readonly ColumnRow[]>> {
  const { db, dialect: { catalog, schema: { columnsOf } } } = readHandle(handle)
  if (columnsOf !== undefined) return async ({ name }) => (await columnsOf(name).execute(db)).rows
  const { rows } = await catalog.columns.execute(db)
  return async ({ name, view }) => {
    const columns = rows.filter(({ table }) => table === name)
    // MariaDB lists no columns of a view whose table was dropped. A query of such a view fails with the reason.
    if (isYes(view) && columns.length === 0) await sql`select * from ${sql.table(name)} limit 0`.execute(db)
    return columns
  }
}

function unreadable (model: Model, { name, kind }: TableRow, failure: unknown): Error {
  return new errors.TableMismatch('The database does not fit the models:\n' +
    `- model '${model.name}' needs ${kind} '${name}', which cannot be read: ${messageOf(failure)}. ` +
    "Mend it, load the extension that it needs, or name another with 'table'")
}
