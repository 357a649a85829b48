import { sql, type AliasedRawBuilder, type RawBuilder } from 'kysely'
import type { Dialect } from '../engines/dialect.js'
import { storageOf } from '../model/column.js'
import { baseAlias, type PlannedOrder } from '../plan/list-plan.js'
import { columnRef } from './selection.js'

/**
 * Name of an extra value at the end of a row: 1 if the selected values of the columns of the ordering are the stored
 * ones, and 0 if one of them is not, such as a time that was selected without its fraction of a second. A cursor can
 * only be made of a row with 1. The value is left out if every row would have 1, or if pages are numbered.
 */
export const wholeKey = '_whole'

/** Returns the value {@link wholeKey} for `select`; an empty list if no row needs it. */
export function wholeSelection (
  ordering: readonly PlannedOrder[], dialect: Dialect
): ReadonlyArray<AliasedRawBuilder<unknown, string>> {
  const claims = ordering.flatMap(({ column }) => {
    const ref = columnRef(column, baseAlias)
    const claim = storageOf(column, dialect).isWhole?.(ref)
    return claim === undefined ? [] : [column.nullable ? sql`(${ref} is null or ${claim})` : claim]
  })
  return claims.length === 0 ? [] : [sql`case when ${sql.join(claims, sql` and `)} then 1 else 0 end`.as(wholeKey)]
}

/**
 * Returns one column of an ordering as SQL for `order by`. The SQL says where nulls go only if the column is nullable,
 * so that an ordinary index can serve for any other column.
 */
export function orderSql (
  { column, descending }: PlannedOrder, ref: RawBuilder<unknown>, dialect: Dialect
): RawBuilder<unknown> {
  const { isCollated, sorted } = storageOf(column, dialect)
  const target = sorted?.(ref) ?? (isCollated ? dialect.exact(ref) : ref)
  const { [descending ? 'descending' : 'ascending']: nullsFirst } = dialect.nullsFirst
  return sql`${target} ${column.nullable ? nullsFirst : descending ? sql`desc` : sql`asc`}`
}
