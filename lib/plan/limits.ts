/** Limits of what one request may ask for. Counts are inclusive; lengths are in UTF-16 units. */
export interface Limits {
  /** Records that a page may skip. */
  readonly offset: number
  /** Filter parameters in one query. */
  readonly filters: number
  /** Foreign keys that one filter may follow. */
  readonly joins: number
  /** Different joins in one query. */
  readonly totalJoins: number
  /** Values in one `in` list. */
  readonly inItems: number
  readonly patternLength: number
  readonly valueLength: number
  readonly queryLength: number
  /** Milliseconds after which a list on SQLite is given up. */
  readonly statementTime: number
  /** Bytes of the texts and the JSON on one page; a page has at least one record, whatever its size. */
  readonly pageBytes: number
}

export const defaultLimits: Limits = Object.freeze({
  offset: 100_000,
  filters: 20,
  joins: 3,
  totalJoins: 5,
  inItems: 100,
  patternLength: 128,
  valueLength: 1024,
  queryLength: 4096,
  statementTime: 2000,
  pageBytes: 4 * 1024 * 1024
})
