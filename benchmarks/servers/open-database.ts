import { openMariadb } from 'fastify-rest-models/mariadb'
import { openPostgres } from 'fastify-rest-models/postgres'
import { openSqlite } from 'fastify-rest-models/sqlite'
import type { AnyKysely } from 'fastify-rest-models'
import type { Durability } from './serve.js'

const openers: Readonly<Record<string, (url: string, durability: Durability) => AnyKysely>> = {
  sqlite: (url, durability) => openSqlite(url.slice('sqlite:'.length), { durability }),
  postgres: (url) => openPostgres(url),
  postgresql: (url) => openPostgres(url),
  mariadb: (url) => openMariadb(url),
  mysql: (url) => openMariadb(url)
}

/** Opens the database of a URL as the plugin recommends; on SQLite with the durability of the baseline. */
export function openDatabase (url: string, durability: Durability): AnyKysely {
  const open = openers[url.split(':', 1)[0] ?? '']
  if (open === undefined) throw new Error(`No engine for ${url}`)
  return open(url, durability)
}
