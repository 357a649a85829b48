import type { ServerResponse } from 'node:http'
import type { Connections } from './connections.js'
import { RequestQueue } from './request-queue.js'

/** Bounds how many requests wait for an engine that does its work on a server. */
export class SlotQueue extends RequestQueue {
  readonly #running = new Set<ServerResponse>()
  readonly #handled = new WeakSet<ServerResponse>()
  readonly #maxRunning: number
  /** One listener for all answers: a closure for each costs ten times as much. */
  readonly #onClose: (this: ServerResponse) => void

  /** @param maxRunning  requests that ask the server at a time */
  constructor (connections: Connections, maxRunning: number) {
    super(connections)
    this.#maxRunning = maxRunning
    // A statement goes on although its client has gone, and the handler waits for it.
    const leave = (answer: ServerResponse): void => { if (!this.#handled.has(answer)) this.leave(answer) }
    this.#onClose = function () { leave(this) }
  }

  override begin (answer: ServerResponse): void {
    this.#handled.add(answer)
  }

  leave (answer: ServerResponse): void {
    if (!this.#running.delete(answer)) return
    this.connections.of(answer.req)?.forget(answer)
    this.wake()
  }

  protected take (answer: ServerResponse): boolean {
    if (this.#running.size >= this.#maxRunning) return false
    this.#running.add(answer)
    // What a hook answers does not come to the handler. Behind other answers of a connection that ends, Node tells of no close.
    answer.on('close', this.#onClose)
    this.connections.of(answer.req)?.whenClosed(answer, () => { this.#onClose.call(answer) })
    return true
  }

  protected wake (): void {
    while (this.letGoOn());
  }
}
