import { sql, type Expression, type RawBuilder, type SqlBool } from 'kysely'
import { datetime } from '../values/values.js'
import { anyOf } from './any-of.js'
import type { Exact, Parameter, ShownCondition, Stored } from './storage.js'

/**
 * SQL for the first and the last moment of a second. Records show both in the same way: 12:00:00 and 12:00:00.999999 as
 * `12:00:00`.
 */
interface Second {
  first (value: Parameter): Expression<unknown>
  last (value: Parameter): Expression<unknown>
}

/**
 * Returns a function that makes a condition on a column whose moments may have fractions of a second. Moments of the
 * same second are equal, because records show whole seconds. Except for `ne`, the condition is a range, so an index
 * serves.
 */
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

const fraction = /\.(\d*[1-9])?0*$/

/**
 * Returns the conversion that keeps fractions of a second of a datetime in a cursor.
 *
 * @param suffix  appended to the cursor's text before the engine reads it, such as `+00`
 */
export function exactMoment (suffix: string): Exact {
  return {
    write: (stored) => String(stored).replace(fraction, (_found, digits?: string) => digits ? `.${digits}` : ''),
    read: (text) => {
      const moment = datetime(text)
      return moment === undefined ? undefined : `${moment}${fraction.exec(text)?.[0] ?? ''}${suffix}`
    }
  }
}

/** Cuts the fraction of a second off a date and time. */
export function cutFraction (stored: Stored): string {
  return String(stored).slice(0, '2024-02-29 23:59:59'.length)
}
