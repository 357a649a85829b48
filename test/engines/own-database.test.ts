// @once: opens both servers itself

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import SQLite from 'better-sqlite3'
import Fastify from 'fastify'
import { Kysely, MysqlDialect, PostgresDialect, SqliteDialect, sql } from 'kysely'
import { createPool, type PoolOptions } from 'mysql2'
import pg from 'pg'
import { test, type Test } from 'tap'
import restModels, {
  bigint, boolean, createTables, date, datetime, decimal, defineModel, foreignKey, integer, json, key, number,
  openAuth, text, userAuth, uuid, type Model
} from '../../lib/index.js'
import { openMariadb } from '../../lib/mariadb.js'
import { openPostgres } from '../../lib/postgres.js'
import { introspect } from '../../lib/tools.js'
import type { Tables } from '../../lib/engines/executor.js'
import { engineNames } from '../support/engines/find-engine.js'
import { requireDatabase, requireEngine } from '../support/engines/lacks.js'
import { runSql } from '../support/engines/sql.js'
import { checkAnswers } from '../support/answers.js'
import { client, insert, siteUsers, User } from '../support/site.js'

// Drivers that know nothing of the plugin make local dates of times: a zone with a gap at 02:30 shows it.
process.env['TZ'] = 'America/New_York'

const Everything = defineModel('Everything', {
  user: foreignKey(() => User),
  title: text(),
  count: integer(),
  big: bigint(),
  ratio: number(),
  price: decimal(),
  flag: boolean(),
  moment: datetime(),
  day: date(),
  seen: datetime({ nullable: true }),
  data: json(),
  token: uuid()
})

const record = {
  title: 'É, %_\\',
  count: -2147483648,
  big: '9007199254740993',
  ratio: 0.30000000000000004,
  price: '1234567890123.45',
  flag: true,
  moment: '2024-03-10 02:30:00',
  day: '2024-03-10',
  seen: null,
  data: { b: 1, a: [null, 'x'] },
  token: '00000000-0000-7000-8000-00000000000a'
}

/** Handles as a deployer makes them who has read no more than Kysely's own page. */
const plain = {
  postgres: (url: string) => {
    const pool = new pg.Pool({ connectionString: url })
    // The pool ends without waiting for the server, so dropping the database may end a connection first.
    pool.on('error', () => {}).on('connect', (connection) => connection.on('error', () => {}))
    return new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) })
  },
  mariadb: (url: string, options: PoolOptions = {}) =>
    new Kysely<Tables>({ dialect: new MysqlDialect({ pool: createPool({ uri: url, ...options }) }) })
}

async function start (t: Test, db: Kysely<Tables>) {
  const app = Fastify()
  await checkAnswers(t, app)
  t.teardown(async () => {
    await app.close()
    await db.destroy()
  })
  await app.register(restModels, { db })
  app.restModels.register(User, { exclude: ['password'] })
    .register(Everything, { auth: userAuth(User), ownerField: 'user' })
  await app.restModels.setup()
  return client(app)
}

for (const engine of engineNames) {
  test(`a plain Kysely instance on ${engine} does, whatever its driver makes of values`, async (t) => {
    const url = await requireDatabase(t, engine)
    if (url === undefined) return
    const db = plain[engine](url)
    await createTables(db, [User, Everything])
    await insert(db, { user: await siteUsers() })
    const { get, post, put, delete: remove } = await start(t, db)
    const as = 'alice'
    const created = await post('/api/everything/', record, { as })
    t.equal(created.statusCode, 201, created.body)
    t.same(created.json(), { id: 1, user_id: 2, ...record })
    t.same((await get('/api/everything/1/')).json(), { id: 1, user_id: 2, ...record })
    const filters = Object.entries(record).filter(([name]) => name !== 'data' && name !== 'seen')
      .map(([name, value]) => `${name}__eq=${encodeURIComponent(String(value))}`)
    t.equal((await get(`/api/everything/?${filters.join('&')}&user__username=alice`)).json().objects.length, 1)
    t.equal((await get('/api/everything/?after=&ordering=-ratio,moment,day,seen,token')).json().objects.length, 1)
    const changed = { ...record, moment: '2024-11-03 01:30:00', flag: false, big: '-1' }
    t.same((await put('/api/everything/1/', changed, { as })).json(), { id: 1, user_id: 2, ...changed })
    t.same(
      (await put('/api/everything/1/', changed, { as })).json(), { id: 1, user_id: 2, ...changed },
      'the same once more'
    )
    t.equal((await put('/api/everything/1/', changed, { as: 'bob' })).statusCode, 403)
    t.equal((await remove('/api/everything/1/', { as })).statusCode, 204)
    t.equal((await get('/api/everything/1/')).statusCode, 404)
  })
}

const Line = defineModel('Line', { message: text() })

test('a driver that makes booleans of tinyint(1) of MariaDB changes neither records, logins nor cursors', async (t) => {
  const url = await requireDatabase(t, 'mariadb')
  if (url === undefined) return
  const db = plain.mariadb(url, {
    typeCast: (field, next) => field.type === 'TINY' && field.length === 1 ? field.string() === '1' : next()
  })
  await createTables(db, [User, Everything])
  await insert(db, { user: await siteUsers() })
  const { get, post } = await start(t, db)
  const as = 'alice'
  for (const flag of [true, false, true]) {
    const created = await post('/api/everything/', { ...record, flag }, { as })
    t.match([created.statusCode, created.json().flag], [201, flag], created.body)
  }
  t.same((await get('/api/everything/?flag=false')).json().objects.map(({ id }: { id: number }) => id), [2])
  t.same(await walk(get, '/api/everything/?ordering=-flag&limit=1'), [1, 3, 2])
})

test('a driver that makes BigInt of integers of PostgreSQL changes neither records nor cursors', async (t) => {
  const url = await requireDatabase(t, 'postgres')
  if (url === undefined) return
  const { INT8 } = pg.types.builtins
  const types: pg.CustomTypesConfig = {
    getTypeParser: (type, format) => type === INT8 ? BigInt : pg.types.getTypeParser(type, format)
  }
  const pool = new pg.Pool({ connectionString: url, types })
  const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) })
  await createTables(db, [Line])
  await insert(db, { line: ['c', 'a', 'b'].map((message) => ({ message })) })
  const { get } = await serve(t, db, Line)
  t.same((await get('/api/line/2/')).json(), { id: 2, message: 'a' })
  t.same(await walk(get, '/api/line/?limit=1'), [1, 2, 3])
  t.same(await walk(get, '/api/line/?limit=1&ordering=-id'), [3, 2, 1])
})

/** Ids of all pages, each of which must lead to the next one by a cursor. */
async function walk (get: ReturnType<typeof client>['get'], list: string): Promise<readonly number[]> {
  const seen: number[] = []
  for (let next = `${list}&after=`; next !== '' && seen.length < 9;) {
    assert.match(next, /[?&]after=/, 'no page number, which ends at limits.offset')
    const { meta, objects } = (await get(next)).json()
    seen.push(...objects.map(({ id }: { id: number }) => id))
    next = meta.next
  }
  return seen
}

for (const engine of ['sqlite', ...engineNames] as const) {
  test(`D-68: pages that begin with after= go on with a cursor on a plain Kysely instance on ${engine}`, async (t) => {
    const db = await plainDatabase(t, engine)
    if (db === undefined) return
    await createTables(db, [Line])
    await insert(db, { line: ['c', 'a', 'b'].map((message) => ({ message })) })
    const app = Fastify()
    t.teardown(async () => {
      await app.close()
      await db.destroy()
    })
    await app.register(restModels, { db })
    app.restModels.register(Line, { auth: openAuth() })
    await app.restModels.setup()
    const { get } = client(app)
    for (const ordering of ['id', 'message', '-message']) {
      const seen: string[] = []
      for (let next = `/api/line/?ordering=${ordering}&limit=1&after=`; next !== '';) {
        t.match(next, /[?&]after=/, 'no page number, which ends at limits.offset')
        const { meta, objects } = (await get(next)).json()
        seen.push(objects[0].message)
        next = meta.next
      }
      const expected = ordering === 'id' ? ['c', 'a', 'b'] : ordering === 'message' ? ['a', 'b', 'c'] : ['c', 'b', 'a']
      t.same(seen, expected)
    }
  })
}

async function plainDatabase (
  t: Test, engine: 'sqlite' | typeof engineNames[number]
): Promise<Kysely<Tables> | undefined> {
  if (engine === 'sqlite') return new Kysely({ dialect: new SqliteDialect({ database: new SQLite(':memory:') }) })
  const url = await requireDatabase(t, engine)
  return url === undefined ? undefined : plain[engine](url)
}

test('D-160: on SQLite with a plain driver, too, a hook of many statements is given up in time', async (t) => {
  const db = new Kysely<Tables>({ dialect: new SqliteDialect({ database: new SQLite(':memory:') }) })
  await createTables(db, [Line])
  const app = Fastify()
  t.teardown(async () => {
    await app.close()
    await db.destroy()
  })
  await app.register(restModels, { db, limits: { statementTime: 200 } })
  const values = { message: 'of the hook' }
  app.restModels.register(Line, {
    auth: openAuth(),
    afterWrite: async (write) => {
      const end = performance.now() + 1500
      while (performance.now() < end) await write.db.insertInto('line').values(values).execute()
    }
  })
  await app.restModels.setup()
  const { statusCode } = await client(app).post('/api/line/', { message: 'x' })
  t.equal(statusCode, 503)
  t.same(await db.selectFrom('line').selectAll().execute(), [])
})

const Event = defineModel('Event', { moment: datetime({ nullable: true }), day: date({ nullable: true }) })
const moments: ReadonlyArray<readonly [stored: string, moment: string | null, day: string | null]> = [
  ['2024-03-10 02:30:00', '2024-03-10 02:30:00', '2024-03-10'],
  ['2024-03-10 02:30:00.987654', '2024-03-10 02:30:00', '2024-03-10'],
  ['0044-03-15 10:00:00', '0044-03-15 10:00:00', '0044-03-15'],
  ['0044-03-15 10:00:00 BC', null, null],
  ['12024-01-01 00:00:00', null, null],
  ['infinity', null, null],
  ['-infinity', null, null]
]
const styles: Readonly<Record<string, string>> = {
  'as they are by default': 'ISO, MDY', German: 'German, DMY', 'those of SQL': 'SQL, DMY'
}

for (const [name, style] of Object.entries(styles)) {
  test(`handles of all kinds read dates of PostgreSQL alike, where the styles of dates are ${name}`, async (t) => {
    const url = await requireDatabase(t, 'postgres')
    if (url === undefined) return
    await runSql(url, `alter database "${new URL(url).pathname.slice(1)}" set datestyle = '${style}'`)
    const handles = { plain: plain.postgres(url), own: openPostgres<Tables>(url), reader: openPostgres<Tables>(url) }
    t.teardown(async () => { for (const db of Object.values(handles)) await db.destroy() })
    await createTables(handles.plain, [Event])
    await runSql(url, 'alter table event alter column moment type timestamp')
    await insert(handles.plain, { event: moments.map(([stored]) => ({ moment: stored, day: stored })) })
    const records = moments.map(([, moment, day], index) => ({ id: index + 1, moment, day }))
    const pairs = [['plain', 'plain'], ['own', 'own'], ['own', 'reader'], ['own', 'plain'], ['plain', 'own']] as const
    for (const [db, readDb] of pairs) {
      const app = Fastify()
      await app.register(restModels, { db: handles[db], readDb: handles[readDb] })
      app.restModels.register(Event)
      await app.restModels.setup()
      const { get } = client(app)
      t.same((await get('/api/event/')).json().objects, records, `listed from ${readDb} beside ${db}`)
      for (const record of records) {
        t.same((await get(`/api/event/${record.id}/`)).json(), record, `read from ${readDb} beside ${db}`)
      }
      await app.close()
    }
  })
}

test('dates of PostgreSQL in another style than at the start are an error, and no wrong answer', async (t) => {
  const url = await requireDatabase(t, 'postgres')
  if (url === undefined) return
  const db = openPostgres<Tables>(url, { connections: 1 })
  t.teardown(async () => { await db.destroy() })
  await createTables(db, [Event])
  await insert(db, { event: [{ moment: '2024-03-10 02:30:00' }] })
  const app = Fastify()
  await checkAnswers(t, app)
  t.teardown(async () => { await app.close() })
  await app.register(restModels, { db })
  app.restModels.register(Event)
  await app.restModels.setup()
  await sql`set datestyle = 'German'`.execute(db)
  const reply = await client(app).get('/api/event/')
  t.match([reply.statusCode, reply.json().code], [500, 'REST_MODELS_INTERNAL'])
})

test('PostgreSQL that rounds numbers in texts has exact cursors, or is refused with the remedy', async (t) => {
  const url = await requireDatabase(t, 'postgres')
  if (url === undefined) return
  const name = new URL(url).pathname.slice(1)
  await runSql(url, `alter database "${name}" set extra_float_digits = 0`)
  const Sample = defineModel('Sample', { ratio: number() })
  const db = openPostgres<Tables>(url)
  await createTables(db, [Sample])
  await insert(db, { sample: [0.1, 0.30000000000000004, 0.30000000000000004, 0.3].map((ratio) => ({ ratio })) })
  const { get } = await serve(t, db, Sample)
  t.equal((await get('/api/sample/2/')).json().ratio, 0.30000000000000004)
  t.same(await walk(get, '/api/sample/?ordering=ratio&limit=1'), [1, 4, 2, 3])
  t.same(await walk(get, '/api/sample/?ordering=-ratio&limit=1'), [2, 3, 4, 1])
  const refusal = { code: 'REST_MODELS_UNSUPPORTED_DATABASE', message: /extra_float_digits must be at least 1/ }
  await t.rejects(serve(t, plain.postgres(url), Sample), refusal)
  await runSql(url, `alter database "${name}" reset extra_float_digits`)
  await serve(t, plain.postgres(url), Sample)
})

test('D-287: PostgreSQL whose connections keep neither foreign keys nor texts is refused', async (t) => {
  const url = await requireDatabase(t, 'postgres')
  if (url === undefined) return
  const name = new URL(url).pathname.slice(1)
  const Sample = defineModel('Sample', { title: text() })
  await runSql(url, 'create table sample (id bigint generated by default as identity primary key, title text not null)')
  const code = 'REST_MODELS_UNSUPPORTED_DATABASE'
  await runSql(url, `alter database "${name}" set session_replication_role = replica`)
  const unchecked = { code, message: /checks no foreign keys and runs no triggers: session_replication_role must not/ }
  await t.rejects(serve(t, plain.postgres(url), Sample), unchecked)
  await t.rejects(serve(t, openPostgres<Tables>(url), Sample), unchecked)
  await runSql(url, `alter database "${name}" reset session_replication_role`)
  await runSql(url, `alter database "${name}" set standard_conforming_strings = off`)
  const escaped = { code, message: /standard_conforming_strings must be on, its default/ }
  await t.rejects(serve(t, plain.postgres(url), Sample), escaped)
  await serve(t, openPostgres<Tables>(url), Sample)
  await runSql(url, `alter database "${name}" reset standard_conforming_strings`)
  await serve(t, plain.postgres(url), Sample)
})

test('PostgreSQL that quotes all names is introspected and served as any other', async (t) => {
  const url = await requireDatabase(t, 'postgres')
  if (url === undefined) return
  const name = new URL(url).pathname.slice(1)
  await runSql(url, `alter database "${name}" set quote_all_identifiers = on`)
  await runSql(url, 'create sequence loose')
  await runSql(url, `create table sample (id bigint primary key default nextval('loose'),
    code uuid not null default gen_random_uuid(), at timestamp not null default now(),
    state text not null default 'new' check (state in ('new', 'old')))`)
  const db = openPostgres<Tables>(url)
  const { models: [Sample], notes } = await introspect(db)
  t.same(notes, [])
  t.match(Sample?.byName.get('at'), { options: { default: 'now' } })
  t.match(Sample?.byName.get('code'), { options: { readOnly: true } })
  const { get } = await serve(t, db, Sample as Model)
  t.equal((await get('/api/sample/')).statusCode, 200)
})

test('PostgreSQL that reads backslashes in texts as escapes is set right on each connection', async (t) => {
  const url = await requireDatabase(t, 'postgres')
  if (url === undefined) return
  const name = new URL(url).pathname.slice(1)
  await runSql(url, `alter database "${name}" set standard_conforming_strings = off`)
  const Sample = defineModel('Sample', { path: text() })
  const db = openPostgres<Tables>(url)
  await createTables(db, [Sample])
  t.match((await introspect(db)).models, [{ name: 'Sample' }])
  const { get, post } = await serve(t, db, Sample)
  t.equal((await post('/api/sample/', { path: "c:\\'" })).statusCode, 201)
  t.equal((await get("/api/sample/?path=c:%5C'")).json().objects[0].path, "c:\\'")
})

const open = { postgres: openPostgres<Tables>, mariadb: openMariadb<Tables> }
const anybody = {
  open: ['list', 'read', 'create', 'update', 'delete'], authenticator: () => async () => null, permits: () => false
} as const

/** An app for anybody on what the deployer opened: it is closed when the test ends. */
async function serve (t: Test, db: Kysely<Tables>, model: Model) {
  const app = Fastify()
  await checkAnswers(t, app)
  t.teardown(async () => {
    await app.close()
    await db.destroy()
  })
  await app.register(restModels, { db })
  app.restModels.register(model, { auth: anybody })
  await app.restModels.setup()
  return client(app)
}

const fractions = ['2024-03-10 02:30:00.987', '2024-03-10 02:30:01', '0099-03-15 10:00:00.5', '2024-03-10 02:30:01.25']
const foreignMoments = [
  { engine: 'postgres', type: 'timestamp(3)', handle: 'plain', offset: '' },
  { engine: 'postgres', type: 'timestamptz', handle: 'plain', offset: '+00' },
  { engine: 'postgres', type: 'timestamptz', handle: 'own', offset: '+00' },
  { engine: 'mariadb', type: 'timestamp(3)', handle: 'own', offset: '' },
  { engine: 'mariadb', type: 'datetime(3)', handle: 'plain', offset: '' }
] as const

for (const { engine, type, handle, offset } of foreignMoments) {
  test(`${engine}: moments in a ${type} are found and paged through as shown (${handle} handle)`, async (t) => {
    const url = await requireDatabase(t, engine)
    if (url === undefined) return
    if (engine === 'postgres') {
      await runSql(url, `alter database "${new URL(url).pathname.slice(1)}" set timezone = 'Europe/Berlin'`)
    }
    // A timestamp of MariaDB begins with the year 1970.
    const values = fractions.filter((value) => engine === 'postgres' || !value.startsWith('0'))
    const key = engine === 'postgres' ? 'bigint generated by default as identity' : 'bigint auto_increment'
    await runSql(url, `create table event (id ${key} primary key, moment ${type} null, day date)`)
    const db = handle === 'own' ? open[engine](url) : plain[engine](url)
    // What no record can show; MariaDB has nothing of the kind.
    const hidden = engine === 'postgres' ? '-infinity' : null
    const stored = [hidden, ...values.map((value) => `${value}${offset}`), null]
    await insert(db, { event: stored.map((moment) => ({ moment })) })
    const { get } = await serve(t, db, Event)
    const list = async (query: string): Promise<ReadonlyArray<string | null>> => {
      const reply = await get(`/api/event/?${query}`)
      return reply.json<{ objects: ReadonlyArray<{ moment: string | null }> }>().objects.map(({ moment }) => moment)
    }
    t.same(await list(''), [null, ...values.map((value) => value.slice(0, 19)), null])
    const shown = '2024-03-10 02:30:01'
    t.same(await list(`moment=${shown}`), [shown, shown])
    t.same(await list(`moment__lt=${shown}&moment__gte=2024-03-10 02:30:00`), ['2024-03-10 02:30:00'])
    t.same(await list('moment__gt=2024-03-10 02:30:00'), [shown, shown])
    t.notOk((await list(`moment__ne=${shown}`)).includes(shown))
    for (const ordering of ['moment', '-moment', 'id']) {
      const paged: unknown[] = []
      for (let next = `/api/event/?after=&limit=1&ordering=${ordering}`; next !== '';) {
        const { meta, objects } = (await get(next)).json()
        paged.push(...objects.map(({ id }: { id: number }) => id))
        next = meta.next
      }
      const { objects } = (await get(`/api/event/?ordering=${ordering}`)).json()
      t.same(paged, objects.map(({ id }: { id: number }) => id), ordering)
    }
  })
}

const noise = (length: number): string => randomBytes(length).toString('base64url').slice(0, length)

test('the longest text that an index of PostgreSQL has no room for is named, unless nobody can tell', async (t) => {
  const url = await requireDatabase(t, 'postgres')
  if (url === undefined) return
  const Essay = defineModel('Essay', { title: text(), body: text() })
  const db = plain.postgres(url)
  await createTables(db, [Essay])
  const { post } = await serve(t, db, Essay)
  await runSql(url, 'create index wide on essay (title, body)')
  const details = [{ field: 'body', message: 'is too long for an index of the database' }]
  const refused = await post('/api/essay/', { title: noise(1000), body: noise(5000) })
  t.match(refused.json(), { statusCode: 400, code: 'REST_MODELS_INVALID_RECORD', details })
  await runSql(url, "drop index wide; create index quoted on essay (('x' || body))")
  const untold = await post('/api/essay/', { title: 'a', body: noise(5000) })
  t.match(untold.json(), { statusCode: 409, code: 'REST_MODELS_CONSTRAINT' })
  t.equal((await post('/api/essay/', { title: noise(1000), body: 'b' })).statusCode, 201)
})

test('D-129: filters compare numbers in a numeric column as records show them, whatever else it holds', async (t) => {
  const url = await requireDatabase(t, 'postgres')
  if (url === undefined) return
  await runSql(url, 'create table event (id bigint generated by default as identity primary key, at numeric)')
  await runSql(
    url,
    "insert into event (at) values (0.1234567890123456789), ('1e400'), ('-1e400'), ('NaN'), (5), (null), ('1e-400')"
  )
  const { get } = await serve(t, openPostgres(url), defineModel('Event', { at: number({ nullable: true }) }))
  type List = {
    readonly objects: ReadonlyArray<{ readonly id: number, readonly at: number }>
    readonly meta: { readonly next: string }
  }
  const list = async (target: string): Promise<List> => (await get(target)).json<List>()
  const { objects: [first] } = await list('/api/event/')
  for (const [query, ids] of [
    [`at=${first?.at}`, [1]], [`at__in=${first?.at},5`, [1, 5]], ['at__ne=5', [1, 2, 3, 4, 7]], ['at=0', [7]],
    ['at=5&at=6', [5]],
    [`at__gt=${first?.at}`, [2, 4, 5]], ['at__gte=5', [2, 4, 5]], ['at__lt=5', [1, 3, 7]],
    [`at__lte=${first?.at}`, [1, 3, 7]]
  ] as const) t.same((await list(`/api/event/?${query}`)).objects.map(({ id }) => id), ids, query)
  for (const ordering of ['at', '-at']) {
    const found: number[] = []
    for (let next = `/api/event/?ordering=${ordering}&limit=1&after=`; next !== '';) {
      const { objects, meta } = await list(next)
      found.push(...objects.map(({ id }) => id))
      next = meta.next
    }
    t.same(found, (await list(`/api/event/?ordering=${ordering}`)).objects.map(({ id }) => id), ordering)
  }
})

const columnsOf = {
  postgres: 'id bigint generated by default as identity primary key, day date, moment timestamp(0)',
  mariadb: "id bigint auto_increment primary key, day date, moment datetime, mood enum('a', 'b') not null"
}
const triggers = {
  postgres: [
    'create function fill() returns trigger language plpgsql as $$ begin new.tenant := 7; return new; end $$',
    'create trigger fill before insert on event for each row execute function fill()'
  ],
  mariadb: ["create trigger fill before insert on event for each row set new.tenant = 7, new.mood = 'a'"]
}

for (const engine of engineNames) {
  test(`${engine}: a column that no record could fill is refused, unless a trigger may fill it`, async (t) => {
    const url = await requireDatabase(t, engine)
    if (url === undefined) return
    await runSql(url, `create table event (${columnsOf[engine]}, tenant integer not null)`)
    const message = /^No record could be created:\n- model 'Event' lacks column 'tenant' [^\n]+\nDeclare/
    await t.rejects(serve(t, plain[engine](url), Event), { code: 'REST_MODELS_TABLE_MISMATCH', message })
    for (const trigger of triggers[engine]) await runSql(url, trigger)
    const { post } = await serve(t, plain[engine](url), Event)
    const created = await post('/api/event/', { day: '2024-03-10' })
    t.equal(created.statusCode, 201, created.body)
    t.match(await runSql(url, 'select tenant from event'), [{ tenant: 7 }])
  })
}

test('what a trigger of PostgreSQL refuses because of a privilege is a 403, whatever it writes of it', async (t) => {
  const url = await requireDatabase(t, 'postgres')
  if (url === undefined) return
  const db = plain.postgres(url)
  await createTables(db, [Event])
  const body = "begin raise insufficient_privilege using message = 'secret'; end"
  await runSql(url, `create function keep() returns trigger language plpgsql as $$ ${body} $$`)
  await runSql(url, 'create trigger keep before insert on event for each row execute function keep()')
  const reply = await (await serve(t, db, Event)).post('/api/event/', { day: '2024-03-10' })
  t.match(reply.json(), { statusCode: 403, code: 'REST_MODELS_FORBIDDEN' })
  t.notMatch(reply.body, 'secret')
})

/** Opens a database of MariaDB with a setting on each connection. */
const withSetting = (url: string, setting: string) => {
  const pool = createPool({ uri: url })
  pool.on('connection', (connection) => connection.query(`set session ${setting}`, () => {}))
  return new Kysely<Tables>({ dialect: new MysqlDialect({ pool }) })
}

test('a connection to MariaDB that cuts texts, or cannot transmit them, is refused with the remedy', async (t) => {
  const url = await requireDatabase(t, 'mariadb')
  if (url === undefined) return
  const withMode = (mode: string) => withSetting(url, `sql_mode = '${mode}'`)
  const code = 'REST_MODELS_UNSUPPORTED_DATABASE'
  await t.rejects(start(t, withMode('')), { code, message: /sql_mode must contain STRICT_TRANS_TABLES/ })
  for (const mode of [
    'NO_BACKSLASH_ESCAPES', 'EMPTY_STRING_IS_NULL', 'PAD_CHAR_TO_FULL_LENGTH', 'ORACLE', 'ANSI_QUOTES',
    'NO_ZERO_IN_DATE'
  ]) {
    await t.rejects(start(t, withMode(`STRICT_TRANS_TABLES,${mode}`)), {
      code, message: new RegExp(`sql_mode must not contain [^:]*${mode}`)
    })
  }
  await t.rejects(start(t, plain.mariadb(url, { charset: 'latin1' })), {
    code, message: /character set must be 'utf8mb4'/
  })
  await t.rejects(start(t, withMode('TRADITIONAL')), { code, message: /must not contain .*NO_ZERO_IN_DATE/ })
  await t.rejects(start(t, plain.mariadb(url)), { code: 'REST_MODELS_TABLE_MISMATCH' }, 'else it is as good as any')
})

test('a text field of a JSON column of MariaDB shows the text, though the driver parses the column', async (t) => {
  const url = await requireDatabase(t, 'mariadb')
  if (url === undefined) return
  await runSql(url, 'create table line (id int primary key auto_increment, message json not null)')
  const { get, post, put } = await serve(t, plain.mariadb(url), Line)
  const [first, second] = ['{"a": [1, 2]}', '12']
  t.match((await post('/api/line/', { message: first })).json(), { id: 1, message: first })
  t.match((await put('/api/line/1/', { message: second })).json(), { id: 1, message: second })
  t.match((await get('/api/line/1/')).json(), { id: 1, message: second })
  t.match((await get('/api/line/?message=12')).json().objects, [{ id: 1, message: second }])
})

test('a connection to MariaDB that commits nothing, or ignores foreign keys, is refused with the remedy', async (t) => {
  const url = await requireDatabase(t, 'mariadb')
  if (url === undefined) return
  const code = 'REST_MODELS_UNSUPPORTED_DATABASE'
  await t.rejects(start(t, withSetting(url, 'autocommit = 0')), {
    code, message: /commits no write[^:]*: set autocommit/
  })
  await t.rejects(start(t, withSetting(url, 'foreign_key_checks = 0')), {
    code, message: /does not enforce foreign keys[^:]*: set foreign_key_checks/
  })
})

test('a connection to MariaDB that gives integers as texts is refused with the name of its option', async (t) => {
  const url = await requireDatabase(t, 'mariadb')
  if (url === undefined) return
  await t.rejects(start(t, plain.mariadb(url, { supportBigNumbers: true, bigNumberStrings: true })), {
    code: 'REST_MODELS_UNSUPPORTED_DATABASE', message: /integers as texts: switch 'bigNumberStrings' off/
  })
})

const Counted = defineModel('Counted', { id: key({ generated: false }), note: text({ default: '' }) })
const Generated = defineModel('Generated', { note: text({ default: '' }) }, { table: 'counted' })
const Part = defineModel('Part', { shop: integer(), no: bigint(), year: integer({ default: 0 }) }, {
  key: ['shop', 'no']
})

/** Serves tables of MariaDB whose keys have `auto_increment`; returns a function that creates a record. */
async function serveCounted (t: Test, db: Kysely<Tables>) {
  await sql`create table counted (id bigint auto_increment primary key, note text not null)`.execute(db)
  await sql`create table part (shop integer not null, no bigint not null auto_increment, year integer not null,
    primary key (shop, no), key (no))`.execute(db)
  const app = Fastify()
  t.teardown(async () => {
    await app.close()
    await db.destroy()
  })
  await app.register(restModels, { db, defaultAuth: openAuth() })
  app.restModels.register(Counted).register(Generated).register(Part)
  await app.restModels.setup()
  const { post } = client(app)
  return async (path: string, body: object) => (await post(`/api/${path}/`, body)).json<object>()
}

test('D-196: MariaDB: a column with auto_increment keeps the key 0 of a client', async (t) => {
  const url = await requireDatabase(t, 'mariadb')
  if (url === undefined) return
  const create = await serveCounted(t, openMariadb<Tables>(url))
  t.match(await create('counted', { id: 0 }), { id: 0 })
  t.match(await create('counted', { id: 0 }), { statusCode: 409, details: [{ field: 'id' }] })
  t.match(await create('part', { shop: 0, no: '0' }), { id: '0,0', shop: 0, no: '0' })
  t.match(await create('part', { shop: 0, no: '0' }), { statusCode: 409, code: 'REST_MODELS_NOT_UNIQUE' })
  t.match(await create('generated', {}), { id: 1 }, 'what no client gives is generated')
  t.match(await create('generated', {}), { id: 2 })
})

test('D-196: MariaDB: an instance of your own, which would change the key 0, does not store it', async (t) => {
  const url = await requireDatabase(t, 'mariadb')
  if (url === undefined) return
  const create = await serveCounted(t, plain.mariadb(url))
  const refused = { statusCode: 409, code: 'REST_MODELS_CONSTRAINT' }
  t.match(await create('counted', { id: 0 }), refused)
  t.match(await create('part', { shop: 0, no: '0' }), refused)
  t.match(await create('counted', { id: 7 }), { id: 7 })
  t.match(await create('part', { shop: 0, no: '1' }), { id: '0,1', year: 0 }, 'other columns may be 0')
  t.match(await create('generated', {}), { id: 8 }, 'what no client gives is generated')
})

test('a database of PostgreSQL that cannot hold every text is refused with the remedy', async (t) => {
  const server = await requireEngine(t, 'postgres')
  if (server === undefined) return
  const name = `rest_models_test_latin1_${process.pid}`
  await runSql(server, `create database ${name} template template0 encoding 'LATIN1' locale 'C'`)
  t.teardown(async () => { await runSql(server, `drop database ${name} with (force)`) })
  const url = new URL(server)
  url.pathname = `/${name}`
  await t.rejects(start(t, plain.postgres(url.href)), {
    code: 'REST_MODELS_UNSUPPORTED_DATABASE', message: /create it with the encoding 'UTF8'/
  })
})

test('a text that an old column of MariaDB cannot hold matches nothing, in a list and in a login', async (t) => {
  const url = await requireDatabase(t, 'mariadb')
  if (url === undefined) return
  const db = plain.mariadb(url)
  await createTables(db, [User, Everything])
  await runSql(url, 'alter table user modify username varchar(80) character set latin1 not null')
  await insert(db, { user: await siteUsers() })
  const { get, post } = await start(t, db)
  t.same((await get(`/api/user/?username=${encodeURIComponent('😀')}`)).json().objects, [])
  t.equal((await get('/api/user/?username=alice')).json().objects.length, 1)
  t.equal((await post('/api/everything/', record, { as: '😀' })).statusCode, 401)
})

test('a reference that an old column of MariaDB cannot hold leads nowhere, also beside a hook', async (t) => {
  const url = await requireDatabase(t, 'mariadb')
  if (url === undefined) return
  const Customer = defineModel('Customer', { id: text({ maxLength: 20 }), tenant: integer() })
  const Order = defineModel('Order', { customer: foreignKey(() => Customer) }, { table: 'orders' })
  const Whole = defineModel('Whole', { id: text({ maxLength: 20 }) }, { table: 'customer' })
  const Unscoped = defineModel('Unscoped', { customer: foreignKey(() => Whole) }, { table: 'orders' })
  const db = plain.mariadb(url)
  for (const statement of [
    'create table customer (id varchar(20) character set latin1 primary key, tenant int not null)',
    'create table orders (id bigint auto_increment primary key, customer_id varchar(20) character set latin1 ' +
      'not null, foreign key (customer_id) references customer (id))',
    "insert into customer values ('a', 1)",
    "insert into orders values (1, 'a')"
  ]) await sql.raw(statement).execute(db)
  const app = Fastify()
  t.teardown(async () => { await app.close() })
  await app.register(restModels, { db, defaultAuth: openAuth() })
  app.restModels.register(Customer, { scope: () => ({ tenant: 1 }) })
  app.restModels.register(Order, { beforeWrite: () => {} })
  app.restModels.register(Order, { path: 'plain' })
  app.restModels.register(Unscoped)
  await app.restModels.setup()
  for (const path of ['order', 'plain', 'unscoped']) {
    for (const [method, url] of [['POST', `/api/${path}/`], ['PUT', `/api/${path}/1/`]] as const) {
      const answer = await app.inject({ method, url, payload: { customer: '😀' } })
      t.match(answer.json(), { statusCode: 400, code: 'REST_MODELS_UNKNOWN_REFERENCE' }, `${method} ${path}`)
    }
  }
})

test('D-247: a text key is compared letter by letter, also if its collation is another in readDb', async (t) => {
  const url = await requireDatabase(t, 'mariadb')
  if (url === undefined) return
  const other = new URL(url)
  other.pathname = `/rest_models_test_read_${process.pid}`
  await runSql(url, `create database ${other.pathname.slice(1)}`)
  t.teardown(async () => { await runSql(url, `drop database ${other.pathname.slice(1)}`) })
  const Tag = defineModel('Tag', { id: text({ maxLength: 20 }), name: text() })
  const [db, readDb] = [plain.mariadb(url), plain.mariadb(other.href)]
  for (const [target, collation] of [[db, 'utf8mb4_nopad_bin'], [readDb, 'utf8mb4_general_ci']] as const) {
    await sql.raw(`create table tag (id varchar(20) character set utf8mb4 collate ${collation} primary key, ` +
      'name varchar(20) not null)').execute(target)
    await sql`insert into tag values ('abc', 'x')`.execute(target)
  }
  const app = Fastify()
  t.teardown(async () => {
    await app.close()
    await Promise.all([db.destroy(), readDb.destroy()])
  })
  await app.register(restModels, { db, readDb, defaultAuth: openAuth() })
  app.restModels.register(Tag)
  await app.restModels.setup()
  t.equal((await app.inject('/api/tag/abc/')).statusCode, 200)
  t.equal((await app.inject('/api/tag/ABC/')).statusCode, 404)
  t.same((await app.inject('/api/tag/?id=ABC')).json().objects, [])
})

test('a choice in a column of MariaDB is ordered and paged as text, whatever its collation', async (t) => {
  const url = await requireDatabase(t, 'mariadb')
  if (url === undefined) return
  const Shirt = defineModel('Shirt', { size: text() })
  const db = openMariadb<Tables>(url)
  t.teardown(async () => { await db.destroy() })
  for (const collation of ['utf8mb4_nopad_bin', 'utf8mb4_general_ci']) {
    await db.schema.dropTable('shirt').ifExists().execute()
    await sql.raw('create table shirt (id bigint auto_increment primary key, size enum(\'small\', \'medium\', ' +
      `'large') character set utf8mb4 collate ${collation} not null)`).execute(db)
    await db.insertInto('shirt').values(['small', 'medium', 'large', 'small'].map((size) => ({ size }))).execute()
    const app = Fastify()
    t.teardown(async () => { await app.close() })
    await app.register(restModels, { db })
    app.restModels.register(Shirt)
    await app.restModels.setup()
    const sizes: string[] = []
    for (let next = '/api/shirt/?ordering=size&limit=1&after='; next !== '';) {
      const { meta, objects } = (await app.inject(next)).json()
      sizes.push(objects[0].size)
      next = sizes.length > 9 ? '' : meta.next
    }
    t.same(sizes, ['large', 'medium', 'small', 'small'], collation)
    t.match((await app.inject('/api/shirt/?size__gt=medium')).json(), { objects: { length: 2 } }, collation)
  }
})
