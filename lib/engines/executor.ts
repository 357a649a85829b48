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

/**
 * Reaches the engine without Kysely's driver, which costs as much as a short statement. A statement is committed when
 * it answers, and is never part of somebody else's transaction.
 */
export interface DirectExecutor {
  /** True if it can be used now: it is open, and nobody has a transaction on it. */
  readonly isFree: boolean
  /**
   * Runs a statement on one record.
   *
   * @param reached  called when there is a connection
   */
  execute (query: CompiledQuery, reached: () => void): MaybePromise<Outcome>
  /** Reads rows as arrays, because making objects of them would be the cost of a list. */
  readArrays (query: CompiledQuery, reached: () => void): MaybePromise<ArrayRows>
}

/** Purpose of a handle. A reader gets a connection on which nobody writes, so that it waits for nobody. */
export type Role = 'reader' | 'writer'

export type DirectExecutors = Readonly<Record<Role, DirectExecutor>>

/**
 * Executors of the handles that the plugin's own functions opened. A transaction on such a handle, or one connection of
 * it, is another handle and has no entry here.
 */
const directExecutors = new WeakMap<object, DirectExecutors>()

/**
 * Closes the database even if only direct executors were used. Kysely alone closes it only after its own driver was
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
 * Returns a Kysely instance whose database can also be reached without its driver.
 *
 * @param close  closes the database; called after the driver, which may have closed it already
 */
export function openKysely<DB> (
  dialect: KyselyDialect, executors: DirectExecutors, close: () => Promise<void>
): Kysely<DB> {
  const db = new KyselyWithExecutors<DB>(dialect, close)
  directExecutors.set(db, executors)
  return db
}

export type Tables = Record<string, Record<string, unknown>>

/** Returns the executors of a handle that the plugin's own functions opened; undefined for other handles. */
export function directExecutorsOf (handle: object): DirectExecutors | undefined {
  return directExecutors.get(handle)
}
