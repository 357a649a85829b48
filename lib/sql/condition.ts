import { sql, type RawBuilder, type SqlBool } from 'kysely'
import { anyOf } from '../engines/any-of.js'
import type { Dialect, PatternTraits } from '../engines/dialect.js'
import type { Parameter, ShownCondition } from '../engines/storage.js'
import { operators, type ConditionColumn, type Operator } from '../fields/operators.js'
import { storageOf, type Column } from '../model/column.js'
import { isText } from '../model/key.js'
import type { PlannedCondition } from '../plan/list-plan.js'
import { itemAt } from '../values/lookup.js'
import { columnRef, compared } from './selection.js'

/**
 * A condition on a column. Each of its values is known, or a slot that a request fills. A statement on one table needs
 * no `alias`.
 */
interface Condition extends PatternTraits, Pick<PlannedCondition, 'column' | 'operator'> {
  readonly alias?: string
  /**
   * If true, the SQL compares with the value that the column stores; otherwise with the value that records show. The
   * two differ, for example, if records show whole seconds and the column stores milliseconds.
   */
  readonly asStored?: boolean
  readonly values: readonly Parameter[]
  /**
   * If true, `values` has one element: the text of a JSON array, and the column must equal one of its items. Otherwise
   * each element of `values` is one value to compare with.
   */
  readonly isArray?: boolean
}

/**
 * Returns the dialect with `seeksByCollation` false. Its SQL then compares texts only character by character, and not
 * also in the column's collation, which an index needs. Use it for statements that need no index of a text column, and
 * for texts that the column's character set cannot hold, because the engine refuses to compare these in the collation.
 */
export function withoutSeeks (dialect: Dialect): Dialect {
  return { ...dialect, seeksByCollation: false }
}

/** True if an operator compares values; `is` and the operators with patterns do not. */
function isComparison (operator: Operator): operator is Parameters<ShownCondition>[1] {
  return operators[operator].syntax === 'value' || operators[operator].syntax === 'list'
}

/** Returns a condition as SQL for `where`. */
export function conditionSql (condition: Condition, dialect: Dialect): RawBuilder<SqlBool> {
  const { alias, column, operator, values, isArray = false, asStored = false } = condition
  if (column.parts !== undefined) return keySql({ alias, parts: column.parts, operator, values }, dialect)
  const { shown, showsAll = false, isCollated = false } = storageOf(column, dialect)
  const ref = columnRef(column, alias)
  const [array = null] = values
  const listed = isArray ? dialect.listed?.(array) : undefined
  if (shown !== undefined && (showsAll || !asStored) && isComparison(operator) && values.length > 0) {
    return shown(ref, operator, values, listed)
  }
  if (listed !== undefined) return sql<SqlBool>`${isCollated ? dialect.exact(ref) : ref} in ${listed}`
  const row = operators[operator]
  const target = targetOf(condition, dialect)
  return 'each' in row
    ? anyOf(values.map((value) => row.each(target, value, dialect)))
    : row.all(target, values, dialect)
}

/** Returns the column of a condition in the form that the SQL of operators needs. */
function targetOf (
  { alias, column, operator, isAmbiguous = false, hasLeadingWildcard = false }: Condition, dialect: Dialect
): ConditionColumn {
  const { isCollated = false, isNull } = storageOf(column, dialect)
  const ref = columnRef(column, alias)
  const isIdentifying = operator === 'eq' && column.options.unique === true
  return {
    ref,
    isCollated,
    isAmbiguous,
    hasLeadingWildcard,
    isNull: isNull?.(ref),
    compared: (value) =>
      isIdentifying ? dialect.identifying(compared(column, value, dialect)) : compared(column, value, dialect)
  }
}

interface KeyCondition extends Pick<Condition, 'operator' | 'values'> {
  readonly alias: string | undefined
  readonly parts: readonly Column[]
}

/**
 * Returns the condition that a key of several columns is one of the keys in `values`; with `ne`, that it is none of
 * them. `values` has the values of one key after the other, each in the order of `parts`. If `values` is empty, no row
 * meets the condition, whatever the operator.
 */
function keySql ({ alias, parts, operator, values }: KeyCondition, dialect: Dialect): RawBuilder<SqlBool> {
  if (values.length === 0) return sql<SqlBool>`1 = 0`
  const partSql = (column: Column, operator: 'eq' | 'in', values: readonly Parameter[]) => conditionSql(
    { ...alias !== undefined && { alias }, column, operator, values, asStored: !isText(column) }, dialect)
  const keys = Array.from({ length: values.length / parts.length }, (_, key) => {
    const isEach = parts.map((part, index) => partSql(part, 'eq', [itemAt(values, key * parts.length + index)]))
    return sql<SqlBool>`${sql.join(isEach, sql` and `)}`
  })
  const isAny = anyOf(keys)
  if (operator === 'ne') return sql<SqlBool>`not ${isAny}`
  if (keys.length === 1) return isAny
  // SQLite reads a whole index if no condition without 'or' limits it to a part.
  const leading = values.filter((_value, index) => index % parts.length === 0)
  return sql<SqlBool>`(${partSql(itemAt(parts, 0), 'in', leading)} and ${isAny})`
}
