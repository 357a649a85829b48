import { createTables } from '../../lib/index.js'
import { openSqlite } from '../../lib/sqlite.js'
import { engine, openUrl } from '../support/database.js'
import { siteModels } from '../support/site.js'

/**
 * Makes the tables of the example project in each database that it is told, and says what came of it; every other
 * process in the opposite order.
 */
const models = process.argv[2] === 'backwards' ? siteModels.toReversed() : siteModels

process.on('message', async (url: string) => {
  try {
    const db = engine === 'sqlite' ? openSqlite(url) : openUrl(url)
    await createTables(db, models)
    await db.insertInto('note').values({ message: String(process.pid) }).execute()
    await db.destroy()
    process.send?.('made')
  } catch (error) {
    process.send?.(String(error))
  }
})
process.send?.('ready')
