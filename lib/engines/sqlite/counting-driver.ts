import {
  SqliteDriver, type CompiledQuery, type DatabaseConnection, type QueryResult, type SqliteDialectConfig
} from 'kysely'
import type { Events } from '../../events/events.js'
import { TurnClock } from '../event-loop-turn.js'
import type { SqliteConnection } from './connection.js'
import type { GroupCommit } from './group-commit.js'
import { isLocked, lockTimeoutMs, retryWhileLocked } from './lock.js'
import { withValueCode } from './value-failure.js'

/**
 * Kysely's driver for one connection. It counts those who hold the connection or wait for it, because the plugin uses
 * the connection without this driver only while there are none. Writes queued in {@link GroupCommit} are committed
 * before anybody gets the connection.
 */
export class CountingDriver extends SqliteDriver {
  readonly #counted: SqliteConnection
  readonly #commits: GroupCommit
  #connection: DatabaseConnection | undefined

  readonly #events: Events

  constructor (
    config: SqliteDialectConfig, counted: SqliteConnection,
    { commits, events }: { readonly commits: GroupCommit, readonly events: Events }
  ) {
    super(config)
    this.#counted = counted
    this.#commits = commits
    this.#events = events
  }

  override async acquireConnection (): Promise<DatabaseConnection> {
    // Counted first, so that from now on nobody writes without this driver.
    this.#counted.holders += 1
    for (let locked = this.#commits.commit(); locked !== undefined; locked = this.#commits.commit()) await locked
    const connection = await super.acquireConnection()
    return (this.#connection ??= new RetryingConnection(connection, this.#counted, this.#events))
  }

  override async releaseConnection (): Promise<void> {
    await super.releaseConnection()
    this.#counted.holders -= 1
  }
}

/**
 * Kysely's connection. A statement waits for the lock of another process without blocking this process, and fails after
 * 2 seconds. A streamed query fails without such a wait. Many statements, one after another, do not block the process.
 */
class RetryingConnection implements DatabaseConnection {
  readonly #connection: DatabaseConnection
  readonly #counted: SqliteConnection
  readonly #events: Events
  readonly #clock = new TurnClock()

  constructor (connection: DatabaseConnection, counted: SqliteConnection, events: Events) {
    this.#connection = connection
    this.#counted = counted
    this.#events = events
  }

  async executeQuery<R> (query: CompiledQuery): Promise<QueryResult<R>> {
    try {
      return await this.#connection.executeQuery<R>(query)
    } catch (failure) {
      return await this.#repeatIfLocked<R>(failure, query)
    } finally {
      // Not before the statement: a rollback that is sent meanwhile, because a hook is late, must come after it.
      const pause = this.#clock.pauseIfLong()
      if (pause !== undefined) await pause
    }
  }

  async #repeatIfLocked<R> (failure: unknown, query: CompiledQuery): Promise<QueryResult<R>> {
    try {
      if (!isLocked(failure)) throw failure
      const repeating = { maxRetryTime: lockTimeoutMs, events: this.#events, query }
      return await retryWhileLocked(failure, () => this.#connection.executeQuery<R>(query), repeating)
    } catch (last) {
      throw withValueCode(this.#counted.database, last, query)
    }
  }

  async * streamQuery<R> (query: CompiledQuery, chunkSize: number): AsyncIterableIterator<QueryResult<R>> {
    this.#counted.streams += 1
    try {
      yield * this.#connection.streamQuery<R>(query, chunkSize)
    } finally {
      this.#counted.streams -= 1
    }
  }
}
