import type { Database, Statement } from 'better-sqlite3'
import { SqliteDialect, SqliteDriver, type CompiledQuery, type DatabaseConnection } from 'kysely'
import { LRUCache } from 'lru-cache'
import type { ArrayRows, DirectRoad, DirectRoads, Outcome, Row } from './query/engine.js'

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
    const close = (): void => { for (const database of [reader, writer]) database?.close() }
    const config = { database: { prepare: statements, close } }
    super(config)
    const driver = new CountingDriver(config)
    const shared = new SyncRoad(writer, statements, () => driver.isIdle)
    this.#driver = driver
    this.close = close
    this.roads = {
      writer: shared,
      reader: reader === undefined ? shared : new SyncRoad(reader, keep((sql) => reader.prepare(sql)), () => true)
    }
  }

  override createDriver (): SqliteDriver {
    return this.#driver
  }
}

/** Kysely's driver, which has one connection, and knows whether somebody has it or waits for it. */
class CountingDriver extends SqliteDriver {
  #takers = 0

  get isIdle (): boolean {
    return this.#takers === 0
  }

  override async acquireConnection (): Promise<DatabaseConnection> {
    this.#takers += 1
    return await super.acquireConnection()
  }

  override async releaseConnection (): Promise<void> {
    await super.releaseConnection()
    this.#takers -= 1
  }
}

type Prepare = (sql: string) => Statement

/** A connection of this process: when a call returns, the statement was executed. It is open while nobody has the connection, so that it is in no transaction. */
class SyncRoad implements DirectRoad {
  readonly #database: Database
  readonly #statements: Prepare
  readonly #arrays: Prepare
  readonly #isIdle: () => boolean

  constructor (database: Database, statements: Prepare, isIdle: () => boolean) {
    this.#database = database
    this.#statements = statements
    this.#arrays = keep((sql) => database.prepare(sql).raw(true))
    this.#isIdle = isIdle
  }

  get isFree (): boolean {
    return this.#database.open && this.#isIdle()
  }

  execute ({ sql, parameters }: CompiledQuery, reached: () => void): Outcome {
    reached()
    const statement = this.#statements(sql)
    if (!statement.reader) return { row: undefined, changed: statement.run(parameters).changes }
    // The commit of a write comes behind its last row: get() would stop before, and pass over a commit that fails.
    const row = statement.readonly ? statement.get(parameters) : statement.all(parameters)[0]
    return { row: row as Row | undefined, changed: 0 }
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
