import type { Query } from './any-resource.js'

/**
 * Returns the values of a form that are not null. A form sends null for each input that nobody has filled in. The
 * server then gives these fields their defaults.
 */
export function withoutNulls (data: Query): Query {
  return Object.fromEntries(Object.entries(data).filter(([, value]) => value !== null))
}

/**
 * Returns the values that a form has changed, without the id. A form gives the whole record, and null for an empty
 * input of a field that records do not show. Unchanged values must not be sent, because they would overwrite what
 * somebody else has written meanwhile. If the record before the change is not known, returns all values except the id.
 */
export function changesOf (data: Query, previousData: Query | undefined): Query {
  const textOf = (value: unknown): string => JSON.stringify(value ?? null)
  const isChanged = (name: string, value: unknown): boolean =>
    previousData === undefined || textOf(value) !== textOf(previousData[name])
  return Object.fromEntries(Object.entries(data).filter(([name, value]) => name !== 'id' && isChanged(name, value)))
}
