import Fastify from 'fastify'
import restModels, { openAuth } from '../../lib/index.js'
import { openMariadb } from '../../lib/mariadb.js'
import { openPostgres } from '../../lib/postgres.js'
import { openSqlite } from '../../lib/sqlite.js'
import { Note, registerSite } from '../support/site.js'

const openers = { sqlite: openSqlite, postgres: openPostgres, mariadb: openMariadb }
const [engine = 'sqlite', url = ''] = process.argv.slice(2) as [keyof typeof openers, string]

/**
 * One of several processes that serve the example project on one database, and its notes once more with tags. It says
 * where it listens, and ends with who has started it.
 */
process.once('disconnect', () => process.exit())
const app = Fastify()
await app.register(restModels, { db: openers[engine](url) })
registerSite(app.restModels)
app.restModels.register(Note, { auth: openAuth(), etag: true, path: 'counter' })
await app.restModels.setup()
process.send?.(await app.listen({ port: 0, host: '127.0.0.1' }))
