import type { Engine } from './engine.js'
import { mariadb } from './mariadb.js'
import { postgres } from './postgres.js'
import { sqlite } from './sqlite.js'

const engines: Readonly<Record<string, (server: string) => Engine>> = {
  'sqlite:': sqlite,
  'postgres:': postgres,
  'postgresql:': postgres,
  'mariadb:': mariadb,
  'mysql:': mariadb
}

/** Opens the engine of DATABASE_URL, on whose server databases may be created; SQLite if it is not set. */
export function openEngine (url = ''): Engine {
  const open = url === '' ? sqlite : engines[URL.canParse(url) ? new URL(url).protocol : '']
  if (open === undefined) throw new Error('DATABASE_URL begins with postgres:// or mariadb://; without it the benchmarks run on SQLite')
  return open(url)
}
