import { LRUCache } from 'lru-cache'
import { StatementNames, type NamedStatement } from './statement-names.js'

/**
 * Maximum number of statements that one connection keeps prepared. A server takes about 25 KiB for a short statement.
 */
const maxStatements = 100
/**
 * Maximum number of characters of all statements together that one connection keeps prepared. A server takes about 70
 * bytes for each character.
 */
const maxSize = 64 * 1024
/** Number of characters that each parameter adds to the size of a statement, as {@link maxSize} counts it. */
const parameterSize = 40

/**
 * Statements that the connections of a pool have prepared: at most 100 and 64 Ki characters for each connection. If a
 * connection has more, those that it has not used for the longest time are closed on the server.
 */
export class PreparedStatements<Connection extends object> {
  readonly #names = new StatementNames()
  /** Texts of the statements of each connection, by their names. */
  readonly #prepared = new WeakMap<Connection, LRUCache<string, string>>()
  readonly #close: (connection: Connection, name: string, text: string) => void

  /** @param close  called when a connection has too many statements; it must close the given statement on the server */
  constructor (close: (connection: Connection, name: string, text: string) => void) {
    this.#close = close
  }

  /**
   * Returns a text with the name under which a connection is to prepare it, and counts it as prepared there. Returns
   * undefined if the text is to be sent without a name, as {@link StatementNames} decides.
   */
  statementOf (connection: Connection, text: string, values: readonly unknown[]): NamedStatement | undefined {
    const statement = this.#names.statementOf(text, values)
    if (statement === undefined) return undefined
    const { name } = statement
    const prepared = this.#prepared.get(connection) ?? this.#add(connection)
    const size = text.length + parameterSize * values.length
    if (prepared.get(name) === undefined) prepared.set(name, text, { size })
    return statement
  }

  #add (connection: Connection): LRUCache<string, string> {
    const prepared = new LRUCache<string, string>({
      max: maxStatements,
      maxSize,
      dispose: (text, name) => { this.#close(connection, name, text) }
    })
    this.#prepared.set(connection, prepared)
    return prepared
  }
}
