import { setImmediate } from 'node:timers'
import type { Database, Statement } from 'better-sqlite3'

/** The read of a turn of the event loop with which the lock is taken for those that follow: taking it costs as much as two of them save. */
const many = 4

/** Milliseconds for which it is kept: what another process writes meanwhile stays in the log, which that process cannot begin anew. */
const longest = 1

/**
 * Keeps SQLite's lock for reading from the fourth read of a turn of the event loop on, for a millisecond or until the turn
 * ends. SQLite asks the system for it and gives it back with every statement, which takes longer than a short read, unless
 * another connection of the process has it. Those that read see all that was committed: each statement is a transaction
 * of its own.
 */
export class ReadLock {
  readonly #database: Database
  readonly #begin: Statement
  readonly #read: Statement
  readonly #end: Statement
  #reads = 0
  #isHeld = false
  #since = 0

  /** @param database  a connection to the file on which nothing else is done */
  constructor (database: Database) {
    this.#database = database
    this.#begin = database.prepare('begin')
    this.#read = database.prepare('pragma user_version')
    this.#end = database.prepare('commit')
    // It opens the log, for which later there may be no descriptor.
    this.#hold()
    this.release()
  }

  /** Called before each read. */
  join (): void {
    if (this.#reads++ === 0) setImmediate(this.#endTurn)
    if (this.#reads === many) this.#hold()
    else if (this.#isHeld && performance.now() - this.#since > longest) this.release()
  }

  /** Called before each write: as long as somebody reads a log, it is not begun anew, and grows. */
  release (): void {
    if (!this.#isHeld) return
    this.#isHeld = false
    this.#end.run()
  }

  close (): void {
    this.release()
    this.#database.close()
  }

  #hold (): void {
    this.#begin.run()
    this.#isHeld = true
    this.#since = performance.now()
    this.#read.get()
  }

  readonly #endTurn = (): void => {
    this.#reads = 0
    this.release()
  }
}
