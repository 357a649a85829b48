import type { Database, Statement } from 'better-sqlite3'
import { LRUCache } from 'lru-cache'

/** Statements to keep. They must be bounded, because clients choose the shapes of lists. */
const maxStatements = 500
/** Characters of all kept statements together: each takes some 26 bytes. */
const maxCharacters = 192 * 1024
/** Characters of one statement to keep. A longer one is prepared at each use. */
const maxStatementLength = 16_384

/** Prepared statements of one connection by their text. The least recently used ones go. */
export class StatementCache extends LRUCache<string, Statement> {
  readonly #prepare: (sql: string) => Statement

  /** @param form  `arrays` if the statements return rows without keys */
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
