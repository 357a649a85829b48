import type { Events } from '../../events/events.js'
import { isPromise } from '../../values/values.js'
import type { ArrayRows, Executor, MaybePromise, Outcome, Query } from '../executor.js'
import { effectOf, isRead } from '../retry.js'
import { Repeatable, toStatementError } from '../statement-failure.js'
import type { ArrayStatement } from './array-statement.js'
import type { SqliteConnection } from './connection.js'
import { sqliteDialect } from './dialect.js'
import type { GroupCommit } from './group-commit.js'
import { isLocked } from './lock.js'
import { withValueCode } from './value-failure.js'

/** Parts that the executors of one database share. */
export interface SharedParts {
  readonly commits: GroupCommit
  /** Called before each write; throws if the file was moved, replaced or deleted. */
  readonly requireFile: () => void
  /** Executor that uses Kysely's driver. It waits until the connection is free, and for locks. */
  readonly queued: Executor
  readonly events: Events
}

/**
 * Runs statements in this process, without Kysely's driver. A read that can run at once is done when the call returns.
 * A statement goes to the executor `queued` if the connection is closed, or if the statement has failed but may be
 * repeated. A write also goes there if somebody holds the connection, and a read if that holder is in a transaction, or
 * if the database is locked. A write that finds the database locked waits in {@link GroupCommit}.
 */
export class SqliteExecutor implements Executor {
  readonly #connection: SqliteConnection
  readonly #parts: SharedParts

  constructor (connection: SqliteConnection, parts: SharedParts) {
    this.#connection = connection
    this.#parts = parts
  }

  /** True if the connection is open and nobody holds it, so that it is in no transaction. */
  get isFree (): boolean {
    const { holders, database } = this.#connection
    return holders === 0 && database.open
  }

  /**
   * True if a statement is a read that may pass the holder of the connection, because it sees only what is committed:
   * the holder is in no transaction, for example waits for the lock of another process, and streams no rows.
   */
  #mayPass (query: Query): boolean {
    const { streams, database } = this.#connection
    return isRead(query) && database.open && streams === 0 && !database.inTransaction
  }

  execute (query: Query): MaybePromise<Outcome> {
    const { queued, commits, events } = this.#parts
    if (!this.isFree && !this.#mayPass(query)) return queued.execute(query)
    const start = events.begin()
    try {
      const prepared = this.#connection.arrays.memo(query.sql)
      const { statement } = prepared
      if (!statement.readonly) {
        const outcome = commits.execute(this.#writing(prepared, query))
        return isPromise(outcome) ? this.#written(query, start, outcome) : this.#published(query, start, outcome)
      }
      const values = statement.get(query.parameters)
      events.end(start, query, values === undefined ? 0 : 1)
      return { row: values && prepared.toRow(values), changed: 0 }
    } catch (failure) {
      if (!isLocked(failure)) this.#requireRepeatable(failure, query, start)
      return queued.execute(query)
    }
  }

  readArrays (query: Query, keys: readonly string[]): MaybePromise<ArrayRows> {
    const { queued, events } = this.#parts
    if (!this.isFree && !this.#mayPass(query)) return queued.readArrays(query, keys)
    const start = events.begin()
    try {
      const rows = this.#connection.arrays.memo(query.sql).statement.all(query.parameters)
      events.end(start, query, rows.length)
      return rows
    } catch (failure) {
      if (!isLocked(failure)) this.#requireRepeatable(failure, query, start)
      return queued.readArrays(query, keys)
    }
  }

  #writing (prepared: ArrayStatement, { parameters }: Query): () => Outcome {
    const { statement } = prepared
    return () => {
      this.#parts.requireFile()
      if (!statement.reader) return { row: undefined, changed: statement.run(parameters).changes }
      // The commit follows the last row: get() would stop before it, and miss a commit that fails.
      const [values] = statement.all(parameters)
      return { row: values && prepared.toRow(values), changed: 0 }
    }
  }

  #written (query: Query, start: number, outcome: Promise<Outcome>): Promise<Outcome> {
    return outcome.then((written) => this.#published(query, start, written), (failure: unknown) => {
      // The write has waited for the lock of another process already.
      this.#requireRepeatable(failure, query, start)
      return this.#parts.queued.execute(query)
    })
  }

  #published (query: Query, start: number, outcome: Outcome): Outcome {
    this.#parts.events.end(start, query, outcome.row === undefined ? outcome.changed : 1)
    return outcome
  }

  /**
   * Does nothing if a failed statement may be repeated. Otherwise reports to the events that the statement has
   * failed, and throws the error for it.
   */
  #requireRepeatable (thrown: unknown, query: Query, start: number): void {
    const failure = withValueCode(this.#connection.database, thrown, query)
    const error = toStatementError(sqliteDialect, failure, effectOf(query))
    if (error instanceof Repeatable) return
    this.#parts.events.fail(start, query, failure)
    throw error
  }
}
