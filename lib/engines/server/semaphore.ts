import { NoneIsFree } from './nodes.js'
import { connectTimeout } from './server-options.js'

/** Lets so many in at once; others wait, in their order and for a limited time. An array, since a Set in which much comes and goes is costly to collect. */
export class Semaphore {
  #free: number
  readonly #waiting: Array<() => void> = []

  constructor (permits: number) {
    this.#free = permits
  }

  /** Whether it let somebody in at once, without a promise. */
  tryAcquire (): boolean {
    if (this.#free === 0) return false
    this.#free--
    return true
  }

  /**
   * Waits for somebody to release, after {@link tryAcquire} has let nobody in.
   *
   * @throws NoneIsFree
   */
  async waitForRelease (): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      const enter = (): void => {
        clearTimeout(timer)
        resolve()
      }
      // Whoever has given up leaves the queue at once: it must not grow as long as nothing becomes free.
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
