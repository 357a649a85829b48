import type { Server, Socket } from 'node:net'

/** Requests in a turn of the event loop after which no more are read before the next turn. */
const maxRequests = 500

/** Requests after which it is found out whether they all came in one turn: an immediate for each turn would cost as much as a hook. */
const minCounted = 50

/**
 * Stops reading from all sockets until the next turn of the event loop when many requests came in this one. Node would
 * parse all that has arrived before anything is answered, and a socket may hold a thousand requests.
 */
export class ReadLimit {
  readonly #sockets = new Set<Socket>()
  #paused: readonly Socket[] = []
  #count = 0

  constructor (server: Server) {
    const watch = (socket: Socket): void => {
      this.#sockets.add(socket)
      socket.once('close', () => this.#sockets.delete(socket))
    }
    server.on('connection', watch).on('secureConnection', watch)
  }

  /** Counts a request. */
  count (): void {
    if (++this.#count === minCounted) setImmediate(this.#endTurn)
    if (this.#count === maxRequests) this.#pause()
  }

  #pause (): void {
    // Not those that the host has paused, or does not read yet.
    this.#paused = [...this.#sockets].filter(({ readableFlowing }) => readableFlowing === true)
    for (const socket of this.#paused) socket.pause()
  }

  readonly #endTurn = (): void => {
    for (const socket of this.#paused) socket.resume()
    this.#paused = []
    this.#count = 0
  }
}
