import { sql, type RawBuilder, type SqlBool } from 'kysely'
import type { Dialect } from './dialects.js'
import type { Stored } from './storage.js'

/** A column in a condition, and whether a collation has a say in comparing it. */
export interface ConditionColumn {
  readonly ref: RawBuilder<unknown>
  readonly isCollated: boolean
}

/** How the text of a filter is read: one value, a comma-separated list, a pattern, or one of null, true and false. */
export type FilterSyntax = 'value' | 'list' | 'pattern' | 'constant'

/** A filter operator: how its text is read, and its SQL for one or more values of which any may match (`ne`: none). */
interface OperatorRow {
  readonly syntax: FilterSyntax
  sql (column: ConditionColumn, values: readonly Stored[], dialect: Dialect): RawBuilder<SqlBool>
}

type Comparison = '=' | '<' | '<=' | '>' | '>='

const comparing = (symbol: Comparison): OperatorRow => ({
  syntax: 'value',
  sql: (column, values, dialect) =>
    any(values, (value) => sql<SqlBool>`${comparable(column, dialect)} ${sql.raw(symbol)} ${value}`)
})

/** The filter operators of the service document, "Filtering". */
const table = {
  eq: comparing('='),
  lt: comparing('<'),
  lte: comparing('<='),
  gt: comparing('>'),
  gte: comparing('>='),
  ne: {
    syntax: 'value',
    sql: (column, values, dialect) => sql<SqlBool>`${comparable(column, dialect)} not in (${sql.join(values)})`
  },
  in: {
    syntax: 'list',
    sql: (column, values, dialect) => values.length === 0
      ? sql<SqlBool>`1 = 0`
      : sql<SqlBool>`${comparable(column, dialect)} in (${sql.join(values)})`
  },
  is: {
    syntax: 'constant',
    sql: (column, values) => any(values, (value) =>
      value === null ? sql<SqlBool>`${column.ref} is null` : sql<SqlBool>`${column.ref} = ${value}`)
  },
  like: {
    syntax: 'pattern',
    sql: (column, values, dialect) => any(values, (pattern) => dialect.like(column.ref, String(pattern)))
  },
  ilike: {
    syntax: 'pattern',
    sql: (column, values, dialect) => any(values, (pattern) => dialect.ilike(column.ref, String(pattern)))
  }
} as const satisfies Record<string, OperatorRow>

export type Operator = keyof typeof table
export const operators: Readonly<Record<Operator, OperatorRow>> = table

export const equality = ['eq', 'ne', 'in', 'is'] as const satisfies Operator[]
export const comparisons = ['lt', 'lte', 'gt', 'gte'] as const satisfies Operator[]
export const matching = ['like', 'ilike'] as const satisfies Operator[]

export function isOperator (name: string): name is Operator {
  return Object.hasOwn(operators, name)
}

function comparable ({ ref, isCollated }: ConditionColumn, dialect: Dialect): RawBuilder<unknown> {
  return isCollated ? dialect.exact(ref) : ref
}

function any (values: readonly Stored[], condition: (value: Stored) => RawBuilder<SqlBool>): RawBuilder<SqlBool> {
  return sql<SqlBool>`(${sql.join(values.map(condition), sql` or `)})`
}
