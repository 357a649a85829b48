import type { DatabaseOf } from 'fastify-rest-models'
import { openSqlite } from 'fastify-rest-models/sqlite'
import type { Kysely } from 'kysely'
import type { models } from './models.js'

export type SiteDatabase = Kysely<DatabaseOf<typeof models>>

/** The file of a `sqlite:` URL, or `:memory:`. */
export function sqlitePath (url: string): string {
  if (url.startsWith('sqlite:')) return url.slice('sqlite:'.length)
  const scheme = /^[a-z]+:/i.exec(url)?.[0] ?? 'no scheme'
  throw new Error(`DATABASE_URL has ${scheme}, but this version runs on SQLite: use sqlite:./path.db or sqlite::memory:`)
}

/** Opens the database of a URL such as `sqlite:./site.db` or `sqlite::memory:`. */
export function openDatabase (url: string): SiteDatabase {
  return openSqlite(sqlitePath(url))
}
