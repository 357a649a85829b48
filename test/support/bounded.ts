import type { Kysely } from 'kysely'
import type { Test } from 'tap'
import { createTables } from '../../lib/index.js'
import type { ServerOptions } from '../../lib/engines/server/server-options.js'
import type { Tables } from '../../lib/engines/executor.js'
import { emptyDatabase, openUrl } from './database.js'
import { insert, siteModels, siteUsers, type Rows } from './site.js'

/** A database on a server with the example project's tables and users, and two handles on it. */
export interface BoundedSite {
  /** For an app: with connections and times as given. */
  readonly bounded: Kysely<Tables>
  /** For everybody else. */
  readonly db: Kysely<Tables>
}

/**
 * The example project's database with these rows, for an app with few connections, or with little time for a statement.
 */
export async function boundedSite (t: Test, rows: Rows, options: ServerOptions): Promise<BoundedSite> {
  const { url, open, remove } = await emptyDatabase()
  const db = open()
  const bounded = openUrl(url, options)
  t.teardown(async () => {
    await Promise.all([db.destroy(), bounded.destroy()])
    await remove()
  })
  await createTables(db, siteModels)
  await insert(db, { user: await siteUsers(), ...rows })
  return { bounded, db }
}
