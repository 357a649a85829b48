import type { Exchange } from './connection.js'
import { RequestQueue } from './request-queue.js'

/** Milliseconds of a turn of the event loop after which requests wait for the next one. */
const turnMs = 20

/** The same while connections are being opened. */
const turnMsWhileOpening = 2

/** Requests that are tried in a turn beside twice those for which there was time in the last. */
const minTried = 8

/**
 * Spreads requests over turns of the event loop, for an engine that does its work in this process. Otherwise all that have
 * arrived would be answered in one turn, in which no timer, no other route and no limit of the load has a say.
 */
export class TurnQueue extends RequestQueue {
  #began: number | undefined
  #isWoken = false
  #fitted = 0

  protected take (exchange: Exchange, now: number): boolean {
    if (this.#began === undefined) this.#begin(now)
    else if (!this.#hasTime(now, this.#began)) return false
    exchange.state = 'free'
    return true
  }

  protected wake (): void {
    if (this.#isWoken || this.#began !== undefined) return
    this.#isWoken = true
    setImmediate(this.#try)
  }

  #hasTime (now: number, began: number): boolean {
    return now - began < (this.connections.areOpening(now) ? turnMsWhileOpening : turnMs)
  }

  #begin (now: number): void {
    this.#began = now
    setImmediate(this.#end)
  }

  readonly #end = (): void => {
    this.#began = undefined
    if (!this.#isWoken) this.#try()
  }

  /**
   * By an immediate for each, so that what the one before awaits of the engine is done, and its time is known. There are
   * some also for requests that arrive until then: otherwise a queue that once began would never be empty again under load.
   */
  readonly #try = (): void => {
    this.#isWoken = false
    const count = this.size === 0 ? 0 : 2 * this.#fitted + minTried
    this.#fitted = 0
    for (let tried = 0; tried < count; tried++) setImmediate(this.#tryOne)
  }

  readonly #tryOne = (): void => {
    const now = performance.now()
    if (this.#began !== undefined && !this.#hasTime(now, this.#began)) return
    if (!this.letGoOn()) return
    this.#fitted++
    // It may have been refused.
    if (this.#began === undefined) this.#begin(now)
  }
}
