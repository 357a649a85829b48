import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** Bytes of unread answers over all connections at which no further request goes on. */
const maxUnreadBytes = 64 * 2 ** 20

/** Milliseconds for which a count of the unread bytes is used before they are counted again. */
const countValidMs = 50

/** Milliseconds that every client has to take an answer, before its connection may be closed to free memory. */
const minUnreadMs = 200

/**
 * The answer that a connection sends next, and when it was first seen to be complete but not yet taken by the client.
 */
interface Given {
  readonly answer: ServerResponse
  unreadSince: number | undefined
}

/**
 * Limits the answers that clients have not read to 64 MiB over all HTTP/1 connections. At the limit, new requests wait,
 * and the connections whose answers have waited longest, for at least 200 ms, are closed. Answers of other routes on
 * the same connections do not count.
 */
export class UnreadAnswers {
  readonly #given = new Map<Socket, Given>()
  #bytes = 0
  #countedAt = -Infinity

  /**
   * Counts the bytes of an answer from now on, until the client has taken it. It must be the next answer of the
   * connection.
   */
  watch (socket: Socket, answer: ServerResponse): void {
    this.#given.set(socket, { answer, unreadSince: undefined })
  }

  /** Forgets a connection, because it has closed. */
  forget (socket: Socket): void {
    this.#given.delete(socket)
  }

  /**
   * True if the answers that clients have not read yet take less than 64 MiB, over all connections. If they take more,
   * this first closes connections until they take less: those whose answer has waited longest come first. Connections
   * whose answer has waited less than 200 ms are kept.
   */
  hasRoom (now: number): boolean {
    if (now - this.#countedAt >= countValidMs) this.#count(now)
    return this.#bytes < maxUnreadBytes
  }

  #count (now: number): void {
    this.#countedAt = now
    this.#bytes = 0
    for (const [socket, given] of this.#given) {
      const { answer } = given
      this.#bytes += answer.writableLength
      if (answer.writableFinished || answer.destroyed) this.#given.delete(socket)
      else if (answer.writableEnded) given.unreadSince ??= now
    }
    if (this.#bytes >= maxUnreadBytes) this.#makeRoom(now)
  }

  #makeRoom (now: number): void {
    const late = [...this.#given].filter(([, { unreadSince = now }]) => now - unreadSince >= minUnreadMs)
    const sinceOf = ([, { unreadSince = now }]: (typeof late)[number]): number => unreadSince
    for (const [socket, { answer }] of late.sort((one, other) => sinceOf(one) - sinceOf(other))) {
      if (this.#bytes < maxUnreadBytes) return
      this.#bytes -= answer.writableLength
      socket.destroy()
    }
  }
}
