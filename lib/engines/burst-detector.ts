import { setImmediate } from 'node:timers'

/** Predicts a burst of calls in an event-loop turn: one is expected if the last turn with calls had one. */
export class BurstDetector {
  readonly #minCount: number
  readonly #onEnd: () => void
  #count = 0
  #isBurst = false

  /**
   * @param minCount  calls in one turn from which on they count as a burst
   * @param onEnd     called at the end of each turn with calls
   */
  constructor (minCount: number, onEnd: () => void) {
    this.#minCount = minCount
    this.#onEnd = onEnd
  }

  /** Counts a call. True if a burst is expected in this turn. */
  join (): boolean {
    if (this.#count++ === 0) setImmediate(this.#endTurn)
    return this.#isBurst
  }

  readonly #endTurn = (): void => {
    this.#isBurst = this.#count >= this.#minCount
    this.#count = 0
    this.#onEnd()
  }
}
