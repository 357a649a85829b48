import type { Database } from 'better-sqlite3'
import { Events } from '../../events/events.js'
import { BurstDetector, maxGroupMs, minGroupSize } from '../event-loop-turn.js'
import type { Outcome, MaybePromise } from '../executor.js'
import { isLocked, lockTimeoutMs, retryWhileLocked } from './lock.js'
import { groupWriter, type Waiting } from './write-group.js'

/**
 * Commits writes in groups, if many come: those of one event-loop turn together, at the end of that turn. A commit
 * takes as long as a short write, and far longer if it waits for the disk. While another process has the lock, all
 * writes wait in one queue, which makes one attempt at a time, because many attempts would block the process.
 */
export class GroupCommit {
  readonly #writeGroup: ReturnType<typeof groupWriter>
  readonly #events: Events
  readonly #bursts = new BurstDetector(minGroupSize)
  #waiting: Waiting[] = []
  /** Milliseconds that the last write took, or that one of the last group took on average. */
  #writeMs = 0
  /**
   * Set while the queue waits for a lock that another process has; otherwise undefined. `failure` is the error by which
   * SQLite reported the lock. `gone` resolves when the wait is over.
   */
  #lock: { readonly failure: unknown, readonly gone: Promise<void> } | undefined

  /** @param beforeCommit  called before the commit of a group; if it throws, each write is run again by itself */
  constructor (database: Database, beforeCommit: () => void, events: Events = new Events()) {
    this.#events = events
    this.#writeGroup = groupWriter(database, beforeCommit)
  }

  /**
   * Writes at once, and returns the outcome. If a burst is expected, other writes wait, or another process has the
   * lock, it queues the write and returns a promise. The queue is written at the end of this event-loop turn, or
   * earlier if it would take more than 10 ms. While another process has the lock, the queue waits longer, and a write
   * that has waited for more than two seconds fails.
   */
  execute (write: () => Outcome): MaybePromise<Outcome> {
    const isOneOfMany = this.#bursts.join()
    // No write overtakes those in the queue.
    if (isOneOfMany || this.#waiting.length > 0) return this.#queue(write)
    const start = performance.now()
    try {
      const outcome = write()
      this.#writeMs = performance.now() - start
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
      if (this.#waiting.length * this.#writeMs > maxGroupMs) this.#commitSome()
    })
  }

  /**
   * Writes the whole queue now.
   *
   * @returns if another process has the lock, a promise that resolves when the queue no longer waits for it; otherwise
   *   undefined
   */
  commit (): Promise<void> | undefined {
    while (this.#waiting.length > 0 && this.#lock === undefined) this.#commitSome()
    return this.#lock?.gone
  }

  /** Writes the whole queue, or rejects all writes in it if another process has the lock. */
  close (): void {
    this.commit()
    this.#refuse(Infinity)
  }

  /** Commits one group. Does nothing if the queue is empty, or while it waits for the lock of another process. */
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
      this.#refuse(performance.now() - lockTimeoutMs)
      if (this.#waiting.length > 0) this.#commitGroup()
    }
    const gone = retryWhileLocked(failure, commitAgain, { maxRetryTime: Infinity, events: this.#events })
      .then(() => { this.#lock = undefined })
    this.#lock = { failure, gone }
  }

  /** Rejects the writes that were queued at `moment` of `performance.now()` or before, with the failure of the lock. */
  #refuse (moment: number): void {
    const late = this.#waiting.filter(({ since }) => since <= moment)
    this.#waiting = this.#waiting.filter(({ since }) => since > moment)
    for (const { reject } of late) reject(this.#lock?.failure)
  }

  /**
   * Commits one group of the queue, settles the promises of the group, and publishes the event `group-commit`. Throws
   * if nothing was written because another process has the lock.
   */
  #commitGroup (): void {
    const start = performance.now()
    const { settleEach, averageMs } = this.#writeGroup(this.#waiting)
    this.#writeMs = averageMs
    this.#waiting = this.#waiting.slice(settleEach.length)
    // Otherwise the rest would wait until another write comes.
    if (this.#waiting.length > 0) setImmediate(this.#commitSome)
    for (const settle of settleEach) settle()
    if (this.#events.hasSubscribers('group-commit')) {
      this.#events.publish('group-commit', { writes: settleEach.length, duration: performance.now() - start })
    }
  }
}
