import type { Query } from './any-resource.js'

/**
 * Returns the values of a form that are not null. A form sends null for each input that nobody has filled in. The
 * server then gives these fields their defaults.
 */
export function withoutNulls (data: Query): Query {
  return Object.fromEntries(Object.entries(data).filter(([, value]) => value !== null))
}

/**
 * Returns the values that a form has changed, without the id. Unchanged values must not be sent, because they would
 * overwrite what somebody else has written meanwhile. If the record before the change is not known, returns all values
 * except the id. An input of a field that records do not show is undefined until somebody uses it, and null if it was
 * emptied.
 */
export function changesOf (data: Query, previousData: Query = {}): Query {
  const isChanged = (name: string, value: unknown): boolean =>
    JSON.stringify(value) !== JSON.stringify(previousData[name])
  return Object.fromEntries(Object.entries(data).filter(([name, value]) => name !== 'id' && isChanged(name, value)))
}
