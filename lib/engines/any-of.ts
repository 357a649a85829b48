import { sql, type RawBuilder, type SqlBool } from 'kysely'

/** Conditions in one group. SQLite permits 1,000 levels in an expression, and each `or` of a group adds one. */
const groupSize = 100

/** Joins conditions with `or`. Many are joined in groups, because the levels of a single chain would be too many. */
export function anyOf (conditions: ReadonlyArray<RawBuilder<SqlBool>>): RawBuilder<SqlBool> {
  if (conditions.length <= groupSize) {
    return sql<SqlBool>`(${sql.join(conditions.map((condition) => sql`(${condition})`), sql` or `)})`
  }
  const groups = Array.from({ length: Math.ceil(conditions.length / groupSize) }, (_, index) =>
    conditions.slice(index * groupSize, (index + 1) * groupSize))
  return anyOf(groups.map(anyOf))
}
