// @once: compiles conditions of the servers without one

import { sql, type RawBuilder } from 'kysely'
import { test } from 'tap'
import { mariadbCatalog } from '../../lib/engines/mariadb/catalog.js'
import { mariadbDialect } from '../../lib/engines/mariadb/dialect.js'
import { number } from '../../lib/engines/mariadb/numbers.js'
import { text } from '../../lib/engines/mariadb/texts.js'
import { datetime } from '../../lib/engines/postgres/moments.js'
import { postgresDialect } from '../../lib/engines/postgres/dialect.js'
import { postgresStorage } from '../../lib/engines/postgres/storage.js'
import { Slot } from '../../lib/engines/storage.js'
import { defineModel, foreignKey, text as textField } from '../../lib/index.js'
import type { ForeignKeyColumn } from '../../lib/model/column.js'
import { listStatement } from '../../lib/sql/list-statement.js'
import { referenceExists } from '../../lib/sql/scoped-statements.js'
import { exactCondition } from '../../lib/sql/selection.js'
import { cacheShapes } from '../../lib/sql/shapes.js'
import { withParameters } from '../../lib/sql/statements.js'
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
  t.equal(onPostgres(sql`${rowVersion?.({ name: 'task', isView: true })}`).sql, 'cast("task" as text)')
  t.end()
})

test('D-71: a long decimal of MariaDB has a place in a list of numbers if a double shows all its digits', (t) => {
  const column19 = { table: 'x', name: 'x', type: 'decimal', written: 'decimal(19,4)' }
  const { isWhole } = number.ofType(column19) ?? {}
  t.match(onMariadb(sql`${isWhole?.(column)}`).sql, /^`name` = cast\(.*`name`.* as decimal\(65, 4\)\)$/)
  t.end()
})

test('D-203: the SQL of a filter on an enumeration of PostgreSQL is as long for 1,000 labels as for one', (t) => {
  const Land = defineModel('Land', { id: textField(), name: textField() })
  const Port = defineModel('Port', { land: foreignKey(() => Land) })
  const { primaryKey: id, columns } = Land
  const label = { operation: 'list', resource: 'land' } as const
  const statements = (labels: number) => {
    const written = `enum(${Array.from({ length: labels }, (_label, index) => `'l${index}'`).join()})`
    const storage = postgresStorage.text.ofType({ table: 'land', name: 'id', type: 'enum', written, named: 'l' }, {})
    const dialect = { ...postgresDialect, storages: new Map([[id, storage ?? postgresStorage.text]]) }
    const context = { db: compilers.postgres, dialect, shapes: cacheShapes() }
    const limits = { count: 1, statementTime: 1, pageBytes: 1 }
    const base = { name: 'land', model: Land, visible: columns, searched: [], keys: ['id', 'name'], long: [], limits }
    return [
      listStatement(context, base, {
        joins: [],
        conditions: [{ alias: 't0', column: id, operator: 'in', values: ['l0', 'l7'] }],
        includes: [],
        search: [],
        ordering: [],
        limit: 1,
        start: 0,
        after: undefined
      }, { deadline: 0, maxRows: 1, maxValueBytes: 9 }),
      referenceExists(context, { column: Port.columns[1] as ForeignKeyColumn, value: 'l7', scope: [] }),
      withParameters(compilers.postgres.selectFrom('land').selectAll()
        .where(exactCondition({ column: id, value: new Slot(0) }, dialect)).compile(), label)('l7'),
      compilers.postgres.selectFrom('land').selectAll()
        .where(exactCondition({ column: id, value: 'l7' }, dialect)).compile()
    ]
  }
  const texts = (labels: number) => statements(labels).map((statement) => statement.sql)
  t.same(texts(1000), texts(1))
  const parameters = (labels: number) => statements(labels).map((statement) =>
    statement.parameters.filter((value) => value === null || String(value).startsWith('l')))
  t.same(parameters(8), [['l0', 'l7', 'l0', 'l7'], ['l7', 'l7'], ['l7', 'l7'], ['l7', 'l7']])
  t.same(parameters(7), [['l0', null, 'l0', 'l7'], [null, 'l7'], [null, 'l7'], [null, 'l7']], 'one that is no label')
  t.end()
})

test('D-202: the labels of an enumeration of MariaDB without a character set are selected as texts', (t) => {
  const states = { table: 'x', name: 'x', type: 'enum', written: "enum('banned','ok')" }
  const { select } = text.ofType({ ...states, collation: 'binary' }, {}) ?? {}
  t.equal(onMariadb(sql`${select?.(column)}`).sql, 'convert(`name` using utf8mb4)')
  t.equal(text.ofType({ ...states, collation: 'utf8mb4_general_ci' }, {})?.select, undefined)
  t.end()
})

test('a boolean column of MariaDB fits if it holds 0 and 1 alone', (t) => {
  t.match(onMariadb(sql`${mariadbCatalog.fits.boolean?.(column)}`).sql, '`name` in (0, 1)')
  t.end()
})

test('a slot takes its value from a list, through its function if it has one', (t) => {
  t.equal(new Slot(1).fill(['a', 'b']), 'b')
  t.equal(new Slot(0, () => null).fill(['a', 'b']), null)
  t.end()
})
