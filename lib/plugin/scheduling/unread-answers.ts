import type { Connection } from './connection.js'

/** Bytes of answers that clients have not taken, over all connections. */
const maxBytes = 64 * 2 ** 20

/** Milliseconds for which a count of them will do. */
const countedForMs = 50

/** Milliseconds that a client has at least to take an answer. */
const minUnreadMs = 200

/** Bounds the memory of answers that clients do not read. */
export class UnreadAnswers {
  /** Those that may have answers to take, the oldest first. */
  readonly #connections = new Set<Connection>()
  #bytes = 0
  #countedAt = -Infinity

  /** Notes that a connection will be given an answer. */
  watch (connection: Connection): void {
    this.#connections.add(connection)
  }

  /** Notes that a connection has closed. */
  forget (connection: Connection): void {
    this.#connections.delete(connection)
  }

  /** Whether there is room for one more answer. For that, the connections are closed whose clients have let one wait for longest. */
  hasRoom (now: number): boolean {
    if (now - this.#countedAt >= countedForMs) this.#count(now)
    return this.#bytes < maxBytes
  }

  #count (now: number): void {
    this.#countedAt = now
    this.#bytes = 0
    for (const connection of this.#connections) {
      if (connection.isDone()) this.#connections.delete(connection)
      else this.#bytes += connection.countUnread(now)
    }
    if (this.#bytes >= maxBytes) this.#makeRoom(now)
  }

  #makeRoom (now: number): void {
    const late = [...this.#connections].filter((connection) => connection.unreadFor(now) >= minUnreadMs)
    for (const connection of late.sort((one, other) => other.unreadFor(now) - one.unreadFor(now))) {
      if (this.#bytes < maxBytes) return
      this.#bytes -= connection.countUnread(now)
      connection.close()
    }
  }
}
