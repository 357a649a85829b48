import Fastify from 'fastify'
import type { Generated, Kysely } from 'kysely'
import { now } from './baseline-replies.js'
import { schemas, type Create, type MessageRecord } from './baseline-schemas.js'
import { openDatabase } from './open-database.js'
import { readArguments, serve } from './serve.js'

// Hand-written with Kysely, which hooks get too: a create with a row in an outbox, in one transaction.
interface Tables {
  message: Omit<MessageRecord, 'id'> & { readonly id: Generated<number> }
  outbox: { readonly id: Generated<number>, readonly topic: string, readonly body: string }
}

const { database, durability } = readArguments()
const db = await openDatabase(database, durability) as unknown as Kysely<Tables>
const app = Fastify()

app.post<Create>('/api/message/', { schema: schemas.create }, async (request, reply) => {
  const { user_id: user, content, pub_date: date = now() } = request.body
  const row = await db.transaction().execute(async (transaction) => {
    const created = await transaction.insertInto('message').values({ user_id: user, content, pub_date: date })
      .returning(['id', 'user_id', 'content', 'pub_date']).executeTakeFirstOrThrow()
    await transaction.insertInto('outbox').values({ topic: 'message', body: JSON.stringify(created) }).execute()
    return created
  })
  reply.code(201).header('location', `/api/message/${row.id}/`)
  return row
})

await serve(app)
