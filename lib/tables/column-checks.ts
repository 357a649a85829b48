import { sql, type RawBuilder } from 'kysely'
import { isSecret, type Column } from '../model/column.js'
import type { DialectName } from '../vocabulary/dialects.js'
import { fieldKinds } from '../vocabulary/field-kinds.js'

/** The rules of a column that the database keeps as well, for rows that are written past the API. */
export function checksOf (declared: Column, dialect: DialectName): ReadonlyArray<RawBuilder<unknown>> {
  const column = sql.ref(declared.name)
  const { minimum, maximum, minLength, maxLength, enum: choices } = declared.options
  const length = isSecret(declared) ? undefined : sql`length(${column})`
  const own = fieldKinds[declared.kind].storage[dialect].check?.(column)
  return [
    minimum !== undefined && sql`${column} >= ${sql.lit(minimum)}`,
    maximum !== undefined && sql`${column} <= ${sql.lit(maximum)}`,
    length && minLength !== undefined && sql`${length} >= ${sql.lit(minLength)}`,
    length && maxLength !== undefined && sql`${length} <= ${sql.lit(maxLength)}`,
    choices !== undefined && sql`${column} in (${sql.join(choices.map((choice) => sql.lit(choice)))})`,
    own && sql`${own}`
  ].filter((check) => check !== false && check !== undefined)
}
