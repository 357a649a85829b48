import { sql, type RawBuilder, type SqlBool } from 'kysely'
import type { Dialect, PatternTraits } from '../engines/dialect.js'
import type { Parameter } from '../engines/storage.js'
import type { Operator } from '../fields/operators.js'
import type { Column, ForeignKeyColumn } from '../model/column.js'
import { storedValues } from '../plan/filter-values.js'
import type { ScopeCondition } from '../plan/viewer.js'
import { conditionSql } from './condition.js'
import { shapeOfCondition, withFewShapes, type FilledCondition } from './filled-condition.js'
import { isReferred } from './selection.js'

/**
 * A condition of a scope. Its values are slots: places in the compiled statement that each request fills with its own
 * values.
 */
export interface OpenScope extends PatternTraits {
  readonly joins: readonly ForeignKeyColumn[]
  readonly column: Column
  readonly operator: Operator
  readonly values: readonly Parameter[]
  readonly isArray?: boolean
}

/** A condition of a scope with its values as the engine stores them. */
export type FilledScope = FilledCondition & Pick<OpenScope, 'joins'>

/** Returns a condition of a scope with its values as the engine stores them, in a form whose SQL many users share. */
export function fillScope ({ path, operator, values }: ScopeCondition, dialect: Dialect): FilledScope {
  const { joins, column } = path
  const stored = storedValues({ column, operator, values }, dialect)
  return withFewShapes({ joins, column, operator, values: stored }, dialect)
}

/**
 * Returns a text that two conditions of a scope share exactly if they have the same SQL on the same table. So it serves
 * as part of a key in a cache of statements. Of values that a request fills in, the text has only how many they are.
 */
export function shapeOfScope (condition: FilledScope): string {
  return `${condition.joins.map(({ key }) => `${key}.`).join('')}${shapeOfCondition(condition)}`
}

/**
 * Returns the SQL of a scope's condition on the record in `base`. Foreign keys become `exists`, not joins, so that the
 * SQL also works in updates, in deletes and in the conditions of joins.
 *
 * @param base  table or alias of the record
 */
export function scopeSql (
  { joins: [join, ...others], ...condition }: OpenScope, base: string, dialect: Dialect
): RawBuilder<SqlBool> {
  if (join === undefined) return conditionSql({ ...condition, alias: base }, dialect)
  const { table } = join.target()
  // No table has a name with a blank.
  const alias = `related ${others.length}`
  const inner = scopeSql({ ...condition, joins: others }, alias, dialect)
  return sql<SqlBool>`exists (select 1 from ${sql.table(table)} as ${sql.ref(alias)}
    where ${isReferred(join, { from: base, to: alias })} and ${inner})`
}
