// @once: connections that only seem to be there

import { sql, type CompiledQuery, type DatabaseConnection, type Kysely } from 'kysely'
import { test } from 'tap'
import { dialects } from '../../lib/database/dialects.js'
import { handleOf, readHandle } from '../../lib/database/engine.js'
import { withHookDatabase } from '../../lib/database/hook-database.js'
import { OpenTransaction } from '../../lib/database/open-transaction.js'
import type { Tables } from '../../lib/engines/executor.js'
import { openSqlite } from '../../lib/sqlite.js'

const db: Kysely<Tables> = openSqlite(':memory:')
const handle = readHandle(db)
const query: CompiledQuery = db.selectFrom('note').selectAll().compile()

const hooked = (engine: typeof handle) => ({ name: 'thing', engine })

function transactionWith (answer: () => Promise<object>, dialect = handle.dialect): OpenTransaction {
  const connection = { executeQuery: answer, streamQuery: () => { throw new Error('no stream') } }
  return new OpenTransaction(connection as unknown as DatabaseConnection, dialect)
}

test('a transaction gives rows as arrays, too', async (t) => {
  const transaction = transactionWith(async () => ({ rows: [{ b: 2, a: 1 }, { a: 3, b: null }] }))
  t.same(await transaction.readArrays(query, ['a', 'b']), [[1, 2], [3, null]])
})

test('a failure of a hook holds no values', async (t) => {
  const duplicate = "Duplicate entry 'secret' for key 'name'"
  const failure = Object.assign(new Error(duplicate), { errno: 1062, code: 'ER_DUP_ENTRY', sqlMessage: duplicate })
  const transaction = transactionWith(async () => { throw failure }, dialects.mariadb)
  await t.rejects(withHookDatabase(hooked(handleOf(db, dialects.mariadb)), transaction, async (hookDb) => {
    await sql`select 1`.execute(hookDb)
  }), { errno: 1062, message: /^((?!secret).)*$/ })
})

test('D-159: a failure that a repetition may cure is passed on as such, any other as it is', async (t) => {
  for (const [code, expected] of [
    ['SQLITE_SCHEMA', { message: 'The statement may be repeated' }],
    ['SQLITE_FULL', { code: 'REST_MODELS_UNAVAILABLE' }],
    ['SQLITE_CONSTRAINT_UNIQUE', { code: 'SQLITE_CONSTRAINT_UNIQUE' }]
  ] as const) {
    const transaction = transactionWith(async () => { throw Object.assign(new Error('no'), { code }) })
    await t.rejects(withHookDatabase(hooked(handle), transaction, async (hookDb) => {
      await sql`select 1`.execute(hookDb).catch(() => {})
    }), expected, code)
  }
})

test('D-292: a failure of a savepoint is told like that of any other statement', async (t) => {
  const transaction = transactionWith(async () => { throw Object.assign(new Error('no'), { code: 'SQLITE_FULL' }) })
  await t.rejects(transaction.inSavepoint(async () => {}), { code: 'REST_MODELS_UNAVAILABLE' })
})
