import type { Database, Statement } from 'better-sqlite3'
import { LRUCache } from 'lru-cache'
import type { Row } from '../executor.js'
import { ArrayStatement } from './array-statement.js'

/**
 * Maximum number of statements in one cache; a connection has two caches. Without the limit, caches would grow without
 * end, because clients choose filters and orderings, and so make ever new statements.
 */
const maxStatements = 500
/** Maximum number of characters of all statements in one cache together. Each character takes some 26 bytes. */
const maxCharacters = 192 * 1024
/** Maximum number of characters of a statement that is kept. A longer one is prepared at each use. */
const maxStatementLength = 16_384

/**
 * Prepared statements of one connection by their text: `memo()` prepares a statement when it is first asked for. If
 * there are too many, the least recently used ones are dropped.
 */
export type StatementCache<Prepared extends object> = LRUCache<string, Prepared>

function cacheStatements<Prepared extends object> (prepare: (sql: string) => Prepared): StatementCache<Prepared> {
  return new LRUCache({
    max: maxStatements,
    maxSize: maxCharacters,
    maxEntrySize: maxStatementLength,
    sizeCalculation: (_statement, sql) => sql.length,
    memoMethod: prepare
  })
}

/** Connection to a database, with its prepared statements. The one that writes is also used by Kysely's driver. */
export class SqliteConnection {
  /** Statements of Kysely's driver, whose rows are objects. */
  readonly objects: StatementCache<Statement<unknown[], Row>>
  /** Statements of the executors, whose rows are arrays of values. */
  readonly arrays: StatementCache<ArrayStatement>
  /** Number of callers that hold the connection in Kysely's driver, or wait for it there. */
  holders = 0
  /** Number of queries whose rows are being streamed. */
  streams = 0
  /** Connection of the driver better-sqlite3. */
  readonly database: Database

  constructor (database: Database) {
    this.objects = cacheStatements((sql) => database.prepare<unknown[], Row>(sql))
    this.arrays = cacheStatements((sql) => new ArrayStatement(database.prepare(sql)))
    this.database = database
  }
}
