import { sql, type Kysely, type RawBuilder } from 'kysely'
import pRetry from 'p-retry'
import { readHandle, type AnyKysely } from '../database/engine.js'
import type { SchemaHabits } from '../engines/schema-habits.js'
import type { Tables } from '../engines/executor.js'
import { hasRows } from './obstacles.js'

/**
 * Options for waiting for the lock under which one process at a time creates tables. If an attempt to get the lock
 * fails, the next one follows 50 ms later, for 60 s in all. Then the change fails with an error. On MariaDB, each
 * attempt itself waits up to 1 s for the lock. A longer wait would run into the time-out of a statement.
 */
const retryOptions = { retries: 1200, minTimeout: 50, factor: 1, maxRetryTime: 60_000 } as const

/**
 * Callback that creates tables on the connection `db`. The callback must add the name of each table to `made` as soon
 * as the table exists, so that the table can be dropped if a later step fails.
 */
type Change = (db: Kysely<Tables>, made: string[]) => Promise<void>

/**
 * Calls `change` so that it creates all of its tables or none, and in one process at a time. If the engine can undo the
 * creation of tables, `change` runs in a transaction. Otherwise, if `change` fails, the tables in `made` that have no
 * rows are dropped.
 *
 * @throws what `change` throws; an error if another process keeps the lock for 60 s, on SQLite for the time-out of the
 *   connection
 */
export async function changeSchema (handle: AnyKysely, change: Change): Promise<void> {
  const { db, dialect: { schema } } = readHandle(handle)
  await db.connection().execute(async (connection) => schema.begin === undefined
    ? await undoing(connection, schema, change)
    : await inTransaction(connection, schema, change))
}

async function inTransaction (db: Kysely<Tables>, { begin, lock }: SchemaHabits, change: Change): Promise<void> {
  try {
    await begin?.execute(db)
    await take(db, lock)
    await change(db, [])
    await sql`commit`.execute(db)
  } catch (cause) {
    // The rollback fails if there is no transaction or no connection; only the first error is reported.
    await sql`rollback`.execute(db).catch(() => {})
    throw cause
  }
}

async function undoing (db: Kysely<Tables>, schema: SchemaHabits, change: Change): Promise<void> {
  const made: string[] = []
  const { lock } = schema
  await take(db, lock)
  try {
    await change(db, made)
  } catch (cause) {
    // Only the first error is reported.
    for (const table of made) await drop(db, schema, table).catch(() => {})
    throw cause
  } finally {
    // If this fails, the connection is gone, and the server has released the lock with it.
    await lock?.release?.execute(db).catch(() => {})
  }
}

class LockIsTaken extends Error {}

async function take (db: Kysely<Tables>, lock: SchemaHabits['lock']): Promise<void> {
  if (lock === undefined) return
  const shouldRetry = ({ error }: { readonly error: Error }): boolean => error instanceof LockIsTaken
  await pRetry(async () => await attempt(db, lock.acquire), { ...retryOptions, shouldRetry })
}

async function attempt (db: Kysely<Tables>, acquire: RawBuilder<{ answer: unknown }>): Promise<void> {
  const { rows: [row] } = await acquire.execute(db)
  if (Number(row?.answer) !== 1) throw new LockIsTaken('Another process is creating tables in this database')
}

/** Drops a table that has no rows. One with rows stays: another process may have found it and written to it. */
async function drop (db: Kysely<Tables>, { drop }: SchemaHabits, table: string): Promise<void> {
  if (!await hasRows(db, table)) await drop?.(sql.table(table)).execute(db)
}
