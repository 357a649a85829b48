// @once: compiles conditions of the servers without one

import { sql, type RawBuilder } from 'kysely'
import { test } from 'tap'
import { mariadbCatalog } from '../../lib/engines/mariadb/catalog.js'
import { mariadbDialect } from '../../lib/engines/mariadb/dialect.js'
import { number } from '../../lib/engines/mariadb/numbers.js'
import { foreignMariadbStorage, mariadbStorage } from '../../lib/engines/mariadb/storage.js'
import { text as mariadbText } from '../../lib/engines/mariadb/texts.js'
import { datetime } from '../../lib/engines/postgres/moments.js'
import { postgresDialect } from '../../lib/engines/postgres/dialect.js'
import { postgresStorage } from '../../lib/engines/postgres/storage.js'
import { defineModel, text } from '../../lib/index.js'
import { lockingSelect } from '../../lib/sql/scoped-statements.js'
import { cacheShapes } from '../../lib/sql/shapes.js'
import { compilers } from '../support/compilers.js'

const column = sql.ref('name')
const onPostgres = (condition: RawBuilder<unknown>) => condition.compile(compilers.postgres)
const onMariadb = (condition: RawBuilder<unknown>) => condition.compile(compilers.mariadb)

test('ilike compares without the case, by each character', (t) => {
  t.match(onPostgres(postgresDialect.ilike(column, 'a%')), { sql: /^lower\(.*"name".*\).* like lower\(.*\$1.*\)/s })
  t.match(onMariadb(mariadbDialect.ilike(column, 'a%')), {
    sql: /^lower\(.*`name`.*\) like lower\(\?\)$/, parameters: ['a%']
  })
  t.end()
})

test('a moment is compared as the whole second that records show', (t) => {
  const column6 = { table: 'x', name: 'x', type: 'timestamp', written: 'timestamp(6) without time zone' }
  const { shown } = datetime.ofType(column6) ?? {}
  const moment = '2024-01-01 00:00:00'
  const written = 'cast($1 as timestamp)'
  const conditions = {
    eq: `"name" >= ${written} and "name" <= cast($2 as timestamp) + interval '0.999999 seconds'`,
    lt: `"name" < ${written}`,
    lte: `"name" <= ${written} + interval '0.999999 seconds'`,
    gt: `"name" > ${written} + interval '0.999999 seconds'`,
    gte: `"name" >= ${written}`
  } as const
  for (const operator of ['eq', 'lt', 'lte', 'gt', 'gte'] as const) {
    t.match(onPostgres(sql`${shown?.(column, operator, [moment])}`).sql, conditions[operator], operator)
  }
  t.end()
})

test('D-185: the version of a row of PostgreSQL is that of its last write, or all of its values in a view', (t) => {
  const { rowVersion } = postgresDialect
  t.equal(onPostgres(sql`${rowVersion?.({ name: 'task', isView: false })}`).sql, '"task"."xmin"')
  t.equal(onPostgres(sql`${rowVersion?.({ name: 'task', isView: true })}`).sql, 'cast(row("task".*) as text)')
  t.end()
})

test('D-129: an integer that no JSON number holds is null, whatever type a driver gives it', (t) => {
  for (const { key, integer } of [postgresStorage, mariadbStorage]) {
    for (const { decode, ofType } of [key, integer]) {
      const values = [42, '42', 42n, '9007199254740991', '9007199254740993', 9007199254740992, -9007199254740993n]
      t.same(values.map((value) => decode(value, {})), [42, 42, 42, 9007199254740991, null, null, null])
      const typesOf = (written: string) => ofType?.({ table: 'x', name: 'x', type: written, written }, {})?.isShown
      t.same([typesOf('integer'), typesOf('bigint') === undefined], [undefined, false])
    }
  }
  const generated = { table: 'x', name: 'x', type: 'bigint', written: 'bigint(20)', generated: 1 }
  t.ok(foreignMariadbStorage.key.ofType?.(generated, {})?.isShown, 'also of a column that the database numbers')
  t.end()
})

test('D-158: on servers the read before a write locks the record', (t) => {
  const model = defineModel('Note', { text: text() })
  const { columns } = model
  const shape = { name: 'note', model, visible: columns, stored: columns, created: columns, owner: undefined }
  const context = { db: compilers.postgres, dialect: postgresDialect, shapes: cacheShapes() }
  t.match(lockingSelect(context, shape, { id: 1, scope: [] }).sql, /^select .* from "note" where .* for update$/)
  t.end()
})

test('D-71: a long decimal of MariaDB has a place in a list of numbers if a double shows all its digits', (t) => {
  const column19 = { table: 'x', name: 'x', type: 'decimal', written: 'decimal(19,4)' }
  const { isWhole } = number.ofType(column19) ?? {}
  t.match(onMariadb(sql`${isWhole?.(column)}`).sql, /^`name` = cast\(.*`name`.* as decimal\(65, 4\)\)$/)
  t.end()
})

test('D-203: the SQL of a filter on an enumeration of PostgreSQL is as long for 1,000 labels as for one', (t) => {
  const sqlFor = (labels: number): string => {
    const written = `enum(${Array.from({ length: labels }, (_label, index) => `'l${index}'`).join()})`
    const column = { table: 'port', name: 'land', type: 'enum', written, named: 'land' }
    const { shown } = postgresStorage.text.ofType(column, {}) ?? {}
    return onPostgres(sql`${shown?.(sql.ref('land'), 'in', ['l0', 'l7'])}`).sql
  }
  t.match(sqlFor(1), 'cast("land" as land) = any(array(')
  t.equal(sqlFor(1000), sqlFor(1))
  t.end()
})

test('D-202: the labels of an enumeration of MariaDB without a character set are selected as texts', (t) => {
  const states = { table: 'x', name: 'x', type: 'enum', written: "enum('banned','ok')" }
  const { select } = mariadbText.ofType({ ...states, collation: 'binary' }, {}) ?? {}
  t.equal(onMariadb(sql`${select?.(column)}`).sql, 'convert(`name` using utf8mb4)')
  t.equal(mariadbText.ofType({ ...states, collation: 'utf8mb4_general_ci' }, {})?.select, undefined)
  t.end()
})

test('a boolean column of MariaDB fits if it holds 0 and 1 alone', (t) => {
  t.match(onMariadb(sql`${mariadbCatalog.fits.boolean?.(column)}`).sql, '`name` in (0, 1)')
  t.end()
})
