import { once } from 'node:events'
import Fastify from 'fastify'
import restModels, { createTables, defineModel, text } from '../../lib/index.js'
import type {} from '../support/answers.js'
import { openUrl } from '../support/database.js'

/** What an app has used since it was asked last. */
export interface Usage {
  /**
   * Milliseconds of CPU between two timers at most: what the event loop was held for on a machine that does nothing
   * else.
   */
  readonly held: number
  /** MiB of memory at most. */
  readonly memory: number
}

/**
 * An app in a process of its own, with a hundred records of so many characters, that says what it has used when it is
 * asked.
 */
const [url = '', length = '50'] = process.argv.slice(2)
const db = openUrl(url)
const Text = defineModel('Text', { content: text() })
await createTables(db, [Text])
for (let number = 1; number <= 100; number++) {
  await db.insertInto('text').values({ content: `${number} `.padEnd(Number(length), 'x') }).execute()
}
const app = Fastify()
app.undocumented = 'memory and time are measured'
app.get('/health', async () => ({ status: 'ok' }))
app.get('/connections', (_request, reply) => { app.server.getConnections((_error, count) => { reply.send(count) }) })
let served = 0
app.get('/served', async () => served)
app.addHook('onResponse', (request, reply, done) => {
  if (request.url.startsWith('/api/') && reply.statusCode === 200) served += 1
  done()
})
app.get('/healthz', async () => ({ status: 'up' }))
app.get('/readyz', async () => await app.restModels.health())
await app.register(restModels, { db })
app.restModels.register(Text)
await app.restModels.setup()

let usage = { held: 0, memory: 0 }
let cpu = process.cpuUsage()
setInterval(() => {
  const { user, system } = process.cpuUsage(cpu)
  cpu = process.cpuUsage()
  usage = {
    held: Math.max(usage.held, (user + system) / 1000),
    memory: Math.max(usage.memory, process.memoryUsage.rss() / 2 ** 20)
  }
}, 1)
process.on('message', () => {
  process.send?.(usage satisfies Usage)
  usage = { held: 0, memory: 0 }
})
process.send?.(await app.listen({ port: 0, host: '127.0.0.1', backlog: 1024 }))
await once(process, 'disconnect')
process.exit()
