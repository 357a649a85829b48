// @once: about names and texts

import { runInNewContext } from 'node:vm'
import { test } from 'tap'
import { mariadbCatalog } from '../../lib/engines/mariadb/catalog.js'
import { defaultValue, expression } from '../../lib/tooling/introspect/default-values.js'
import { constantName, fieldName, modelName, Names, referenceName } from '../../lib/tooling/introspect/names.js'
import { describeNotes } from '../../lib/tooling/introspect/describe-notes.js'
import { writeModels } from '../../lib/tooling/introspect/write-models.js'
import type { StorageName } from '../../lib/engines/storage.js'

test('D-205: models are called as their tables, because their paths are', (t) => {
  const names = {
    user: ['User', 'User'],
    order_line: ['order_line', 'OrderLine'],
    userProfile: ['UserProfile', 'UserProfile'],
    ORDER_LINE: ['ORDER_LINE', 'OrderLine'],
    'a b-c': ['a_b_c', 'ABC'],
    X: ['X', 'X'],
    _2fa: ['table_2fa', 'Table2fa'],
    _prisma_migrations: ['prisma_migrations', 'PrismaMigrations'],
    ___: ['table', 'Table'],
    a__b_: ['a_b', 'AB'],
    messages: ['Messages', 'Messages'],
    model: ['Model', 'Model_']
  }
  for (const [table, [model, constant]] of Object.entries(names)) {
    t.strictSame([modelName(table), constantName(table)], [model, constant], table)
  }
  t.end()
})

test('fields are called after their columns, as far as names of fields permit', (t) => {
  const names = {
    title: 'title',
    ArtistId: 'ArtistId',
    in: 'in_value',
    id: 'id_value',
    ID: 'ID_value',
    a__b_: 'a_b',
    _x: 'x',
    _1: 'column_1',
    _: 'column',
    [`_${'1'.repeat(59)}`]: `column_${'1'.repeat(53)}`
  }
  for (const [column, name] of Object.entries(names)) t.equal(fieldName(column), name, column)
  t.end()
})

test('foreign keys are called after what they refer to', (t) => {
  const names = {
    user_id: 'user',
    ArtistId: 'Artist',
    userID: 'user',
    USER_ID: 'USER',
    VOID: 'VOID',
    reports_to: 'reports_to',
    paid: 'paid',
    id: 'id_value',
    is_id: 'is_value'
  }
  for (const [column, name] of Object.entries(names)) t.equal(referenceName(column), name, column)
  t.end()
})

test('a name that is taken gets a number, and stays within the length of names', (t) => {
  const names = new Names()
  t.strictSame([names.take('user'), names.take('User'), names.take('user')], ['user', 'User2', 'user3'])
  t.equal(names.take('x_id'), 'x_id')
  t.equal(names.take('x', (name) => [`${name}_id`]), 'x2', 'the key of a foreign key counts as well')
  const long = 'n'.repeat(60)
  t.equal(names.take(long), long)
  t.ok(names.take(long).length <= 60)
  t.end()
})

test('defaults are values where they have counterparts, and expressions of the database otherwise', (t) => {
  const rows: ReadonlyArray<readonly [StorageName, string | null, unknown]> = [
    ['text', null, undefined], ['text', 'NULL', undefined], ['text', 'NULL::character varying', undefined],
    ['text', "'a''b'", "a'b"], ['text', "'x'::character varying(10)", 'x'],
    ['text', "('(')", '('], ['text', "''", ''], ['text', 'upper(1)', expression], ['text', "'a\\b'", 'a\\b'],
    ['text', 'current_timestamp', expression],
    ['integer', '1', 1], ['integer', "'-1'::integer", -1], ['integer', '(0)::bigint', 0],
    ['integer', "''", expression], ['integer', "nextval('x'::regclass)", expression],
    ['number', '1.5e3', 1500], ['number', "'x'", expression], ['bigint', '9007199254740993', '9007199254740993'],
    ['bigint', '1.5', expression],
    ['decimal', '1.50', '1.50'], ['decimal', "'x'", expression], ['boolean', 'true', true], ['boolean', '0', false],
    ['boolean', "'t'::bool", true], ['boolean', '2', expression],
    ['datetime', 'CURRENT_TIMESTAMP', 'now'], ['datetime', 'now()', 'now'], ['datetime', "datetime('now')", 'now'],
    ['datetime', "datetime('now','localtime')", expression], ['datetime', "datetime('now', '+1 day')", expression],
    ['datetime', 'current_timestamp(6)', 'now'],
    ['datetime', "date_trunc('second'::text, (now() AT TIME ZONE 'utc'::text))", 'now'],
    ['datetime', "(now() AT TIME ZONE 'utc'::text)", 'now'],
    ['date', "((now() AT TIME ZONE 'utc'::text))::date", 'now'], ['date', 'curdate()', 'now'],
    ['date', "'2024-02-29'::date", '2024-02-29'], ['date', "'2023-02-29'", expression],
    ['datetime', "'2024-01-02 03:04:05'::timestamp without time zone", '2024-01-02 03:04:05'],
    ['datetime', "(now() + '1 day'::interval)", expression],
    ['datetime', "'2024-01-02 03:04:05+00'::timestamp with time zone", '2024-01-02 03:04:05'],
    ['datetime', "'2024-01-02 03:04:05.5-02'::timestamp with time zone", '2024-01-02 05:04:05'],
    ['datetime', 'CURRENT_DATE', expression], ['datetime', '(CURRENT_DATE)::timestamp without time zone', expression],
    ['datetime', '((now())::date)::timestamp without time zone', expression], ['datetime', 'curdate()', expression],
    ['datetime', "date('now')", expression], ['datetime', "datetime(date('now'))", expression],
    ['datetime', "strftime('%Y-%m-%d', 'now')", expression], ['datetime', 'cast(now() as date)', expression],
    ['boolean', "b'0'", false], ['boolean', "b'1'", true], ['text', '"open"', 'open'], ['text', '"a""b"', 'a"b'],
    ['uuid', "'0F8FAD5B-d9cb-469f-a165-70867728950e'::uuid", '0f8fad5b-d9cb-469f-a165-70867728950e'],
    ['uuid', 'gen_random_uuid()', expression],
    ['json', "'{\"a\": [1]}'::jsonb", { a: [1] }], ['json', "'{'", expression],
    ['json', String.raw`'{"a": "\n"}'`, { a: '\n' }], ['key', '1', expression]
  ]
  for (const [kind, declared, expected] of rows) {
    t.strictSame(defaultValue(kind, declared), expected, `${kind} ${declared}`)
  }
  t.end()
})

test('D-85: the escapes of MariaDB in a default become what they stand for', (t) => {
  const { toStandardTexts } = mariadbCatalog
  t.equal(toStandardTexts?.(String.raw`'it\'s' 'it''s' '\\n' '\n\r\0\Z' 'a\\\\\'b' '\\%'`),
    "'it''s' 'it''s' '\\n' '\n\r\0\u001a' 'a\\\\''b' '\\%'")
  t.end()
})

test('the usual spellings of the current time in UTC are the default \'now\'', (t) => {
  const spellings: Readonly<Record<string, readonly string[]>> = {
    postgres: [
      "timezone('utc'::text, now())", "timezone('UTC'::text, CURRENT_TIMESTAMP)",
      "timezone('Etc/UTC'::text, statement_timestamp())", "(CURRENT_TIMESTAMP(3) AT TIME ZONE 'UTC'::text)",
      "date_trunc('second'::text, timezone('utc'::text, now()))",
      "date_trunc('milliseconds'::text, (CURRENT_TIMESTAMP AT TIME ZONE 'GMT'::text))",
      "date_trunc('second'::text, now())",
      'LOCALTIMESTAMP', 'LOCALTIMESTAMP(0)', 'clock_timestamp()',
      '(now())::timestamp(0) without time zone', '(now())::timestamp without time zone',
      "('now'::text)::timestamp(0) with time zone"
    ],
    mariadb: [
      'current_timestamp()', 'current_timestamp(3)', 'utc_timestamp(3)', 'sysdate()'
    ],
    sqlite: [
      'CURRENT_TIMESTAMP', "(datetime('now'))", 'datetime()', "datetime('now', 'subsec')",
      'datetime(CURRENT_TIMESTAMP)', "strftime('%Y-%m-%d %H:%M:%S', 'now')", "strftime('%Y-%m-%dT%H:%M:%fZ','now')",
      "strftime('%F %T', 'now')"
    ],
    days: [
      "(timezone('utc'::text, now()))::date", '(LOCALTIMESTAMP)::date', 'date(now())', "('now'::text)::date",
      'curdate()', 'utc_date()', 'cast(utc_timestamp() as date)',
      'current_date', "date('now')", "strftime('%Y-%m-%d', CURRENT_TIMESTAMP)", "strftime('%F', 'now')"
    ]
  }
  for (const [name, all] of Object.entries(spellings)) {
    for (const declared of all) {
      t.equal(defaultValue('datetime', declared), name === 'days' ? expression : 'now', declared)
      t.equal(defaultValue('date', declared), 'now', declared)
      t.equal(defaultValue('integer', declared), expression, declared)
    }
  }
  for (const declared of [
    "timezone('Europe/Madrid'::text, now())", "(now() AT TIME ZONE 'CET'::text)", "timezone('utc'::text, f())",
    "date_trunc('month'::text, now())", "strftime('%s','now')", "strftime('%d.%m.%Y', 'now')", "'now'", 'f(now())',
    "date('now','localtime')", "convert_tz(current_timestamp(),'SYSTEM','+00:00')",
    "(timezone('utc'::text, now()) + '1 day'::interval)", '(LOCALTIME + CURRENT_DATE)', `${'('.repeat(5000)}now()`
  ]) t.equal(defaultValue('datetime', declared), expression, declared.slice(0, 80))
  t.end()
})

test('what is written into a file cannot leave its place there, whatever names and defaults hold', (t) => {
  const source = writeModels({
    models: [{
      name: 'Thing',
      constant: 'Thing',
      table: 'Thing',
      key: undefined,
      keyFields: [],
      fields: [{ name: 'a', kind: 'text', options: { default: "'; process.exit() //\n\u2028\\" } }],
      unique: [],
      notes: [{ table: 'thing', column: 'x\n*/ process.exit()', why: 'left out: it is\u2028 odd' }]
    }],
    leftOut: [{ table: 'y\r\nprocess.exit()', why: 'is a view' }]
  })
  t.strictSame(source.split(/[\n\u2028]/).filter((line) => /process\.exit/.test(line)).map((line) => line.trim()), [
    "// Table 'y process.exit()' is left out: it is a view",
    "// Column 'x */ process.exit()' of table 'thing' is left out: it is  odd",
    'a: text({ default: "\'; process.exit() //\\n'
  ])
  t.end()
})

test('a key __proto__ of a default is written as a key, which would set the prototype otherwise', (t) => {
  const value: unknown = JSON.parse(String.raw`{"__proto__":{"b":[{"c":1,"__proto__":null}]},"d":"{\"__proto__\":1}",
    "e\"__proto__":2,"f":["__proto__"]}`)
  const source = writeModels({
    models: [{
      name: 'Thing',
      constant: 'Thing',
      table: 'thing',
      key: undefined,
      keyFields: [],
      fields: [{ name: 'a', kind: 'json', options: { default: value } }],
      unique: [],
      notes: []
    }],
    leftOut: []
  })
  const [, written = ''] = /json\(\{ default: (.*) \}\)/.exec(source) ?? []
  t.equal(JSON.stringify(runInNewContext(`(${written})`)), JSON.stringify(value))
  t.end()
})

test('a default of many quotes is read at once', (t) => {
  const start = performance.now()
  t.equal(defaultValue('text', `(${"'".repeat(60)} || lower('x'))`), expression)
  t.ok(performance.now() - start < 5000)
  t.end()
})

test('D-208: three notes of the same words are one line', (t) => {
  const many = Array.from({ length: 12 }, (_, index) => ({ table: `p${index}`, why: 'is a partition' }))
  const columns = ['a', 'b', 'c'].flatMap((table) => [
    { table, column: 'photo', why: 'left out: it is bytea' }, { table, column: 'at', why: 'holds only dates' }
  ])
  t.strictSame(describeNotes([
    { table: 'x', why: 'has no primary key' }, ...many, { table: 'y', why: 'has no primary key' }, ...columns,
    { table: 'a', column: 'b', why: 'is\nodd' },
    ...['d', 'e', 'f'].map((table) => ({ table, why: 'takes no writes: x' })),
    { table: 'g', why: 'takes no create: y' }
  ]), [
    "Table 'x' is left out: it has no primary key",
    "Table 'y' is left out: it has no primary key",
    "Tables 'p0', 'p1', 'p2', 'p3', 'p4', 'p5', 'p6', 'p7', 'p8', 'p9' and 2 more are left out: each is a partition",
    "Columns 'a.photo', 'b.photo', 'c.photo' are left out: each is bytea",
    "Columns 'a.at', 'b.at', 'c.at': each holds only dates",
    "Column 'b' of table 'a' is odd",
    "Tables 'd', 'e', 'f': each takes no writes: x",
    "Table 'g' takes no create: y"
  ])
  t.end()
})
