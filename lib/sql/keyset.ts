import { sql, type RawBuilder, type SqlBool } from 'kysely'
import type { Dialect } from '../engines/dialect.js'
import type { Parameter } from '../engines/storage.js'
import type { Operator } from '../fields/operators.js'
import type { Column } from '../model/column.js'
import { baseAlias, type PlannedOrder } from '../plan/list-plan.js'
import { conditionSql } from './condition.js'
import { columnRef } from './selection.js'

/** A column of an ordering, with the value that the cursor holds for it: a parameter, or null. */
export interface Bound extends PlannedOrder {
  readonly value: Parameter
}

type Conditions = ReadonlyArray<RawBuilder<SqlBool>>

/**
 * Part of the rows after a cursor. No row is in two branches, and together the branches have all rows after the cursor.
 */
export interface KeysetBranch {
  /** Conditions that must all hold. */
  readonly conditions: Conditions
  /**
   * Number of leading columns of the ordering that are equal in all rows of the branch. They are left out of its `order
   * by`, because engines do not always see that they are equal.
   */
  readonly fixed: number
}

/**
 * Leading columns of an ordering that get branches of their own; all further columns share the last branch. The limit
 * keeps every statement short.
 */
const maxBranchedColumns = 3

/**
 * Returns the branches that select the rows after a cursor: a row comes later by the first column, or is equal there
 * and comes later by the second, and so on. A row is in one branch at most, and each branch reads one stretch of an
 * index. With a single condition, engines would sort all rows.
 *
 * @param bounds   one for each column of the ordering; the last one is a column of the primary key
 * @param isHeavy  true if the list has too many values to repeat them in each branch; then there is one branch
 */
export function keysetBranches (bounds: readonly Bound[], dialect: Dialect, isHeavy: boolean): readonly KeysetBranch[] {
  const steps = isHeavy ? 0 : Math.min(bounds.length - 1, maxBranchedColumns)
  const equals = bounds.slice(0, steps).map((bound) => isEqual(bound, dialect))
  const branches = bounds.slice(0, steps).flatMap((bound, index) =>
    laterBy(bound, dialect).map(({ condition, isNull }) =>
      ({ conditions: [...equals.slice(0, index), condition], fixed: isNull ? index + 1 : index })))
  return [...branches, { conditions: [...equals, comesAfter(bounds.slice(steps), dialect)], fixed: steps }]
}

/** Returns one condition that holds for all rows after the bounds. The last of the {@link keysetBranches} has it. */
function comesAfter (bounds: readonly Bound[], dialect: Dialect): RawBuilder<SqlBool> {
  return any(bounds.reduceRight<Conditions>((later, bound) => {
    const isEqualAndLater = later.length === 0 ? [] : [sql<SqlBool>`(${isEqual(bound, dialect)} and ${any(later)})`]
    return [...laterBy(bound, dialect).map(({ condition }) => condition), ...isEqualAndLater]
  }, []))
}

function any (conditions: Conditions): RawBuilder<SqlBool> {
  return sql<SqlBool>`(${sql.join(conditions, sql` or `)})`
}

/**
 * Returns the conditions under which a row comes after the bound by its column alone; any one of them suffices. Empty
 * if no row can come after it. Nulls are first if ascending, and last if descending.
 */
function laterBy (
  { column, descending, value }: Bound, dialect: Dialect
): ReadonlyArray<{ readonly condition: RawBuilder<SqlBool>, readonly isNull: boolean }> {
  if (value === null) {
    const isNotNull = sql<SqlBool>`${columnRef(column, baseAlias)} is not null`
    return descending ? [] : [{ condition: isNotNull, isNull: false }]
  }
  const isBeyond = { condition: condition(column, descending ? 'lt' : 'gt', value, dialect), isNull: false }
  return descending && column.nullable
    ? [isBeyond, { condition: condition(column, 'is', null, dialect), isNull: true }]
    : [isBeyond]
}

function isEqual ({ column, value }: Bound, dialect: Dialect): RawBuilder<SqlBool> {
  return condition(column, value === null ? 'is' : 'eq', value, dialect)
}

function condition (column: Column, operator: Operator, value: Parameter, dialect: Dialect): RawBuilder<SqlBool> {
  return conditionSql({ alias: baseAlias, column, operator, values: [value], asStored: true }, dialect)
}
