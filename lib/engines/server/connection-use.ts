import type { Lease } from './node-connections.js'

/** Use of a pooled connection. It ends when the connection was released and every answer has come. */
export class ConnectionUse {
  readonly #lease: Pick<Lease<unknown>, 'release' | 'abandon'>
  readonly #giveBack: (mustClose: boolean) => void
  #unanswered = 0
  #isReleased = false
  #isAbandoned = false
  #mustClose = false

  /**
   * @param giveBack  called once, when this use ends; it must give the connection back to its pool, or close it if
   *   `mustClose` is true
   */
  constructor (lease: Pick<Lease<unknown>, 'release' | 'abandon'>, giveBack: (mustClose: boolean) => void) {
    this.#lease = lease
    this.#giveBack = giveBack
  }

  /** True if an answer is overdue. A statement sent now would have to wait for that answer first. */
  get isAbandoned (): boolean {
    return this.#isAbandoned
  }

  /** Notes that a statement was sent. Until its answer comes, the use cannot end. */
  sent (): void {
    this.#unanswered++
  }

  /** Notes that a statement was answered. Ends the use if the connection was released and no answer is missing. */
  answered (): void {
    this.#unanswered--
    this.#settle()
  }

  /** Notes that the connection must be closed when this use ends, instead of going back to its pool. */
  closeAfterUse (): void {
    this.#mustClose = true
  }

  /**
   * Notes that an answer is overdue. The connection stays in use until the answer comes or the connection ends, and is
   * then closed.
   */
  abandon (): void {
    this.#isAbandoned = true
    this.#mustClose = true
    this.#lease.abandon()
  }

  release (): void {
    this.#isReleased = true
    this.#settle()
  }

  #settle (): void {
    if (!this.#isReleased || this.#unanswered > 0) return
    this.#isReleased = false
    this.#lease.release()
    this.#giveBack(this.#mustClose)
  }
}
