import { sql } from 'kysely'
import { test, type Test } from 'tap'
import { defineModel, foreignKey, text, type Policy } from '../lib/index.js'
import { engine } from './database.js'
import { buildApp, Message, User, type BuildOptions } from './helper.js'

const anybody: Policy = { open: ['list', 'read', 'create', 'update', 'delete'], authenticator: () => async () => null, permits: () => false }
const Pair = defineModel('Pair', {
  left: text({ unique: true }), right: text({ unique: true }), group: text({ maxLength: 100 }), user: foreignKey(() => User), other: foreignKey(() => User, { nullable: true })
})
const pairs: BuildOptions = { models: [User, Pair], register: (registry) => { registry.register(Pair, { auth: anybody }) } }

test('of several unique fields the one that is taken is named, on create and on update', async (t) => {
  const { post, put } = await buildApp(t, pairs)
  await post('/api/pair/', { left: 'a', right: 'b', group: 'g', user: 1 })
  await post('/api/pair/', { left: 'c', right: 'd', group: 'g', user: 1 })
  t.match((await post('/api/pair/', { left: 'x', right: 'b', group: 'g', user: 1 })).json(), { statusCode: 409, details: [{ field: 'right' }] })
  t.match((await put('/api/pair/2/', { left: 'a', right: 'd' })).json(), { statusCode: 409, details: [{ field: 'left' }] })
  t.match((await put('/api/pair/2/', { left: 'c', right: 'b' })).json(), { statusCode: 409, details: [{ field: 'right' }] }, 'its own value is not the one')
  t.equal((await put('/api/pair/2/', { left: 'c', right: 'e' })).statusCode, 200, 'its own values are not taken')
})

test('of several foreign keys the one that refers to nothing is named', async (t) => {
  const { post } = await buildApp(t, pairs)
  t.match((await post('/api/pair/', { left: 'a', right: 'b', group: 'g', user: 1, other: 99 })).json(), { statusCode: 400, details: [{ field: 'other_id' }] })
  t.match((await post('/api/pair/', { left: 'a', right: 'b', group: 'g', user: 99, other: 1 })).json(), { statusCode: 400, details: [{ field: 'user_id' }] })
  t.equal((await post('/api/pair/', { left: 'a', right: 'b', group: 'g', user: 1, other: null })).statusCode, 201)
})

test('a unique index that no field declares is a 409 that blames no field', async (t) => {
  const { post, db } = await buildApp(t, pairs)
  await db.schema.createIndex('one_of_a_group').unique().on('pair').column('group').execute()
  t.equal((await post('/api/pair/', { left: 'a', right: 'b', group: 'g', user: 1 })).statusCode, 201)
  const { statusCode, code, details } = (await post('/api/pair/', { left: 'c', right: 'd', group: 'g', user: 1 })).json()
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
  const { statusCode, code, details } = (await post('/api/pair/', { left: 'a', right: 'b', group: 'g', user: 1 })).json()
  t.same([statusCode, code, details], [409, 'REST_MODELS_CONSTRAINT', undefined])
})

const events = ['insert', 'update', 'delete']

/** A message of alice's, and what the three writes are answered after the database was changed. */
async function writesAfter (t: Test, statements: readonly string[]) {
  const { post, put, delete: remove, db, rowsOf } = await buildApp(t, { rows: { message: [{ id: 1, user_id: 2, content: 'kept', pub_date: '2024-01-01 10:00:00' }] } })
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
  sqlite: events.map((event) => `create trigger no_${event} before ${event} on message begin select raise(abort, 'inner words'); end`),
  postgres: [
    "create function refuse() returns trigger language plpgsql as $$ begin raise exception 'inner words'; end $$",
    `create trigger no before ${events.join(' or ')} on message for each row execute function refuse()`
  ],
  mariadb: events.map((event) => `create trigger no_${event} before ${event} on message for each row signal sqlstate '45000' set message_text = 'inner words'`)
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
    sqlite: events.map((event) => `create trigger no_${event} before ${event} on message begin select raise(ignore); end`),
    postgres: [
      'create function skip() returns trigger language plpgsql as $$ begin return null; end $$',
      `create trigger no before ${events.join(' or ')} on message for each row execute function skip()`
    ]
  }[engine]

  test('a write that a trigger drops in silence is a 409, not a success', async (t) => {
    for (const reply of await writesAfter(t, skip)) t.match(reply.json(), { statusCode: 409, code: 'REST_MODELS_CONSTRAINT' })
  })
}

test('a resource whose fields are all read-only suggests no name for an unknown one', async (t) => {
  const Fixed = defineModel('Fixed', { label: text({ default: 'x' }) })
  const { post } = await buildApp(t, { models: [Fixed], register: (registry) => { registry.register(Fixed, { auth: anybody, readOnly: ['label'] }) } })
  t.same((await post('/api/fixed/', { lable: 'y' })).json().details, [{ field: 'lable', message: 'is not a field of this resource' }])
  t.match((await post('/api/fixed/', {})).json(), { id: 1, label: 'x' })
})

test('a name that is much too long for a typing error gets no suggestion', async (t) => {
  const { post } = await buildApp(t, { models: [User, Message], register: (registry) => { registry.register(Message, { auth: anybody }) } })
  const { details } = (await post('/api/message/', { content: 'x', user: 1, ['c'.repeat(200)]: 1 })).json()
  t.same(details, [{ field: 'c'.repeat(200), message: 'is not a field of this resource' }])
})

const deferred = {
  sqlite: 'create table child (id integer primary key, user_id bigint not null references user (id) deferrable initially deferred)',
  postgres: 'create table child (id bigint generated by default as identity primary key, user_id bigint not null references "user" (id) deferrable initially deferred)',
  mariadb: undefined
}[engine]

if (deferred !== undefined) {
  test('what the database refuses when it commits is refused, and changes nothing', async (t) => {
    const Child = defineModel('Child', { user: foreignKey(() => User) })
    const { db, post, put, rowsOf } = await buildApp(t, { models: [User, Child], register: (registry) => { registry.register(Child, { auth: anybody }) } })
    await db.schema.dropTable('child').execute()
    await sql.raw(deferred).execute(db)
    t.equal((await post('/api/child/', { user: 1 })).statusCode, 201)
    const refused = { statusCode: 400, code: 'REST_MODELS_UNKNOWN_REFERENCE', details: [{ field: 'user_id' }] }
    t.match((await post('/api/child/', { user: 99 })).json(), refused)
    t.match((await put('/api/child/1/', { user: 99 })).json(), refused)
    t.same(await rowsOf('child'), [{ id: 1, user_id: 1 }])
  })
}
