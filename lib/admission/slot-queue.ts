import type { ServerResponse } from 'node:http'
import type { Connections } from './connections.js'
import { RequestQueue } from './request-queue.js'

/** Requests that ask a server at a time: several for each of its connections, so that none is idle. */
const maxRunning = 64

/** Bounds how many requests wait for an engine that does its work on a server. */
export class SlotQueue extends RequestQueue {
  readonly #running = new Set<ServerResponse>()
  /** One listener for all answers: a closure for each costs ten times as much. */
  readonly #onClose: (this: ServerResponse) => void

  constructor (connections: Connections) {
    super(connections)
    const leave = (answer: ServerResponse): void => { this.leave(answer) }
    this.#onClose = function () { leave(this) }
  }

  leave (answer: ServerResponse): void {
    if (this.#running.delete(answer)) this.wake()
  }

  protected take (answer: ServerResponse): boolean {
    if (this.#running.size >= maxRunning) return false
    this.#running.add(answer)
    // What a hook of the host answers does not come to the handler.
    answer.on('close', this.#onClose)
    return true
  }

  protected wake (): void {
    while (this.letGoOn());
  }
}
