import { sql, type Kysely, type RawBuilder } from 'kysely'
import pRetry from 'p-retry'
import { readHandle, type AnyKysely } from '../database/engine.js'
import type { SchemaHabits } from '../engines/dialect.js'
import type { Tables } from '../engines/executor.js'

/** Short attempts, each of which asks for the lock: a longer wait would run into the time-out of a statement. */
const patience = { retries: 1000, minTimeout: 50, factor: 1, maxRetryTime: 60_000 } as const

/** Makes tables on the one connection that it is given, and notes each that it has made. */
type Change = (db: Kysely<Tables>, made: string[]) => Promise<void>

/** Makes tables, all of them or none, one process at a time: in a transaction where the engine can undo it, else dropping them if it fails. */
export async function changeSchema (handle: AnyKysely, change: Change): Promise<void> {
  const { db, dialect: { schema } } = readHandle(handle)
  await db.connection().execute(async (connection) =>
    schema.begin === undefined ? await undoing(connection, schema, change) : await inTransaction(connection, schema, change))
}

async function inTransaction (db: Kysely<Tables>, { begin, lock }: SchemaHabits, change: Change): Promise<void> {
  try {
    await begin?.execute(db)
    await take(db, lock)
    await change(db, [])
    await sql`commit`.execute(db)
  } catch (cause) {
    // There may be no transaction, or no connection; what went wrong first is what is told.
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
    // What went wrong first is what is told.
    for (const table of made) await drop(db, schema, table).catch(() => {})
    throw cause
  } finally {
    await lock?.release?.execute(db)
  }
}

class LockIsTaken extends Error {}

async function take (db: Kysely<Tables>, lock: SchemaHabits['lock']): Promise<void> {
  if (lock === undefined) return
  await pRetry(async () => await attempt(db, lock.acquire), { ...patience, shouldRetry: ({ error }) => error instanceof LockIsTaken })
}

async function attempt (db: Kysely<Tables>, acquire: RawBuilder<{ answer: unknown }>): Promise<void> {
  const { rows: [row] } = await acquire.execute(db)
  if (Number(row?.answer) !== 1) throw new LockIsTaken('Another process is making tables in this database')
}

/** Another process may have found the table, and written to it. */
async function drop (db: Kysely<Tables>, { drop }: SchemaHabits, table: string): Promise<void> {
  const used = await db.selectFrom(table).select(sql.lit(1).as('one')).limit(1).executeTakeFirst()
  if (used === undefined) await drop?.(sql.table(table)).execute(db)
}
