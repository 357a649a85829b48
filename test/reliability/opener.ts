import { createTables } from '../../lib/index.js'
import { openSqlite } from '../../lib/sqlite.js'
import { siteModels } from '../support/site.js'

/** Opens each database that it is told, makes the tables, and says what came of it. */
process.on('message', async (path: string) => {
  try {
    const db = openSqlite(path)
    await createTables(db, siteModels)
    await db.insertInto('note').values({ message: String(process.pid) }).execute()
    await db.destroy()
    process.send?.('opened')
  } catch (error) {
    process.send?.(String(error))
  }
})
process.send?.('ready')
