import type { ServerResponse } from 'node:http'
import { currentTurn, turnMs } from '../../engines/event-loop-turn.js'
import { RequestQueue } from './request-queue.js'

/**
 * Used instead of {@link turnMs} for 50 ms after a connection was accepted, so that further clients are accepted
 * quickly.
 */
const turnMsWhileOpening = 2

/**
 * Number of tries in a round, in addition to two for each request that left the queue in the round before. One try lets
 * one waiting request go on, if it may.
 */
const minTried = 8

/**
 * Spreads requests over event-loop turns, for an engine that works in this process. Without this queue, all requests
 * that have arrived would be answered in one turn. Timers, other routes and the limits of the load would have to wait
 * until that turn ends.
 */
export class TurnQueue extends RequestQueue {
  #turn = -1
  /** Time of `performance.now()`, in milliseconds, at which the first request of the turn began. */
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
   * Begins a round of tries to let requests go on, each in its own `setImmediate` callback of the next turn. The engine
   * works for the request of one callback before the next callback begins, so each callback sees how much time is left.
   * There are more callbacks than requests went on in the last round, because further requests arrive meanwhile.
   * Otherwise a queue under load would never become empty again.
   */
  readonly #try = (): void => {
    if (this.size === 0) {
      this.#isWoken = false
      return
    }
    const count = 2 * this.#fitted + minTried
    this.#fitted = 0
    for (let tried = 0; tried < count; tried++) setImmediate(this.#tryOne)
    setImmediate(this.#end)
  }

  readonly #tryOne = (): void => {
    if (this.admitNext()) this.#fitted++
  }

  /**
   * Ends a round of tries. If at least one request left the queue, the next round follows at once. If none did, unread
   * answers take too much memory. Then the timer of the queue begins the next round.
   */
  readonly #end = (): void => {
    this.#isWoken = false
    if (this.size > 0 && this.#fitted > 0) this.wake()
  }
}
