import type { ChildProcess } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import Database from 'better-sqlite3'
import { startServer } from '../support/process.js'
import { endWorker } from '../support/workers.js'
import type { KillSite } from './kill-rounds.js'
import type { Fields } from './ledger.js'

/** The example app on a file in an empty folder. */
export function exampleSite (folder: string): KillSite {
  const path = join(folder, 'site.db')
  const start: KillSite['start'] = async (t) => await startServer(t, resolve('dist/examples/site/main.js'), {
    cwd: folder, env: { DATABASE_URL: `sqlite:${path}` }
  })
  return {
    start,
    kill: async (child) => { await killOnFile(child, path) },
    isServerKilled: false,
    look: async () => {
      const damages = faultsOf(path)
      const database = new Database(path)
      const rows = database.prepare('select id, content, pub_date from message').all() as Array<Fields &
        { readonly id: number }>
      database.close()
      return { stored: new Map(rows.map(({ id, ...fields }) => [id, fields])), damages }
    }
  }
}

/** Kills an app that has a file open. */
export async function killOnFile (child: ChildProcess, path: string): Promise<void> {
  await endWorker(child)
  if (!existsSync(`${path}-wal`)) throw new Error('The app could clean up, so nothing was tested')
}

/** What SQLite finds wrong with a file. It is opened as the next process does, which recovers it first. */
export function faultsOf (path: string): string[] {
  const database = new Database(path)
  const integrity = database.pragma('integrity_check', { simple: true }) as string
  const dangling = database.pragma('foreign_key_check') as unknown[]
  database.close()
  return [...integrity === 'ok' ? [] : [integrity], ...dangling.map((row) => JSON.stringify(row))]
}
