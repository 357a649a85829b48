import { CompiledQuery, type DatabaseConnection, type QueryResult } from 'kysely'
import type { Dialect } from '../engines/dialect.js'
import { commitText, type ArrayRows, type Executor, type Outcome, type Query, type Row } from '../engines/executor.js'
import { outcomeOf } from '../engines/kysely-executor.js'
import { toArrays } from '../engines/rows.js'
import { toStatementError, type Sent } from '../engines/statement-failure.js'
import { Events } from '../events/events.js'

const commit: Query = { ...CompiledQuery.raw(commitText), label: { operation: 'commit', resource: null } }
const savepoint = CompiledQuery.raw('savepoint rest_models_write')
const release = CompiledQuery.raw('release savepoint rest_models_write')
const rollbackToSavepoint = CompiledQuery.raw('rollback to savepoint rest_models_write')

/** Thrown when a statement, such as that of a trigger, has rolled back a whole transaction. */
export class TransactionEnded extends Error {}

/** Runs statements in an open transaction. It repeats none of them: only all of them together can be repeated. */
export class OpenTransaction implements Executor {
  readonly #connection: DatabaseConnection
  readonly #dialect: Dialect
  readonly #events: Events

  constructor (
    connection: DatabaseConnection, dialect: Dialect, events: Events = new Events()
  ) {
    this.#connection = connection
    this.#dialect = dialect
    this.#events = events
  }

  execute (query: Query): Promise<Outcome> {
    return this.query<Row>(query).then(outcomeOf)
  }

  readArrays (query: Query, keys: readonly string[]): Promise<ArrayRows> {
    return this.query<Row>(query).then((result) => toArrays(result, keys))
  }

  /**
   * Calls `work` in a savepoint, and undoes what it did if it throws.
   *
   * @throws what `work` throws; {@link TransactionEnded} if the savepoint is gone, because a statement has ended the
   *   transaction
   */
  async inSavepoint<Result> (work: () => Promise<Result>): Promise<Result> {
    await this.#mark(savepoint)
    try {
      const result = await work()
      await this.#mark(release)
      return result
    } catch (failure) {
      await this.#mark(rollbackToSavepoint).catch(() => { throw new TransactionEnded() })
      await this.#mark(release)
      throw failure
    }
  }

  /** Runs a statement of a savepoint. Kysely's driver for SQLite throws without a promise. */
  async #mark (statement: CompiledQuery): Promise<void> {
    try {
      await this.#connection.executeQuery(statement)
    } catch (failure) {
      throw toStatementError(this.#dialect, failure, 'uncommitted')
    }
  }

  /**
   * Commits the transaction. No other statement may follow.
   *
   * @throws REST_MODELS_OUTCOME_UNKNOWN (503) if the connection is lost before the answer
   */
  async commit (): Promise<void> {
    await this.query(commit, 'write')
  }

  /**
   * Runs a statement, reports it to the {@link Events}, and returns everything that Kysely's driver returns. Throws as
   * {@link Executor} says for a statement in a transaction.
   *
   * @param sent  decides the error if no answer comes: `write` for a commit, which may have been executed, otherwise
   *   `uncommitted`, because the statement is then undone
   */
  async query<R> (statement: Query, sent: Sent = 'uncommitted'): Promise<QueryResult<R>> {
    const start = this.#events.begin()
    try {
      const result = await this.#connection.executeQuery<R>(statement)
      const { rows: { length }, numAffectedRows = 0n } = result
      this.#events.end(start, statement, length > 0 ? length : Number(numAffectedRows))
      return result
    } catch (failure) {
      const error = toStatementError(this.#dialect, failure, sent)
      this.#events.fail(start, statement, error)
      throw error
    }
  }
}
