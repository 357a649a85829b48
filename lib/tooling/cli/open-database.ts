import { existsSync } from 'node:fs'
import type { Kysely } from 'kysely'
import type { Tables } from '../../engines/executor.js'
import { errors } from '../../errors.js'

/** A function that opens a database, and the package of its driver, which might not be installed. */
interface OpenerRow {
  readonly driver: string
  open (url: string, isReadOnly: boolean): Promise<Kysely<Tables>>
}

const sqlite: OpenerRow = { driver: 'better-sqlite3', open: openFile }
const postgres: OpenerRow = {
  driver: 'pg',
  open: async (url, isReadOnly) => {
    const { openPostgres } = await import('../../postgres.js')
    return openPostgres(url, { readonly: isReadOnly })
  }
}
const mariadb: OpenerRow = {
  driver: 'mysql2',
  open: async (url, isReadOnly) => {
    const { openMariadb } = await import('../../mariadb.js')
    return openMariadb(url, { readonly: isReadOnly })
  }
}

/** The openers, by the scheme of the database's URL. */
const openers: Readonly<Record<string, OpenerRow>> = { sqlite, postgres, postgresql: postgres, mariadb, mysql: mariadb }

/** Options of {@link openDatabase}. */
export interface OpenOptions {
  /** True if the database is only read, so that its engine refuses every write. Default true. */
  readonly readOnly?: boolean
}

/**
 * Opens the database of a URL: `sqlite:./site.db`, `postgres://…` or `mariadb://…`. It creates nothing: the file of a
 * SQLite database must exist.
 *
 * @throws REST_MODELS_INVALID_OPTIONS, REST_MODELS_UNSUPPORTED_DATABASE with the remedy. Neither repeats a password in
 *   the URL
 */
export async function openDatabase (url: string, { readOnly = true }: OpenOptions = {}): Promise<Kysely<Tables>> {
  const scheme = /^[a-z0-9]+(?=:)/.exec(url)?.[0] ?? ''
  const opener = Object.hasOwn(openers, scheme) ? openers[scheme] : undefined
  if (opener === undefined) {
    throw new errors.InvalidOptions("A database URL begins with 'sqlite:', 'postgres://' or 'mariadb://', " +
      'such as sqlite:./site.db or postgres://user:password@localhost:5432/site')
  }
  return await withDriver(opener, async () => await opener.open(url, readOnly))
}

async function openFile (url: string, isReadOnly: boolean): Promise<Kysely<Tables>> {
  const path = url.slice('sqlite:'.length)
  if (path === '' || path === ':memory:') {
    throw new errors.InvalidOptions('A database in memory is empty: name a file, such as sqlite:./site.db')
  }
  if (!existsSync(path)) {
    throw new errors.InvalidOptions(`The database file '${path}' does not exist; name a file that does`)
  }
  const { openSqlite } = await import('../../sqlite.js')
  return openSqlite(path, { readonly: isReadOnly })
}

/**
 * Calls `open`, which opens a database, and returns its result. Explains the error if the driver cannot be imported.
 *
 * @throws REST_MODELS_UNSUPPORTED_DATABASE naming the package of the driver, if that is not installed
 */
export async function withDriver<Result> (
  { driver }: Pick<OpenerRow, 'driver'>, open: () => Promise<Result>
): Promise<Result> {
  try {
    return await open()
  } catch (error) {
    if (!isMissing(error, driver)) throw error
    throw new errors.UnsupportedDatabase(`The package '${driver}' is not installed; run: npm install ${driver}`)
  }
}

/** True if an error of an import says that the package `name` is not installed. */
export function isMissing (error: unknown, name: string): boolean {
  return error instanceof Error && 'code' in error &&
    ['ERR_MODULE_NOT_FOUND', 'MODULE_NOT_FOUND'].includes(String(error.code)) && error.message.includes(`'${name}'`)
}
