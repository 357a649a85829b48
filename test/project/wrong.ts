import Fastify from 'fastify'
import restModels, { createTables } from '../../lib/index.js'
import { openSqlite } from '../../lib/sqlite.js'
import { Note } from '../support/site.js'

/**
 * An app whose lists are answered with a status that its document does not have; it says where it listens, in both
 * ways.
 */
const app = Fastify()
const db = openSqlite(':memory:')
await createTables(db, [Note])
app.addHook('preSerialization', async (_request, reply, answer) => {
  reply.code(202)
  return answer
})
await app.register(restModels, { db })
app.restModels.register(Note)
await app.restModels.setup()
const address = await app.listen({ port: 0, host: '127.0.0.1' })
console.log(address)
process.send?.(address)
