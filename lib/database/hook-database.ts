import { DummyDriver, Transaction, type Dialect as KyselyDialect, type Kysely } from 'kysely'
import type { Tables } from '../engines/executor.js'
import type { Handle } from './engine.js'
import { HookConnection, HookConnectionProvider, mustNotEnd } from './hook-connection.js'
import type { OpenTransaction } from './open-transaction.js'

/**
 * Kysely instance of an open transaction, with the Kysely plugins of the application's instance. Its type permits any
 * names of tables and columns.
 */
export type HookDatabase = Transaction<Tables>

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
