/** Maximum milliseconds that a request waits for a connection, or in a queue for other requests. Then it fails. */
export const maxWaitMs = 2000

/**
 * Lets a limited number of callers in at the same time. Others wait in their order, for two seconds at most. Each
 * caller that was let in must call `release()`.
 */
export class Semaphore {
  readonly #permits: () => number
  readonly #toTimeout: () => Error
  #taken = 0
  readonly #waiting: Array<() => void> = []

  /**
   * @param permits    returns how many callers may be in at this moment, at least one
   * @param toTimeout  returns the error of a caller that has waited for two seconds
   */
  constructor (permits: () => number, toTimeout: () => Error) {
    this.#permits = permits
    this.#toTimeout = toTimeout
  }

  /**
   * Lets the caller in at once, without a promise, and returns true. Returns false if all permits are taken, or if
   * others wait already.
   */
  tryAcquire (): boolean {
    // There may be more permits than at the last release.
    if (this.#waiting.length > 0) this.#letIn()
    if (this.#waiting.length > 0 || this.#taken >= this.#permits()) return false
    this.#taken++
    return true
  }

  /**
   * Waits until other callers have released enough to let this one in. To be called after {@link tryAcquire} has
   * returned false.
   *
   * @throws what `toTimeout` returns, after two seconds
   */
  async waitForRelease (): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      const enter = (): void => {
        clearTimeout(timer)
        resolve()
      }
      // A caller that gives up leaves the queue at once. Otherwise the queue would grow as long as nothing is free.
      const timer = setTimeout(() => {
        this.#waiting.splice(this.#waiting.indexOf(enter), 1)
        reject(this.#toTimeout())
      }, maxWaitMs)
      this.#waiting.push(enter)
    })
  }

  release (): void {
    this.#taken--
    this.#letIn()
  }

  /** Lets in the callers that have waited longest, as many as there are free permits. */
  #letIn (): void {
    for (const enter of this.#waiting.splice(0, Math.max(0, this.#permits() - this.#taken))) {
      this.#taken++
      enter()
    }
  }
}
