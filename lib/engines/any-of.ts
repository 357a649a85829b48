import { sql, type RawBuilder, type SqlBool } from 'kysely'

/** Most conditions in one chain of `or`. SQLite permits 1,000 levels in an expression, and each `or` adds one. */
const groupSize = 100

/** Joins at least one condition with `or`. More than 100 are joined in groups, because one chain would be too deep. */
export function anyOf (conditions: ReadonlyArray<RawBuilder<SqlBool>>): RawBuilder<SqlBool> {
  if (conditions.length <= groupSize) {
    return sql<SqlBool>`(${sql.join(conditions.map((condition) => sql`(${condition})`), sql` or `)})`
  }
  const groups = Array.from({ length: Math.ceil(conditions.length / groupSize) }, (_, index) =>
    conditions.slice(index * groupSize, (index + 1) * groupSize))
  return anyOf(groups.map(anyOf))
}
