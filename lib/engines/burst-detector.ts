import { currentTurn } from './event-loop-turn.js'

/** Predicts a burst of calls in an event-loop turn: one is expected if the last turn with calls had one. */
export class BurstDetector {
  readonly #minCount: number
  #turn = -1
  #count = 0
  #isBurst = false

  /** @param minCount  calls in one turn from which on they count as a burst */
  constructor (minCount: number) {
    this.#minCount = minCount
  }

  /** Counts a call. True if a burst is expected in this turn. */
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
