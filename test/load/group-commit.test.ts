import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { once } from 'node:events'
import { connect } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import Database from 'better-sqlite3'
import fc from 'fast-check'
import { test, type Test } from 'tap'
import { createTables, defineModel, text } from '../../lib/index.js'
import { readHandle } from '../../lib/database/engine.js'
import type { Outcome, Row, Tables } from '../../lib/engines/executor.js'
import { GroupCommit } from '../../lib/engines/sqlite/group-commit.js'
import { openSqlite } from '../../lib/sqlite.js'
import { nextTurn, stopClock } from '../support/clock.js'
import { engine } from '../support/database.js'
import { buildApp } from '../support/site.js'

const onSqlite = { skip: engine !== 'sqlite' && 'servers commit for several connections at once by themselves' }
const anybody = {
  open: ['list', 'read', 'create', 'update', 'delete'] as const,
  authenticator: () => async () => null,
  permits: () => false
}

const schema = `
  create table word (id integer primary key, text text not null unique);
  create table mark (id integer primary key, word_id integer references word deferrable initially deferred);
  create trigger word_rollback before insert on word when new.text = 'rollback' begin select raise(rollback, ` +
  `'all is undone'); end;
  create trigger word_abort before insert on word when new.text = 'abort' begin select raise(abort, ` +
  '\'this is undone\'); end'

/**
 * How many transactions were committed to a database since its write-ahead log began: frames that end one tell the size
 * of the database.
 */
function commitsIn (path: string): number {
  const log = readFileSync(`${path}-wal`)
  const [header, frameHeader, page] = [32, 24, log.readUInt32BE(8)]
  const salt = log.readBigUInt64BE(16)
  let commits = 0
  for (let at = header; at + frameHeader + page <= log.length; at += frameHeader + page) {
    if (log.readBigUInt64BE(at + 8) === salt && log.readUInt32BE(at + 4) > 0) commits += 1
  }
  return commits
}

/** A file whose writes are committed in groups, and what another connection sees of it. */
function openFile (t: Test, journal: 'wal' | 'delete' = 'wal') {
  const putForward = stopClock(t)
  const path = join(t.testdir(), 'words.db')
  const [database, other] = [new Database(path, { timeout: 5 }), new Database(path)]
  t.teardown(() => { for (const opened of [database, other]) opened.close() })
  database.pragma(`journal_mode = ${journal}`)
  database.exec(schema)
  let isMoved = false
  const group = new GroupCommit(database, () => {
    if (isMoved) throw Object.assign(new Error('moved'), { code: 'SQLITE_READONLY_DBMOVED' })
  })
  const run = (sql: string, value: unknown) =>
    group.execute((): Outcome => ({ row: undefined, changed: database.prepare(sql).run(value).changes }))
  const add = (word: string) => run('insert into word (text) values (?)', word)
  return {
    database,
    other,
    group,
    run,
    add,
    putForward,
    /** Writes after some milliseconds of work. */
    addSlowly: (word: string, milliseconds: number) => group.execute((): Outcome => {
      putForward(milliseconds)
      return { row: undefined, changed: database.prepare('insert into word (text) values (?)').run(word).changes }
    }),
    move: () => { isMoved = true },
    mark: (word: number) => run('insert into mark (word_id) values (?)', word),
    words: () => other.prepare('select text from word order by id').pluck().all(),
    commits: () => commitsIn(path),
    /** Makes the group expect many writes. */
    crowd: async () => {
      await Promise.all(['first', 'second'].map(async (word) => await add(word)))
      database.exec('delete from word')
      await nextTurn()
    }
  }
}

/** What became of each: how many rows it changed, or the code of its failure. */
async function fates (writes: readonly unknown[]): Promise<unknown[]> {
  const settled = await Promise.allSettled(writes as ReadonlyArray<Promise<Outcome>>)
  return settled.map((result) =>
    result.status === 'fulfilled' ? result.value.changed : (result.reason as { code: string }).code)
}

test('D-98: the writes of a turn are committed together if the last such turn had several', onSqlite, async (t) => {
  const { add, words, commits } = openFile(t)
  const before = commits()
  t.same(
    [add('a'), add('b'), add('c')], Array(3).fill({ row: undefined, changed: 1 }),
    'at once: nobody knows yet that there are several'
  )
  t.equal(commits() - before, 3)
  await nextTurn()
  const writes = ['d', 'e', 'f', 'g', 'h'].map(add)
  t.ok(writes.every((write) => write instanceof Promise))
  t.same(words(), ['a', 'b', 'c'], 'nothing is to be seen of them yet')
  t.same(await fates(writes), [1, 1, 1, 1, 1])
  t.same(words(), [...'abcdefgh'])
  t.equal(commits() - before, 4)
  const alone = add('i')
  t.ok(alone instanceof Promise, 'several were there in the turn before')
  t.same(words(), [...'abcdefgh'])
  await alone
  await nextTurn()
  t.same(add('j'), { row: undefined, changed: 1 }, 'one by itself waits for nobody')
  t.same(words(), [...'abcdefghij'])
})

test('D-98: nobody hears of a write before it is committed', onSqlite, async (t) => {
  const { add, crowd, words } = openFile(t)
  await crowd()
  const seen = ['a', 'b', 'c'].map(async (word) => {
    await add(word)
    return words()
  })
  t.same(await Promise.all(seen), Array(3).fill(['a', 'b', 'c']))
})

test('R-26: a write that a rule refuses is refused alone in a group of writes (D-98)', onSqlite, async (t) => {
  const { add, crowd, words, commits } = openFile(t)
  await crowd()
  const before = commits()
  t.same(await fates(['a', 'b', 'a', 'abort', 'c'].map(add)), [
    1, 1, 'SQLITE_CONSTRAINT_UNIQUE', 'SQLITE_CONSTRAINT_TRIGGER', 1
  ])
  t.same(words(), ['a', 'b', 'c'])
  t.equal(commits() - before, 1)
})

test('D-98: a write that undoes all undoes none but itself, and no other is written twice', onSqlite, async (t) => {
  const { add, crowd, words, commits } = openFile(t)
  await crowd()
  const before = commits()
  t.same(await fates(['a', 'rollback', 'b', 'c', 'a'].map(add)), [
    1, 'SQLITE_CONSTRAINT_TRIGGER', 1, 1, 'SQLITE_CONSTRAINT_UNIQUE'
  ])
  t.same(words(), ['a', 'b', 'c'])
  t.equal(commits() - before, 3, 'one by one')
})

test('D-98: a rule that is looked at when a transaction ends refuses only what breaks it', onSqlite, async (t) => {
  const { database, add, mark, crowd, words } = openFile(t)
  database.pragma('foreign_keys = on')
  await crowd()
  t.same(await fates([add('a'), mark(99), add('b'), mark(1)]), [1, 'SQLITE_CONSTRAINT_FOREIGNKEY', 1, 1])
  t.same(words(), ['a', 'b'])
  t.same(database.prepare('select word_id from mark').pluck().all(), [1])
  t.notOk(database.inTransaction)
})

test('D-98: what does not fit into the file is refused, and what fits is written', onSqlite, async (t) => {
  const { database, add, crowd, words } = openFile(t)
  await crowd()
  database.pragma(`max_page_count = ${Number(database.pragma('page_count', { simple: true })) + 2}`)
  t.same(await fates(['a', 'x'.repeat(100_000), 'b'].map(add)), [1, 'SQLITE_FULL', 1])
  t.same(words(), ['a', 'b'])
})

/** What became of each so far. */
function watch (writes: readonly unknown[]): unknown[] {
  const outcomes: unknown[] = writes.map(() => 'waits')
  for (const [index, write] of writes.entries()) {
    fates([write]).then(([fate]) => { outcomes[index] = fate }, () => {})
  }
  return outcomes
}

test('D-98: while another process writes, all wait in one queue and are then written in order', onSqlite, async (t) => {
  const { other, add, crowd, words, commits } = openFile(t)
  await crowd()
  const before = commits()
  other.exec('begin immediate')
  const writes: unknown[] = [...'abcde'].map(add)
  const outcomes = watch(writes)
  await sleep(50)
  writes.push(...['f', 'g', 'a'].map(add))
  t.same(outcomes, Array(5).fill('waits'))
  await sleep(50)
  other.exec('commit')
  t.same(await fates(writes), [1, 1, 1, 1, 1, 1, 1, 'SQLITE_CONSTRAINT_UNIQUE'])
  t.same(words(), [...'abcdefg'])
  t.equal(commits() - before, 1)
  t.same(await fates([add('h')]), [1], 'as before')
})

test('D-98: a single write waits while another process writes, and so does the next one', onSqlite, async (t) => {
  const { other, add, words } = openFile(t)
  other.exec('begin immediate')
  const one = add('a')
  t.ok(one instanceof Promise)
  await nextTurn()
  await nextTurn()
  const next = add('b')
  t.ok(next instanceof Promise)
  other.exec('commit')
  t.same(await fates([one, next]), [1, 1])
  t.same(words(), ['a', 'b'])
})

for (const journal of ['wal', 'delete'] as const) {
  // What can begin in a file without a write-ahead log that somebody reads cannot be committed.
  const lock = journal === 'wal' ? 'begin immediate' : 'begin; select * from word'

  test(`D-98: journal ${journal}: a write that waits two seconds is refused, later ones not`, onSqlite, async (t) => {
    const { database, other, add, crowd, words, putForward } = openFile(t, journal)
    await crowd()
    other.exec(lock)
    const early = [...'abc'].map(add)
    await nextTurn()
    putForward(1500)
    const late = [...'de'].map(add)
    const outcomes = watch([...early, ...late])
    await sleep(60)
    t.same(outcomes, Array(5).fill('waits'))
    putForward(600)
    await sleep(60)
    t.same(outcomes, [...Array(3).fill('SQLITE_BUSY'), 'waits', 'waits'])
    other.exec('commit')
    t.same(await fates(late), [1, 1])
    t.notOk(database.inTransaction)
    t.same(words(), ['d', 'e'])
  })
}

for (const before of [[], ['first', 'second']]) {
  test(`D-98: writes locked out behind ${before.length} others wait, and none is made twice`, onSqlite, async (t) => {
    const { database, other, add, group, crowd, words } = openFile(t)
    await crowd()
    let calls = 0
    const done = before.map(add)
    const lockOut = group.execute(() => {
      // At first it is one of a group, which a later write undoes.
      if (calls++ === 1) other.exec('begin immediate')
      return { row: undefined, changed: database.prepare("insert into word (text) values ('b')").run().changes }
    })
    const waiting = watch([lockOut, add('a'), add('rollback'), add('c')])
    t.same(await fates(done), before.map(() => 1))
    await sleep(60)
    t.same(waiting, ['waits', 'waits', 'waits', 'waits'])
    other.exec('commit')
    await sleep(60)
    t.same(waiting, [1, 1, 'SQLITE_CONSTRAINT_TRIGGER', 1])
    t.same(words(), [...before, 'b', 'a', 'c'], 'as they came')
  })
}

test('D-98: what still waits for another process when the database is closed is refused', onSqlite, async (t) => {
  const { other, add, crowd, group, words } = openFile(t)
  await crowd()
  other.exec('begin immediate')
  const writes = [...'abc'].map(add)
  group.close()
  t.same(await fates(writes), Array(3).fill('SQLITE_BUSY'))
  other.exec('commit')
  await sleep(60)
  t.same(words(), [])
})

test('D-98: if the file is gone when a group is to be committed, each write fails by itself', onSqlite, async (t) => {
  const { add, crowd, move, commits } = openFile(t)
  await crowd()
  const before = commits()
  const writes = ['a', 'b'].map(add)
  move()
  t.same(await fates(writes), [1, 1], 'these do not look')
  t.equal(commits() - before, 2)
})

test('D-98: a group is written for ten milliseconds or so, then others have their turn', onSqlite, async (t) => {
  const { addSlowly, crowd, words } = openFile(t)
  await crowd()
  const writes = Array.from({ length: 12 }, async (_, number) => await addSlowly(`${number}`, 4))
  const turns: number[] = []
  while (words().length < 12) {
    await nextTurn()
    turns.push(words().length)
  }
  t.ok(turns.every((count, index) => count - (turns[index - 1] ?? 0) <= 4), turns.join())
  t.same(await fates(writes), Array(12).fill(1))
  t.same(words(), Array.from({ length: 12 }, (_, number) => `${number}`), 'in their order')
})

test('D-98: writes that are known to take long are written in their own turn (see D-96)', onSqlite, async (t) => {
  const { addSlowly, crowd, words } = openFile(t)
  await crowd()
  await fates([addSlowly('a', 4), addSlowly('b', 4)])
  await nextTurn()
  const writes = ['c', 'd', 'e', 'f', 'g'].map((word) => addSlowly(word, 4))
  t.ok(words().length >= 5, words().join())
  t.same(await fates(writes), Array(5).fill(1))
  t.same(words(), [...'abcdefg'])
})

test('D-98: nobody overtakes what is left of a group', onSqlite, async (t) => {
  const { add, addSlowly, crowd, words } = openFile(t)
  await crowd()
  const writes: unknown[] = Array.from({ length: 12 }, (_, number) => addSlowly(`${number}`, 4))
  await nextTurn()
  await nextTurn()
  t.ok(words().length < 12, 'some are left, and no others have come')
  writes.push(add('last'))
  t.same(await fates(writes), Array(13).fill(1))
  t.equal(words().at(-1), 'last')
})

const rules = `
  create table w (id integer primary key, text text unique, a text unique on conflict rollback, ` +
  `b text unique on conflict replace, c text unique on conflict ignore,
    d text unique on conflict fail, up integer references w (id));
  create table log (text text);
  create trigger w_log after insert on w begin insert into log values (new.text); end;
  create trigger w_fail after insert on w when new.text = 'f' begin select raise(fail, 'not undone'); end;
  create trigger w_ignore before insert on w when new.text = 'i' begin select raise(ignore); end;
  create trigger w_abort after insert on w when new.text = 'x' begin select raise(abort, 'undone'); end;
  create trigger w_rollback after insert on w when new.text = 'r' begin select raise(rollback, 'all undone'); end`
const statement = fc.oneof(
  fc.constantFrom(...['text', 'a', 'b', 'c', 'd'].map((column) => `insert into w (${column}) values (?) returning *`)),
  fc.constantFrom(
    'update w set text = ? where id = 2 returning *', 'delete from w where text = ? returning *',
    'insert into w (text, up) values (?, 7) returning *'
  )
)
const writesOfTurns = fc.array(
  fc.array(fc.tuple(statement, fc.constantFrom('p', 'q', 'f', 'i', 'x', 'r')), { minLength: 1, maxLength: 8 }),
  { minLength: 1, maxLength: 5 }
)

test('D-98: whatever rules there are, writes committed together do the same as one by one', onSqlite, async (t) => {
  await fc.assert(fc.asyncProperty(writesOfTurns, async (turns) => {
    const [grouped, alone] = [new Database(':memory:'), new Database(':memory:')]
    for (const database of [grouped, alone]) database.exec(rules)
    const group = new GroupCommit(grouped, () => {})
    const write = (database: Database.Database, sql: string, value: string) =>
      (): Outcome => ({ row: database.prepare(sql).all(value)[0] as Row, changed: 0 })
    for (const turnOf of turns) {
      const answers = await Promise.allSettled(turnOf.map(async ([sql, value]) =>
        await group.execute(write(grouped, sql, value))))
      const expected = await Promise.allSettled(turnOf.map(async ([sql, value]) => write(alone, sql, value)()))
      assert.deepEqual(answers.map(told), expected.map(told))
      await nextTurn()
    }
    for (const table of ['w', 'log']) {
      assert.deepEqual(grouped.prepare(`select * from ${table}`).all(), alone.prepare(`select * from ${table}`).all())
    }
    for (const database of [grouped, alone]) database.close()
  }), { numRuns: 300 })
  t.pass('300 of them')
})

function told (result: PromiseSettledResult<Outcome>): unknown {
  return result.status === 'fulfilled' ? result.value.row : String(result.reason)
}

const Word = defineModel('Word', { text: text({ unique: true }) })

/**
 * A file of the plugin's own, as requests write to it when several have come, and what another connection sees of it.
 */
async function openOwn (t: Test) {
  const path = join(t.testdir(), 'site.db')
  const db = openSqlite<Tables>(path)
  await createTables(db, [Word])
  const other = new Database(path, { readonly: true })
  t.teardown(async () => {
    other.close()
    await db.destroy()
  })
  const { executor } = readHandle(db)
  const add = (word: string) => executor.execute(db.insertInto('word').values({ text: word }).compile())
  return { db, path, other, add, words: () => other.prepare('select text from word order by id').pluck().all() }
}

test('D-98: clients that write together are answered, whatever becomes of the others', onSqlite, async (t) => {
  const { db, path, other } = await openOwn(t)
  const { app } = await buildApp(t, {
    models: [], options: { db }, register: (registry) => { registry.register(Word, { auth: anybody }) }
  })
  const { port } = new URL(await app.listen({ host: '127.0.0.1', port: 0 }))
  const sockets = Array.from({ length: 10 }, () => connect(Number(port), '127.0.0.1'))
  t.teardown(() => { for (const socket of sockets) socket.destroy() })
  await Promise.all(sockets.map(async (socket) => await once(socket, 'connect')))
  const isThere = other.prepare('select count(*) from word where text = ?').pluck()
  const before = commitsIn(path)
  const rounds = 20
  for (let round = 0; round < rounds; round++) {
    const answers = sockets.map(async (socket, index) => {
      const word = index < 8 ? `${round} ${index}` : `${round} twice`
      const body = JSON.stringify({ text: word })
      socket.write('POST /api/word/ HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: ' +
        `${body.length}\r\n\r\n${body}`)
      const [answer] = await once(socket, 'data') as [Buffer]
      t.equal(isThere.get(word), 1)
      return answer.toString().slice(9, 12)
    })
    const statuses = await Promise.all(answers)
    t.same(statuses.slice(0, 8), Array(8).fill('201'))
    t.same(statuses.slice(8).sort(), ['201', '409'])
  }
  const commits = commitsIn(path) - before
  t.ok(commits < rounds * 9 / 2, `${commits} transactions for ${rounds * 9} records`)
})

test('D-98: a transaction of the deployer waits for the queued writes, and undoes none', onSqlite, async (t) => {
  const { db, add, words } = await openOwn(t)
  await fates([add('a'), add('b')])
  await nextTurn()
  const writes = ['c', 'd'].map(add)
  t.ok(writes.every((write) => write instanceof Promise))
  const rolledBack = db.transaction().execute(async (transaction) => {
    await transaction.insertInto('word').values({ text: 'of the deployer' }).execute()
    await nextTurn()
    throw new Error('rolled back')
  })
  await t.rejects(rolledBack, { message: 'rolled back' })
  t.same(await fates(writes), [1, 1])
  t.same(words(), ['a', 'b', 'c', 'd'])
})

test('D-98: a transaction of the deployer begins behind writes that await another process', onSqlite, async (t) => {
  const { db, path, add, words } = await openOwn(t)
  await fates([add('a'), add('b')])
  const locker = new Database(path)
  locker.exec('begin immediate')
  const writes = ['c', 'd'].map(add)
  const own = db.insertInto('word').values({ text: 'of the deployer' }).execute()
  await sleep(60)
  locker.exec('commit')
  locker.close()
  t.same(await fates(writes), [1, 1])
  await own
  t.same(words(), ['a', 'b', 'c', 'd', 'of the deployer'])
})

test('D-98: what waits when the database is closed is written', onSqlite, async (t) => {
  const { db, add, words } = await openOwn(t)
  await fates([add('a'), add('b')])
  await nextTurn()
  const writes = ['c', 'd'].map(add)
  t.ok(writes.every((write) => write instanceof Promise))
  await db.destroy()
  t.same(await fates(writes), [1, 1])
  t.same(words(), ['a', 'b', 'c', 'd'])
})
