import type { Database, Statement } from 'better-sqlite3'
import { SqliteDialect, type Kysely, type SqliteDriver } from 'kysely'
import { Events } from '../../events/events.js'
import { commitText, type Executors } from '../executor.js'
import type { HealthReport } from '../health.js'
import { KyselyExecutor } from '../kysely-executor.js'
import { SqliteConnection } from './connection.js'
import { CountingDriver } from './counting-driver.js'
import { sqliteDialect } from './dialect.js'
import { GroupCommit } from './group-commit.js'
import { SqliteExecutor } from './sqlite-executor.js'

/** Parts that a database in a file has besides the connection that writes, if the file may be written. */
export interface DatabaseFile {
  /**
   * A second connection, which only reads. No transaction is ever begun on it, so a read never waits for one of the
   * application.
   */
  readonly reader: Database
  /** Called before each statement that writes, and each commit; throws if the file was moved, replaced or deleted. */
  readonly requireFile: () => void
}

/**
 * Kysely's dialect for SQLite. The plugin also uses the connections without Kysely's driver, because that driver takes
 * as long as a short statement.
 */
export class EmbeddedDialect extends SqliteDialect {
  readonly #driver: CountingDriver
  readonly #writer: SqliteConnection
  readonly #reader: SqliteConnection
  readonly #commits: GroupCommit
  readonly #requireFile: () => void
  readonly #isReadonly: boolean
  readonly events: Events
  /** Commits queued writes, and closes the connections. May be called more than once. */
  readonly close: () => void

  /**
   * @param writer  connection of Kysely's driver; the plugin uses it without that driver while nobody holds it there
   * @param file    absent for a database with only one connection: in memory, or opened only for reading
   */
  constructor (writer: Database, { reader = writer, requireFile = () => {} }: Partial<DatabaseFile> = {}) {
    const connection = new SqliteConnection(writer)
    const events = new Events()
    const commits = new GroupCommit(writer, requireFile, events)
    const close = (): void => {
      commits.close()
      for (const one of [reader, writer]) one.close()
    }
    const config = { database: { prepare: preparing(connection.objects, requireFile), close } }
    super(config)
    this.#driver = new CountingDriver(config, connection, { commits, events })
    this.events = events
    this.#writer = connection
    this.#reader = reader === writer ? connection : new SqliteConnection(reader)
    this.#commits = commits
    this.#requireFile = requireFile
    this.#isReadonly = writer.readonly
    this.close = close
  }

  override createDriver (): SqliteDriver {
    return this.#driver
  }

  /**
   * Reads the schema, and looks whether the path still leads to the file. Reports `down` if the read fails or the
   * database is closed, `read-only` if the file was moved, replaced or deleted, or was opened only for reading, and
   * otherwise `up`.
   */
  readHealth (): HealthReport {
    return { role: 'single', pool: null, ...this.#readStatus() }
  }

  #readStatus (): Pick<HealthReport, 'status' | 'lag'> {
    try {
      this.#reader.objects.memo('select count(*) from sqlite_schema').get()
    } catch {
      return { status: 'down', lag: null }
    }
    try {
      this.#requireFile()
      return { status: this.#isReadonly ? 'read-only' : 'up', lag: 0 }
    } catch {
      return { status: 'read-only', lag: 0 }
    }
  }

  /**
   * Returns the executors of `db`, a Kysely instance with this dialect. While a caller holds a connection in Kysely's
   * driver, for example during a transaction, the executors' statements on that connection wait until it is free.
   */
  makeExecutors (db: Pick<Kysely<never>, 'getExecutor'>): Executors {
    const parts = {
      commits: this.#commits,
      requireFile: this.#requireFile,
      queued: new KyselyExecutor(db, sqliteDialect, this.events),
      events: this.events
    }
    return { writer: new SqliteExecutor(this.#writer, parts), reader: new SqliteExecutor(this.#reader, parts) }
  }
}

/**
 * Returns the function with which Kysely's driver prepares statements. Before a write or a commit, that function calls
 * `requireFile`, which throws if the database file was moved, replaced or deleted.
 */
function preparing (statements: SqliteConnection['objects'], requireFile: () => void): (sql: string) => Statement {
  return (sql) => {
    const statement = statements.memo(sql)
    // A commit is recognized by its text, because better-sqlite3 calls it `readonly`, as a read.
    if (!statement.readonly || sql === commitText) requireFile()
    return statement
  }
}
