import { sql, type RawBuilder } from 'kysely'
import type { Dialect } from '../engines/dialect.js'
import { isSecret, storageOf, type Column } from '../model/column.js'

/**
 * Returns the conditions for the `check` of a column, so that other programs, too, can store only values within its
 * bounds, lengths and choices. A `format`, and the length of a password before hashing, cannot be checked there.
 */
export function checksOf (declared: Column, dialect: Dialect): ReadonlyArray<RawBuilder<unknown>> {
  const column = sql`${sql.ref(declared.name)}`
  const { minimum, maximum, minLength, maxLength, enum: choices } = declared.options
  const length = isSecret(declared) ? undefined : dialect.length(column)
  const own = storageOf(declared, dialect).check?.(column)
  return [
    minimum !== undefined && sql`${column} >= ${sql.lit(minimum)}`,
    maximum !== undefined && sql`${column} <= ${sql.lit(maximum)}`,
    length && minLength !== undefined && sql`${length} >= ${sql.lit(minLength)}`,
    length && maxLength !== undefined && sql`${length} <= ${sql.lit(maxLength)}`,
    choices !== undefined && sql`${column} in (${sql.join(choices.map((choice) => sql.lit(choice)))})`,
    own && sql`${own}`
  ].filter((check) => check !== false && check !== undefined)
}
