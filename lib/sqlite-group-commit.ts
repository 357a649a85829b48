import type { Database, Transaction } from 'better-sqlite3'
import { Crowd } from './crowd.js'
import type { Outcome } from './query/engine.js'
import type { Soon } from './query/insist.js'

/** Writes of a turn from which on those of the next turn with writes wait for each other. */
const many = 2

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
 * short write, and far more where it waits for the disk. Nobody hears of a write before it is committed, and none feels
 * what becomes of the others: those that cannot be committed together are committed one by one.
 */
export class GroupCommit {
  readonly #together: Transaction<(waiting: readonly Waiting[], begun: () => void) => readonly Tell[]>
  readonly #crowd = new Crowd(many, () => { this.commit() })
  #waiting: Waiting[] = []

  constructor (database: Database) {
    this.#together = database.transaction((waiting: readonly Waiting[], begun: () => void) => {
      begun()
      return waiting.map((one) => {
        const tell = attempt(one)
        // Some failures take all back that the transaction has done.
        if (!database.inTransaction) throw new Undone()
        return tell
      })
    })
  }

  /** Writes at once, or if there are many, at the end of this turn. */
  execute (write: () => Outcome): Soon<Outcome> {
    if (!this.#crowd.join()) return write()
    return new Promise((resolve, reject) => { this.#waiting.push({ write, resolve, reject }) })
  }

  /** Writes what waits. */
  commit (): void {
    const waiting = this.#waiting
    this.#waiting = []
    for (const tell of waiting.length < 2 ? waiting.map(attempt) : this.#commitTogether(waiting)) tell()
  }

  #commitTogether (waiting: readonly Waiting[]): readonly Tell[] {
    let isBegun = false
    try {
      return this.#together.immediate(waiting, () => { isBegun = true })
    } catch (failure) {
      // If it cannot begin, another process writes: each by itself would wait for it as long as all did.
      return isBegun ? waiting.map(attempt) : waiting.map(({ reject }) => () => { reject(failure) })
    }
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
