import type { DatabaseConnection, Kysely, QueryResult } from 'kysely'
import type { Events } from '../events/events.js'
import { provideConnectionsOf, type ProvideConnection } from './connection-queue.js'
import type { Dialect } from './dialect.js'
import type { ArrayRows, Executor, Outcome, Query, Row } from './executor.js'
import { effectOf, withRetries } from './retry.js'
import { countOf, lengthOf, toArrays } from './rows.js'
import { toStatementError, withoutIndex } from './statement-failure.js'

type Ask<Result> = (connection: DatabaseConnection, query: Query) => Promise<Result>

/** Executor that runs statements through Kysely's driver, for any Kysely instance or transaction. */
export class KyselyExecutor implements Executor {
  readonly #dialect: Dialect
  readonly #provideConnection: ProvideConnection

  readonly #events: Events

  constructor (db: Pick<Kysely<never>, 'getExecutor'>, dialect: Dialect, events: Events) {
    this.#dialect = dialect
    this.#events = events
    this.#provideConnection = provideConnectionsOf(db, dialect)
  }

  execute (query: Query): Promise<Outcome> {
    return withRetries(() => this.#attempt(query, askOutcome, countOf), this.#events, query.label)
  }

  readArrays (query: Query, keys: readonly string[]): Promise<ArrayRows> {
    const ask: Ask<ArrayRows> = async (connection, query) =>
      toArrays(await connection.executeQuery<Row>(query), keys)
    return withRetries(() => this.#attempt(query, ask, lengthOf), this.#events, query.label)
  }

  async #attempt<Result> (query: Query, ask: Ask<Result>, count: (result: Result) => number): Promise<Result> {
    const start = this.#events.begin()
    let isConnected = false
    try {
      const result = await this.#provideConnection(async (connection) => {
        isConnected = true
        return await ask(connection, query).catch(async (failure: unknown) =>
          await ask(connection, withoutIndex(this.#dialect, failure, query)))
      })
      this.#events.end(start, query, count(result))
      return result
    } catch (failure) {
      const error = toStatementError(this.#dialect, failure, isConnected ? effectOf(query) : 'nothing')
      this.#events.fail(start, query, error)
      throw error
    }
  }
}

async function askOutcome (connection: DatabaseConnection, query: Query): Promise<Outcome> {
  return outcomeOf(await connection.executeQuery<Row>(query))
}

/** Returns the first row, and the count of changed rows, which Kysely gives as a BigInt; 0 if Kysely gives no count. */
export function outcomeOf ({ rows, numAffectedRows }: QueryResult<Row>): Outcome {
  return { row: rows[0], changed: Number(numAffectedRows ?? 0n) }
}
