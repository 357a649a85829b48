import { Kysely, type CompiledQuery, type Dialect as KyselyDialect } from 'kysely'
import type { Stored } from './storage.js'

/**
 * Result that is there at once if the engine runs in this process, and otherwise a promise. A promise costs as much as
 * a short step.
 */
export type MaybePromise<Result> = Result | Promise<Result>

/** A row as it comes from a driver: one value for each selected key. */
export type Row = Readonly<Record<string, Stored>>

/** Rows without keys: the values of each, in the order of the selection. */
export type ArrayRows = ReadonlyArray<readonly Stored[]>

/** Result of a statement on one record: the first row that it returned, or the number of rows that it changed. */
export interface Outcome {
  readonly row: Row | undefined
  readonly changed: number
}

/** A compiled statement with its parameters. */
export interface Query extends CompiledQuery {
  /**
   * Returns the statement without the help of an index, for an engine that cannot compare a text with the column's
   * character set. Absent if every engine can.
   */
  readonly withoutIndex?: (() => CompiledQuery) | undefined
}

/**
 * Runs statements. It repeats a statement after a pause if it certainly was not executed, or if a read lost its
 * connection. It never repeats a write whose outcome is unknown.
 *
 * Both methods throw StatementFailure if a rule of the database refuses the statement, REST_MODELS_UNAVAILABLE (503)
 * with Retry-After if the engine cannot run it now, and otherwise what the driver threw.
 */
export interface Executor {
  /** Runs a statement on one record. It is committed when it answers, if the handle is no transaction. */
  execute (query: Query): MaybePromise<Outcome>
  /**
   * Reads rows as arrays, because making objects of them would be the cost of a list.
   *
   * @param keys  the selected keys
   * @returns the values of each row, in the order of the keys
   */
  readArrays (query: Query, keys: readonly string[]): MaybePromise<ArrayRows>
}

/** Purpose of a handle. A reader gets a connection on which nobody writes, so that it waits for nobody. */
export type Role = 'reader' | 'writer'

export type Executors = Readonly<Record<Role, Executor>>

/**
 * Executors of the handles that the plugin's own functions opened. A transaction on such a handle, or one connection of
 * it, is another handle and has no entry here.
 */
const ownExecutors = new WeakMap<object, Executors>()

/**
 * Closes the database even if only its own executors were used. Kysely alone closes it only after its own driver was
 * used.
 */
class KyselyWithExecutors<DB> extends Kysely<DB> {
  readonly #close: () => Promise<void>

  constructor (dialect: KyselyDialect, close: () => Promise<void>) {
    super({ dialect })
    this.#close = close
  }

  override async destroy (): Promise<void> {
    await super.destroy()
    await this.#close()
  }
}

/**
 * Returns a Kysely instance whose database can also be reached without its driver, which costs as much as a short
 * statement.
 *
 * @param makeExecutors  makes the executors of the instance
 * @param close          closes the database; called after the driver, which may have closed it already
 */
export function openKysely<DB> (
  dialect: KyselyDialect, makeExecutors: (db: Kysely<DB>) => Executors, close: () => Promise<void>
): Kysely<DB> {
  const db = new KyselyWithExecutors<DB>(dialect, close)
  ownExecutors.set(db, makeExecutors(db))
  return db
}

export type Tables = Record<string, Record<string, unknown>>

/** Returns the executors of a handle that the plugin's own functions opened; undefined for other handles. */
export function executorsOf (handle: object): Executors | undefined {
  return ownExecutors.get(handle)
}
