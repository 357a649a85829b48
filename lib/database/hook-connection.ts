import type { CompiledQuery, ConnectionProvider, DatabaseConnection, QueryResult } from 'kysely'
import type { Dialect } from '../engines/dialect.js'
import { TurnClock } from '../engines/event-loop-turn.js'
import type { Query } from '../engines/executor.js'
import { Repeatable, StatementFailure } from '../engines/statement-failure.js'
import { errors } from '../errors.js'
import type { StatementLabel } from '../events/messages.js'
import { controlsTransaction } from './controls-transaction.js'
import type { OpenTransaction } from './open-transaction.js'

/**
 * The connection of a transaction, as the hook `afterWrite` gets it. It refuses statements that begin or end a
 * transaction. Once a statement has failed, it refuses all others, and the write fails even if the hook caught the
 * error: otherwise PostgreSQL would answer the commit with a rollback.
 */
export class HookConnection implements DatabaseConnection {
  readonly #transaction: OpenTransaction
  readonly #dialect: Dialect
  readonly #label: StatementLabel
  readonly #clock = new TurnClock()
  #failure: { readonly thrown: unknown } | undefined
  #isOver = false

  constructor (transaction: OpenTransaction, dialect: Dialect, label: StatementLabel) {
    this.#transaction = transaction
    this.#dialect = dialect
    this.#label = label
  }

  async executeQuery<R> (query: CompiledQuery): Promise<QueryResult<R>> {
    const pause = this.#dialect.isEmbedded ? this.#clock.pauseIfLong() : undefined
    // Meanwhile the hook may become late, so this comes before the checks.
    if (pause !== undefined) await pause
    if (this.#isOver) throw new Error(overMessage)
    // The engine may have ended the transaction by itself, as after a deadlock. This statement would then be committed.
    if (this.#failure !== undefined) throw this.#failure.thrown
    if (controlsTransaction(query.sql, this.#dialect)) throw this.#fail(new Error(mustNotEnd))
    try {
      return await this.#transaction.query<R>(this.#labelled(query))
    } catch (error) {
      // A rule of the database that the hook breaks is a fault of the hook, and not of the client.
      throw this.#fail(error instanceof StatementFailure ? error.cause : error)
    }
  }

  async * streamQuery (): AsyncIterableIterator<never> {
    throw new Error('A hook cannot stream rows')
  }

  /** Throws if a statement of the hook has failed. */
  requireSound (): void {
    if (this.#failure !== undefined) throw this.#failure.thrown
  }

  /** Throws if a statement of the hook has failed because of which the write is repeated, or is a 503. */
  requireServed (): void {
    const thrown = this.#failure?.thrown
    if (thrown instanceof Repeatable || thrown instanceof errors.Unavailable) throw thrown
  }

  close (): void {
    this.#isOver = true
  }

  /** A spread of a frozen object, such as Kysely makes, would take longer. */
  #labelled ({ query, queryId, sql, parameters }: CompiledQuery): Query {
    return { query, queryId, sql, parameters, label: this.#label }
  }

  #fail (thrown: unknown): unknown {
    this.#failure ??= { thrown }
    return thrown
  }
}

const overMessage = 'The transaction is over: a hook must await what it does, and end in time'

/** Gives the connection of a hook to the hook's statements, one after another. */
export class HookConnectionProvider implements ConnectionProvider {
  readonly #connection: HookConnection
  /** Resolves when the last statement has ended, and so all of them. */
  #last: Promise<unknown> = Promise.resolve()
  #isOver = false

  constructor (connection: HookConnection) {
    this.#connection = connection
  }

  provideConnection<T> (consumer: (connection: DatabaseConnection) => Promise<T>): Promise<T> {
    if (this.#isOver) return Promise.reject(new Error(overMessage))
    const work = this.#last.then(() => consumer(this.#connection))
    this.#last = work.catch(() => {})
    return work
  }

  /** Waits for statements that the hook did not wait for, also those that are not sent yet. Refuses later ones. */
  async end (): Promise<void> {
    this.#isOver = true
    await this.#last
  }
}

export const mustNotEnd = 'A hook must not begin or end a transaction: it runs in that of the write'
