/** Gives up an answer that does not come within some milliseconds. */
export class Deadline {
  readonly #timer: NodeJS.Timeout
  #onLate: (() => void) | undefined

  constructor (milliseconds: number, onLate: () => void) {
    this.#onLate = onLate
    this.#timer = setTimeout(expire, milliseconds, this)
  }

  /** Ends the deadline. The callback goes, too: the timer would keep it until the next major garbage collection. */
  end (): void {
    clearTimeout(this.#timer)
    this.#onLate = undefined
  }

  /** Gives up the answer, if the deadline has not ended. */
  expire (): void {
    this.#onLate?.()
  }
}

function expire (deadline: Deadline): void {
  deadline.expire()
}
