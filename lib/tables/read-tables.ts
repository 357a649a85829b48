import { readHandle, type AnyKysely } from '../database/engine.js'
import { inheritedKind, type ColumnRow, type TableRow } from '../engines/catalog.js'
import { failureKind } from '../engines/statement-failure.js'
import { errors, messageOf } from '../errors.js'
import type { Column, Model } from '../model/model.js'
import { reachableModels } from '../model/reachable-models.js'

/** A column of an existing table or view. */
export interface TableColumn extends ColumnRow {
  /** True for a column of a view, or of a materialized view or foreign table of PostgreSQL. */
  readonly isView: boolean
}

/** The tables and views of a database. A model may name either. */
export interface DatabaseTables {
  /**
   * Returns the columns of a model's table by their names; undefined if there is no such table. The names have the form
   * in which names that mean the same column for the engine are equal, such as lower case on SQLite.
   */
  of (model: Model): ReadonlyMap<string, TableColumn> | undefined
  /** Returns a column as the table of its model has it; undefined if the table does not exist or has no such column. */
  columnOf (model: Model, column: Column): TableColumn | undefined
  /**
   * Returns the name of a table in the form for comparisons. The forms of two names are equal if the server takes both
   * names for the same table.
   */
  nameOf (of: Pick<Model, 'table'>): string
  /** True if the server takes the names of two tables for the same table. */
  isSameTable (one: Pick<Model, 'table'>, other: Pick<Model, 'table'>): boolean
  /** True if other tables inherit from the table, so that a statement on it finds their rows, too. */
  isInherited (model: Model): boolean
}

/**
 * Reads the tables of models, and of those that their foreign keys lead to. A table that does not exist is no error:
 * {@link DatabaseTables.of} returns undefined for it.
 *
 * @throws REST_MODELS_TABLE_MISMATCH if SQLite cannot read the columns of such a table or view, for example because an
 *   extension is not loaded
 */
export async function readTables (handle: AnyKysely, models: Iterable<Model>): Promise<DatabaseTables> {
  const { db, dialect: { foldName, schema: { foldsTables } } } = readHandle(handle)
  const foldsAnswer = await foldsTables?.execute(db).then(({ rows: [row] }) => Number(row?.answer))
  const fold = foldsAnswer === 0 ? (name: string) => name : foldName
  const nameOf: DatabaseTables['nameOf'] = ({ table }) => fold(table)
  const named = new Map([...reachableModels(models)].map((model) => [nameOf(model), model]))
  const listed = await listTables(handle, (name) => named.get(fold(name)))
  const byName = new Map(listed.map(({ name, kind, columns }) => {
    const isView = viewKinds.has(kind)
    return [fold(name), new Map(columns.map((column) => [foldName(column.name), { ...column, isView }]))]
  }))
  const inherited = new Set(listed.filter(({ kind }) => kind === inheritedKind).map(({ name }) => fold(name)))
  const of: DatabaseTables['of'] = (model) => byName.get(nameOf(model))
  return {
    of,
    columnOf: (model, { name }) => of(model)?.get(foldName(name)),
    nameOf,
    isSameTable: (one, other) => nameOf(one) === nameOf(other),
    isInherited: (model) => inherited.has(nameOf(model))
  }
}

interface ListedTable extends TableRow {
  readonly columns: readonly ColumnRow[]
}

/** Kinds of tables in {@link TableRow.kind} that are compared with models as views are. */
const viewKinds: ReadonlySet<string> = new Set(['view', 'materialized view', 'foreign table'])

/** Function that returns the model of a table; undefined if no model names it. */
type ModelOf = (table: string) => Model | undefined

/** Lists the existing tables and views that models name, with their columns. */
async function listTables (handle: AnyKysely, modelOf: ModelOf): Promise<readonly ListedTable[]> {
  const { db, dialect: { catalog } } = readHandle(handle)
  const { rows } = await catalog.tables.execute(db)
  const readColumns = await columnReader(handle)
  const tables: ListedTable[] = []
  for (const table of rows) {
    const model = modelOf(table.name)
    if (model !== undefined) tables.push({ ...table, columns: await readColumns(table, model) })
  }
  return tables
}

/**
 * Returns the function that gives the columns of a table. It asks for each table by itself if the engine cannot be
 * asked for the columns of all tables at once.
 */
async function columnReader (
  handle: AnyKysely
): Promise<(table: TableRow, model: Model) => Promise<readonly ColumnRow[]> | readonly ColumnRow[]> {
  const { db, dialect } = readHandle(handle)
  const { catalog, schema: { columnsOf } } = dialect
  if (columnsOf === undefined) {
    const { rows } = await catalog.columns.execute(db)
    return ({ name }) => rows.filter(({ table }) => table === name)
  }
  return async (table, model) => {
    const { rows } = await columnsOf(table.name).execute(db).catch((failure: unknown) => {
      throw failureKind(dialect, failure) === undefined ? unreadable(model, table, failure) : failure
    })
    return rows
  }
}

function unreadable (model: Model, { name, kind }: TableRow, failure: unknown): Error {
  return new errors.TableMismatch('The database does not fit the models:\n' +
    `- model '${model.name}' needs ${kind} '${name}', which cannot be read: ${messageOf(failure)}. ` +
    "Mend it, load the extension that it needs, or name another with 'table'")
}
