import type { Kysely } from 'kysely'
import { createTables, defineModel, text } from '../../lib/index.js'
import type { Tables } from '../../lib/engines/executor.js'
import { openMariadb } from '../../lib/mariadb.js'
import { openPostgres } from '../../lib/postgres.js'
import { openSqlite } from '../../lib/sqlite.js'
import { runSql } from '../support/engines/sql.js'
import { waitFor } from '../support/engines/wait-for.js'
import { Message, siteUsers, User } from '../support/site.js'
import { endWorker, startWorker } from '../support/workers.js'
import { faultsOf, killOnFile } from './example-site.js'
import type { KillSite } from './kill-rounds.js'
import type { Fields } from './ledger.js'

const Outbox = defineModel('Outbox', { topic: text(), body: text() })

const isFile = (url: string): boolean => !/^\w+:/.test(url)

/** Opens a database of this site: a file of SQLite, or the URL of a server. */
export function openOutbox (url: string): Kysely<Tables> {
  if (url.startsWith('postgres:')) return openPostgres(url)
  return url.startsWith('mariadb:') ? openMariadb(url) : openSqlite(url)
}

/**
 * A site whose messages have a hook that adds a row to an outbox, on an empty database. Each look at it compares the
 * messages with what the outbox says of them, and empties the outbox.
 *
 * @param crash  ends the database server, and returns the function that starts it again; otherwise the app is killed
 */
export async function outboxSite (url: string, crash?: () => Promise<() => Promise<void>>): Promise<KillSite> {
  const db = openOutbox(url)
  await createTables(db, [User, Message, Outbox])
  for (const user of await siteUsers() ?? []) await db.insertInto('user').values(user).execute()
  await db.destroy()
  let known: ReadonlyMap<number, Fields> = new Map()
  return {
    start: async (t) => {
      const { child, next } = startWorker<string>(t, 'reliability/outbox-serve.ts', url)
      return { child, address: await next() }
    },
    kill: async (child, load) => {
      if (isFile(url)) return await killOnFile(child, url)
      const restart = await crash?.()
      if (restart !== undefined) await load
      await endWorker(child)
      await restart?.()
      await isLeft(url)
    },
    isServerKilled: crash !== undefined,
    look: async () => {
      const { stored, rows } = await readAndEmpty(url)
      const told = replay(known, rows)
      known = stored
      return { stored, damages: [...differences(stored, told), ...isFile(url) ? faultsOf(url) : []] }
    }
  }
}

/** Waits until a server has ended the connections of an app that was killed: until then it may still commit. */
async function isLeft (url: string): Promise<void> {
  const others = url.startsWith('postgres:')
    ? "select 1 from pg_stat_activity where datname = current_database() and application_name = 'fastify-rest-models'"
    : 'select 1 from information_schema.processlist where db = database() and id <> connection_id()'
  await waitFor('the app has left the server', async () => (await runSql(url, others)).length === 0)
}

interface OutboxRow {
  readonly topic: string
  readonly body: string
}

async function readAndEmpty (url: string): Promise<{
  readonly stored: ReadonlyMap<number, Fields>
  readonly rows: readonly OutboxRow[]
}> {
  const db = openOutbox(url)
  try {
    const messages = await db.selectFrom('message').select(['id', 'content', 'pub_date']).execute()
    const rows = await db.selectFrom('outbox').select(['topic', 'body']).orderBy('id').execute()
    await db.deleteFrom('outbox').execute()
    const stored = messages.map(({ id, content, pub_date: date }) =>
      [Number(id), { content: String(content), pub_date: String(date) }] as const)
    return { stored: new Map(stored), rows: rows as unknown as OutboxRow[] }
  } finally {
    await db.destroy()
  }
}

/** The messages that there must be, if each row of the outbox belongs to a write and each write to a row. */
function replay (known: ReadonlyMap<number, Fields>, rows: readonly OutboxRow[]): ReadonlyMap<number, Fields> {
  const messages = new Map(known)
  for (const { topic, body } of rows) {
    const [id, content, date] = JSON.parse(body) as [number, string, string]
    if (topic === 'delete') messages.delete(id)
    else messages.set(id, { content, pub_date: date })
  }
  return messages
}

function differences (stored: ReadonlyMap<number, Fields>, told: ReadonlyMap<number, Fields>): string[] {
  const shown = (fields: Fields | undefined): string => fields === undefined
    ? 'nothing'
    : `${fields.content.slice(0, 40)} (${fields.content.length} characters) ${fields.pub_date}`
  return [...new Set([...stored.keys(), ...told.keys()])].map((id) => [id, stored.get(id), told.get(id)] as const)
    .filter(([, one, other]) => one?.content !== other?.content || one?.pub_date !== other?.pub_date)
    .map(([id, one, other]) => `message ${id} is ${shown(one)}, its outbox says ${shown(other)}`)
}
