import { setImmediate } from 'node:timers'
import type { Database, Statement } from 'better-sqlite3'

/** The read of a turn of the event loop with which the lock is taken for those that follow: taking it costs as much as two of them save. */
const many = 4

/** Of so many turns with many reads it is left alone in one, in which a log that others write can be begun anew. */
const untilRest = 8

/**
 * Keeps SQLite's lock for reading from the fourth read of a turn of the event loop on, until the turn ends. SQLite asks the
 * system for it and gives it back with every statement, which takes longer than a short read, unless another connection of
 * the process has it. Those that read see all that was committed: each statement is a transaction of its own. It is kept for
 * speed alone, so that it cannot be taken is no failure: who reads goes without.
 */
export class ReadLock {
  readonly #database: Database
  readonly #version: Statement
  #reads = 0
  #turns = 0
  /** A statement that stands at its first row: SQLite has the lock until it is given up. */
  #held: IterableIterator<unknown> | undefined

  /** @param database  a connection to the file on which nothing else is done */
  constructor (database: Database) {
    this.#database = database
    this.#version = database.prepare('pragma user_version')
    // It opens the log, for which later there may be no descriptor.
    this.#take()
    this.release()
  }

  /** Called before each read. */
  join (): void {
    if (this.#reads++ === 0) setImmediate(this.#endTurn)
    if (this.#reads === many) this.#takeUnlessResting()
  }

  /** Called before each write: as long as somebody reads a log, it is not begun anew, and grows. */
  release (): void {
    this.#held?.return?.()
    this.#held = undefined
  }

  close (): void {
    this.release()
    this.#database.close()
  }

  #takeUnlessResting (): void {
    if (++this.#turns % untilRest > 0) this.#take()
  }

  #take (): void {
    try {
      const statement = this.#version.iterate()
      statement.next()
      this.#held = statement
    } catch {
      // What is wrong, those that read and write will say.
    }
  }

  readonly #endTurn = (): void => {
    this.#reads = 0
    this.release()
  }
}
