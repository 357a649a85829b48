import { Kysely, type CompiledQuery, type Dialect as KyselyDialect } from 'kysely'
import { setEvents, type Events } from '../events/events.js'
import type { StatementLabel } from '../events/messages.js'
import type { ReadHealth } from './health.js'
import type { Stored } from './storage.js'

/**
 * Result, or a promise of it. An engine in this process returns most results at once, to save the time that a promise
 * takes.
 */
export type MaybePromise<Result> = Result | Promise<Result>

/** A row as it comes from a driver: one value for each selected key. */
export type Row = Readonly<Record<string, Stored>>

/** Rows without keys: the values of each row, in the order of the selection. */
export type ArrayRows = ReadonlyArray<readonly Stored[]>

/**
 * Result of a statement on one record. `row` is the first row that the statement returned, if any. `changed` is the
 * number of rows that a write changed; use it only if the write returns no rows, because SQLite gives 0 otherwise.
 */
export interface Outcome {
  readonly row: Row | undefined
  readonly changed: number
}

/** A compiled statement with its parameters. */
export interface Query extends CompiledQuery {
  /** Operation and resource of the statement, as events name them. */
  readonly label?: StatementLabel | undefined
  /**
   * Returns the statement to run instead if the engine cannot compare a text with the character set of its column. That
   * statement lacks the comparisons that are made only for an index, or it finds nothing. If this function is absent,
   * or in a transaction, the failure is thrown.
   */
  readonly withoutIndex?: (() => CompiledQuery) | undefined
}

/** Statement that commits a transaction. Connections recognize it by this text, which Kysely's drivers send, too. */
export const commitText = 'commit'
/** Statement that undoes a transaction. Connections recognize it by this text, which Kysely's drivers send, too. */
export const rollbackText = 'rollback'

/**
 * Runs statements. Outside a transaction, it repeats a statement after a pause if the statement certainly was not
 * executed, or if a read lost its connection. It never repeats a write whose outcome is unknown.
 *
 * Both methods throw StatementFailure if a rule of the database refuses the statement, or the engine cannot take a
 * value. They throw REST_MODELS_UNAVAILABLE (503) if the engine cannot run the statement now and certainly changed
 * nothing, and REST_MODELS_OUTCOME_UNKNOWN (503) if a write may have been executed. In a transaction, they throw
 * Repeatable if the whole transaction may be repeated. Otherwise they throw the driver's error, without values of
 * records.
 */
export interface Executor {
  /** Runs a statement on one record. Outside a transaction, a write is committed before the outcome is returned. */
  execute (query: Query): MaybePromise<Outcome>
  /**
   * Runs a read, and returns all its rows as arrays, because making an object of each row takes long.
   *
   * @param keys  the selected keys, in the order of the selection
   * @returns the values of each row, in the order of the keys
   */
  readArrays (query: Query, keys: readonly string[]): MaybePromise<ArrayRows>
}

/**
 * Purpose for which a Kysely instance is used. On a SQLite file a `reader` gets a connection on which nobody writes, so
 * that it waits for nobody. On a server both use the same pool, but while writes come, a `reader` takes at most as many
 * connections as the option `readConnections` permits. If the plugin did not open the database, the role makes no
 * difference.
 */
export type Role = 'reader' | 'writer'

export type Executors = Readonly<Record<Role, Executor>>

/**
 * Executors of the Kysely instances that openSqlite(), openPostgres() and openMariadb() returned, by instance. A
 * transaction on such an instance, or one connection of it, is another object and has no entry here.
 */
const ownExecutors = new WeakMap<object, Executors>()

/** Functions that ask a database for its state, by the Kysely instance that {@link openKysely} returned. */
const ownHealth = new WeakMap<object, ReadHealth>()

/** How {@link openKysely} closes an opened database, and the functions for its health and events. */
export interface OpenedParts {
  /**
   * Closes the database. Called after Kysely's driver was destroyed. If the driver has closed the database already,
   * this must do nothing.
   */
  close (): Promise<void>
  readonly readHealth: ReadHealth
  readonly events: Events
}

/**
 * Kysely instance whose `destroy()` always closes the database. Kysely's own `destroy()` closes it only if Kysely's
 * driver was used, and so not if the plugin used only the executors.
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
 * Returns a Kysely instance. Also makes its executors, which send statements to the driver of the database itself: the
 * way through Kysely takes as long as a short statement. Afterwards {@link executorsOf} returns these executors for the
 * instance, {@link healthOf} returns `readHealth`, and `eventsOf()` returns `events`.
 *
 * @param makeExecutors  makes the executors of the instance
 */
export function openKysely<DB> (
  dialect: KyselyDialect, makeExecutors: (db: Kysely<DB>) => Executors, { close, readHealth, events }: OpenedParts
): Kysely<DB> {
  const db = new KyselyWithExecutors<DB>(dialect, close)
  ownExecutors.set(db, makeExecutors(db))
  ownHealth.set(db, readHealth)
  setEvents(db, events)
  return db
}

/** Type of a database, for Kysely, whose tables are not declared: tables and columns of any names, with any values. */
export type Tables = Record<string, Record<string, unknown>>

/** Returns the executors of a Kysely instance that {@link openKysely} returned; undefined for any other. */
export function executorsOf (handle: object): Executors | undefined {
  return ownExecutors.get(handle)
}

/**
 * Returns the function that asks a database for its state, if {@link openKysely} opened it; undefined for any other.
 */
export function healthOf (handle: object): ReadHealth | undefined {
  return ownHealth.get(handle)
}
