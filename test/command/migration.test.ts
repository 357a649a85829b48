// @once: about the command line; what it writes for each engine is in migrations/

import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { test, type Test } from 'tap'
import { createTables, defineModel, integer, text } from '../../lib/index.js'
import { openSqlite } from '../../lib/sqlite.js'
import { runCommand } from '../../lib/tooling/cli/run.js'

async function run (...words: string[]): Promise<{ code: number, out: string, err: string }> {
  const written = { out: '', err: '' }
  const code = await runCommand(words, {
    out: (text) => { written.out += `${text}\n` },
    err: (text) => { written.err += `${text}\n` },
    interrupted: async () => {}
  })
  return { code, ...written }
}

/** A folder beside the package with a module of models. */
function folderFor (t: Test): { path (name: string): string, models (text: string): string } {
  mkdirSync('.tap', { recursive: true })
  const folder = mkdtempSync(resolve('.tap', 'migration-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  let count = 0
  const path = (name: string): string => join(folder, name)
  return {
    path,
    models: (text) => {
      const file = path(`models${count++}.mjs`)
      writeFileSync(file, `import { defineModel, integer, text } from 'fastify-rest-models'\n${text}`)
      return file
    }
  }
}

const note = "export const Note = defineModel('Note', { title: text(), rank: integer({ nullable: true }) })"

test('migration writes a file, or to standard output, and keeps a file that is there', async (t) => {
  const { path, models } = folderFor(t)
  const file = models(note)
  const shown = await run('migration', file, 'sqlite::memory:')
  t.match(shown, { code: 0, err: '' })
  t.match(shown.out, /^\/\/ Written by fastify-rest-models for SQLite\..*await schema\.createTable\('note'\)/s)
  t.notMatch(shown.out, 'Kysely<any>')
  const output = path('001.ts')
  t.match(await run('migration', file, 'sqlite::memory:', '--output', output), {
    code: 0, out: '', err: `Wrote ${output}\n`
  })
  t.match(readFileSync(output, 'utf8'), 'export async function up (db: Kysely<any>): Promise<void> {')
  writeFileSync(output, 'mine')
  t.match(await run('migration', file, 'sqlite::memory:', '-o', output), {
    code: 2, err: /The file '.*001\.ts' exists already; add --force to replace it/
  })
  t.equal(readFileSync(output, 'utf8'), 'mine')
  t.match(await run('migration', file, 'sqlite::memory:', '-o', output, '--force'), { code: 0 })
  t.match(readFileSync(output, 'utf8'), 'createTable')
  for (const name of ['001.sql', '001.d.ts', '001.d.mts']) {
    t.match(await run('migration', file, 'sqlite::memory:', '-o', path(name)), {
      code: 2, err: /only migrations whose name ends in '\.js', '\.mjs', '\.ts' or '\.mts'/
    }, name)
    t.notOk(existsSync(path(name)))
  }
  t.match(await run('migration', file, 'sqlite::memory:', '-o', path('new/001.js')), { code: 0 })
  t.match(readFileSync(path('new/001.js'), 'utf8'), 'createTable', 'in a folder that was not there')
})

test('D-215: migration writes no file if nothing lacks, and fails if something differs then', async (t) => {
  const { path, models } = folderFor(t)
  const db = openSqlite(path('site.db'))
  await createTables(db, [defineModel('Note', { title: text(), rank: integer({ nullable: true }) })])
  await db.insertInto('note').values({ title: 'one' }).execute()
  await db.destroy()
  const before = readFileSync(path('site.db'))
  const url = `sqlite:${path('site.db')}`
  const output = path('002.mjs')
  t.match(await run('migration', models(note), url, '-o', output), {
    code: 0, out: '', err: 'The database lacks nothing, so no migration is written\n'
  })
  const other = models("export default [defineModel('Note', { title: integer(), rank: integer({ nullable: true }) })]")
  const differing = await run('migration', other, url, '-o', output)
  t.match(differing, { code: 1, out: '', err: /^Left as it is: field 'title' of model 'Note' is integer, but / })
  const required = models(note.replace('title: text()', 'title: text(), body: text()'))
  t.match(await run('migration', required, url, '-o', output), {
    code: 1,
    err: /^error: No migration can be written:\n- field 'body' of model 'Note' is required, but table 'note' has/
  })
  t.notOk(existsSync(output))
  t.same(readFileSync(path('site.db')), before, 'the database is as it was')
})

test('migration says what is wrong with its arguments', async (t) => {
  const { models } = folderFor(t)
  const file = models(note)
  t.match(await run('migration', file), { code: 2, err: /missing required argument 'database-url'/ })
  t.match(await run('migration', 'sqlite:x.db', file), {
    code: 2, err: /migration takes a JavaScript file that exports models, not the URL .*; name the file first/
  })
  t.match(await run('migration', 'nowhere.mjs', 'sqlite::memory:'), { code: 2, err: /There is no file 'nowhere\.mjs'/ })
  t.match(await run('migration', models('export const x = [1, null]'), 'sqlite::memory:'), {
    code: 2, err: /exports no models: export what defineModel\(\) returns/
  })
  t.match(await run('migration', file, 'sqlite:nowhere.db'), { code: 2, err: /'nowhere\.db' does not exist/ })
})
