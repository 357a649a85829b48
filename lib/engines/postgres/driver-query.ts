import type { NamedStatement } from '../server/statement-names.js'

/** A statement as the driver takes it, without its values. */
export interface DriverQuery {
  readonly text: string
  /** Name under which the connection prepares the statement; absent if it is not to be prepared. */
  readonly name?: string
  /** Present if each row is to be an array of its values. */
  readonly rowMode?: 'array'
}

/** Query for rows as arrays, for each named statement; it is made when it is first needed. */
const arrayForms = new WeakMap<NamedStatement, DriverQuery>()

/**
 * Returns a query to which the driver may add properties. The driver copies all own properties of a query, which would
 * take 2 to 4 µs. This query has none, because it inherits them from an object that is kept.
 */
export function inheritingQuery (statement: NamedStatement, rowMode: DriverQuery['rowMode']): DriverQuery {
  return Object.create(rowMode === undefined ? statement : arrayFormOf(statement)) as DriverQuery
}

function arrayFormOf (statement: NamedStatement): DriverQuery {
  const form = arrayForms.get(statement) ?? { ...statement, rowMode: 'array' }
  arrayForms.set(statement, form)
  return form
}
