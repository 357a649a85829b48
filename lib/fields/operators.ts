import { sql, type Expression, type RawBuilder, type SqlBool } from 'kysely'
import type { Dialect, PatternTraits } from '../engines/dialect.js'
import type { Parameter, Stored } from '../engines/storage.js'
import { keysOf } from '../values/lookup.js'

/** Column in a condition. `isCollated` is true if a collation affects how its values compare. */
export interface ConditionColumn extends PatternTraits {
  readonly ref: RawBuilder<unknown>
  readonly isCollated: boolean
  /**
   * SQL that is true if the column is null. Absent if `is null` does this; on MariaDB, `is null` may also find the date
   * `0000-00-00`.
   */
  readonly isNull?: RawBuilder<SqlBool> | undefined
  /**
   * Returns the SQL of a value that the column is compared with: the parameter, or an expression around it, such as a
   * cast.
   */
  compared (value: Parameter): Expression<unknown>
}

/**
 * Syntax of a filter's text: one value, a comma-separated list, a pattern, or a constant. The constants are null (also
 * written none), notnull, and for booleans true and false.
 */
export type FilterSyntax = 'value' | 'list' | 'pattern' | 'constant'

/** Filter operator: the syntax of its text, and its SQL, either for each value or for all values together. */
type OperatorRow = OperatorText & (EachSql | AllSql)

interface OperatorText {
  readonly syntax: FilterSyntax
  /**
   * Converts a pattern to the form that the engine takes. Absent for `ilike`, whose patterns stay as they are, and for
   * operators without patterns.
   */
  inEngine? (text: string, dialect: Dialect): Stored
}

interface EachSql {
  /** Returns the condition for one value. A filter with several values holds if the condition does for any of them. */
  each (column: ConditionColumn, value: Parameter, dialect: Dialect): RawBuilder<SqlBool>
}

interface AllSql {
  /** Returns the condition for all values: any of them matches or, for `ne`, none is equal. */
  all (column: ConditionColumn, values: readonly Parameter[], dialect: Dialect): RawBuilder<SqlBool>
}

/** Operand of `is` that matches every value except null. In SQL it becomes `is not null`, not a parameter. */
export const notNull = 'notnull'

type Comparison = '<' | '<=' | '>' | '>='

const comparing = (symbol: Comparison) => ({
  syntax: 'value',
  each: (column, value, dialect) =>
    sql<SqlBool>`${comparable(column, dialect)} ${sql.raw(symbol)} ${column.compared(value)}`
} as const satisfies OperatorRow)

/** Filter operators of the service document, "Filtering". A query writes the name after a field, as in `age__lt=30`. */
const table = {
  eq: { syntax: 'value', all: isOneOf },
  lt: comparing('<'),
  lte: comparing('<='),
  gt: comparing('>'),
  gte: comparing('>='),
  ne: {
    syntax: 'value',
    all: (column, values, dialect) => sql<SqlBool>`${comparable(column, dialect)} not in ${listed(column, values)}`
  },
  in: {
    syntax: 'list',
    all: (column, values, dialect) => values.length === 0 ? sql<SqlBool>`1 = 0` : isOneOf(column, values, dialect)
  },
  is: {
    syntax: 'constant',
    each: equalsConstant
  },
  like: {
    syntax: 'pattern',
    inEngine: (pattern, dialect) => dialect.likePattern(pattern),
    each: (column, pattern, dialect) => dialect.like(column.ref, pattern, column)
  },
  ilike: {
    syntax: 'pattern',
    each: (column, pattern, dialect) => dialect.ilike(column.ref, pattern, column)
  }
} as const satisfies Record<string, OperatorRow>

export type Operator = keyof typeof table
/** {@link FilterSyntax} of each operator, as a literal type: `'list'` for `in`. */
export type OperatorSyntax = { readonly [Name in Operator]: (typeof table)[Name]['syntax'] }
export const operators: Readonly<Record<Operator, OperatorRow>> = table

export const equality = ['eq', 'ne', 'in', 'is'] as const satisfies Operator[]
export const comparisons = ['lt', 'lte', 'gt', 'gte'] as const satisfies Operator[]
export const matching = ['like', 'ilike'] as const satisfies Operator[]

/** Operators by their names. The last part of a filter's name, such as `lt` of `age__lt`, is looked up here. */
export const operatorByName: ReadonlyMap<string, Operator> = new Map(
  keysOf(operators).map((name) => [name, name]))

function equalsConstant ({ ref, isNull, compared }: ConditionColumn, value: Parameter): RawBuilder<SqlBool> {
  if (value === null) return isNull ?? sql<SqlBool>`${ref} is null`
  return value === notNull ? sql<SqlBool>`${ref} is not null` : sql<SqlBool>`${ref} = ${compared(value)}`
}

function comparable ({ ref, isCollated }: ConditionColumn, dialect: Dialect): RawBuilder<unknown> {
  return isCollated ? dialect.exact(ref) : ref
}

function listed (column: ConditionColumn, values: readonly Parameter[]): RawBuilder<unknown> {
  return sql`(${sql.join(values.map((value) => column.compared(value)))})`
}

function isOneOf (column: ConditionColumn, values: readonly Parameter[], dialect: Dialect): RawBuilder<SqlBool> {
  const [first = null, ...others] = values
  const isAmong = others.length === 0 ? sql`= ${column.compared(first)}` : sql`in ${listed(column, values)}`
  const isExactly = sql<SqlBool>`${comparable(column, dialect)} ${isAmong}`
  if (!column.isCollated || !dialect.seeksByCollation) return isExactly
  return sql<SqlBool>`(${column.ref} ${isAmong} and ${isExactly})`
}
