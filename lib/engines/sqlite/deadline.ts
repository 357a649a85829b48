/** Thrown inside SQLite to end a statement that has run past its deadline. */
class DeadlinePassed extends Error {
  readonly code = 'SQLITE_DEADLINE'
}

/**
 * Throws if the deadline has passed, in milliseconds of `performance.now()`. Throwing is the only way to end a
 * statement from within the process that runs it. The id is unused, but it makes SQLite call the function for each row.
 */
export function requireTime (deadline: number, _id: unknown): number {
  if (performance.now() > deadline) throw new DeadlinePassed('The statement took too long')
  return 1
}
