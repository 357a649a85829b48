import Sqlite from 'better-sqlite3'
import { openSqlite } from 'fastify-rest-models/sqlite'
import { copyFileSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Engine } from './engine.js'

const pathOf = (url: string): string => url.slice('sqlite:'.length)

/** Makes databases as files in a temporary folder, which is removed when this process ends. */
export function sqlite (): Engine {
  const folder = mkdtempSync(join(tmpdir(), 'rest-models-benchmark-'))
  process.once('exit', () => { rmSync(folder, { recursive: true, force: true }) })
  let made = 0
  const next = (): string => join(folder, `${++made}.db`)
  return {
    name: 'sqlite',
    describe: async () => [`SQLite ${versionOfSqlite()} in files on ${tmpdir()}, WAL, \`synchronous = NORMAL\` and foreign keys on both sides`],
    open: (url) => openSqlite(pathOf(url), { durability: 'normal' }),
    create: async () => `sqlite:${next()}`,
    copy: async (url) => {
      const path = next()
      requireWhole(pathOf(url))
      copyFileSync(pathOf(url), path)
      return `sqlite:${path}`
    },
    drop: async (url) => {
      for (const suffix of ['', '-wal', '-shm']) rmSync(`${pathOf(url)}${suffix}`, { force: true })
    }
  }
}

/** Throws if a connection to a file is still open: part of its contents is then in the write-ahead log. */
function requireWhole (path: string): void {
  if ((statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0) throw new Error(`${path} is still open`)
}

function versionOfSqlite (): string {
  const database = new Sqlite(':memory:')
  const version = database.prepare('select sqlite_version()').pluck().get()
  database.close()
  return String(version)
}
