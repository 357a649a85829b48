import type { PostgresCursor, PostgresQueryResult } from 'kysely'
import type pg from 'pg'
import { loadDriver } from '../load-driver.js'
import type { DriverQuery } from './driver-query.js'

/** Pooled connection of the driver, with the members that the driver's type declarations leave out. */
export type DriverClient = UndeclaredParts & pg.PoolClient

interface UndeclaredParts {
  readonly processID: number
  /** The driver's inner connection. `parsedStatements` holds the texts of its prepared statements by name. */
  readonly connection: pg.Connection & { readonly parsedStatements: Record<string, string> }
  query<R> (cursor: PostgresCursor<R>): PostgresCursor<R>
  query<R> (
    query: DriverQuery, values: unknown[], callback: (error: Error | null, result: PostgresQueryResult<R>) => void
  ): void
}

/** Pool of the driver `pg`, whose connections have the type {@link DriverClient}. */
export interface DriverPool {
  connect (): Promise<DriverClient>
  end (): Promise<void>
  on (event: 'connect', listener: (client: DriverClient) => void): void
  on (event: 'error', listener: () => void): void
}

interface Driver extends Pick<typeof pg, 'Client' | 'DatabaseError' | 'types'> {
  readonly Pool: new (config: pg.PoolConfig) => DriverPool
}

/**
 * Returns the package `pg`, and loads it at the first call.
 *
 * @throws REST_MODELS_UNSUPPORTED_DATABASE if the package is not installed
 */
export function driver (): Driver {
  return loadDriver<Driver>('pg')
}

/** Closes a prepared statement. The message travels ahead of the next statement, so that nobody waits for it. */
export function unprepare ({ connection }: DriverClient, name: string): void {
  connection.close({ type: 'S', name }, true)
  delete connection.parsedStatements[name]
}
