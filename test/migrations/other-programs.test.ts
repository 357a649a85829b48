// @once: opens the servers itself, so that coverage counts what only they do

import { sql, type Kysely } from 'kysely'
import { test, type Test } from 'tap'
import type { Tables } from '../../lib/engines/executor.js'
import { createTables, defineModel, foreignKey, key, text } from '../../lib/index.js'
import { openMariadb } from '../../lib/mariadb.js'
import { openPostgres } from '../../lib/postgres.js'
import { writeMigration } from '../../lib/tools.js'
import { requireDatabase } from '../support/engines/lacks.js'

async function made (
  t: Test, engine: 'postgres' | 'mariadb', statements: readonly string[]
): Promise<Kysely<Tables> | undefined> {
  const url = await requireDatabase(t, engine)
  if (url === undefined) return undefined
  const db = engine === 'postgres' ? openPostgres(url) : openMariadb(url)
  t.teardown(async () => { await db.destroy() })
  for (const statement of statements) await sql.raw(statement).execute(db)
  return db
}

test('D-210: PostgreSQL takes a foreign key to an enumeration, and reads materialized views', async (t) => {
  const db = await made(t, 'postgres', [
    "create type state as enum ('open', 'done')",
    'create table stage (id state primary key)',
    'create materialized view stages as select id from stage'
  ])
  if (db === undefined) return
  const Stage = defineModel('Stage', { id: text() })
  const Stages = defineModel('Stages', { id: text() })
  const Task = defineModel('Task', { stage: foreignKey(() => Stage) })
  const { source, differences } = await writeMigration(db, [Task, Stages])
  t.match(source, ".addColumn('stage_id', sql`state`")
  t.strictSame(differences, [])
  await createTables(db, [Task, Stages])
  t.strictSame(await writeMigration(db, [Task, Stages]), { source: undefined, differences: [] })
})

test('D-211: MariaDB takes a foreign key to an int, and none to a table of Aria', async (t) => {
  const db = await made(t, 'mariadb', [
    'create table kind (id int unsigned auto_increment primary key)',
    'create table other (id int auto_increment primary key) engine = aria'
  ])
  if (db === undefined) return
  const Kind = defineModel('Kind', { id: key() })
  const Task = defineModel('Task', { kind: foreignKey(() => Kind) })
  await createTables(db, [Task])
  t.strictSame(await writeMigration(db, [Task]), { source: undefined, differences: [] })
  const Other = defineModel('Other', { id: key() })
  const Wrong = defineModel('Wrong', { other: foreignKey(() => Other) })
  await t.rejects(createTables(db, [Wrong]), {
    code: 'REST_MODELS_TABLE_MISMATCH',
    message: "table 'other' is kept by the storage engine Aria: convert it to InnoDB"
  })
})
