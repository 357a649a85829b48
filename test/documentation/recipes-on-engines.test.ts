import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { Migrator, sql, type Kysely } from 'kysely'
import { test } from 'tap'
import { createTables, defineModel, text, type Model } from '../../lib/index.js'
import type { Tables } from '../../lib/engines/executor.js'
import { engine, openDatabase } from '../support/database.js'
import { readPage } from './page.js'
import { startServer } from '../support/process.js'

/** What the recipes say of migrations and of the end of a process. Their programs run in pages-on-engines.test.ts. */

const recipes = readPage('docs/recipes.md')

const Note: Model = defineModel('Note', { message: text() })

function migrate (db: Kysely<Tables>, up: (db: Kysely<Tables>) => Promise<void>) {
  return new Migrator({ db, provider: { getMigrations: async () => ({ only: { up } }) } }).migrateToLatest()
}

async function hasNote (db: Kysely<Tables>): Promise<boolean> {
  return await db.selectFrom('note').selectAll().execute().then(() => true, () => false)
}

test('createTables has no place in a migration: Kysely refuses it where migrations run in a transaction', async (t) => {
  const db = await openDatabase(t)
  const { error } = await migrate(db, async (given) => await createTables(given, [Note]))
  t.match(error, engine === 'postgres' ? /not supported/ : undefined)
  t.equal(await hasNote(db), engine !== 'postgres')
})

test('a migration that fails leaves what it has done on SQLite and MariaDB, and nothing on PostgreSQL', async (t) => {
  const db = await openDatabase(t)
  const { error } = await migrate(db, async (given) => {
    await sql`create table note (id integer)`.execute(given)
    throw new Error('later')
  })
  t.match(error, { message: 'later' })
  t.equal(await hasNote(db), engine !== 'postgres')
})

if (engine === 'sqlite') {
  test("the recipe 'Graceful shutdown' ends with code 0 after its database is closed", async (t) => {
    const folder = mkdtempSync(join(resolve('dist'), 'page-'))
    t.teardown(() => rmSync(folder, { recursive: true }))
    const program = recipes.blocks.find(({ section, language }) => section === 'Graceful shutdown' && language === 'js')
    writeFileSync(join(folder, 'site.mjs'), String(program?.content))
    const { address, stop, output } = await startServer(t, 'site.mjs', { cwd: folder })
    t.equal((await fetch(`${address}/api/note/`)).status, 200)
    t.equal(await stop(), 0)
    t.match(output(), '"msg":"database closed"')
  })
}
