import { BurstDetector } from '../../engines/burst-detector.js'

/** Answers of a turn from which on those of the next turn with answers wait for each other: fewer clients would only wait longer. */
const many = 4

/** Milliseconds that an answer has waited when the next one that becomes ready takes it along, before the turn ends. */
const longest = 2

/**
 * Lets answers that become ready in one turn of the event loop leave together (flush consolidation). An answer that leaves
 * alone wakes whoever waits for it, which for a client or a proxy on the same machine costs as much as a short list.
 */
export class ResponseBatcher {
  readonly #bursts = new BurstDetector(many, () => { this.#end() })
  #began = 0
  #flushed: Promise<void> | undefined
  #flush: () => void = () => {}

  /** When an answer may leave: at once, or if there are many, at the end of this turn or, if that takes long, with one of the next answers. */
  wait (): Promise<void> | undefined {
    if (!this.#bursts.join()) return undefined
    const flushed = this.#flushed ?? this.#begin()
    if (performance.now() - this.#began > longest) this.#end()
    return flushed
  }

  #begin (): Promise<void> {
    this.#began = performance.now()
    return (this.#flushed = new Promise((resolve) => { this.#flush = resolve }))
  }

  #end (): void {
    this.#flushed = undefined
    this.#flush()
  }
}
