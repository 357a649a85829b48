import { sql, type RawBuilder, type SqlBool } from 'kysely'
import type { Dialect } from '../engines/dialect.js'
import type { Slot } from '../engines/storage.js'
import type { Column } from '../model/column.js'
import type { PlannedInclude } from '../plan/list-plan.js'
import { withoutSeeks } from './condition.js'
import { openCondition } from './filled-condition.js'
import { fillScope, scopeSql, shapeOfScope, type FilledScope, type OpenScope } from './scope-sql.js'
import { isReferred } from './selection.js'

/** One related record that a list includes, planned: the values of its scope are in the form that the engine stores. */
export interface FilledInclude extends Omit<PlannedInclude, 'scope' | 'path'> {
  readonly conditions: readonly FilledScope[]
}

/**
 * A {@link FilledInclude} with a {@link Slot} in place of each value of its scope, for a statement that is compiled
 * once.
 */
export interface OpenInclude extends Omit<PlannedInclude, 'scope' | 'path'> {
  readonly conditions: readonly OpenScope[]
}

export function fillIncludes (includes: readonly PlannedInclude[], dialect: Dialect): readonly FilledInclude[] {
  return includes.map(({ alias, from, column, visible, scope }) =>
    ({ alias, from, column, visible, conditions: scope.map((condition) => fillScope(condition, dialect)) }))
}

export function openInclude ({ conditions, ...include }: FilledInclude, nextSlot: () => Slot): OpenInclude {
  return { ...include, conditions: conditions.map((condition) => openCondition(condition, nextSlot)) }
}

/** Returns all that the SQL of a related record depends on, as one text with a space before each part. */
export function shapeOfInclude ({ from, column, conditions }: FilledInclude): string {
  let shape = ` with:${from}.${column.key}`
  for (const condition of conditions) shape += ` if:${shapeOfScope(condition)}`
  return shape
}

/**
 * Returns the condition on which a related record is joined: the foreign key refers to the record, and the record lies
 * inside its scope.
 */
export function includeSql ({ alias, from, column, conditions }: OpenInclude, dialect: Dialect): RawBuilder<SqlBool> {
  // One row is looked up by its key, so no index of a text is needed.
  const isInside = conditions.map((condition) => scopeSql(condition, alias, withoutSeeks(dialect)))
  return sql<SqlBool>`${sql.join([isReferred(column, { from, to: alias }), ...isInside], sql` and `)}`
}

/** Returns the columns of related records in the order in which rows have them, each with the alias of its table. */
export function includedColumns (
  includes: ReadonlyArray<Pick<PlannedInclude, 'alias' | 'visible'>>
): ReadonlyArray<{ readonly column: Column, readonly alias: string }> {
  return includes.flatMap(({ alias, visible }) => visible.map((column) => ({ column, alias })))
}

/**
 * Returns keys such as `_5` for the columns of related records, which follow `width` other columns in a row. Names of
 * fields begin with a letter, so no field has such a key.
 */
export function includedKeys (width: number, includes: readonly PlannedInclude[]): readonly string[] {
  const count = includes.reduce((sum, { visible }) => sum + visible.length, 0)
  return Array.from({ length: count }, (_none, index) => `_${width + index}`)
}
