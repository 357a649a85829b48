import { rmSync } from 'node:fs'
import type { DatabaseOf } from 'fastify-rest-models'
import type { Kysely } from 'kysely'
import { models } from './models.js'

export type SiteDatabase = Kysely<DatabaseOf<typeof models>>

/**
 * Functions that open a database, by the scheme of its URL. Each imports its own engine alone, because the two drivers
 * that are not used would cost 70 ms at start and 7 MiB.
 */
const openers: Readonly<Record<string, (url: string) => Promise<SiteDatabase>>> = {
  sqlite: async (url) => (await import('fastify-rest-models/sqlite')).openSqlite(pathOf(url)),
  postgres: openPostgres,
  postgresql: openPostgres,
  mariadb: openMariadb,
  mysql: openMariadb
}

async function openPostgres (url: string): Promise<SiteDatabase> {
  return (await import('fastify-rest-models/postgres')).openPostgres(url)
}

async function openMariadb (url: string): Promise<SiteDatabase> {
  return (await import('fastify-rest-models/mariadb')).openMariadb(url)
}

/** Opens the database of a URL: `sqlite:./site.db`, `sqlite::memory:`, `postgres://…` or `mariadb://…`. */
export async function openDatabase (url: string): Promise<SiteDatabase> {
  const open = openers[schemeOf(url)]
  if (open === undefined) throw new Error('DATABASE_URL begins with sqlite:, postgres:// or mariadb://, such as sqlite:./site.db')
  return await open(url)
}

/** Removes the tables of the site from the database of a URL, or the file on SQLite. */
export async function removeTables (url: string): Promise<void> {
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
