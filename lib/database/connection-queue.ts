import { AsyncResource } from 'node:async_hooks'
import type { DatabaseConnection, QueryExecutor } from 'kysely'
import { errors, withRetryAfter } from '../errors.js'

/** Milliseconds after which a request that waits for a connection is refused. */
const connectionTimeout = 2000

type Consumer<Result> = (connection: DatabaseConnection) => Promise<Result>

/**
 * Requests that wait for the one connection of an embedded engine. Kysely lets everybody wait for ever, and whoever asked
 * cannot take that back: one request at a time asks Kysely, and the others wait here, where they can leave. So a transaction
 * that hangs holds one of them, and not all that came in the meantime.
 */
export class ConnectionQueue {
  readonly #executor: QueryExecutor
  readonly #waiting = new Map<() => void, () => void>()
  #isAsking = false

  constructor (executor: QueryExecutor) {
    this.#executor = executor
  }

  /** @throws REST_MODELS_UNAVAILABLE (503) after two seconds without a connection; the consumer is not called then, and never later */
  use<Result> (consumer: Consumer<Result>): Promise<Result> {
    return new Promise((resolve, reject) => {
      let isLate = false
      const ask = (): void => { this.#ask(unlessLate).then(resolve as (result: Result | undefined) => void, reject) }
      const timer = setTimeout(() => {
        isLate = true
        this.#waiting.delete(ask)
        reject(withRetryAfter(new errors.Unavailable({ cause: new Error('No connection has become free') }), 1))
      }, connectionTimeout)
      const unlessLate = async (connection: DatabaseConnection): Promise<Result | undefined> => {
        clearTimeout(timer)
        return isLate ? undefined : await consumer(connection)
      }
      if (!this.#isAsking) return ask()
      // What one request keeps in an AsyncLocalStorage is not for the next one.
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
