import { existsSync } from 'node:fs'
import type { Kysely } from 'kysely'
import type { Tables } from '../../engines/executor.js'
import { errors } from '../../errors.js'
import { openMariadb } from '../../mariadb.js'
import { openPostgres } from '../../postgres.js'
import { openSqlite } from '../../sqlite.js'
import { requireKnown } from '../../suggest.js'
import { isSchemaName, requireSchema } from '../introspect/require-schema.js'

type Settings = NonNullable<Parameters<typeof openPostgres>[1]> & { readonly readonly: boolean }
type Open = (url: string, settings: Settings) => Kysely<Tables>

const postgres: Open = (url, settings) => openPostgres(url, settings)
const mariadb: Open = (url, settings) => openMariadb(url, settings)

/** The functions that open a database, by the scheme of its URL. */
const openers: Readonly<Record<string, Open>> = {
  sqlite: openFile, postgres, postgresql: postgres, mariadb, mysql: mariadb
}

/** Options of {@link openDatabase}. */
export interface OpenOptions {
  /** True if the database is only read, so that its engine refuses every write. Default true. */
  readonly readOnly?: boolean
  /** Milliseconds after which a statement is given up, on PostgreSQL and MariaDB only. Default 5000. */
  readonly statementTimeout?: number
  /** Schema of PostgreSQL in which tables are found. Default: those of the search path. Other engines take none. */
  readonly schema?: string
}

/**
 * Opens the database of a URL: `sqlite:./site.db`, `postgres://…` or `mariadb://…`. It creates nothing: the file of a
 * SQLite database must exist, and so must the schema that the options name. Without a schema, this does not check that
 * a server can be reached; the first statement fails if it cannot.
 *
 * @throws REST_MODELS_INVALID_OPTIONS if the URL, the schema or an option is wrong, or the file does not exist;
 *   REST_MODELS_UNSUPPORTED_DATABASE if the file cannot be opened, or if the driver is not installed. Neither message
 *   repeats a password in the URL
 */
export async function openDatabase (url: string, options: OpenOptions = {}): Promise<Kysely<Tables>> {
  requireKnown<OpenOptions>('openDatabase()', options, { readOnly: true, statementTimeout: true, schema: true })
  const { readOnly = true, schema, ...others } = options
  const scheme = /^[a-z0-9]+(?=:)/.exec(url)?.[0] ?? ''
  const opener = Object.hasOwn(openers, scheme) ? openers[scheme] : undefined
  if (opener === undefined) {
    throw new errors.InvalidOptions("A database URL begins with 'sqlite:', 'postgres://' or 'mariadb://', " +
      'such as sqlite:./site.db or postgres://user:password@localhost:5432/site')
  }
  const settings = { readonly: readOnly, ...others }
  if (schema === undefined) return opener(url, settings)
  const db = opener(inSchema(url, scheme, schema), settings)
  try {
    await requireSchema(db, schema)
    return db
  } catch (error) {
    await db.destroy()
    throw error
  }
}

/**
 * Returns a URL of PostgreSQL with the schema as its search path, in which connections then find tables.
 *
 * @throws REST_MODELS_INVALID_OPTIONS if the URL is of another engine, or if the name of the schema has other
 *   characters than letters, digits and underscores
 */
function inSchema (url: string, scheme: string, schema: string): string {
  if (openers[scheme] !== postgres) throw new errors.InvalidOptions('A schema can be named for PostgreSQL only')
  if (!isSchemaName(schema)) {
    throw new errors.InvalidOptions('The name of a schema consists of letters, digits and underscores')
  }
  // A URL with several hosts is none for the class URL.
  const [hosts = '', query] = url.split('?', 2)
  const parameters = new URLSearchParams(query)
  parameters.set('options', `${parameters.get('options') ?? ''} -c search_path="${schema}"`.trim())
  return `${hosts}?${parameters.toString()}`
}

function openFile (url: string, { readonly }: Settings): Kysely<Tables> {
  const path = url.slice('sqlite:'.length)
  if (path === '' || path === ':memory:') {
    throw new errors.InvalidOptions('A database in memory is empty: name a file, such as sqlite:./site.db')
  }
  if (!existsSync(path)) {
    throw new errors.InvalidOptions(`The database file '${path}' does not exist; name a file that does`)
  }
  return openSqlite(path, { readonly })
}
