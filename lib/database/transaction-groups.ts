import { AsyncResource } from 'node:async_hooks'
import { noneIsFree } from '../engines/connection-queue.js'
import { BurstDetector, maxGroupMs, minGroupSize } from '../engines/event-loop-turn.js'
import { maxWaitMs } from '../engines/semaphore.js'
import { errors, outcomeUnknown } from '../errors.js'
import type { Events } from '../events/events.js'
import { TransactionEnded, type OpenTransaction } from './open-transaction.js'
import type { RunTransaction, Work } from './transaction.js'

/** A transaction that waits for its group, and the functions that settle its promise. */
interface Member {
  /** Runs the transaction; throws if it has waited for too long. */
  readonly start: Work<unknown>
  readonly resolve: (result: unknown) => void
  readonly reject: (failure: unknown) => void
}

/**
 * Runs transactions in groups on an engine with one connection (SQLite in this process), if many come: one after
 * another, each in a savepoint, with one commit. A commit takes as long as a short write, and far longer if it waits
 * for the disk. A transaction that fails is undone alone. None is answered before the commit.
 */
export class TransactionGroups {
  readonly #runAlone: RunTransaction
  readonly #events: Events
  readonly #bursts = new BurstDetector(minGroupSize)
  /** In the order in which they came. */
  readonly #waiting = new Set<Member>()
  #isRunning = false

  constructor (runAlone: RunTransaction, events: Events) {
    this.#runAlone = runAlone
    this.#events = events
  }

  /**
   * Runs a transaction at once; or, if a burst is expected or others wait, in the next group. If a group cannot begin
   * or be committed, each of its transactions runs by itself.
   *
   * @returns what `work` returns
   * @throws what `work` throws, and what the begin or the commit throws; REST_MODELS_UNAVAILABLE (503) after a wait of
   *   two seconds
   */
  run<Result> (work: Work<Result>): Promise<Result> {
    const isOneOfMany = this.#bursts.join()
    if (!isOneOfMany && this.#waiting.size === 0) return this.#runAlone(work)
    return new Promise<Result>((resolve, reject) => {
      let isLate = false
      const timer = setTimeout(() => {
        isLate = true
        this.#waiting.delete(member)
        reject(noneIsFree())
      }, maxWaitMs)
      const start: Work<Result> = async (transaction) => {
        if (isLate) throw noneIsFree()
        clearTimeout(timer)
        return await work(transaction)
      }
      // Bound, because the AsyncLocalStorage of one request must not reach the hooks of another one.
      const member = { start: AsyncResource.bind(start), resolve, reject } as Member
      this.#waiting.add(member)
      this.#runNext()
    })
  }

  #runNext (): void {
    if (this.#isRunning || this.#waiting.size === 0) return
    this.#isRunning = true
    setImmediate(this.#runWaiting)
  }

  readonly #runWaiting = (): void => {
    const running = this.#waiting.size > 1 ? this.#runGroup() : this.#runEach([...this.#waiting])
    running.finally(() => {
      this.#isRunning = false
      this.#runNext()
    })
  }

  /** Runs each transaction by itself. */
  async #runEach (members: readonly Member[]): Promise<void> {
    await Promise.all(members.map(async (member) => {
      this.#waiting.delete(member)
      await this.#runAlone(member.start).then(member.resolve, member.reject)
    }))
  }

  async #runGroup (): Promise<void> {
    const begun: Member[] = []
    const settleEach: Array<() => void> = []
    const run = async (transaction: OpenTransaction) => await this.#runMembers(transaction, begun, settleEach)
    await this.#runAlone(run).then((start) => {
      for (const settle of settleEach) settle()
      this.#events.publish('group-commit', { writes: begun.length, duration: performance.now() - start })
    }, async (failure: unknown) => { await this.#recover(begun, failure) })
  }

  /** Runs the members of a group that was not committed again; rejects them if the outcome of the commit is unknown. */
  async #recover (begun: readonly Member[], failure: unknown): Promise<void> {
    if (failure instanceof errors.OutcomeUnknown) {
      for (const { reject } of begun) reject(outcomeUnknown({ cause: failure.cause }))
    } else await this.#runEach(begun.length > 0 ? begun : [...this.#waiting])
  }

  /**
   * Runs those that wait, also those that come meanwhile, until 10 ms have passed. The rest is for the next group.
   *
   * @param begun  gets those that have begun
   * @param settleEach  gets, for each that has ended, a function that settles its promise
   * @returns when the first one began, in milliseconds of `performance.now()`
   * @throws TransactionEnded if a statement has ended the transaction, so that nothing of the group remains
   */
  async #runMembers (transaction: OpenTransaction, begun: Member[], settleEach: Array<() => void>): Promise<number> {
    const start = performance.now()
    for (const member of this.#waiting) {
      this.#waiting.delete(member)
      begun.push(member)
      settleEach.push(await runMember(transaction, member))
      if (performance.now() - start > maxGroupMs) break
    }
    return start
  }
}

/** Runs one transaction of a group. Returns a function that settles its promise, for the time after the commit. */
async function runMember (transaction: OpenTransaction, { start, resolve, reject }: Member): Promise<() => void> {
  try {
    const result = await transaction.inSavepoint(async () => await start(transaction))
    return () => { resolve(result) }
  } catch (failure) {
    if (failure instanceof TransactionEnded) throw failure
    return () => { reject(failure) }
  }
}
