/** Returns an own property of an error as text; empty if the property is absent, inherited or null. */
export function propertyOf (failure: unknown, name: string): string {
  const value = valueOf(failure, name)
  return value === undefined || value === null ? '' : String(value)
}

function valueOf (failure: unknown, name: string): unknown {
  return Object.getOwnPropertyDescriptor(Object(failure), name)?.value
}

/**
 * Returns a copy of a failure without properties that may hold values, such as PostgreSQL's `detail` and the SQL that
 * MariaDB's driver adds.
 *
 * @param isLoggable  true if the message holds no values and is kept; otherwise another text with the code replaces it
 * @param names   names of the properties to keep, that of the code first
 */
export function withoutValues (
  failure: Error, isLoggable: boolean, names: readonly [code: string, ...others: string[]]
): Error {
  const kept = Object.fromEntries(
    names.map((name) => [name, valueOf(failure, name)]).filter(([, value]) => value !== undefined)
  )
  const code = propertyOf(failure, names[0])
  const message = isLoggable
    ? failure.message
    : `The database failed with code ${code}. Its message is left out, because it may hold values`
  return Object.assign(new Error(message), kept)
}
