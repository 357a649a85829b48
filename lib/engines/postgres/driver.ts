import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import type { PostgresCursor, PostgresQueryResult } from 'kysely'
import type pg from 'pg'
import { loadDriver } from '../load-driver.js'

/** A statement as the driver takes it, without its values. */
export interface DriverQuery {
  readonly text: string
  /** Present if each row is to be an array of its values. */
  readonly rowMode?: 'array'
}

export type Callback<R> = (
  ...answer: [error: null, result: PostgresQueryResult<R>] | [error: Error, result: undefined]
) => void

/**
 * The driver's inner connection. `parsedStatements` holds the texts of its prepared statements by name. The methods
 * send messages to the server.
 */
export interface InnerConnection extends Pick<pg.Connection, 'stream' | 'sync'> {
  readonly parsedStatements: Record<string, string>
  parse (statement: { name: string, text: string }): void
  bind (use: { statement: string, values: readonly unknown[] }): void
  describe (portal: { type: 'P' }): void
  execute (portal: object): void
}

/** A query that writes its messages itself. The driver passes it those of the answer. */
interface Submittable<R> {
  /** Set by the driver. */
  callback: Callback<R> | undefined
  submit (connection: InnerConnection): void
}

/** Pooled connection of the driver, with the members that the driver's type declarations leave out. */
export type DriverClient = UndeclaredParts & pg.PoolClient

interface UndeclaredParts {
  readonly processID: number
  readonly connection: InnerConnection
  query<R> (cursor: PostgresCursor<R>): PostgresCursor<R>
  query<R> (query: Submittable<R>, callback: Callback<R>): void
  query<R> (query: DriverQuery, values: unknown[], callback: Callback<R>): void
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

interface DriverTools {
  prepareValue (value: unknown): unknown
}

const require = createRequire(import.meta.url)
let tools: DriverTools | undefined

/**
 * Returns a parameter as the driver sends it: null and bytes as they are, all else as a text.
 *
 * @throws TypeError if no text can be made of it; otherwise what `toPostgres()` of the parameter throws
 */
export function prepareValue (value: unknown): string | Buffer | null {
  // Some versions of the package export no other file, so it is named by its path.
  tools ??= loadDriver<DriverTools>('pg', (name) => require(join(dirname(require.resolve(name)), 'utils.js')))
  const prepared = tools.prepareValue(value)
  if (prepared === null || typeof prepared === 'string' || Buffer.isBuffer(prepared)) return prepared
  throw new TypeError('A parameter of a statement has no text')
}
