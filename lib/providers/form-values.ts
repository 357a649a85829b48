import type { Query } from './any-resource.js'

/** A form sends null for each input that nobody has filled in. Such fields get their defaults. */
export function withoutNulls (data: Query): Query {
  return Object.fromEntries(Object.entries(data).filter(([, value]) => value !== null))
}

/**
 * A form sends the whole record, and null for an empty input of a field that records do not show. Only what was changed
 * is sent, so the other fields keep what somebody else may have written meanwhile. Without the record before the
 * change, all is sent.
 */
export function changesOf (data: Query, previousData: Query | undefined): Query {
  const textOf = (value: unknown): string => JSON.stringify(value ?? null)
  const isChanged = (name: string, value: unknown): boolean =>
    previousData === undefined || textOf(value) !== textOf(previousData[name])
  return Object.fromEntries(Object.entries(data).filter(([name, value]) => name !== 'id' && isChanged(name, value)))
}
