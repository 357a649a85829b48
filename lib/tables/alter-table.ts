import { sql, type RawBuilder } from 'kysely'
import type { Dialect } from '../engines/dialect.js'
import { encode, isForeignKey, isNow, storageOf, valueKindOf, type Column } from '../model/column.js'
import type { Model } from '../model/define-model.js'
import type { Json } from '../values/values.js'
import type { Reference } from './plan-tables.js'
import {
  constrain, defaultExpression, onDeleteOf, typeOf, uniqueNameOf, type SchemaTarget
} from './table.js'

/** True if the table cannot give a value to a column, which must have one. */
export function needsValue (column: Column, dialect: Dialect): boolean {
  return !column.nullable && defaultExpression(column, dialect) === undefined
}

/** True if a column can be added only to a table without rows. */
export function needsEmptyTable (column: Column, dialect: Dialect): boolean {
  const hasDefault = defaultExpression(column, dialect) !== undefined
  return needsValue(column, dialect) || (dialect.schema.altersByColumn === true && isForeignKey(column) && hasDefault)
}

/** A column to add to the table of a model. */
interface AddedColumn {
  readonly model: Model
  readonly column: Column
}

/** Adds a column to a table that exists. {@link addUnique} makes it unique, if it is. */
export async function addColumn (db: SchemaTarget, { model, column }: AddedColumn, dialect: Dialect): Promise<void> {
  const { altersByColumn } = dialect.schema
  const type = sql.raw(typeOf(column, model, dialect))
  await db.schema.alterTable(model.table).addColumn(column.name, type, (builder) => {
    const constrained = constrain(builder, column, lastingDefault(column, dialect))
    return altersByColumn === true && isForeignKey(column) ? refer(constrained, column) : constrained
  }).execute()
}

function refer (builder: Parameters<typeof constrain>[0], column: Reference['column']): typeof builder {
  const { table, primaryKey } = column.target()
  return builder.references(`${table}.${primaryKey.name}`).onDelete(onDeleteOf(column))
}

/** Moment of rows that another program adds without one, if the engine cannot add a column whose default is now. */
const noMoment = '1970-01-01'

/** Returns a dialect in which the default of a column is constant if the engine can add no others. */
function lastingDefault (column: Column, dialect: Dialect): Dialect {
  if (momentOf(column, dialect) === undefined) return dialect
  const { now, ...storage } = storageOf(column, dialect)
  const value = valueKindOf(column).accept(noMoment, column.options) as Json
  const lasting = column.nullable ? storage : { ...storage, now: sql`${sql.lit(encode(column, value, dialect))}` }
  return { ...dialect, storages: new Map([[column, lasting]]) }
}

/**
 * Returns the moment to set in all rows when a column is added; undefined if the engine does that itself. SQLite adds
 * no column whose default is not constant.
 */
export function momentOf (column: Column, dialect: Dialect): RawBuilder<unknown> | undefined {
  if (dialect.schema.altersByColumn !== true || !isNow(column)) return undefined
  return sql`${storageOf(column, dialect).now}`
}

/** Makes columns of a table unique together. An index does so on every engine, also for a column that exists. */
export async function addUnique (db: SchemaTarget, { table }: Model, group: readonly Column[]): Promise<void> {
  const names = group.map(({ name }) => name)
  await db.schema.createIndex(uniqueNameOf(table, names)).on(table).columns(names).unique().execute()
}

/** Drops an index of a table. */
export async function dropIndex (
  db: SchemaTarget, { table, name }: { readonly table: string, readonly name: string }, { schema }: Dialect
): Promise<void> {
  const dropping = db.schema.dropIndex(name)
  await (schema.namesTableOfIndex === true ? dropping.on(table) : dropping).execute()
}
