import { readHandle, type AnyKysely } from '../database/engine.js'
import { isYes, type TableRow } from '../engines/catalog.js'
import type { AllTables, ListedColumn, TableByTable } from '../engines/schema-habits.js'
import { failureKind } from '../engines/statement-failure.js'
import type { WrittenColumn } from '../engines/storage.js'
import { errors, messageOf } from '../errors.js'
import type { Column, Model } from '../model/model.js'
import { reachableModels } from '../model/reachable-models.js'

type Table = Awaited<ReturnType<AnyKysely['introspection']['getTables']>>[number]
/** A column, with its type as the engine writes it. */
export type TableColumn = Table['columns'][number] & Pick<Table, 'isView'> & { readonly written: WrittenColumn }

/** The tables and views of a database. A model may name either. */
export interface DatabaseTables {
  /**
   * Returns the columns of a model's table, by names folded as the engine compares them; undefined if there is no such
   * table.
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
 * Reads the tables of models, and of those that their foreign keys lead to. It may read other tables, too. A table that
 * does not exist is no error: {@link DatabaseTables.of} returns undefined for it.
 *
 * @throws REST_MODELS_TABLE_MISMATCH if such a table, or a view in its place, cannot be described
 */
export async function readTables (handle: AnyKysely, models: Iterable<Model>): Promise<DatabaseTables> {
  const { db, dialect: { catalog, foldName, schema: { foldsTables } } } = readHandle(handle)
  const foldsAnswer = await foldsTables?.execute(db).then(({ rows: [row] }) => Number(row?.answer))
  const fold = foldsAnswer === 0 ? (name: string) => name : foldName
  const nameOf: DatabaseTables['nameOf'] = ({ table }) => fold(table)
  const describe = await readTypes(handle)
  const named = new Map([...reachableModels(models)].map((model) => [nameOf(model), model]))
  const byName = new Map((await listTables(handle, (name) => named.get(fold(name)))).map((table) =>
    [fold(table.name), new Map(describe(table).map((column) => [foldName(column.name), column]))]))
  const { rows } = await catalog.inheritedTables?.execute(db) ?? { rows: [] }
  const inherited = new Set(rows.map(nameOf))
  const of: DatabaseTables['of'] = (model) => byName.get(nameOf(model))
  return {
    of,
    columnOf: (model, { name }) => of(model)?.get(foldName(name)),
    nameOf,
    isSameTable: (one, other) => nameOf(one) === nameOf(other),
    isInherited: (model) => inherited.has(nameOf(model))
  }
}

type ListedTable = Pick<Table, 'name' | 'isView' | 'columns'>

/** Reads the types of all columns. Returns a function that gives the columns of a listed table with their types. */
async function readTypes (handle: AnyKysely): Promise<(table: ListedTable) => readonly TableColumn[]> {
  const { db, dialect: { schema: { written } } } = readHandle(handle)
  const { rows: types } = await written.execute(db)
  const writtenAs = new Map(types.map((row) => [`${row.table}.${row.name}`, row]))
  return ({ name: table, isView, columns }) => columns.map((column) => {
    const type: WrittenColumn =
      writtenAs.get(`${table}.${column.name}`) ?? { table, name: column.name, written: column.dataType }
    return { ...column, isView, isNullable: column.isNullable && !isYes(type.refusesNull), written: type }
  })
}

/** Function that returns the model of a table; undefined if no model names it. */
type ModelOf = (table: string) => Model | undefined

/** Lists tables and their columns: all of them, or on SQLite those that models name. */
async function listTables (handle: AnyKysely, modelOf: ModelOf): Promise<readonly ListedTable[]> {
  const { dialect: { schema: { listing } } } = readHandle(handle)
  return 'columnsOf' in listing ? await listNamed(handle, listing, modelOf) : await listAll(handle, listing)
}

/**
 * Lists all tables in the schemas in which a table is found by its bare name. If several have a table of the same name,
 * the one that a statement finds comes last, because a later table of a map takes the place of an earlier one.
 */
async function listAll (handle: AnyKysely, { generated, schemas }: AllTables): Promise<readonly ListedTable[]> {
  const { db } = readHandle(handle)
  const { rows: unreported } = await generated.execute(db)
  const numbered = new Set(unreported.map(({ table, name }) => `${table}.${name}`))
  const tables = (await handle.introspection.getTables()).map((table) => ({
    ...table,
    columns: table.columns.map((column) =>
      ({ ...column, isAutoIncrementing: column.isAutoIncrementing || numbered.has(`${table.name}.${column.name}`) }))
  }))
  if (schemas === undefined) return tables
  const { rows: path } = await schemas.path.execute(db)
  const { rows } = await schemas.unlisted.execute(db)
  return [
    ...path.toReversed().flatMap(({ name }) => tables.filter(({ schema }) => schema === name)),
    ...[...new Set(rows.map(({ table }) => table))].map((name) =>
      ({ name, isView: true, columns: rows.filter(({ table }) => table === name).map(columnOf) }))
  ]
}

/** Lists the tables that models name, each with the answer of a query of its own. */
async function listNamed (
  handle: AnyKysely, listing: TableByTable, modelOf: ModelOf
): Promise<readonly ListedTable[]> {
  const { db, dialect } = readHandle(handle)
  const { rows } = await dialect.catalog.tables.execute(db)
  const tables: ListedTable[] = []
  for (const table of rows) {
    const model = modelOf(table.name)
    if (model === undefined) continue
    const { rows: columns } = await listing.columnsOf(table.name).execute(db).catch((failure: unknown) => {
      throw failureKind(dialect, failure) === undefined ? unreadable(model, table, failure) : failure
    })
    tables.push({ name: table.name, isView: table.kind === 'view', columns: columns.map(columnOf) })
  }
  return tables
}

function unreadable (model: Model, { name, kind }: TableRow, failure: unknown): Error {
  return new errors.TableMismatch('The database does not fit the models:\n' +
    `- model '${model.name}' needs ${kind} '${name}', which cannot be read: ${messageOf(failure)}. ` +
    "Mend it, load the extension that it needs, or name another with 'table'")
}

function columnOf ({ name, type, nullable, generated }: ListedColumn): Table['columns'][number] {
  return {
    name, dataType: type, isNullable: isYes(nullable), isAutoIncrementing: isYes(generated), hasDefaultValue: false
  }
}
