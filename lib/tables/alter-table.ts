import { sql, type Compilable, type RawBuilder } from 'kysely'
import type { Dialect } from '../engines/dialect.js'
import type { WrittenColumn } from '../engines/storage.js'
import { acceptDefault, encode, isForeignKey, isNow, storageOf, type Column } from '../model/column.js'
import type { Model } from '../model/define-model.js'
import type { Reference } from './plan-tables.js'
import {
  constrain, defaultExpression, onDeleteOf, typeOf, uniqueNameOf, type SchemaTarget
} from './table.js'

/** True if a column must have a value, but has no default in the table. */
export function needsValue (column: Column, dialect: Dialect): boolean {
  return !column.nullable && defaultExpression(column, dialect) === undefined
}

/**
 * True if a column can be added only to a table without rows: rows would have no value for it, or it is a foreign key
 * with a default, which SQLite cannot add to a table with rows.
 */
export function needsEmptyTable (column: Column, dialect: Dialect): boolean {
  const hasDefault = defaultExpression(column, dialect) !== undefined
  return needsValue(column, dialect) || (dialect.schema.altersByColumn === true && isForeignKey(column) && hasDefault)
}

/** A column to add to the table of a model. */
interface AddedColumn {
  readonly model: Model
  readonly column: Column
}

/**
 * Adds a column to a table that exists. If the column is unique, {@link addUnique} must follow. If it is a foreign key,
 * `addReference` must follow, except on SQLite, where this function adds the foreign key with the column. If
 * {@link momentOf} returns SQL for the column, all rows must be set to it afterwards.
 */
export async function addColumn (db: SchemaTarget, { model, column }: AddedColumn, dialect: Dialect): Promise<void> {
  const { altersByColumn } = dialect.schema
  const type = sql.raw(typeOf(column, model, dialect))
  await db.schema.alterTable(model.table).addColumn(column.name, type, (builder) => {
    const constrained = constrain(builder, column, withConstantDefault(column, dialect))
    return altersByColumn === true && isForeignKey(column) ? refer(constrained, column) : constrained
  }).execute()
}

/**
 * Returns the statement that replaces the checks of an existing column of MariaDB, where they have no name by which
 * they could be dropped. It declares the column again: with its type and collation as they are, and with the default
 * and the checks that createTables() writes.
 */
export function modifyColumn (
  db: SchemaTarget, { model, column, existing }: AddedColumn & { readonly existing: WrittenColumn }, dialect: Dialect
): Compilable {
  const { written, collation } = existing
  const type = typeof collation === 'string' ? `${written} collate ${collation}` : written
  return db.schema.alterTable(model.table)
    .modifyColumn(column.name, sql.raw(type), (builder) => constrain(builder, column, dialect))
}

function refer (builder: Parameters<typeof constrain>[0], column: Reference['column']): typeof builder {
  const { table, primaryKey } = column.target()
  return builder.references(`${table}.${primaryKey.name}`).onDelete(onDeleteOf(column))
}

/**
 * Default, on SQLite, of an added column whose default in the model is the current time: SQLite can add only columns
 * with constant defaults. Rows that other programs insert without a value get it. A nullable column gets no default.
 */
const constantMoment = '1970-01-01'

/**
 * Returns the dialect for adding a column. On SQLite, a default that is the current time becomes
 * {@link constantMoment} in it, or none if the column is nullable. In any other case the dialect is returned unchanged.
 */
function withConstantDefault (column: Column, dialect: Dialect): Dialect {
  if (momentOf(column, dialect) === undefined) return dialect
  const { now, ...storage } = storageOf(column, dialect)
  const value = acceptDefault(column, constantMoment)
  const constant = column.nullable ? storage : { ...storage, now: sql`${sql.lit(encode(column, value, dialect))}` }
  return { ...dialect, storages: new Map([[column, constant]]) }
}

/**
 * Returns the current time as SQL if all rows must be set to it after a column was added: only on SQLite, which can add
 * no column with this default. Returns undefined if the engine sets it itself, or if the column has another default or
 * none.
 */
export function momentOf (column: Column, dialect: Dialect): RawBuilder<unknown> | undefined {
  if (dialect.schema.altersByColumn !== true || !isNow(column)) return undefined
  return sql`${storageOf(column, dialect).now}`
}

/**
 * Makes a column, or several together, unique by a unique index, which every engine can add to existing columns. Fails
 * if rows have the same values in them, or if an index has this name already.
 */
export async function addUnique (db: SchemaTarget, { table }: Model, group: readonly Column[]): Promise<void> {
  const names = group.map(({ name }) => name)
  await db.schema.createIndex(uniqueNameOf(table, names)).on(table).columns(names).unique().execute()
}

/** Drops an index of a table. Fails if there is no such index. */
export async function dropIndex (
  db: SchemaTarget, { table, name }: { readonly table: string, readonly name: string }, { schema }: Dialect
): Promise<void> {
  const dropping = db.schema.dropIndex(name)
  await (schema.namesTableOfIndex === true ? dropping.on(table) : dropping).execute()
}
