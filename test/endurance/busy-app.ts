import { once } from 'node:events'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import underPressure from '@fastify/under-pressure'
import Fastify from 'fastify'
import restModels, { createTables } from '../../lib/index.js'
import { openSqlite } from '../../lib/sqlite.js'
import type {} from '../support/answers.js'
import { registerSite, siteModels, siteUsers } from '../support/site.js'

/** What the app has seen of its own event loop since it was asked last, in milliseconds. */
export interface LoopDelay {
  readonly p99: number
  readonly max: number
}

const [path = '', messages = '0', sheds = ''] = process.argv.slice(2)
const db = openSqlite(path)
await createTables(db, siteModels)
await db.transaction().execute(async (transaction) => {
  await transaction.insertInto('user').values(await siteUsers() ?? []).execute()
  for (let number = 1; number <= Number(messages); number++) {
    await transaction.insertInto('message')
      .values({ user_id: 1 + number % 3, content: `message ${number}`, pub_date: '2024-01-01 00:00:00' }).execute()
  }
})

/** An app as docs/security.md advises it, with or without a limit of the load. */
const app = Fastify({ requestTimeout: 5000, connectionTimeout: 10_000 })
app.undocumented = '@fastify/under-pressure answers as well, and the load is measured'
const noLimit = { config: { pressureHandler: () => {} } }
if (sheds === 'sheds') {
  await app.register(underPressure, {
    maxEventLoopUtilization: 0.95, eventLoopUtilizationMode: 'interval', sampleInterval: 100, retryAfter: 1
  })
}
app.get('/health', noLimit, async () => ({ status: 'ok' }))
await app.register(restModels, { db })
registerSite(app.restModels)
await app.restModels.setup()
const histogram = monitorEventLoopDelay({ resolution: 10 })
histogram.enable()
process.on('message', () => {
  process.send?.({ p99: histogram.percentile(99) / 1e6, max: histogram.max / 1e6 } satisfies LoopDelay)
  histogram.reset()
})
process.send?.(await app.listen({ port: 0, host: '127.0.0.1', backlog: 2048 }))
await once(process, 'disconnect')
await app.close()
await db.destroy()
