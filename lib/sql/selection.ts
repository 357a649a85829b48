import { sql, type AliasedRawBuilder, type Expression, type RawBuilder, type SqlBool } from 'kysely'
import type { Dialect } from '../engines/dialect.js'
import type { Parameter } from '../engines/storage.js'
import { storageOf, type Column, type ForeignKeyColumn } from '../model/column.js'
import { isText, keyColumnsOf } from '../model/key.js'
import type { Model } from '../model/model.js'
import { itemAt } from '../values/lookup.js'

/** Returns a column in SQL, qualified by `alias`. Without an alias, for statements on one table, it is unqualified. */
export function columnRef (column: Column, alias?: string): RawBuilder<unknown> {
  return sql`${sql.ref(alias === undefined ? column.name : `${alias}.${column.name}`)}`
}

/**
 * Returns the condition that the foreign key of a row refers to another row. The key of the other row stands on the
 * left, because SQLite then compares in the collation of that key, as the foreign key itself does.
 *
 * @param aliases  of the row with the foreign key, and of the other row
 */
export function isReferred (
  column: ForeignKeyColumn, { from, to }: { readonly from: string, readonly to: string }
): RawBuilder<SqlBool> {
  return sql<SqlBool>`${columnRef(column.target().primaryKey, to)} = ${columnRef(column, from)}`
}

/**
 * Returns columns for `select`. Each row of the result then has the value of each column under the column's key, in the
 * form that `decode` of the column's storage takes. Of some columns, only the part that records show is selected, such
 * as whole seconds.
 */
export function selection (
  columns: readonly Column[], dialect: Dialect
): Array<AliasedRawBuilder<unknown, string>> {
  return columns.map((column) => selected(column, dialect).as(column.key))
}

/**
 * Returns the SQL that selects the value of one column, as {@link selection} does, but gives the value no name.
 */
export function selected (column: Column, dialect: Dialect, alias?: string): RawBuilder<unknown> {
  const ref = columnRef(column, alias)
  return sql`${storageOf(column, dialect).select?.(ref) ?? ref}`
}

/** Returns a value as SQL to compare a column with: the parameter, converted if the column's storage needs that. */
export function compared (column: Column, value: Parameter, dialect: Dialect): Expression<unknown> {
  return storageOf(column, dialect).compared?.(value) ?? sql`${value}`
}

/**
 * Returns the conditions that a row has a certain primary key, one for each column of the key. `values` are in the
 * order of these columns.
 */
export function keyConditions (
  model: Model, values: readonly Parameter[], dialect: Dialect
): ReadonlyArray<RawBuilder<SqlBool>> {
  return keyColumnsOf(model).map((column, index) =>
    exactCondition({ column, value: itemAt(values, index) }, dialect))
}

/** A column and the value that it must have. A statement on one table needs no `alias`. */
interface Equality {
  readonly column: Column
  readonly value: Parameter
  readonly alias?: string
}

/**
 * Returns the condition that a column has exactly a value. A comparison in the column's collation alone may also find
 * other texts, which belong to other records if the unique index has another collation.
 */
export function exactCondition ({ column, value, alias }: Equality, dialect: Dialect): RawBuilder<SqlBool> {
  const ref = columnRef(column, alias)
  const isFound = sql<SqlBool>`${ref} = ${compared(column, value, dialect)}`
  const { isCollated, shown } = storageOf(column, dialect)
  if (!isText(column) || isCollated !== true) return isFound
  if (shown !== undefined) return shown(ref, 'eq', [value])
  // An index serves the first comparison if it has the collation of the column.
  return sql<SqlBool>`(${isFound} and ${dialect.exact(ref)} = ${compared(column, value, dialect)})`
}

/** Returns the condition that a column equals a value as the engine compares, so a collation may ignore case. */
export function isEqual (column: Column, value: Parameter, dialect: Dialect): RawBuilder<SqlBool> {
  return sql<SqlBool>`${columnRef(column)} = ${compared(column, value, dialect)}`
}
