import { subscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import Fastify from 'fastify'
import restModels, { userAuth } from '../../lib/index.js'
import { Entry, User, open } from './site.js'

/**
 * An app on a database, and perhaps on a replica for reads, with its log in a file. It says where it listens, and is
 * closed by any message.
 */
const [url = '', file = '', readUrl] = process.argv.slice(2)
const leave = (): never => process.exit(1)
process.once('disconnect', leave)

const db = open(url)
const readDb = readUrl === undefined ? db : open(readUrl)
const app = Fastify({ logger: { file } })
const told: Record<'node' | 'retry' | 'statement', unknown[]> = { node: [], retry: [], statement: [] }
for (const [name, messages] of Object.entries(told)) {
  subscribe(`fastify-rest-models:${name}`, (message) => { messages.push(message) })
}
app.addHook('onError', async (_request, _reply, error) => { if (error.statusCode === 500) console.error(error) })
app.addHook('onClose', async () => {
  await db.destroy()
  await readDb.destroy()
})
app.get('/readyz', async (_request, reply) => {
  const health = await app.restModels.health()
  return await reply.code(health.status === 'up' ? 200 : 503).send(health)
})
app.get('/messages', async () => told)
await app.register(restModels, { db, readDb, defaultAuth: userAuth(User) })
app.restModels.register(Entry, { ownerField: 'user' })
await app.restModels.setup()
process.send?.(await app.listen({ port: 0, host: '127.0.0.1' }))
await once(process, 'message')
await app.close()
process.off('disconnect', leave)
process.disconnect()
