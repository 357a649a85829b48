// @once: opens MariaDB itself

import Fastify from 'fastify'
import { sql } from 'kysely'
import { test } from 'tap'
import restModels, { createTables, defineModel, integer } from '../../lib/index.js'
import { openMariadb } from '../../lib/mariadb.js'
import { describeNote } from '../../lib/tooling/introspect/describe-notes.js'
import { introspect } from '../../lib/tooling/introspect/introspect.js'
import { requireDatabase } from '../support/engines/lacks.js'

test('MariaDB: a key of first characters, and a year of two digits, are named with the remedy', async (t) => {
  const at = await requireDatabase(t, 'mariadb')
  if (at === undefined) return
  const db = openMariadb(at)
  t.teardown(async () => { await db.destroy() })
  for (const statement of [
    'create table word (a varchar(200) not null, primary key (a(10)))',
    'create table part (n integer not null, a varchar(200) not null, primary key (n, a(10)))',
    'create table other (a varchar(200) not null, n integer not null, primary key (a(10)), unique (n))',
    'create table wine (id bigint auto_increment primary key, made year(2) not null)',
    "insert into other values ('x', 7)"
  ]) await sql.raw(statement).execute(db)
  const { models, notes } = await introspect(db)
  t.strictSame(notes.map(describeNote), [
    ...['part', 'word'].map((name) => `Table '${name}' is left out: it has a primary key of the first characters of ` +
      'a column, which is no key of a model; add a unique index of whole columns that are never null'),
    "Column 'made' of table 'wine' is left out: it is year(2), for which there is no kind of field; " +
      'change its type to year(4)'
  ])
  t.strictSame(models.map(({ name }) => name), ['Other', 'Wine'])
  const app = Fastify()
  t.teardown(async () => { await app.close() })
  await app.register(restModels, { db })
  for (const model of models.filter(({ name }) => name === 'Other')) app.restModels.register(model)
  await app.restModels.setup()
  t.strictSame((await app.inject('/api/other/7/')).json(), { id: 7, a: 'x' })
  await t.rejects(createTables(db, [defineModel('Wine', { made: integer() })]), {
    message: /field 'made' of model 'Wine' is integer, but column 'made' is year\(2\) in table 'wine'/
  })
})
