import type { Database } from 'better-sqlite3'
import { propertyOf } from '../failure-properties.js'
import type { Query } from '../executor.js'

/**
 * Code that replaces `SQLITE_ERROR` if a write of the plugin is valid SQL, but fails with its values: a function in a
 * computed column, an index, a check or a trigger does not accept one of them. SQLite also gives `SQLITE_ERROR` to
 * faults of a statement, such as a missing column.
 */
export const valueFailureCode = 'SQLITE_ERROR_VALUE'

/** Beginnings of messages about a rule that no value can meet. SQLite notices such a rule only when it is applied. */
const brokenRules = ['non-deterministic use of ', 'too many levels of trigger recursion', 'SQL logic error']

/**
 * Returns the failure of a statement. If it is a create or an update of the plugin that SQLite can prepare, so that its
 * values are wrong, the failure gets the code {@link valueFailureCode}. A statement is prepared anew to find out,
 * because SQLite also prepares a kept one again after a table was altered. Statements of the application keep the
 * driver's code, and so does the failure of a rule that no value can meet.
 */
export function withValueCode (database: Database, failure: unknown, { sql, label }: Query): unknown {
  if (propertyOf(failure, 'code') !== 'SQLITE_ERROR' || !hasValues(label)) return failure
  const isBroken = brokenRules.some((words) => propertyOf(failure, 'message').startsWith(words))
  if (isBroken || !canPrepare(database, sql)) return failure
  return Object.assign(failure as Error, { code: valueFailureCode })
}

function hasValues (label: Query['label']): boolean {
  return label?.operation === 'create' || label?.operation === 'update'
}

function canPrepare (database: Database, sql: string): boolean {
  try {
    database.prepare(sql)
    return true
  } catch {
    return false
  }
}
