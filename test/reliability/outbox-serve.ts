import Fastify from 'fastify'
import restModels, { userAuth } from '../../lib/index.js'
import { Message, User } from '../support/site.js'
import { openOutbox } from './outbox-site.js'

/** Serves messages with an outbox, says where it listens, and ends with the process that has started it. */
process.once('disconnect', () => process.exit())
const app = Fastify()
await app.register(restModels, { db: openOutbox(String(process.argv[2])) })
app.restModels.register(Message, {
  auth: userAuth(User),
  ownerField: 'user',
  afterWrite: async ({ operation, record: { id, content, pub_date: date }, db }) => {
    const body = JSON.stringify([id, content, date])
    await db.insertInto('outbox').values({ topic: operation, body }).execute()
  }
})
await app.restModels.setup()
process.send?.(await app.listen({ port: 0, host: '127.0.0.1' }))
