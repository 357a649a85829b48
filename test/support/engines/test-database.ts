import { randomBytes } from 'node:crypto'
import { runSql } from './sql.js'

/** A database of one test file, empty at first. */
export interface TestDatabase {
  readonly name: string
  readonly url: string
  /** Ends the connections that are left, and removes it. */
  drop (): Promise<void>
}

interface Steps {
  create (server: string, name: string): Promise<void>
  drop (server: string, name: string): Promise<void>
}

const postgres: Steps = {
  async create (server, name) {
    await runSql(server, `create database ${name} template template0 encoding 'UTF8' ${await postgresLocale(server)}`)
    await runSql(server, `alter database ${name} set synchronous_commit = off`)
  },
  async drop (server, name) {
    await runSql(server, `drop database if exists ${name} with (force)`)
  }
}

const mariadb: Steps = {
  async create (server, name) {
    // Not the exact collation, which the tables have to ask for.
    await runSql(server, `create database ${name} character set utf8mb4 collate utf8mb4_general_ci`)
  },
  async drop (server, name) {
    // A transaction that was left open would block the drop for a day.
    for (const { id } of await runSql(server, `select id from information_schema.processlist where db = '${name}'`)) {
      await runSql(server, `kill ${Number(id)}`).catch(() => {})
    }
    await runSql(server, `drop database if exists ${name}`)
  }
}

const steps: Readonly<Record<string, Steps>> = {
  'postgres:': postgres, 'postgresql:': postgres, 'mariadb:': mariadb, 'mysql:': mariadb
}

/** Makes a database with a name of its own on a server, which is not changed otherwise. */
export async function createDatabase (serverUrl: string): Promise<TestDatabase> {
  const name = `rest_models_test_${randomBytes(6).toString('hex')}`
  const url = new URL(serverUrl)
  const engine = steps[url.protocol]
  if (engine === undefined) throw new Error(`no engine for '${url.protocol}'`)
  await engine.create(serverUrl, name)
  url.pathname = `/${name}`
  return { name, url: url.href, drop: async () => { await engine.drop(serverUrl, name) } }
}

/**
 * A locale whose order is not that of the bytes, if the server has one: a comparison that forgets its collation shows.
 */
async function postgresLocale (server: string): Promise<string> {
  const [row] = await runSql(server, `
    select case
      when collprovider = 'c' then format('locale %L', collcollate)
      else 'locale_provider icu icu_locale ''en'''
    end as locale
    from pg_collation
    where collprovider = 'c' and collname ~* '\\.utf-?8$'
      or collname = 'en-x-icu' and current_setting('server_version_num')::int >= 150000
    order by collname ~ '^C\\.', collname = 'en_US.utf8' desc, collname
    limit 1`)
  return String(row?.['locale'] ?? '')
}
