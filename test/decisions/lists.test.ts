import { connect } from 'node:net'
import { text as textOf } from 'node:stream/consumers'
import { sql } from 'kysely'
import t, { test, type Test } from 'tap'
import {
  adminAuth, bigint, boolean, date, datetime, decimal, defineModel, foreignKey, integer, json, number, readOnlyAuth,
  text, userAuth, uuid,
  type Model, type Policy
} from '../../lib/index.js'
import { engine } from '../support/database.js'
import {
  Message, Note, Relationship, User, buildApp, siteModels, valuesOf, type BuildOptions, type Rows
} from '../support/site.js'
import { beforeStatements } from '../support/interleaving.js'

/** Every kind of field, all nullable; row 2 is all null. */
const Thing = defineModel('Thing', {
  title: text({ nullable: true }),
  count: integer({ nullable: true }),
  big: bigint({ nullable: true }),
  ratio: number({ nullable: true }),
  price: decimal({ nullable: true }),
  done: boolean({ nullable: true }),
  at: datetime({ nullable: true }),
  day: date({ nullable: true }),
  extra: json({ nullable: true }),
  code: uuid({ nullable: true }),
  user: foreignKey(() => User, { nullable: true })
})
const full = {
  id: 1,
  title: 'one',
  count: 5,
  big: 9,
  ratio: 0.5,
  price: 1.5,
  done: 1,
  at: '2024-02-01 10:00:00',
  day: '2024-02-01',
  extra: '{}',
  code: '00000000-0000-4000-8000-000000000000',
  user_id: 2
}
const nulls = { id: 2, title: null }

/** An app with things under the read-only policy, and what its list answers: ids, or the status. */
const things = async (
  test: Test, rows: Array<Record<string, string | number | null>>, { prepare }: Pick<BuildOptions, 'prepare'> = {}
) => {
  const app = await buildApp(test, {
    models: [...siteModels, Thing],
    rows: { thing: rows },
    ...prepare && { prepare },
    register: (registry) => {
      registry.register(Thing).register(User, { auth: adminAuth(User), exclude: ['password', 'email'] })
    }
  })
  const list = async (query: string): Promise<unknown[] | number> => {
    const reply = await app.get(`/api/thing/?${query}`)
    return reply.statusCode === 200 ? valuesOf(reply, 'id') : reply.statusCode
  }
  return { ...app, list }
}
/** Things that differ in their titles alone, numbered from 1. */
const titled = (...titles: Array<string | null>) => titles.map((title, index) => ({ id: index + 1, title }))
const q = encodeURIComponent

const site = await buildApp(t, {
  rows: {
    message: [
      { id: 1, user_id: 2, content: 'a', pub_date: '2024-02-01 10:00:00' },
      { id: 2, user_id: 3, content: 'b', pub_date: '2024-02-02 10:00:00' },
      { id: 3, user_id: 2, content: 'b', pub_date: '2024-02-03 10:00:00' }
    ],
    relationship: [{ id: 1, from_user_id: 2, to_user_id: 3 }, { id: 2, from_user_id: 3, to_user_id: 2 }]
  }
})
/** What a list of the site answers: ids, or the status. */
const list = async (path: string): Promise<unknown[] | number> => {
  const reply = await site.get(`/api/${path}`)
  return reply.statusCode === 200 ? valuesOf(reply, 'id') : reply.statusCode
}

test('D-14: an unknown field, operator or parameter in a list is 400 naming it', async (t) => {
  for (const name of [
    'nonsense', 'user__nonsense', 'content__nonsense', 'content__eq__eq', 'user__username__nonsense', 'Content',
    'content_', '__content', 'offset', 'like', 'eq__eq', 'constructor', '__proto__', 'toString'
  ]) {
    const reply = await site.get(`/api/message/?${name}=1`)
    t.equal(reply.statusCode, 400, name)
    t.match(reply.json(), { message: new RegExp(`'${name}'`), details: [{ field: name }] })
  }
  t.match((await site.get('/api/message/?content__nonsense=1')).json(), { code: 'REST_MODELS_UNKNOWN_OPERATOR' })
  t.match((await site.get('/api/message/?nonsense=1')).json(), { code: 'REST_MODELS_UNKNOWN_PARAMETER' })
  t.same(await list('message/?content=a'), [1])
})

test('D-14: an operator that the kind of a field does not have is 400 naming the parameter', async (t) => {
  const { list, get } = await things(t, [full, nulls])
  for (const name of ['extra', 'extra__in', 'count__like', 'at__ilike', 'done__like', 'user__like']) {
    t.equal(await list(`${name}=1`), 400, name)
    t.match((await get(`/api/thing/?${name}=1`)).json().details, [
      { field: name, message: /^must end in an operator of its field: (eq, ne, in, )?is/ }
    ])
  }
  t.same(await list('extra__is=null'), [2])
})

test('D-14: an unknown parameter is 400 naming it on every other route, and nothing is changed', async (t) => {
  const { get, post, put, delete: remove, rowsOf } = await buildApp(t)
  const as = 'alice'
  await post('/api/message/', { content: 'x' }, { as })
  const before = await rowsOf('message')
  for (const send of [
    async (query: string) => await get(`/api/message/1/${query}`),
    async (query: string) => await post(`/api/message/${query}`, { content: 'y' }, { as }),
    async (query: string) => await put(`/api/message/1/${query}`, { content: 'y' }, { as }),
    async (query: string) => await remove(`/api/message/1/${query}`, { as })
  ]) {
    const reply = await send('?content=x')
    t.equal(reply.statusCode, 400)
    t.match(reply.json(), { code: 'REST_MODELS_UNKNOWN_PARAMETER', details: [{ field: 'content' }] })
    t.same(await rowsOf('message'), before)
  }
  t.equal((await remove('/api/message/1/', { as })).statusCode, 204)
})

test('D-14: a query after # is a query, because the path ends there', async (t) => {
  const { app } = await buildApp(t, { rows: { note: manyNotes } })
  const port = Number(new URL(await app.listen({ host: '127.0.0.1', port: 0 })).port)
  const statusOf = async (target: string): Promise<string> => {
    const socket = connect(port, '127.0.0.1')
    socket.write(`GET ${target} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n`)
    return (await textOf(socket)).slice('HTTP/1.1 '.length, 'HTTP/1.1 200'.length)
  }
  t.equal(await statusOf('/api/note/#id=1'), '200')
  for (const target of ['/api/note/#nothing=1', '/api/note/1/#x=1', '/api/note/#id=1?id=2']) {
    t.equal(await statusOf(target), '400', target)
  }
})

test('D-15: a hidden field is answered in the words of a name that does not exist, in filters', async (t) => {
  // What is suggested depends on what was written, and on the names that the client may use.
  const words = async (path: string, name: string) =>
    (await site.get(path.replaceAll('NAME', name))).body.replaceAll(name, 'NAME').replace(/, did you mean '\w+'\?/, '')
  for (const path of [
    'user/?NAME=a', 'user/?NAME__eq=a', 'user/?NAME__is=null', 'user/?NAME__other=a', 'user/?NAME__like=%25',
    'user/?NAME__user=a', 'message/?user__NAME=a', 'message/?user__NAME__gt=a', 'message/?user__NAME__other=a',
    'message/?user__NAME__in=', 'message/?user_id__NAME=a'
  ].map((path) => `/api/${path}`)) {
    const unknown = await words(path, 'nonsense')
    t.equal(await words(path, 'email'), unknown, path)
    t.equal(await words(path, 'password'), unknown, path)
    t.match(JSON.parse(unknown), { statusCode: 400 })
    t.notSame(await words(path, 'username'), unknown, 'an open field is answered otherwise')
  }
})

test('D-15: a hidden field is answered in the words of a name that does not exist, in orderings', async (t) => {
  const unknown = await site.get('/api/user/?ordering=nonsense')
  t.equal(unknown.statusCode, 400)
  for (const name of ['email', '-email', 'password', 'id,email']) {
    t.equal((await site.get(`/api/user/?ordering=${name}`)).body, unknown.body, name)
  }
  t.equal((await site.get('/api/user/?ordering=username')).statusCode, 200)
})

test('D-16: an excluded field is not serialized, filtered or ordered by, nor in the schema of answers', async (t) => {
  const schemas: string[] = []
  const { get } = await buildApp(t, {
    register: (registry) => { registry.register(User, { exclude: ['password', 'email'] }).register(Message) },
    prepare: (app) => {
      app.addHook('onRoute', ({ schema }) => { schemas.push(JSON.stringify(schema?.response ?? {})) })
    }
  })
  t.notMatch((await get('/api/user/')).body, /email|password|argon2/)
  for (const query of ['email=a', 'email__ne=a', 'email__is=null', 'ordering=email', 'ordering=-email']) {
    t.equal((await get(`/api/user/?${query}`)).statusCode, 400, query)
    t.equal((await get(`/api/user/?${query.replace('email', 'username')}`)).statusCode, 200, query)
  }
  t.notMatch(schemas.join(), /email|password/)
  t.match(schemas.join(), /username/)
})

test('D-16: an excluded field is closed through every join', async (t) => {
  const { get } = await buildApp(t, {
    models: [...siteModels, Thing],
    register: (registry) => {
      registry.register(User, { exclude: ['email'] }).register(Message).register(Relationship).register(Thing)
    }
  })
  for (const path of [
    'message/?user__email=a', 'relationship/?from_user__email=a', 'relationship/?to_user__email__ne=a',
    'thing/?user__email__is=null', 'message/?user__password=a'
  ]) {
    t.equal((await get(`/api/${path}`)).statusCode, 400, path)
    t.equal((await get(`/api/${path.replace(/email|password/, 'username')}`)).statusCode, 200)
  }
})

test('D-16: an excluded foreign key cannot be followed', async (t) => {
  const { get } = await buildApp(t, {
    register: (registry) => {
      registry.register(User).register(Message, { exclude: ['user'] }).register(Relationship, { exclude: ['to_user'] })
    }
  })
  for (const path of [
    'message/?user=2', 'message/?user_id=2', 'message/?user__username=a', 'relationship/?to_user__id=2',
    'message/?ordering=user'
  ]) {
    t.equal((await get(`/api/${path}`)).statusCode, 400, path)
  }
  t.equal((await get('/api/relationship/?from_user__username=a')).statusCode, 200)
})

test('D-16: filterable opens an excluded field for filters and orderings, but does not serialize it', async (t) => {
  const { get } = await buildApp(t, {
    register: (registry) => {
      registry.register(User, { exclude: ['password', 'email', 'admin'], filterable: ['email'] })
    }
  })
  t.same(valuesOf(await get('/api/user/?email=bob@example.com'), 'id'), [3])
  t.same(valuesOf(await get('/api/user/?ordering=-email'), 'id'), [4, 3, 2, 1])
  t.notMatch((await get('/api/user/?email__like=b%25')).body, /example\.com/)
  t.equal((await get('/api/user/?admin=true')).statusCode, 400, 'this one is still closed')
})

test('D-16: a password is never opened', async (t) => {
  await t.rejects(buildApp(t, { register: (registry) => { registry.register(User, { filterable: ['password'] }) } }), {
    code: 'REST_MODELS_INVALID_OPTIONS'
  })
  await t.rejects(
    buildApp(t, { register: (registry) => { registry.register(Message, { filterable: ['user__password'] }) } }),
    { code: 'REST_MODELS_INVALID_OPTIONS' }
  )
  const { get } = await buildApp(t, {
    register: (registry) => { registry.register(User).register(Message, { filterable: ['user__email'] }) }
  })
  t.ok((await get('/api/user/1/')).json().password, 'it is serialized, since nothing is excluded')
  for (const query of [
    'user/?password=a', 'user/?password__like=%25', 'user/?ordering=password', 'message/?user__password__ne=a'
  ]) {
    t.equal((await get(`/api/${query}`)).statusCode, 400, query)
  }
  t.equal((await get('/api/message/?user__email=a')).statusCode, 200)
})

/** People with bosses and mentors: 1 <- 2 <- 3 <- 4 <- 5, where the mentor is always 1. */
const Person = defineModel('Person', {
  name: text(),
  boss: foreignKey((): Model => Person, { nullable: true }),
  mentor: foreignKey((): Model => Person, { nullable: true })
})
const people = {
  models: [Person],
  register: (registry) => { registry.register(Person) },
  rows: {
    person: [1, 2, 3, 4, 5].map((id) =>
      ({ id, name: `p${id}`, boss_id: id > 1 ? id - 1 : null, mentor_id: id > 1 ? 1 : null }))
  }
} satisfies Parameters<typeof buildApp>[1]

test('D-17: a filter follows up to three foreign keys', async (t) => {
  const { get } = await buildApp(t, people)
  t.same(valuesOf(await get('/api/person/?boss__name=p1'), 'id'), [2])
  t.same(valuesOf(await get('/api/person/?boss__boss__boss__name=p1'), 'id'), [4])
  t.same(
    valuesOf(await get('/api/person/?boss__boss__boss__boss=1'), 'id'), [5], 'the last column may be a foreign key'
  )
  const reply = await get('/api/person/?boss__boss__boss__boss__name=p1')
  t.equal(reply.statusCode, 400)
  t.equal(reply.json().code, 'REST_MODELS_TOO_MUCH')
  t.same(reply.json().details, [{ field: 'boss__boss__boss__boss__name', message: 'follows more than 3 foreign keys' }])
})

test('D-17: five different joins in all', async (t) => {
  const { get, statements } = await buildApp(t, people)
  const five = ['boss__name', 'mentor__name', 'boss__boss__name', 'boss__mentor__name', 'mentor__boss__name']
    .map((name) => `${name}__ne=x`).join('&')
  t.equal((await get(`/api/person/?${five}`)).statusCode, 200)
  t.equal(
    (await get(`/api/person/?${five}&boss__name__like=p%25&mentor__id=1`)).statusCode, 200,
    'paths that are joined already'
  )
  t.equal(statements[1]?.sql.match(/ join /g)?.length, 5)
  const reply = await get(`/api/person/?${five}&mentor__mentor__name__ne=x`)
  t.equal(reply.statusCode, 400)
  t.same(reply.json().details, [{ field: 'mentor__mentor__name__ne', message: 'needs more than 5 joins in all' }])
})

test('D-17: one join per path, so two foreign keys to one model never mix', async (t) => {
  t.same(await list('relationship/?from_user__username=alice&to_user__username=bob'), [1])
  t.same(await list('relationship/?from_user__username=alice&to_user__username=alice'), [])
  t.same(await list('relationship/?from_user__username=alice&from_user__admin=false'), [1])
  t.same(await list('relationship/?from_user__username=alice&from_user__id=3'), [], 'both speak of one record')
})

test("D-18, D-145: the related model's own excludes hold, those of its first resource if it has several", async (t) => {
  const { get } = await buildApp(t, {
    register: (registry) => {
      registry.register(User, { exclude: ['email'] }).register(User, { path: 'people', exclude: ['join_date'] })
        .register(Message)
    }
  })
  t.equal((await get('/api/message/?user__email__is=null')).statusCode, 400)
  t.equal((await get('/api/message/?user__join_date__is=null')).statusCode, 200)
  t.equal((await get('/api/message/?user__username__is=null')).statusCode, 200)
  t.equal((await get('/api/people/?email__is=null')).statusCode, 200, 'each resource has its own for its own list')
})

test('D-18: of a related model without a resource only the id is open, unless filterable names more', async (t) => {
  const closed = await buildApp(t, { register: (registry) => { registry.register(Message) } })
  for (const field of ['username', 'email', 'active', 'nonsense']) {
    t.equal((await closed.get(`/api/message/?user__${field}__is=null`)).statusCode, 400, field)
  }
  t.equal((await closed.get('/api/message/?user__id=2')).statusCode, 200)
  const opened = await buildApp(t, {
    register: (registry) => { registry.register(Message, { filterable: ['user__username'] }) }
  })
  for (const name of ['user__username', 'user_id__username']) {
    t.equal((await opened.get(`/api/message/?${name}=alice`)).statusCode, 200)
  }
  t.equal((await opened.get('/api/message/?user__email=a')).statusCode, 400)
})

test('D-19: a related resource whose reads are protected is closed to whoever may not list it', async (t) => {
  const { get } = await buildApp(t, {
    rows: {
      message: [{ id: 1, user_id: 2, content: 'a', pub_date: '2024-01-01 00:00:00' }],
      relationship: [{ id: 1, from_user_id: 2, to_user_id: 3 }]
    },
    register: (registry) => {
      registry.register(User, { auth: adminAuth(User, { protect: 'all' }) })
      registry.register(Message, { auth: userAuth(User, { protect: 'all' }) })
      registry.register(Relationship, { auth: userAuth(User) })
    }
  })
  const unknown = await get('/api/message/?user__nonsense=alice', { as: 'alice' })
  for (const field of ['username', 'id']) {
    const reply = await get(`/api/message/?user__${field}=2`, { as: 'alice' })
    t.equal(reply.statusCode, 400)
    t.equal(reply.body.replaceAll(field, 'nonsense'), unknown.body)
  }
  t.same(valuesOf(await get('/api/message/?user__username=alice', { as: 'admin' }), 'id'), [1])
  t.same(
    valuesOf(await get('/api/message/?user=2', { as: 'alice' }), 'id'), [1],
    'the foreign key is a column of the message'
  )
  t.equal(
    (await get('/api/relationship/?from_user__username=alice', { as: 'admin' })).statusCode, 400,
    'nobody is known where reads are open'
  )
})

/** Whether somebody who is made out may filter messages by names of users, whom these policies guard. */
async function looksThrough (t: Test, message: Policy, ...users: Policy[]): Promise<boolean> {
  const { get } = await buildApp(t, {
    models: [...siteModels, Staff],
    rows: { message: [{ id: 1, user_id: 2, content: 'a', pub_date: '2024-01-01 00:00:00' }] },
    register: (registry) => {
      registry.register(Message, { auth: message })
      for (const [index, auth] of users.entries()) {
        registry.register(User, { path: `user${index}`, auth, exclude: ['password'] })
      }
    }
  })
  t.same(valuesOf(await get('/api/message/', { as: 'alice' }), 'id'), [1])
  const { statusCode } = await get('/api/message/?user__username=alice', { as: 'alice' })
  t.ok([200, 400].includes(statusCode))
  return statusCode === 200
}

const Staff = defineModel('Staff', { name: text() })
/** A policy of a deployer's own, under which everybody is alice, and nothing is open. */
const everybody = (change: Partial<Policy> = {}): Policy =>
  ({ open: [], permits: () => true, authenticator: () => async () => ({ id: 2, admin: false }), ...change })

test('D-19, D-145: of several related resources the first must let somebody list', async (t) => {
  const [users, admins] = [userAuth(User, { protect: 'all' }), adminAuth(User, { protect: 'all' })]
  t.equal(await looksThrough(t, users, users, readOnlyAuth()), true, 'one of them anybody may list')
  t.equal(await looksThrough(t, users, users, admins), true)
  t.equal(await looksThrough(t, users, admins, users), false)
})

test('D-19: a list that is closed to everybody is closed to joins, a closed read is not', async (t) => {
  const users = userAuth(User, { protect: 'all' })
  t.equal(await looksThrough(t, users, { ...users, closed: ['list'] }), false)
  t.equal(await looksThrough(t, users, { ...users, closed: ['list'] }, users), false, 'the first of several')
  t.equal(await looksThrough(t, users, { ...users, closed: ['read'] }), true)
})

test('D-19: what a policy permits besides listing does not count', async (t) => {
  const permitting = (permits: Policy['permits']): Policy => everybody({ users: User, login: 'a', permits })
  t.equal(
    await looksThrough(
      t, everybody({ users: User, login: 'a' }), permitting((_user, operation) => operation === 'list')
    ),
    true
  )
  t.equal(
    await looksThrough(
      t, everybody({ users: User, login: 'a' }), permitting((_user, operation) => operation !== 'list')
    ),
    false
  )
})

test("D-116: two policies of a deployer's own make out the same people if they say so, or are one", async (t) => {
  const one = everybody()
  t.equal(await looksThrough(t, one, one), true)
  t.equal(await looksThrough(t, one, everybody()), false, 'neither tells who its users are')
  t.equal(
    await looksThrough(t, everybody({ users: User }), everybody({ users: User })), false,
    'neither tells how they are made out'
  )
  t.equal(
    await looksThrough(t, everybody({ login: 'a' }), everybody({ login: 'a' })), false, 'neither tells who they are'
  )
  t.equal(await looksThrough(t, everybody({ users: User, login: 'a' }), everybody({ users: User, login: 'a' })), true)
  t.equal(await looksThrough(t, everybody({ users: User, login: 'a' }), everybody({ users: Staff, login: 'a' })), false)
  t.equal(await looksThrough(t, everybody({ users: User, login: 'a' }), everybody({ users: User, login: 'b' })), false)
  t.equal(await looksThrough(t, everybody({ users: User, login: 'a' }), everybody({ users: User })), false)
  const [find, other] = [async () => ({ id: 2 }), async () => ({ id: 2 })]
  t.equal(await looksThrough(t, everybody({ login: find }), everybody({ login: find })), true, 'a function tells both')
  t.equal(await looksThrough(t, everybody({ login: find, users: User }), everybody({ login: find })), true)
  t.equal(await looksThrough(t, everybody({ login: find }), everybody({ login: find, users: User })), true)
  t.equal(await looksThrough(t, everybody({ login: find }), everybody({ login: other })), false, 'another function')
  class Verifier {
    readonly #key: string

    constructor (key: string) { this.#key = key }
    verifies (key: string): boolean { return key === this.#key }
  }
  const by = (login: unknown) => everybody({ users: User, login })
  const [staff, customers] = [new Verifier('staff'), new Verifier('customers')]
  t.equal(await looksThrough(t, by(staff), by(customers)), false, 'they differ in what they keep private')
  t.equal(await looksThrough(t, by([{ staff }]), by([{ staff }])), true)
  t.equal(await looksThrough(t, by({ a: ['b'] }), by({ a: ['b'] })), true)
  for (const unlike of [{ a: ['c'] }, { a: ['b', 'c'] }, { a: 'b' }, ['b'], { a: ['b'], c: undefined }, { c: ['b'] }]) {
    t.equal(await looksThrough(t, by({ a: ['b'] }), by(unlike)), false)
  }
})

test('D-116: the users of a policy are known to another one whose fields they all have', async (t) => {
  const withFields = (...fields: string[]) => everybody({ users: User, login: 'a', fields })
  t.equal(await looksThrough(t, withFields('email'), withFields()), true)
  t.equal(await looksThrough(t, withFields('email', 'username'), withFields('username', 'email')), true)
  t.equal(await looksThrough(t, withFields(), withFields('email')), false, 'the user has no email')
  t.equal(await looksThrough(t, everybody({ users: User, login: 'a' }), withFields('email')), false, 'nor any field')
  const fields = (...names: Array<'email' | 'username'>) => userAuth(User, { protect: 'all', fields: names })
  t.strictSame(
    [fields('email', 'username'), fields('email')].map(({ login }) => login), [fields().login, fields().login]
  )
  for (const name of ['id', 'admin', 'password'] as const) {
    t.throws(() => fields(name as 'email'), { message: new RegExp(`must not name '${name}'`) })
  }
  t.equal(await looksThrough(t, fields('email'), fields('email')), true)
  t.equal(await looksThrough(t, fields('username'), fields('email')), false, 'as many fields, but others')
})

test('D-20: user and user_id mean the same in filters and orderings', async (t) => {
  for (const name of ['user', 'user_id']) {
    t.same(await list(`message/?${name}=2`), [1, 3])
    t.same(await list(`message/?${name}__in=3`), [2])
    t.same(await list(`message/?${name}__username=bob`), [2])
    t.same(await list(`message/?ordering=-${name}`), [2, 1, 3])
  }
})

test('D-20: of a path with two foreign keys all four spellings must agree', async (t) => {
  const Boss = defineModel('Boss', { name: text() })
  const Person = defineModel('Person', { boss: foreignKey(() => Boss) })
  const Task = defineModel('Task', { who: foreignKey(() => Person) })
  const { get } = await buildApp(t, {
    models: [Boss, Person, Task],
    rows: {
      boss: [{ id: 1, name: 'a' }, { id: 2, name: 'b' }], person: [{ id: 1, boss_id: 1 }], task: [{ id: 1, who_id: 1 }]
    },
    register: (registry) => { registry.register(Boss).register(Person).register(Task) }
  })
  const same = 'who__boss=1&who_id__boss=1&who__boss_id=1&who_id__boss_id=1'
  t.equal((await get(`/api/task/?${same}`)).json().objects.length, 1)
  for (const spelling of ['who_id__boss', 'who__boss_id', 'who_id__boss_id']) {
    const reply = await get(`/api/task/?${same.replace(`${spelling}=1`, `${spelling}=2`)}`)
    t.same([reply.statusCode, reply.json().details], [
      400, [{ field: spelling, message: 'contradicts another spelling of its name' }]
    ])
  }
})

test('D-20: both names of a foreign key in one ordering must agree', async (t) => {
  t.same(await list('message/?ordering=-user,-user_id'), [2, 1, 3])
  t.equal(await list('message/?ordering=user,-user_id'), 400)
  t.equal(await list('message/?ordering=id,-id'), 400)
})

test('D-20: user and user_id mean the same in bodies', async (t) => {
  const { post, put, rowsOf } = await buildApp(t)
  t.equal((await post('/api/relationship/', { to_user: 3 }, { as: 'alice' })).json().to_user_id, 3)
  t.equal((await post('/api/relationship/', { to_user_id: 3 }, { as: 'alice' })).json().to_user_id, 3)
  t.equal((await put('/api/relationship/1/', { to_user: 4, to_user_id: 4 }, { as: 'alice' })).json().to_user_id, 4)
  for (const reply of [
    await post('/api/relationship/', { to_user: 3, to_user_id: 4 }, { as: 'alice' }),
    await put('/api/relationship/2/', { to_user_id: 1, to_user: 2 }, { as: 'alice' })
  ]) {
    t.equal(reply.statusCode, 400)
    t.match(reply.json().details, [{ field: /^to_user/ }])
  }
  t.match(await rowsOf('relationship'), [{ to_user_id: 4 }, { to_user_id: 3 }])
})

test('D-20: both names at once and different are 400 in a filter', async (t) => {
  t.same(await list('message/?user=2&user_id=2'), [1, 3])
  t.equal(await list('message/?user=2&user_id=3'), 400)
  t.equal(await list('message/?user__username=alice&user_id__username=bob'), 400)
  t.same(await list('message/?user=2&user=3'), [1, 2, 3], 'one name twice is D-26')
  t.same(await list('message/?user=2&user=3&user_id=3&user_id=2'), [1, 2, 3])
  t.equal(await list('message/?user=2&user=3&user_id=2'), 400, 'in any order')
  t.equal(await list('message/?user_id=2&user=2&user=3'), 400, 'in any order')
})

test('D-21: only is tests null', async (t) => {
  const { list } = await things(t, [full, nulls])
  for (const field of ['title', 'count', 'big', 'ratio', 'price', 'done', 'at', 'day', 'extra', 'code', 'user']) {
    t.same(await list(`${field}__is=null`), [2], field)
  }
  for (const field of ['count', 'big', 'ratio', 'price', 'done', 'at', 'day', 'code', 'user']) {
    t.equal(await list(`${field}=null`), 400, field)
    t.equal(await list(`${field}__in=null`), 400, field)
    t.equal(await list(`${field}=`), 400, field)
  }
})

test('D-21: the words null, none and true are ordinary text for text columns', async (t) => {
  const { list } = await things(t, titled('null', 'none', 'true', 'None', null))
  t.same(await list('title=null'), [1])
  t.same(await list('title=none'), [2])
  t.same(await list('title__in=true,None'), [3, 4])
  t.same(await list('title__ne=null'), [2, 3, 4])
  t.same(await list('title__like=n%25'), [1, 2])
})

test('D-22: is takes null or none, true and false in any case', async (t) => {
  const { list } = await things(t, [{ id: 1, done: null }, { id: 2, done: 1 }, { id: 3, done: 0 }])
  for (const word of ['null', 'NULL', 'Null', 'none', 'None', 'NONE']) t.same(await list(`done__is=${word}`), [1], word)
  for (const word of ['true', 'True', 'TRUE']) t.same(await list(`done__is=${word}`), [2], word)
  for (const word of ['false', 'False', 'FALSE']) t.same(await list(`done__is=${word}`), [3], word)
  for (const word of ['1', '0', '', 'not null', 'unknown', ' null', 'null,true']) {
    t.equal(await list(`done__is=${word}`), 400, word)
  }
})

test('D-22: is true and is false are for booleans only', async (t) => {
  const { list } = await things(t, [full, nulls])
  for (const field of ['title', 'count', 'at', 'extra', 'user', 'id']) {
    t.equal(await list(`${field}__is=true`), 400, field)
    t.equal(await list(`${field}__is=FALSE`), 400, field)
    t.not(await list(`${field}__is=null`), 400, field)
    t.not(await list(`${field}__is=notnull`), 400, field)
  }
  t.same(await list('done__is=true'), [1])
})

test('D-23: values of in are separated by commas; "…" protects a comma, and "" in it is a quote', async (t) => {
  const { list } = await things(t, titled('a', 'b', 'a,b', 'say "hi"', '', 'it"s', '"'))
  t.same(await list('title__in=a,b'), [1, 2])
  t.same(await list(`title__in=${q('"a,b"')}`), [3])
  t.same(await list(`title__in=${q('b,"a,b",a')}`), [1, 2, 3])
  t.same(await list(`title__in=${q('"say ""hi"""')}`), [4])
  t.same(await list(`title__in=${q('it"s')}`), [6], 'a quote within is a quote')
  t.same(await list(`title__in=${q('""""')}`), [7])
  t.same(await list(`title__in=${q('""')}`), [5], 'one empty text')
  t.same(await list('title__in=a,'), [1, 5], 'the empty text after a comma')
  for (const broken of ['"a', '"a"b', 'a,"b', '"a" ,b']) t.equal(await list(`title__in=${q(broken)}`), 400, broken)
})

test('D-23: an empty list matches nothing', async (t) => {
  const { list } = await things(t, titled('', 'a', null))
  t.same(await list('title__in='), [])
  t.same(await list('id__in='), [])
  t.same(await list('id__in=&id__in=2'), [2])
})

test('D-23: at most 100 values', async (t) => {
  const numbers = (length: number) => Array.from({ length }, (_, index) => index + 1).join(',')
  t.same(await list(`message/?id__in=${numbers(100)}`), [1, 2, 3])
  const reply = await site.get(`/api/message/?id__in=${numbers(101)}`)
  t.equal(reply.statusCode, 400)
  t.match(reply.json().details, [{ field: 'id__in', message: /100/ }])
})

const patterns: ReadonlyArray<readonly [pattern: string, like: readonly number[], ilike: readonly number[]]> = [
  ['abc', [1], [1, 2]],
  ['b', [], []],
  ['%b%', [1, 8], [1, 2, 8]],
  ['ABC', [2], [1, 2]],
  ['a%', [1, 3, 4, 5, 6, 7, 8], [1, 2, 3, 4, 5, 6, 7, 8]],
  ['a_c', [1, 3, 4, 5, 6, 7], [1, 2, 3, 4, 5, 6, 7]],
  ['a__', [1, 3, 4, 5, 6, 7], [1, 2, 3, 4, 5, 6, 7]],
  ['a\\%c', [3], [3]],
  ['a\\_c', [4], [4]],
  ['a\\\\c', [5], [5]],
  ['\\abc', [1], [1, 2]],
  ['a*c', [6], [6]],
  ['a?c', [], []],
  ['a[b]c', [8], [8]],
  ['a[bc]c', [], []],
  ['_', [9, 10], [9, 10]],
  ['', [], []],
  ['%', [1, 2, 3, 4, 5, 6, 7, 8, 9, 10], [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]]
]

test('D-24: like and ilike match the whole value, with %, _ and a backslash that escapes', async (t) => {
  const { list } = await things(t, titled('abc', 'ABC', 'a%c', 'a_c', 'a\\c', 'a*c', 'a\nc', 'a[b]c', '😀', 'É', null))
  for (const [pattern, like, ilike] of patterns) {
    t.same(await list(`title__like=${q(pattern)}`), like, `like ${pattern}`)
    t.same(await list(`title__ilike=${q(pattern)}`), ilike, `ilike ${pattern}`)
  }
  for (const pattern of ['a\\', '\\', 'a\\\\\\']) {
    t.equal(await list(`title__like=${q(pattern)}`), 400, 'an escape that escapes nothing')
  }
})

test('D-24: like minds the case, ilike ignores that of ASCII letters', async (t) => {
  const { list } = await things(t, titled('Zebra', 'zebra', 'ZEBRA'))
  t.same(await list('title__like=z%25'), [2])
  t.same(await list('title__like=%25RA'), [3])
  for (const pattern of ['z%25', 'Z%25', 'zEbRa']) t.same(await list(`title__ilike=${pattern}`), [1, 2, 3])
})

test('D-24: at most 128 characters', async (t) => {
  const { list } = await things(t, titled('a'.repeat(128), 'a'.repeat(129)))
  for (const operator of ['like', 'ilike']) {
    t.same(await list(`title__${operator}=${'a'.repeat(128)}`), [1])
    t.same(await list(`title__${operator}=${'a'.repeat(127)}%25`), [1, 2])
    t.equal(await list(`title__${operator}=${'a'.repeat(129)}`), 400)
  }
})

test('D-24: for text columns only', async (t) => {
  const { list } = await things(t, [full, nulls])
  for (const operator of ['like', 'ilike']) {
    for (const field of ['id', 'count', 'big', 'ratio', 'price', 'done', 'at', 'day', 'extra', 'code', 'user']) {
      t.equal(await list(`${field}__${operator}=%25`), 400, field)
    }
    t.same(await list(`title__${operator}=%25`), [1])
  }
})

const lookAlikes = ['a', 'A', 'a ', ' a', 'á', 'a\u0301', 'aa', 'a\t', '']

test('D-25: eq, ne and in compare text exactly, character by character', async (t) => {
  const { list } = await things(t, titled(...lookAlikes))
  const ids = lookAlikes.map((_, index) => index + 1)
  for (const [index, title] of lookAlikes.entries()) {
    t.same(await list(`title=${q(title)}`), [index + 1], JSON.stringify(title))
    t.same(await list(`title__eq=${q(title)}`), [index + 1])
    t.same(await list(`title__in=${q(`"${title}"`)}`), [index + 1])
    t.same(await list(`title__ne=${q(title)}`), ids.filter((id) => id !== index + 1))
  }
})

/** Makes the titles of things compare without regard to case. */
const loosen = {
  sqlite: [
    'alter table thing add column loose text collate nocase', 'update thing set loose = title',
    'alter table thing drop column title', 'alter table thing rename column loose to title'
  ],
  postgres: [
    "create collation loose (provider = icu, locale = 'und-u-ks-level2', deterministic = false)",
    'alter table thing alter column title type text collate loose'
  ],
  mariadb: ['alter table thing modify title text character set utf8mb4 collate utf8mb4_general_ci']
}

test('D-25: the same holds for a column whose collation ignores case', async (t) => {
  const { list, db, rowsOf } = await things(t, titled('a', 'A'), {
    prepare: async (_app, db) => { for (const statement of loosen[engine]) await sql.raw(statement).execute(db) }
  })
  t.same((await sql`select id from thing where title = 'A'`.execute(db)).rows, [{ id: 1 }, { id: 2 }], 'so SQL itself')
  t.equal((await rowsOf('thing')).length, 2)
  t.same(await list('title=A'), [2])
  t.same(await list('title__in=A'), [2])
  t.same(await list('title__ne=A'), [1])
})

test('D-25: ne does not match null', async (t) => {
  const { list } = await things(t, titled('a', 'b', null))
  t.same(await list('title__ne=a'), [2])
  t.same(await list('title__ne=nothing'), [1, 2])
})

test('D-26: one filter given several times matches any of the values', async (t) => {
  const { list } = await things(t, [
    { id: 1, title: 'a', done: 1 }, { id: 2, title: 'b', done: 0 }, { id: 3, title: 'c', done: null }
  ])
  t.same(await list('title=a&title=c'), [1, 3])
  t.same(await list('title=a&title__eq=c'), [1, 3], 'eq is what a bare name means')
  t.same(await list('title__like=a%25&title__like=b%25'), [1, 2])
  t.same(await list('id__in=1&id__in=3'), [1, 3])
  t.same(await list('id__gt=2&id__gt=1'), [2, 3])
  t.same(await list('done__is=true&done__is=null'), [1, 3])
  t.same(await list('title=a&title=b&id=2'), [2], 'different filters still all hold')
})

test('D-170: is=notnull, in any case, is any value, on every kind of field', async (t) => {
  const { list } = await things(t, [full, nulls])
  for (const field of ['title', 'count', 'big', 'ratio', 'price', 'done', 'at', 'day', 'extra', 'code', 'user']) {
    t.same(await list(`${field}__is=notnull`), [1], field)
    t.same(await list(`${field}__is=NotNull`), [1], field)
    t.same(await list(`${field}__is=null&${field}__is=notnull`), [1, 2], field)
  }
  t.same(await list('id__is=notnull'), [1, 2])
  t.same(await list('title__is=notnull&title__is=notnull'), [1])
  t.same(await list('user_id__is=notnull&user__is=NOTNULL'), [1])
  t.equal(await list('user_id__is=notnull&user__is=null'), 400, 'two spellings contradict each other')
  t.same(await list('title=notnull'), [], 'an ordinary text elsewhere')
})

test('D-170: behind a reference that leads nowhere, no value is notnull', async (t) => {
  const { list } = await things(t, [full, nulls])
  t.same(await list('user__id__is=notnull'), [1])
  t.same(await list('user__username__is=notnull'), [1])
  t.same(await list('user__username__is=null'), [])
})

test('D-26: for ne none of the values', async (t) => {
  const { list } = await things(t, titled('a', 'b', 'c', null))
  t.same(await list('title__ne=a&title__ne=c'), [2])
})

const wrongValues = {
  count: ['x', '1.5', '', ' 1', '1 ', '01', '+1', '1e3', '0x1', '2147483648', '-2147483649', 'NaN'],
  big: ['x', '1.5', '9223372036854775808', '-9223372036854775809'],
  ratio: ['x', 'Infinity', 'NaN', '1e999', '1,5', '.5', '-0'],
  price: ['x', '1.555', '1e2', '99999999999999.99'],
  done: ['TRUE', 'yes', 'no', '2', 'on', '', 't'],
  at: [
    'x', '2024-13-01', '2024-02-30 00:00:00', '2024-01-01 24:00:00', '2024-01-01 10:60:00', '10:00:00', '1704103200',
    '2024-1-1', '0000-01-01', '2024-01-01T10:00:00+99:00', 'now'
  ],
  day: ['x', '2024-02-30', '2024-01-01 10:00:00'],
  code: ['x', '00000000-0000-4000-8000-00000000000'],
  user: ['alice', '1.0', '9007199254740993'],
  id: ['x', '1.0', '']
}

for (const [field, values] of Object.entries(wrongValues)) {
  test(`D-27: a value that is not of the type of ${field} is 400 before any statement runs`, async (t) => {
    const { get, list, statements } = await things(t, [full, nulls])
    for (const value of values) {
      const reply = await get(`/api/thing/?${field}__eq=${q(value)}`)
      t.equal(reply.statusCode, 400, value)
      t.match(reply.json(), { code: 'REST_MODELS_INVALID_VALUE', details: [{ field: `${field}__eq` }] })
      t.equal(await list(`${field}__gt=${q(value)}`), 400, value)
      t.equal(await list(`${field}__in=${q(`"${value}"`)}`), 400, value)
    }
    t.same(statements, [])
    const right = { ...full, user: 2 }[field as 'count']
    t.same(await list(`${field}__eq=${q(String(right))}`), [1])
    t.equal(statements.length, 1)
  })
}

test('D-27: booleans are true, false, 1 and 0', async (t) => {
  const { list } = await things(t, [{ id: 1, done: 1 }, { id: 2, done: 0 }])
  for (const yes of ['true', '1']) t.same(await list(`done=${yes}`), [1])
  for (const no of ['false', '0']) t.same(await list(`done=${no}`), [2])
  t.same(await list('done__in=1,false'), [1, 2])
})

test('D-27: datetimes are YYYY-MM-DD HH:MM:SS, ISO 8601 or a date; offsets are converted, fractions cut', async (t) => {
  const { list } = await things(t, [{ id: 1, at: '2024-02-01 10:00:00' }, { id: 2, at: '2024-02-01 00:00:00' }])
  for (const text of [
    '2024-02-01 10:00:00', '2024-02-01T10:00:00', '2024-02-01T10:00:00Z', '2024-02-01T12:30:00+02:30',
    '2024-02-01T05:00:00-05:00',
    '2024-02-01 10:00', '2024-02-01T10:00:00.999Z', '2024-01-31T20:00:00-1400', '2024-02-01 10:00:00+00',
    '2024-02-01T12:00+02', '2024-02-01 05:00:00.5 -05'
  ]) t.same(await list(`at=${q(text)}`), [1], text)
  t.same(await list('at=2024-02-01'), [2], 'a date is its midnight')
  t.same(await list('at__gte=2024-02-01'), [1, 2])
  t.same(await list('at__gt=2024-02-01'), [1])
})

test('D-27: of ISO 8601, the basic format, 24:00, second 60, weeks and days of the year are not read', async (t) => {
  const { list } = await things(t, [{ id: 1, at: '2024-02-01 10:00:00' }])
  for (const text of [
    '20240201T100000Z', '20240201', '2024-02-01T24:00:00Z', '2024-02-01T23:59:60Z', '2024-W05-4', '2024-032',
    '2024-032T10:00:00Z', '2024-02', '2024-02-01T10', '2024-02-01T10:00.5', '2024-02-01T10Z',
    '2024-02-01T10:00:00+', '2024-02-01T10:00:00+1', '2024-02-01T10:00:00.0123456789',
    '2024-02-01T10:00:00+24', '2024-02-01T10:00:00+010', '2024-02-01T10:00:00+01:', '2024-02-01+01'
  ]) t.equal(await list(`at=${q(text)}`), 400, text)
})

test('D-28: an ordering is one or more columns, separated by commas, with - for descending', async (t) => {
  t.same(await list('message/?ordering=content,-pub_date'), [1, 3, 2])
  t.same(await list('message/?ordering=-content,pub_date'), [2, 3, 1])
  t.same(await list('message/?ordering=-user,-id'), [2, 3, 1])
})

test('D-28: nulls come first when ascending', async (t) => {
  const { list } = await things(t, titled('b', null, 'a', null))
  t.same(await list('ordering=title'), [2, 4, 3, 1])
  t.same(await list('ordering=-title'), [1, 3, 2, 4])
})

test('D-28: the primary key always ends it, and is the default', async (t) => {
  const { list, db } = await things(t, titled('same', 'same', 'other', 'same'))
  t.same(await list(''), [1, 2, 3, 4])
  t.same(await list('ordering=title'), [3, 1, 2, 4])
  t.same(await list('ordering=-title'), [1, 2, 4, 3], 'ascending here as well')
  await db.updateTable('thing').set({ id: 9 }).where('id', '=', 1).execute()
  t.same(await list(''), [2, 3, 4, 9])
  t.same(await list('ordering=-title'), [2, 4, 9, 3])
})

test('D-28: an empty ordering counts as absent', async (t) => {
  t.same(await list('message/?ordering='), [1, 2, 3])
  t.equal((await site.get('/api/message/?ordering=&limit=1')).json().meta.next, '/api/message/?limit=1&page=2')
})

test('D-28: an ordering by what is unknown, hidden or cannot be ordered, or given twice, is 400', async (t) => {
  for (const ordering of [
    'nonsense', '-', '--id', '+id', 'content,', ',content', 'content,nonsense', 'user__username', 'id asc', 'Content',
    '-nonsense', 'null'
  ]) {
    const reply = await site.get(`/api/message/?ordering=${q(ordering)}`)
    t.equal(reply.statusCode, 400, ordering)
    t.match(reply.json(), { code: 'REST_MODELS_INVALID_ORDERING', details: [{ field: 'ordering' }] })
  }
  t.equal(await list('user/?ordering=email'), 400)
  t.equal(await list('message/?ordering=id&ordering=id'), 400)
  const { list: listThings } = await things(t, [full])
  t.equal(await listThings('ordering=extra'), 400)
  t.same(await listThings('ordering=title'), [1])
})

const manyNotes = Array.from(
  { length: 101 }, (_, index) => ({ id: index + 1, message: `note ${index + 1}`, created: '2024-01-01 00:00:00' })
)

test('D-29: limit goes from 1 to 100', async (t) => {
  const { get, statements } = await buildApp(t, { rows: { note: manyNotes } })
  for (const limit of ['0', '101', '-1', '1.5', 'x', '', '01', ' 1', '+1', '1e1', '9'.repeat(400)]) {
    const reply = await get(`/api/note/?limit=${q(limit)}`)
    t.equal(reply.statusCode, 400, limit)
    t.match(reply.json(), { code: 'REST_MODELS_INVALID_PAGE', details: [{ field: 'limit' }] })
  }
  t.same(statements, [])
  t.equal((await get('/api/note/?limit=1')).json().objects.length, 1)
  t.equal((await get('/api/note/?limit=100')).json().objects.length, 100)
})

test('D-29: page goes from 1 to where 100,000 records are skipped', async (t) => {
  for (const page of ['0', '-1', '1.5', 'x', '', '01', '9'.repeat(400)]) {
    const reply = await site.get(`/api/message/?page=${q(page)}`)
    t.equal(reply.statusCode, 400, page)
    t.match(reply.json(), { code: 'REST_MODELS_INVALID_PAGE', details: [{ field: 'page' }] })
  }
  t.same(await list('message/?page=1'), [1, 2, 3])
  t.same(await list('message/?limit=100&page=1001'), [])
  t.equal(await list('message/?limit=100&page=1002'), 400)
  t.same(await list('message/?limit=1&page=100001'), [])
  t.equal(await list('message/?limit=1&page=100002'), 400)
})

test('D-29: each is given once', async (t) => {
  t.equal(await list('message/?limit=1&limit=1'), 400)
  t.equal(await list('message/?page=1&page=1'), 400)
  t.same(await list('message/?limit=1&page=1'), [1])
})

test('D-29: maxLimit and the limits are what the deployer says', async (t) => {
  const { get } = await buildApp(t, {
    rows: { note: manyNotes },
    options: { defaultLimit: 5, maxLimit: 10, limits: { offset: 20 } },
    register: (registry) => { registry.register(Note).register(Note, { path: 'memo', defaultLimit: 2, maxLimit: 3 }) }
  })
  const count = async (path: string) => (await get(`/api/${path}`)).json().objects?.length
  t.same([await count('note/'), await count('note/?limit=10'), await count('note/?limit=11')], [5, 10, undefined])
  t.same([await count('memo/'), await count('memo/?limit=3'), await count('memo/?limit=4')], [2, 3, undefined])
  t.same([await count('note/?page=5'), await count('note/?page=6')], [5, undefined])
})

test('D-30: a page behind the end is 200 without objects, with the page before as previous', async (t) => {
  const reply = await site.get('/api/message/?limit=2&page=7')
  t.equal(reply.statusCode, 200)
  t.same(reply.json(), {
    meta: { model: 'message', page: 7, next: '', previous: '/api/message/?limit=2&page=6' }, objects: []
  })
  t.same(await list('message/?limit=2&page=2'), [3])
})

test('D-31: links are exactly the path with limit and page when nothing else was asked', async (t) => {
  const { meta } = (await site.get('/api/message/?page=2&limit=1')).json()
  t.match(meta, { next: '/api/message/?limit=1&page=3', previous: '/api/message/?limit=1&page=1' })
  t.match(
    (await site.get('/api/message?limit=1')).json().meta, { next: '/api/message/?limit=1&page=2' },
    'without the final slash as well'
  )
})

test('D-31: what else was asked follows, unchanged in meaning', async (t) => {
  const content = 'a&b=c+d %25é"/?#'
  const { get } = await buildApp(t, {
    rows: { message: [1, 2, 3].map((id) => ({ id, user_id: 2, content, pub_date: '2024-01-01 00:00:00' })) }
  })
  const query = `user__username=alice&ordering=-id&content=${q(content)}&content=other&` +
    `content__in=${q(`"${content.replace('"', '""')}",x`)}&limit=1`
  const seen: unknown[] = []
  for (let url = `/api/message/?${query}`; url !== ''; url = (await get(url)).json().meta.next) {
    seen.push(...valuesOf(await get(url), 'id'))
    const { previous, page } = (await get(url)).json().meta
    if (page > 1) t.same(valuesOf(await get(previous), 'id'), [seen.at(-2)])
  }
  t.same(seen, [3, 2, 1])
  t.match(
    (await get(`/api/message/?${query}`)).json().meta.next,
    /^\/api\/message\/\?limit=1&page=2&user__username=alice&ordering=-id&content=/
  )
})

test("D-31: links carry the deployer's prefix and never a host", async (t) => {
  const { get } = await buildApp(t, { rows: { note: manyNotes }, options: { prefix: '/v1/data' } })
  const reply = await get('/v1/data/note/', {
    headers: { host: 'evil.example', 'x-forwarded-host': 'evil.example', 'x-forwarded-prefix': '/x' }
  })
  t.equal(reply.json().meta.next, '/v1/data/note/?limit=20&page=2')
})

test('D-31: next is empty where it could not be followed', async (t) => {
  const { get } = await buildApp(t, { rows: { note: manyNotes }, options: { limits: { offset: 40 } } })
  t.equal((await get('/api/note/?page=2')).json().meta.next, '/api/note/?limit=20&page=3')
  t.equal((await get('/api/note/?page=3')).json().meta.next, '')
  t.equal((await get('/api/note/?page=4')).statusCode, 400)
})

test('D-31: next can be followed, or is empty, after a query of any length', async (t) => {
  const { get } = await buildApp(t, { rows: { note: manyNotes } })
  const values = (length: number) =>
    Array.from({ length: 8 }, (_, index) => `message__ne=${'x'.repeat((length - 103 + index) / 8)}`).join('&')
  const { next } = (await get(`/api/note/?${values(8000)}`)).json().meta
  t.equal((await get(next)).statusCode, 200)
  for (const url of [
    `/api/note/?${values(8192)}`, `/api/note/?${values(8176)}`,
    `/api/note/?message__in=${'x,'.repeat(99)}&${values(7956)}`
  ]) {
    const reply = await get(url)
    t.equal(reply.statusCode, 200)
    if (reply.json().meta.next !== '') t.equal((await get(reply.json().meta.next)).statusCode, 200)
  }
})

test('D-31: previous can be followed, or is empty, after a query of any length', async (t) => {
  const { get } = await buildApp(t, { rows: { note: manyNotes } })
  const query = `page=2&${Array.from({ length: 8 }, () => `message__ne=${'x'.repeat(1010)}`).join('&')}`
  t.equal(query.length, 8190)
  const reply = await get(`/api/note/?${query}`)
  t.match(reply.json(), { meta: { page: 2, previous: '' } })
  const { previous } = (await get(`/api/note/?${query.slice(0, -9)}`)).json().meta
  t.equal((await get(previous)).json().meta.page, 1)
})

test('D-32: one row more than the page holds is asked for, in one statement, and nothing is counted', async (t) => {
  const { get, statements } = await buildApp(t, { rows: { note: manyNotes.slice(0, 3) } })
  t.equal((await get('/api/note/?limit=2')).json().meta.next, '/api/note/?limit=2&page=2')
  t.equal((await get('/api/note/?limit=3')).json().meta.next, '')
  t.equal(statements.length, 2)
  t.same(statements.map(({ parameters }) => parameters.slice(-2)), [[3, 0], [4, 0]])
  t.notMatch(statements.map((statement) => statement.sql).join(), /count/)
})

test('D-33: at most 20 filters', async (t) => {
  const filters = (count: number) => Array.from({ length: count }, () => 'content__ne=x').join('&')
  t.same(await list(`message/?${filters(20)}&limit=5&page=1&ordering=id`), [1, 2, 3])
  const reply = await site.get(`/api/message/?${filters(21)}`)
  t.equal(reply.statusCode, 400)
  t.equal(reply.json().code, 'REST_MODELS_TOO_MUCH')
  t.same(reply.json().details, [{ field: 'content__ne', message: 'is more than 20 filters' }])
})

test('D-33: values of at most 1,024 characters', async (t) => {
  t.same(await list(`message/?content=${'x'.repeat(1024)}`), [])
  t.equal(await list(`message/?content=${'x'.repeat(1025)}`), 400)
  t.equal(await list(`message/?content__in=a,${'x'.repeat(1025)}`), 400)
})

test('D-33: at most 8 KiB in all, else 414', async (t) => {
  const query = (length: number) => `limit=1&${'&'.repeat(length - 8)}`
  t.same(await list(`message/?${query(8192)}`), [1])
  const reply = await site.get(`/api/message/?${query(8193)}`)
  t.equal(reply.statusCode, 414)
  t.equal(reply.json().code, 'REST_MODELS_QUERY_TOO_LONG')
})

test('D-33: in with a hundred UUIDs fits, its commas and quotes encoded or not', async (t) => {
  const code = (index: number) => `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`
  const { list } = await things(t, [1, 2, 150].map((id) => ({ id, title: 'a', code: code(id) })))
  const codes = Array.from({ length: 100 }, (_, index) => code(index + 1))
  t.same(await list(`code__in=${codes.join()}`), [1, 2])
  t.same(await list(`ordering=-id&limit=5&code__in=${q(codes.map((code) => `"${code}"`).join())}`), [2, 1])
})

test('D-33: twenty filters of a hundred values each are served, whatever the kind of their field', async (t) => {
  const Line = defineModel('Line', {
    a: integer(),
    b: integer(),
    price: decimal(),
    at: datetime(),
    day: date(),
    big: bigint(),
    ratio: number(),
    name: text(),
    token: uuid()
  }, { key: ['a', 'b'] })
  const token = '00000000-0000-4000-8000-000000000001'
  const values = {
    a: 1, b: 1, price: 1.5, at: '2024-01-01 00:00:00', day: '2024-01-01', big: 1, ratio: 0.5, name: 'a', token
  }
  const { get } = await buildApp(t, {
    models: [Line],
    rows: { line: [values] },
    // The first request runs cold code, which takes seconds on a busy machine.
    options: { limits: { queryLength: 2 ** 20, statementTime: 20_000 } },
    register: (registry) => { registry.register(Line) }
  })
  for (const [field, value, other] of [
    ['id', q('"1,1"'), q('"1,2"')], ['price', '1.5', '2'], ['at', q('2024-01-01 00:00:00'), q('2024-01-02 00:00:00')],
    ['day', '2024-01-01', '2024-01-02'], ['big', '1', '2'], ['ratio', '0.5', '1.5'], ['name', 'a', 'b'],
    ['token', token, token.replace('1', '2')]
  ] as const) {
    const many = (operator: string, item: string) =>
      Array(20).fill(`${field}__${operator}=${Array(100).fill(item).join()}`).join('&')
    const found = async (query: string) => (await get(`/api/line/?${query}`)).json().objects?.length
    t.equal(await found(many('in', value)), 1, field)
    t.equal(await found(many('in', other)), 0, field)
    t.equal(await found(Array(20).fill(`${field}__ne=${other.replaceAll('%22', '')}`).join('&')), 1, field)
  }
})

test('D-274: an ordering names at most 16 fields', async (t) => {
  const names = Array.from({ length: 20 }, (_, index) => `c${index}`)
  const Wide = defineModel('Wide', Object.fromEntries(names.map((name) => [name, text()])))
  const row = Object.fromEntries(names.map((name) => [name, 'x']))
  const { get } = await buildApp(t, {
    models: [Wide],
    rows: { wide: Array.from({ length: 30 }, (_, index) => ({ id: index + 1, ...row, c15: String(index % 3) })) },
    register: (registry) => { registry.register(Wide) }
  })
  const first = await get(`/api/wide/?ordering=${names.slice(0, 16).join()}&limit=10&after=`)
  t.same(first.json().objects.map(({ id }: { id: number }) => id), [1, 4, 7, 10, 13, 16, 19, 22, 25, 28])
  const second = await get(first.json().meta.next)
  t.same(second.json().objects.map(({ id }: { id: number }) => id), [2, 5, 8, 11, 14, 17, 20, 23, 26, 29])
  const refused = await get(`/api/wide/?ordering=${names.slice(0, 17).join()}`)
  t.match([refused.statusCode, refused.json()], [400, {
    code: 'REST_MODELS_TOO_MUCH', details: [{ field: 'ordering', message: 'names more than 16 fields' }]
  }])
})

test('D-33: percent-encoding must be valid UTF-8', async (t) => {
  for (const broken of ['%ff', '%', '%zz', '%c3', '%ed%a0%80', '%2', 'a%c0%80']) {
    t.equal(await list(`message/?content=${broken}`), 400, broken)
    t.equal(await list(`message/?${broken}=a`), 400, broken)
    t.equal((await site.get(`/api/message/1/?${broken}`)).json().code, 'REST_MODELS_INVALID_QUERY', broken)
  }
  t.same(await list('message/?content=%61'), [1])
  t.same(await list('message/?content=%c3%a9'), [])
})

test('D-33: every one of these limits is what the deployer says', async (t) => {
  const { get } = await buildApp(t, {
    ...people,
    options: {
      limits: { filters: 2, joins: 1, totalJoins: 1, inItems: 2, patternLength: 3, valueLength: 4, queryLength: 60 }
    }
  })
  const pairs = [
    ['name__ne=a&name__ne=b', 'name__ne=a&name__ne=b&name__ne=c'],
    ['boss__name=p1', 'boss__boss__name=p1'],
    ['boss__name=p1&boss__id=1', 'boss__name=p1&mentor__id=1'],
    ['id__in=1,2', 'id__in=1,2,3'],
    ['name__like=abc', 'name__like=abcd'],
    ['name=abcd', 'name=abcde']
  ] as const
  for (const [permitted, refused] of pairs) {
    t.equal((await get(`/api/person/?${permitted}`)).statusCode, 200, permitted)
    t.equal((await get(`/api/person/?${refused}`)).statusCode, 400, refused)
  }
  t.equal((await get(`/api/person/?${'&'.repeat(60)}`)).statusCode, 200)
  t.equal((await get(`/api/person/?${'&'.repeat(61)}`)).statusCode, 414)
})

const kilobyte = (count: number, unit = 'a') => unit.repeat(1024 * count / Buffer.byteLength(unit))
const sized = (...sizes: readonly number[]): Rows => ({
  note: sizes.map((size, index) => ({ id: index + 1, message: kilobyte(size), created: '2024-01-01 00:00:00' }))
})
const bounded = { limits: { pageBytes: 10 * 1024 } }

test('D-107: a page ends after so many bytes, and has one record at least', async (t) => {
  const { get } = await buildApp(t, { rows: sized(4, 4, 2, 4, 30, 1, 1, 9), options: bounded })
  const pages: number[][] = []
  for (let next = '/api/note/?limit=10&after='; next !== '';) {
    const { meta, objects } = (await get(next)).json()
    pages.push(objects.map(({ id }: { id: number }) => id))
    t.ok(objects.every(({ message }: { message: string }) => /^a+$/.test(message)))
    next = meta.next
  }
  t.same(pages, [[1, 2, 3], [4], [5], [6, 7], [8]])
  t.equal((await get('/api/note/5/')).json().message, kilobyte(30), 'a record by itself is whole')
})

test('D-107: pages that are told by their numbers go on with a smaller limit', async (t) => {
  const { get } = await buildApp(t, { rows: sized(4, 4, 1, 4, 4, 4, 1, 1, 1), options: bounded })
  const pages: Array<[number[], string, string]> = []
  for (let next = '/api/note/?limit=4'; next !== '';) {
    const { meta, objects } = (await get(next)).json()
    pages.push([objects.map(({ id }: { id: number }) => id), meta.next, meta.previous])
    next = meta.next
  }
  const url = (limit: number, page: number) => `/api/note/?limit=${limit}&page=${page}`
  t.same(pages, [
    [[1, 2], url(2, 2), ''],
    [[3, 4], url(2, 3), url(2, 1)],
    [[5, 6], url(2, 4), url(2, 2)],
    [[7, 8], url(2, 5), url(2, 3)],
    [[9], '', url(2, 4)]
  ])
})

test('D-107: bytes are those of all texts and JSON of a record, in UTF-8', async (t) => {
  const Page = defineModel('Page', {
    title: text({ nullable: true }), body: text({ nullable: true }), data: json({ nullable: true })
  })
  const { get } = await buildApp(t, {
    models: [Page],
    register: (registry) => registry.register(Page),
    options: bounded,
    rows: {
      page: [
        { id: 1, title: kilobyte(2, 'é'), body: null, data: JSON.stringify(kilobyte(3)) },
        { id: 2, title: kilobyte(4, '\u{1f600}'), body: '', data: null },
        { id: 3, title: 'a', body: kilobyte(1), data: '{}' }
      ]
    }
  })
  const first = (await get('/api/page/?limit=3&after=')).json()
  t.same(first.objects.map(({ id }: { id: number }) => id), [1, 2])
  t.same(first.objects[0], { id: 1, title: kilobyte(2, 'é'), body: null, data: kilobyte(3) })
  t.same((await get(first.meta.next)).json().objects, [{ id: 3, title: 'a', body: kilobyte(1), data: {} }])
})

test('D-107: a page of many records is bounded by default at 4 MiB', async (t) => {
  const { get } = await buildApp(t, { rows: sized(...Array<number>(10).fill(1000)) })
  t.equal((await get('/api/note/?after=')).json().objects.length, 4)
  t.equal((await get('/api/note/?limit=4')).json().objects.length, 4)
})

test('D-108: a page of long values takes a second statement; the first one asks for their lengths', async (t) => {
  const { get, statements, forget } = await buildApp(t, { rows: sized(1, 2, 3, 9), options: bounded })
  const limits = async (query: string) => {
    forget()
    const { objects } = (await get(`/api/note/?${query}`)).json()
    return [objects.length, ...statements.map(({ parameters }) => parameters.slice(1, 2))]
  }
  t.same(await limits('limit=2'), [2, [3]], 'values of up to a third of the bytes are read at first')
  t.same(await limits('limit=4'), [2, [5], [2]])
  t.same(await limits('limit=3'), [3, [4], [3]], 'all of them fit')
  t.same(await limits('limit=1&page=4'), [1, [2], [1]])
})

for (const query of ['limit=3', 'limit=3&after=']) {
  test(`D-108: a page (${query}) whose records are deleted before its second statement is empty`, async (t) => {
    const { get, db } = await buildApp(t, { rows: sized(4, 4, 4, 4), options: bounded })
    let lists = 0
    await beforeStatements(t, db, async (statement, execute) => {
      if (!/^select .* from ["`]note["`]/.test(statement)) return
      lists++
      if (lists === 2) await execute(sql`delete from note`.compile(db))
    })
    const reply = await get(`/api/note/?${query}`)
    t.strictSame([reply.statusCode, reply.json().objects, lists], [200, [], 2])
  })
}

test('D-108: a text that looks like the length of one is answered as it is, and makes no page shorter', async (t) => {
  const texts = ['\u0001', '\u00015', '\u000199999999', '\u0001a', '\u0001-1', '\uffff9']
  const { get, statements, forget } = await buildApp(t, {
    rows: { note: texts.map((message, index) => ({ id: index + 1, message, created: '2024-01-01 00:00:00' })) },
    options: bounded
  })
  const found: string[] = []
  for (let next = '/api/note/?after='; next !== '';) {
    const { meta, objects } = (await get(next)).json()
    found.push(...objects.map(({ message }: { message: string }) => message))
    next = meta.next
  }
  t.same(found, texts)
  forget()
  const { meta, objects } = (await get(`/api/note/?limit=${texts.length}`)).json()
  t.same([meta.next, objects.length, statements.length], ['', texts.length, 1])
})
