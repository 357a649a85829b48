// @once: the recipe is for SQLite

import Fastify, { type FastifyInstance } from 'fastify'
import { sql, type Kysely } from 'kysely'
import { test, type Test } from 'tap'
import type { Tables } from '../../lib/engines/executor.js'
import restModels, { createTables, defineModel, foreignKey, openAuth, text } from '../../lib/index.js'
import { readPage } from '../documentation/page.js'
import { openDatabase } from '../support/database.js'
import { client } from '../support/site.js'
import { importMigration } from './run-migration.js'

const { content: recipe = '' } = readPage('docs/migrations.md').blocks
  .find(({ content }) => content.startsWith('// migrations/003_longer.mjs')) ?? {}

function modelsOf (maxLength: number) {
  const Note = defineModel('Note', { title: text({ maxLength }) })
  return [Note, defineModel('Mark', { note: foreignKey(() => Note, { onDelete: 'cascade' }) })] as const
}

async function serve (t: Test, db: Kysely<Tables>, maxLength: number): Promise<FastifyInstance> {
  const app = Fastify()
  t.teardown(async () => { await app.close() })
  await app.register(restModels, { db, defaultAuth: openAuth() })
  for (const model of modelsOf(maxLength)) app.restModels.register(model)
  await app.restModels.setup()
  return app
}

async function runRecipe (db: Kysely<Tables>): Promise<void> {
  await (await importMigration(recipe)).up(db)
}

test('D-56: the recipe for a table of SQLite made anew uses no id twice', async (t) => {
  for (const { made, deleted, next } of [
    { made: 3, deleted: [3], next: 4 },
    { made: 2, deleted: [1, 2], next: 3 },
    { made: 2, deleted: [1], next: 3 },
    { made: 0, deleted: [], next: 1 }
  ]) {
    const db = await openDatabase(t)
    await createTables(db, modelsOf(80))
    const before = client(await serve(t, db, 80))
    for (let id = 1; id <= made; id++) await before.post('/api/note/', { title: 'a' })
    for (const id of deleted) await before.delete(`/api/note/${id}/`)
    await runRecipe(db)
    const after = client(await serve(t, db, 200))
    t.equal((await after.post('/api/note/', { title: 'b'.repeat(200) })).json().id, next,
      `after ${made} records, without ${deleted.join(', ')}`)
    await runRecipe(db)
    await after.delete(`/api/note/${next}/`)
    t.equal((await after.post('/api/note/', { title: 'c' })).json().id, next + 1, 'nor does it when it is run again')
  }
})

test('the recipe leaves records that refer to the table, and their foreign key', async (t) => {
  const db = await openDatabase(t)
  await createTables(db, modelsOf(80))
  await sql`insert into note (title) values ('a')`.execute(db)
  await sql`insert into mark (note_id) values (1)`.execute(db)
  await runRecipe(db)
  const { get, delete: remove } = client(await serve(t, db, 200))
  t.same((await get('/api/mark/')).json().objects, [{ id: 1, note_id: 1 }])
  t.equal((await remove('/api/note/1/')).statusCode, 204)
  t.same((await get('/api/mark/')).json().objects, [])
})

test('the recipe takes a table without `autoincrement`, in a database that has no such table', async (t) => {
  const db = await openDatabase(t)
  await sql`create table note (id integer primary key, title text not null check(length("title") <= 80))`.execute(db)
  await sql`insert into note (id, title) values (7, 'a')`.execute(db)
  await runRecipe(db)
  await sql`insert into note (title) values ('b')`.execute(db)
  t.same((await sql`select id, title from note`.execute(db)).rows, [{ id: 7, title: 'a' }, { id: 8, title: 'b' }])
})
