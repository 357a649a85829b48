import Fastify from 'fastify'
import { Kysely, MysqlDialect, PostgresDialect, sql } from 'kysely'
import { createPool, type PoolOptions } from 'mysql2'
import pg from 'pg'
import { test, type Test } from 'tap'
import restModels, {
  bigint, boolean, createTables, date, datetime, decimal, defineModel, foreignKey, integer, json, number, text, userAuth, uuid
} from '../lib/index.js'
import { openPostgres } from '../lib/postgres.js'
import type { Tables } from '../lib/query/engine.js'
import { engineNames } from './engines/find-engine.js'
import { requireDatabase, requireEngine } from './engines/lacks.js'
import { runSql } from './engines/sql.js'
import { checkAnswers } from './answers.js'
import { client, insert, siteUsers, User } from './helper.js'

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
    pool.on('connect', (connection) => connection.on('error', () => {}))
    return new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) })
  },
  mariadb: (url: string, options: PoolOptions = {}) => new Kysely<Tables>({ dialect: new MysqlDialect({ pool: createPool({ uri: url, ...options }) }) })
}

async function start (t: Test, db: Kysely<Tables>) {
  const app = Fastify()
  await checkAnswers(t, app)
  t.teardown(async () => {
    await app.close()
    await db.destroy()
  })
  await app.register(restModels, { db })
  app.restModels.register(User, { exclude: ['password'] }).register(Everything, { auth: userAuth(User), ownerField: 'user' })
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
    const filters = Object.entries(record).filter(([name]) => name !== 'data' && name !== 'seen').map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`)
    t.equal((await get(`/api/everything/?${filters.join('&')}&user__username=alice`)).json().objects.length, 1)
    t.equal((await get('/api/everything/?after=&ordering=-ratio,moment,day,seen,token')).json().objects.length, 1)
    const changed = { ...record, moment: '2024-11-03 01:30:00', flag: false, big: '-1' }
    t.same((await put('/api/everything/1/', changed, { as })).json(), { id: 1, user_id: 2, ...changed })
    t.same((await put('/api/everything/1/', changed, { as })).json(), { id: 1, user_id: 2, ...changed }, 'the same once more')
    t.equal((await put('/api/everything/1/', changed, { as: 'bob' })).statusCode, 403)
    t.equal((await remove('/api/everything/1/', { as })).statusCode, 204)
    t.equal((await get('/api/everything/1/')).statusCode, 404)
  })
}

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
const styles: Readonly<Record<string, string>> = { 'as they are by default': 'ISO, MDY', German: 'German, DMY', 'those of SQL': 'SQL, DMY' }

for (const [name, style] of Object.entries(styles)) {
  test(`dates of PostgreSQL are read alike from handles of all kinds, where the styles of dates are ${name}`, async (t) => {
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
      for (const record of records) t.same((await get(`/api/event/${record.id}/`)).json(), record, `read from ${readDb} beside ${db}`)
      await app.close()
    }
  })
}

test('dates of PostgreSQL that come in another style than at the start are an error, and no wrong answer', async (t) => {
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

test('a connection to MariaDB that cuts texts, or cannot transmit them, is refused with the remedy', async (t) => {
  const url = await requireDatabase(t, 'mariadb')
  if (url === undefined) return
  const withMode = (mode: string) => {
    const pool = createPool({ uri: url })
    pool.on('connection', (connection) => connection.query(`set session sql_mode = '${mode}'`, () => {}))
    return new Kysely<Tables>({ dialect: new MysqlDialect({ pool }) })
  }
  const code = 'REST_MODELS_UNSUPPORTED_DATABASE'
  await t.rejects(start(t, withMode('')), { code, message: /sql_mode must contain STRICT_TRANS_TABLES/ })
  await t.rejects(start(t, withMode('STRICT_TRANS_TABLES,NO_BACKSLASH_ESCAPES')), { code, message: /not NO_BACKSLASH_ESCAPES/ })
  await t.rejects(start(t, plain.mariadb(url, { charset: 'latin1' })), { code, message: /character set must be 'utf8mb4'/ })
  await t.rejects(start(t, plain.mariadb(url)), { code: 'REST_MODELS_TABLE_MISMATCH' }, 'else it is as good as any')
})

test('a database of PostgreSQL that cannot hold every text is refused with the remedy', async (t) => {
  const server = await requireEngine(t, 'postgres')
  if (server === undefined) return
  const name = `rest_models_test_latin1_${process.pid}`
  await runSql(server, `create database ${name} template template0 encoding 'LATIN1' locale 'C'`)
  t.teardown(async () => { await runSql(server, `drop database ${name} with (force)`) })
  const url = new URL(server)
  url.pathname = `/${name}`
  await t.rejects(start(t, plain.postgres(url.href)), { code: 'REST_MODELS_UNSUPPORTED_DATABASE', message: /create it with the encoding 'UTF8'/ })
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
