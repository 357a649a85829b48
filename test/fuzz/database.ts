import type { Kysely } from 'kysely'
import { openMariadb } from '../../lib/mariadb.js'
import { openPostgres } from '../../lib/postgres.js'
import type { Tables } from '../../lib/engines/executor.js'
import { openSqlite } from '../../lib/sqlite.js'
import { engineNames, findEngine, type EngineName } from '../support/engines/find-engine.js'
import { createDatabase } from '../support/engines/test-database.js'

export const fuzzedEngines = ['sqlite', ...engineNames] as const
export type FuzzedEngine = typeof fuzzedEngines[number]

/** An empty database that is removed afterwards. */
export interface FuzzedDatabase {
  readonly engine: FuzzedEngine
  readonly db: Kysely<Tables>
  drop (): Promise<void>
}

const openers = {
  postgres: openPostgres, mariadb: openMariadb
} as const satisfies Record<EngineName, (url: string) => Kysely<Tables>>

/** @throws if there is no server of the engine */
export async function openFuzzed (engine: FuzzedEngine): Promise<FuzzedDatabase> {
  if (engine === 'sqlite') return { engine, db: openSqlite(':memory:'), drop: async () => {} }
  const found = await findEngine(engine)
  if (found.url === undefined) throw new Error(`${engine}: ${found.why}`)
  const { url, drop } = await createDatabase(found.url)
  return {
    engine,
    db: openers[engine](url),
    drop: async () => {
      await drop()
      await found.stop()
    }
  }
}
