import { sql, type Expression, type RawBuilder, type SqlBool } from 'kysely'
import { datetime } from '../values/values.js'
import type { Exact, Parameter, ShownCondition, Stored } from './storage.js'

/** The first and the last moment that are shown as a value, in SQL. */
interface Second {
  first (value: Parameter): Expression<unknown>
  last (value: Parameter): Expression<unknown>
}

/** Compares a column that holds fractions of a second by what records show of it, which is whole seconds: by ranges, so that an index serves. */
export function inWholeSeconds ({ first, last }: Second): ShownCondition {
  const isIn: Compare = (column, value) => sql<SqlBool>`${column} >= ${first(value)} and ${column} <= ${last(value)}`
  const table: Readonly<Record<Parameters<ShownCondition>[1], Compare>> = {
    eq: isIn,
    in: isIn,
    ne: isIn,
    lt: (column, value) => sql<SqlBool>`${column} < ${first(value)}`,
    lte: (column, value) => sql<SqlBool>`${column} <= ${last(value)}`,
    gt: (column, value) => sql<SqlBool>`${column} > ${last(value)}`,
    gte: (column, value) => sql<SqlBool>`${column} >= ${first(value)}`
  }
  return (column, operator, values) => {
    const matches = anyOf(values.map((value) => table[operator](column, value)))
    return operator === 'ne' ? sql<SqlBool>`not ${matches}` : matches
  }
}

type Compare = (column: RawBuilder<unknown>, value: Parameter) => RawBuilder<SqlBool>

/** A condition of which one must hold. */
export function anyOf (conditions: ReadonlyArray<RawBuilder<SqlBool>>): RawBuilder<SqlBool> {
  return sql<SqlBool>`(${sql.join(conditions.map((condition) => sql`(${condition})`), sql` or `)})`
}

const fraction = /\.(\d*?)0*$/

/** Moments with fractions in cursors, as text; `suffix` is what an engine reads behind the text. */
export function exactMoment (suffix: string): Exact {
  return {
    write: (stored) => String(stored).replace(fraction, (_found, digits: string) => digits === '' ? '' : `.${digits}`),
    read: (text) => {
      const moment = datetime(text)
      return moment === undefined ? undefined : `${moment}${fraction.exec(text)?.[0] ?? ''}${suffix}`
    }
  }
}

/** The text of a moment in whole seconds, cut from one with a fraction. */
export function cutFraction (stored: Stored): string {
  return String(stored).slice(0, '2024-02-29 23:59:59'.length)
}
