// @servers: the engine refuses, and says why in its own way

import { randomBytes } from 'node:crypto'
import { sql } from 'kysely'
import type { LightMyRequestResponse } from 'fastify'
import { test, type Test } from 'tap'
import {
  createTables, defineModel, foreignKey, openAuth, text, type Field, type Model, type Policy
} from '../../lib/index.js'
import { openSqlite } from '../../lib/sqlite.js'
import { engine } from '../support/database.js'
import { buildApp, Message, User, type BuildOptions, type TestApp } from '../support/site.js'

const anybody: Policy = {
  open: ['list', 'read', 'create', 'update', 'delete'], authenticator: () => async () => null, permits: () => false
}
const Pair = defineModel('Pair', {
  left: text({ unique: true }),
  right: text({ unique: true }),
  group: text({ maxLength: 100 }),
  user: foreignKey(() => User),
  other: foreignKey(() => User, { nullable: true })
})
const pairs: BuildOptions = {
  models: [User, Pair], register: (registry) => { registry.register(Pair, { auth: anybody }) }
}

test('of several unique fields the one that is taken is named, on create and on update', async (t) => {
  const { post, put } = await buildApp(t, pairs)
  await post('/api/pair/', { left: 'a', right: 'b', group: 'g', user: 1 })
  await post('/api/pair/', { left: 'c', right: 'd', group: 'g', user: 1 })
  t.match((await post('/api/pair/', { left: 'x', right: 'b', group: 'g', user: 1 })).json(), {
    statusCode: 409, details: [{ field: 'right' }]
  })
  t.match((await put('/api/pair/2/', { left: 'a', right: 'd' })).json(), {
    statusCode: 409, details: [{ field: 'left' }]
  })
  t.match(
    (await put('/api/pair/2/', { left: 'c', right: 'b' })).json(), { statusCode: 409, details: [{ field: 'right' }] },
    'its own value is not the one'
  )
  t.equal((await put('/api/pair/2/', { left: 'c', right: 'e' })).statusCode, 200, 'its own values are not taken')
})

test('of several foreign keys the one that refers to nothing is named', async (t) => {
  const { post } = await buildApp(t, pairs)
  t.match((await post('/api/pair/', { left: 'a', right: 'b', group: 'g', user: 1, other: 99 })).json(), {
    statusCode: 400, details: [{ field: 'other_id' }]
  })
  t.match((await post('/api/pair/', { left: 'a', right: 'b', group: 'g', user: 99, other: 1 })).json(), {
    statusCode: 400, details: [{ field: 'user_id' }]
  })
  t.equal((await post('/api/pair/', { left: 'a', right: 'b', group: 'g', user: 1, other: null })).statusCode, 201)
})

test('a new record may refer to itself, with and without hooks', async (t) => {
  const Node = defineModel('Node', {
    id: text({ maxLength: 40 }),
    parent: foreignKey((): Model<'Node', { id: Field<'text'> }> => Node),
    user: foreignKey(() => User)
  })
  const { post } = await buildApp(t, {
    models: [User, Node],
    register: (registry) => {
      registry.register(Node, { auth: anybody })
      registry.register(Node, { auth: anybody, path: 'before', beforeWrite: () => {} })
      registry.register(Node, { auth: anybody, path: 'after', afterWrite: () => {} })
    }
  })
  for (const path of ['node', 'before', 'after']) {
    const create = async (id: string, parent: string, user = 1) =>
      (await post(`/api/${path}/`, { id, parent, user })).json<object>()
    t.match(await create(path, path), { id: path, parent_id: path }, path)
    t.match(await create(path, path), { statusCode: 409, details: [{ field: 'id' }] }, 'not twice')
    t.match(await create('x', 'y'), { statusCode: 400, details: [{ field: 'parent_id' }] })
    t.match(await create('x', 'x', 99), { statusCode: 400, details: [{ field: 'user_id' }] },
      'of two references the one that leads nowhere is named')
  }
})

test('a unique index that no field declares is a 409 that blames no field', async (t) => {
  const { post, db } = await buildApp(t, pairs)
  await db.schema.createIndex('one_of_a_group').unique().on('pair').column('group').execute()
  t.equal((await post('/api/pair/', { left: 'a', right: 'b', group: 'g', user: 1 })).statusCode, 201)
  const { statusCode, code, details } =
    (await post('/api/pair/', { left: 'c', right: 'd', group: 'g', user: 1 })).json()
  t.same([statusCode, code, details], [409, 'REST_MODELS_CONSTRAINT', undefined])
})

/** Gives pairs a column of which no model knows, and which refers to nothing in every new one. */
const addHidden = {
  sqlite: [
    'alter table pair add column hidden integer default null references "user" (id)',
    'create trigger fills after insert on pair begin update pair set hidden = 99 where id = new.id; end'
  ],
  postgres: [
    'alter table pair add column hidden bigint references "user" (id)',
    'create function fill() returns trigger language plpgsql as $$ begin new.hidden := 99; return new; end $$',
    'create trigger fills before insert on pair for each row execute function fill()'
  ],
  mariadb: [
    'alter table pair add column hidden bigint, add foreign key (hidden) references user (id)',
    'create trigger fills before insert on pair for each row set new.hidden = 99'
  ]
}

test('a foreign key that no field declares is a 409 that blames no field', async (t) => {
  const { post, db } = await buildApp(t, pairs)
  for (const statement of addHidden[engine]) await sql.raw(statement).execute(db)
  const { statusCode, code, details } =
    (await post('/api/pair/', { left: 'a', right: 'b', group: 'g', user: 1 })).json()
  t.same([statusCode, code, details], [409, 'REST_MODELS_CONSTRAINT', undefined])
})

const events = ['insert', 'update', 'delete']

/** A message of alice's, and what the three writes are answered after the database was changed. */
async function writesAfter (t: Test, statements: readonly string[]) {
  const { post, put, delete: remove, db, rowsOf } = await buildApp(t, {
    rows: { message: [{ id: 1, user_id: 2, content: 'kept', pub_date: '2024-01-01 10:00:00' }] }
  })
  for (const statement of statements) await sql.raw(statement).execute(db)
  const replies = [
    await post('/api/message/', { content: 'new' }, { as: 'alice' }),
    await put('/api/message/1/', { content: 'changed' }, { as: 'alice' }),
    await remove('/api/message/1/', { as: 'alice' })
  ]
  t.match(await rowsOf('message'), [{ id: 1, content: 'kept' }])
  return replies
}

const refuse = {
  sqlite: events.map((event) =>
    `create trigger no_${event} before ${event} on message begin select raise(abort, 'inner words'); end`),
  postgres: [
    "create function refuse() returns trigger language plpgsql as $$ begin raise exception 'inner words'; end $$",
    `create trigger no before ${events.join(' or ')} on message for each row execute function refuse()`
  ],
  mariadb: events.map((event) => `create trigger no_${event} before ${event} on message for each row signal sqlstate ` +
    '\'45000\' set message_text = \'inner words\'')
}

test('a write that a trigger refuses is a 409 without its words', async (t) => {
  for (const reply of await writesAfter(t, refuse[engine])) {
    t.match(reply.json(), { statusCode: 409, code: 'REST_MODELS_CONSTRAINT' })
    t.notMatch(reply.body, 'inner words')
  }
})

// A trigger of MariaDB can refuse a write, but not skip it.
if (engine !== 'mariadb') {
  const skip = {
    sqlite: events.map((event) =>
      `create trigger no_${event} before ${event} on message begin select raise(ignore); end`),
    postgres: [
      'create function skip() returns trigger language plpgsql as $$ begin return null; end $$',
      `create trigger no before ${events.join(' or ')} on message for each row execute function skip()`
    ]
  }[engine]

  test('a write that a trigger drops in silence is a 409, not a success', async (t) => {
    for (const reply of await writesAfter(t, skip)) {
      t.match(reply.json(), { statusCode: 409, code: 'REST_MODELS_CONSTRAINT' })
    }
  })
}

test('a resource whose fields are all read-only suggests no name for an unknown one', async (t) => {
  const Fixed = defineModel('Fixed', { label: text({ default: 'x' }) })
  const { post } = await buildApp(t, {
    models: [Fixed], register: (registry) => { registry.register(Fixed, { auth: anybody, readOnly: ['label'] }) }
  })
  t.same((await post('/api/fixed/', { lable: 'y' })).json().details, [
    { field: 'lable', message: 'is not a field of this resource' }
  ])
  t.match((await post('/api/fixed/', {})).json(), { id: 1, label: 'x' })
})

test('a name that is much too long for a typing error gets no suggestion', async (t) => {
  const { post } = await buildApp(t, {
    models: [User, Message], register: (registry) => { registry.register(Message, { auth: anybody }) }
  })
  const { details } = (await post('/api/message/', { content: 'x', user: 1, ['c'.repeat(200)]: 1 })).json()
  t.same(details, [{ field: `${'c'.repeat(100)}…`, message: 'is not a field of this resource' }])
})

const deferred = {
  sqlite: 'create table child (id integer primary key, user_id bigint not null references user (id) deferrable ' +
    'initially deferred)',
  postgres: 'create table child (id bigint generated by default as identity primary key, ' +
    'user_id bigint not null references "user" (id) deferrable initially deferred)',
  mariadb: undefined
}[engine]

if (deferred !== undefined) {
  test('what the database refuses when it commits is refused, and changes nothing', async (t) => {
    const Child = defineModel('Child', { user: foreignKey(() => User) })
    const { db, post, put, rowsOf } = await buildApp(t, {
      models: [User, Child], register: (registry) => { registry.register(Child, { auth: anybody }) }
    })
    await db.schema.dropTable('child').execute()
    await sql.raw(deferred).execute(db)
    t.equal((await post('/api/child/', { user: 1 })).statusCode, 201)
    const refused = { statusCode: 400, code: 'REST_MODELS_UNKNOWN_REFERENCE', details: [{ field: 'user_id' }] }
    t.match((await post('/api/child/', { user: 99 })).json(), refused)
    t.match((await put('/api/child/1/', { user: 99 })).json(), refused)
    t.same(await rowsOf('child'), [{ id: 1, user_id: 1 }])
  })

  test('a delete that the database refuses when it commits is a 409, also under If-Match and with hooks', async (t) => {
    const Child = defineModel('Child', { user: foreignKey(() => User) })
    const calls: string[] = []
    const { db, get, delete: remove, rowsOf } = await buildApp(t, {
      models: [User, Child],
      register: (registry) => {
        registry.register(User, { auth: anybody, etag: true })
        registry.register(User, { auth: anybody, path: 'hooked', afterWrite: async () => { calls.push('called') } })
      }
    })
    await db.schema.dropTable('child').execute()
    await sql.raw(deferred).execute(db)
    await db.insertInto('child').values({ user_id: 1 }).execute()
    const { etag = '' } = (await get('/api/user/1/')).headers
    const refused = { statusCode: 409, code: 'REST_MODELS_STILL_REFERENCED' }
    t.match((await remove('/api/user/1/')).json(), refused)
    t.match((await remove('/api/user/1/', { headers: { 'if-match': String(etag) } })).json(), refused)
    t.match((await remove('/api/hooked/1/')).json(), refused)
    t.same(calls, ['called'])
    t.equal((await rowsOf('user')).length, 4)
  })
}

if (engine === 'sqlite') {
  test('a reference to a table that the service cannot read is a 409 if there is no such record', async (t) => {
    const Child = defineModel('Child', { user: foreignKey(() => User) })
    const { db, post } = await buildApp(t, {
      models: [User, Child], register: (registry) => { registry.register(Child, { auth: anybody }) }
    })
    await sql`alter table user rename to person`.execute(db)
    t.match((await post('/api/child/', { user: 99 })).json(), { statusCode: 409, code: 'REST_MODELS_CONSTRAINT' })
  })
}

/** How a site answers to a write that its database refuses, and what the log has of it. */
async function refused (
  t: Test, write: (app: TestApp) => Promise<LightMyRequestResponse>, ...statements: readonly string[]
) {
  const lines: string[] = []
  const app = await buildApp(t, {
    ...pairs, server: { logger: { level: 'error', stream: { write: (line) => { lines.push(line) } } } }
  })
  for (const statement of statements) await sql.raw(statement).execute(app.db)
  const { statusCode, code, details } = (await write(app)).json()
  t.same(lines, [], 'it is no error of the service')
  return [statusCode, code, details] as const
}

const pair = { left: 'a', right: 'b', group: 'g', user: 1 }
const constraint = [409, 'REST_MODELS_CONSTRAINT', undefined]
const create = async ({ post }: TestApp) => await post('/api/pair/', pair)

const onPostgres = { skip: engine !== 'postgres' && 'about PostgreSQL' }
const onMariadb = { skip: engine !== 'mariadb' && 'about MariaDB' }
const onSqlite = { skip: engine !== 'sqlite' && 'about SQLite' }

/** A text that cannot be compressed. */
const noise = (length: number): string => randomBytes(length).toString('base64url').slice(0, length)

test('D-114: a text too long for an index of PostgreSQL is a 400 that names the field', onPostgres, async (t) => {
  const Essay = defineModel('Essay', { title: text({ nullable: true }), body: text({ nullable: true }) })
  const { post, put, db } = await buildApp(t, {
    models: [Essay], register: (registry) => { registry.register(Essay, { auth: anybody }) }
  })
  await sql`create index essay_title on essay (title)`.execute(db)
  const body = noise(8000)
  t.equal((await post('/api/essay/', { title: noise(1000), body })).statusCode, 201)
  const failure = {
    statusCode: 400,
    code: 'REST_MODELS_INVALID_RECORD',
    message: "Invalid 'title'",
    details: [{ field: 'title', message: 'is too long for an index of the database' }]
  }
  t.match((await post('/api/essay/', { title: noise(5000), body })).json(), failure)
  t.match((await put('/api/essay/1/', { title: noise(5000) })).json(), failure)
  await sql`truncate essay`.execute(db)
  await sql`create index essay_both on essay (title, (substr(body, 1, 2000)))`.execute(db)
  t.match((await post('/api/essay/', { title: noise(2000), body })).json(), failure, 'beside an expression')
  await sql`drop index essay_title, essay_both`.execute(db)
  await sql`create index essay_expression on essay ((body || 'x'))`.execute(db)
  t.match(
    (await post('/api/essay/', { body })).json(), { statusCode: 409, code: 'REST_MODELS_CONSTRAINT' },
    'of an expression nobody can tell'
  )
})

test('D-117: a hidden field that is too long for an index of PostgreSQL is not named', onPostgres, async (t) => {
  const Essay = defineModel('Essay', { body: text(), shadow: text({ default: '' }) })
  const { post, db } = await buildApp(t, {
    models: [Essay],
    register: (registry) => {
      registry.register(Essay, {
        auth: anybody,
        exclude: ['shadow'],
        readOnly: ['shadow'],
        beforeWrite: ({ values: { body = '' } }) => ({ shadow: body })
      })
    }
  })
  await sql`create index essay_shadow on essay (shadow)`.execute(db)
  t.match((await post('/api/essay/', { body: noise(5000) })).json(), {
    statusCode: 409, code: 'REST_MODELS_CONSTRAINT', details: undefined
  })
})

test('D-114: a value too long for an index of PostgreSQL that goes unnamed is a 409', onPostgres, async (t) => {
  const Essay = defineModel('Essay', { body: text() })
  const { post, db } = await buildApp(t, {
    models: [Essay], register: (registry) => { registry.register(Essay, { auth: anybody }) }
  })
  await sql`create index essay_body on essay using spgist (body)`.execute(db)
  await sql`create function too_long() returns trigger language plpgsql as $$
    begin perform repeat('x', 2000000000); return new; end $$`.execute(db)
  await sql`create trigger too_long before insert on essay for each row execute function too_long()`.execute(db)
  t.match((await post('/api/essay/', { body: 'x' })).json(), { statusCode: 409, code: 'REST_MODELS_CONSTRAINT' })
})

test('D-115: what a row policy of PostgreSQL refuses is a 403, a missing privilege a 500', onPostgres, async (t) => {
  const Note = defineModel('Note', { message: text() })
  const { db } = await buildApp(t, { models: [Note], register: () => {} })
  const { rows: [names] } = await sql<{ schema: string }>`select current_schema() as schema`.execute(db)
  const role = sql.ref(`role_${randomBytes(8).toString('hex')}`)
  const statements = [
    sql`create role ${role}`, sql`grant usage on schema ${sql.ref(names?.schema ?? '')} to ${role}`,
    sql`grant select, insert, update, delete on note to ${role}`, sql`alter table note enable row level security`,
    sql`create policy visible on note using (message <> 'hidden') with check (message not in ('secret', 'hidden'))`
  ]
  for (const statement of statements) await statement.execute(db)
  t.teardown(async () => {
    await sql`drop owned by ${role}`.execute(db)
    await sql`drop role ${role}`.execute(db)
  })
  await db.connection().execute(async (connection) => {
    await sql`set role ${role}`.execute(connection)
    const lines: string[] = []
    const { get, post, put, delete: remove } = await buildApp(t, {
      models: [],
      options: { db: connection },
      register: (registry) => { registry.register(Note, { auth: anybody }) },
      server: { logger: { level: 'error', stream: { write: (line) => { lines.push(line) } } } }
    })
    t.equal((await post('/api/note/', { message: 'open' })).statusCode, 201)
    const forbidden = { statusCode: 403, code: 'REST_MODELS_FORBIDDEN' }
    t.match((await post('/api/note/', { message: 'secret' })).json(), forbidden)
    t.match((await put('/api/note/1/', { message: 'secret' })).json(), forbidden)
    t.same(lines, [])
    await sql`reset role`.execute(connection)
    await sql`create function keep() returns trigger language plpgsql as $$ begin raise insufficient_privilege; end $$`
      .execute(connection)
    await sql`create trigger keep before delete on note for each row execute function keep()`.execute(connection)
    await sql`set role ${role}`.execute(connection)
    t.match((await remove('/api/note/1/')).json(), forbidden, 'a trigger may say so as well')
    await sql`reset role`.execute(connection)
    await sql`revoke insert on note from ${role}`.execute(connection)
    await sql`set role ${role}`.execute(connection)
    t.equal((await post('/api/note/', { message: 'open' })).statusCode, 500)
    t.match(lines.join(), /permission denied for table note/)
    t.equal((await get('/api/note/')).statusCode, 200)
    await sql`reset role`.execute(connection)
  })
})

test('D-115: a record that a row policy keeps from a write, but not from reads, is a 404', onPostgres, async (t) => {
  const Note = defineModel('Note', { message: text() })
  const rows = { note: [{ id: 1, message: 'fixed' }] }
  const { db } = await buildApp(t, { models: [Note], rows, register: () => {} })
  const { rows: [names] } = await sql<{ schema: string }>`select current_schema() as schema`.execute(db)
  const role = sql.ref(`role_${randomBytes(8).toString('hex')}`)
  for (const statement of [
    sql`create role ${role}`, sql`grant usage on schema ${sql.ref(names?.schema ?? '')} to ${role}`,
    sql`grant select, insert, update, delete on note to ${role}`, sql`alter table note enable row level security`,
    sql`create policy reads on note for select using (true)`,
    sql`create policy updates on note for update using (message <> 'fixed')`,
    sql`create policy deletes on note for delete using (message <> 'fixed')`
  ]) await statement.execute(db)
  t.teardown(async () => {
    await sql`drop owned by ${role}`.execute(db)
    await sql`drop role ${role}`.execute(db)
  })
  await db.connection().execute(async (connection) => {
    await sql`set role ${role}`.execute(connection)
    const { get, put, delete: remove } = await buildApp(t, {
      models: [], options: { db: connection }, register: (registry) => { registry.register(Note, { auth: anybody }) }
    })
    t.equal((await get('/api/note/1/')).statusCode, 200)
    t.equal((await put('/api/note/1/', { message: 'open' })).statusCode, 404)
    t.equal((await remove('/api/note/1/')).statusCode, 404)
    await sql`reset role`.execute(connection)
  })
})

const computed = (expression: string): string => engine === 'sqlite'
  ? `alter table pair add column computed integer as (${expression}) virtual`
  : `alter table pair add column computed integer generated always as (${expression}) stored`

test('D-114: what a computed column cannot make of a value is a 409', {
  skip: engine === 'sqlite' && 'SQLite makes null of it'
}, async (t) => {
  t.same(
    await refused(
      t, create,
      computed('1 / (length(left_of(pair)) - 1)'.replace('left_of(pair)', engine === 'mariadb' ? '`left`' : '"left"'))
    ),
    constraint, 'a division by zero'
  )
})

test('D-114: what a trigger of PostgreSQL refuses is a 409, whatever code it gives', onPostgres, async (t) => {
  for (const [index, raise] of [
    "raise exception 'no'", "raise exception 'no' using errcode = 'MY001'", 'raise unique_violation',
    "raise exception 'no' using errcode = 'XX000'"
  ].entries()) {
    t.same(await refused(t, create,
      `create function refuse${index}() returns trigger language plpgsql as $$ begin ${raise}; end $$`,
      `create trigger refuse${index} before insert on pair for each row execute function refuse${index}()`
    ), constraint, raise)
  }
})

const Seen = defineModel('Seen', { group: text({ nullable: engine !== 'mariadb' }) }, { table: 'seen' })

test('D-114: what the condition of a view excludes is a 409', {
  skip: engine === 'sqlite' && 'views of SQLite have none'
}, async (t) => {
  const app = await buildApp(t, { models: [User, Pair], register: () => {} })
  await app.db.insertInto('pair').values({ left: 'a', right: 'b', group: 'g', user_id: 1 }).execute()
  const group = engine === 'mariadb' ? '`group`' : '"group"'
  await sql.raw(`create view seen as select id, ${group} from pair where ${group} <> 'other' with check option`)
    .execute(app.db)
  const { put } = await buildApp(t, {
    models: [], options: { db: app.db }, register: (registry) => { registry.register(Seen, { auth: anybody }) }
  })
  t.match((await put('/api/seen/1/', { group: 'other' })).json(), { statusCode: 409, code: 'REST_MODELS_CONSTRAINT' })
  t.equal((await put('/api/seen/1/', { group: 'mine' })).statusCode, 200)
})

test('D-114: MariaDB: a value without a partition, or a number out of range, is a 409', onMariadb, async (t) => {
  t.same(
    await refused(
      t, create, 'create trigger odd before insert on pair for each row set new.group = cast(0 as unsigned) - 1'
    ),
    constraint
  )
  const Part = defineModel('Part', { number: text() })
  const { db } = await buildApp(t, { models: [User], register: () => {} })
  await sql`create table part (id bigint auto_increment primary key, number varchar(20) not null)
    partition by range (id) (partition p values less than (2))`.execute(db)
  const app = await buildApp(t, {
    models: [], options: { db }, register: (registry) => { registry.register(Part, { auth: anybody }) }
  })
  t.equal((await app.post('/api/part/', { number: '1' })).statusCode, 201)
  t.match((await app.post('/api/part/', { number: '2' })).json(), { statusCode: 409, code: 'REST_MODELS_CONSTRAINT' })
})

test('D-114: SQLite: a value that is too big, and one that is no key, is a 409', onSqlite, async (t) => {
  t.same(
    await refused(t, create, 'create trigger big after insert on pair begin select length(zeroblob(2000000000)); end'),
    constraint
  )
  t.same(
    await refused(t, create, "create trigger odd after insert on pair begin insert into pair (id) values ('x'); end"),
    constraint
  )
})

test('D-114: MariaDB: a text that is no JSON, and a date after the year 9999, is a 409', onMariadb, async (t) => {
  for (const set of [
    "new.`right` = json_extract(new.`group`, '$.a')", "new.`right` = json_extract('{}', new.`group`)",
    "new.`right` = json_set('{}', concat('$.', new.`left`, '[*]'), 1)",
    "new.`right` = json_contains_path('{}', new.`group`, '$.a')",
    'new.`right` = date_add(timestamp(20000101), interval length(new.`group`) * 9999 year)'
  ]) {
    t.same(
      await refused(t, create, `create trigger odd before insert on pair for each row set ${set}`), constraint, set
    )
  }
})

test('D-114: PostgreSQL: a name of no text search configuration is a 409', onPostgres, async (t) => {
  t.same(await refused(t, create,
    `create function searched() returns trigger language plpgsql as $$ begin
      perform to_tsvector(new."group"::regconfig, new."left"); return new; end $$`,
    'create trigger searched before insert on pair for each row execute function searched()'
  ), constraint)
})

test('D-114: PostgreSQL: a create that a rule redirects without an answer is a 500', onPostgres, async (t) => {
  const { db, post } = await buildApp(t, pairs)
  await sql`create table elsewhere (like pair)`.execute(db)
  await sql`create rule redirected as on insert to pair do instead insert into elsewhere values (new.*)`.execute(db)
  t.equal((await post('/api/pair/', pair)).statusCode, 500, 'no 503, as if it could be repeated')
})

function latch () {
  let open = (): void => {}
  const opened = new Promise<void>((resolve) => { open = resolve })
  return { open, opened }
}

const sqliteRules: Readonly<Record<string, string>> = {
  'no JSON': 'create index i on pair (json_extract("group", \'$.a\'))',
  'a path that is none': 'create index i on pair (json_extract(\'{}\', "group"))',
  'a number too large': `create trigger i before insert on pair
    begin select abs(-9223372036854775807 - length(new."left")); end`,
  'a pattern too long': `create trigger i before insert on pair
    begin select 'x' like replace(hex(zeroblob(40000)), '00', new."left" || '%'); end`
}

test('D-114: SQLite: a value that a function in a rule does not take is a 409', onSqlite, async (t) => {
  for (const [name, rule] of Object.entries(sqliteRules)) t.same(await refused(t, create, rule), constraint, name)
  const all = async ({ post }: TestApp) => (await Promise.all(['a', 'b', 'c', 'd'].map(async (left) =>
    await post('/api/pair/', { ...pair, left, right: left })))).at(-1) as LightMyRequestResponse
  t.same(await refused(t, all, String(sqliteRules['no JSON'])), constraint, 'one of many')
})

test('D-114: SQLite: so it is if another process has the lock first', onSqlite, async (t) => {
  const path = `${t.testdir()}/site.db`
  const db = openSqlite(path)
  const other = openSqlite(path)
  t.teardown(async () => { await Promise.all([db.destroy(), other.destroy()]) })
  const Doc = defineModel('Doc', { data: text() })
  await createTables(db, [Doc])
  await sql`create index i on doc (json_extract(data, '$.a'))`.execute(db)
  const { post } = await buildApp(t, {
    models: [], options: { db }, register: (registry) => { registry.register(Doc, { auth: anybody }) }
  })
  const [begun, held, locked, released] = [latch(), latch(), latch(), latch()]
  // The create waits for the connection, and then for the lock.
  const holding = db.connection().execute(async () => { begun.open(); await held.opened })
  await begun.opened
  const answer = post('/api/doc/', { data: 'no JSON' })
  const locking = other.connection().execute(async (connection) => {
    await sql`begin immediate`.execute(connection)
    locked.open()
    await released.opened
    await sql`rollback`.execute(connection)
  })
  await locked.opened
  held.open()
  await holding
  setTimeout(released.open, 100)
  t.match((await answer).json(), { statusCode: 409, code: 'REST_MODELS_CONSTRAINT' })
  await locking
})

test('D-114: SQLite: a rule that no value can meet is a 500, which the log explains', onSqlite, async (t) => {
  const lines: string[] = []
  const { db, post } = await buildApp(t, {
    ...pairs, server: { logger: { level: 'error', stream: { write: (line) => { lines.push(line) } } } }
  })
  await sql`alter table pair add column day text check (coalesce(day, '2000') <= date('now'))`.execute(db)
  t.equal((await post('/api/pair/', pair)).statusCode, 500)
  t.match(lines.join(), /non-deterministic use of date\(\) in a CHECK constraint/)
})

test('D-114: SQLite: so it is in a transaction, and a statement that became wrong is a 500', onSqlite, async (t) => {
  const lines: string[] = []
  const { db, post, put } = await buildApp(t, {
    models: [User, Pair],
    rows: { pair: [{ id: 1, left: 'a', right: 'b', group: '{}', user_id: 1 }] },
    server: { logger: { level: 'error', stream: { write: (line) => { lines.push(line) } } } },
    register: (registry) => {
      registry.register(Pair, { auth: anybody })
      registry.register(Pair, { auth: anybody, path: 'hooked', afterWrite: () => {} })
    }
  })
  await sql.raw(String(sqliteRules['no JSON'])).execute(db)
  for (const path of ['pair', 'hooked']) {
    t.match((await put(`/api/${path}/1/`, { group: '{' })).json(), { statusCode: 409, code: 'REST_MODELS_CONSTRAINT' })
    t.equal((await put(`/api/${path}/1/`, { group: '[]' })).statusCode, 200)
    t.equal((await post(`/api/${path}/`, { ...pair, left: path, right: path, group: '[]' })).statusCode, 201)
  }
  t.same(lines, [])
  await t.rejects(db.updateTable('pair').set({ group: '{' }).execute(), { code: 'SQLITE_ERROR' }, "the app's own")
  await sql`drop index i`.execute(db)
  await sql`alter table pair rename column "group" to renamed`.execute(db)
  for (const path of ['pair', 'hooked']) {
    t.equal((await put(`/api/${path}/1/`, { group: '{}' })).statusCode, 500)
    t.equal((await post(`/api/${path}/`, { ...pair, left: 'c', right: 'c', group: '{}' })).statusCode, 500)
  }
  t.match(lines.join(), /no such column/)
})

test('D-202: a text in place of which a column of MariaDB would store another one is refused', {
  skip: engine !== 'mariadb' && 'about MariaDB'
}, async (t) => {
  const Person = defineModel('Person', {
    rights: text({ nullable: true }),
    level: text({ nullable: true }),
    at: text({ nullable: true }),
    exactly: text({ nullable: true })
  })
  const { get, post, put } = await buildApp(t, {
    models: [],
    prepare: async (_app, db) => {
      await sql`create table person (id int auto_increment primary key,
        rights set('root', 'read', 'it''s'), level enum('low', 'High'), at time, exactly time(3))`.execute(db)
    },
    register: (registry) => { registry.register(Person, { auth: openAuth() }) }
  })
  const kept = {
    rights: ['', 'root', "read,it's"],
    level: ['low', 'High'],
    at: ['18:30:00'],
    exactly: ['838:00:00.500']
  }
  for (const [field, values] of Object.entries(kept)) {
    for (const value of values) {
      const answer = await post('/api/person/', { [field]: value })
      t.match([answer.statusCode, answer.json()], [201, { [field]: value }], `${field} ${value}`)
    }
  }
  const altered = {
    rights: ['1', '7', 'ROOT', "it's,read", 'read,read', 'read ', 'other'],
    level: ['1', 'LOW', 'high', ''],
    at: ['1', '1.5', '18:30', '18:30:00.5', '1830', '900:00:00'],
    exactly: ['10:00:00.1234', '10:00']
  }
  for (const [field, values] of Object.entries(altered)) {
    for (const value of values) {
      const refused = { statusCode: 409, code: 'REST_MODELS_CONSTRAINT' }
      t.match((await post('/api/person/', { [field]: value })).json(), refused, `${field} ${value}`)
      t.match((await put('/api/person/1/', { [field]: value })).json(), refused, `${field} ${value}`)
    }
  }
  for (const record of (await get('/api/person/')).json().objects) {
    t.match((await put(`/api/person/${record.id}/`, record)).json(), record, 'sent back as it was read')
  }
})

test('D-202: a text of which a column of SQLite would make a number is refused, and a number is shown as a text', {
  skip: engine !== 'sqlite' && 'about SQLite'
}, async (t) => {
  const Event = defineModel('Event', { name: text(), starts: text({ nullable: true }) })
  const { get, post, put, rowsOf } = await buildApp(t, {
    models: [],
    prepare: async (_app, db) => {
      await sql`create table event (id integer primary key, name text not null, starts time)`.execute(db)
      await sql`insert into event values (1, 'old', 18)`.execute(db)
    },
    register: (registry) => { registry.register(Event, { auth: openAuth() }) }
  })
  t.equal((await post('/api/event/', { name: 'right', starts: '18:30:00' })).statusCode, 201)
  for (const starts of ['18', '007', '1e3', ' 5 ', '-.5', '+1.', '9'.repeat(400)]) {
    const refused = { statusCode: 409, code: 'REST_MODELS_CONSTRAINT' }
    t.match((await post('/api/event/', { name: 'x', starts })).json(), refused, starts)
    t.match((await put('/api/event/2/', { starts })).json(), refused, starts)
  }
  for (const starts of ['', '0x10', '1:2', '١٨', '1e', 'Infinity']) {
    t.match((await put('/api/event/2/', { starts })).json(), { starts }, starts)
  }
  const { objects } = (await get('/api/event/?ordering=id')).json()
  t.match(objects, [{ id: 1, starts: '18' }, { id: 2, starts: 'Infinity' }])
  t.equal((await put('/api/event/1/', { ...objects[0], name: 'new' })).statusCode, 200, 'sent back as it was read')
  t.match(await rowsOf('event'), [{ name: 'new', starts: 18 }, { starts: 'Infinity' }])
})
