import type { Events } from '../../events/events.js'
import type { ArrayRows, Executor, Executors, Outcome, Query, Row } from '../executor.js'
import { effectOf, isRead, withRetries } from '../retry.js'
import { countOf, lengthOf } from '../rows.js'
import { toStatementError, withoutIndex, type FailureRules } from '../statement-failure.js'
import type { Purpose } from './node-connections.js'

/**
 * Answer of a driver: rows, as objects or arrays, and the count of rows that a write changed. Nobody reads the count of
 * a select.
 */
export interface Answer<Row> {
  readonly rows: readonly Row[]
  readonly rowCount: number
}

/** Connection that is taken from a pool for one statement. */
export interface PooledConnection {
  askObjects (query: Query): Promise<Answer<Row>>
  /** @param keys  the selected keys, in the order of the selection */
  askArrays (query: Query, keys: readonly string[]): Promise<Answer<ArrayRows[number]>>
  release (): void
}

/** Parts that the executors of a server share. */
interface ServerParts {
  readonly rules: FailureRules
  readonly connect: (purpose: Purpose) => Promise<PooledConnection>
  readonly events: Events
}

type Ask<Result> = (connection: PooledConnection, query: Query) => Promise<Result>

/**
 * Executor on the connections of a pool. It takes a connection for each statement and then releases it, so no statement
 * is part of a transaction.
 */
class PooledExecutor implements Executor {
  readonly #rules: FailureRules
  readonly #connect: (purpose: Purpose) => Promise<PooledConnection>
  readonly #selects: Purpose
  readonly #events: Events

  /** @param selects  the purpose of selects by Kysely's query builder; all else, raw SQL too, counts as a write */
  constructor ({ rules, connect, events }: ServerParts, selects: Exclude<Purpose, 'write'>) {
    this.#rules = rules
    this.#connect = connect
    this.#selects = selects
    this.#events = events
  }

  execute (query: Query): Promise<Outcome> {
    return withRetries(() => this.#attempt(query, askOutcome, countOf), this.#events, query.label)
  }

  readArrays (query: Query, keys: readonly string[]): Promise<ArrayRows> {
    const ask: Ask<ArrayRows> = async (connection, query) => (await connection.askArrays(query, keys)).rows
    return withRetries(() => this.#attempt(query, ask, lengthOf), this.#events, query.label)
  }

  async #attempt<Result> (query: Query, ask: Ask<Result>, count: (result: Result) => number): Promise<Result> {
    const start = this.#events.begin()
    let connection: PooledConnection | undefined
    try {
      connection = await this.#connect(isRead(query) ? this.#selects : 'write')
      const result = await this.#ask(connection, query, ask)
      this.#events.end(start, query, count(result))
      return result
    } catch (failure) {
      const error = toStatementError(this.#rules, failure, connection === undefined ? 'nothing' : effectOf(query))
      this.#events.fail(start, query, error)
      throw error
    } finally {
      connection?.release()
    }
  }

  async #ask<Result> (connection: PooledConnection, query: Query, ask: Ask<Result>): Promise<Result> {
    try {
      return await ask(connection, query)
    } catch (failure) {
      return await ask(connection, withoutIndex(this.#rules, failure, query))
    }
  }
}

async function askOutcome (connection: PooledConnection, query: Query): Promise<Outcome> {
  const { rows: [row], rowCount: changed } = await connection.askObjects(query)
  return { row, changed }
}

/**
 * Returns the executors of a server. Lists and reads of records use the `reader`. The `writer` runs writes, and also
 * reads users and the records that are to be changed.
 */
export function pooledExecutors (parts: ServerParts): Executors {
  return { reader: new PooledExecutor(parts, 'read'), writer: new PooledExecutor(parts, 'lookup') }
}
