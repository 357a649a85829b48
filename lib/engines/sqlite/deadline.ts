import { sql } from 'kysely'
import type { ListDeadline } from '../dialect.js'

/** Name of the SQL function that openSqlite() defines from {@link requireTime}. */
export const deadlineFunction = 'rest_models_before'

/** Thrown inside SQLite to end a statement that has run past its deadline. */
class DeadlinePassed extends Error {
  readonly code = 'SQLITE_DEADLINE'
}

/**
 * Returns 1; throws if the deadline, in milliseconds of `performance.now()`, has passed. Throwing is the only way to
 * end a statement from within the process that runs it. The id is unused, but makes SQLite call the function for each
 * row.
 */
export function requireTime (deadline: number, _id: unknown): number {
  if (performance.now() > deadline) throw new DeadlinePassed('The statement took too long')
  return 1
}

/**
 * SQL that calls {@link requireTime}. It names a column of a table, so that SQLite calls the function at the rows of
 * that table.
 */
export const sqliteDeadline: ListDeadline = {
  isAvailable: sql`select count(*) as answer from pragma_function_list where name = ${deadlineFunction}`,
  everyRow: (key, deadline) => sql`${sql.raw(deadlineFunction)}(${deadline}, ${key})`,
  someRows: (key, deadline) => sql`(random() & 63 or ${sql.raw(deadlineFunction)}(${deadline}, ${key}))`
}
