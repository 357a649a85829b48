import { performance } from 'node:perf_hooks'
import { setImmediate } from 'node:timers/promises'

const { nodeTiming } = performance

/**
 * Returns the number of the current event-loop turn. Reading it takes 50 ns, much less than a `setImmediate()` that
 * notes the end of each turn.
 */
export function currentTurn (): number {
  return nodeTiming.uvMetricsInfo.loopCount
}

/**
 * Milliseconds of an event-loop turn in which requests and statements of an engine in this process may begin. After
 * that, further ones wait for a later turn.
 */
export const turnMs = 20

/**
 * Number of writes to SQLite in one event-loop turn that make a burst. After a burst, the writes of the next turn with
 * writes are committed as a group.
 */
export const minGroupSize = 2
/** Milliseconds after which no further write of a group begins, because writing blocks the process. */
export const maxGroupMs = 10

/** Measures how long statements have kept the event loop from its next turn. */
export class TurnClock {
  #turn = -1
  #began = 0

  /**
   * Returns a promise to await, which lets timers and sockets be served, if {@link turnMs} have passed since the first
   * call in the current turn; otherwise undefined. Without this, code that awaits one statement of SQLite after another
   * would block the process until its end, because their promises resolve at once.
   */
  pauseIfLong (): Promise<void> | undefined {
    const turn = currentTurn()
    const now = performance.now()
    if (turn !== this.#turn) this.#began = now
    this.#turn = turn
    return now - this.#began < turnMs ? undefined : setImmediate()
  }
}

/**
 * Predicts bursts of calls. A burst is at least `minCount` calls in one event-loop turn. A burst is expected in a turn
 * if the last turn that had any calls had a burst.
 */
export class BurstDetector {
  readonly #minCount: number
  #turn = -1
  #count = 0
  #isBurst = false

  /** @param minCount  number of calls in one turn that make a burst */
  constructor (minCount: number) {
    this.#minCount = minCount
  }

  /** Counts a call in the current event-loop turn. Returns true if a burst is expected in this turn. */
  join (): boolean {
    const turn = currentTurn()
    if (turn !== this.#turn) {
      this.#isBurst = this.#count >= this.#minCount
      this.#count = 0
      this.#turn = turn
    }
    this.#count++
    return this.#isBurst
  }
}
