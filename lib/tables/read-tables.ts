import { readHandle, type AnyKysely } from '../database/engine.js'
import { isYes, type ColumnRow } from '../engines/catalog.js'
import type { WrittenColumn } from '../engines/storage.js'
import type { Column, Model } from '../model/model.js'

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

/** Reads the tables of a database. */
export async function readTables (handle: AnyKysely): Promise<DatabaseTables> {
  const { db, dialect: { catalog, foldName, schema: { foldsTables } } } = readHandle(handle)
  const foldsAnswer = await foldsTables?.execute(db).then(({ rows: [row] }) => Number(row?.answer))
  const fold = foldsAnswer === 0 ? (name: string) => name : foldName
  const nameOf: DatabaseTables['nameOf'] = ({ table }) => fold(table)
  const describe = await readDescriptions(handle)
  const byName = new Map((await listTables(handle)).map((table) =>
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

/** Reads what Kysely does not tell of columns. Returns a function that gives the columns of a listed table with it. */
async function readDescriptions (handle: AnyKysely): Promise<(table: ListedTable) => readonly TableColumn[]> {
  const { db, dialect: { schema: { madeColumns, written } } } = readHandle(handle)
  const { rows: described } = await madeColumns.execute(db)
  const { rows: types } = await written.execute(db)
  const generates = (table: string, { name, isAutoIncrementing }: Table['columns'][number]): boolean =>
    isAutoIncrementing || described.some((row) => row.table === table && row.name === name && isYes(row.generated))
  const writtenAs = new Map(types.map((row) => [`${row.table}.${row.name}`, row]))
  return ({ name: table, isView, columns }) => [...columns, ...computedIn(described, table)].map((column) => {
    const type: WrittenColumn =
      writtenAs.get(`${table}.${column.name}`) ?? { table, name: column.name, written: column.dataType }
    return {
      ...column,
      isView,
      isNullable: column.isNullable && !isYes(type.refusesNull),
      isAutoIncrementing: generates(table, column),
      written: type
    }
  })
}

/**
 * Lists tables and their columns. If several schemas have a table of the same name, the table that a statement finds by
 * the name without a schema comes last, because a later table of a map takes the place of an earlier one.
 */
async function listTables (handle: AnyKysely): Promise<readonly ListedTable[]> {
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
