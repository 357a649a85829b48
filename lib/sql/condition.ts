import { sql, type RawBuilder, type SqlBool } from 'kysely'
import type { Dialect } from '../engines/dialect.js'
import type { Parameter, ShownCondition } from '../engines/storage.js'
import { operators, type Operator } from '../fields/operators.js'
import { storageOf } from '../model/column.js'
import type { PlannedCondition } from '../plan/list-plan.js'
import { columnRef, compared } from './selection.js'

/** A condition whose values may still be to come; without an alias in a statement on one table. */
interface Condition extends Pick<PlannedCondition, 'column' | 'operator'> {
  readonly alias?: string
  /** Whether values are compared with what is stored, and not with what records show of it. */
  readonly asStored?: boolean
  readonly values: readonly Parameter[]
  /** Whether the only value is a JSON array of all that the column may be equal to. */
  readonly isArray?: boolean
  /** Whether a pattern holds characters that the engine does not tell apart by itself. */
  readonly isAmbiguous?: boolean
}

/** Whether an operator compares values, which not every one does. */
function isComparison (operator: Operator): operator is Parameters<ShownCondition>[1] {
  return operators[operator].syntax === 'value' || operators[operator].syntax === 'list'
}

/** The SQL of a condition. */
export function conditionSql (
  { alias, column, operator, values, isArray = false, isAmbiguous = false, asStored = false }: Condition, dialect: Dialect
): RawBuilder<SqlBool> {
  const { shown, isCollated = false } = storageOf(column, dialect)
  const ref = columnRef(column, alias)
  if (shown !== undefined && !asStored && isComparison(operator) && values.length > 0) return shown(ref, operator, values)
  const isIdentifying = operator === 'eq' && column.options.unique === true
  const target = {
    ref,
    isCollated,
    isAmbiguous,
    compared: (value: Parameter) => isIdentifying ? dialect.identifying(compared(column, value, dialect)) : compared(column, value, dialect)
  }
  const [array = null] = values
  if (isArray && dialect.listed !== undefined) return sql<SqlBool>`${target.isCollated ? dialect.exact(target.ref) : target.ref} in ${dialect.listed(array)}`
  return operators[operator].sql(target, values, dialect)
}
