import { setImmediate } from 'node:timers'

/** Tells whether many come in one turn of the event loop, going by the last turn in which any came. */
export class BurstDetector {
  readonly #many: number
  readonly #onEnd: () => void
  #count = 0
  #isThere = false

  /**
   * @param many   how many of a turn are a crowd
   * @param onEnd  called at the end of each turn in which any came
   */
  constructor (many: number, onEnd: () => void) {
    this.#many = many
    this.#onEnd = onEnd
  }

  /** Counts one more, and says whether to expect many. */
  join (): boolean {
    if (this.#count++ === 0) setImmediate(this.#endTurn)
    return this.#isThere
  }

  readonly #endTurn = (): void => {
    this.#isThere = this.#count >= this.#many
    this.#count = 0
    this.#onEnd()
  }
}
