// @servers: tables are made in the SQL of the engine

import Database from 'better-sqlite3'
import Fastify from 'fastify'
import { randomBytes, randomUUID } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { CompiledQuery, Kysely, sql, SqliteAdapter, SqliteDialect } from 'kysely'
import { test, type Test } from 'tap'
import restModels, {
  adminAuth, bigint, boolean, createTables, date, datetime, decimal, defineModel, foreignKey, integer, json,
  key as keyField, number, password, readOnlyAuth, text, userAuth, uuid, type Field, type Model, type ResourceOptions,
  type RestModelsOptions
} from '../../lib/index.js'
import { readHandle } from '../../lib/database/engine.js'
import type { Tables } from '../../lib/engines/executor.js'
import { openPostgres } from '../../lib/postgres.js'
import { openSqlite } from '../../lib/sqlite.js'
import { requireTables } from '../../lib/tables/compare-tables.js'
import { readTables } from '../../lib/tables/read-tables.js'
import { introspect, serveDatabase, writeMigration } from '../../lib/tools.js'
import { emptyDatabase, engine, openDatabase, openSeparateDatabase, recordStatements } from '../support/database.js'
import { definitions, tableNames, type Definition } from '../support/definitions.js'
import { checkAnswers } from '../support/answers.js'
import {
  buildApp, client, Message, Note, registerSite, siteModels, siteUsers, User, type BuildOptions
} from '../support/site.js'

const anybody = {
  open: ['list', 'read', 'create', 'update', 'delete'] as const,
  authenticator: () => async () => null,
  permits: () => false
}

/** What holds on the engine of this process. */
function here<Value> (values: Readonly<Record<typeof engine, Value>>): Value {
  return values[engine]
}

const key = here({
  sqlite: 'id integer primary key', postgres: 'id serial primary key', mariadb: 'id integer auto_increment primary key'
})
const quoted = (name: string): string => engine === 'mariadb' ? `\`${name}\`` : `"${name}"`

/** A database with what the statements make. */
async function made (t: Test, ...statements: string[]): Promise<Kysely<Tables>> {
  const db = await openDatabase(t)
  for (const statement of statements) await sql.raw(statement).execute(db)
  return db
}

const Owner = defineModel('Owner', { name: text({ unique: true }) })
const Whole = defineModel('Whole', {
  title: text({ minLength: 1, maxLength: 5, default: "it's" }),
  size: text({ enum: ['s', "m'"], nullable: true }),
  count: integer({ minimum: -1, maximum: 3, default: 2 }),
  big: bigint({ default: '9007199254740993' }),
  ratio: number({ default: 0.5 }),
  price: decimal({ precision: 6, scale: 2, default: '1.5' }),
  flag: boolean({ default: true }),
  at: datetime({ default: 'now' }),
  since: datetime({ default: '2024-01-01T00:00:00+02:00' }),
  day: date({ default: 'now' }),
  data: json({ default: { a: "'" } }),
  key: uuid({ default: 'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11' }),
  pin: password({ default: 'not in the table' }),
  made: text({ default: () => 'by a function' }),
  owner: foreignKey(() => Owner, { unique: true }),
  other: foreignKey(() => Owner, { nullable: true, onDelete: 'set null', column: 'OtherOwner' }),
  third: foreignKey(() => Owner, { nullable: true, onDelete: 'cascade' })
}, { table: 'Wholes' })

const lines = (table: string, ...parts: string[]): Definition[] => parts.map((part) => [table, part])

/** What the tables of `Whole` and `Owner` are to their engine. */
const wholeDefinitions = here<() => Definition[]>({
  sqlite: () => [
    ['owner', 'CREATE TABLE "owner" ("id" integer primary key autoincrement, "name" text not null unique)'],
    ['Wholes', 'CREATE TABLE "Wholes" (' + [
      '"id" integer primary key autoincrement',
      '"title" text default \'it\'\'s\' not null check (length("title") >= 1 and length("title") <= 5)',
      '"size" text check ("size" in (\'s\', \'m\'\'\'))',
      '"count" integer default 2 not null check ("count" >= -1 and "count" <= 3)',
      '"big" bigint default 9007199254740993 not null',
      '"ratio" real default 0.5 not null',
      '"price" decimal(6, 2) default 1.5 not null',
      '"flag" boolean default 1 not null check ("flag" in (0, 1))',
      '"at" datetime default current_timestamp not null',
      '"since" datetime default \'2023-12-31 22:00:00\' not null',
      '"day" date default current_date not null',
      '"data" text default \'{"a":"\'\'"}\' not null',
      '"key" text default \'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11\' not null',
      '"pin" text not null',
      '"made" text not null',
      '"owner_id" integer not null unique',
      '"OtherOwner" integer',
      '"third_id" integer',
      'constraint "Wholes__owner_id__reference" foreign key ("owner_id") references "owner" ("id") on delete no action',
      'constraint "Wholes__OtherOwner__reference" foreign key ("OtherOwner") references "owner" ("id") on delete ' +
        'set null',
      'constraint "Wholes__third_id__reference" foreign key ("third_id") references "owner" ("id") on delete cascade'
    ].join(', ') + ')'],
    [
      'Wholes__at__foreign',
      'CREATE INDEX "Wholes__at__foreign" on "Wholes" ("at") where "at" not glob \'????-??-?? ??:??:??\''
    ],
    [
      'Wholes__since__foreign',
      'CREATE INDEX "Wholes__since__foreign" on "Wholes" ("since") where "since" not glob \'????-??-?? ??:??:??\''
    ],
    ['Wholes__OtherOwner__index', 'CREATE INDEX "Wholes__OtherOwner__index" on "Wholes" ("OtherOwner")'],
    ['Wholes__third_id__index', 'CREATE INDEX "Wholes__third_id__index" on "Wholes" ("third_id")']
  ],
  postgres: () => [
    ...lines('Wholes',
      'id bigint identity not null',
      "title text collate C not null default 'it''s'::text",
      'size text collate C',
      'count integer not null default 2',
      "big bigint not null default '9007199254740993'::bigint",
      'ratio double precision not null default 0.5',
      'price numeric(6,2) not null default 1.50',
      'flag boolean not null default true',
      "at timestamp(0) without time zone not null default date_trunc('second'::text, (now() AT TIME ZONE 'utc'::text))",
      "since timestamp(0) without time zone not null default '2023-12-31 22:00:00'::timestamp without time zone",
      "day date not null default ((now() AT TIME ZONE 'utc'::text))::date",
      'data json not null default \'{"a":"\'\'"}\'::json',
      "key uuid not null default 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'::uuid",
      'pin text collate C not null',
      'made text collate C not null',
      'owner_id bigint not null',
      'OtherOwner bigint',
      'third_id bigint',
      'Wholes__OtherOwner__reference FOREIGN KEY ("OtherOwner") REFERENCES owner(id) ON DELETE SET NULL',
      'Wholes__owner_id__reference FOREIGN KEY (owner_id) REFERENCES owner(id)',
      'Wholes__third_id__reference FOREIGN KEY (third_id) REFERENCES owner(id) ON DELETE CASCADE',
      "Wholes_count_check CHECK (((count >= '-1'::integer) AND (count <= 3)))",
      'Wholes_owner_id_key UNIQUE (owner_id)',
      'Wholes_pkey PRIMARY KEY (id)',
      "Wholes_size_check CHECK ((size = ANY (ARRAY['s'::text, 'm'''::text])))",
      'Wholes_title_check CHECK (((char_length(title) >= 1) AND (char_length(title) <= 5)))',
      'Wholes__OtherOwner__index using btree ("OtherOwner")',
      'Wholes__third_id__index using btree (third_id)'),
    ...lines(
      'owner', 'id bigint identity not null', 'name text collate C not null', 'owner_name_key UNIQUE (name)',
      'owner_pkey PRIMARY KEY (id)'
    )
  ],
  mariadb: () => [
    ['Wholes', 'CREATE TABLE `Wholes` (\n  ' + [
      '`id` bigint(20) NOT NULL AUTO_INCREMENT',
      "`title` longtext NOT NULL DEFAULT 'it\\'s' CHECK (char_length(`title`) >= 1 and char_length(`title`) <= 5)",
      "`size` longtext DEFAULT NULL CHECK (`size` in ('s','m\\''))",
      '`count` int(11) NOT NULL DEFAULT 2 CHECK (`count` >= -1 and `count` <= 3)',
      '`big` bigint(20) NOT NULL DEFAULT 9007199254740993',
      '`ratio` double NOT NULL DEFAULT 0.5',
      '`price` decimal(6,2) NOT NULL DEFAULT 1.50',
      '`flag` tinyint(1) NOT NULL DEFAULT 1 CHECK (`flag` in (0,1))',
      '`at` datetime NOT NULL DEFAULT utc_timestamp()',
      "`since` datetime NOT NULL DEFAULT '2023-12-31 22:00:00'",
      '`day` date NOT NULL DEFAULT utc_date()',
      '`data` longtext NOT NULL DEFAULT \'{"a":"\\\'"}\'',
      "`key` char(36) CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'",
      '`pin` longtext NOT NULL',
      '`made` longtext NOT NULL',
      '`owner_id` bigint(20) NOT NULL',
      '`OtherOwner` bigint(20) DEFAULT NULL',
      '`third_id` bigint(20) DEFAULT NULL',
      'PRIMARY KEY (`id`)',
      'UNIQUE KEY `owner_id` (`owner_id`)',
      'KEY `Wholes__OtherOwner__index` (`OtherOwner`)',
      'KEY `Wholes__third_id__index` (`third_id`)',
      'CONSTRAINT `Wholes__OtherOwner__reference` FOREIGN KEY (`OtherOwner`) REFERENCES `owner` (`id`) ON DELETE ' +
        'SET NULL',
      'CONSTRAINT `Wholes__owner_id__reference` FOREIGN KEY (`owner_id`) REFERENCES `owner` (`id`) ON DELETE NO ACTION',
      'CONSTRAINT `Wholes__third_id__reference` FOREIGN KEY (`third_id`) REFERENCES `owner` (`id`) ON DELETE CASCADE'
    ].join(',\n  ') + '\n) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_nopad_bin'],
    ['owner', 'CREATE TABLE `owner` (\n  ' + [
      '`id` bigint(20) NOT NULL AUTO_INCREMENT', '`name` varchar(500) NOT NULL', 'PRIMARY KEY (`id`)',
      'UNIQUE KEY `name` (`name`)'
    ].join(',\n  ') + '\n) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_nopad_bin']
  ]
})

test('createTables takes a list of models, and says what else it got', async (t) => {
  const db = await openDatabase(t)
  for (const models of [Owner, undefined, [Owner, undefined], [{}], [null], ['Owner']]) {
    await t.rejects(createTables(db, models as Model[]), {
      code: 'REST_MODELS_INVALID_OPTIONS', message: /createTables\(\) needs a list of models.* in a circle\?$/
    })
  }
  t.same(await tableNames(db), [])
})

test('createTables makes columns with types, collations, constraints, defaults, checks and indexes', async (t) => {
  const db = await made(t)
  await createTables(db, [Whole, Owner])
  t.strictSame(await definitions(db), wholeDefinitions())
})

test('rows that are written past the API get the same defaults, and obey the same rules', async (t) => {
  const db = await made(t)
  await createTables(db, [Owner, Whole])
  await db.insertInto('owner').values({ name: 'a' }).execute()
  const row = { pin: 'x', made: 'x', owner_id: 1 }
  await db.insertInto('Wholes').values(row).execute()
  const { get } = await buildApp(t, {
    models: [],
    options: { db },
    register: (registry) => { registry.register(Whole, { path: 'wholes', exclude: ['pin'] }) }
  })
  const { at, day, ...record } = (await get('/api/wholes/1/')).json()
  t.strictSame(record, {
    id: 1,
    title: "it's",
    size: null,
    count: 2,
    big: '9007199254740993',
    ratio: 0.5,
    price: '1.50',
    flag: true,
    since: '2023-12-31 22:00:00',
    data: { a: "'" },
    key: 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11',
    made: 'x',
    owner_id: 1,
    other_id: null,
    third_id: null
  })
  t.ok(Math.abs(Date.parse(`${at}Z`) - Date.now()) < 60_000, `${at} is now, in UTC`)
  t.ok(Math.abs(Date.parse(day) - Date.now()) < 25 * 3_600_000, `${day} is today, in UTC`)
  await db.deleteFrom('Wholes').execute()
  const wrong = { title: '', size: 'l', count: 4, flag: 2, owner_id: 9, other: 9, made: null }
  const refusal = here({ sqlite: /^SQLITE_CONSTRAINT/, postgres: /^(23\d{3}|22P02)$/, mariadb: /^(4025|1452|1048)$/ })
  for (const [name, value] of Object.entries(wrong)) {
    const insertion = db.insertInto('Wholes').values({ ...row, [name === 'other' ? 'OtherOwner' : name]: value })
      .execute()
    t.match(await codeOf(insertion), refusal, name)
  }
  await t.resolves(db.insertInto('Wholes')
    .values({ ...row, title: '\u{1f600}'.repeat(5), size: "m'", count: 3, flag: 0, OtherOwner: 1 }).execute())
  t.equal(
    await codeOf(db.insertInto('owner').values({ name: 'a' }).execute()),
    here({ sqlite: 'SQLITE_CONSTRAINT_UNIQUE', postgres: '23505', mariadb: '1062' })
  )
  for (const name of ['A', 'a ', 'á', '', ' ']) {
    await t.resolves(db.insertInto('owner').values({ name }).execute(), `'${name}' is another name than 'a'`)
  }
})

test('a table lacks defaults that functions make; on SQLite, rows of one insert need the same columns', async (t) => {
  const db = await made(t)
  const state = text({ default: 'new' })
  const Seed = defineModel('Seed', { title: text(), state, tags: text({ default: () => '' }) })
  await createTables(db, [Seed])
  const isNotNull = here({ sqlite: 'SQLITE_CONSTRAINT_NOTNULL', postgres: '23502', mariadb: '1364' })
  t.equal(await codeOf(db.insertInto('seed').values({ title: 'a' }).execute()), isNotNull)
  const [one, other] = [{ title: 'a', tags: '' }, { title: 'b', tags: '' }]
  const unequal = db.insertInto('seed').values([one, { ...other, state: 'old' }]).execute()
  t.equal(await codeOf(unequal), here({ sqlite: isNotNull, postgres: 'none', mariadb: 'none' }))
  await t.resolves(db.insertInto('seed').values([one, other]).execute())
})

/** What the driver calls the failure of a statement; MariaDB numbers them. */
async function codeOf (statement: Promise<unknown>): Promise<string> {
  return await statement.then(
    () => 'none', ({ code, errno }: { code?: string, errno?: number }) => String(engine === 'mariadb' ? errno : code)
  )
}

test('defaults and choices of any text are in the table what they are in the model', async (t) => {
  const strange = [
    '\\', "\\'", "'", '"', 'a\\nb', '\n', '%', '\\%', '$1', '?', ':a', '\u{1f600}', ' a ', '--', '\u0001', '{{}}',
    '`', "''"
  ]
  const Strange = defineModel('Strange', {
    word: text({ nullable: true }),
    ...Object.fromEntries(strange.map((value, index) => [`text${index}`, text({ default: value })])),
    ...Object.fromEntries(strange.map((value, index) => [`json${index}`, json({ default: { [value]: value } })])),
    choice: text({ enum: strange, default: '\\' })
  } as Record<string, Field>)
  const { db, get } = await buildApp(t, { models: [Strange], register: (registry) => { registry.register(Strange) } })
  await db.insertInto('strange').values({ word: null }).execute()
  const { id: _id, word: _word, choice, ...record } = (await get('/api/strange/1/')).json()
  t.strictSame(record, Object.fromEntries([
    ...strange.map((value, index) => [`text${index}`, value]),
    ...strange.map((value, index) => [`json${index}`, { [value]: value }])
  ]))
  t.equal(choice, '\\')
  for (const value of strange) {
    await t.resolves(db.insertInto('strange').values({ choice: value }).execute(), JSON.stringify(value))
  }
  for (const value of ['', '\\\\', 'n', 'a\nb', '\\ ', 'a']) {
    await t.rejects(db.insertInto('strange').values({ choice: value }).execute(), JSON.stringify(value))
  }
})

test('bounds are in the table what they are in the model, to the last digit', async (t) => {
  const Bound = defineModel('Bound', {
    least: number({ minimum: 5e-324, default: 1 }),
    most: number({ maximum: Number.MAX_VALUE, minimum: -1e21, default: 0 }),
    third: number({ minimum: 0.1, maximum: 0.30000000000000004, default: 0.2 }),
    whole: integer({ minimum: -(2 ** 31), maximum: 2 ** 31 - 1, default: 0 }),
    half: integer({ minimum: 0.5, maximum: 2.5, default: 1 })
  })
  const { db, post } = await buildApp(t, {
    models: [Bound], register: (registry) => { registry.register(Bound, { auth: anybody }) }
  })
  const right = [
    ['least', 5e-324], ['most', Number.MAX_VALUE], ['most', -1e21], ['third', 0.1], ['third', 0.30000000000000004],
    ['whole', -(2 ** 31)], ['whole', 2 ** 31 - 1],
    ['half', 1], ['half', 2]
  ] as const
  for (const [name, value] of right) {
    const reply = await post('/api/bound/', { [name]: value })
    t.strictSame([reply.statusCode, reply.json()[name]], [201, value], `${name} ${value}`)
  }
  const wrong = [
    ['least', 0], ['most', -1.1e21], ['third', 0.09999999999999999], ['third', 0.3000000000000001], ['half', 0],
    ['half', 3]
  ] as const
  for (const [name, value] of wrong) {
    t.equal((await post('/api/bound/', { [name]: value })).statusCode, 400)
    await t.rejects(db.insertInto('bound').values({ [name]: value }).execute(), `${name} ${value} past the API`)
  }
})

test('a model may refer to itself and models to each other in circles, whatever their order', async (t) => {
  const chicken = (): Model => Chicken
  const Employee = defineModel('Employee', {
    boss: foreignKey((): Model => Employee, { nullable: true }), team: foreignKey((): Model => Team, { nullable: true })
  })
  const Team = defineModel('Team', {
    head: foreignKey(() => Employee, { nullable: true, onDelete: 'set null' }),
    parent: foreignKey((): Model => Team, { nullable: true, onDelete: 'cascade' })
  })
  const Egg = defineModel('Egg', { of: foreignKey(chicken) })
  const Chicken = defineModel('Chicken', { from: foreignKey(() => Egg, { nullable: true, column: 'select' }) })
  const models = [Employee, Team, Egg, Chicken]
  for (const order of [models, models.toReversed(), [Egg, Employee, Chicken, Team]]) {
    const { post, delete: remove, rowsOf } = await buildApp(t, {
      models: order, register: (registry) => { for (const model of models) registry.register(model, { auth: anybody }) }
    })
    const create = async (name: string, body: object) => (await post(`/api/${name}/`, body)).statusCode
    t.strictSame(
      [
        await create('employee', {}), await create('team', { head: 1 }),
        await create('employee', { boss: 1, team: 1 }), await create('team', { parent: 1 }),
        await create('employee', { boss: 9 })
      ],
      [201, 201, 201, 201, 400])
    t.strictSame([
      await create('chicken', {}), await create('egg', { of: 1 }), await create('chicken', { from: 1 }),
      await create('egg', { of: 3 })
    ], [201, 201, 201, 400])
    t.equal((await remove('/api/employee/1/')).statusCode, 409, 'somebody has this boss')
    t.equal((await remove('/api/team/1/')).statusCode, 409, 'somebody is in this team')
    t.equal((await remove('/api/employee/2/')).statusCode, 204)
    t.equal((await remove('/api/employee/1/')).statusCode, 204)
    t.strictSame(await rowsOf('team'), [
      { id: 1, head_id: null, parent_id: null }, { id: 2, head_id: null, parent_id: 1 }
    ])
    t.equal((await remove('/api/team/1/')).statusCode, 204)
    t.strictSame(await rowsOf('team'), [])
  }
})

test('a delete is refused while others refer to the record, or cascades, or sets null, as declared', async (t) => {
  const models = [Owner,
    defineModel('Refusing', { owner: foreignKey(() => Owner) }),
    defineModel('Losing', { owner: foreignKey(() => Owner, { onDelete: 'set null', nullable: true }) }),
    defineModel('Following', { owner: foreignKey(() => Owner, { onDelete: 'cascade' }) })]
  const owners = [1, 2, 3].map((id) => ({ id, name: String(id) }))
  const { delete: remove, rowsOf } = await buildApp(t, {
    models,
    register: (registry) => { for (const model of models) registry.register(model, { auth: anybody }) },
    rows: {
      owner: owners,
      refusing: [{ id: 1, owner_id: 1 }],
      losing: [1, 2].map((id) => ({ id, owner_id: id })),
      following: [1, 2, 3].map((id) => ({ id, owner_id: id }))
    }
  })
  t.match((await remove('/api/owner/1/')).json(), { statusCode: 409, code: 'REST_MODELS_STILL_REFERENCED' })
  t.strictSame(
    [(await rowsOf('owner')).length, (await rowsOf('losing')).length, (await rowsOf('following')).length], [3, 2, 3],
    'a refused delete changes nothing'
  )
  t.equal((await remove('/api/owner/2/')).statusCode, 204)
  t.strictSame(await rowsOf('losing'), [{ id: 1, owner_id: 1 }, { id: 2, owner_id: null }])
  t.strictSame(await rowsOf('following'), [{ id: 1, owner_id: 1 }, { id: 3, owner_id: 3 }])
})

test('an id is never used twice', async (t) => {
  const { post, delete: remove } = await buildApp(t, {
    models: [Owner], register: (registry) => { registry.register(Owner, { auth: anybody }) }
  })
  t.equal((await post('/api/owner/', { name: 'a' })).json().id, 1)
  t.equal((await post('/api/owner/', { name: 'b' })).json().id, 2)
  t.equal((await remove('/api/owner/2/')).statusCode, 204)
  t.equal((await post('/api/owner/', { name: 'c' })).json().id, 3)
})

test('ids may be written by hand, and are generated where they are not', async (t) => {
  const { db, get, post } = await buildApp(t, {
    models: [Owner],
    register: (registry) => { registry.register(Owner, { auth: anybody }) },
    undocumented: 'an id that no other client can hold exactly'
  })
  await db.insertInto('owner').values({ id: 9007199254740991, name: 'the last one' }).execute()
  await db.insertInto('owner').values({ id: -5, name: 'before' }).execute()
  t.equal((await get('/api/owner/9007199254740991/')).json().name, 'the last one')
  t.strictSame(
    (await get('/api/owner/?ordering=-id')).json().objects.map(({ id }: { id: number }) => id), [9007199254740991, -5]
  )
  await db.deleteFrom('owner').execute()
  // Only PostgreSQL does not look at the ids that others wrote. The others come to 2^53, which no record shows (D-129).
  const next = here({ sqlite: null, postgres: 1, mariadb: null })
  const created = await post('/api/owner/', { name: 'next' })
  t.same([created.json().id, created.headers['location']], [next, next === null ? undefined : '/api/owner/1/'])
})

test('indexes and foreign keys with long names that begin alike do not collide', async (t) => {
  const long = 'a'.repeat(45)
  const fields = Object.fromEntries(
    ['b', 'c', 'd'].map((end) => [`${long}_${end}`, foreignKey(() => Owner, { nullable: true, onDelete: 'cascade' })])
  )
  const First = defineModel(`First_${long.slice(0, 40)}`, fields)
  const Second = defineModel(`First_${long.slice(0, 39)}b`, fields)
  const db = await made(t)
  await createTables(db, [First, Owner, Second])
  const before = await definitions(db)
  await createTables(db, [First, Owner, Second])
  t.strictSame(await definitions(db), before)
  const found = before.flatMap(([name, definition]) => [name, ...definition.split('\n')])
    .flatMap((line) => /\b\w+__[0-9a-f]{12}\b/.exec(line)?.[0] ?? [])
  t.ok(new Set(found).size >= here({ sqlite: 6, postgres: 12, mariadb: 12 }), `${found.length} names`)
  t.ok(found.every((name) => name.length <= 63))
})

test('tables that exist are compared and never altered', async (t) => {
  const columns = here({
    sqlite: 'created text not null, extra blob',
    postgres: 'created timestamp not null, extra bytea',
    mariadb: 'created datetime(3) not null, extra blob'
  })
  const db = await made(t, `create table note (${key}, message varchar(10) not null, ${columns})`)
  await db.insertInto('note')
    .values({ id: 5, message: 'old', created: `2020-01-01${engine === 'sqlite' ? 'T' : ' '}10:00:00.5`, extra: 'x' })
    .execute()
  const before = await definitions(db)
  const rows = await db.selectFrom('note').selectAll().execute()
  await createTables(db, siteModels)
  const all = await definitions(db)
  t.strictSame(all.filter(([name]) => name === 'note'), before)
  t.strictSame((await tableNames(db)).filter((name) => name !== 'sqlite_sequence'), [
    'message', 'note', 'relationship', 'user'
  ])
  await createTables(db, siteModels)
  t.strictSame(await definitions(db), all, 'the second time makes nothing')
  t.strictSame(await db.selectFrom('note').selectAll().execute(), rows)
})

test('a table that does not fit keeps all the others from being made', async (t) => {
  const db = await made(t, `create table note (${key}, message integer not null)`)
  const before = await definitions(db)
  await t.rejects(createTables(db, siteModels), {
    code: 'REST_MODELS_TABLE_MISMATCH', message: /'message' of model 'Note' is text(.|\n)*'created' of model 'Note'/
  })
  t.strictSame(await definitions(db), before)
  await t.resolves(createTables(db, siteModels.filter((model) => model !== Note)))
})

/** What can stand in the way of each step of making the tables of the example project, and what the engine calls it. */
const obstacles = here<ReadonlyArray<readonly [step: string, named: RegExp, ...statements: string[]]>>({
  sqlite: [[
    'an index', /message__user_id__index/, 'create table other (x)',
    'create index message__user_id__index on other (x)'
  ]],
  // Tables, indexes and types share the names of a schema.
  postgres: [
    [
      'an index', /message__user_id__index/, 'create table other (x integer)',
      'create index message__user_id__index on other (x)'
    ],
    ['a table', /"message"/, 'create type message as enum (\'a\')']
  ],
  // Tables and sequences share the names of a database, and foreign keys have theirs there.
  mariadb: [
    ['a foreign key', /message/, `create table other (${key}, x integer, constraint message__user_id__reference ` +
      'foreign key (x) references other (id))'],
    ['a table', /message/, 'create sequence message']
  ]
})

for (const [step, named, ...statements] of obstacles) {
  test(`${step} that cannot be made keeps all tables from being made`, async (t) => {
    const db = await made(t, ...statements)
    const before = await definitions(db)
    await t.rejects(createTables(db, siteModels), named)
    t.strictSame(await definitions(db), before)
    await t.resolves(createTables(db, siteModels.filter((model) => model !== Message)), 'the others, without it')
  })
}

// SQLite has no schemas; a database that is attached has a name of its own.
if (engine !== 'sqlite') {
  test('tables of another schema or database of the server are not taken for those of this one', async (t) => {
    const other = `o${randomUUID().replaceAll('-', '').slice(0, 12)}`
    const db = await made(
      t, here({ sqlite: '', postgres: `create schema ${other}`, mariadb: `create database ${other}` })
    )
    t.teardown(async () => {
      await sql.raw(here({ sqlite: '', postgres: `drop schema ${other} cascade`, mariadb: `drop database ${other}` }))
        .execute(db)
    })
    await sql.raw(`create table ${other}.note (id integer, message integer, secret text)`).execute(db)
    await sql.raw(`create table ${other}.${quoted('user')} (${key}, username text not null)`).execute(db)
    await createTables(db, [...siteModels, Owner])
    t.strictSame(await tableNames(db), ['message', 'note', 'owner', 'relationship', 'user'])
    await sql.raw(`create table ${other}.later (${key}, name text not null)`).execute(db)
    const Later = defineModel('Later', { name: text() })
    const start = async () => await buildApp(t, {
      models: [], options: { db }, register: (registry) => { registerSite(registry.register(Later)) }
    })
    await t.rejects(start(), {
      code: 'REST_MODELS_TABLE_MISMATCH', message: /model 'Later' needs table 'later', which does not exist/
    })
    await createTables(db, [Later])
    await t.resolves(start())
  })
}

// Only PostgreSQL looks for a table in several schemas.
if (engine === 'postgres') {
  test('of tables of one name in several schemas of PostgreSQL the one counts that SQL would find', async (t) => {
    const { url, open, remove } = await emptyDatabase()
    const second = `s${randomUUID().replaceAll('-', '').slice(0, 12)}`
    const first = open()
    const located = new URL(url)
    const own = String(/search_path=(\w+)/.exec(located.searchParams.get('options') ?? '')?.[1])
    located.searchParams.set('options', `-c search_path=absent,${own},${second}`)
    const db = openPostgres(located.href)
    t.teardown(async () => {
      await sql.raw(`drop schema ${second} cascade`).execute(first)
      await Promise.all([db.destroy(), first.destroy()])
      await remove()
    })
    await sql.raw(`create schema ${second}`).execute(first)
    await sql.raw(`create table ${second}.owner (${key}, name integer)`).execute(first)
    await sql.raw(`create table ${second}.note (${key}, message text not null, created timestamp not null)`)
      .execute(first)
    await t.rejects(createTables(db, [Owner, Note]), {
      code: 'REST_MODELS_TABLE_MISMATCH', message: /'name' of model 'Owner' is text, but column 'name' is integer/
    })
    await createTables(first, [Owner])
    await createTables(db, [Owner, Note])
    t.strictSame(await tableNames(first), ['owner'], 'the note of the second schema will do')
    const { post } = await buildApp(t, {
      models: [],
      options: { db },
      register: (registry) => { registry.register(Owner, { auth: anybody }).register(Note, { auth: anybody }) }
    })
    t.equal((await post('/api/owner/', { name: 'a' })).statusCode, 201)
    t.equal((await post('/api/note/', { message: 'a' })).statusCode, 201)
    const { rows } = await sql`select message from ${sql.table(`${second}.note`)}`.execute(first)
    t.strictSame(rows, [{ message: 'a' }])
  })
}

/** Tables that somebody else made, long ago. */
const legacyTables = here({
  sqlite: [
    'create table "Accounts" ("id" integer not null primary key, "Login" varchar(30) collate nocase not null unique, ' +
      `"PASS" varchar(200) not null,
      "Enabled" tinyint not null default 1, "IsRoot" smallint not null default 0, "Created" timestamp not null)`,
    'create table "app__post" (id integer primary key, "AUTHOR" int not null references "Accounts" (id), ' +
      `"Body" clob not null collate nocase,
      "Price" numeric(8,3), "Stamp" text, "Blob" clob, "Day" text, "Small" smallint, "Wide" int, "Ratio" float, ` +
      '"Token" varchar(36), untyped, dropped text)'
  ],
  postgres: [
    "create collation careless (provider = icu, locale = 'und-u-ks-level1', deterministic = false)",
    'create table "Accounts" (id smallserial primary key, "Login" varchar(30) collate careless not null unique, ' +
      `"PASS" varchar(200) not null,
      "Enabled" boolean not null default true, "IsRoot" boolean not null default false, ` +
      '"Created" timestamp(3) without time zone not null)',
    'create table "app__post" (id serial primary key, "AUTHOR" int not null references "Accounts" (id), ' +
      `"Body" varchar(200) collate careless not null,
      "Price" numeric(8,3), "Stamp" timestamp without time zone, "Blob" jsonb, "Day" date, "Small" smallint, ` +
      '"Wide" integer, "Ratio" real, "Token" varchar(36), untyped text collate careless, dropped text)'
  ],
  mariadb: [
    'create table `Accounts` (id smallint unsigned auto_increment primary key, ' +
      '`Login` varchar(30) character set utf8mb3 collate utf8mb3_general_ci not null unique, ' +
      `\`PASS\` varchar(200) not null,
      \`Enabled\` tinyint(1) not null default 1, \`IsRoot\` tinyint not null default 0, ` +
      '`Created` datetime(3) not null) character set utf8mb4',
    'create table `app__post` (id integer auto_increment primary key, `AUTHOR` smallint unsigned not null ' +
      `references \`Accounts\` (id), \`Body\` varchar(200) character set latin1 collate latin1_swedish_ci not null,
      \`Price\` decimal(8,3), \`Stamp\` datetime(6), \`Blob\` json, \`Day\` date, \`Small\` smallint, \`Wide\` int, ` +
      '`Ratio` float, `Token` char(36) character set latin1, untyped tinytext collate utf8mb4_unicode_ci, ' +
      'dropped text)'
  ]
})
const Account = defineModel('Account', {
  login: text({ column: 'Login', unique: true }),
  pass: password({ column: 'PASS' }),
  enabled: boolean({ column: 'Enabled', default: true }),
  root: boolean({ column: 'IsRoot', default: false }),
  created: datetime({ column: 'Created', default: 'now' })
}, { table: 'Accounts' })
const Post = defineModel('Post', {
  author: foreignKey(() => Account, { column: 'AUTHOR' }),
  body: text({ column: 'Body' }),
  price: decimal({ column: 'Price', nullable: true }),
  stamp: datetime({ column: 'Stamp', nullable: true }),
  blob: json({ column: 'Blob', nullable: true }),
  day: date({ column: 'Day', nullable: true }),
  small: integer({ column: 'Small', nullable: true }),
  wide: bigint({ column: 'Wide', nullable: true }),
  ratio: number({ column: 'Ratio', nullable: true }),
  token: uuid({ column: 'Token', nullable: true }),
  untyped: text({ nullable: true })
}, { table: 'app__post' })
const accountColumns = { username: 'login', password: 'pass', active: 'enabled', admin: 'root' } as const

async function legacyApp (t: Test, unlike: Pick<BuildOptions, 'undocumented'> = {}) {
  const db = await made(t, ...legacyTables)
  const created = engine === 'sqlite' ? '2011-01-01T10:00:00.123Z' : '2011-01-01 10:00:00.123'
  for (const { username, password, active, admin } of await siteUsers()) {
    await db.insertInto('Accounts')
      .values({ Login: username, PASS: password, Enabled: active, IsRoot: admin, Created: created }).execute()
  }
  const app = await buildApp(t, {
    ...unlike,
    models: [],
    options: { db },
    register: (registry) => {
      registry.register(Account, { auth: adminAuth(Account, accountColumns), exclude: ['pass'] })
      registry.register(Post, { auth: userAuth(Account, accountColumns), ownerField: 'author' })
    }
  })
  return { ...app, db }
}

test('tables made by hand, with other names and other types that fit, work by the names of the model', async (t) => {
  const { get, post, put, delete: remove, db } = await legacyApp(t)
  const written = {
    body: 'B',
    price: '12.5',
    stamp: '2024-01-01T00:00:00Z',
    blob: [1],
    day: '2024-02-29',
    small: -7,
    wide: '2147483647',
    ratio: 0.25,
    token: 'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11',
    untyped: '007'
  }
  const created = await post('/api/post/', written, { as: 'alice' })
  t.equal(created.statusCode, 201, created.body)
  const record = {
    id: 1, author_id: 2, ...written, price: '12.50', stamp: '2024-01-01 00:00:00', token: written.token.toLowerCase()
  }
  t.strictSame(created.json(), record)
  t.strictSame((await get('/api/post/?author__login=alice&price__lt=13&ordering=-stamp,body')).json().objects, [record])
  const { rows: [row] } = await sql<Record<string, unknown>>`select ${sql.ref('AUTHOR')} as author,
    ${sql.ref('Body')} as body, ${sql.ref('Small')} as small, untyped, dropped from app__post`.execute(db)
  t.strictSame({ ...row }, { author: 2, body: 'B', small: -7, untyped: '007', dropped: null })
  for (const name of ['Body', 'AUTHOR', 'dropped', 'author__Login']) {
    t.equal((await get(`/api/post/?${name}=1`)).statusCode, 400, `${name} is no name of the API`)
  }
  t.strictSame((await put('/api/post/1/', { body: 'C' }, { as: 'alice' })).json(), { ...record, body: 'C' })
  t.equal((await put('/api/post/1/', { body: 'D' }, { as: 'bob' })).statusCode, 403)
  t.equal((await put('/api/post/1/', { AUTHOR: 3 }, { as: 'alice' })).statusCode, 400)
  t.equal((await remove('/api/post/1/', { as: 'alice' })).statusCode, 204)
})

test('every field of other types that fit can be filtered and ordered by', async (t) => {
  const { get, post } = await legacyApp(t)
  const values = {
    price: ['-1.50', '0.00', '12.50'],
    stamp: ['1999-12-31 23:59:59', '2000-01-01 00:00:00', '2024-02-29 12:00:00'],
    day: ['1999-12-31', '2000-01-01', '2024-02-29'],
    small: [-7, 0, 32767],
    wide: ['-2147483648', '0', '2147483647'],
    ratio: [-0.5, 0, 0.25],
    token: [
      '00000000-0000-0000-0000-000000000000', '0f8fad5b-d9cb-469f-a165-70867728950e',
      'ffffffff-ffff-ffff-ffff-ffffffffffff'
    ],
    untyped: ['A', 'B', 'a']
  } as const
  for (const index of [1, 2, 0]) {
    const body = Object.fromEntries(Object.entries(values).map(([name, all]) => [name, all[index]]))
    t.equal((await post('/api/post/', { body: 'x', ...body }, { as: 'alice' })).statusCode, 201)
  }
  t.equal((await post('/api/post/', { body: 'x' }, { as: 'alice' })).statusCode, 201)
  for (const [name, all] of Object.entries(values)) {
    const found = async (query: string) => (await get(`/api/post/?${query}`))
      .json<{ objects?: Array<Record<string, unknown>> }>().objects?.map((record) => record[name])
    const [low, middle, high] = all
    t.strictSame(await found(`ordering=${name}`), [null, ...all], `${name} ascending`)
    t.strictSame(await found(`ordering=-${name}`), [...all.toReversed(), null], `${name} descending`)
    t.strictSame(await found(`${name}=${middle}`), [middle])
    t.strictSame(await found(`${name}__in=${low},${high}&ordering=${name}`), [low, high])
    t.strictSame(await found(`${name}__ne=${middle}&ordering=${name}`), [low, high])
    t.strictSame(await found(`${name}__gt=${low}&ordering=${name}`), [middle, high])
    t.strictSame(await found(`${name}__lte=${middle}&ordering=${name}`), [low, middle])
    t.strictSame(await found(`${name}__is=null`), [null])
  }
})

test('a value beyond what a narrow column holds matches nothing, and is no internal error in a body', async (t) => {
  const { get, post, put } = await legacyApp(t)
  t.equal((await post('/api/post/', { body: 'x', small: 1, wide: '1' }, { as: 'alice' })).statusCode, 201)
  const ids = async (query: string) =>
    (await get(`/api/post/?${query}`)).json<{ objects?: Array<{ id: number }> }>().objects?.map(({ id }) => id)
  t.strictSame(await ids('small=2147483647'), [])
  t.strictSame(await ids('small__lt=2147483647&wide__gt=-9223372036854775808'), [1])
  t.strictSame(await ids('wide__in=1,9223372036854775807'), [1])
  t.strictSame(await ids('author=9007199254740991'), [])
  t.equal((await get('/api/account/9007199254740991/')).statusCode, 404)
  // SQLite keeps any integer in any column of integers, and texts of any length.
  const status = here({ sqlite: 200, postgres: 409, mariadb: 409 })
  for (const body of [
    { small: 2147483647 }, { wide: '9223372036854775807' }, { price: '9999999999999.99' }, { body: 'x'.repeat(201) }
  ]) {
    const reply = await put('/api/post/1/', body, { as: 'alice' })
    t.equal(reply.statusCode, status, `${JSON.stringify(body).slice(0, 50)} ${reply.body}`)
  }
  t.strictSame(await ids(''), [1])
})

test('a login works by other columns: inactive, admin, and exact although the column ignores case', async (t) => {
  const { post, put } = await legacyApp(t)
  const status = async (as: readonly [string, string]) => (await post('/api/post/', { body: 'x' }, { as })).statusCode
  t.equal(await status(['alice', 'alice']), 201)
  for (const name of ['ALICE', 'alice ', 'álice', '\u{1f600}', '']) t.equal(await status([name, 'alice']), 401, name)
  t.equal(await status(['carol', 'carol']), 401)
  const root = async (as: string) => (await put('/api/account/3/', { enabled: false }, { as })).statusCode
  t.equal(await root('alice'), 403)
  t.equal(await root('admin'), 200)
  t.equal(await status(['bob', 'bob']), 401)
})

test('datetimes that others stored with more than seconds are read in the form of the service document', async (t) => {
  const { get, db } = await legacyApp(t)
  const stored = here({
    sqlite: [
      '2024-01-01T10:00:00', '2024-01-01 10:00:00.123456', '2024-01-01T10:00:00.123Z', '2024-01-01 12:00:00+02:00',
      '2024-01-01 10:00:00+00', '2024-01-01 10:00:00'
    ],
    postgres: ['2024-01-01 10:00:00.123456', '2024-01-01 10:00:00.999999', '2024-01-01 10:00:00'],
    mariadb: ['2024-01-01 10:00:00.123456', '2024-01-01 10:00:00.999999', '2024-01-01 10:00:00']
  })
  for (const Stamp of stored) await db.insertInto('app__post').values({ AUTHOR: 2, Body: 'x', Stamp }).execute()
  const { objects } = (await get('/api/post/')).json<{ objects: Array<{ stamp: string }> }>()
  t.strictSame(objects.map(({ stamp }) => stamp), stored.map(() => '2024-01-01 10:00:00'))
  t.equal((await get('/api/account/1/')).json().created, '2011-01-01 10:00:00')
})

// The other engines keep nothing in such a column but a moment.
if (engine === 'sqlite') {
  test('a text in a column of datetimes of SQLite that is none is shown as it is', async (t) => {
    const { get, db } = await legacyApp(t, { undocumented: 'a value that is no datetime' })
    await db.insertInto('app__post').values({ AUTHOR: 2, Body: 'x', Stamp: 'some day' }).execute()
    t.equal((await get('/api/post/?ordering=-id')).json().objects[0].stamp, 'some day')
  })
}

test('a column that ignores case is still compared, listed and matched character by character', async (t) => {
  const { get, db } = await legacyApp(t)
  for (const Body of ['B', 'a', 'A', 'b']) await db.insertInto('app__post').values({ AUTHOR: 2, Body }).execute()
  const bodies = async (query: string) =>
    (await get(`/api/post/?${query}`)).json<{ objects?: Array<{ body: string }> }>().objects?.map(({ body }) => body)
  t.strictSame(await bodies('body=a'), ['a'])
  t.strictSame(await bodies('body__in=a,B'), ['B', 'a'])
  t.strictSame(await bodies('body__ne=A'), ['B', 'a', 'b'])
  t.strictSame(await bodies('body__lt=a'), ['B', 'A'])
  t.strictSame(await bodies('body__gte=B'), ['B', 'a', 'b'])
  t.strictSame(await bodies('body__like=a'), ['a'])
  t.strictSame(await bodies('body__like=%25A%25'), ['A'])
  t.strictSame(await bodies('body__ilike=a'), ['a', 'A'])
  t.strictSame(await bodies('author__login=ALICE'), [])
  t.strictSame(await bodies('author__login__like=%25LICE'), [])
  t.strictSame(await bodies('ordering=body'), ['A', 'B', 'a', 'b'], 'as on a column that minds the case')
})

test('a text that the character set of a column lacks matches nothing in it', async (t) => {
  const { get, db } = await legacyApp(t)
  for (const Body of ['a', 'é']) await db.insertInto('app__post').values({ AUTHOR: 2, Body }).execute()
  const bodies = async (query: string) =>
    (await get(`/api/post/?${query}`)).json<{ objects?: Array<{ body: string }> }>().objects?.map(({ body }) => body)
  const emoji = encodeURIComponent('\u{1f600}')
  t.strictSame(await bodies(`body=${encodeURIComponent('é')}`), ['é'])
  for (const query of [
    `body=${emoji}`, `author__login=${emoji}`, `body__like=%25${emoji}%25`, `body__ilike=${emoji}`,
    `body__gt=${emoji}`
  ]) {
    t.strictSame(await bodies(query), [], query)
  }
  for (const query of [
    `body__in=a,${emoji}`, `body__in=${emoji},a&author__login__in=alice,${emoji}`, `body=${emoji}&body=a`
  ]) {
    t.strictSame(await bodies(query), ['a'], query)
  }
  t.strictSame(await bodies(`body__ne=${emoji}&body__lt=${emoji}`), ['a', 'é'])
})

test('a unique value that only the column takes for another is told as taken', async (t) => {
  const { put } = await legacyApp(t)
  const reply = await put('/api/account/3/', { login: 'ALICE' }, { as: 'admin' })
  t.match([reply.statusCode, reply.json()], [409, { code: 'REST_MODELS_NOT_UNIQUE', details: [{ field: 'login' }] }])
})

/** Columns of types that do not fit: the field, the type as it is declared, and as it is told. */
const misfits = here<ReadonlyArray<readonly [Field, declared: string, told?: string]>>({
  sqlite: [
    [text(), 'blob', 'BLOB'], [text(), 'integer', 'INTEGER'], [integer(), 'text', 'TEXT'],
    [integer(), 'real', 'REAL'], [bigint(), 'varchar(20)'], [number(), 'text', 'TEXT'],
    [decimal(), 'text', 'TEXT'], [boolean(), 'text', 'TEXT'], [boolean(), 'real', 'REAL'],
    [datetime(), 'integer', 'INTEGER'], [datetime(), 'blob', 'BLOB'], [date(), 'integer', 'INTEGER'],
    [json(), 'numeric'], [uuid(), 'blob', 'BLOB'], [uuid(), 'integer', 'INTEGER']
  ],
  postgres: [
    [text(), 'bytea'], [text(), 'uuid'], [text(), 'xml'], [text(), 'text[]'],
    [integer(), 'text'], [integer(), 'numeric'], [integer(), 'real'],
    [bigint(), 'double precision'], [number(), 'money'], [decimal(), 'money'], [decimal(), 'text'],
    [boolean(), 'integer'], [boolean(), 'bit(1)', 'bit'], [boolean(), 'varchar(5)', 'character varying'],
    [datetime(), 'date'], [datetime(), 'time', 'time without time zone'], [datetime(), 'text'],
    [date(), 'timestamp', 'timestamp without time zone'], [date(), 'text'],
    [json(), 'pair'], [uuid(), 'bytea']
  ],
  mariadb: [
    [text(), 'blob'], [text(), 'varbinary(10)', 'varbinary'], [text(), 'uuid'], [text(), 'int'],
    [integer(), 'varchar(10)', 'varchar'], [integer(), 'decimal(10)', 'decimal'], [integer(), 'double'],
    [integer(), 'bit(8)', 'bit'], [bigint(), 'decimal(20)', 'decimal'],
    [number(), 'text'], [decimal(), 'float'], [decimal(), 'text'],
    [boolean(), 'char(1)', 'char'], [boolean(), 'int'],
    [datetime(), 'date'], [datetime(), 'time'], [datetime(), 'varchar(20)', 'varchar'], [date(), 'datetime'],
    [date(), 'text'],
    [json(), 'blob'], [uuid(), 'binary(16)', 'binary'], [uuid(), 'text']
  ]
})

test('columns of types that do not fit are refused with both sides named', async (t) => {
  const types = engine === 'postgres'
    ? ['create type pair as (a text)']
    : []
  const fields = Object.fromEntries(misfits.map(([field], index) => [`f${index}`, field] as const))
  const Misfit = defineModel('Misfit', fields)
  const db = await made(
    t, ...types,
    `create table misfit (${key}, ${misfits.map(([, declared], index) => `f${index} ${declared} not null`).join(', ')})`
  )
  const message = await createTables(db, [Misfit]).then(() => 'accepted', (error: Error) => error.message)
  const differences = message.split('\n- ').slice(1)
  t.strictSame(differences, misfits.map(([{ kind }, declared, told = declared], index) =>
    `field 'f${index}' of model 'Misfit' is ${kind}, but column 'f${index}' is ${told} in table 'misfit'`))
})

/** How the engine finds the rows of a statement, in its own words. */
async function planOf ({ db, statements }: Awaited<ReturnType<typeof buildApp>>, table: string): Promise<string> {
  const statement = statements.find(({ sql: text }) => text.includes(`from ${quoted(table)}`))
  if (statement === undefined) return `no statement on ${table}`
  const explain = here({ sqlite: 'explain query plan', postgres: 'explain (costs off)', mariadb: 'explain' })
  const { rows } = await db.executeQuery<Record<string, unknown>>(
    CompiledQuery.raw(`${explain} ${statement.sql}`, [...statement.parameters])
  )
  return rows.map(here<(row: Record<string, unknown>) => string>({
    sqlite: ({ detail }) => String(detail),
    postgres: (row) => String(row['QUERY PLAN']),
    mariadb: ({ table, type, key, ref }) => [table, type, key, ref].join(' ')
  })).join('\n')
}

const usesIndex = here<Record<'login' | 'eq' | 'in' | 'ordering' | 'foreignKey' | 'join', RegExp>>({
  sqlite: {
    login: /^SEARCH user USING INDEX sqlite_autoindex_user_1 \(username=\?\)/,
    eq: /^SEARCH t0 USING INDEX sqlite_autoindex_user_1 \(username=\?\)/,
    in: /^SEARCH t0 USING INDEX sqlite_autoindex_user_1 \(username=\?\)/,
    ordering: /^SCAN t0 USING INDEX sqlite_autoindex_user_1$/,
    foreignKey: /^SEARCH t0 USING INDEX message__user_id__index \(user_id=\?/,
    join: /^SEARCH t1 USING COVERING INDEX sqlite_autoindex_user_1 \(user.*\)\nSEARCH t0 USING INDEX message__user_id__/
  },
  postgres: {
    login: /Index Scan using user_username_key on "user"\n +Index Cond: \(username = /,
    eq: /Index Scan using user_username_key on "user" t0\n +Index Cond: \(username = /,
    in: /Index Scan using user_username_key on "user" t0\n +Index Cond: \(\(?username = ANY/,
    ordering: /Index Scan Backward using user_username_key on "user" t0/,
    foreignKey: /Scan (on|using) message__user_id__index/,
    // The two are in any order.
    join: /^(?=(.|\n)*Index Scan using user_username_key on "user" t1)(.|\n)*Scan (on|using) message__user_id__index/
  },
  mariadb: {
    login: /^user const username const$/,
    eq: /^t0 const username const$/,
    in: /^t0 range username /,
    // It takes an index for an order only if the column stands alone, which would be in the column's own collation.
    ordering: /^t0 ALL /,
    foreignKey: /^t0 (ref|range) message__user_id__index /,
    join: /^t1 const username const\nt0 (ref|range) message__user_id__index /
  }
})

test('a login, a filter by a unique text, an owner and a foreign key use their indexes', async (t) => {
  const app = await buildApp(t, {
    register: (registry) => {
      registry.register(User, { exclude: ['password'] })
      registry.register(Message, { auth: userAuth(User), ownerField: 'user' })
    }
  })
  // Engines read a small table from beginning to end.
  const users = Array.from(
    { length: 2000 }, (_, index) => ({ id: index + 10, username: `user${index}`, password: 'x', email: 'x' })
  )
  await app.db.insertInto('user').values(users).execute()
  await app.db.insertInto('message').values(users.map(({ id }) => ({ id, user_id: id, content: 'x' }))).execute()
  await sql.raw(
    here({ sqlite: 'select 1', postgres: 'analyze "user", message', mariadb: 'analyze table user, message' })
  ).execute(app.db)
  app.forget()
  await app.post('/api/message/', { id: 3 }, { as: 'alice' })
  t.match(await planOf(app, 'user'), usesIndex.login, 'a login')
  const ask = async (query: string) => {
    app.forget()
    t.equal((await app.get(`/api/${query}`)).statusCode, 200)
  }
  await ask('user/?username=alice')
  t.match(await planOf(app, 'user'), usesIndex.eq, 'eq')
  await ask('user/?username__in=alice,bob')
  t.match(await planOf(app, 'user'), usesIndex.in, 'in')
  await ask('user/?ordering=-username')
  t.match(await planOf(app, 'user'), usesIndex.ordering, 'an ordering')
  await ask('message/?user=20')
  t.match(await planOf(app, 'message'), usesIndex.foreignKey, 'a foreign key')
  await ask('message/?user__username=alice')
  t.match(await planOf(app, 'message'), usesIndex.join, 'a join')
})

test('a new column of a table does not show by itself', async (t) => {
  const app = await buildApp(t, {
    register: registerSite, rows: { note: [{ id: 1, message: 'x', created: '2024-01-01 00:00:00' }] }
  })
  await sql`alter table note add column token text not null default 'secret'`.execute(app.db)
  t.strictSame((await app.get('/api/note/1/')).json(), { id: 1, message: 'x', created: '2024-01-01 00:00:00' })
  t.equal((await app.get('/api/note/?token=secret')).statusCode, 400)
  t.equal((await app.get('/api/note/?message=x')).json().objects.length, 1)
})

const Thing = defineModel('Thing', { name: text() })
const Things = defineModel('Things', { name: text() })
const inherited = "model 'Thing' cannot have table 'thing': other tables inherit from it, and their rows may have " +
  'the same keys, so that a write would change several; name a view of the table alone, made by ' +
  "'create view … as select * from only thing'"
const closedCreate = {
  open: ['list', 'read', 'update', 'delete'] as const,
  closed: ['create'] as const,
  authenticator: () => async () => null,
  permits: () => false
}

test('D-113: a required column without default that the model lacks is an error at the start', async (t) => {
  const named = `name ${here({ sqlite: 'text', postgres: 'text', mariadb: 'varchar(50)' })} not null`
  const db = await made(t, `create table thing (${key}, ${named}, tenant integer not null, ${quoted('Region')} ` +
    `${here({ sqlite: 'text', postgres: 'text', mariadb: 'text' })} not null)`)
  const start = async (options: ResourceOptions<typeof Thing>) =>
    await buildApp(t, { models: [], options: { db }, register: (registry) => { registry.register(Thing, options) } })
  const failure = {
    code: 'REST_MODELS_TABLE_MISMATCH',
    message: "No record could be created:\n- model 'Thing' lacks column 'tenant' of table 'thing', " +
      'which must have a value and has no default\n' +
      "- model 'Thing' lacks column 'Region' of table 'thing', which must have a value and has no default\n" +
      "Declare the column in the model, give it a default in the table, or use a policy with closed: ['create']"
  }
  await t.rejects(start({ auth: anybody }), failure)
  for (const options of [{}, { auth: closedCreate }]) {
    t.equal((await (await start(options)).get('/api/thing/')).statusCode, 200)
  }
  await t.resolves(createTables(db, [Thing]))
  const Fixed = defineModel('Fixed', { name: text({ nullable: true }) }, { table: 'fixed' })
  await sql.raw(`create table fixed (${key}, name ` +
    `${here({ sqlite: 'text', postgres: 'text', mariadb: 'varchar(50)' })}, tenant integer not null)`).execute(db)
  await t.resolves(
    buildApp(t, {
      models: [],
      options: { db },
      register: (registry) => { registry.register(Fixed, { auth: anybody, readOnly: ['name'] }) }
    }),
    'no field may be written'
  )
})

test('D-113: columns that the database fills are none of these, and records can be created', async (t) => {
  const filled = here({
    sqlite: [
      'tenant integer not null default 1', 'twice integer not null generated always as (tenant * 2)', 'free text'
    ],
    postgres: [
      'tenant integer not null default 1', 'twice integer not null generated always as (7 * 2) stored', 'free text',
      'count integer not null generated by default as identity', 'serie serial', 'mood mood not null'
    ],
    mariadb: [
      'tenant integer not null default 1', 'twice integer generated always as (tenant * 2) stored', 'free text',
      "mood enum('a', 'b') not null", 'at timestamp not null default current_timestamp'
    ]
  })
  const types = here({ sqlite: [], postgres: ["create domain mood as text default 'a'"], mariadb: [] })
  const db = await made(t, ...types, `create table thing (${key}, name ` +
    `${here({ sqlite: 'text', postgres: 'text', mariadb: 'varchar(50)' })} not null, ${filled.join(', ')})`)
  const { post } = await buildApp(t, {
    models: [], options: { db }, register: (registry) => { registry.register(Thing, { auth: anybody }) }
  })
  t.equal((await post('/api/thing/', { name: 'x' })).statusCode, 201)
})

test('D-113: a trigger of a server may fill a column, and so may a view', async (t) => {
  const table = `create table thing (${key}, name ` +
    `${here({ sqlite: 'text', postgres: 'text', mariadb: 'varchar(50)' })} not null, tenant integer not null)`
  const db = await made(t, table, ...here({
    sqlite: [
      'alter table thing rename to base', 'create view thing as select id, name, tenant from base',
      ...['insert', 'update', 'delete'].map((event) =>
        `create trigger on_${event} instead of ${event} on thing begin delete from base where false; end`)
    ],
    postgres: [
      'create function fill() returns trigger language plpgsql as $$ begin new.tenant := 7; return new; end $$',
      'create trigger fill before insert on thing for each row execute function fill()'
    ],
    mariadb: ['create trigger fill before insert on thing for each row set new.tenant = 7']
  }))
  const Loose = defineModel('Loose', {
    id: keyField({ generated: engine !== 'sqlite' }), name: text({ nullable: engine === 'sqlite' })
  }, { table: 'thing' })
  const { get, post } = await buildApp(t, {
    models: [], options: { db }, register: (registry) => { registry.register(Loose, { auth: anybody }) }
  })
  t.equal((await get('/api/loose/')).statusCode, 200)
  if (engine === 'sqlite') return
  t.equal((await post('/api/loose/', { name: 'x' })).statusCode, 201)
  t.match(await db.selectFrom('thing').selectAll().execute(), [{ tenant: 7 }])
})

test('D-113: a domain of PostgreSQL that refuses null is a column that must have a value', {
  skip: engine !== 'postgres' && 'which has no domains'
}, async (t) => {
  const db = await made(t,
    'create domain given as text not null', 'create domain sure as given',
    `create table thing (${key}, name sure, tenant given)`,
    `create table filled (${key}, name given default 'x', b text)`)
  const start = async (model: Model) => await buildApp(t, {
    models: [], options: { db }, register: (registry) => { registry.register(model, { auth: anybody }) }
  })
  const lacking = /^No record could be created:\n- model 'Thing' lacks column 'tenant' of table 'thing', /
  await t.rejects(start(Thing), lacking)
  const Loose = defineModel('Loose', { name: text({ nullable: true }), tenant: text() }, { table: 'thing' })
  await t.rejects(start(Loose), /- field 'name' of model 'Loose' is nullable, but column 'name' is not null/)
  const { post } = await start(defineModel('Whole', { name: text(), tenant: text() }, { table: 'thing' }))
  t.match((await post('/api/whole/', { tenant: 'y' })).json(), { message: /name/ })
  t.equal((await post('/api/whole/', { name: 'x', tenant: 'y' })).statusCode, 201)
  const Filled = defineModel('Filled', { b: text({ nullable: true }) })
  await t.resolves(start(Filled), 'a default fills it')
})

test('a default that is null fills no column that refuses null', {
  skip: engine !== 'sqlite' && 'whose servers refuse such a default'
}, async (t) => {
  const db = await made(t,
    'create table thing (id integer primary key, name text not null, tenant int not null default NULL)')
  const start = buildApp(t, {
    models: [], options: { db }, register: (registry) => { registry.register(Thing, { auth: anybody }) }
  })
  await t.rejects(start, /^No record could be created:\n- model 'Thing' lacks column 'tenant' of table 'thing', /)
})

test('a view is one whichever columns of the model it has', async (t) => {
  const db = await made(t, `create table base (${key}, extra integer)`, 'insert into base (extra) values (1)',
    'create view thing as select extra from base')
  for (const name of ['id', 'name']) {
    t.match((await writeMigration(db, [Thing])).differences.join(), new RegExp(
      `field '${name}' of model 'Thing' needs column '${name}' of view 'thing', which does not exist: name another`))
  }
  t.equal((await writeMigration(db, [Thing])).source, undefined, 'nothing can be added to a view')
})

test('MariaDB: a view of a table that was dropped is an error that names it, the reason and the remedy', {
  skip: engine !== 'mariadb' && 'which keeps such views'
}, async (t) => {
  const db = await made(t, `create table base (${key}, name text)`, 'create view thing as select id, name from base',
    'drop table base')
  const failure = {
    code: 'REST_MODELS_TABLE_MISMATCH',
    message: /model 'Thing' needs view 'thing', which cannot be read: .*references invalid table.*\. Mend it, /
  }
  const start = buildApp(t, { models: [], options: { db }, register: (registry) => { registry.register(Thing) } })
  await t.rejects(start, failure)
  await t.rejects(createTables(db, [Thing]), failure)
  await t.rejects(writeMigration(db, [Thing]), failure)
})

test('MariaDB: a column is JSON only if its own table says so, not one whose name differs in case or accents', {
  skip: engine !== 'mariadb' && 'whose information_schema compares names without case'
}, async (t) => {
  const columns = `${key}, name longtext character set utf8mb4 collate utf8mb4_bin`
  const db = await made(t, `create table je (${columns})`, `create table JE (${key}, name json)`,
    `create table jé (${key}, name json)`, "insert into je (name) values ('plain words')")
  const Plain = defineModel('Plain', { name: text({ nullable: true }) }, { table: 'je' })
  const { get } = await buildApp(t, {
    models: [], options: { db }, register: (registry) => { registry.register(Plain) }
  })
  t.match((await get('/api/plain/')).json().objects, [{ name: 'plain words' }])
  t.match((await introspect(db)).source, /name: text\([^)]*\)\s+\}, \{ table: 'je' \}/)
})

test('PostgreSQL: a foreign table is compared as a view is, also as a partition or with children', {
  skip: engine !== 'postgres' && 'which has foreign tables'
}, async (t) => {
  const db = await openSeparateDatabase(t)
  for (const statement of [
    'create foreign data wrapper nowhere', 'create server far foreign data wrapper nowhere',
    'create table whole (id bigint, name text not null) partition by range (id)',
    'create foreign table thing partition of whole for values from (1) to (10) server far',
    'create foreign table parent (id bigint, name text) server far', 'create table child () inherits (parent)'
  ]) await sql.raw(statement).execute(db)
  const start = async (model: Model) => await buildApp(t, {
    models: [], options: { db }, register: (registry) => { registry.register(model, { auth: readOnlyAuth() }) }
  })
  await t.resolves(start(Thing))
  const Referring = defineModel('Referring', { thing: foreignKey(() => Thing) })
  await t.rejects(createTables(db, [Referring]), /no foreign key can refer to view 'thing': declare a field of another/)
  const Parent = defineModel('Parent', { name: text() })
  await t.rejects(start(Parent), {
    message: /^The database does not fit the models:\n- model 'Parent' cannot have table 'parent': other tables.*$/
  })
})

test('an expression in a view of SQLite has no type, and the error names the cast that gives it one', {
  skip: engine !== 'sqlite' && 'about SQLite'
}, async (t) => {
  const db = await made(t, 'create table item (id integer primary key, bill integer, price integer)',
    'insert into item values (1, 7, 2), (2, 7, 3)',
    'create view bare as select bill, sum(price) as total from item group by bill',
    'create view bill as select bill, cast(sum(price) as decimal(10,2)) as total from item group by bill')
  const fields = { id: keyField({ generated: false, column: 'bill' }), total: decimal() }
  const start = (model: Model) => buildApp(t, {
    models: [], options: { db }, register: (registry) => { registry.register(model) }
  })
  await t.rejects(start(defineModel('Bare', fields)), {
    message: /of no type: cast the expression in the view, as in cast\(/
  })
  const { get } = await start(defineModel('Bill', fields))
  t.same((await get('/api/bill/')).json().objects, [{ id: 7, total: '5.00' }])
})

test('D-258: a view may stand for a table that is only read, whatever it says about nulls', async (t) => {
  const db = await made(t)
  await createTables(db, siteModels)
  await db.insertInto('user').values({ username: 'ann', password: 'x', email: 'y' }).execute()
  await sql.raw(`create view busy as select id, username from ${quoted('user')} where active`).execute(db)
  const named = defineModel('Named', { id: text({ column: 'username' }), number: integer({ column: 'id' }) }, {
    table: 'busy'
  })
  const paired = defineModel('Paired', { username: text({ maxLength: 50 }), number: integer({ column: 'id' }) }, {
    table: 'busy', key: ['username', 'number']
  })
  const models: readonly Model[] = [
    defineModel('Busy', { username: text() }),
    defineModel('Loose', { username: text({ nullable: true }) }, { table: 'busy' }), named, paired
  ]
  const { get, put } = await buildApp(t, {
    models: [],
    options: { db },
    register: (registry) => { for (const model of models) registry.register(model) }
  })
  for (const resource of ['busy', 'loose']) {
    t.strictSame((await get(`/api/${resource}/`)).json().objects, [{ id: 1, username: 'ann' }], resource)
  }
  t.strictSame((await get('/api/named/ann/')).json(), { id: 'ann', number: 1 })
  t.strictSame((await get('/api/paired/ann,1/')).json(), { id: 'ann,1', username: 'ann', number: 1 })
  t.equal((await put('/api/named/ann/', { number: 2 })).statusCode, 401, 'the default policy closes writes')
})

test('tables may be called like the members of every object, or almost like those of the engine', async (t) => {
  const db = await openDatabase(t)
  const names = ['constructor', 'toString', 'valueOf', 'hasOwnProperty', '__proto__', 'sqlitedata']
  const models = names.map((table, index) =>
    defineModel(`Own${index}`, { name: text() }, { table }))
  await createTables(db, models)
  const { get } = await buildApp(t, {
    models: [], options: { db }, register: (registry) => { for (const model of models) registry.register(model) }
  })
  for (const { name } of models) t.strictSame((await get(`/api/${name.toLowerCase()}/`)).json().objects, [])
  t.strictSame(await writeMigration(db, models), { source: undefined, differences: [] })
})

test('D-258: a materialized view and a foreign table of PostgreSQL are compared as views are', async (t) => {
  if (engine !== 'postgres') return
  // A foreign data wrapper without a handler makes tables that can be described, but not read.
  const wrapper = `w${randomBytes(6).toString('hex')}`
  const db = await made(t,
    'create domain amount as numeric(10, 2)',
    "create type state as enum ('open', 'done')",
    'create table sale (id serial primary key, customer text not null, total amount not null, state state not null)',
    'create materialized view totals as ' +
      'select customer, sum(total)::amount as total, max(state) as state from sale group by customer',
    `create foreign data wrapper ${wrapper}`,
    `create server ${wrapper} foreign data wrapper ${wrapper}`,
    `create foreign table far (id integer not null, name text) server ${wrapper}`)
  t.teardown(async () => { await sql.raw(`drop foreign data wrapper ${wrapper} cascade`).execute(db) })
  await sql`insert into sale (customer, total, state) values ('ann', 1.5, 'open'), ('ann', 2, 'done')`.execute(db)
  await sql`refresh materialized view totals`.execute(db)
  const Totals = defineModel('Totals', {
    id: text({ column: 'customer' }), total: decimal({ precision: 10, scale: 2 }), state: text()
  })
  const Far = defineModel('Far', { name: text() })
  await createTables(db, [Totals, Far])
  t.strictSame(await writeMigration(db, [Totals, Far]), { source: undefined, differences: [] })
  const { get } = await buildApp(t, {
    models: [],
    options: { db },
    register: (registry) => { for (const model of [Totals, Far]) registry.register(model, { auth: readOnlyAuth() }) }
  })
  t.strictSame((await get('/api/totals/?state=done')).json().objects, [{ id: 'ann', total: '3.50', state: 'done' }])
  const Wrong = defineModel('Totals', { id: text({ column: 'customer' }), total: date(), count: integer() })
  await t.rejects(createTables(db, [Wrong]), {
    code: 'REST_MODELS_TABLE_MISMATCH',
    message: /'total' of model 'Totals' is date, but column 'total' is numeric.*\n.*needs column 'count'/
  })
})

test('D-284: a foreign key that cannot be compared with the key it refers to is an error at the start', async (t) => {
  const [type = '', other = ''] = here<readonly string[]>({
    sqlite: ['varchar(36)', 'text'],
    postgres: ['uuid', 'text'],
    mariadb: ['varchar(36) collate utf8mb4_unicode_ci', 'varchar(36) collate utf8mb4_general_ci']
  })
  const id = '0b0ba1a2-8d3f-4c1e-9a57-1d2f3a4b5c6d'
  const visited = async (reference: string): Promise<Kysely<Tables>> => await made(t,
    `create table place (id ${type} primary key, name varchar(50) not null)`,
    `create table visit (${key}, place_id ${reference} not null, same_id ${type})`,
    `insert into place values ('${id}', 'a')`, `insert into visit (place_id) values ('${id}')`)
  const [db, wrong] = [await visited(type), await visited(other)]
  const Place = defineModel('Place', { id: uuid(), name: text({ maxLength: 50 }) })
  const Visit = defineModel('Visit', {
    place: foreignKey(() => Place), same: foreignKey(() => Place, { nullable: true })
  })
  const start = async (options: Pick<RestModelsOptions, 'db' | 'readDb'>) => await buildApp(t, {
    models: [], options, register: (registry) => { for (const model of [Place, Visit]) registry.register(model) }
  })
  const isComparable = engine === 'sqlite'
  const message =
    /cannot compare these foreign keys .*:\n- field 'place' of model 'Visit' refers to model 'Place': .*\nGive/
  for (const options of isComparable ? [] : [{ db: wrong }, { db, readDb: wrong }]) {
    await t.rejects(start(options), { code: 'REST_MODELS_TABLE_MISMATCH', message })
  }
  const { get } = await start({ db: isComparable ? wrong : db })
  t.equal((await get('/api/visit/?place__name=a')).json().objects.length, 1)
})

test('MariaDB: keys and unique indexes of tables with system versioning and columns for it are those of their rows', {
  skip: engine !== 'mariadb' && 'whose tables have no versions'
}, async (t) => {
  const versions = 'since timestamp(6) generated always as row start, until timestamp(6) generated always as ' +
    'row end, period for system_time (since, until)) with system versioning'
  const db = await made(t, `create table tag (id varchar(20) primary key, ${versions}`,
    `create table seat (x integer, y integer, primary key (x, y), ${versions}`,
    `create table person (${key}, name varchar(9) not null, town varchar(9) not null, ` +
    `unique (name, town), ${versions}`)
  const { models: found } = await introspect(db, { tables: ['tag', 'seat', 'person'] })
  t.strictSame(found.map(({ name, primaryKey: { parts = [] }, uniqueTogether }) =>
    [name, parts.length, uniqueTogether.length]), [['Person', 0, 1], ['Seat', 2, 0], ['Tag', 0, 0]])
  const { get } = await buildApp(t, {
    models: [], options: { db }, register: (registry) => { for (const model of found) registry.register(model) }
  })
  for (const path of ['tag', 'seat', 'person']) t.equal((await get(`/api/${path}/`)).statusCode, 200, path)
})

test('D-285: a key that is not unique in its table is refused, for readers, too', async (t) => {
  const db = await made(t, 'create table thing (id integer not null, name varchar(50) not null)',
    "insert into thing values (1, 'a'), (1, 'b')", 'create view things as select * from thing')
  const message = 'The database does not fit the models:\n' +
    "- model 'Thing' has its primary key in id, but table 'thing' has neither a primary key nor a unique index of " +
    'exactly that; add one by a migration'
  const start = async (model: Model) => await buildApp(t, {
    models: [], options: { db }, register: (registry) => { registry.register(model, { auth: anybody }) }
  })
  const Plain = defineModel('Thing', { id: keyField({ generated: false }), name: text() })
  await t.rejects(start(Plain), { code: 'REST_MODELS_TABLE_MISMATCH', message })
  await t.rejects(createTables(db, [Plain]), { message })
  const Readers = defineModel('Things', { id: keyField({ generated: false }), name: text() })
  const { get } = await buildApp(t, {
    models: [], options: { db }, register: (registry) => { registry.register(Readers) }
  })
  t.equal((await get('/api/things/')).json().objects.length, 2, 'a view has no indexes')
  await sql`delete from thing where name = 'b'`.execute(db)
  await sql`create unique index thing_by_id on thing (id)`.execute(db)
  t.equal((await (await start(Plain)).put('/api/thing/1/', { name: 'new' })).statusCode, 200)
})

test('D-264: a table from which others inherit is refused with the remedy', async (t) => {
  const db = await made(t, `create table thing (${key}, name varchar(50) not null)`)
  const { dialect } = readHandle(db)
  const tables = await readTables(db, [Thing])
  t.doesNotThrow(() => requireTables(tables, [Thing], dialect))
  t.throws(() => requireTables({ ...tables, isInherited: () => true }, [Thing], dialect), {
    code: 'REST_MODELS_TABLE_MISMATCH',
    message: `The database does not fit the models:\n- ${inherited}`
  })
})

test('D-264: a view of a table alone takes its place, and writes leave the rows of heirs as they are', {
  skip: engine !== 'postgres' && 'whose tables inherit nothing'
}, async (t) => {
  const db = await made(t, `create table thing (${key}, name text not null)`,
    'create table heir (extra text) inherits (thing)', 'create view things as select * from only thing',
    "insert into thing values (1, 'a'), (2, 'b')", "insert into heir values (2, 'c', 'd'), (3, 'e', 'f')",
    "select setval('thing_id_seq', 3)", `create table parted (${key}, name text not null) partition by range (id)`,
    'create table part partition of parted default', `create table owner (${key}, thing_id integer not null)`)
  const start = async (...models: Model[]) => await buildApp(t, {
    models: [],
    options: { db },
    register: (registry) => { for (const model of models) registry.register(model, { auth: anybody }) }
  })
  const Owner = defineModel('Owner', { thing: foreignKey(() => Thing) })
  for (const model of [Thing, Owner]) await t.rejects(start(model), { message: inherited }, model.name)
  await t.rejects(createTables(db, [Thing]), { message: inherited })
  t.strictSame((await writeMigration(db, [Thing])).differences, [inherited])
  const Parted = defineModel('Parted', { name: text() })
  const { get, put, post, delete: remove } = await start(Things, Parted)
  t.strictSame((await get('/api/things/')).json().objects.map(({ id }: { id: number }) => id), [1, 2])
  t.equal((await put('/api/things/2/', { name: 'new' })).statusCode, 200)
  t.equal((await remove('/api/things/1/')).statusCode, 204)
  t.match((await post('/api/things/', { name: 'x' })).json(), { id: 4 })
  const { rows } = await sql`select id, name from thing order by id, name`.execute(db)
  t.strictSame(rows, [{ id: 2, name: 'c' }, { id: 2, name: 'new' }, { id: 3, name: 'e' }, { id: 4, name: 'x' }])
})

test('tables and columns that the engine does not tell apart by case are found, and others are not', async (t) => {
  const columns = {
    sqlite: 'ID integer primary key, Message text not null, "CREATED" datetime not null',
    postgres: 'ID serial primary key, MESSAGE text not null, created timestamp not null',
    mariadb: 'ID integer auto_increment primary key, Message text not null, CREATED datetime not null'
  }
  const db = await made(
    t, `create table ${here({ sqlite: '"Note"', postgres: 'NOTE', mariadb: 'note' })} (${here(columns)})`
  )
  await createTables(db, [Note])
  t.equal((await tableNames(db)).filter((name) => name.toLowerCase() === 'note').length, 1)
  const { get, post } = await buildApp(t, {
    models: [], options: { db }, register: (registry) => { registry.register(Note, { auth: anybody }) }
  })
  t.equal((await post('/api/note/', { message: 'x' })).statusCode, 201)
  t.equal((await get('/api/note/?message=x')).json().objects.length, 1)
})

// SQLite does not tell tables apart by case.
if (engine !== 'sqlite') {
  test('a table whose name differs by case alone is another table', async (t) => {
    const { rows: [row] } = await made(t).then(async (db) =>
      await sql<{ folds: number }>`select ${engine === 'mariadb' ? sql`@@lower_case_table_names` : sql`0`} as folds`
        .execute(db))
    if (row?.folds !== 0) return t.pass('this server of MariaDB does not tell tables apart by case')
    const db = await made(t, `create table ${quoted('Note')} (id integer, other integer)`)
    await createTables(db, [Note])
    t.strictSame(await tableNames(db), ['Note', 'note'])
    const { get } = await buildApp(t, {
      models: [], options: { db }, register: (registry) => { registry.register(Note) }
    })
    t.equal((await get('/api/note/')).statusCode, 200)
    return t
  })
}

test('a model that is named twice, and two models on one table, are made once', async (t) => {
  const Short = defineModel('Short', { message: text() }, { table: 'note' })
  const db = await made(t)
  await createTables(db, [Note, Note])
  await createTables(db, [Short])
  const before = await definitions(db)
  t.same(
    new Set(before.map(([name]) => name)),
    new Set(['note', ...here({ sqlite: ['note__created__foreign'], postgres: [], mariadb: [] })])
  )
  const Other = defineModel('Other', { message: integer() }, { table: 'page' })
  const Page = defineModel('Page', { message: text() })
  await t.rejects(
    createTables(db, [Page, Other]), /field 'message' of model 'Page' is text, but column 'message' is int/i
  )
  t.same(await definitions(db), before, 'nothing is made')
})

test('indexes of tables and columns whose names run together do not collide', async (t) => {
  const A = defineModel('A', { b_c: foreignKey(() => Owner) })
  const AB = defineModel('A_b', { c: foreignKey(() => Owner) })
  const db = await made(t)
  await createTables(db, [Owner, A, AB])
  const found = (await definitions(db)).flatMap(([name, definition]) =>
    `${name} ${definition}`.match(/\ba__?b__?c\w+__index\b/g) ?? [])
  t.strictSame(new Set(found), new Set(['a__b_c_id__index', 'a_b__c_id__index']))
})

// PostgreSQL has booleans, which hold nothing else.
if (engine !== 'postgres') {
  test('a stored boolean that is neither 0 nor 1 passes for nothing, least of all for an admin', async (t) => {
    const table =
      `create table ${quoted('user')} (${engine === 'sqlite' ? key : 'id bigint auto_increment primary key'}, ` +
        'username varchar(99) not null, password text not null, email text not null, join_date datetime not null, ' +
        'active tinyint not null, admin tinyint not null)'
    const db = await made(t, table)
    await createTables(db, siteModels)
    const other = (written: string): string => engine === 'sqlite' ? written : '-1'
    for (const [id, admin, active] of [
      [1, '1', '1'], [2, other("'f'"), other("'t'")], [3, '1', other("'f'")], [4, '2', '1']
    ] as const) {
      const { password: hash } = (await siteUsers())[id - 1] ?? {}
      await sql`insert into ${sql.table('user')} (id, username, password, email, join_date, active, admin)
        values (${id}, ${`user${id}`}, ${hash}, 'x', '2024-01-01 00:00:00', ${sql.raw(active)},
        ${sql.raw(admin)})`.execute(db)
    }
    const { post, get } = await appOn(t, db, 'another program wrote the booleans')
    const statuses = []
    for (const [index, name] of ['admin', 'alice', 'bob', 'carol'].entries()) {
      statuses.push((
        await post('/api/user/', { username: 'new', password: 'x', email: 'y' }, { as: [`user${index + 1}`, name] })
      ).statusCode)
    }
    t.same(statuses, [201, 401, 401, 403])
    t.match((await get('/api/user/2/')).json(), { active: null, admin: null })
    t.match((await get('/api/user/1/')).json(), { active: true, admin: true })
  })
}

// The other drivers give BigInt to nobody who does not ask for one.
if (engine === 'sqlite') {
  test('a connection of SQLite that gives integers as BigInt is refused at start-up', async (t) => {
    const database = new Database(':memory:').defaultSafeIntegers(true)
    const db = new Kysely<Tables>({ dialect: new SqliteDialect({ database }) })
    t.teardown(async () => { await db.destroy() })
    database.pragma('foreign_keys = on')
    database.exec('create table "thing" ("id" integer primary key, "word" text not null)')
    await createTables(db, [...siteModels, defineModel('Thing', { word: text() })])
    await t.rejects(appOn(t, db), { code: 'REST_MODELS_UNSUPPORTED_DATABASE', message: /defaultSafeIntegers/ })
  })

  /** A file with a table, and with views and a virtual table that SQLite cannot read. */
  function withUnreadable (): Buffer {
    const database = new Database(':memory:').unsafeMode()
    database.exec('create table thing (id integer primary key, name text not null); create table gone (id integer); ' +
      'create view lost as select id from gone; drop table gone; ' +
      'create view area as select st_area(name) as name from thing; pragma writable_schema = on; ' +
      "insert into sqlite_schema values ('table', 'vector', 'vector', 0, 'create virtual table vector using vec0(a)')")
    return database.serialize()
  }

  test('what SQLite cannot read keeps nobody from the tables beside it', async (t) => {
    const path = join(t.testdir(), 'site.db')
    writeFileSync(path, withUnreadable())
    const db = openSqlite<Tables>(path)
    t.teardown(async () => { await db.destroy() })
    await createTables(db, [Thing, Owner])
    const lines: string[] = []
    const { get, post } = await buildApp(t, {
      models: [],
      server: { logger: { level: 'warn', stream: { write: (line) => { lines.push(line) } } } },
      options: { db },
      register: (registry) => { registry.register(Thing, { auth: anybody }) }
    })
    t.equal((await post('/api/thing/', { name: 'x' })).statusCode, 201)
    t.match((await get('/api/thing/')).json().objects, [{ name: 'x' }])
    t.strictSame(lines, [])
    t.strictSame(await writeMigration(db, [Thing, Owner]), { source: undefined, differences: [] })
    const { app } = await serveDatabase(`sqlite:${path}`, { log: () => {} })
    t.teardown(async () => { await app.close() })
    t.match((await app.inject('/api/thing/')).json().objects, [{ name: 'x' }])
  })

  test('what a model names and SQLite cannot read is an error that names it, the reason and the remedy', async (t) => {
    const database = new Database(withUnreadable())
    database.pragma('foreign_keys = on')
    const db = new Kysely<Tables>({ dialect: new SqliteDialect({ database }) })
    t.teardown(async () => { await db.destroy() })
    for (const [table, kind, reason] of [
      ['lost', 'view', 'no such table: main.gone'],
      ['area', 'view', 'no such function: st_area'],
      ['vector', 'virtual table', 'no such module: vec0']
    ] as const) {
      const Unread = defineModel('Unread', { name: text({ nullable: true }) }, { table })
      const Reader = defineModel('Reader', { unread: foreignKey(() => Unread) })
      const failure = {
        code: 'REST_MODELS_TABLE_MISMATCH',
        message: `The database does not fit the models:\n- model 'Unread' needs ${kind} '${table}', which cannot be ` +
          `read: ${reason}. Mend it, load the extension that it needs, or name another with 'table'`
      }
      const start = buildApp(t, { models: [], options: { db }, register: (registry) => { registry.register(Unread) } })
      await t.rejects(start, failure, table)
      for (const model of [Unread, Reader]) {
        await t.rejects(createTables(db, [model]), failure)
        await t.rejects(writeMigration(db, [model]), failure)
      }
    }
  })

  test('key() needs a column whose integers SQLite generates', async (t) => {
    for (const [columns, isGenerated] of [
      ['id integer primary key, name text not null', true],
      ['id INTEGER, name text not null, primary key (id)', true],
      ['id integer primary key desc, name text not null', false],
      ['id int primary key, name text not null', false],
      ['id integer not null, name text not null, primary key (id, name)', false]
    ] as const) {
      const started = createTables(await made(t, `create table thing (${columns})`), [Thing])
      if (isGenerated) await t.resolves(started, columns)
      else await t.rejects(started, /needs column 'id' to be the primary key whose integers the database/, columns)
    }
    const rowless = await made(t, 'create table thing (id integer primary key, name text not null) without rowid')
    await t.rejects(createTables(rowless, [Thing]), /needs column 'id' to be the primary key whose integers/)
  })

  test('a failure that says nothing of a table is not said to be one of the table', async (t) => {
    const db = preparing(t, (text) => {
      if (text.includes('pragma_table_xinfo(')) throw new Database.SqliteError('no memory', 'SQLITE_NOMEM')
      return text
    })
    await sql`create table thing (id integer primary key, name text not null)`.execute(db)
    await t.rejects(createTables(db, [Thing]), { code: 'SQLITE_NOMEM' })
  })

  test('an adapter of one\'s own that extends that of SQLite is SQLite', async (t) => {
    class OwnAdapter extends SqliteAdapter {}
    class OwnDialect extends SqliteDialect { override createAdapter () { return new OwnAdapter() } }
    const database = new Database(':memory:')
    database.pragma('foreign_keys = on')
    const db = new Kysely<Tables>({ dialect: new OwnDialect({ database }) })
    t.teardown(async () => { await db.destroy() })
    await createTables(db, siteModels)
    t.equal((await (await appOn(t, db)).get('/api/note/')).statusCode, 200)
  })
}

async function appOn (t: Test, db: Kysely<Tables>, undocumented?: string) {
  const app = Fastify()
  if (undocumented === undefined) await checkAnswers(t, app)
  t.teardown(async () => { await app.close() })
  await app.register(restModels, { db })
  registerSite(app.restModels)
  await app.restModels.setup()
  return client(app)
}

/** A database of SQLite that prepares another statement in place of each one. */
function preparing (t: Test, replace: (text: string) => string): Kysely<Tables> {
  const database = new Database(':memory:')
  database.pragma('foreign_keys = on')
  const prepare = database.prepare.bind(database)
  Object.assign(database, { prepare: (text: string) => prepare(replace(text)) })
  const db = new Kysely<Tables>({ dialect: new SqliteDialect({ database }) })
  t.teardown(async () => { await db.destroy() })
  return db
}

test('the columns of all tables are read by one statement, but on SQLite by one for each model', async (t) => {
  const db = await made(t, ...['a', 'b', 'c', 'd'].map((name) => `create table ${name} (id integer, x integer)`))
  await createTables(db, siteModels)
  const statements = await recordStatements(t, db)
  const tables = await readTables(db, siteModels)
  t.equal(statements.length, here({ sqlite: 1 + siteModels.length, postgres: 2, mariadb: 3 }))
  t.equal(Number(tables.columnsOf(User).get('username')?.nullable), 0)
  t.notOk(tables.has(defineModel('A', { x: integer() }, { table: 'a' })), 'no model of these has it')
})

test('tables that another process made a moment ago are taken for what they are', async (t) => {
  const db = await made(t)
  await createTables(db, siteModels)
  const statements = await recordStatements(t, db)
  const { tables } = readHandle(db).dialect.catalog
  const execute = tables.execute.bind(tables)
  let looked = 0
  Object.assign(tables, {
    execute: async (handle: Kysely<Tables>) => {
      const hasLock = statements.some(({ sql }) => /lock\(|^begin/.test(sql))
      return !hasLock && ++looked > 0 ? { rows: [] } : await execute(handle)
    }
  })
  t.teardown(() => { Reflect.deleteProperty(tables, 'execute') })
  await t.resolves(createTables(db, siteModels))
  t.equal(looked, here({ sqlite: 1, postgres: 1, mariadb: 0 }),
    'before it has the lock, but on MariaDB, where tables may be half made')
  statements.length = 0
  const Other = defineModel('Note', { message: integer() })
  await t.rejects(createTables(db, [Other]), { code: 'REST_MODELS_TABLE_MISMATCH' })
})
