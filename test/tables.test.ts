import Database from 'better-sqlite3'
import Fastify from 'fastify'
import { Kysely, sql, SqliteAdapter, SqliteDialect } from 'kysely'
import { test, type Test } from 'tap'
import restModels, {
  adminAuth, bigint, boolean, createTables, date, datetime, decimal, defineModel, foreignKey, integer, json, number, password, text, userAuth, uuid, type Model
} from '../lib/index.js'
import type { Tables } from '../lib/query/engine.js'
import { openSqlite } from '../lib/sqlite.js'
import { buildApp, client, Message, Note, registerSite, siteModels, siteUsers, User } from './helper.js'

const anybody = { open: ['list', 'read', 'create', 'update', 'delete'] as const, authenticator: () => async () => null, permits: () => false }

/** A database with what the statements make. */
async function made (t: Test, ...statements: string[]): Promise<Kysely<Tables>> {
  const db = openSqlite(':memory:')
  t.teardown(async () => { await db.destroy() })
  for (const statement of statements) await sql.raw(statement).execute(db)
  return db
}

async function definitions (db: Kysely<Tables>): Promise<Array<readonly [name: string, sql: string]>> {
  const { rows } = await sql<{ name: string, sql: string }>`select name, sql from sqlite_schema where sql is not null and name <> 'sqlite_sequence' order by rowid`.execute(db)
  return rows.map((row) => [row.name, row.sql])
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

test('createTables makes columns with their types, constraints, defaults, checks and indexes', async (t) => {
  const db = await made(t)
  await createTables(db, [Whole, Owner])
  t.strictSame(await definitions(db), [
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
      '"owner_id" integer not null unique references "owner" ("id") on delete no action',
      '"OtherOwner" integer references "owner" ("id") on delete set null',
      '"third_id" integer references "owner" ("id") on delete cascade'
    ].join(', ') + ')'],
    ['Wholes__OtherOwner__index', 'CREATE INDEX "Wholes__OtherOwner__index" on "Wholes" ("OtherOwner")'],
    ['Wholes__third_id__index', 'CREATE INDEX "Wholes__third_id__index" on "Wholes" ("third_id")'],
    ['owner', 'CREATE TABLE "owner" ("id" integer primary key autoincrement, "name" text not null unique)']
  ])
})

test('rows that are written past the API get the same defaults, and obey the same rules', async (t) => {
  const db = await made(t)
  await createTables(db, [Owner, Whole])
  await db.insertInto('owner').values({ name: 'a' }).execute()
  const row = { pin: 'x', made: 'x', owner_id: 1 }
  await db.insertInto('Wholes').values(row).execute()
  const { get } = await buildApp(t, { models: [], options: { db }, register: (registry) => { registry.register(Whole, { path: 'wholes', exclude: ['pin'] }) } })
  t.match((await get('/api/wholes/1/')).json(), {
    title: "it's",
    size: null,
    count: 2,
    big: '9007199254740993',
    ratio: 0.5,
    price: '1.50',
    flag: true,
    since: '2023-12-31 22:00:00',
    data: { a: "'" },
    at: /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/,
    day: /^\d{4}-\d\d-\d\d$/,
    key: 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11',
    owner_id: 1,
    other_id: null
  })
  await db.deleteFrom('Wholes').execute()
  const wrong = { title: '', size: 'l', count: 4, flag: 2, owner_id: 9, other: 9, made: null }
  for (const [name, value] of Object.entries(wrong)) {
    await t.rejects(db.insertInto('Wholes').values({ ...row, [name === 'other' ? 'OtherOwner' : name]: value }).execute(), { code: /^SQLITE_CONSTRAINT/ }, name)
  }
  await t.resolves(db.insertInto('Wholes').values({ ...row, title: '\u{1f600}'.repeat(5), size: "m'", count: 3, flag: 0, OtherOwner: 1 }).execute())
  await t.rejects(db.insertInto('owner').values({ name: 'a' }).execute(), { code: 'SQLITE_CONSTRAINT_UNIQUE' })
})

test('deleting a record: refused while others refer to it, or with them, or they lose the reference, as declared', async (t) => {
  const models = [Owner,
    defineModel('Refusing', { owner: foreignKey(() => Owner) }),
    defineModel('Losing', { owner: foreignKey(() => Owner, { onDelete: 'set null', nullable: true }) }),
    defineModel('Following', { owner: foreignKey(() => Owner, { onDelete: 'cascade' }) })]
  const owners = [1, 2, 3].map((id) => ({ id, name: String(id) }))
  const { delete: remove, rowsOf } = await buildApp(t, {
    models,
    register: (registry) => { for (const model of models) registry.register(model, { auth: anybody }) },
    rows: { owner: owners, refusing: [{ id: 1, owner_id: 1 }], losing: [1, 2].map((id) => ({ id, owner_id: id })), following: [1, 2, 3].map((id) => ({ id, owner_id: id })) }
  })
  t.match((await remove('/api/owner/1/')).json(), { statusCode: 409, code: 'REST_MODELS_STILL_REFERENCED' })
  t.strictSame([(await rowsOf('owner')).length, (await rowsOf('losing')).length, (await rowsOf('following')).length], [3, 2, 3], 'a refused delete changes nothing')
  t.equal((await remove('/api/owner/2/')).statusCode, 204)
  t.strictSame(await rowsOf('losing'), [{ id: 1, owner_id: 1 }, { id: 2, owner_id: null }])
  t.strictSame(await rowsOf('following'), [{ id: 1, owner_id: 1 }, { id: 3, owner_id: 3 }])
})

test('an id is never used twice', async (t) => {
  const { post, delete: remove } = await buildApp(t, { models: [Owner], register: (registry) => { registry.register(Owner, { auth: anybody }) } })
  t.equal((await post('/api/owner/', { name: 'a' })).json().id, 1)
  t.equal((await post('/api/owner/', { name: 'b' })).json().id, 2)
  t.equal((await remove('/api/owner/2/')).statusCode, 204)
  t.equal((await post('/api/owner/', { name: 'c' })).json().id, 3)
})

test('tables that exist are compared and never altered', async (t) => {
  const db = await made(t, 'create table note (id integer primary key, message varchar(10) not null, created text not null, extra blob)')
  await db.insertInto('note').values({ id: 5, message: 'old', created: '2020-01-01T10:00:00.5', extra: 'x' }).execute()
  const [before] = await definitions(db)
  await createTables(db, siteModels)
  await createTables(db, siteModels)
  const after = await definitions(db)
  t.strictSame(after[0], before)
  t.strictSame(after.map(([name]) => name).filter((name) => !name.includes('index')), ['note', 'user', 'relationship', 'message'])
  t.strictSame(await db.selectFrom('note').selectAll().execute(), [{ id: 5, message: 'old', created: '2020-01-01T10:00:00.5', extra: 'x' }])
})

test('a table that does not fit keeps all the others from being made', async (t) => {
  const db = await made(t, 'create table note (id integer primary key, message integer not null)')
  const before = await definitions(db)
  await t.rejects(createTables(db, siteModels), { code: 'REST_MODELS_TABLE_MISMATCH', message: /'message' of model 'Note' is text(.|\n)*'created' of model 'Note'/ })
  t.strictSame(await definitions(db), before)
  await t.resolves(createTables(db, siteModels.filter((model) => model !== Note)))
})

test('a table that cannot be made keeps all the others from being made', async (t) => {
  const db = await made(t, 'create table other (x)', 'create index message__user_id__index on other (x)')
  const before = await definitions(db)
  await t.rejects(createTables(db, siteModels), /message__user_id__index/)
  t.strictSame(await definitions(db), before)
})

/** Tables that somebody else made, long ago. */
const legacyTables = [
  `create table "Accounts" ("id" integer not null primary key, "Login" varchar(30) collate nocase not null unique, "PASS" varchar(200) not null,
    "Enabled" tinyint not null default 1, "IsRoot" smallint not null default 0, "Created" timestamp not null)`,
  `create table "app__post" (id integer primary key, "AUTHOR" int not null references "Accounts" (id), "Body" clob not null collate nocase,
    "Price" numeric(8,2), "Stamp" text, "Blob" clob, untyped, dropped text)`
]
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
  untyped: text({ nullable: true })
}, { table: 'app__post' })
const accountColumns = { username: 'login', password: 'pass', active: 'enabled', admin: 'root' } as const

async function legacyApp (t: Test) {
  const db = await made(t, ...legacyTables)
  for (const { id, username, password, active, admin } of await siteUsers() ?? []) {
    await db.insertInto('Accounts').values({ id, Login: username, PASS: password, Enabled: active, IsRoot: admin, Created: '2011-01-01T10:00:00.123Z' }).execute()
  }
  const app = await buildApp(t, {
    models: [],
    options: { db },
    register: (registry) => {
      registry.register(Account, { auth: adminAuth(Account, accountColumns), exclude: ['pass'] })
      registry.register(Post, { auth: userAuth(Account, accountColumns), ownerField: 'author' })
    }
  })
  return { ...app, db }
}

test('tables made by hand, with other names of tables and columns, work by the names of the model', async (t) => {
  const { get, post, put, delete: remove, db } = await legacyApp(t)
  const written = { body: 'B', price: '12.5', stamp: '2024-01-01T00:00:00Z', blob: [1], untyped: '007' }
  const created = await post('/api/post/', written, { as: 'alice' })
  t.equal(created.statusCode, 201, created.body)
  const record = { id: 1, author_id: 2, body: 'B', price: '12.50', stamp: '2024-01-01 00:00:00', blob: [1], untyped: '007' }
  t.strictSame(created.json(), record)
  t.strictSame((await get('/api/post/?author__login=alice&price__lt=13&ordering=-stamp,body')).json().objects, [record])
  t.strictSame(await db.selectFrom('app__post').selectAll().execute(),
    [{ id: 1, AUTHOR: 2, Body: 'B', Price: 12.5, Stamp: '2024-01-01 00:00:00', Blob: '[1]', untyped: '007', dropped: null }])
  for (const name of ['Body', 'AUTHOR', 'dropped', 'author__Login']) t.equal((await get(`/api/post/?${name}=1`)).statusCode, 400, `${name} is no name of the API`)
  t.strictSame((await put('/api/post/1/', { body: 'C' }, { as: 'alice' })).json(), { ...record, body: 'C' })
  t.equal((await put('/api/post/1/', { body: 'D' }, { as: 'bob' })).statusCode, 403)
  t.equal((await put('/api/post/1/', { AUTHOR: 3 }, { as: 'alice' })).statusCode, 400)
  t.equal((await remove('/api/post/1/', { as: 'alice' })).statusCode, 204)
})

test('a login works by other columns: inactive, admin, and exact although the column ignores case', async (t) => {
  const { post, put } = await legacyApp(t)
  const status = async (as: readonly [string, string]) => (await post('/api/post/', { body: 'x' }, { as })).statusCode
  t.equal(await status(['alice', 'alice']), 201)
  t.equal(await status(['ALICE', 'alice']), 401)
  t.equal(await status(['carol', 'carol']), 401)
  const root = async (as: string) => (await put('/api/account/3/', { enabled: false }, { as })).statusCode
  t.equal(await root('alice'), 403)
  t.equal(await root('admin'), 200)
  t.equal(await status(['bob', 'bob']), 401)
})

test('datetimes that others stored, with a T, a fraction or a zone, are read in the form of the service document', async (t) => {
  const { get, db } = await legacyApp(t)
  const stored = ['2024-01-01T10:00:00', '2024-01-01 10:00:00.123456', '2024-01-01T10:00:00.123Z', '2024-01-01 12:00:00+02:00', '2024-01-01 10:00:00']
  for (const Stamp of stored) await db.insertInto('app__post').values({ AUTHOR: 2, Body: 'x', Stamp }).execute()
  const { objects } = (await get('/api/post/')).json<{ objects: Array<{ stamp: string }> }>()
  t.strictSame(objects.map(({ stamp }) => stamp), stored.map(() => '2024-01-01 10:00:00'))
  t.equal((await get('/api/account/1/')).json().created, '2011-01-01 10:00:00')
  await db.insertInto('app__post').values({ AUTHOR: 2, Body: 'x', Stamp: 'some day' }).execute()
  t.equal((await get('/api/post/?ordering=-id')).json().objects[0].stamp, 'some day', 'what cannot be read is shown as it is')
})

test('a column that ignores case is still compared, listed and matched character by character', async (t) => {
  const { get, db } = await legacyApp(t)
  for (const Body of ['B', 'a', 'A', 'b']) await db.insertInto('app__post').values({ AUTHOR: 2, Body }).execute()
  const bodies = async (query: string) => (await get(`/api/post/?${query}`)).json<{ objects: Array<{ body: string }> }>().objects.map(({ body }) => body)
  t.strictSame(await bodies('body=a'), ['a'])
  t.strictSame(await bodies('body__in=a,B'), ['B', 'a'])
  t.strictSame(await bodies('body__ne=A'), ['B', 'a', 'b'])
  t.strictSame(await bodies('body__lt=a'), ['B', 'A'])
  t.strictSame(await bodies('body__like=a'), ['a'])
  t.strictSame(await bodies('body__ilike=a'), ['a', 'A'])
  t.strictSame(await bodies('author__login=ALICE'), [])
  t.strictSame(await bodies('ordering=body'), ['A', 'B', 'a', 'b'], 'as on a column that minds the case')
})

async function planOf ({ db, statements }: Awaited<ReturnType<typeof buildApp>>, part: string): Promise<string> {
  const statement = statements.find(({ sql: text }) => text.includes(part))
  if (statement === undefined) return `no statement with ${part}`
  const { rows } = await db.executeQuery<{ detail: string }>({ ...statement, sql: `explain query plan ${statement.sql}` })
  return rows.map(({ detail }) => detail).join('\n')
}

test('a login, a filter by a unique text, an owner and a foreign key use their indexes', async (t) => {
  const app = await buildApp(t, {
    register: (registry) => {
      registry.register(User, { exclude: ['password'] })
      registry.register(Message, { auth: userAuth(User), ownerField: 'user' })
    }
  })
  await app.post('/api/message/', { content: 'x' }, { as: 'alice' })
  t.match(await planOf(app, 'from "user"'), /^SEARCH user USING INDEX sqlite_autoindex_user_1 \(username=\?\)/, 'a login')
  app.forget()
  await app.get('/api/user/?username=alice')
  t.match(await planOf(app, 'from "user"'), /SEARCH t0 USING INDEX sqlite_autoindex_user_1 \(username=\?\)/, 'eq')
  app.forget()
  await app.get('/api/user/?username__in=alice,bob')
  t.match(await planOf(app, 'from "user"'), /SEARCH t0 USING INDEX sqlite_autoindex_user_1 \(username=\?\)/, 'in')
  app.forget()
  await app.get('/api/user/?ordering=-username')
  t.match(await planOf(app, 'from "user"'), /^SCAN t0 USING INDEX sqlite_autoindex_user_1$/, 'an ordering')
  app.forget()
  await app.get('/api/message/?user=2')
  t.match(await planOf(app, 'from "message"'), /SEARCH t0 USING INDEX message__user_id__index \(user_id=\?/, 'a foreign key')
  app.forget()
  await app.get('/api/message/?user__username=alice')
  t.match(await planOf(app, 'from "message"'), /SEARCH t1 USING COVERING INDEX sqlite_autoindex_user_1 \(username=\?\)\nSEARCH t0 USING INDEX message__user_id__index/, 'a join')
})

test('a new column of a table does not show by itself', async (t) => {
  const app = await buildApp(t, { register: registerSite, rows: { note: [{ id: 1, message: 'x', created: '2024-01-01 00:00:00' }] } })
  await sql`alter table note add column token text not null default 'secret'`.execute(app.db)
  t.strictSame((await app.get('/api/note/1/')).json(), { id: 1, message: 'x', created: '2024-01-01 00:00:00' })
  t.equal((await app.get('/api/note/?token=secret')).statusCode, 400)
  t.equal((await app.get('/api/note/?message=x')).json().objects.length, 1)
})

test('a view may stand for a table that is only read', async (t) => {
  const db = await made(t)
  await createTables(db, siteModels)
  await sql`create view busy as select id, username from "user" where active = 1`.execute(db)
  const Busy: Model = defineModel('Busy', { username: text() })
  const start = async () => await buildApp(t, { models: [], options: { db }, register: (registry) => { registry.register(Busy) } })
  const reply = await start().then(async ({ get }) => (await get('/api/busy/')).statusCode, (error: Error) => error.message)
  t.match(reply, /field 'username' of model 'Busy' is not nullable, but column 'username' is nullable/, 'SQLite knows of no rules in views')
  const Loose = defineModel('Loose', { username: text({ nullable: true }) }, { table: 'busy' })
  const { get } = await buildApp(t, { models: [], options: { db }, register: (registry) => { registry.register(Loose) } })
  t.equal((await get('/api/loose/')).statusCode, 200)
})

test('tables and columns that the engine does not tell apart by case are found', async (t) => {
  const db = await made(t, 'create table "Note" (ID integer primary key, Message text not null, "CREATED" datetime not null)')
  await createTables(db, [Note])
  t.equal((await definitions(db)).length, 1)
})

test('a model that is named twice, and two models on one table, are made once', async (t) => {
  const Short = defineModel('Short', { message: text() }, { table: 'note' })
  const db = await made(t)
  await createTables(db, [Note, Note])
  await createTables(db, [Short])
  t.same((await definitions(db)).map(([name]) => name), ['note'])
  const Other = defineModel('Other', { message: integer() }, { table: 'page' })
  const Page = defineModel('Page', { message: text() })
  await t.rejects(createTables(db, [Page, Other]), /field 'message' of model 'Page' is text, but column 'message' is integer/i)
  t.same((await definitions(db)).map(([name]) => name), ['note'], 'nothing is made')
})

test('indexes of tables and columns whose names run together do not collide', async (t) => {
  const A = defineModel('A', { b_c: foreignKey(() => Owner) })
  const AB = defineModel('A_b', { c: foreignKey(() => Owner) })
  const db = await made(t)
  await createTables(db, [Owner, A, AB])
  t.equal((await definitions(db)).filter(([, made]) => made.includes('INDEX') || made.includes('index')).length, 2)
})

test('a stored boolean that is neither 0 nor 1 passes for nothing, least of all for an admin', async (t) => {
  const db = await made(t)
  await createTables(db, siteModels)
  await sql`pragma ignore_check_constraints = on`.execute(db)
  for (const [id, admin, active] of [[1, 1, 1], [2, "'f'", "'t'"], [3, 1, "'f'"], [4, 2, 1]] as const) {
    const { password: hash } = (await siteUsers())[id - 1] ?? {}
    await sql`insert into user (id, username, password, email, active, admin) values (${id}, ${`user${id}`}, ${hash}, 'x', ${sql.raw(String(active))}, ${sql.raw(String(admin))})`.execute(db)
  }
  const { post, get } = await appOn(t, db)
  const names = ['admin', 'alice', 'bob', 'carol']
  const statuses = []
  for (const [index, name] of names.entries()) statuses.push((await post('/api/user/', { username: 'new', password: 'x', email: 'y' }, { as: [`user${index + 1}`, name] })).statusCode)
  t.same(statuses, [201, 500, 500, 500])
  t.equal((await get('/api/user/2/')).statusCode, 500)
  t.equal((await get('/api/user/1/')).statusCode, 200)
})

test('a connection that gives integers as BigInt is refused at start-up', async (t) => {
  const database = new Database(':memory:').defaultSafeIntegers(true)
  const db = new Kysely<Tables>({ dialect: new SqliteDialect({ database }) })
  t.teardown(async () => { await db.destroy() })
  database.pragma('foreign_keys = on')
  await createTables(db, siteModels)
  await t.rejects(appOn(t, db), { code: 'REST_MODELS_UNSUPPORTED_DATABASE', message: /defaultSafeIntegers/ })
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

async function appOn (t: Test, db: Kysely<Tables>) {
  const app = Fastify()
  t.teardown(async () => { await app.close() })
  await app.register(restModels, { db })
  registerSite(app.restModels)
  await app.restModels.setup()
  return client(app)
}

test('tables that another process made a moment ago are taken for what they are', async (t) => {
  const db = await made(t)
  await createTables(db, siteModels)
  let looked = 0
  const late = new Proxy(db, {
    get (target, name) {
      if (name === 'introspection' && looked++ === 0) return { getTables: async () => [] }
      const value: unknown = Reflect.get(target, name, target)
      return typeof value === 'function' ? value.bind(target) : value
    }
  })
  await t.resolves(createTables(late, siteModels))
  t.equal(looked, 2)
  looked = 0
  const Other = defineModel('Note', { message: integer() })
  await t.rejects(createTables(late, [Other]), { code: 'REST_MODELS_TABLE_MISMATCH' })
})
