import { openMariadb } from 'fastify-rest-models/mariadb'
import { openPostgres } from 'fastify-rest-models/postgres'
import { openSqlite } from 'fastify-rest-models/sqlite'
import type { AnyKysely } from 'fastify-rest-models'

const openers: Readonly<Record<string, (url: string) => AnyKysely>> = {
  sqlite: (url) => openSqlite(url.slice('sqlite:'.length), { durability: 'normal' }),
  postgres: openPostgres,
  postgresql: openPostgres,
  mariadb: openMariadb,
  mysql: openMariadb
}

/** The database of a URL, opened the way the plugin recommends; on SQLite with the durability that the baseline has. */
export function openDatabase (url: string): AnyKysely {
  const open = openers[url.split(':', 1)[0] ?? '']
  if (open === undefined) throw new Error(`No engine for ${url}`)
  return open(url)
}
