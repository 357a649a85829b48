import type { ServerResponse } from 'node:http'
import type { Connections } from './connections.js'
import { exchangeOf, type Exchange } from './exchange.js'
import { RequestQueue } from './request-queue.js'

/** Limits how many requests use an engine that works on a server. */
export class SlotQueue extends RequestQueue {
  readonly hasSlots = true
  #running = 0
  readonly #maxRunning: number

  /** @param maxRunning  most requests that use the server at a time */
  constructor (connections: Connections, maxRunning: number) {
    super(connections)
    this.#maxRunning = maxRunning
  }

  // A handler keeps its slot although its client has gone, because the server still runs its statement.
  override begin (answer: ServerResponse): boolean {
    const exchange = exchangeOf(answer)
    if (exchange?.state !== 'running') return false
    exchange.state = 'handled'
    return true
  }

  override leave (answer: ServerResponse): void {
    const exchange = exchangeOf(answer)
    if (exchange?.state !== 'running' && exchange?.state !== 'handled') return
    exchange.state = 'free'
    this.#running--
    this.wake()
  }

  protected take (exchange: Exchange): boolean {
    if (this.#running >= this.#maxRunning) return false
    this.#running++
    exchange.state = 'running'
    return true
  }

  protected wake (): void {
    while (this.letGoOn());
  }
}
