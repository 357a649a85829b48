import { rmSync } from 'node:fs'
import type { DatabaseOf, Model } from 'fastify-rest-models'
import { openMariadb } from 'fastify-rest-models/mariadb'
import { openPostgres } from 'fastify-rest-models/postgres'
import { openSqlite } from 'fastify-rest-models/sqlite'
import type { Kysely } from 'kysely'
import type { models } from './models.js'

type SiteTables = DatabaseOf<typeof models>
export type SiteDatabase = Kysely<SiteTables>

/** Functions that open a database, by the scheme of its URL. */
const openers: Readonly<Record<string, <Tables>(url: string) => Kysely<Tables>>> = {
  sqlite: (url) => openSqlite(pathOf(url)),
  postgres: openPostgres,
  postgresql: openPostgres,
  mariadb: openMariadb,
  mysql: openMariadb
}

/** Opens the database of a URL: `sqlite:./site.db`, `sqlite::memory:`, `postgres://…` or `mariadb://…`. */
export function openDatabase<Tables = SiteTables> (url: string): Kysely<Tables> {
  const open = openers[schemeOf(url)]
  if (open === undefined) throw new Error('DATABASE_URL begins with sqlite:, postgres:// or mariadb://, such as sqlite:./site.db')
  return open(url)
}

/** Removes the tables of models from the database of a URL, or the file on SQLite. */
export async function removeTables (url: string, models: readonly Model[]): Promise<void> {
  if (schemeOf(url) === 'sqlite') {
    for (const suffix of ['', '-wal', '-shm']) rmSync(`${pathOf(url)}${suffix}`, { force: true })
    return
  }
  const db = openDatabase(url)
  for (const { table } of [...models].reverse()) await db.schema.dropTable(table).ifExists().execute()
  await db.destroy()
}

function schemeOf (url: string): string {
  return url.split(':', 1)[0] ?? ''
}

function pathOf (url: string): string {
  return url.slice('sqlite:'.length)
}
