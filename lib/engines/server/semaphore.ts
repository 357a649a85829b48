import { NoneIsFree } from './nodes.js'
import { connectTimeout } from './server-options.js'

/**
 * Lets at most `permits` callers in at the same time. Others wait in their order, for two seconds at most. Each caller
 * that was let in must call `release()`.
 */
export class Semaphore {
  #free: number
  readonly #waiting: Array<() => void> = []

  constructor (permits: number) {
    this.#free = permits
  }

  /**
   * Lets the caller in at once, without a promise. Returns false if the caller must wait, because all permits are
   * taken.
   */
  tryAcquire (): boolean {
    if (this.#free === 0) return false
    this.#free--
    return true
  }

  /**
   * Waits for its turn until another caller releases. To be called after {@link tryAcquire} has returned false.
   *
   * @throws NoneIsFree after two seconds
   */
  async waitForRelease (): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      const enter = (): void => {
        clearTimeout(timer)
        resolve()
      }
      // A caller that gives up leaves the queue at once. Otherwise the queue grows as long as nothing becomes free.
      const timer = setTimeout(() => {
        this.#waiting.splice(this.#waiting.indexOf(enter), 1)
        reject(new NoneIsFree('No connection has become free for a write'))
      }, connectTimeout)
      this.#waiting.push(enter)
    })
  }

  release (): void {
    const next = this.#waiting.shift()
    if (next === undefined) this.#free++
    else next()
  }
}
