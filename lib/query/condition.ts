import type { RawBuilder, SqlBool } from 'kysely'
import { storageOf } from '../model/column.js'
import type { PlannedCondition } from '../plan/list-plan.js'
import type { Dialect } from '../vocabulary/dialects.js'
import { operators } from '../vocabulary/operators.js'
import { columnRef, compared } from './selection.js'

/** The SQL of a condition; without an alias in a statement on one table. */
export function conditionSql (
  { alias, column, operator, values }: Omit<PlannedCondition, 'alias'> & { readonly alias?: string }, dialect: Dialect
): RawBuilder<SqlBool> {
  const target = {
    ref: columnRef(column, alias),
    isCollated: storageOf(column, dialect).isCollated === true,
    compared: (value: Parameters<typeof compared>[1]) => compared(column, value, dialect)
  }
  return operators[operator].sql(target, values, dialect)
}
