// @long: writes thousands of records until the log is begun anew

import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { sql } from 'kysely'
import { test, type Test } from 'tap'
import { readHandle } from '../../lib/database/engine.js'
import { openSqlite } from '../../lib/sqlite.js'
import { engine } from '../support/database.js'

const onSqlite = { skip: engine !== 'sqlite' && 'servers have no such lock' }
const maxLog = 6 * 2 ** 20

/**
 * A file as the plugin reads and writes it, and another process with the same file, in which a checkpoint waits for
 * nobody.
 */
async function openFile (t: Test) {
  const path = join(t.testdir(), 'words.db')
  const db = openSqlite(path, { durability: 'normal' })
  await sql`create table word (id integer primary key, text text)`.execute(db)
  const other = new Database(path, { timeout: 0 })
  t.teardown(async () => { other.close(); await db.destroy() })
  const statements = {
    count: sql`select count(*) from word`.compile(db),
    login: sql`select text from word`.compile(db),
    add: addLong.compile(db)
  }
  const count = () => readHandle(db, 'reader').executor.readArrays(statements.count, [])
  await turn()
  return {
    path,
    db,
    other,
    count,
    read: (times: number) => { for (let time = 0; time < times; time++) count() },
    login: () => readHandle(db).executor.execute(statements.login),
    write: async () => await readHandle(db).executor.execute(statements.add),
    add: () => other.prepare("insert into word (text) values ('of another process')").run(),
    /** Whether another process cannot begin the log anew, after it has written something. */
    isHeld: () => (other.pragma('wal_checkpoint(restart)') as Array<{ busy: number }>)[0]?.busy === 1
  }
}

type File = Awaited<ReturnType<typeof openFile>>

const long = 'x'.repeat(6000)

/** Takes two pages of the log, with that of the table's root. */
const addLong = sql`insert into word (text) values (${long})`

test('D-99: nothing holds the lock for reading between two statements', onSqlite, async (t) => {
  const { read, login, add, isHeld } = await openFile(t)
  add()
  read(5)
  login()
  t.notOk(isHeld(), 'in the turn of the reads')
  await turn()
  add()
  t.notOk(isHeld(), 'in the next turn')
})

test('D-99: each read sees what another process has committed', onSqlite, async (t) => {
  const { count, read, add } = await openFile(t)
  add()
  read(5)
  for (let words = 2; words <= 5; words++) {
    add()
    t.strictSame(count(), [[words]])
  }
})

/** What one turn does with a file that others read at the same time. */
const ways: Readonly<Record<string, (file: File) => Promise<unknown>>> = {
  'one write': async ({ read, write }) => {
    read(5)
    await write()
  },
  'writes that are committed together': async ({ read, write }) => {
    const written = [write(), write()]
    read(5)
    await Promise.all(written)
  },
  'one write on another connection of this process': async ({ read, other }) => {
    read(5)
    other.prepare('insert into word (text) values (?)').run(long)
  },
  'a transaction of the deployer': async ({ read, db }) => {
    await db.transaction().execute(async (transaction) => {
      read(5)
      await addLong.execute(transaction)
      await turn()
      read(5)
    })
  }
}

for (const [way, act] of Object.entries(ways)) {
  test(`D-99: the log of a file that is read all the time is begun anew by ${way}`, onSqlite, async (t) => {
    const file = await openFile(t)
    for (let number = 0; number < 1000; number++) {
      await act(file)
      await turn()
    }
    const { size } = statSync(`${file.path}-wal`)
    t.ok(size < maxLog, `${size} bytes`)
  })
}

test('D-99: a database that is closed leaves one file', onSqlite, async (t) => {
  const { path, db, other, read, add } = await openFile(t)
  add()
  read(5)
  other.close()
  await db.destroy()
  t.notOk(existsSync(`${path}-wal`))
})
