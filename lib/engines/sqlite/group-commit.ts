import type { Database, Transaction } from 'better-sqlite3'
import { BurstDetector } from '../burst-detector.js'
import type { Outcome, MaybePromise } from '../executor.js'
import { isLocked, lockTimeout, retryWhileLocked } from './lock.js'

/** Writes in one event-loop turn from which on those of the next turn with writes are grouped. */
const minGroupSize = 2

/** Milliseconds of writing after which a group is committed, because it blocks the process. */
const maxGroupMs = 10

/** A queued write, and the functions that settle its promise. */
interface Waiting {
  readonly since: number
  readonly write: () => Outcome
  readonly resolve: (outcome: Outcome) => void
  readonly reject: (failure: unknown) => void
}

/** Settles the promise of a write that is over. */
type Tell = () => void

/** Thrown when a write that failed has rolled back the writes before it. */
class Undone extends Error {}

/**
 * Commits the writes of one event-loop turn together, at its end (group commit). A commit costs as much as a short
 * write, and far more if it waits for the disk. Nobody hears of a write before it is committed. If a failure rolls back
 * other writes, or the commit fails, all of them are written again, each by itself. While another process has the lock,
 * all wait in one queue with one attempt at a time, because many attempts would block the process.
 */
export class GroupCommit {
  readonly #together: Transaction<(waiting: readonly Waiting[]) => readonly Tell[]>
  readonly #bursts = new BurstDetector(minGroupSize)
  #waiting: Waiting[] = []
  /** Milliseconds that the last write took; after a group the average, without the one commit. */
  #cost = 0
  /** Failure of a write because another process has the lock, and a promise that resolves when the wait is over. */
  #lock: { readonly failure: unknown, readonly gone: Promise<void> } | undefined

  /** @param beforeCommit  called before each commit */
  constructor (database: Database, beforeCommit: () => void) {
    const requireNotUndone = (): void => { if (!database.inTransaction) throw new Undone() }
    this.#together = database.transaction((waiting: readonly Waiting[]) => {
      const tells = this.#writeSome(waiting, requireNotUndone)
      beforeCommit()
      return tells
    })
  }

  /** Writes at once; in a burst at the end of this turn, or sooner if the queue would take more than 10 ms. */
  execute (write: () => Outcome): MaybePromise<Outcome> {
    const isOneOfMany = this.#bursts.join()
    // No write overtakes those in the queue.
    if (isOneOfMany || this.#waiting.length > 0) return this.#queue(write)
    const start = performance.now()
    try {
      const outcome = write()
      this.#cost = performance.now() - start
      return outcome
    } catch (failure) {
      if (!isLocked(failure)) throw failure
      const written = this.#queue(write)
      // #queue() may have written at once, or may wait for the lock already.
      if (this.#lock === undefined && this.#waiting.length > 0) this.#awaitLock(failure)
      return written
    }
  }

  #queue (write: () => Outcome): Promise<Outcome> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ since: performance.now(), write, resolve, reject })
      if (this.#waiting.length === 1) setImmediate(this.#commitSome)
      if (this.#waiting.length * this.#cost > maxGroupMs) this.#commitSome()
    })
  }

  /**
   * Writes the whole queue now.
   *
   * @returns if another process has the lock, a promise that resolves when the queue no longer waits for it
   */
  commit (): Promise<void> | undefined {
    while (this.#waiting.length > 0 && this.#lock === undefined) this.#commitSome()
    return this.#lock?.gone
  }

  /** Writes the whole queue, or rejects it if another process has the lock. */
  close (): void {
    this.commit()
    this.#refuse(Infinity)
  }

  /** Commits a group, if the queue does not wait for the lock of another process. */
  readonly #commitSome = (): void => {
    if (this.#waiting.length === 0 || this.#lock !== undefined) return
    try {
      this.#commitGroup()
    } catch (failure) {
      this.#awaitLock(failure)
    }
  }

  #awaitLock (failure: unknown): void {
    const commitAgain = (): void => {
      this.#refuse(performance.now() - lockTimeout)
      if (this.#waiting.length > 0) this.#commitGroup()
    }
    const gone = retryWhileLocked(failure, commitAgain, Infinity).then(() => { this.#lock = undefined })
    this.#lock = { failure, gone }
  }

  /** Rejects the writes that have been waiting since this moment or longer. */
  #refuse (moment: number): void {
    const late = this.#waiting.filter(({ since }) => since <= moment)
    this.#waiting = this.#waiting.filter(({ since }) => since > moment)
    for (const { reject } of late) reject(this.#lock?.failure)
  }

  /** Commits a group. Throws if nothing was written because another process has the lock. */
  #commitGroup (): void {
    const tells = this.#tryTogether(this.#waiting)
    this.#waiting = this.#waiting.slice(tells.length)
    // Otherwise the rest would wait until another write comes.
    if (this.#waiting.length > 0) setImmediate(this.#commitSome)
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

  /**
   * Executes waiting writes in their order. It stops after 10 ms, or when another process has the lock; the rest wait.
   *
   * @param check  called after each write; throws if the write has rolled back those before it
   * @returns for each write a function that settles its promise, to be called after the commit
   */
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
      if (took > maxGroupMs) break
    }
    this.#cost = took / tells.length
    return tells
  }
}

/** Writes, and returns how to settle the promise; or the failure, if another process has the lock. */
function attempt ({ write, resolve, reject }: Waiting): Tell | Error {
  try {
    const outcome = write()
    return () => { resolve(outcome) }
  } catch (failure) {
    return isLocked(failure) ? failure : () => { reject(failure) }
  }
}
