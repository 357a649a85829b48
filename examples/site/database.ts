import { rmSync } from 'node:fs'
import type { DatabaseOf, Model } from 'fastify-rest-models'
import type { Kysely } from 'kysely'
import type { models } from './models.js'

type SiteTables = DatabaseOf<typeof models>
export type SiteDatabase = Kysely<SiteTables>

/**
 * Functions that open a database, by the scheme of its URL. Each imports its own engine alone, because the two drivers
 * that are not used would cost 70 ms at start and 7 MiB.
 */
const openers: Readonly<Record<string, <Tables>(url: string) => Promise<Kysely<Tables>>>> = {
  sqlite: async (url) => (await import('fastify-rest-models/sqlite')).openSqlite(pathOf(url)),
  postgres: openPostgres,
  postgresql: openPostgres,
  mariadb: openMariadb,
  mysql: openMariadb
}

async function openPostgres<Tables> (url: string): Promise<Kysely<Tables>> {
  return (await import('fastify-rest-models/postgres')).openPostgres(url)
}

async function openMariadb<Tables> (url: string): Promise<Kysely<Tables>> {
  return (await import('fastify-rest-models/mariadb')).openMariadb(url)
}

/** Opens the database of a URL: `sqlite:./site.db`, `sqlite::memory:`, `postgres://…` or `mariadb://…`. */
export async function openDatabase<Tables = SiteTables> (url: string): Promise<Kysely<Tables>> {
  const open = openers[schemeOf(url)]
  if (open === undefined) throw new Error('DATABASE_URL begins with sqlite:, postgres:// or mariadb://, such as sqlite:./site.db')
  return await open(url)
}

/** Removes the tables of models from the database of a URL, or the file on SQLite. */
export async function removeTables (url: string, models: readonly Model[]): Promise<void> {
  if (schemeOf(url) === 'sqlite') {
    for (const suffix of ['', '-wal', '-shm']) rmSync(`${pathOf(url)}${suffix}`, { force: true })
    return
  }
  const db = await openDatabase(url)
  for (const { table } of [...models].reverse()) await db.schema.dropTable(table).ifExists().execute()
  await db.destroy()
}

function schemeOf (url: string): string {
  return url.split(':', 1)[0] ?? ''
}

function pathOf (url: string): string {
  return url.slice('sqlite:'.length)
}
