import fp from 'fastify-plugin'
import restModels, { createTables } from '../../../../lib/index.js'
import { openSqlite } from '../../../../lib/sqlite.js'
import { insert, siteModels, siteUsers } from '../../../support/site.js'
import { rows } from '../../working.js'

export default fp(async (app) => {
  const db = openSqlite(':memory:')
  app.addHook('onClose', async () => { await db.destroy() })
  await createTables(db, siteModels)
  await insert(db, { user: await siteUsers(), ...rows })
  await app.register(restModels, { db })
})
