import { sql, type RawBuilder, type SqlBool } from 'kysely'
import type { Dialect } from '../engines/dialect.js'
import type { Parameter } from '../engines/storage.js'
import type { Operator } from '../fields/operators.js'
import type { Column } from '../model/column.js'
import { baseAlias, type PlannedOrder } from '../plan/list-plan.js'
import { conditionSql } from './condition.js'
import { columnRef } from './selection.js'

/** A column of an ordering, and what a cursor says of it: a parameter, or null. */
export interface Bound extends PlannedOrder {
  readonly value: Parameter
}

type Conditions = ReadonlyArray<RawBuilder<SqlBool>>

/** A part of a list. */
export interface KeysetBranch {
  /** All of them must hold. */
  readonly conditions: Conditions
  /** How many columns of the ordering, from the first on, are the same in all its rows: engines do not always see that. */
  readonly fixed: number
}

/** So many columns get ways of their own, so that a statement stays short whatever is asked for. */
const maxSteps = 3

/**
 * The ways for a row to come after a cursor: it differs in the first column, or is equal there and differs in the second,
 * and so on. A row goes one of them at most, and each is one stretch of an index, where a single condition would have
 * engines sort all rows.
 *
 * @param bounds  of the columns in their order; the last one is the primary key
 * @param isHeavy  whether the conditions that each branch repeats are too many for more than one branch
 */
export function keysetBranches (bounds: readonly Bound[], dialect: Dialect, isHeavy: boolean): readonly KeysetBranch[] {
  const steps = isHeavy ? 0 : Math.min(bounds.length - 1, maxSteps)
  const equals = bounds.slice(0, steps).map((bound) => isEqual(bound, dialect))
  const ways = bounds.slice(0, steps).flatMap((bound, index) => laterBy(bound, dialect).map(({ condition, isNull }) =>
    ({ conditions: [...equals.slice(0, index), condition], fixed: isNull ? index + 1 : index })))
  return [...ways, { conditions: [...equals, comesAfter(bounds.slice(steps), dialect)], fixed: steps }]
}

/** The same as one condition. */
function comesAfter (bounds: readonly Bound[], dialect: Dialect): RawBuilder<SqlBool> {
  return any(bounds.reduceRight<Conditions>((later, bound) => {
    const isEqualAndLater = later.length === 0 ? [] : [sql<SqlBool>`(${isEqual(bound, dialect)} and ${any(later)})`]
    return [...laterBy(bound, dialect).map(({ condition }) => condition), ...isEqualAndLater]
  }, []))
}

function any (conditions: Conditions): RawBuilder<SqlBool> {
  return sql<SqlBool>`(${sql.join(conditions, sql` or `)})`
}

/** The ways to come later by one column: nulls are first when ascending, and last when descending. */
function laterBy ({ column, descending, value }: Bound, dialect: Dialect): ReadonlyArray<{ readonly condition: RawBuilder<SqlBool>, readonly isNull: boolean }> {
  if (value === null) return descending ? [] : [{ condition: sql<SqlBool>`${columnRef(column, baseAlias)} is not null`, isNull: false }]
  const isBeyond = { condition: condition(column, descending ? 'lt' : 'gt', value, dialect), isNull: false }
  return descending && column.nullable ? [isBeyond, { condition: condition(column, 'is', null, dialect), isNull: true }] : [isBeyond]
}

function isEqual ({ column, value }: Bound, dialect: Dialect): RawBuilder<SqlBool> {
  return condition(column, value === null ? 'is' : 'eq', value, dialect)
}

function condition (column: Column, operator: Operator, value: Parameter, dialect: Dialect): RawBuilder<SqlBool> {
  return conditionSql({ alias: baseAlias, column, operator, values: [value], asStored: true }, dialect)
}
