/**
 * Limits of what one request may ask for. Counts are inclusive; lengths are in UTF-16 units. A request beyond a limit
 * gets 400, or 414 for `queryLength`; `count`, `statementTime` and `pageBytes` have consequences of their own.
 */
export interface Limits {
  /** Records that may come before a numbered page. Pages after a cursor have no such limit. */
  readonly offset: number
  /** Filter parameters that one query may have. */
  readonly filters: number
  /** Foreign keys that one filter, or one name in `include`, may follow; at most 25. */
  readonly joins: number
  /** Different joins that the filters and the `include` of one query may need together; at most 25. */
  readonly totalJoins: number
  /** Values that one `in` list may have. */
  readonly inItems: number
  readonly patternLength: number
  readonly valueLength: number
  readonly queryLength: number
  /** Records up to which `count=true` counts. If there are more, the answer has this number and `capped: true`. */
  readonly count: number
  /**
   * Milliseconds after which a list on SQLite is ended, or after which a write no longer waits for its hook. The client
   * gets 503.
   */
  readonly statementTime: number
  /**
   * Bytes that the texts and the JSON of one page may have together. With more, the page gets fewer records, but at
   * least one.
   */
  readonly pageBytes: number
}

/**
 * Greatest values of the limits that have one. MariaDB joins at most 61 tables. A filter and an `include` of one path
 * join its tables twice, and scopes add joins of their own.
 */
export const greatestLimits: Partial<Limits> = { joins: 25, totalJoins: 25 }

/** Least values of the limits that must not be 0, because then no pattern, no value or no query would be permitted. */
export const leastLimits: Partial<Limits> = { patternLength: 1, valueLength: 1, queryLength: 1 }

export const defaultLimits: Limits = Object.freeze({
  offset: 100_000,
  filters: 20,
  joins: 3,
  totalJoins: 5,
  inItems: 100,
  patternLength: 128,
  valueLength: 1024,
  queryLength: 8192,
  count: 100_000,
  statementTime: 2000,
  pageBytes: 4 * 1024 * 1024
})
