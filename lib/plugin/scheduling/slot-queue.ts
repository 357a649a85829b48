import type { ServerResponse } from 'node:http'
import type { Connections } from './connections.js'
import { RequestQueue } from './request-queue.js'

const kSlot = Symbol('fastify-rest-models.slot')

/** An answer whose request has a slot, and if its handler has begun. */
interface Slotted extends ServerResponse {
  [kSlot]?: 'before the handler' | 'in the handler' | undefined
}

/** Limits how many requests use an engine that works on a server. */
export class SlotQueue extends RequestQueue {
  #running = 0
  readonly #maxRunning: number
  readonly #onClose: (this: ServerResponse) => void

  /** @param maxRunning  most requests that use the server at a time */
  constructor (connections: Connections, maxRunning: number) {
    super(connections)
    this.#maxRunning = maxRunning
    const release = (answer: ServerResponse): void => { this.release(answer) }
    // One listener serves all answers: a closure for each costs ten times as much.
    this.#onClose = function () { release(this) }
  }

  /** Notes that a handler begins, which will call {@link leave}. False if its client has gone, and the slot with it. */
  begin (answer: Slotted): boolean {
    if (answer[kSlot] !== 'before the handler') return false
    answer[kSlot] = 'in the handler'
    return true
  }

  /** Gives back the slot of a request, because the server is done with it. */
  leave (answer: Slotted): void {
    if (answer[kSlot] === undefined) return
    answer[kSlot] = undefined
    this.#running--
    this.wake()
  }

  /**
   * Gives back the slot of a request that a hook answers, or whose client has gone. A handler keeps it, because the
   * server still runs its statement.
   */
  release (answer: Slotted): void {
    if (answer[kSlot] === 'before the handler') this.leave(answer)
  }

  protected take (answer: Slotted): boolean {
    if (this.#running >= this.#maxRunning) return false
    this.#running++
    answer[kSlot] = 'before the handler'
    answer.on('close', this.#onClose)
    return true
  }

  protected wake (): void {
    while (this.letGoOn());
  }
}
