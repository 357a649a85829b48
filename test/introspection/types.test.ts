// @once: about names of types and words of plans

import { test } from 'tap'
import { dialects } from '../../lib/database/dialects.js'
import { readType } from '../../lib/engines/catalog.js'
import { mariadbPlans } from '../../lib/engines/mariadb/plans.js'
import { postgresPlans } from '../../lib/engines/postgres/plans.js'

test('types that hold more than a field become the next larger one, and what is lost is said', (t) => {
  const describe = (dialect: keyof typeof dialects, name: string, written: string) =>
    dialects[dialect].catalog.types[name]?.(readType(name, written))
  t.match(describe('mariadb', 'int', 'int(10) unsigned'), { kind: 'bigint' })
  t.match(describe('mariadb', 'int', 'int(11)'), { kind: 'integer' })
  t.match(describe('mariadb', 'tinyint', 'tinyint(1)'), { kind: 'boolean' })
  t.match(describe('mariadb', 'tinyint', 'tinyint(1) unsigned'), { kind: 'integer' })
  t.match(describe('mariadb', 'tinyint', 'tinyint(4)'), { kind: 'integer' })
  t.match(describe('mariadb', 'longtext', 'json'), { kind: 'json' })
  t.match(describe('mariadb', 'longtext', 'longtext'), { kind: 'text', options: {} })
  t.strictSame(describe('mariadb', 'tinytext', 'tinytext'), { kind: 'text', options: { maxLength: 255 } })
  t.strictSame(describe('mariadb', 'text', 'text'), { kind: 'text', options: { maxLength: 65_535 } })
  t.strictSame(describe('mariadb', 'mediumtext', 'mediumtext'), { kind: 'text', options: {} })
  t.match(describe('postgres', 'numeric', 'numeric(15,15)'), { kind: 'decimal', options: { precision: 15, scale: 15 } })
  for (const written of ['numeric', 'numeric(16,2)', 'numeric(3,-2)', 'numeric(2,5)']) {
    t.match(describe('postgres', 'numeric', written), {
      kind: 'number', loss: `is ${written}, of which 15 digits are exact`
    })
  }
  t.match(describe('sqlite', 'nvarchar', 'NVARCHAR(160)'), { kind: 'text', options: { maxLength: 160 } })
  t.end()
})

test('a plan of PostgreSQL is read in its nodes, as a value or as text', (t) => {
  const bitmap = [{
    Plan: {
      'Node Type': 'Limit',
      Plans: [{ 'Node Type': 'Bitmap Heap Scan', Alias: 't0', 'Recheck Cond': "(title = 'x'::text)" }]
    }
  }]
  for (const plan of [bitmap, JSON.stringify(bitmap)]) {
    t.ok(postgresPlans.seeks([{ 'QUERY PLAN': plan }], { alias: 't0', table: 'x', name: 'title' }))
    t.notOk(postgresPlans.seeks([{ 'QUERY PLAN': plan }], { alias: 't0', table: 'x', name: 'titl' }))
    t.notOk(postgresPlans.seeks([{ 'QUERY PLAN': plan }], { alias: 't1', table: 'x', name: 'title' }))
    t.notOk(postgresPlans.sorts([{ 'QUERY PLAN': plan }]))
  }
  t.ok(postgresPlans.sorts([{ 'QUERY PLAN': [{ Plan: { 'Node Type': 'Sort' } }] }]))
  t.end()
})

test('a plan of MariaDB is read in its rows', (t) => {
  const column = { alias: 't0', table: 'x', name: 'title' }
  t.ok(mariadbPlans.seeks([{ table: 't0', possible_keys: 'PRIMARY,title', Extra: '' }], column))
  t.notOk(mariadbPlans.seeks([{ table: 't0', possible_keys: 'PRIMARY', Extra: null }], column))
  t.notOk(mariadbPlans.seeks([{ table: 't1', possible_keys: 'title', Extra: '' }], column))
  t.notOk(mariadbPlans.seeks([{ table: 't0', possible_keys: null, Extra: '' }], column))
  t.ok(mariadbPlans.seeks(
    [{ table: null, possible_keys: null, Extra: 'Impossible WHERE noticed after reading const tables' }], column
  ))
  t.ok(mariadbPlans.sorts([{ Extra: 'Using where; Using filesort' }]))
  t.notOk(mariadbPlans.sorts([{ Extra: 'Using index' }]))
  t.end()
})
