import type { ServerResponse } from 'node:http'
import { currentTurn } from '../../engines/event-loop-turn.js'
import { RequestQueue } from './request-queue.js'

/** Milliseconds of an event-loop turn after which requests wait for a later one. */
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
  #turn = -1
  /** When the first request of the turn was served. */
  #began = 0
  #isWoken = false
  #fitted = 0

  protected take (_answer: ServerResponse, now: number): boolean {
    const turn = currentTurn()
    if (turn === this.#turn) return this.#hasTime(now)
    this.#turn = turn
    this.#began = now
    return true
  }

  protected wake (): void {
    if (this.#isWoken) return
    this.#isWoken = true
    setImmediate(this.#try)
  }

  #hasTime (now: number): boolean {
    return now - this.#began < (this.connections.areOpening(now) ? turnMsWhileOpening : turnMs)
  }

  /**
   * Tries requests, each in its own immediate of the next turn. By then the engine has done its work for the one
   * before, so its time is known. Some immediates are for requests that arrive until then. Otherwise a queue that once
   * began would never be empty again under load.
   */
  readonly #try = (): void => {
    const count = this.size === 0 ? 0 : 2 * this.#fitted + minTried
    this.#fitted = 0
    for (let tried = 0; tried < count; tried++) setImmediate(this.#tryOne)
    setImmediate(this.#end)
  }

  readonly #tryOne = (): void => {
    if (this.letGoOn()) this.#fitted++
  }

  /** Goes on in a later turn. If nothing fitted, the requests wait for memory, and are tried every 100 ms. */
  readonly #end = (): void => {
    this.#isWoken = false
    if (this.size > 0 && this.#fitted > 0) this.wake()
  }
}
