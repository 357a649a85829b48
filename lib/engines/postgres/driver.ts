import type { PostgresCursor, PostgresQueryResult } from 'kysely'
import type pg from 'pg'

/** Pooled connection of the driver, with what its declarations leave out. */
export type DriverClient = UndeclaredParts & pg.PoolClient

interface UndeclaredParts {
  readonly processID: number
  /** The texts of the prepared statements by name. */
  readonly connection: pg.Connection & { readonly parsedStatements: Record<string, string> }
  query<R> (cursor: PostgresCursor<R>): PostgresCursor<R>
  query<R> (query: pg.QueryConfig, callback: (error: Error | null, result: PostgresQueryResult<R>) => void): void
}

/** Closes a prepared statement. The message travels ahead of the next statement, so that nobody waits for it. */
export function unprepare ({ connection }: DriverClient, name: string): void {
  connection.close({ type: 'S', name }, true)
  delete connection.parsedStatements[name]
}
