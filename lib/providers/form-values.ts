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
 * except the id. If records do not show a field, the form has undefined for it until somebody uses its input, and null
 * if the input was emptied. Undefined is left out, and null is returned.
 */
export function changesOf (data: Query, previousData: Query = {}): Query {
  const isChanged = (name: string, value: unknown): boolean =>
    JSON.stringify(value) !== JSON.stringify(previousData[name])
  return Object.fromEntries(Object.entries(data).filter(([name, value]) => name !== 'id' && isChanged(name, value)))
}
