import { sql, type RawBuilder } from 'kysely'
import type { Column } from '../model/column.js'

/** The rules of a column that the database keeps as well, for rows that are written past the API. */
export function checksOf ({ name, kind, options }: Column): ReadonlyArray<RawBuilder<boolean>> {
  const column = sql.ref(name)
  const { minimum, maximum, minLength, maxLength, enum: choices } = options
  const length = kind === 'password' ? undefined : sql`length(${column})`
  return [
    minimum !== undefined && sql<boolean>`${column} >= ${sql.lit(minimum)}`,
    maximum !== undefined && sql<boolean>`${column} <= ${sql.lit(maximum)}`,
    length && minLength !== undefined && sql<boolean>`${length} >= ${sql.lit(minLength)}`,
    length && maxLength !== undefined && sql<boolean>`${length} <= ${sql.lit(maxLength)}`,
    choices !== undefined && sql<boolean>`${column} in (${sql.join(choices.map((choice) => sql.lit(choice)))})`,
    kind === 'boolean' && sql<boolean>`${column} in (0, 1)`
  ].filter((check) => check !== false && check !== undefined)
}
