import type { Database, Transaction } from 'better-sqlite3'
import { Crowd } from './crowd.js'
import type { Outcome } from './query/engine.js'
import type { Soon } from './query/insist.js'
import { isBusy } from './sqlite-wal.js'

/** Writes of a turn from which on those of the next turn with writes wait for each other. */
const many = 2

/** Milliseconds of writing after which a group is committed, since meanwhile nothing else is done. */
const longest = 10

/** A write, and who waits for it. */
interface Waiting {
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
 * that takes others back, or the commit does, they are written again, each by itself.
 */
export class GroupCommit {
  readonly #together: Transaction<(waiting: readonly Waiting[]) => readonly Tell[]>
  readonly #crowd = new Crowd(many, () => { this.#commitSome() })
  #waiting: Waiting[] = []
  /** Milliseconds that a write took, at last: in a group, which has one commit, without that. */
  #cost = 0

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
  execute (write: () => Outcome): Soon<Outcome> {
    const isOneOfMany = this.#crowd.join()
    // Nobody overtakes those that wait.
    if (!isOneOfMany && this.#waiting.length === 0) return this.#writeAtOnce(write)
    return new Promise((resolve, reject) => {
      this.#waiting.push({ write, resolve, reject })
      if (this.#waiting.length * this.#cost > longest) this.#commitSome()
    })
  }

  #writeAtOnce (write: () => Outcome): Outcome {
    const start = performance.now()
    try {
      return write()
    } finally {
      this.#cost = performance.now() - start
    }
  }

  /** Writes now all that waits. */
  commit (): void {
    while (this.#waiting.length > 0) this.#commitSome()
  }

  #commitSome (): void {
    if (this.#waiting.length === 0) return
    const tells = this.#tryTogether(this.#waiting)
    this.#waiting = this.#waiting.slice(tells.length)
    // What is left comes with the next turn.
    if (this.#waiting.length > 0) this.#crowd.join()
    for (const tell of tells) tell()
  }

  #tryTogether (waiting: readonly Waiting[]): readonly Tell[] {
    try {
      return this.#together.immediate(waiting)
    } catch (failure) {
      // Each by itself would wait for the other process as long as all did.
      return isBusy(failure) ? waiting.map(({ reject }) => () => { reject(failure) }) : this.#writeSome(waiting, () => {})
    }
  }

  /** Writes in turn for as long as a group may take. */
  #writeSome (waiting: readonly Waiting[], check: () => void): readonly Tell[] {
    const start = performance.now()
    const tells: Tell[] = []
    let took = 0
    for (const one of waiting) {
      tells.push(attempt(one))
      check()
      took = performance.now() - start
      if (took > longest) break
    }
    this.#cost = took / tells.length
    return tells
  }
}

function attempt ({ write, resolve, reject }: Waiting): Tell {
  try {
    const outcome = write()
    return () => { resolve(outcome) }
  } catch (failure) {
    return () => { reject(failure) }
  }
}
