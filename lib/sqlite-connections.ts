import type { Database, Statement } from 'better-sqlite3'
import { SqliteDialect, SqliteDriver, type CompiledQuery, type DatabaseConnection, type SqliteDialectConfig } from 'kysely'
import { LRUCache } from 'lru-cache'
import type { ArrayRows, DirectRoad, DirectRoads, Outcome, Row } from './query/engine.js'
import type { Soon } from './query/insist.js'
import { GroupCommit } from './sqlite-group-commit.js'

/** What Kysely's driver ends a transaction with. */
const commit = 'commit'

/** Clients choose the shapes of lists, so the statements that are kept must be bounded. */
const maxStatements = 500

/**
 * Kysely's dialect, on a database that can also be asked without waiting: Kysely costs as much as a short statement.
 *
 * @param writer  what Kysely gets, and what writes while nobody has it
 * @param reader  a connection of its own to the same file, on which nobody ever begins a transaction; absent for a
 *   database in memory, which has but one connection
 * @param requireFile  called before each statement that writes
 */
export class EmbeddedDialect extends SqliteDialect {
  readonly #driver: CountingDriver
  readonly roads: DirectRoads
  /** Closes the connections, as often as it is called. */
  readonly close: () => void

  constructor (writer: Database, reader: Database | undefined, requireFile: () => void = () => {}) {
    const kept = keep((sql) => writer.prepare(sql))
    const statements: Prepare = (sql) => {
      const statement = kept(sql)
      if (!statement.readonly || sql === commit) requireFile()
      return statement
    }
    const commits = new GroupCommit(writer, requireFile)
    const close = (): void => {
      commits.commit()
      for (const database of [reader, writer]) database?.close()
    }
    const config = { database: { prepare: statements, close } }
    super(config)
    const driver = new CountingDriver(config, commits)
    const shared = new SyncRoad(writer, { statements, commits, isIdle: () => driver.isIdle })
    this.#driver = driver
    this.close = close
    this.roads = {
      writer: shared,
      reader: reader === undefined ? shared : new SyncRoad(reader, { statements: keep((sql) => reader.prepare(sql)), commits, isIdle: () => true })
    }
  }

  override createDriver (): SqliteDriver {
    return this.#driver
  }
}

/** Kysely's driver, which has one connection, and knows whether somebody has it or waits for it. Who takes it comes after the writes that wait. */
class CountingDriver extends SqliteDriver {
  readonly #commits: GroupCommit
  #takers = 0

  constructor (config: SqliteDialectConfig, commits: GroupCommit) {
    super(config)
    this.#commits = commits
  }

  get isIdle (): boolean {
    return this.#takers === 0
  }

  override async acquireConnection (): Promise<DatabaseConnection> {
    this.#commits.commit()
    this.#takers += 1
    return await super.acquireConnection()
  }

  override async releaseConnection (): Promise<void> {
    await super.releaseConnection()
    this.#takers -= 1
  }
}

type Prepare = (sql: string) => Statement

interface Traffic {
  readonly statements: Prepare
  readonly commits: GroupCommit
  /** Whether nobody has the connection, so that it is in no transaction. */
  readonly isIdle: () => boolean
}

/** A connection of this process: when a call returns, a statement that reads was executed. */
class SyncRoad implements DirectRoad {
  readonly #database: Database
  readonly #traffic: Traffic
  readonly #arrays: Prepare

  constructor (database: Database, traffic: Traffic) {
    this.#database = database
    this.#traffic = traffic
    this.#arrays = keep((sql) => database.prepare(sql).raw(true))
  }

  get isFree (): boolean {
    return this.#database.open && this.#traffic.isIdle()
  }

  execute (query: CompiledQuery, reached: () => void): Soon<Outcome> {
    reached()
    const { statements, commits } = this.#traffic
    const statement = statements(query.sql)
    if (!statement.readonly) return commits.execute(() => this.#write(query))
    return { row: statement.get(query.parameters) as Row | undefined, changed: 0 }
  }

  /** Finds the statement anew, which may run later than it was asked for, when the file may have gone. */
  #write ({ sql, parameters }: CompiledQuery): Outcome {
    const statement = this.#traffic.statements(sql)
    if (!statement.reader) return { row: undefined, changed: statement.run(parameters).changes }
    // The commit comes behind the last row: get() would stop before, and pass over a commit that fails.
    return { row: statement.all(parameters)[0] as Row | undefined, changed: 0 }
  }

  readArrays ({ sql, parameters }: CompiledQuery, reached: () => void): ArrayRows {
    reached()
    return this.#arrays(sql).all(parameters) as ArrayRows
  }
}

function keep (prepare: Prepare): Prepare {
  const statements = new LRUCache<string, Statement>({ max: maxStatements })
  return (sql) => {
    const kept = statements.get(sql)
    if (kept !== undefined) return kept
    const prepared = prepare(sql)
    statements.set(sql, prepared)
    return prepared
  }
}
