import { BurstDetector } from '../../engines/event-loop-turn.js'

/**
 * If at least this many answers became ready in one event-loop turn, those of the next turn are sent together. With
 * fewer, waiting for each other would only delay them.
 */
const minBatchSize = 4

/**
 * Milliseconds for which answers are held. After that, the next answer that becomes ready releases all of them, before
 * the event-loop turn ends.
 */
const maxHoldMs = 2

/**
 * Lets answers that become ready in one event-loop turn be sent together (flush consolidation). An answer that is sent
 * alone wakes its receiver. For a client or a proxy on the same machine that costs as much as a short list.
 */
export class ResponseBatcher {
  readonly #bursts = new BurstDetector(minBatchSize)
  #began = 0
  #flushed: Promise<void> | undefined
  #flush: () => void = () => {}

  /**
   * Returns a promise to await before an answer is sent; undefined if the answer may be sent at once. The promise
   * resolves at the end of this event-loop turn, or with the next answer after 2 ms.
   */
  wait (): Promise<void> | undefined {
    if (!this.#bursts.join()) return undefined
    const flushed = this.#flushed ?? this.#begin()
    if (performance.now() - this.#began > maxHoldMs) this.#end()
    return flushed
  }

  #begin (): Promise<void> {
    this.#began = performance.now()
    setImmediate(this.#end)
    return (this.#flushed = new Promise((resolve) => { this.#flush = resolve }))
  }

  readonly #end = (): void => {
    this.#flushed = undefined
    this.#flush()
  }
}
