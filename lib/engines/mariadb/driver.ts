import type { MysqlOkPacket, MysqlStream, MysqlStreamOptions } from 'kysely'
import type { ConnectionOptions, PoolConnection, PoolOptions, QueryError } from 'mysql2'
import type { Socket } from 'node:net'
import { loadDriver } from '../load-driver.js'
import type { Answer } from '../server/pooled-executor.js'

/** A pooled connection of the driver, with the members that the driver's type declarations leave out. */
export type DriverConnection = {
  readonly stream: Socket
  unprepare (sql: string): unknown
  query (sql: string, values: unknown[]): Streaming
  query<R> (sql: string, callback: Callback<R>): void
  query<R> (sql: string, values: readonly unknown[], callback: Callback<R>): void
  execute<R> (sql: string, values: readonly unknown[], callback: Callback<R>): Executing
} & PoolConnection

/** The driver's object for a statement that it runs: it prepares the statement first, and then sends the values. */
export interface Executing {
  /** The prepared statement. Undefined until the driver has prepared it, which is when the driver sends the values. */
  readonly statement?: unknown
}

/** Receives rows, or the count of rows that a write changed. If there is an error, nobody reads the result. */
export type Callback<R> = (error: QueryError | null, result: MysqlOkPacket | R[]) => void
/** A statement whose rows the driver gives as a stream. */
export type Streaming = { stream: <T>(options: MysqlStreamOptions) => MysqlStream<T> }

/** Pool of the driver, with the type of its connections. */
export interface DriverPool {
  getConnection (callback: (error: Error | null, connection: DriverConnection) => void): void
  on (event: 'connection', listener: (connection: DriverConnection) => void): void
  promise (): { end (): Promise<void> }
}

interface Driver {
  createConnection (config: ConnectionOptions): DriverConnection
  createPool (config: PoolOptions): DriverPool
}

/** Returns the driver `mysql2`. */
export function driver (): Driver {
  return loadDriver<Driver>('mysql2')
}

/** Closes a prepared statement on the server. */
export function unprepare (connection: DriverConnection, _name: string | undefined, sql: string): void {
  connection.unprepare(sql)
}

/**
 * Returns a driver's result as an answer: the rows of a statement that returns some, otherwise the number of rows
 * changed.
 */
export function answerOf<R> (result: MysqlOkPacket | R[]): Answer<R> {
  return Array.isArray(result)
    ? { rows: result, rowCount: 0 }
    : { rows: [], rowCount: Number(result.affectedRows) }
}

/** Returns the error for a statement without an answer in time. */
export function noAnswer (): QueryError {
  return Object.assign(new Error('The server does not answer'), { code: 'PROTOCOL_SEQUENCE_TIMEOUT', fatal: true })
}
