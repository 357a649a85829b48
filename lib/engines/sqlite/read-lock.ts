import { setImmediate } from 'node:timers'
import type { Database, Statement } from 'better-sqlite3'

/** Reads in one event-loop turn from which on the lock is held, because taking it costs as much as two reads save. */
const minReads = 4

/** Turns with many reads of which one goes without the lock, so that a log that others write can restart. */
const turnsPerRest = 8

/**
 * Holds SQLite's lock for reading from the fourth read in an event-loop turn until the turn ends. Otherwise SQLite asks
 * the system for the lock and returns it with every statement, which takes 1.5 µs, a twelfth of a read. It does not if
 * another connection of the process has the lock. Readers see all that was committed, because each statement is a
 * transaction of its own. The lock only saves time: if it cannot be taken, reads go without it.
 */
export class ReadLock {
  readonly #database: Database
  readonly #version: Statement
  #reads = 0
  #turns = 0
  /** Statement that stands at its first row. SQLite holds the lock until it is closed. */
  #held: IterableIterator<unknown> | undefined

  /** @param database  a connection to the file that is used for nothing else */
  constructor (database: Database) {
    this.#database = database
    this.#version = database.prepare('pragma user_version')
    // This opens the log now, because later there may be no file descriptor left for it.
    this.#take()
    this.release()
  }

  /** Counts a read. Called before each one. */
  join (): void {
    if (this.#reads++ === 0) setImmediate(this.#endTurn)
    if (this.#reads === minReads) this.#takeUnlessResting()
  }

  /** Releases the lock. Called before each write, because a log that somebody reads cannot restart, and grows. */
  release (): void {
    this.#held?.return?.()
    this.#held = undefined
  }

  close (): void {
    this.release()
    this.#database.close()
  }

  #takeUnlessResting (): void {
    if (++this.#turns % turnsPerRest > 0) this.#take()
  }

  #take (): void {
    try {
      const statement = this.#version.iterate()
      statement.next()
      this.#held = statement
    } catch {
      // The reads and writes themselves report what is wrong.
    }
  }

  readonly #endTurn = (): void => {
    this.#reads = 0
    this.release()
  }
}
