import {
  DummyDriver, SingleConnectionProvider, Transaction, type CompiledQuery, type DatabaseConnection,
  type Dialect as KyselyDialect, type Kysely, type QueryResult
} from 'kysely'
import type { Dialect } from '../engines/dialect.js'
import { TurnClock } from '../engines/event-loop-turn.js'
import type { Tables } from '../engines/executor.js'
import { Repeatable, StatementFailure } from '../engines/statement-failure.js'
import { errors } from '../errors.js'
import type { StatementLabel } from '../events/messages.js'
import { controlsTransaction } from './controls-transaction.js'
import type { Handle } from './engine.js'
import type { OpenTransaction } from './transaction.js'

/**
 * Kysely instance of an open transaction, with the Kysely plugins of the application's instance. Its type permits any
 * names of tables and columns.
 */
export type HookDatabase = Transaction<Tables>

/**
 * The connection of a transaction, as the hook `afterWrite` gets it. It refuses statements that begin or end a
 * transaction. Once a statement has failed, it refuses all others, and the write fails even if the hook caught the
 * error: otherwise PostgreSQL would answer the commit with a rollback.
 */
class HookConnection implements DatabaseConnection {
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
    // Meanwhile the hook may become late, so this comes before the checks.
    if (this.#dialect.isEmbedded) await this.#clock.pauseIfLong()
    if (this.#isOver) throw new Error(overMessage)
    // The engine may have ended the transaction by itself, as after a deadlock. This statement would then be committed.
    if (this.#failure !== undefined) throw this.#failure.thrown
    return await this.#ask(query)
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

  async #ask<R> (query: CompiledQuery): Promise<QueryResult<R>> {
    if (controlsTransaction(query.sql, this.#dialect)) throw this.#fail(new Error(mustNotEnd))
    try {
      return await this.#transaction.ask<R>({ ...query, label: this.#label })
    } catch (error) {
      // A rule of the database that the hook breaks is a fault of the hook, and not of the client.
      throw this.#fail(error instanceof StatementFailure ? error.cause : error)
    }
  }

  #fail (thrown: unknown): unknown {
    this.#failure ??= { thrown }
    return thrown
  }
}

const overMessage = 'The transaction is over: a hook must await what it does, and end in time'

/** Gives the connection of a hook to the hook's statements, one after another. */
class HookConnectionProvider extends SingleConnectionProvider {
  readonly #pending = new Set<Promise<unknown>>()
  #isOver = false

  override async provideConnection<T> (consumer: (connection: DatabaseConnection) => Promise<T>): Promise<T> {
    if (this.#isOver) throw new Error(overMessage)
    const work = super.provideConnection(consumer)
    this.#pending.add(work)
    try {
      return await work
    } finally {
      this.#pending.delete(work)
    }
  }

  /** Waits for statements that the hook did not wait for, also those that are not sent yet. Refuses later ones. */
  async end (): Promise<void> {
    this.#isOver = true
    await Promise.allSettled(this.#pending)
  }
}

const mustNotEnd = 'A hook must not begin or end a transaction: it runs in that of the write'

/** Driver that makes `startTransaction()` fail, because a hook must not begin a transaction of its own. */
class HookDriver extends DummyDriver {
  override async beginTransaction (): Promise<void> {
    throw new Error(mustNotEnd)
  }
}

/** A resource whose hook `afterWrite` is called: its name, and the database that it writes to. */
interface HookedResource {
  readonly name: string
  readonly engine: Handle
}

/**
 * Calls a hook with the transaction as a Kysely instance, which works until the hook ends.
 *
 * @param call  gets the instance, and a function to call when the hook has returned or thrown: it waits for the
 *   statements that the hook did not wait for, and refuses further ones. Then it throws if the database could not serve
 *   one of them, whatever the hook has thrown: nobody can say whether the hook would have refused the write
 * @throws what the hook throws, or the failure of one of its statements, even if the hook caught it
 */
export async function withHookDatabase (
  { name, engine }: HookedResource, transaction: OpenTransaction,
  call: (db: HookDatabase, end: () => Promise<void>) => Promise<unknown>
): Promise<void> {
  const connection = new HookConnection(transaction, engine.dialect, { operation: 'hook', resource: name })
  const provider = new HookConnectionProvider(connection)
  try {
    await call(kyselyOn(engine.host, provider), async () => {
      await provider.end()
      connection.requireServed()
    })
    connection.requireSound()
  } finally {
    connection.close()
  }
}

/** Kysely calls this for `db.introspection` alone. Whatever else it makes of a dialect, the executor has already. */
function refuse (): never {
  throw new Error('A hook cannot introspect the database')
}

/** Returns a Kysely instance whose statements run on one connection, in a transaction that it cannot end. */
function kyselyOn (host: Kysely<Tables>, provider: HookConnectionProvider): HookDatabase {
  const executor = host.getExecutor().withConnectionProvider(provider)
  const dialect: KyselyDialect = {
    createAdapter: refuse, createDriver: refuse, createIntrospector: refuse, createQueryCompiler: refuse
  }
  return new Transaction<Tables>({ config: { dialect }, dialect, driver: new HookDriver(), executor })
}
