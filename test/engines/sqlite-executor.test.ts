// @once: about one engine, whose driver fails as told

import Database from 'better-sqlite3'
import { CompiledQuery } from 'kysely'
import { test } from 'tap'
import type { Executor, Outcome } from '../../lib/engines/executor.js'
import { ArrayStatement } from '../../lib/engines/sqlite/array-statement.js'
import type { SqliteConnection } from '../../lib/engines/sqlite/connection.js'
import type { GroupCommit } from '../../lib/engines/sqlite/group-commit.js'
import { Events } from '../../lib/events/events.js'
import { SqliteExecutor } from '../../lib/engines/sqlite/sqlite-executor.js'

const query = CompiledQuery.raw('select 1')
const later: Outcome = { row: { answer: 1 }, changed: 0 }

/** An executor whose statements fail with a code, and what it gives to the one that waits. */
function failing (code: string, { isWrite = false } = {}) {
  const fail = (): never => { throw Object.assign(new Error('it failed'), { code }) }
  const waiting: string[] = []
  const queued: Executor = {
    execute: () => {
      waiting.push('execute')
      return later
    },
    readArrays: () => {
      waiting.push('readArrays')
      return [[1]]
    }
  }
  const arrays = { memo: () => ({ statement: { readonly: !isWrite, get: fail, all: fail, run: fail } }) }
  const commits = { execute: async (write: () => Outcome) => write() }
  const executor = new SqliteExecutor(
    { arrays, holders: 0, database: { open: true } } as unknown as SqliteConnection,
    { commits: commits as unknown as GroupCommit, requireFile: () => {}, queued, events: new Events() }
  )
  return { executor, waiting }
}

for (const code of ['SQLITE_SCHEMA', 'SQLITE_BUSY']) {
  test(`D-62: a read that fails with ${code} is read again on the connection that waits`, async (t) => {
    const { executor, waiting } = failing(code)
    t.same([executor.execute(query), executor.readArrays(query, ['answer'])], [later, [[1]]])
    t.same(waiting, ['execute', 'readArrays'])
  })
}

test('D-62: a write that certainly was not executed is executed again, and no other', async (t) => {
  const again = failing('SQLITE_SCHEMA', { isWrite: true })
  t.same(await again.executor.execute(query), later)
  t.same(again.waiting, ['execute'])
  // It has waited for the lock of another process already.
  const locked = failing('SQLITE_BUSY', { isWrite: true })
  await t.rejects(async () => await locked.executor.execute(query), { code: 'REST_MODELS_UNAVAILABLE' })
  t.same(locked.waiting, [])
})

test('a read that fails otherwise fails as it is', (t) => {
  const { executor, waiting } = failing('SQLITE_ERROR')
  t.throws(() => executor.execute(query), { code: 'SQLITE_ERROR' })
  t.throws(() => executor.readArrays(query, ['answer']), { code: 'SQLITE_ERROR' })
  t.same(waiting, [])
  t.end()
})

test('a row of SQLite has its values under the names of its columns, whatever these are', (t) => {
  const database = new Database(':memory:')
  t.teardown(() => { database.close() })
  const columns = '1 as "a b", 2 as "it\'s", 3 as "__proto__", null as "none", 4 as "\u2028", 5 as "same", 6 as "same"'
  const prepared = new ArrayStatement(database.prepare(`select ${columns}`))
  for (const time of ['first', 'second']) {
    const row = prepared.toRow(prepared.statement.get() ?? [])
    const values = [['a b', 1], ["it's", 2], ['__proto__', 3], ['none', null], ['\u2028', 4], ['same', 6]]
    t.same(Object.entries(row), values, `the ${time} time`)
  }
  const write = new ArrayStatement(database.prepare('create table empty (id integer)'))
  t.equal(write.statement.run().changes, 0, 'a statement without rows is prepared, too')
  t.end()
})
