import { createRequire } from 'node:module'
import type Database from 'better-sqlite3'
import type { Kysely } from 'kysely'
import { openKysely, type Tables } from './engines/executor.js'
import { loadDriver } from './engines/load-driver.js'
import { deadlineFunction, requireTime } from './engines/sqlite/deadline.js'
import { EmbeddedDialect } from './engines/sqlite/embedded-dialect.js'
import { watchFile } from './engines/sqlite/file.js'
import { busyTimeoutMs, lockTimeoutMs } from './engines/sqlite/lock.js'
import { binaryRemedy, requireDriver } from './engines/sqlite/require-driver.js'
import { switchToWal } from './engines/sqlite/wal.js'
import { errors, messageOf } from './errors.js'
import { requireBoolean, requireKnown } from './suggest.js'

export type { Tables } from './engines/executor.js'

export interface SqliteOptions {
  /**
   * Durability of writes. `full` (default): an answered write survives a power loss. `normal`: a power loss may undo
   * the last writes, but does not damage the database. With `normal`, single writes are several times as fast.
   */
  readonly durability?: 'full' | 'normal'
  /** True if the database is only read. The file must exist, and every write fails with 503. Default false. */
  readonly readonly?: boolean
  /**
   * True if openSqlite() first reads the whole file, and throws if it is damaged. That takes seconds for each GiB.
   * Default false: only the schema is read.
   */
  readonly check?: boolean
}

/** Bytes to which SQLite cuts the write-ahead log when it resets the log. */
const maxWalBytes = 64 * 1024 * 1024

/**
 * Opens a SQLite database as the plugin needs it: a write-ahead log (WAL), foreign keys, an explicit `synchronous`,
 * cached prepared statements, a deadline for lists.
 *
 * A file that may be written gets a second connection, which only reads. The plugin lists and reads records on this
 * second connection. There it neither sees nor awaits your open transactions, and it does not see temporary tables.
 * `db.destroy()` closes both connections.
 *
 * @param path     path of the database file, which is created if it does not exist; `:memory:` for a database that is
 *   kept only in the memory of this process
 * @throws REST_MODELS_INVALID_OPTIONS if the path is empty or a URL, or an option is wrong;
 *   REST_MODELS_UNSUPPORTED_DATABASE if the file cannot be opened, if better-sqlite3 is not installed or has no binary
 *   for this version of Node, or if the installed version of better-sqlite3 is known to crash on this version of Node
 */
export function openSqlite<DB = Tables> (path: string, options: SqliteOptions = {}): Kysely<DB> {
  requirePath(path)
  requireKnown<SqliteOptions>('openSqlite()', options, { durability: true, readonly: true, check: true })
  const { durability = 'full', readonly = false, check = false } = options
  if (!['full', 'normal'].includes(durability)) {
    throw new errors.InvalidOptions("'durability' of openSqlite() is 'full' or 'normal'")
  }
  requireBoolean("'readonly' of openSqlite()", readonly)
  requireBoolean("'check' of openSqlite()", check)
  const Driver = loadDriver<typeof Database>('better-sqlite3')
  const { version }: { readonly version: string } = createRequire(import.meta.url)('better-sqlite3/package.json')
  requireDriver(process.versions.node, version)
  const dialect = openDialect((settings) => new Driver(path, settings), path, { durability, readonly, check })
  return openKysely<DB>(dialect, (db) => dialect.makeExecutors(db), {
    close: async () => { dialect.close() },
    readHealth: async () => dialect.readHealth(),
    events: dialect.events
  })
}

/**
 * Refuses an empty path, for which SQLite would open a temporary database. Refuses a URL, even one without its slashes
 * or its scheme, because SQLite would take it for the name of a file. The error never repeats the URL, because the URL
 * of a server may hold a password.
 */
function requirePath (path: unknown): void {
  if (typeof path !== 'string' || path.trim() === '') {
    throw new errors.InvalidOptions("openSqlite() needs the path of a file, or ':memory:'. " +
      'Is an environment variable not set?')
  }
  // A scheme has at least two letters here, because one letter and a colon is a Windows drive.
  if (/^\s*[a-z][a-z\d+.-]+:|:[^\\/]+@/i.test(path)) {
    throw new errors.InvalidOptions("openSqlite() takes a path, not a URL: './site.db' and not 'sqlite:./site.db'. " +
      "A file whose name has a colon is written './a:b.db'")
  }
}

/** Function that opens one more connection to a database. */
type Open = (options: Database.Options) => Database.Database

function openDialect (connect: Open, path: string, options: Required<SqliteOptions>): EmbeddedDialect {
  const opened: Database.Database[] = []
  const open: Open = (settings) => {
    const database = connect({ timeout: lockTimeoutMs, ...settings })
    opened.push(database)
    database.pragma('trusted_schema = off')
    return database.function(deadlineFunction, { deterministic: false, directOnly: true }, requireTime)
  }
  try {
    if (options.readonly) return new EmbeddedDialect(setBusyTimeout(openReader(open, options)))
    const writer = openWriter(open, options)
    if (writer.memory) return new EmbeddedDialect(setBusyTimeout(writer))
    return new EmbeddedDialect(setBusyTimeout(writer), {
      reader: setBusyTimeout(open({ readonly: true })),
      requireFile: watchFile(path)
    })
  } catch (cause) {
    for (const database of opened) database.close()
    const reason = binaryRemedy(cause) ?? messageOf(cause)
    throw new errors.UnsupportedDatabase(`openSqlite() cannot open '${path}': ${reason}`)
  }
}

/** Opens the connection that writes, and creates the file if it does not exist. Throws as {@link requireSound}. */
function openWriter (open: Open, { durability, check }: Required<SqliteOptions>): Database.Database {
  const writer = open({})
  requireSound(writer, check)
  switchToWal(writer, lockTimeoutMs)
  // SQLite may be compiled to reopen WAL databases with NORMAL. Without this line, the durability could then change at
  // the second start.
  writer.pragma(`synchronous = ${durability}`)
  writer.pragma('foreign_keys = on')
  writer.pragma(`journal_size_limit = ${maxWalBytes}`)
  return writer
}

/**
 * Sets the busy timeout of an open database from 2 s to 5 ms, and returns the database. SQLite blocks the whole process
 * while it waits for a lock. So from now on the plugin waits instead, and the process does other work in the meantime.
 */
function setBusyTimeout (database: Database.Database): Database.Database {
  database.pragma(`busy_timeout = ${busyTimeoutMs}`)
  return database
}

/**
 * Opens the only connection of a database that is only read. Enables foreign keys, because the plugin requires this of
 * every connection. Throws as {@link requireSound}.
 */
function openReader (open: Open, { check }: Required<SqliteOptions>): Database.Database {
  const reader = open({ readonly: true })
  requireSound(reader, check)
  reader.pragma('foreign_keys = on')
  return reader
}

/**
 * Reads the schema, and with `check` the whole file. Throws if what was read is damaged. So a damaged file is refused
 * before anything is written to it.
 */
function requireSound (database: Database.Database, check: boolean): void {
  database.exec('select count(*) from sqlite_schema')
  if (!check) return
  const fault = database.pragma('quick_check(1)', { simple: true })
  if (fault !== 'ok') throw new Error(`it is damaged: ${String(fault)}`)
}
