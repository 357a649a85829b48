import type { Database, Statement } from 'better-sqlite3'
import { LRUCache } from 'lru-cache'

/** Maximum number of statements that one connection keeps. It is needed because clients choose the shapes of lists. */
const maxStatements = 500
/** Maximum number of characters of all kept statements together. Each character takes some 26 bytes. */
const maxCharacters = 192 * 1024
/** Maximum number of characters of a statement that is kept. A longer one is prepared at each use. */
const maxStatementLength = 16_384

/**
 * Prepared statements of one connection by their text. If there are too many, the least recently used ones are dropped.
 */
export class StatementCache extends LRUCache<string, Statement> {
  readonly #prepare: (sql: string) => Statement

  /** @param form  `arrays` if the statements return each row as an array of values; `objects` for rows with keys */
  constructor (database: Database, form: 'objects' | 'arrays' = 'objects') {
    super({
      max: maxStatements,
      maxSize: maxCharacters,
      maxEntrySize: maxStatementLength,
      sizeCalculation: (_statement, sql) => sql.length
    })
    this.#prepare = (sql) => form === 'arrays' ? database.prepare(sql).raw(true) : database.prepare(sql)
  }

  /** Returns the statement of a text, prepared when it is first asked for. */
  prepareOnce (sql: string): Statement {
    const kept = this.get(sql)
    if (kept !== undefined) return kept
    const prepared = this.#prepare(sql)
    this.set(sql, prepared)
    return prepared
  }
}

/** Connection that the plugin uses, and Kysely's driver too. */
export class SqliteConnection {
  /** Statements whose rows are objects. */
  readonly objects: StatementCache
  /** Statements whose rows are arrays of values. */
  readonly arrays: StatementCache
  /** Number of those who hold the connection in Kysely's driver, or wait for it there. */
  holders = 0
  readonly #database: Database

  constructor (database: Database) {
    this.objects = new StatementCache(database)
    this.arrays = new StatementCache(database, 'arrays')
    this.#database = database
  }

  /** True if the connection is open and nobody holds it, so that it is in no transaction. */
  get isFree (): boolean {
    return this.holders === 0 && this.#database.open
  }
}
