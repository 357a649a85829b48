import { sql, type RawBuilder, type SqlBool } from 'kysely'
import { anyOf } from '../moments.js'
import type { Parameter, ShownCondition } from '../storage.js'

type NumberSql = RawBuilder<unknown>
type Compare = (column: NumberSql, rounded: NumberSql, value: Parameter) => RawBuilder<SqlBool>

/**
 * Compares decimals by what records show of them: rounded to their scale. SQLite keeps them as floating-point numbers,
 * so what other programs compute may have more digits, such as 3.3000000000000003 for three times 1.10. Except for
 * `ne`, a condition on the stored numbers lets an index serve.
 */
export const asRounded: ShownCondition = (column, operator, values, { scale = 2 }) => {
  const rounded = sql`round(${column}, ${sql.lit(scale)})`
  if (operator === 'ne') return sql<SqlBool>`${rounded} not in (${sql.join(values)})`
  // Half a unit of the last digit, and a little more: the rounded number decides.
  const near = sql.lit(0.51 / 10 ** scale)
  if (operator !== 'eq' && operator !== 'in') {
    const compare = comparisonsWithin(near)[operator]
    return anyOf(values.map((value) => compare(column, rounded, value)))
  }
  const [least, most] = boundsOf(values)
  const isNear = sql`${column} >= ${least} - ${near} and ${column} <= ${most} + ${near}`
  return sql<SqlBool>`(${isNear} and ${rounded} in (${sql.join(values)}))`
}

/** Returns the least and the greatest of some values as SQL. */
function boundsOf (values: readonly Parameter[]): readonly [NumberSql, NumberSql] {
  const [value = null, ...others] = values
  if (others.length === 0) return [sql`${value}`, sql`${value}`]
  const all = sql`(values ${sql.join(values.map((value) => sql`(${value})`))})`
  return [sql`(select min(column1) from ${all})`, sql`(select max(column1) from ${all})`]
}

/** Returns the conditions of comparisons. Each tests the stored number first, for which an index can serve. */
function comparisonsWithin (near: RawBuilder<unknown>): Record<'lt' | 'lte' | 'gt' | 'gte', Compare> {
  const compare = (symbol: RawBuilder<unknown>, bound: (value: Parameter) => NumberSql): Compare =>
    (column, rounded, value) =>
      sql<SqlBool>`${column} ${symbol} ${bound(value)} and ${rounded} ${symbol} ${value}`
  const earliest = (value: Parameter): NumberSql => sql`${value} - ${near}`
  const latest = (value: Parameter): NumberSql => sql`${value} + ${near}`
  return {
    lt: compare(sql`<`, latest),
    lte: compare(sql`<=`, latest),
    gt: compare(sql`>`, earliest),
    gte: compare(sql`>=`, earliest)
  }
}
