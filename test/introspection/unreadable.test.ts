import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import { test } from 'tap'
import { errorLog } from '../../lib/tooling/cli/error-log.js'
import { holdsOnly } from '../../lib/tooling/introspect/held-values.js'
import { planKeys } from '../../lib/tooling/introspect/plan-keys.js'
import { readDatabase, type FoundTable } from '../../lib/tooling/introspect/read-database.js'
import { secretColumns } from '../../lib/tooling/introspect/secret-columns.js'
import { readHandle } from '../../lib/database/engine.js'
import { engine, openDatabase } from '../support/database.js'

test('a table that cannot be read is left out, with the reason', async (t) => {
  const db = await openDatabase(t)
  await sql`create table thing (id integer not null primary key, word varchar(9))`.execute(db)
  const [thing] = await readDatabase(db) as readonly [FoundTable]
  await sql`alter table thing drop column word`.execute(db)
  const { keyed, leftOut } = await planKeys(readHandle(db), [thing])
  t.strictSame(keyed, [])
  t.match(leftOut, [{ table: 'thing', why: /^cannot be read: .*word/ }])
})

test('D-93: where an engine has no time to look at the values, the type is believed', async (t) => {
  const handle = readHandle(await openDatabase(t))
  for (const kind of ['integer', 'boolean', 'date'] as const) {
    t.equal(await holdsOnly(handle, { table: 'nothing', name: 'id' }, kind), true)
  }
})

test('D-93: a key of UUIDs, and of what is no text, leaves its table out', {
  skip: engine !== 'sqlite' && 'about SQLite'
}, async (t) => {
  const db = await openDatabase(t)
  await sql`create table thing (id text not null primary key, word text)`.execute(db)
  for (let count = 0; count < 101; count++) await db.insertInto('thing').values({ id: randomUUID() }).execute()
  t.match((await planKeys(readHandle(db), await readDatabase(db))).keyed, [{ key: { kind: 'uuid' } }])
  await sql`insert into thing (id) values (x'00')`.execute(db)
  t.match((await planKeys(readHandle(db), await readDatabase(db))).leftOut, [
    { why: "has a primary key 'id' with values that are not all texts" }
  ])
})

test('secrets are found through foreign keys that name their column, and through those that do not', async (t) => {
  const db = await openDatabase(t)
  await sql`create table badge (token varchar(9) not null primary key, label varchar(9) unique)`.execute(db)
  await sql`create table holder (id integer not null primary key, badge varchar(9) references badge (token),
    label varchar(9) references badge (label))`.execute(db)
  const implied = engine === 'sqlite' ? ['guest.badge'] : []
  if (engine === 'sqlite') {
    await sql`create table guest (id integer not null primary key, badge varchar(9) references badge)`.execute(db)
  }
  t.strictSame([...await secretColumns(db, [])].sort(), ['badge.token', ...implied, 'holder.badge'])
  t.strictSame([...await secretColumns(db, ['badge.token'])], [])
})

test('errors of a server are told without values, whatever was thrown', (t) => {
  const lines: string[] = []
  const { serializers: { err } = {} } = errorLog((line) => { lines.push(line) }) as {
    serializers?: { err?: (error: unknown) => unknown }
  }
  t.match(err?.(Object.assign(new Error('secret', { cause: 'secret' }), { code: 'E1' })), {
    type: 'Error', code: 'E1', cause: { type: 'string' }
  })
  t.notMatch(JSON.stringify(err?.(new Error('secret'))), 'secret')
  t.end()
})
