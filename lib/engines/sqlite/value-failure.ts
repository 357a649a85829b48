import type { Database } from 'better-sqlite3'
import { propertyOf } from '../failure-properties.js'
import type { Query } from '../executor.js'

/**
 * Code given to the failure of a sound write that SQLite could not execute with its values: a function in a computed
 * column, an index, a check or a trigger does not take one. SQLite gives the same code, `SQLITE_ERROR`, to faults of a
 * statement, such as a missing column.
 */
export const valueFailureCode = 'SQLITE_ERROR_VALUE'

/**
 * Returns the failure of a statement. If it is a write of the plugin that SQLite can prepare, so that only its values
 * can be wrong, the failure gets the code {@link valueFailureCode}. A statement is prepared anew to find out, because
 * SQLite also prepares a kept one again after a table was altered. Statements of the application have no label, and
 * keep the driver's code.
 */
export function withValueCode (database: Database, failure: unknown, { sql, label }: Query): unknown {
  if (label === undefined || propertyOf(failure, 'code') !== 'SQLITE_ERROR') return failure
  return isSoundWrite(database, sql) ? Object.assign(failure as Error, { code: valueFailureCode }) : failure
}

function isSoundWrite (database: Database, sql: string): boolean {
  try {
    return !database.prepare(sql).readonly
  } catch {
    return false
  }
}
