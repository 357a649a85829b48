import type { Socket } from 'node:net'

/** Most bytes of answers that clients have not taken, over all connections. */
const maxUnreadBytes = 64 * 2 ** 20

/** Milliseconds for which a count of these bytes is used again. */
const countValidMs = 50

/** Milliseconds that each client has at least to take an answer. */
const minUnreadMs = 200

/** Milliseconds after the last request of a connection for which it is counted. An answer comes within that time. */
const watchMs = 10_000

/** Bytes that a connection was given in all, and when it was first seen not to have taken the last of them. */
interface Unread {
  readonly written: number
  readonly since: number
}

/** Limits the memory of answers that clients do not read. */
export class UnreadAnswers {
  /** Connections whose clients may have answers to take, and when each of them sent its last request. */
  readonly #watched = new Map<Socket, number>()
  readonly #unread = new WeakMap<Socket, Unread>()
  #bytes = 0
  #countedAt = -Infinity

  /** Notes that a connection will be given an answer. */
  watch (socket: Socket): void {
    this.#watched.set(socket, performance.now())
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
    for (const [socket, askedAt] of this.#watched) {
      if (socket.destroyed || (socket.writableLength === 0 && now - askedAt > watchMs)) this.#watched.delete(socket)
      else if (socket.writableLength > 0) this.#add(socket, now)
    }
    if (this.#bytes >= maxUnreadBytes) this.#makeRoom(now)
  }

  #add (socket: Socket, now: number): void {
    this.#bytes += socket.writableLength
    const { bytesWritten: written } = socket
    if (this.#unread.get(socket)?.written !== written) this.#unread.set(socket, { written, since: now })
  }

  #makeRoom (now: number): void {
    const unreadFor = (socket: Socket): number => now - (this.#unread.get(socket)?.since ?? now)
    const late = [...this.#watched.keys()]
      .filter((socket) => socket.writableLength > 0 && unreadFor(socket) >= minUnreadMs)
    for (const socket of late.sort((one, other) => unreadFor(other) - unreadFor(one))) {
      if (this.#bytes < maxUnreadBytes) return
      this.#bytes -= socket.writableLength
      socket.destroy()
    }
  }
}
