import type { AnyKysely } from 'fastify-rest-models'
import type { Durability } from './serve.js'

/** Functions that open a database, by the scheme of its URL. As by hand, only the driver that is used is loaded. */
const openers: Readonly<Record<string, (url: string, durability: Durability) => Promise<AnyKysely>>> = {
  sqlite: async (url, durability) => (await import('fastify-rest-models/sqlite')).openSqlite(url.slice('sqlite:'.length), { durability }),
  postgres: openPostgres,
  postgresql: openPostgres,
  mariadb: openMariadb,
  mysql: openMariadb
}

async function openPostgres (url: string): Promise<AnyKysely> {
  return (await import('fastify-rest-models/postgres')).openPostgres(url)
}

async function openMariadb (url: string): Promise<AnyKysely> {
  return (await import('fastify-rest-models/mariadb')).openMariadb(url)
}

/** Opens the database of a URL as the plugin recommends; on SQLite with the durability of the baseline. */
export async function openDatabase (url: string, durability: Durability): Promise<AnyKysely> {
  const open = openers[url.split(':', 1)[0] ?? '']
  if (open === undefined) throw new Error(`No engine for ${url}`)
  return await open(url, durability)
}
