import { sql, type Expression, type RawBuilder, type SqlBool } from 'kysely'
import { anyOf } from '../any-of.js'
import type { Parameter, ShownCondition } from '../storage.js'

type Sql = RawBuilder<unknown>

/** Returns SQL of the text that records show of a column in which SQLite may keep numbers or bytes. */
export const asText = (column: Expression<unknown>) => sql`cast(${column} as text)`

const symbols = { lt: sql`<`, lte: sql`<=`, gt: sql`>`, gte: sql`>=` } as const

/** Returns the operand of `in` that has every stored value which records may show as one of the given texts. */
type Candidates = (values: readonly Parameter[], listed: Sql | undefined) => Sql

/**
 * Returns conditions that compare a column by the texts that records show, character by character. For `eq` and `in`,
 * the stored values are also compared with candidates, so that an index serves.
 */
function byText (candidates: Candidates): ShownCondition {
  return (column, operator, values, listed) => {
    const text = sql`${asText(column)} collate binary`
    if (operator === 'ne') return sql<SqlBool>`${text} not in (${sql.join(values)})`
    if (operator !== 'eq' && operator !== 'in') {
      return anyOf(values.map((value) => sql<SqlBool>`${text} ${symbols[operator]} ${value}`))
    }
    const isListed = sql<SqlBool>`${text} in ${listed ?? sql`(${sql.join(values)})`}`
    return sql<SqlBool>`(${column} in ${candidates(values, listed)} and ${isListed})`
  }
}

/** Compares texts in a column of numeric affinity. SQLite itself makes a number of a text of digits there. */
export const byNumericText: ShownCondition =
  byText((values, listed) => listed ?? sql`(${sql.join(values)})`)

/** Compares texts in a column without a type, which keeps texts, numbers and bytes as they were written. */
export const byUntypedText: ShownCondition = byText((values, listed) => {
  if (listed === undefined) {
    return sql`(${sql.join(values.map((value) => sql`${value}, cast(${value} as numeric), cast(${value} as blob)`))})`
  }
  // A plus leaves the result without an affinity, which would convert the texts, and keep an index from serving.
  return sql`(select value from ${listed} union all select +cast(value as numeric) from ${listed}
    union all select +cast(value as blob) from ${listed})`
})
