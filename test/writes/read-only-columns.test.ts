// @servers: the engine computes columns

import { sql } from 'kysely'
import { test, type Test } from 'tap'
import {
  createTables, defineModel, foreignKey, integer, key, readOnlyAuth, text, uuid, type CreateOf, type DatabaseOf,
  type Model, type Policy, type RecordOf, type ResourceOptions, type UpdateOf
} from '../../lib/index.js'
import { introspect } from '../../lib/tools.js'
import { engine, openSeparateDatabase } from '../support/database.js'
import { buildApp, User } from '../support/site.js'

const everybody = {
  open: ['list', 'read', 'create', 'update', 'delete'], authenticator: () => async () => null, permits: () => false
} as const

const columns = {
  sqlite: 'id integer primary key, code text',
  postgres: 'id serial primary key, code uuid not null default gen_random_uuid(), number serial not null',
  mariadb: 'id integer auto_increment primary key, code uuid not null default uuid()'
}[engine]

async function tableOf (t: Test) {
  const db = await openSeparateDatabase(t)
  await sql.raw(`create table item (${columns}, size integer not null,
    twice integer generated always as (size * 2) stored${engine === 'postgres' ? ' not null' : ''})`).execute(db)
  return db
}

test('D-206: what only the database fills is shown, and no client writes it', async (t) => {
  const db = await tableOf(t)
  const { models: [Item], notes, source } = await introspect(db)
  t.same(notes, [])
  t.match(source, `twice: integer({ ${engine === 'postgres' ? '' : 'nullable: true, '}readOnly: true })`)
  if (engine === 'postgres') t.match(source, 'number: integer({ readOnly: true })')
  if (engine !== 'sqlite') t.match(source, 'code: uuid({ readOnly: true })')
  const app = await buildApp(t, {
    models: [],
    options: { db, defaultAuth: everybody },
    register: (registry) => { registry.register(Item as Model) }
  })
  const created = await app.post('/api/item/', { size: 3 })
  t.match([created.statusCode, created.json()], [201, { id: 1, size: 3, twice: 6 }])
  const made: object = created.json()
  if (engine !== 'sqlite') t.match(created.json().code, /^[0-9a-f]{8}-/)
  const refused = await app.post('/api/item/', { size: 3, twice: 7 })
  t.match([refused.statusCode, refused.json().details], [400, [{ field: 'twice', message: 'is set by the server' }]])
  const changed = await app.put('/api/item/1/', { ...made, size: 5 })
  t.same([changed.statusCode, changed.json()], [200, { ...made, size: 5, twice: 10 }])
  const wrong = await app.put('/api/item/1/', { twice: 7 })
  t.match([wrong.statusCode, wrong.json().details], [400, [{ field: 'twice', message: 'cannot be changed' }]])
  t.same((await app.get('/api/item/?twice__gt=9&ordering=-twice')).json().objects.length, 1)
})

test('D-206: a computed column with the name of a password is read-only, too', async (t) => {
  const db = await openSeparateDatabase(t)
  const { [engine]: key } = {
    sqlite: 'integer primary key', postgres: 'serial primary key', mariadb: 'int auto_increment primary key'
  }
  await sql.raw(`create table item (id ${key}, size integer,
    password_hash varchar(20) generated always as (case size when 1 then 'x' end) stored)`).execute(db)
  const { source } = await introspect(db)
  t.match(source, /password_hash: \w+\(\{[^\n]*readOnly: true/)
})

test('D-206: a scope and a hook do not write what the database computes', async (t) => {
  const db = await tableOf(t)
  const nullable = engine !== 'postgres'
  const Item = defineModel('Item', { size: integer(), twice: integer({ nullable, readOnly: true }) })
  const app = await buildApp(t, {
    models: [],
    options: { db, defaultAuth: everybody },
    register: (registry) => {
      registry.register(Item, { scope: () => ({ twice: 6 }) })
      registry.register(Item, { path: 'hooked', beforeWrite: () => ({ twice: 1 }) as never })
    },
    undocumented: 'a hook that fails'
  })
  t.match((await app.post('/api/item/', { size: 3 })).json(), { size: 3, twice: 6 })
  t.equal((await app.post('/api/item/', { size: 4 })).statusCode, 403, 'the record would be out of the scope')
  t.equal((await app.put('/api/item/1/', { size: 4 })).statusCode, 403, 'the update would move it there')
  t.match((await app.get('/api/item/1/')).json(), { size: 3, twice: 6 })
  t.equal((await app.post('/api/hooked/', { size: 4 })).statusCode, 500)
})

test('D-273: a field that the database computes and the API would write is an error at the start', async (t) => {
  const db = await tableOf(t)
  const nullable = engine !== 'postgres'
  const Item = defineModel('Item', { size: integer(), Double: integer({ column: 'twice', nullable, default: 0 }) })
  const start = async (policy: Policy, options: ResourceOptions<typeof Item> = {}) =>
    await buildApp(t, {
      models: [],
      options: { db, defaultAuth: policy },
      register: (registry) => { registry.register(Item, options) }
    })
  const message = 'The database computes what the API would write:\n' +
    "- field 'Double' of model 'Item': column 'twice' of table 'item'\n" +
    "Give these fields 'readOnly: true' in the model"
  await t.rejects(start(everybody), { code: 'REST_MODELS_TABLE_MISMATCH', message })
  await t.rejects(start(everybody, { readOnly: ['Double'] as never }), { message }, 'a create names all columns')
  const updates = { ...everybody, open: ['list', 'read', 'update'], closed: ['create', 'delete'] } as const
  await t.rejects(start(updates), { message })
  const app = await start(updates, { readOnly: ['Double'] })
  await sql`insert into item (size) values (3)`.execute(db)
  t.match((await app.put('/api/item/1/', { size: 5 })).json(), { size: 5, Double: 10 })
  const reader = await start(readOnlyAuth())
  t.match((await reader.get('/api/item/1/')).json(), { size: 5, Double: 10 })
})

test('D-273: so is a key that the database computes, and the remedy is to close creates', {
  skip: engine === 'mariadb' && 'which permits no such key'
}, async (t) => {
  const db = await openSeparateDatabase(t)
  const computed = "generated always as ('k' || v) stored not null unique"
  await sql.raw(`create table item (v varchar(9) not null, code text ${computed}, twin text ${computed})`).execute(db)
  const Item = defineModel('Item', { id: text({ column: 'code' }), v: text(), twin: text({ default: '' }) })
  const start = async (policy: Policy) => await buildApp(t, {
    models: [], options: { db, defaultAuth: policy }, register: (registry) => { registry.register(Item) }
  })
  await t.rejects(start(everybody), {
    message: 'The database computes what the API would write:\n' +
      "- field 'id' of model 'Item': column 'code' of table 'item'\n" +
      "- field 'twin' of model 'Item': column 'twin' of table 'item'\n" +
      "Give these fields 'readOnly: true' in the model. No key can have it: use a policy with closed: ['create'], " +
      'or key() for a key of numbers that the database generates'
  })
  await t.resolves(start({ ...everybody, open: ['list', 'read', 'delete'], closed: ['create', 'update'] }))
})

test('D-273: so is a number that only PostgreSQL may give', {
  skip: engine !== 'postgres' && 'about PostgreSQL'
}, async (t) => {
  const db = await openSeparateDatabase(t)
  const always = 'generated always as identity'
  await sql.raw(`create table item (id bigint ${always} primary key, size integer not null)`).execute(db)
  await sql.raw(`create table part (id bigserial primary key, number integer ${always})`).execute(db)
  const start = async (model: Model, policy: Policy = everybody) => await buildApp(t, {
    models: [], options: { db, defaultAuth: policy }, register: (registry) => { registry.register(model) }
  })
  const size = integer()
  const Keyed = defineModel('Item', { id: key({ generated: false }), size })
  await t.rejects(start(Keyed), { message: "field 'id' of model 'Item'" })
  const updates = { ...everybody, open: ['list', 'read', 'update'], closed: ['create', 'delete'] } as const
  await t.resolves(start(Keyed, updates), 'no update sets the key')
  await t.rejects(start(defineModel('Part', { number: integer() })), { message: "field 'number' of model 'Part'" })
  const item = await start(defineModel('Item', { size }))
  t.same((await item.post('/api/item/', { size: 1 })).json(), { id: 1, size: 1 })
  const part = await start(defineModel('Part', { number: integer({ readOnly: true }) }))
  t.same((await part.post('/api/part/', {})).json(), { id: 1, number: 1 })
})

test('D-206: a clash with a value that the database computes is a 409, and other faults are named', async (t) => {
  const db = await openSeparateDatabase(t)
  await createTables(db, [User])
  const twice = 'twice integer generated always as (size * 2) stored'
  const key = engine === 'mariadb' ? 'integer auto_increment primary key' : 'serial primary key'
  await sql.raw(`create table item (id ${engine === 'sqlite' ? 'integer primary key' : key}, size integer not null,
    code varchar(9) not null unique, ${twice}, user_id ${engine === 'sqlite' ? 'integer' : 'bigint'} not null,
    foreign key (user_id) references ${engine === 'mariadb' ? '`user`' : '"user"'} (id), unique (twice, user_id))`)
    .execute(db)
  const Item = defineModel('Item', {
    size: integer(),
    code: text({ unique: true, maxLength: 9 }),
    twice: integer({ nullable: true, readOnly: true }),
    user: foreignKey(() => User)
  }, { unique: [['twice', 'user']] })
  const ann = { username: 'ann', password: 'x', email: 'a', active: 1, admin: 0 }
  await db.insertInto('user').values(ann as never).execute()
  const app = await buildApp(t, {
    models: [], options: { db, defaultAuth: everybody }, register: (registry) => { registry.register(Item) }
  })
  const post = async (body: object): Promise<unknown> => (await app.post('/api/item/', body)).json()
  t.match(await post({ size: 3, code: 'a', user: 1 }), { twice: 6 })
  t.match(await post({ size: 4, code: 'b', user: 9 }), { statusCode: 400, details: [{ field: 'user_id' }] })
  t.match(await post({ size: 4, code: 'a', user: 1 }), { statusCode: 409, details: [{ field: 'code' }] })
  t.match(await post({ size: 3, code: 'c', user: 1 }), { statusCode: 409, code: 'REST_MODELS_CONSTRAINT' })
  t.equal((await app.get('/api/item/')).json().objects.length, 1)
})

test('D-206: a column that nobody fills, and an owner that the API cannot set, stop the start', async (t) => {
  const db = await openSeparateDatabase(t)
  const [key] = columns.split(',')
  await sql.raw(`create table thing (${key}, must integer not null, note varchar(9))`).execute(db)
  const Thing = defineModel('Thing', { must: integer({ readOnly: true }), note: text({ nullable: true }) })
  await t.rejects(buildApp(t, {
    models: [], options: { db, defaultAuth: everybody }, register: (registry) => { registry.register(Thing) }
  }), {
    code: 'REST_MODELS_TABLE_MISMATCH',
    message: /model 'Thing' declares as 'readOnly' the column 'must' of table 'thing'/
  })
  await t.rejects(buildApp(t, {
    models: [User],
    register: (registry) => {
      const Note = defineModel('Note', { user: foreignKey(() => User, { readOnly: true, nullable: true }) })
      registry.register(Note, { ownerField: 'user' })
    }
  }), { code: 'REST_MODELS_INVALID_OPTIONS', message: /names 'user', which is 'readOnly'/ })
  const faults: ReadonlyArray<readonly [object, RegExp]> = [
    [{ readOnly: 1 }, /'readOnly' is true or false/],
    [{ readOnly: true, default: 1 }, /a field with 'readOnly' has no 'default'/]
  ]
  for (const [options, message] of faults) {
    t.throws(() => defineModel('Wrong', { a: integer(options) }), { code: 'REST_MODELS_INVALID_MODEL', message })
  }
})

test('D-206: the types know what nobody writes', (t) => {
  const Item = defineModel('Item', { size: integer(), twice: integer({ readOnly: true }), code: uuid() })
  const record: RecordOf<typeof Item> = { id: 1, size: 1, twice: 2, code: '' }
  const created: CreateOf<typeof Item> = { size: 1, code: '' }
  // @ts-expect-error -- nobody writes it
  const wrong: UpdateOf<typeof Item> = { twice: 2 }
  type Twice = DatabaseOf<[typeof Item]>['item']['twice']
  const isSelected: Twice extends { readonly __select__: number } ? true : false = true
  t.ok(Item && record && created && wrong && isSelected)
  t.end()
})
