import type { Database, Statement } from 'better-sqlite3'
import { SqliteDialect, type CompiledQuery, type SqliteDriver } from 'kysely'
import { LRUCache } from 'lru-cache'
import type { ArrayRows, DirectExecutor, DirectExecutors, Outcome, Row, MaybePromise } from '../executor.js'
import { CountingDriver } from './counting-driver.js'
import { GroupCommit } from './group-commit.js'
import { isLocked, lockTimeout, retryWhileLocked } from './lock.js'
import type { ReadLock } from './read-lock.js'

/** Statement with which Kysely's driver ends a transaction. */
const commit = 'commit'

/** Statements to keep. They must be bounded, because clients choose the shapes of lists. */
const maxStatements = 500
/** Characters of all kept statements together: each takes some 26 bytes. */
const maxCharacters = 192 * 1024
/** Characters of one statement to keep. A longer one is prepared at each use. */
const maxStatementLength = 16_384

/** Parts that a database in a file has besides the connection that writes. */
export interface DatabaseFile {
  /** A connection on which nobody ever begins a transaction. */
  readonly reader: Database
  readonly lock: ReadLock
  /** Called before each statement that writes; throws if the file was moved, replaced or deleted. */
  readonly requireFile: () => void
}

/**
 * Kysely's dialect for a database that can also be used directly, because Kysely costs as much as a short statement.
 *
 * @param writer  connection of Kysely's driver, used directly while nobody holds it there
 * @param file    absent for a database with only one connection: in memory, or opened only for reading
 */
export class EmbeddedDialect extends SqliteDialect {
  readonly #driver: CountingDriver
  readonly executors: DirectExecutors
  /** Closes the connections. May be called more than once. */
  readonly close: () => void

  constructor (writer: Database, file?: DatabaseFile) {
    const { reader = writer, lock, requireFile } = file ?? {}
    const beforeRead = (): void => { lock?.join() }
    const beforeWrite = (): void => {
      requireFile?.()
      lock?.release()
    }
    const statements = keep((sql) => writer.prepare(sql))
    const prepare: Prepare = (sql) => {
      const statement = statements(sql)
      if (!statement.readonly || sql === commit) beforeWrite()
      return statement
    }
    const commits = new GroupCommit(writer, beforeWrite)
    let isOpen = true
    const close = (): void => {
      commits.close()
      isOpen = false
      for (const one of [lock, reader, writer]) one?.close()
    }
    const config = { database: { prepare, close } }
    super(config)
    const driver = new CountingDriver(config, commits)
    const hooks = { commits, beforeRead, beforeWrite }
    const shared = new SqliteExecutor(writer, { ...hooks, statements, isFree: () => isOpen && driver.isIdle })
    this.#driver = driver
    this.close = close
    this.executors = {
      writer: shared,
      reader: file === undefined
        ? shared
        : new SqliteExecutor(reader, { ...hooks, statements: keep((sql) => reader.prepare(sql)), isFree: () => isOpen })
    }
  }

  override createDriver (): SqliteDriver {
    return this.#driver
  }
}

type Prepare = (sql: string) => Statement

interface Traffic {
  readonly statements: Prepare
  readonly commits: GroupCommit
  readonly beforeRead: () => void
  readonly beforeWrite: () => void
  /** True if the connection is open and nobody holds it, so that it is in no transaction. */
  readonly isFree: () => boolean
}

/** Runs statements on a connection. A read is done when the call returns, unless the database was locked. */
class SqliteExecutor implements DirectExecutor {
  readonly #traffic: Traffic
  readonly #arrays: Prepare

  constructor (database: Database, traffic: Traffic) {
    this.#traffic = traffic
    this.#arrays = keep((sql) => database.prepare(sql).raw(true))
  }

  get isFree (): boolean {
    return this.#traffic.isFree()
  }

  execute (query: CompiledQuery, reached: () => void): MaybePromise<Outcome> {
    reached()
    const { statements, commits } = this.#traffic
    const statement = statements(query.sql)
    if (!statement.readonly) return commits.execute(() => this.#write(statement, query.parameters))
    return this.#read(() => ({ row: statement.get(query.parameters) as Row | undefined, changed: 0 }))
  }

  #write (statement: Statement, parameters: readonly unknown[]): Outcome {
    this.#traffic.beforeWrite()
    if (!statement.reader) return { row: undefined, changed: statement.run(parameters).changes }
    // The commit follows the last row: get() would stop before it, and miss a commit that fails.
    return { row: statement.all(parameters)[0] as Row | undefined, changed: 0 }
  }

  readArrays ({ sql, parameters }: CompiledQuery, reached: () => void): MaybePromise<ArrayRows> {
    reached()
    return this.#read(() => this.#arrays(sql).all(parameters) as ArrayRows)
  }

  /** Reads at once, or after a wait if another process is recovering the log of one that was killed. */
  #read<Result> (read: () => Result): MaybePromise<Result> {
    this.#traffic.beforeRead()
    try {
      return read()
    } catch (failure) {
      if (!isLocked(failure)) throw failure
      return retryWhileLocked(failure, () => {
        // Meanwhile somebody may have begun a transaction, whose changes must not be read.
        if (!this.isFree) throw failure
        return read()
      }, lockTimeout)
    }
  }
}

function keep (prepare: Prepare): Prepare {
  const statements = new LRUCache<string, Statement>({
    max: maxStatements,
    maxSize: maxCharacters,
    maxEntrySize: maxStatementLength,
    sizeCalculation: (_statement, sql) => sql.length
  })
  return (sql) => {
    const kept = statements.get(sql)
    if (kept !== undefined) return kept
    const prepared = prepare(sql)
    statements.set(sql, prepared)
    return prepared
  }
}
