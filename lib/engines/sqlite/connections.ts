import type { Database, Statement } from 'better-sqlite3'
import { SqliteDialect, type CompiledQuery, type SqliteDriver } from 'kysely'
import { LRUCache } from 'lru-cache'
import type { ArrayRows, DirectExecutor, DirectExecutors, Outcome, Row, MaybePromise } from '../executor.js'
import { CountingDriver } from './counting-driver.js'
import { GroupCommit } from './group-commit.js'
import { isLocked, lockTimeout, retryWhileLocked } from './lock.js'
import type { ReadLock } from './read-lock.js'

/** What Kysely's driver ends a transaction with. */
const commit = 'commit'

/** Clients choose the shapes of lists, so the statements that are kept must be bounded, also in what they take: some 26 bytes for each character. */
const maxStatements = 500
const maxCharacters = 192 * 1024
const maxText = 16_384

/** What a database in a file has besides the connection that writes. */
export interface DatabaseFile {
  /** A connection on which nobody ever begins a transaction. */
  readonly reader: Database
  readonly lock: ReadLock
  /** Called before each statement that writes. */
  readonly requireFile: () => void
}

/**
 * Kysely's dialect, on a database that can also be asked without waiting: Kysely costs as much as a short statement.
 *
 * @param writer  what Kysely gets, and what writes while nobody has it
 * @param file  absent for a database that has but one connection, in memory or only for reading
 */
export class EmbeddedDialect extends SqliteDialect {
  readonly #driver: CountingDriver
  readonly roads: DirectExecutors
  /** Closes the connections, as often as it is called. */
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
    this.roads = {
      writer: shared,
      reader: file === undefined ? shared : new SqliteExecutor(reader, { ...hooks, statements: keep((sql) => reader.prepare(sql)), isFree: () => isOpen })
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
  /** Whether it is open, and nobody has it, so that it is in no transaction. */
  readonly isFree: () => boolean
}

/** A connection of this process: when a call returns, a statement that reads was executed. */
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
    // The commit comes behind the last row: get() would stop before, and pass over a commit that fails.
    return { row: statement.all(parameters)[0] as Row | undefined, changed: 0 }
  }

  readArrays ({ sql, parameters }: CompiledQuery, reached: () => void): MaybePromise<ArrayRows> {
    reached()
    return this.#read(() => this.#arrays(sql).all(parameters) as ArrayRows)
  }

  /** Whoever reads hardly ever has to wait: only while another process mends the log of one that was killed. */
  #read<Result> (read: () => Result): MaybePromise<Result> {
    this.#traffic.beforeRead()
    try {
      return read()
    } catch (failure) {
      if (!isLocked(failure)) throw failure
      return retryWhileLocked(failure, () => {
        // By now somebody may have begun a transaction, which is not to be looked into.
        if (!this.isFree) throw failure
        return read()
      }, lockTimeout)
    }
  }
}

function keep (prepare: Prepare): Prepare {
  const statements = new LRUCache<string, Statement>({ max: maxStatements, maxSize: maxCharacters, maxEntrySize: maxText, sizeCalculation: (_statement, sql) => sql.length })
  return (sql) => {
    const kept = statements.get(sql)
    if (kept !== undefined) return kept
    const prepared = prepare(sql)
    statements.set(sql, prepared)
    return prepared
  }
}
