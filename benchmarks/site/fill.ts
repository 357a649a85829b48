import { createTables, hashPassword, type Model } from 'fastify-rest-models'
import type { CompiledQuery, Kysely } from 'kysely'
import { Comment, Message, Outbox, User } from './models.js'
import { commentRows, messageRows, userCount, usernameOf, userPassword } from './rows.js'

/** Database with any tables: rows come from generators, and their columns from the models. */
export type Database = Kysely<Record<string, Record<string, unknown>>>
type Row = Readonly<Record<string, string | number>>

const batchSize = 500

/** Makes the tables of the site, with an index for its lists besides that of the foreign key. */
export async function makeTables (db: Database, models: readonly Model[] = [User, Message, Comment, Outbox]): Promise<void> {
  await createTables(db, models)
  if (models.includes(Message)) await db.schema.createIndex('message__pub_date__index').on('message').column('pub_date').execute()
}

/** Fills the tables of the site: 1,000 users, the messages, and their comments. */
export async function fillTables (db: Database, messages: number): Promise<void> {
  const password = await hashPassword(userPassword)
  await insert(db, 'user', userRows(password))
  await insert(db, 'message', messageRows(messages))
  await insert(db, 'comment', commentRows(messages))
}

function * userRows (password: string): Generator<Row> {
  for (let id = 1; id <= userCount; id++) {
    yield { username: usernameOf(id), password, email: `${usernameOf(id)}@example.com` }
  }
}

/** Compiles the statement once for each number of rows, because building it takes longer than running it. */
async function insert (db: Database, table: string, rows: Iterable<Row>): Promise<void> {
  const compiled = new Map<number, CompiledQuery>()
  for (const batch of batches(rows)) {
    const query = compiled.get(batch.length) ?? db.insertInto(table).values(batch).compile()
    compiled.set(batch.length, query)
    await db.executeQuery({ ...query, parameters: batch.flatMap((row) => Object.values(row)) })
  }
}

function * batches (rows: Iterable<Row>): Generator<readonly Row[]> {
  let batch: Row[] = []
  for (const row of rows) {
    batch.push(row)
    if (batch.length < batchSize) continue
    yield batch
    batch = []
  }
  if (batch.length > 0) yield batch
}
