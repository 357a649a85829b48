// @once: about names of types and words of plans

import assert from 'node:assert/strict'
import fc from 'fast-check'
import { sql, type Expression, type RawBuilder } from 'kysely'
import { test } from 'tap'
import { dialects } from '../../lib/database/dialects.js'
import { describedAs } from '../../lib/engines/described-types.js'
import type { Dialect } from '../../lib/engines/dialect.js'
import { mariadbPlans } from '../../lib/engines/mariadb/plans.js'
import { postgresPlans } from '../../lib/engines/postgres/plans.js'
import { asSingle } from '../../lib/engines/single.js'
import { exactNumber, type StorageName } from '../../lib/engines/storage.js'
import { openSqlite } from '../../lib/sqlite.js'
import type { FieldOptions } from '../../lib/values/field-options.js'
import { holds } from '../properties/holds.js'

test('types that hold more than a field become the next larger one, and what is lost is said', (t) => {
  const describe = (dialect: keyof typeof dialects, type: string, written: string) =>
    describedAs(dialects[dialect].catalog, { type, written })
  t.match(describe('mariadb', 'int', 'int(10) unsigned'), { kind: 'bigint' })
  t.match(describe('mariadb', 'int', 'int(11)'), { kind: 'integer' })
  t.match(describe('mariadb', 'tinyint', 'tinyint(1)'), { kind: 'boolean' })
  t.match(describe('mariadb', 'tinyint', 'tinyint(1) unsigned'), { kind: 'integer' })
  t.match(describe('mariadb', 'tinyint', 'tinyint(4)'), { kind: 'integer' })
  t.match(describe('mariadb', 'longtext', 'json'), { kind: 'json' })
  t.match(describe('mariadb', 'bit', 'bit(1)'), { kind: 'boolean' })
  t.equal(describe('mariadb', 'bit', 'bit(8)'), undefined)
  t.match(describe('mariadb', 'set', "set('a','b')"), { kind: 'text' })
  for (const [name, written] of [['enum', "enum('?','b')"], ['set', "set('?','b')"]] as const) {
    t.match(describe('mariadb', name, written), { kind: 'text', options: {}, loss: `is ${written}, where '?' may` })
  }
  t.strictSame(
    describe('mariadb', 'enum', "enum('a','it''s','a\\\\b','')"),
    { kind: 'text', options: { enum: ['a', "it's", 'a\\b', ''] } }
  )
  t.equal(describe('postgres', 'enum', 'enum()'), undefined)
  t.strictSame(describe('postgres', 'inet', 'inet'), { kind: 'text', options: { maxLength: 43 } })
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
      Plans: [{
        'Node Type': 'Bitmap Heap Scan',
        Alias: 't0',
        'Recheck Cond': "(title = 'x'::text)",
        Plans: [{ 'Node Type': 'Bitmap Index Scan', 'Index Cond': "(title = 'x'::text)" }]
      }]
    }
  }]
  for (const plan of [bitmap, JSON.stringify(bitmap)]) {
    t.ok(postgresPlans.seeks([{ 'QUERY PLAN': plan }], { alias: 't0', table: 'x', name: 'title' }))
    t.notOk(postgresPlans.seeks([{ 'QUERY PLAN': plan }], { alias: 't0', table: 'x', name: 'titl' }))
    t.notOk(postgresPlans.seeks([{ 'QUERY PLAN': plan }], { alias: 't1', table: 'x', name: 'title' }))
    t.notOk(postgresPlans.sorts([{ 'QUERY PLAN': plan }]))
    t.notOk(postgresPlans.scans([{ 'QUERY PLAN': plan }], 't0'))
  }
  t.ok(postgresPlans.sorts([{ 'QUERY PLAN': [{ Plan: { 'Node Type': 'Sort' } }] }]))
  t.ok(postgresPlans.scans([{ 'QUERY PLAN': [{ Plan: { 'Node Type': 'Seq Scan', Alias: 'i1' } }] }], 'i1'))
  t.end()
})

test('a plan of MariaDB is read in its rows', (t) => {
  const column = { alias: 't0', table: 'x', name: 'title' }
  t.ok(mariadbPlans.seeks([{ table: 't0', possible_keys: 'PRIMARY,title', Extra: '' }], column))
  t.notOk(mariadbPlans.seeks([{ table: 't0', possible_keys: 'PRIMARY', Extra: null }], column))
  for (const [key, ref, isSought] of [
    ['PRIMARY', 'const', true], ['PRIMARY', 'site.t1.user_id', false], ['user_id', 'const', false]
  ] as const) {
    t.equal(mariadbPlans.seeks([{ table: 't0', possible_keys: 'PRIMARY', key, ref, Extra: '' }], column), isSought)
  }
  t.notOk(mariadbPlans.seeks([{ table: 't1', possible_keys: 'title', Extra: '' }], column))
  t.notOk(mariadbPlans.seeks([{ table: 't0', possible_keys: null, Extra: '' }], column))
  t.ok(mariadbPlans.seeks(
    [{ table: null, possible_keys: null, Extra: 'Impossible WHERE noticed after reading const tables' }], column
  ))
  t.ok(mariadbPlans.scans([{ table: 'i1', type: 'ALL', Extra: '' }], 'i1'))
  t.notOk(mariadbPlans.scans([{ table: 'i1', type: 'eq_ref', Extra: '' }], 'i1'))
  t.ok(mariadbPlans.sorts([{ Extra: 'Using where; Using filesort' }]))
  t.notOk(mariadbPlans.sorts([{ Extra: 'Using index' }]))
  t.end()
})

test('D-204: numbers of 32 bits are shown with few digits, and compared as they are shown', async (t) => {
  const { encode, decode } = asSingle
  for (const shown of [0, 1.1, -1.1, 0.1, 16777216, 3.4e38, 1e-45, 1.17549435e-38, 123456.789]) {
    const single = Math.fround(shown)
    t.equal(Math.fround(Number(decode(single))), single)
    t.ok(String(decode(single)).length <= String(single).length, `${shown}`)
  }
  t.same([decode(Math.fround(1.1)), decode('Infinity'), decode('x')], [1.1, null, null])
  t.same([encode(1e300), encode(-1e300), encode(1e-300), encode(0)], [1e300, -1e300, 1e-300, 0])
  const near = fc.tuple(fc.float({ noNaN: true, noDefaultInfinity: true }), fc.integer({ min: -2, max: 2 }))
    .map(([number, steps]) => Number(decode(number)) * (1 + steps * 1e-8))
  const singles = fc.float({ noNaN: true, noDefaultInfinity: true })
  await holds(t, 1000, fc.asyncProperty(singles, near, async (held, given) => {
    for (const value of [given, Number(decode(held))]) {
      const sides = [held - Number(encode(value)), Number(decode(held)) - value]
      const [stored, shown] = sides.map((distance) => Math.sign(distance) + 0)
      assert.equal(stored, shown, `${held} ${value}`)
    }
  }))
})

test('D-202: a text of which a column would cut blanks is refused', (t) => {
  const altersOf = (name: 'postgres' | 'mariadb', type: string, written: string, options: FieldOptions = {}) => {
    const column = { table: 'x', name: 'y', type, written }
    const { alters, keepsShown } = dialects[name].storage.text.ofType?.(column, options) ?? {}
    return alters && { keepsShown, altered: (...texts: string[]) => texts.map((text) => alters(text)) }
  }
  for (const [name, written] of [['postgres', 'character varying(2)'], ['mariadb', 'varchar(2)']] as const) {
    const { keepsShown, altered } = altersOf(name, 'varchar', written) ?? {}
    const texts = altered?.('a ', '😀 ', 'abc', 'ab ', '😀a ', 'ab\t')
    t.same([keepsShown, texts], [true, [false, false, false, true, true, true]])
    t.equal(altersOf(name, 'varchar', written, { maxLength: 2 }), undefined, 'the field takes no such text')
  }
  t.equal(altersOf('postgres', 'varchar', 'character varying'), undefined)
  t.same(altersOf('mariadb', 'char', 'char(2)')?.altered('ab', 'a ', 'a\n', 'ab\n'), [false, true, false, true])
  for (const [type, bytes] of [['tinytext', 255], ['text', 65_535]] as const) {
    const { keepsShown, altered } = altersOf('mariadb', type, type) ?? {}
    const text = `é${'a'.repeat(bytes - 3)}`
    t.same([keepsShown, altered?.(`${text} `, `${text}aa`, `${text}a `)], [true, [false, false, true]], type)
    t.equal(altersOf('mariadb', type, type, { maxLength: Math.floor(bytes / 4) }), undefined, type)
  }
  t.equal(altersOf('mariadb', 'longtext', 'longtext'), undefined)
  t.end()
})

test('D-140: a scope looks at what is stored in columns that store another spelling', (t) => {
  const respells = (name: 'postgres' | 'mariadb', type: string, written = type) =>
    dialects[name].storage.text.ofType?.({ table: 'x', name: 'y', type, written }, {})?.respells
  const written = ['time', 'timetz', 'inet', 'cidr', 'macaddr', 'macaddr8']
  for (const type of written) t.equal(respells('postgres', type), true)
  for (const type of ['enum', 'citext', 'name', 'bpchar', 'varchar']) t.equal(respells('postgres', type), undefined)
  for (const type of ['inet4', 'inet6']) t.equal(respells('mariadb', type), true)
  for (const type of ['time', 'text', 'varchar']) t.equal(respells('mariadb', type), undefined)
  t.end()
})

test('columns of servers are stored as their types say', (t) => {
  const { postgres, mariadb } = dialects
  const storageOf = (dialect: Dialect, name: StorageName, written: string, type = '') =>
    dialect.storage[name].ofType?.({ table: 'x', name: 'y', written, type, named: 'mood' }, { scale: 2 })
  const ref = sql`${sql.ref('y')}`
  const compile = (statement: RawBuilder<unknown> | Expression<unknown> | undefined) =>
    sql`${statement}`.compile(openSqlite(':memory:')).sql.replaceAll('"', '')
  for (const type of ['bpchar', 'citext', 'time', 'enum']) {
    t.equal(compile(storageOf(postgres, 'text', "enum('a')", type)?.select?.(ref)), 'cast(y as text)', type)
  }
  t.equal(storageOf(postgres, 'text', 'text', 'text'), undefined)
  const { shown } = storageOf(postgres, 'text', "enum('a','b')", 'enum') ?? {}
  t.match(compile(shown?.(ref, 'eq', ['a'])), 'cast(y as mood) = any(array(')
  t.equal(compile(shown?.(ref, 'ne', ['a'])), 'cast(y as text) collate C not in (?)')
  t.match(compile(shown?.(ref, 'gt', ['a', 'b'])), '((cast(y as text) collate C > ?) or (cast(y')
  const time = storageOf(postgres, 'text', 'time without time zone', 'time')
  t.equal(compile(time?.shown?.(ref, 'in', ['a'])), 'cast(y as text) collate C in (?)')
  t.equal(compile(storageOf(postgres, 'number', 'real')?.select?.(ref)), 'cast(y as double precision)')
  t.match(compile(storageOf(postgres, 'number', 'numeric(9,2)')?.isWhole?.(ref)), 'then y = cast(cast(y as double')
  t.equal(storageOf(postgres, 'number', 'double precision'), undefined)
  t.equal(compile(storageOf(mariadb, 'text', 'time(6)')?.select?.(ref)), 'cast(y as char(80))')
  for (const short of ['varchar(9)', 'varchar(2047)', 'tinytext']) {
    t.equal(storageOf(mariadb, 'text', short)?.sorted, undefined, short)
  }
  for (const long of ['text', 'mediumtext', 'longtext', 'varchar(2048)']) {
    t.equal(compile(storageOf(mariadb, 'text', long)?.sorted?.(ref)), 'cast(convert(y using utf8mb4) as binary)', long)
  }
  for (const [written, text, isAltered] of [
    ["enum('a','b')", 'a', false], ["enum('a','b')", '1', true], ["enum('a','b')", 'A', true],
    ["set('a','b')", '', false], ["set('a','b')", 'a,b', false], ["set('a','b')", 'b,a', true],
    ["set('a','b')", 'a,a', true], ["set('a','b')", '3', true],
    ['time', '-18:30:00', false], ['time', '18:30', true], ['time', '18:30:00.5', true],
    ['time(1)', '18:30:00.5', false]
  ] as const) {
    t.equal(storageOf(mariadb, 'text', written)?.alters?.(text), isAltered, `${written} ${text}`)
  }
  for (const char of [storageOf(postgres, 'text', 'character(9)', 'bpchar'), storageOf(mariadb, 'text', 'char(9)')]) {
    t.same(['a', ' a', 'a ', '', ' '].map((text) => char?.alters?.(text)), [false, false, true, false, true], 'char')
  }
  const exactChar = mariadb.storage.text.ofType?.({
    table: 'x', name: 'y', type: '', written: 'char(9)', collation: 'utf8mb4_nopad_bin'
  }, {})
  t.same([exactChar?.isCollated, exactChar?.alters?.('a ')], [undefined, true])
  const { alters } = storageOf(postgres, 'text', 'name', 'name') ?? {}
  t.same(['a'.repeat(63), 'ä'.repeat(31), 'a'.repeat(64), 'ä'.repeat(32)].map((text) => alters?.(text)),
    [false, false, true, true], 'by bytes')
  const { exact } = storageOf(mariadb, 'datetime', 'datetime(6)') ?? {}
  const nulls = ['timestamp', 'timestamp(6)', 'datetime', 'datetime(6)'].map((written) => [0, 1].map((nullable) =>
    mariadb.storage.datetime.ofType?.({ table: 'x', name: 'y', type: '', written, nullable }, {})?.replacesNull))
  t.same(nulls, [[true, undefined], [true, undefined], [undefined, undefined], [undefined, undefined]])
  t.same(['2024-02-29 12:00:00.5', 'soon'].map((moment) => exact?.read(moment)), ['2024-02-29 12:00:00.5', undefined])
  t.equal(compile(storageOf(mariadb, 'number', 'float')?.select?.(ref)), 'cast(y as double)')
  t.equal(compile(storageOf(mariadb, 'decimal', 'double(9,4)')?.select?.(ref)), 'cast(cast(y as double) as char(80))')
  t.match(storageOf(mariadb, 'number', 'decimal(9,2)'), mariadb.storage.number)
  t.equal(storageOf(mariadb, 'number', 'double'), undefined)
  t.equal(compile(storageOf(mariadb, 'boolean', 'bit(1)')?.select?.(ref)), 'y + 0')
  t.equal(storageOf(mariadb, 'boolean', 'tinyint(1)'), undefined)
  t.equal(compile(storageOf(mariadb, 'text', 'json')?.select?.(ref)), "concat(y, '')")
  const years = storageOf(mariadb, 'integer', 'year(4)')
  t.same([70, 1970, 0, 3000].map((year) => years?.encode?.(year)), [100, 1970, 0, 2155.5], 'MariaDB takes 70 for 1970')
  t.equal(storageOf(mariadb, 'integer', 'int(11)'), undefined)
  const { isNull, isWhole, isShown, select } = mariadb.storage.datetime
  t.equal(compile(isShown?.(ref)), '(y + interval 0 day) is not null')
  t.equal(compile(isWhole?.(ref)), `(microsecond(y) = 0 and ${compile(isShown?.(ref))})`)
  t.match(compile(select?.(ref)), `case when ${compile(isShown?.(ref))} then date_format(y, `)
  t.equal(compile(isNull?.(ref)), 'y <=> null', "MariaDB takes 'is null' for a question for zero dates")
  t.match(compile(mariadb.storage.bigint.select?.(ref)), 'cast(y + 0 as char(80))')
  t.match(compile(mariadb.catalog.fits.bigint?.(ref)), 'y <= 9223372036854775807')
  t.equal(exactNumber.write('1.5000', {}), '1.5')
  t.end()
})
