// @once: about the file of SQLite
// @alone: is written to all the time
// @long: writes for as long as a backup takes

import { existsSync, mkdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { test } from 'tap'
import { openSqlite } from '../../lib/sqlite.js'
import { blocksOf, checkRestored, follow, startWriting } from './drill.js'

test('D-242: a copy of a SQLite file under writes has every write that was acknowledged before it', async (t) => {
  const cwd = t.testdir()
  const backups = join(cwd, 'backups')
  mkdirSync(backups)
  writeFileSync(join(cwd, 'backup.mjs'), blocksOf('SQLite', 'js')[0] ?? '')
  const [copy, restore] = blocksOf('SQLite', 'sh')
  const shell = { cwd, places: { '/var/backups/site': backups, 'node ': `${process.execPath} ` } }
  const file = join(cwd, 'site.db')
  const writing = await startWriting(t, openSqlite(file))
  await follow(copy, shell)
  await writing.goOn()
  const acknowledged = writing.acknowledged()
  await follow(copy, shell)
  const later = writing.acknowledged()
  t.ok(later.length > acknowledged.length, 'writes went on')
  await writing.goOn()
  t.same(await writing.stop(), [])
  t.notOk(existsSync(join(backups, 'site.db.part')))
  // As a disk that fails leaves it.
  writeFileSync(file, 'damaged')
  writeFileSync(`${file}-wal`, 'damaged')
  await follow(restore, shell)
  await checkRestored(t, openSqlite(file, { check: true }), acknowledged)
})

test('a damaged SQLite file does not replace the copy that is there', async (t) => {
  const cwd = t.testdir()
  writeFileSync(join(cwd, 'backup.mjs'), blocksOf('SQLite', 'js')[0] ?? '')
  const db = openSqlite(join(cwd, 'site.db'))
  await db.schema.createTable('first').addColumn('id', 'integer', (column) => column.primaryKey()).execute()
  await db.schema.createTable('second').addColumn('of', 'integer', (column) => column.references('first.id')).execute()
  await db.destroy()
  const shell = { cwd, places: { '/var/backups/site/': 'copy-of-', 'node ': `${process.execPath} ` } }
  const [copy] = blocksOf('SQLite', 'sh')
  await follow(copy, shell)
  const before = statSync(join(cwd, 'copy-of-site.db')).mtimeMs
  const hand = new Database(join(cwd, 'site.db'))
  hand.pragma('foreign_keys = off')
  hand.exec('insert into second values (7)')
  hand.close()
  await t.rejects(follow(copy, shell), /The copy of site.db is damaged/)
  t.equal(statSync(join(cwd, 'copy-of-site.db')).mtimeMs, before)
})
