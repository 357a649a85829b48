import type { Server, Socket } from 'node:net'

/** Requests in an event-loop turn after which no more are read before the next turn. */
const maxRequestsPerTurn = 500

/** Requests after which the next turn resets the count. An immediate for every turn would cost as much as a hook. */
const resetAfterRequests = 50

/**
 * Stops reading from all sockets until the next event-loop turn if many requests came in this one. Otherwise Node would
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
    if (++this.#count === resetAfterRequests) setImmediate(this.#endTurn)
    if (this.#count === maxRequestsPerTurn) this.#pause()
  }

  #pause (): void {
    // Sockets that the host has paused, or does not read yet, are left out, because the next turn would resume them.
    this.#paused = [...this.#sockets].filter(({ readableFlowing }) => readableFlowing === true)
    for (const socket of this.#paused) socket.pause()
  }

  readonly #endTurn = (): void => {
    for (const socket of this.#paused) socket.resume()
    this.#paused = []
    this.#count = 0
  }
}
