import { createRequire } from 'node:module'
import Database from 'better-sqlite3'
import type { Kysely } from 'kysely'
import { deadlineFunction } from './engines/dialect.js'
import { openKysely, type Tables } from './engines/executor.js'
import { EmbeddedDialect } from './engines/sqlite/connections.js'
import { watchFile } from './engines/sqlite/file.js'
import { requireDriver } from './engines/sqlite/load-driver.js'
import { busyTimeout, lockTimeout } from './engines/sqlite/lock.js'
import { ReadLock } from './engines/sqlite/read-lock.js'
import { switchToWal } from './engines/sqlite/wal.js'
import { errors } from './errors.js'
import { requireKnown } from './suggest.js'

export interface SqliteOptions {
  /**
   * `full` (default): an answered write survives a power loss. `normal`: the last writes before a power loss may be
   * gone, the database stays sound, and single writes are several times as fast.
   */
  readonly durability?: 'full' | 'normal'
  /** Whether the database is only read: nothing is written to the file, which must exist. Default false. */
  readonly readonly?: boolean
  /** Whether the whole file is read to find damage before it is used, which takes seconds for each GiB. Default false. */
  readonly check?: boolean
}

const maxWalBytes = 64 * 1024 * 1024

/**
 * Opens a SQLite database the way the plugin wants it: WAL, foreign keys, an explicit `synchronous`, prepared statements
 * kept, a deadline for lists, and for a file a second connection, on which the plugin lists and reads records: there it
 * neither sees nor awaits a transaction of yours, and it does not see temporary tables; a third keeps its lock (D-99). `db.destroy()`
 * closes them.
 *
 * @param path     of the database file, created if it does not exist; `:memory:` for one that lives in the process
 * @throws REST_MODELS_INVALID_OPTIONS if the path is empty or a URL, or an option is wrong;
 *   REST_MODELS_UNSUPPORTED_DATABASE if the file cannot be opened, or if this version of better-sqlite3 is known to
 *   crash on this version of Node
 */
export function openSqlite<DB = Tables> (path: string, options: SqliteOptions = {}): Kysely<DB> {
  requirePath(path)
  requireKnown('openSqlite()', options, ['durability', 'readonly', 'check'])
  const { durability = 'full', readonly = false, check = false } = options
  if (!['full', 'normal'].includes(durability)) throw new errors.InvalidOptions("'durability' of openSqlite() is 'full' or 'normal'")
  for (const [name, value] of Object.entries({ readonly, check })) {
    if (typeof value !== 'boolean') throw new errors.InvalidOptions(`'${name}' of openSqlite() is true or false`)
  }
  const { version } = createRequire(import.meta.url)('better-sqlite3/package.json') as { version: string }
  requireDriver(process.versions.node, version)
  const dialect = openDialect(path, { durability, readonly, check })
  return openKysely<DB>(dialect, dialect.roads, async () => dialect.close())
}

/**
 * SQLite opens a temporary database for an empty path, and a file of that name for a URL, also for one whose slashes or scheme were
 * forgotten. The URL of a server holds a password, so none is repeated.
 */
function requirePath (path: unknown): void {
  if (typeof path !== 'string' || path.trim() === '') {
    throw new errors.InvalidOptions("openSqlite() needs the path of a file, or ':memory:'. Is an environment variable not set?")
  }
  // One letter is a drive of Windows.
  if (/^\s*[a-z][a-z\d+.-]+:|:[^\\/]+@/i.test(path)) {
    throw new errors.InvalidOptions("openSqlite() takes a path, not a URL: './site.db' and not 'sqlite:./site.db'. A file whose name has a colon is written './a:b.db'")
  }
}

function openDialect (path: string, { durability, readonly, check }: Required<SqliteOptions>): EmbeddedDialect {
  const opened: Database.Database[] = []
  const open = (options: Database.Options): Database.Database => {
    const database = new Database(path, { timeout: lockTimeout, ...options })
    opened.push(database)
    database.pragma('trusted_schema = off')
    return database.function(deadlineFunction, { deterministic: false, directOnly: true }, requireTime)
  }
  try {
    if (readonly) return new EmbeddedDialect(nowPatient(openReader(open, check)))
    const writer = open({})
    requireSound(writer, check)
    switchToWal(writer, lockTimeout)
    // SQLite may be compiled to reopen WAL databases with NORMAL, so the default would change with the second start.
    writer.pragma(`synchronous = ${durability}`)
    writer.pragma('foreign_keys = on')
    writer.pragma(`journal_size_limit = ${maxWalBytes}`)
    if (writer.memory) return new EmbeddedDialect(nowPatient(writer))
    return new EmbeddedDialect(nowPatient(writer), { reader: nowPatient(open({ readonly: true })), lock: new ReadLock(open({ readonly: true, timeout: 0 })), requireFile: watchFile(path) })
  } catch (cause) {
    for (const database of opened) database.close()
    throw new errors.UnsupportedDatabase(`openSqlite() cannot open '${path}': ${(cause as Error).message}`)
  }
}

/** SQLite waits for locks while the database is opened; later the process has other things to do, and waits itself. */
function nowPatient (database: Database.Database): Database.Database {
  database.pragma(`busy_timeout = ${busyTimeout}`)
  return database
}

/** The one connection of a database that is only read; the plugin asks for foreign keys on every connection. */
function openReader (open: (options: Database.Options) => Database.Database, check: boolean): Database.Database {
  const reader = open({ readonly: true })
  requireSound(reader, check)
  reader.pragma('foreign_keys = on')
  return reader
}

/** Reads the schema, and all else if that is asked for: a damaged file is refused before anything is written to it. */
function requireSound (database: Database.Database, check: boolean): void {
  database.exec('select count(*) from sqlite_schema')
  if (!check) return
  const fault = database.pragma('quick_check(1)', { simple: true })
  if (fault !== 'ok') throw new Error(`it is damaged: ${String(fault)}`)
}

class DeadlinePassed extends Error {
  readonly code = 'SQLITE_DEADLINE'
}

/** Throwing is the only way to end a statement from within the process that runs it. The id makes SQLite ask at each row. */
function requireTime (deadline: number, _id: unknown): number {
  if (performance.now() > deadline) throw new DeadlinePassed('The statement took too long')
  return 1
}
