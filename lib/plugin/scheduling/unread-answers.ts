import type { Connection } from './connection.js'

/** Most bytes of answers that clients have not taken, over all connections. */
const maxUnreadBytes = 64 * 2 ** 20

/** Milliseconds for which a count of these bytes is used again. */
const countValidMs = 50

/** Milliseconds that each client has at least to take an answer. */
const minUnreadMs = 200

/** Limits the memory of answers that clients do not read. */
export class UnreadAnswers {
  /** Connections whose clients may have answers to take, the oldest first. */
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

  /**
   * True if there is room for one more answer. To make room, it closes the connections where an answer has waited
   * longest for the client, if that is at least 200 ms.
   */
  hasRoom (now: number): boolean {
    if (now - this.#countedAt >= countValidMs) this.#count(now)
    return this.#bytes < maxUnreadBytes
  }

  #count (now: number): void {
    this.#countedAt = now
    this.#bytes = 0
    for (const connection of this.#connections) {
      if (connection.isDone()) this.#connections.delete(connection)
      else this.#bytes += connection.countUnread(now)
    }
    if (this.#bytes >= maxUnreadBytes) this.#makeRoom(now)
  }

  #makeRoom (now: number): void {
    const late = [...this.#connections].filter((connection) => connection.unreadFor(now) >= minUnreadMs)
    for (const connection of late.sort((one, other) => other.unreadFor(now) - one.unreadFor(now))) {
      if (this.#bytes < maxUnreadBytes) return
      this.#bytes -= connection.countUnread(now)
      connection.close()
    }
  }
}
