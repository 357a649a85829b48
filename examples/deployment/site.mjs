import net from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import Fastify from 'fastify'
import restModels, { createTables, defineModel, text } from 'fastify-rest-models'
import { openMariadb } from 'fastify-rest-models/mariadb'
import { openPostgres } from 'fastify-rest-models/postgres'
import { openSqlite } from 'fastify-rest-models/sqlite'

const { PORT = '3000', HOST = '127.0.0.1', DATABASE_URL = 'site.db', TRUST_PROXY = 'loopback' } = process.env
const maxDrainMs = 10_000

const Note = defineModel('Note', { message: text({ maxLength: 1000 }) })
const servers = { postgres: openPostgres, postgresql: openPostgres, mariadb: openMariadb, mysql: openMariadb }
const open = servers[DATABASE_URL.split(':')[0]] ?? openSqlite
const db = open(DATABASE_URL.replace(/^sqlite:/, ''))
await createTables(db, [Note])

const app = Fastify({
  logger: true, trustProxy: TRUST_PROXY.split(','), requestTimeout: 30_000, return503OnClosing: false
})
let isClosing = false
app.addHook('onSend', async (request, reply) => {
  if (isClosing) reply.header('connection', 'close')
})
app.addHook('preClose', async () => {
  isClosing = true
  // app.server.close() also closes connections that seem idle, although a request may have arrived on them.
  net.Server.prototype.close.call(app.server)
  setTimeout(() => app.server.closeAllConnections(), maxDrainMs).unref()
  await wait(1000)
})
app.addHook('onClose', () => db.destroy())
for (const signal of ['SIGTERM', 'SIGINT']) process.once(signal, () => app.close())

app.get('/healthz', async () => ({ status: 'up' }))
app.get('/readyz', async (request, reply) => {
  const { status } = await app.restModels.health()
  return reply.code(status === 'up' ? 200 : 503).send({ status })
})
await app.register(restModels, { db })
app.restModels.register(Note)
await app.restModels.setup()
await app.listen({ port: Number(PORT), host: HOST })
