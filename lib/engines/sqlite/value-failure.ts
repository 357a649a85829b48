import type { Database } from 'better-sqlite3'
import { propertyOf } from '../failure-properties.js'
import type { Query } from '../executor.js'

/**
 * Code that replaces `SQLITE_ERROR` if a write of the plugin is valid SQL, but fails with its values: a function in a
 * computed column, an index, a check or a trigger does not accept one of them. SQLite also gives `SQLITE_ERROR` to
 * faults of a statement, such as a missing column.
 */
export const valueFailureCode = 'SQLITE_ERROR_VALUE'

/**
 * Beginnings of messages about a check, an index, a computed column or a trigger that is itself at fault, so that no
 * other value would help. SQLite finds such a fault only when a write meets it.
 */
const brokenRules = ['non-deterministic use of ', 'too many levels of trigger recursion', 'SQL logic error']

/**
 * Returns the failure of a statement. Its code becomes {@link valueFailureCode} if the values of a create or an update
 * of the plugin are at fault. They are if SQLite can prepare the statement anew. That it was prepared before is no
 * proof, because SQLite prepares a kept statement again after a table was altered. The failure keeps the driver's code
 * if its message begins as one of {@link brokenRules}, or if the statement is one of the application.
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
