import type { ServerResponse } from 'node:http'
import { currentTurn } from '../../engines/event-loop-turn.js'
import { RequestQueue } from './request-queue.js'

/** Milliseconds of an event-loop turn in which requests may begin; after that, they wait for a later turn. */
const turnMs = 20

/** Used instead of `turnMs` for 50 ms after a connection was accepted, so that further clients are accepted quickly. */
const turnMsWhileOpening = 2

/**
 * Least number of waiting requests that each event-loop turn tries to let go on. Twice the number of requests that went
 * on in the turn before is added.
 */
const minTried = 8

/**
 * Spreads requests over event-loop turns, for an engine that works in this process. Without this queue, all requests
 * that have arrived would be answered in one turn. No timer, no other route and no limit of the load could run during
 * that turn.
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
   * Tries to let requests go on, each in its own `setImmediate` callback of the next turn. Between two callbacks, the
   * engine works for the request of the first one, so the second knows how much time is left. Some callbacks are for
   * requests that arrive meanwhile. Without these, a queue under load would never become empty again.
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
    if (this.letGoOn()) this.#fitted++
  }

  /**
   * Ends a round, in which the requests that wait were tried in their order. If at least one of them began, the next
   * round follows at once. Otherwise the timer of the queue begins it later: that none could begin means that unread
   * answers take too much memory.
   */
  readonly #end = (): void => {
    this.#isWoken = false
    if (this.size > 0 && this.#fitted > 0) this.wake()
  }
}
