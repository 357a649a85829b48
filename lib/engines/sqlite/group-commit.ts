import type { Database, Transaction } from 'better-sqlite3'
import { BurstDetector } from '../burst-detector.js'
import type { Outcome, MaybePromise } from '../executor.js'
import { isLocked, lockTimeout, retryWhileLocked } from './lock.js'

/** Writes of a turn from which on those of the next turn with writes wait for each other. */
const many = 2

/** Milliseconds of writing after which a group is committed, since meanwhile nothing else is done. */
const longest = 10

/** A write, and who waits for it. */
interface Waiting {
  readonly since: number
  readonly write: () => Outcome
  readonly resolve: (outcome: Outcome) => void
  readonly reject: (failure: unknown) => void
}

/** Tells who waits for a write what became of it. */
type Tell = () => void

/** A write was undone by what failed after it. */
class Undone extends Error {}

/**
 * Commits writes that come in one turn of the event loop together, at its end (group commit): a commit costs as much as a
 * short write, and far more where it waits for the disk. Nobody hears of a write before it is committed, and if one fails
 * that takes others back, or the commit does, they are written again, each by itself. While another process has the lock,
 * all wait in one queue, for which one attempt is made at a time: many would keep the process waiting.
 */
export class GroupCommit {
  readonly #together: Transaction<(waiting: readonly Waiting[]) => readonly Tell[]>
  readonly #bursts = new BurstDetector(many, () => { this.#commitSome() })
  #waiting: Waiting[] = []
  /** Milliseconds that a write took, at last: in a group, which has one commit, without that. */
  #cost = 0
  /** What says that another process has the lock, and when the queue no longer waits for it. */
  #lock: { readonly failure: Error, readonly gone: Promise<void> } | undefined

  /** @param beforeCommit  called before each commit */
  constructor (database: Database, beforeCommit: () => void) {
    const requireNotUndone = (): void => { if (!database.inTransaction) throw new Undone() }
    this.#together = database.transaction((waiting: readonly Waiting[]) => {
      const tells = this.#writeSome(waiting, requireNotUndone)
      beforeCommit()
      return tells
    })
  }

  /** Writes at once, or if there are many, at the end of this turn; sooner if those that wait will take long. */
  execute (write: () => Outcome): MaybePromise<Outcome> {
    const isOneOfMany = this.#bursts.join()
    // Nobody overtakes those that wait.
    if (isOneOfMany || this.#waiting.length > 0) return this.#queue(write)
    const start = performance.now()
    try {
      const outcome = write()
      this.#cost = performance.now() - start
      return outcome
    } catch (failure) {
      if (!isLocked(failure)) throw failure
      const written = this.#queue(write)
      // Whoever queued may have tried at once, and wait for the lock already.
      if (this.#lock === undefined && this.#waiting.length > 0) this.#awaitLock(failure)
      return written
    }
  }

  #queue (write: () => Outcome): Promise<Outcome> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ since: performance.now(), write, resolve, reject })
      if (this.#waiting.length * this.#cost > longest) this.#commitSome()
    })
  }

  /**
   * Writes now all that waits.
   *
   * @returns if another process has the lock, what is fulfilled when nothing waits for that any more
   */
  commit (): Promise<void> | undefined {
    while (this.#waiting.length > 0 && this.#lock === undefined) this.#commitSome()
    return this.#lock?.gone
  }

  /** Writes all that waits, or refuses it if another process has the lock. */
  close (): void {
    this.commit()
    this.#refuse(Infinity)
  }

  /** Unless it waits for the lock of another process. */
  #commitSome (): void {
    if (this.#waiting.length === 0 || this.#lock !== undefined) return
    try {
      this.#commitGroup()
    } catch (failure) {
      this.#awaitLock(failure as Error)
    }
  }

  #awaitLock (failure: Error): void {
    const commitAgain = (): void => {
      this.#refuse(performance.now() - lockTimeout)
      if (this.#waiting.length > 0) this.#commitGroup()
    }
    const gone = retryWhileLocked(failure, commitAgain, Infinity).then(() => { this.#lock = undefined })
    this.#lock = { failure, gone }
  }

  /** Refuses what has waited since a moment, or for longer. */
  #refuse (moment: number): void {
    const late = this.#waiting.filter(({ since }) => since <= moment)
    this.#waiting = this.#waiting.filter(({ since }) => since > moment)
    for (const { reject } of late) reject(this.#lock?.failure)
  }

  /** @throws what says that another process has the lock, if nothing was written */
  #commitGroup (): void {
    const tells = this.#tryTogether(this.#waiting)
    this.#waiting = this.#waiting.slice(tells.length)
    // What is left comes with the next turn.
    if (this.#waiting.length > 0) this.#bursts.join()
    for (const tell of tells) tell()
  }

  #tryTogether (waiting: readonly Waiting[]): readonly Tell[] {
    try {
      return this.#together.immediate(waiting)
    } catch (failure) {
      if (isLocked(failure)) throw failure
      return this.#writeSome(waiting, () => {})
    }
  }

  /** Writes in turn for as long as a group may take, or until another process has the lock. */
  #writeSome (waiting: readonly Waiting[], check: () => void): readonly Tell[] {
    const start = performance.now()
    const tells: Tell[] = []
    let took = 0
    for (const one of waiting) {
      const tell = attempt(one)
      if (tell instanceof Error) {
        if (tells.length > 0) break
        throw tell
      }
      tells.push(tell)
      check()
      took = performance.now() - start
      if (took > longest) break
    }
    this.#cost = took / tells.length
    return tells
  }
}

/** What another process that has the lock made fail is not told, but returned. */
function attempt ({ write, resolve, reject }: Waiting): Tell | Error {
  try {
    const outcome = write()
    return () => { resolve(outcome) }
  } catch (failure) {
    return isLocked(failure) ? failure : () => { reject(failure) }
  }
}
