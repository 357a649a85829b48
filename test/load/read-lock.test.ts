import { existsSync, statSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate } from 'node:timers'
import { setImmediate as turn } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { sql } from 'kysely'
import { test, type Test } from 'tap'
import { readHandle } from '../../lib/database/engine.js'
import { openSqlite } from '../../lib/sqlite.js'
import { engine } from '../support/database.js'

const onSqlite = { skip: engine !== 'sqlite' && 'servers have no such lock' }
const maxLog = 6 * 2 ** 20

/** A file as the plugin reads and writes it, and another process with the same file, in which a checkpoint waits for nobody. */
async function openFile (t: Test) {
  const path = join(t.testdir(), 'words.db')
  const db = openSqlite(path, { durability: 'normal' })
  await sql`create table word (id integer primary key, text text)`.execute(db)
  const other = new Database(path, { timeout: 0 })
  t.teardown(async () => { other.close(); await db.destroy() })
  const statements = { count: sql`select count(*) from word`.compile(db), login: sql`select text from word`.compile(db), add: addLong.compile(db) }
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
    /** What nobody has looked at yet of the log is gone, in which there is something. */
    damage: () => { truncateSync(`${path}-wal`) },
    add: () => other.prepare("insert into word (text) values ('of another process')").run(),
    /** Whether another process cannot begin the log anew, after it has written something. */
    isHeld: () => (other.pragma('wal_checkpoint(restart)') as Array<{ busy: number }>)[0]?.busy === 1
  }
}

type File = Awaited<ReturnType<typeof openFile>>

const long = 'x'.repeat(6000)

/** Takes two pages of the log, with that of the table's root. */
const addLong = sql`insert into word (text) values (${long})`

test('D-99: the lock for reading is kept from the fourth read of a turn until the turn ends', onSqlite, async (t) => {
  const { read, login, add, isHeld } = await openFile(t)
  add()
  read(3)
  t.notOk(isHeld(), 'of three reads')
  add()
  login()
  t.ok(isHeld(), 'reads on the other connection count as well')
  await turn()
  t.notOk(isHeld(), 'in the next turn')
  add()
  read(3)
  t.notOk(isHeld(), 'which counts anew')
})

test('D-99: it is not kept in one of eight turns with many reads', onSqlite, async (t) => {
  const { read, add, isHeld } = await openFile(t)
  const kept: boolean[] = []
  for (let number = 1; number <= 16; number++) {
    add()
    read(4)
    kept.push(isHeld())
    await turn()
  }
  t.strictSame(kept.flatMap((is, index) => is ? [] : [index + 1]), [8, 16])
})

test('D-99: who reads while it is kept sees what another process has committed', onSqlite, async (t) => {
  const { count, read, add, isHeld } = await openFile(t)
  add()
  read(5)
  t.ok(isHeld())
  for (let words = 2; words <= 5; words++) {
    add()
    t.strictSame(count(), [[words]])
  }
  t.ok(isHeld())
})

/** What ends the lock within a turn, in which four reads have come. */
const writes: Readonly<Record<string, (file: File) => Promise<unknown>>> = {
  'a write of the plugin': async ({ read, write }) => {
    read(4)
    await write()
  },
  'a write of the deployer': async ({ read, db }) => {
    read(4)
    await addLong.execute(db)
  },
  'a commit of the deployer': async ({ read, db }) => {
    await db.transaction().execute(async (transaction) => {
      await addLong.execute(transaction)
      await turn()
      read(4)
    })
  }
}

for (const [name, write] of Object.entries(writes)) {
  test(`D-99: it is given up before ${name}`, onSqlite, async (t) => {
    const file = await openFile(t)
    file.add()
    let isTurnOver = false
    await write({ ...file, read: (times) => { file.read(times); setImmediate(() => { isTurnOver = true }) } })
    t.notOk(isTurnOver, 'the turn goes on')
    t.notOk(file.isHeld())
  })
}

test('D-99: it is not kept from the start', onSqlite, async (t) => {
  const { path, add, isHeld } = await openFile(t)
  const db = openSqlite(path)
  t.teardown(async () => { await db.destroy() })
  add()
  t.notOk(isHeld())
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

test('D-99: where it cannot be taken, who reads goes without, and nothing fails but what needs the damaged pages', onSqlite, async (t) => {
  const { db, read, write, add, damage } = await openFile(t)
  add()
  read(3)
  damage()
  read(5)
  await turn()
  read(5)
  await t.rejects(write(), { code: /^SQLITE_/ })
  await turn()
  read(5)
  await t.resolves(db.destroy())
})

test('D-99: a database that is closed while it is kept leaves one file', onSqlite, async (t) => {
  const { path, db, other, read, add, isHeld } = await openFile(t)
  add()
  read(5)
  t.ok(isHeld())
  other.close()
  const closed = db.destroy()
  await turn()
  await closed
  t.notOk(existsSync(`${path}-wal`))
})
