import { LRUCache } from 'lru-cache'
import { StatementNames } from './statement-names.js'

/** What one connection keeps: a server takes some 25 KiB for a short statement, and of a long one some 70 bytes for each character. */
const maxStatements = 100
const maxSize = 64 * 1024
/** A parameter takes as much as so many characters. */
const parameterSize = 40

/** What the connections of a pool have prepared. The statements that one of them has not used for the longest time are closed on the server. */
export class PreparedStatements<Connection extends object> {
  readonly #names = new StatementNames()
  /** For each connection the texts by their names. */
  readonly #prepared = new WeakMap<Connection, LRUCache<string, string>>()
  readonly #close: (connection: Connection, name: string, text: string) => void

  /** @param close  closes a statement on the server */
  constructor (close: (connection: Connection, name: string, text: string) => void) {
    this.#close = close
  }

  /** The name under which a connection is to prepare a text; undefined if it is not to. */
  nameOf (connection: Connection, text: string, values: readonly unknown[]): string | undefined {
    const name = this.#names.nameOf(text, values)
    if (name === undefined) return undefined
    const prepared = this.#prepared.get(connection) ?? this.#add(connection)
    if (prepared.get(name) === undefined) prepared.set(name, text, { size: text.length + parameterSize * values.length })
    return name
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
