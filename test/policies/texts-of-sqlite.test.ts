import Fastify from 'fastify'
import { sql } from 'kysely'
import { test, type Test } from 'tap'
import restModels, {
  boolean, defineModel, foreignKey, hashPassword, hostAuth, integer, password, text, userAuth, uuid, type Identity
} from '../../lib/index.js'
import { engine, openDatabase } from '../support/database.js'
import { basic, buildApp, type TestApp } from '../support/site.js'

const onSqlite = { skip: engine !== 'sqlite' && 'about columns of SQLite, which may hold any value' }

interface Member extends Identity { readonly code: string }

/** The user is a header. */
const members = hostAuth<Member & { readonly id: string }>(({ headers }) => {
  const { 'x-user': code } = headers
  return typeof code === 'string' ? { id: code, code, admin: false } : null
}, { protect: 'all', scheme: { type: 'apiKey', in: 'header', name: 'x-user' } })

const as = (code: string) => ({ headers: { 'x-user': code } })

test('D-202: policies and hooks get texts that SQLite keeps as bytes as records show them', onSqlite, async (t) => {
  const User = defineModel('User', {
    username: text(), password: password(), admin: boolean({ default: false }), state: text(), token: uuid()
  })
  const db = await openDatabase(t)
  await sql`create table user (id integer primary key, username text not null, password text not null,
    admin boolean not null default 0, state text not null, token text not null)`.execute(db)
  const token = '0f8fad5b-d9cb-469f-a165-70867728950e'
  const hash = Buffer.from(await hashPassword('alice'))
  for (const [username, state] of [['alice', 'good'], ['bob', 'banned']] as const) {
    await sql`insert into user (username, password, state, token)
      values (${username}, ${hash}, ${Buffer.from(state)}, ${Buffer.from(token)})`.execute(db)
  }
  const app = Fastify()
  t.teardown(() => app.close())
  await app.register(restModels, { db })
  const seen = { permits: new Set(), hook: new Set() }
  const auth = userAuth(User, {
    active: null,
    protect: 'all',
    fields: ['state', 'token'],
    permits: ({ state }) => {
      seen.permits.add(state)
      return state !== 'banned'
    }
  })
  app.restModels.register(User, {
    auth, exclude: ['password'], beforeWrite: ({ stored }) => { seen.hook.add(stored?.state) }
  })
  await app.restModels.setup()
  const ask = async (name: string, method: 'GET' | 'PUT', url = '/api/user/1/') => await app.inject({
    method, url, headers: { authorization: basic(name, 'alice') }, ...method === 'PUT' && { payload: { username: 'a' } }
  })
  t.equal((await ask('bob', 'GET')).statusCode, 403)
  const shown = { id: 1, username: 'alice', admin: false, state: 'good', token }
  t.strictSame((await ask('alice', 'GET')).json(), shown)
  t.strictSame((await ask('alice', 'GET', '/api/user/')).json().objects[0], shown)
  t.equal((await ask('alice', 'PUT')).statusCode, 200)
  t.strictSame(seen, { permits: new Set(['banned', 'good']), hook: new Set(['good']) })
})

const Note = defineModel('Note', { code: text(), title: text({ nullable: true }) })

/** Tells which of some records a user can list, read, update and delete. */
async function reach (
  { get, put, delete: remove }: TestApp, path: string, ids: readonly (string | number)[], code: string
): Promise<readonly unknown[]> {
  const listed = (await get(`/api/${path}/`, as(code))).json().objects.map(({ id }: { readonly id: unknown }) => id)
  const single = []
  for (const id of ids) {
    const url = `/api/${path}/${id}/`
    const { statusCode: read } = await get(url, as(code))
    const { statusCode: update } = await put(url, { title: 'x' }, as(code))
    const { statusCode: remaining } = await remove(url, as(code))
    single.push([read, update, remaining])
  }
  return [listed, ...single]
}

const [open, shut] = [[200, 200, 204], [404, 404, 404]]

async function noteApp (t: Test, type: string, scope: (user: Member) => object): Promise<TestApp> {
  const db = await openDatabase(t)
  await sql.raw(`create table note (id integer primary key, code ${type} not null, title text)`).execute(db)
  await sql`insert into note (code) values (7), ('x')`.execute(db)
  return await buildApp(t, {
    models: [],
    options: { db },
    register: (registry) => {
      registry.register(Note, { auth: members, scope: scope as never })
    },
    undocumented: 'the table of another program'
  })
}

for (const type of ['', 'string', 'guid']) {
  test(`D-202: scopes compare the texts that records show of a column of type '${type}'`, onSqlite, async (t) => {
    const many = (code: string) => [code, ...Array.from({ length: 200 }, (_, index) => `y${index}`)]
    const scopes: ReadonlyArray<readonly [(user: Member) => object, string, readonly unknown[]]> = [
      [({ code }) => ({ code }), '007', [[], shut, shut]],
      [({ code }) => ({ code }), '7', [[1], open, shut]],
      [({ code }) => ({ code__in: many(code) }), '007', [[], shut, shut]],
      [({ code }) => ({ code__in: many(code) }), '7', [[1], open, shut]],
      [({ code }) => ({ code__in: many(code) }), 'x', [[2], shut, open]],
      [({ code }) => ({ code__ne: code }), '7', [[2], shut, open]],
      [({ code }) => ({ code__lt: code }), '10', [[], shut, shut]],
      [({ code }) => ({ code__gte: code }), '10', [[1, 2], open, open]]
    ]
    for (const [scope, code, expected] of scopes) {
      t.strictSame(await reach(await noteApp(t, type, scope), 'note', [1, 2], code), expected, `${scope} ${code}`)
    }
  })

  test(`D-202: keys and owners in columns of type '${type}' are the texts that records show`, onSqlite, async (t) => {
    const Person = defineModel('Person', { id: text({ maxLength: 9 }), title: text({ nullable: true }) })
    const Visit = defineModel('Visit', {
      person: foreignKey(() => Person), room: text({ maxLength: 9 }), title: text({ nullable: true })
    }, { key: ['person', 'room'] })
    const Memo = defineModel('Memo', { owner: foreignKey(() => Person), title: text({ nullable: true }) })
    const db = await openDatabase(t)
    await sql.raw(`create table person (id ${type} primary key not null, title text)`).execute(db)
    await sql.raw(`create table visit (person_id ${type} not null references person(id), room ${type} not null,
      title text, primary key (person_id, room))`).execute(db)
    await sql.raw(`create table memo (id integer primary key, owner_id ${type} not null references person(id),
      title text)`).execute(db)
    await sql`insert into person (id) values (7), (8), ('b')`.execute(db)
    await sql`insert into visit (person_id, room) values (7, 1), (8, 1)`.execute(db)
    await sql`insert into memo (owner_id) values (7)`.execute(db)
    const app = await buildApp(t, {
      models: [],
      options: { db },
      register: (registry) => {
        registry.register(Person, { auth: members })
        registry.register(Visit, { auth: members })
        registry.register(Memo, { auth: members, ownerField: 'owner' })
      },
      undocumented: 'the tables of another program'
    })
    const keys = async (path: string) => (await app.get(`/api/${path}`, as('7'))).json().objects.length
    t.equal(await keys('visit/?id=7,1'), 1)
    t.equal(await keys('visit/?id=07,1'), 0)
    t.equal(await keys('visit/?id__in="7,1","8,1","8,01"'), 2)
    t.equal(await keys('visit/?id__ne=7,01'), 2)
    t.equal(await keys('person/?id=07'), 0)
    t.equal(await keys('person/?id=7'), 1)
    t.strictSame((await reach(app, 'memo', [1], '07')).slice(1), [[200, 403, 403]])
    t.strictSame((await reach(app, 'memo', [1], '7')).slice(1), [open])
    t.strictSame((await reach(app, 'visit', ['07,1', '7,01', '7,1'], '7')).slice(1), [shut, shut, open])
    t.strictSame((await reach(app, 'person', ['07', '7.0', '7', 'B'], '7')).slice(1), [shut, shut, open, shut])
  })

  test(`D-202: references to keys in a column of type '${type}' are checked in the scope`, onSqlite, async (t) => {
    const Person = defineModel('Person', { id: text({ maxLength: 9 }), level: integer() })
    const Memo = defineModel('Memo', { person: foreignKey(() => Person) })
    const db = await openDatabase(t)
    await sql.raw(`create table person (id ${type} primary key not null, level integer not null)`).execute(db)
    await sql.raw('create table memo (id integer primary key, person_id text not null)').execute(db)
    await sql`insert into person values (7, 1)`.execute(db)
    const { post } = await buildApp(t, {
      models: [],
      options: { db },
      register: (registry) => {
        registry.register(Person, { auth: members, scope: () => ({ level: 1 }) })
        registry.register(Memo, { auth: members })
      },
      undocumented: 'the tables of another program'
    })
    t.equal((await post('/api/memo/', { person_id: '7' }, as('a'))).statusCode, 201)
    t.equal((await post('/api/memo/', { person_id: '07' }, as('a'))).statusCode, 400)
  })
}

test('D-202: a login by another text that is the same number finds nobody', onSqlite, async (t) => {
  for (const type of ['', 'string']) {
    const User = defineModel('User', {
      username: text({ unique: true }), password: password(), admin: boolean({ default: false })
    })
    const auth = userAuth(User, { active: null, protect: 'all' })
    const db = await openDatabase(t)
    await sql.raw(`create table user (id integer primary key, username ${type} not null unique,
      password text not null, admin boolean not null default 0)`).execute(db)
    await sql`insert into user (username, password) values (7, ${await hashPassword('alice')})`.execute(db)
    const { get } = await buildApp(t, {
      models: [],
      options: { db },
      register: (registry) => {
        registry.register(User, { auth, exclude: ['password'] })
      },
      undocumented: 'the table of another program'
    })
    t.equal((await get('/api/user/', { as: ['7', 'alice'] })).statusCode, 200)
    t.equal((await get('/api/user/', { as: ['07', 'alice'] })).statusCode, 401)
  }
})
