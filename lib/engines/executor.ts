import { Kysely, type CompiledQuery, type Dialect as KyselyDialect } from 'kysely'
import type { Stored } from './storage.js'

/** What is there at once where the engine runs in this process, and later elsewhere: a promise costs as much as a short step. */
export type MaybePromise<Result> = Result | Promise<Result>

/** A row as it comes from a driver: one value for each selected key. */
export type Row = Readonly<Record<string, Stored>>

/** Rows without keys: for each its values, in the order of the selection. */
export type ArrayRows = ReadonlyArray<readonly Stored[]>

/** What a statement on one record did: the first row that it gave, and how many it changed. */
export interface Outcome {
  readonly row: Row | undefined
  readonly changed: number
}

/** A road to the engine past Kysely's driver, which costs as much as a short statement. What was executed is committed when it answers, and no part of a transaction of somebody else's. */
export interface DirectExecutor {
  /** Whether it is open now. */
  readonly isFree: boolean
  /** @param reached  called when there is a connection */
  execute (query: CompiledQuery, reached: () => void): MaybePromise<Outcome>
  /** As {@link execute}, for rows: making objects of them is what a list would cost. */
  readArrays (query: CompiledQuery, reached: () => void): MaybePromise<ArrayRows>
}

/** What a handle is for: one that only reads is given what nobody writes on, so that it awaits nobody. */
export type Role = 'reader' | 'writer'

export type DirectExecutors = Readonly<Record<Role, DirectExecutor>>

/**
 * The roads of the handles that the plugin's own functions opened. What is made of such a handle, a transaction or one
 * connection of it, is another handle, which must be asked itself.
 */
const directExecutors = new WeakMap<object, DirectExecutors>()

/** Closes what Kysely leaves open if nothing has gone through its driver, but only by the direct roads. */
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
 * A Kysely instance whose database can also be reached past its driver.
 *
 * @param close  closes the database; called after the driver, which may have closed it already
 */
export function openKysely<DB> (dialect: KyselyDialect, roads: DirectExecutors, close: () => Promise<void>): Kysely<DB> {
  const db = new KyselyWithExecutors<DB>(dialect, close)
  directExecutors.set(db, roads)
  return db
}

export type Tables = Record<string, Record<string, unknown>>

/** The executors of a handle that the plugin's own functions opened. */
export function directExecutorsOf (handle: object): DirectExecutors | undefined {
  return directExecutors.get(handle)
}
