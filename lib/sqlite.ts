import { createRequire } from 'node:module'
import Database from 'better-sqlite3'
import { Kysely, SqliteDialect, type SqliteDatabase } from 'kysely'
import { LRUCache } from 'lru-cache'
import { errors } from './errors.js'
import { requireKnown } from './nearest.js'
import { deadlineFunction, type Tables } from './query/engine.js'
import { requireDriver } from './sqlite-driver.js'
import { switchToWal } from './sqlite-wal.js'

export interface SqliteOptions {
  /**
   * `full` (default): an answered write survives a power loss. `normal`: the last writes before a power loss may be
   * gone, the database stays sound, and single writes are several times as fast.
   */
  readonly durability?: 'full' | 'normal'
}

/** Clients choose the shapes of lists, so the statements that are kept must be bounded. */
const maxStatements = 500
const maxWalBytes = 64 * 1024 * 1024
/** The driver blocks the process while it waits for a lock. */
const busyTimeout = 2000

/**
 * Opens a SQLite database the way the plugin wants it: WAL, foreign keys, an explicit `synchronous`, prepared statements
 * kept, and a deadline for lists. `db.destroy()` closes it.
 *
 * @param path     of the database file, created if it does not exist; `:memory:` for one that lives in the process
 * @throws REST_MODELS_UNSUPPORTED_DATABASE if the file cannot be opened, or if this version of better-sqlite3 is known to
 *   crash on this version of Node
 */
export function openSqlite<DB = Tables> (path: string, options: SqliteOptions = {}): Kysely<DB> {
  requireKnown('openSqlite()', options, ['durability'])
  const { durability = 'full' } = options
  if (!['full', 'normal'].includes(durability)) throw new errors.InvalidOptions("'durability' of openSqlite() is 'full' or 'normal'")
  const { version } = createRequire(import.meta.url)('better-sqlite3/package.json') as { version: string }
  requireDriver(process.versions.node, version)
  return new Kysely<DB>({ dialect: new SqliteDialect({ database: keepStatements(open(path, durability)) }) })
}

function open (path: string, durability: string): Database.Database {
  let database: Database.Database | undefined
  try {
    database = new Database(path, { timeout: busyTimeout })
    switchToWal(database, busyTimeout)
    // SQLite may be compiled to reopen WAL databases with NORMAL, so the default would change with the second start.
    database.pragma(`synchronous = ${durability}`)
    database.pragma('foreign_keys = on')
    database.pragma('trusted_schema = off')
    database.pragma(`journal_size_limit = ${maxWalBytes}`)
    return database.function(deadlineFunction, { deterministic: false, directOnly: true, varargs: true }, requireTime)
  } catch (cause) {
    database?.close()
    throw new errors.UnsupportedDatabase(`openSqlite() cannot open '${path}': ${(cause as Error).message}`)
  }
}

class DeadlinePassed extends Error {
  readonly code = 'SQLITE_DEADLINE'
}

/** Throwing is the only way to end a statement from within the process that runs it. */
function requireTime (deadline: number): number {
  if (performance.now() > deadline) throw new DeadlinePassed('The statement took too long')
  return 1
}

function keepStatements (database: Database.Database): SqliteDatabase {
  const statements = new LRUCache<string, ReturnType<SqliteDatabase['prepare']>>({
    max: maxStatements,
    memoMethod: (sql) => database.prepare(sql)
  })
  return { prepare: (sql) => statements.memo(sql), close: () => { database.close() } }
}
