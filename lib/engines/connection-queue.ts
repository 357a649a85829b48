import { AsyncResource } from 'node:async_hooks'
import type { DatabaseConnection, Kysely, QueryExecutor } from 'kysely'
import { unavailable } from '../errors.js'
import type { Dialect } from './dialect.js'
import { maxWaitMs } from './semaphore.js'

type Consumer<Result> = (connection: DatabaseConnection) => Promise<Result>

/**
 * Calls the consumer with a connection of Kysely's driver, and returns the consumer's result. The connection is given
 * back when the consumer's promise settles.
 */
export type ProvideConnection = <Result>(consumer: Consumer<Result>) => Promise<Result>

/**
 * Returns the function that provides connections of a Kysely instance. With an embedded engine (SQLite in this
 * process), callers of that function wait in a {@link ConnectionQueue}, for two seconds at most. Each call here makes
 * another queue.
 */
export function provideConnectionsOf (
  db: Pick<Kysely<never>, 'getExecutor'>, { isEmbedded }: Pick<Dialect, 'isEmbedded'>
): ProvideConnection {
  const executor = db.getExecutor()
  // An embedded engine has only one connection, for which Kysely would let callers wait without a limit.
  const queue = isEmbedded ? new ConnectionQueue(executor) : undefined
  return (consumer) => queue === undefined ? executor.provideConnection(consumer) : queue.use(consumer)
}

/**
 * Queue of callers that need the only connection of Kysely's driver to an embedded engine (SQLite in this process). If
 * a caller asks Kysely for the connection, it waits without a limit and cannot give up. So at most one caller of a
 * queue asks Kysely at a time, and the others wait in the queue. Each caller fails after two seconds without the
 * connection. If a transaction hangs, at most one caller of each queue still waits in Kysely.
 */
class ConnectionQueue {
  readonly #executor: QueryExecutor
  readonly #waiting = new Map<() => void, () => void>()
  #isAsking = false

  constructor (executor: QueryExecutor) {
    this.#executor = executor
  }

  /**
   * Waits until the connection is free, calls the consumer with it, and returns the consumer's result. The connection
   * is free again when the consumer's promise settles.
   *
   * @throws REST_MODELS_UNAVAILABLE (503) after two seconds without a connection; the consumer is then never called
   */
  use<Result> (consumer: Consumer<Result>): Promise<Result> {
    return new Promise((resolve, reject) => {
      let isLate = false
      const ask = (): void => { this.#ask(unlessLate).then(resolve as (result: Result | undefined) => void, reject) }
      const timer = setTimeout(() => {
        isLate = true
        this.#waiting.delete(ask)
        reject(noneIsFree())
      }, maxWaitMs)
      const unlessLate = async (connection: DatabaseConnection): Promise<Result | undefined> => {
        clearTimeout(timer)
        return isLate ? undefined : await consumer(connection)
      }
      if (!this.#isAsking) return ask()
      // Bound, because the AsyncLocalStorage of one request must not reach the next one.
      this.#waiting.set(ask, AsyncResource.bind(ask))
    })
  }

  async #ask<Result> (consumer: Consumer<Result>): Promise<Result> {
    this.#isAsking = true
    let isAnswered = false
    try {
      return await this.#executor.provideConnection(async (connection) => {
        isAnswered = true
        this.#askNext()
        return await consumer(connection)
      })
    } finally {
      if (!isAnswered) this.#askNext()
    }
  }

  #askNext (): void {
    this.#isAsking = false
    const [next] = this.#waiting
    if (next === undefined) return
    const [ask, askInItsContext] = next
    this.#waiting.delete(ask)
    askInItsContext()
  }
}

/** Returns the error (503) for a caller that has waited too long for the only connection. */
export function noneIsFree (): Error {
  return unavailable({ cause: new Error('No connection has become free') })
}
