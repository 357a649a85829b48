import { AsyncResource } from 'node:async_hooks'
import { BurstDetector } from '../engines/event-loop-turn.js'
import { errors } from '../errors.js'
import type { Events } from '../events/events.js'
import { Undone, type OpenTransaction, type RunTransaction, type Work } from './transaction.js'

/** A transaction that waits for its group, and the functions that settle its promise. */
interface Member {
  readonly work: Work<unknown>
  readonly resolve: (result: unknown) => void
  readonly reject: (failure: unknown) => void
}

/**
 * Number of transactions in one event-loop turn that make a burst. After a burst, those of the next turn with
 * transactions run as a group.
 */
const minGroupSize = 2
/** Milliseconds after which no further transaction of a group begins. */
const maxGroupMs = 10
/** Milliseconds without groups after a transaction that waited for something else than the database in its group. */
const pauseMs = 1000

/**
 * Runs transactions in groups on an engine with one connection (SQLite in this process), if many come: those of one
 * event-loop turn one after another, each in a savepoint, with one commit. A commit takes as long as a short write, and
 * far longer if it waits for the disk. A transaction that fails is undone alone. None is answered before the commit.
 */
export class TransactionGroups {
  readonly #runAlone: RunTransaction
  readonly #events: Events
  readonly #bursts = new BurstDetector(minGroupSize)
  #waiting: Member[] = []
  #pausedUntil = 0

  constructor (runAlone: RunTransaction, events: Events) {
    this.#runAlone = runAlone
    this.#events = events
  }

  /**
   * Runs a transaction at once; or, if a burst is expected, at the end of this event-loop turn together with others. If
   * a group cannot be committed, each of its transactions is run again by itself.
   *
   * @returns what `work` returns
   * @throws what `work` throws, and what the begin or the commit throws
   */
  run<Result> (work: Work<Result>): Promise<Result> {
    const isOneOfMany = this.#bursts.join() && performance.now() > this.#pausedUntil
    // None overtakes those in the queue.
    if (!isOneOfMany && this.#waiting.length === 0) return this.#runAlone(work)
    return new Promise<Result>((resolve, reject) => {
      // Bound, because the AsyncLocalStorage of one request must not reach the hooks of another one.
      this.#queue([{ work: AsyncResource.bind(work), resolve, reject } as Member])
    })
  }

  #queue (members: readonly Member[]): void {
    if (this.#waiting.length === 0 && members.length > 0) setImmediate(this.#runWaiting)
    this.#waiting.push(...members)
  }

  readonly #runWaiting = (): void => {
    const members = this.#waiting
    this.#waiting = []
    if (members.length === 1) this.#runEach(members)
    else this.#runGroup(members)
  }

  #runEach (members: readonly Member[]): void {
    for (const { work, resolve, reject } of members) this.#runAlone(work).then(resolve, reject)
  }

  #runGroup (members: Member[]): void {
    const start = performance.now()
    const begun: Member[] = []
    this.#runAlone((transaction) => this.#runMembers(transaction, members, begun)).then((tells) => {
      this.#events.publish('group-commit', { writes: tells.length, duration: performance.now() - start })
      for (const tell of tells) tell()
    }, (failure: unknown) => {
      // Nobody knows whether a commit without an answer was executed, so nothing may be run again.
      const isUndone = begun.length > 0 && !(failure instanceof errors.OutcomeUnknown)
      if (isUndone) this.#runEach([...begun, ...members])
      else for (const { reject } of [...begun, ...members]) reject(failure)
    })
  }

  /**
   * Moves one member after another from `members` to `begun`, and runs it in a savepoint. After 10 ms, those that
   * remain go to the next group; or, if a member waits for something else than the database, each runs by itself.
   *
   * @returns functions that settle the promises of those that ran
   * @throws Undone if a member has ended the transaction, so that nothing of it remains
   */
  async #runMembers (
    transaction: OpenTransaction, members: Member[], begun: Member[]
  ): Promise<ReadonlyArray<() => void>> {
    const tells: Array<() => void> = []
    const start = performance.now()
    const timer = setTimeout(() => {
      this.#pausedUntil = performance.now() + pauseMs
      this.#runEach(members.splice(0))
    }, maxGroupMs)
    try {
      for (let member = members.shift(); member !== undefined; member = members.shift()) {
        begun.push(member)
        tells.push(await runMember(transaction, member))
        if (performance.now() - start > maxGroupMs) break
      }
    } finally {
      clearTimeout(timer)
    }
    this.#queue(members.splice(0))
    return tells
  }
}

/** Runs one transaction of a group. Returns a function that settles its promise, for the time after the commit. */
async function runMember (transaction: OpenTransaction, { work, resolve, reject }: Member): Promise<() => void> {
  try {
    const result = await transaction.inSavepoint(async () => await work(transaction))
    return () => { resolve(result) }
  } catch (failure) {
    if (failure instanceof Undone) throw failure
    return () => { reject(failure) }
  }
}
