import { Session, type Profiler } from 'node:inspector'

/** What an input has reached: places in the code, each with the order of magnitude of how often. */
export type Reached = ReadonlySet<string>

/** Tells what code runs, of the files whose path matches. */
export class Coverage {
  readonly #session = new Session()
  readonly #files: RegExp

  constructor (files: RegExp) {
    this.#files = files
    this.#session.connect()
    this.#session.post('Profiler.enable')
    this.#session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true })
  }

  /** What has run since the last call. */
  take (): Reached {
    const reached = new Set<string>()
    for (const { url, functions } of this.#counted()) {
      if (!this.#files.test(url)) continue
      for (const { ranges } of functions) {
        for (const { startOffset, endOffset, count } of ranges) {
          if (count > 0) reached.add(`${url}:${startOffset}-${endOffset}*${Math.floor(Math.log2(count))}`)
        }
      }
    }
    return reached
  }

  /** The answer comes before the call returns. */
  #counted (): readonly Profiler.ScriptCoverage[] {
    let counted: readonly Profiler.ScriptCoverage[] = []
    this.#session.post('Profiler.takePreciseCoverage', (error, { result }) => {
      if (error !== null) throw error
      counted = result
    })
    return counted
  }

  stop (): void {
    this.#session.disconnect()
  }
}
