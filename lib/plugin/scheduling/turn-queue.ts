import type { Exchange } from './exchange.js'
import { RequestQueue } from './request-queue.js'

/** Milliseconds of an event-loop turn after which requests wait for the next one. */
const turnMs = 20

/** The same as `turnMs`, while connections are being opened. */
const turnMsWhileOpening = 2

/** Requests that are tried in a turn, in addition to twice as many as fitted into the last one. */
const minTried = 8

/**
 * Spreads requests over event-loop turns, for an engine that works in this process. Otherwise all requests that have
 * arrived would be answered in one turn. No timer, no other route and no limit of the load could run during it.
 */
export class TurnQueue extends RequestQueue {
  readonly hasSlots = false
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
   * Tries requests, each in its own immediate. By then the engine has done its work for the one before, so its time is
   * known. Some immediates are for requests that arrive until then. Otherwise a queue that once began would never be
   * empty again under load.
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
    // A request that was refused, not admitted, has not begun the turn.
    if (this.#began === undefined) this.#begin(now)
  }
}
