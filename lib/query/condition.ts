import { sql, type RawBuilder, type SqlBool } from 'kysely'
import { storageOf } from '../model/column.js'
import type { PlannedCondition } from '../plan/list-plan.js'
import type { Dialect } from '../vocabulary/dialects.js'
import { operators } from '../vocabulary/operators.js'
import type { Parameter } from '../vocabulary/storage.js'
import { columnRef, compared } from './selection.js'

/** A condition whose values may still be to come; without an alias in a statement on one table. */
interface Condition extends Pick<PlannedCondition, 'column' | 'operator'> {
  readonly alias?: string
  readonly values: readonly Parameter[]
  /** Whether the only value is a JSON array of all that the column may be equal to. */
  readonly isArray?: boolean
}

/** The SQL of a condition. */
export function conditionSql (
  { alias, column, operator, values, isArray = false }: Condition, dialect: Dialect
): RawBuilder<SqlBool> {
  const isIdentifying = operator === 'eq' && column.options.unique === true
  const target = {
    ref: columnRef(column, alias),
    isCollated: storageOf(column, dialect).isCollated === true,
    compared: (value: Parameter) => isIdentifying ? dialect.identifying(compared(column, value, dialect)) : compared(column, value, dialect)
  }
  const [array = null] = values
  if (isArray && dialect.listed !== undefined) return sql<SqlBool>`${target.isCollated ? dialect.exact(target.ref) : target.ref} in ${dialect.listed(array)}`
  return operators[operator].sql(target, values, dialect)
}
