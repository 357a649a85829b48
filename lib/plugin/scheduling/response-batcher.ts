import { BurstDetector } from '../../engines/burst-detector.js'

/** Answers in a turn from which on those of the next turn leave together. Fewer clients would only wait longer. */
const minBatchSize = 4

/** Milliseconds after which held answers leave with the next one that becomes ready, before the turn ends. */
const maxHoldMs = 2

/**
 * Lets answers that become ready in one event-loop turn leave together (flush consolidation). An answer that leaves
 * alone wakes its receiver. For a client or a proxy on the same machine that costs as much as a short list.
 */
export class ResponseBatcher {
  readonly #bursts = new BurstDetector(minBatchSize)
  #began = 0
  #flushed: Promise<void> | undefined
  #flush: () => void = () => {}

  /**
   * Waits until an answer may leave, or returns undefined if it may leave at once. Many answers leave at the end of
   * this turn, or with the next answer once they have been held for 2 ms.
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
