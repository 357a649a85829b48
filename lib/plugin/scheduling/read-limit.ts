import type { Socket } from 'node:net'
import { currentTurn } from '../../engines/event-loop-turn.js'

/** Requests of all connections in one event-loop turn after which nothing more is read before the next turn. */
const maxRequestsPerTurn = 500

/**
 * Stops reading from all sockets until the next event-loop turn when 500 requests came in this one. Otherwise Node
 * would parse all that has arrived before anything is answered, and one socket may hold 1000 requests.
 */
export class ReadLimit {
  readonly #sockets: ReadonlySet<Socket>
  #turn = -1
  #count = 0

  /** @param sockets  open sockets of the app, kept up to date by the caller */
  constructor (sockets: ReadonlySet<Socket>) {
    this.#sockets = sockets
  }

  /** Counts a request of this event-loop turn. The 500th pauses all sockets until the next turn. */
  count (): void {
    const turn = currentTurn()
    if (turn !== this.#turn) this.#count = 0
    this.#turn = turn
    if (++this.#count === maxRequestsPerTurn) this.#pause()
  }

  #pause (): void {
    // Sockets that the host has paused, or does not read yet, are left out, because the next turn would resume them.
    const paused = [...this.#sockets].filter(({ readableFlowing }) => readableFlowing === true)
    for (const socket of paused) socket.pause()
    setImmediate(() => { for (const socket of paused) socket.resume() })
  }
}
