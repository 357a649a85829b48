/** Deadline of a server's answer. It calls `onLate` once, if `end()` is not called within the given milliseconds. */
export class Deadline {
  readonly #timer: NodeJS.Timeout
  #onLate: (() => void) | undefined

  constructor (milliseconds: number, onLate: () => void) {
    this.#onLate = onLate
    this.#timer = setTimeout(expire, milliseconds, this)
  }

  /**
   * Ends the deadline, so that `onLate` is never called. Also forgets `onLate`: without this, the timer would keep it
   * in memory until the next major garbage collection.
   */
  end (): void {
    clearTimeout(this.#timer)
    this.#onLate = undefined
  }

  /** Calls `onLate`, if {@link end} was not called before. Called only when the time is up. */
  expire (): void {
    this.#onLate?.()
  }
}

/**
 * Expires a deadline when the sockets have been read. If the process was stopped or busy until now, the answer may have
 * arrived in time, but timers come first.
 */
function expire (deadline: Deadline): void {
  setImmediate(() => { deadline.expire() })
}
