// @once: about who may do what, which is asked before any statement but that for the user

import { createHash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { hash } from '@node-rs/argon2'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { test, type Test } from 'tap'
import {
  adminAuth, boolean, defineModel, foreignKey, openAuth, password, readOnlyAuth, text, userAuth, type Policy,
  type PolicySetting, type PolicyUser, type UserAuthOptions
} from '../../lib/index.js'
import { StoredHashes } from '../../lib/policy/stored-hashes.js'
import { buildApp, Message, Note, siteUsers, User, type RequestOptions, type TestApp } from '../support/site.js'
import { gate } from '../support/interleaving.js'

const note = { id: 1, message: 'first', created: '2024-01-01 00:00:00' }
const rows = { note: [note], message: [{ id: 1, user_id: 2, content: 'of alice', pub_date: '2024-01-01 00:00:00' }] }

async function notesUnder (t: Test, auth: Policy, others: Parameters<typeof buildApp>[1] = {}): Promise<TestApp> {
  return await buildApp(t, { rows, register: (registry) => { registry.register(Note, { auth }) }, ...others })
}

/** The status of each operation, for somebody. */
async function statusesOf (
  { get, post, put, delete: remove }: TestApp, options: RequestOptions = {}, url = '/api/note/'
) {
  return {
    list: (await get(url, options)).statusCode,
    read: (await get(`${url}1/`, options)).statusCode,
    create: (await post(url, { message: 'x' }, options)).statusCode,
    update: (await put(`${url}1/`, {}, options)).statusCode,
    delete: (await remove(`${url}1/`, options)).statusCode
  }
}

const every = (status: number) => ({ list: status, read: status, create: status, update: status, delete: status })
const writes = (status: number) => ({ ...every(status), list: 200, read: 200 })
const done = { list: 200, read: 200, create: 201, update: 200, delete: 204 }

test('who may do what under each policy', async (t) => {
  const table: ReadonlyArray<readonly [
    name: string, policy: () => Policy, nobody: object, alice: object, admin: object
  ]> = [
    ['read-only', readOnlyAuth, writes(401), writes(401), writes(401)],
    ['user', () => userAuth(User), writes(401), done, done],
    ['admin', () => adminAuth(User), writes(401), writes(403), done],
    ["user, protect 'all'", () => userAuth(User, { protect: 'all' }), every(401), done, done],
    ["admin, protect 'all'", () => adminAuth(User, { protect: 'all' }), every(401), every(403), done],
    ["user, protect 'writes'", () => userAuth(User, { protect: 'writes' }), writes(401), done, done]
  ]
  for (const [name, policy, nobody, alice, admin] of table) {
    const app = await notesUnder(t, policy())
    const { db } = app
    const statusesFor = async (as?: RequestOptions['as']) => {
      await db.deleteFrom('note').execute()
      await db.insertInto('note').values(note).execute()
      return await statusesOf(app, as === undefined ? {} : { as })
    }
    t.strictSame(await statusesFor(), nobody, `${name}: nobody`)
    t.strictSame(await statusesFor(['alice', 'wrong']), nobody, `${name}: a wrong password`)
    t.strictSame(await statusesFor('carol'), nobody, `${name}: not active`)
    t.strictSame(await statusesFor('alice'), alice, `${name}: alice`)
    t.strictSame(await statusesFor('admin'), admin, `${name}: admin`)
  }
})

test("with protect 'all' a refused read runs no statement but that of the login", async (t) => {
  const app = await notesUnder(t, userAuth(User, { protect: 'all' }))
  t.equal((await app.get('/api/note/')).statusCode, 401)
  t.strictSame(app.statements, [])
  t.equal((await app.get('/api/note/', { as: ['alice', 'wrong'] })).statusCode, 401)
  t.strictSame(app.statements.map(({ sql }) => /from ["`](\w+)["`]/.exec(sql)?.[1]), ['user'])
  t.equal((await app.get('/api/note/', { as: 'alice' })).statusCode, 200)
})

test('D-202: a policy that finds users in a model that it does not name is refused', async (t) => {
  const { permits, authenticator } = userAuth(User)
  const wrapped = { open: [], permits, authenticator }
  const Thing = defineModel('Thing', { name: text() })
  const register = (auth: Policy) => buildApp(t, {
    models: [User, Thing], register: (registry) => { registry.register(Thing, { auth }) }
  })
  await t.rejects(register(wrapped), {
    code: 'REST_MODELS_INVALID_OPTIONS',
    message: /finds its users in model 'User': name this model as the 'users' of the policy/
  })
  t.equal((await (await register({ ...wrapped, users: User })).get('/api/thing/', { as: 'alice' })).statusCode, 200)
})

test('active: null means that everybody may log in, also a user model without such a field', async (t) => {
  t.strictSame(await statusesOf(await notesUnder(t, userAuth(User, { active: null })), { as: 'carol' }), done)
  t.strictSame(await statusesOf(await notesUnder(t, userAuth(User)), { as: 'carol' }), writes(401))
})

test('a user model of other names: its login, its admins and its owners', async (t) => {
  const Member = defineModel('Member', {
    nick: text({ unique: true }), secret: password(), chief: boolean({ default: false })
  })
  const Doc = defineModel('Doc', { writer: foreignKey(() => Member), title: text() })
  const columns = { username: 'nick', password: 'secret', active: null, admin: 'chief' } as const
  const { post, put } = await buildApp(t, {
    models: [Member, Doc],
    rows: {
      member: [
        { id: 1, nick: 'ann', secret: await hash('a'), chief: 1 },
        { id: 2, nick: 'ben', secret: await hash('b'), chief: 0 }
      ]
    },
    register: (registry) => {
      registry.register(Member, { auth: adminAuth(Member, columns), exclude: ['secret'] })
      registry.register(Doc, { auth: userAuth(Member, columns), ownerField: 'writer' })
    }
  })
  t.strictSame((await post('/api/doc/', { title: 'x', writer: 1 }, { as: ['ben', 'b'] })).json(), {
    id: 1, writer_id: 2, title: 'x'
  })
  t.equal((await put('/api/doc/1/', { title: 'y' }, { as: ['ann', 'a'] })).statusCode, 403)
  t.equal((await put('/api/doc/1/', { title: 'y' }, { as: ['ben', 'b'] })).statusCode, 200)
  t.equal((await put('/api/member/2/', { secret: 'new' }, { as: ['ben', 'b'] })).statusCode, 403)
  t.equal((await put('/api/member/2/', { secret: 'new' }, { as: ['ann', 'a'] })).statusCode, 200)
  t.equal((await put('/api/doc/1/', { title: 'z' }, { as: ['ben', 'b'] })).statusCode, 401)
  t.equal((await put('/api/doc/1/', { title: 'z' }, { as: ['ben', 'new'] })).statusCode, 200)
})

const md5 = (word: string): string => `md5$${createHash('md5').update(word).digest('hex')}`

/** An app whose user 10, `dora`, has a password in a legacy form, and how often that was checked. */
async function legacyApp (
  t: Test,
  check: (given: string, stored: string) => boolean | Promise<boolean> = (given, stored) => md5(given) === stored
) {
  let checks = 0
  const options: UserAuthOptions = { verify: async (given, stored) => { checks++; return await check(given, stored) } }
  const [, alice] = await siteUsers() ?? []
  const { policy, expect } = gate(userAuth(User, options as {}))
  const app = await buildApp(t, {
    realHashes: true,
    rows: { ...rows, user: [{ ...alice!, id: 10, username: 'dora', password: md5('dora') }] },
    register: (registry) => {
      registry.register(Message, { auth: policy, ownerField: 'user' })
      registry.register(User, { auth: adminAuth(User), exclude: ['password'] })
    }
  })
  const login = async (name: string, word = name) =>
    (await app.post('/api/message/', { content: 'x' }, { as: [name, word] })).statusCode
  return { ...app, login, expect, checks: () => checks }
}

test('a password in a legacy form works by verify, until it is changed: then it is argon2id', async (t) => {
  const { login, checks, put, rowsOf } = await legacyApp(t)
  t.strictSame(
    [await login('dora'), await login('dora', 'wrong'), await login('alice'), await login('alice', 'wrong')],
    [201, 401, 201, 401]
  )
  t.equal(checks(), 2, 'argon2id is not a legacy form')
  t.equal((await put('/api/user/10/', { password: 'new' }, { as: 'admin' })).statusCode, 200)
  t.match((await rowsOf('user')).at(-1), { username: 'dora', password: /^\$argon2id\$/ })
  t.strictSame([await login('dora'), await login('dora', 'new')], [401, 201])
  t.equal(checks(), 2)
})

test('a password is checked against hashes of any cost, one after another', async (t) => {
  const hashes = new StoredHashes()
  const costly = await hash('dora', { memoryCost: 20480, timeCost: 3 })
  t.equal(await hashes.match('dora', costly), true)
  t.equal(await hashes.match('x', costly), false)
  const cheap = await hash('dora', { memoryCost: 64, timeCost: 1 })
  t.equal(await hashes.match('dora', cheap), true)
  t.equal(await hashes.match('x', cheap), false)
  t.equal(await hashes.match('dora', undefined), false)
})

test('D-119: a login that fails for want of an argon2id hash is logged once per policy, without values', async (t) => {
  const lines: string[] = []
  const rest = { email: 'x@example.com', join_date: '2024-01-01 00:00:00', active: 1, admin: 0 }
  const old = md5('dora')
  const app = await buildApp(t, {
    server: { logger: { level: 'trace', stream: { write: (line: string) => { lines.push(line) } } } },
    rows: {
      ...rows,
      user: [
        { ...rest, id: 10, username: 'dora', password: old },
        { ...rest, id: 11, username: 'emil', password: 'plain-of-emil', active: 0 }
      ]
    },
    register: (registry) => {
      registry.register(Message, { auth: userAuth(User), ownerField: 'user' })
      registry.register(Note, { auth: adminAuth(User) })
      registry.register(User, { auth: userAuth(User, { verify: () => false }), exclude: ['password'] })
    }
  })
  const warnings = () => lines.filter((line) => JSON.parse(line).level === 40)
  const login = async (url: string, name: string, word: string) =>
    t.equal((await app.post(url, {}, { as: [name, word] })).statusCode, 401)
  for (const [name, word] of [['alice', 'wrong'], ['nobody', 'x'], ['emil', 'plain-of-emil']] as const) {
    await login('/api/message/', name, word)
  }
  t.strictSame(warnings(), [], 'a wrong password, an unknown and an inactive user are nothing to warn of')
  for (let time = 0; time < 3; time++) await login('/api/message/', 'dora', 'dora')
  t.equal(warnings().length, 1)
  t.match(
    JSON.parse(String(warnings()[0])).msg, /'password' of model 'User'.* no argon2id hash.*hashPassword\(.*'verify'/
  )
  await login('/api/note/', 'dora', 'wrong')
  t.equal(warnings().length, 2, 'of another policy')
  await login('/api/user/', 'dora', 'dora')
  t.equal(warnings().length, 2, 'verify has judged it')
  t.notMatch(warnings().join(''), /dora|md5|[0-9a-f]{32}/)
})

test('equal logins at the same moment share one check, and the ones after it need none', async (t) => {
  const { login, checks, expect } = await legacyApp(t, async (given, stored) => {
    await new Promise((resolve) => { setTimeout(resolve, 50) })
    return md5(given) === stored
  })
  const logins = async (count: number, word: string) => {
    expect(count)
    return await Promise.all(Array.from({ length: count }, async () => await login('dora', word)))
  }
  t.strictSame(await logins(20, 'dora'), Array(20).fill(201))
  t.equal(checks(), 1)
  t.strictSame(await logins(20, 'dora'), Array(20).fill(201))
  t.equal(checks(), 1)
  t.strictSame(await logins(5, 'wrong'), Array(5).fill(401))
  t.equal(checks(), 2)
  t.equal(await login('dora', 'wrong'), 401)
  t.equal(checks(), 3, 'a failed check is not remembered')
})

async function timeOf (work: () => Promise<unknown>): Promise<number> {
  const start = performance.now()
  await work()
  return performance.now() - start
}

/** The least of some times, which other processes disturb least. */
async function fastestOf (count: number, work: (round: number) => Promise<unknown>): Promise<number> {
  const times = []
  for (let round = 0; round < count; round++) times.push(await timeOf(async () => await work(round)))
  return Math.min(...times)
}

test('a login that was remembered is cheap: less than half of a check', async (t) => {
  const { put } = await legacyApp(t)
  // Nothing is written, since that may take longer than a check.
  const login = async (word: string, status: number) =>
    t.equal((await put('/api/message/1/', {}, { as: ['alice', word] })).statusCode, status)
  await login('alice', 200)
  const remembered = await fastestOf(15, async () => await login('alice', 200))
  const checked = await fastestOf(15, async (round) => await login(`wrong ${round}`, 401))
  t.ok(remembered < checked / 2, `${remembered} ms against ${checked} ms`)
})

const changes: Record<string, (app: TestApp) => Promise<unknown>> = {
  'a changed password': async ({ put }) => await put('/api/user/2/', { password: 'new' }, { as: 'admin' }),
  'a deactivation': async ({ put }) => await put('/api/user/2/', { active: false }, { as: 'admin' }),
  'a new name': async ({ put }) => await put('/api/user/2/', { username: 'alicia' }, { as: 'admin' }),
  'a deletion': async ({ delete: remove }) => await remove('/api/user/2/', { as: 'admin' })
}

for (const [change, make] of Object.entries(changes)) {
  test(`${change} through the API counts on the next request of a login that was remembered`, async (t) => {
    const app = await buildApp(t, {
      rows: { note: [note] },
      register: (registry) => {
        registry.register(User, { auth: adminAuth(User), exclude: ['password'] })
          .register(Note, { auth: userAuth(User) })
      }
    })
    const login = async (as: string) => (await app.post('/api/note/', { message: 'x' }, { as })).statusCode
    t.strictSame([await login('alice'), await login('alice')], [201, 201])
    await make(app)
    t.strictSame([await login('alice'), await login('bob')], [401, 201])
  })
}

test('of several users of one name the oldest logs in, and no other', async (t) => {
  const Person = defineModel('Person', { username: text(), password: password() })
  const Doc = defineModel('Doc', { person: foreignKey(() => Person) })
  const { post, statements } = await buildApp(t, {
    models: [Person, Doc],
    rows: {
      person: [
        { id: 5, username: 'ann', password: await hash('five') },
        { id: 3, username: 'ann', password: await hash('three') }
      ]
    },
    register: (registry) => {
      registry.register(Doc, { auth: userAuth(Person, { active: null }), ownerField: 'person' })
    }
  })
  t.equal((await post('/api/doc/', {}, { as: ['ann', 'three'] })).json().person_id, 3)
  t.equal((await post('/api/doc/', {}, { as: ['ann', 'five'] })).statusCode, 401)
  t.match(statements[0]?.sql, /order by ["`]id["`] limit 1$/, 'whatever order the engine finds them in')
})

/** A policy of a deployer: bearer tokens, of which `reader` may not delete. */
const tokens: Policy = {
  open: ['list'],
  authenticator: () => async ({ headers }) =>
    ({ 'Bearer a': { id: 2, admin: false }, 'Bearer b': { id: 3, admin: true } })[String(headers.authorization)] ??
      null,
  permits: ({ admin }, operation) => admin || operation !== 'delete',
  users: User
}
const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` } })

test('a policy of its own decides who, may and what is open', async (t) => {
  t.strictSame(await statusesOf(await notesUnder(t, tokens)), { ...every(401), list: 200 })
  t.strictSame(await statusesOf(await notesUnder(t, tokens), bearer('x')), { ...every(401), list: 200 })
  t.strictSame(
    await statusesOf(await notesUnder(t, tokens), { as: 'alice' }), { ...every(401), list: 200 },
    'Basic is nothing to it'
  )
  t.strictSame(await statusesOf(await notesUnder(t, tokens), bearer('a')), { ...done, delete: 403 })
  t.strictSame(await statusesOf(await notesUnder(t, tokens), bearer('b')), done)
})

test('a policy of its own works with an owner field, and as the default of a container', async (t) => {
  const app = await buildApp(t, {
    rows,
    options: { defaultAuth: tokens },
    register: (registry) => { registry.register(Message, { ownerField: 'user' }).register(Note) }
  })
  const { post, put } = app
  t.equal((await post('/api/message/', { content: 'x', user: 1 }, bearer('b'))).json().user_id, 3)
  t.equal((await put('/api/message/1/', { content: 'x' }, bearer('b'))).statusCode, 403)
  t.equal((await put('/api/message/1/', { content: 'x' }, bearer('a'))).statusCode, 200)
  t.strictSame(await statusesOf(app, bearer('b')), done)
  const refusal = await put('/api/note/1/', {}, bearer('x'))
  t.strictSame([refusal.statusCode, refusal.headers['www-authenticate']], [401, 'Basic realm="Login Required"'])
})

test('what a policy closes nobody may do, and nobody is asked who he is', async (t) => {
  const asked: string[] = []
  const app = await notesUnder(t, {
    ...tokens,
    closed: ['delete'],
    authenticator: () => async ({ method }) => {
      asked.push(method)
      return { id: 3, admin: true }
    }
  })
  t.strictSame(await statusesOf(app, bearer('b')), { ...done, delete: 401 })
  t.notOk(asked.includes('DELETE'))
})

test('a policy may give its user at once, or by a promise of any library', async (t) => {
  const admin = { id: 3, admin: true }
  const thenable = { then: (resolve: (user: unknown) => void) => { resolve(admin) } } as unknown as Promise<PolicyUser>
  for (const given of [admin, thenable]) {
    t.strictSame(await statusesOf(await notesUnder(t, { ...tokens, authenticator: () => () => given })), done)
  }
  const nobody = await notesUnder(t, { ...tokens, authenticator: () => () => undefined })
  t.equal((await nobody.post('/api/note/', { message: 'x' })).statusCode, 401)
})

const careless: Record<string, Partial<Policy>> = {
  'finds out undefined': { authenticator: () => async () => undefined as unknown as null },
  'finds out nothing of use': { authenticator: () => async () => ({}) as PolicyUser },
  'finds out an empty id': { authenticator: () => async () => ({ id: '', admin: true }) },
  'finds out an id that is too long': { authenticator: () => async () => ({ id: 'x'.repeat(256), admin: true }) },
  'permits by a promise': { permits: (async () => false) as unknown as Policy['permits'] },
  'permits by a word': { permits: (() => 'no') as unknown as Policy['permits'] },
  'throws an error': { authenticator: () => async () => { throw new Error('secret of the policy') } },
  // eslint-disable-next-line prefer-promise-reject-errors
  'throws nothing': { authenticator: () => async () => await Promise.reject(null) },
  'throws nothing at once': { authenticator: () => () => { throw undefined } }, // eslint-disable-line no-throw-literal
  // eslint-disable-next-line no-throw-literal
  'throws nothing when it is asked what is permitted': { permits: () => { throw null } },
  'throws when it is asked what is permitted': { permits: () => { throw new Error('secret of the policy') } }
}

for (const [name, part] of Object.entries(careless)) {
  test(`a policy that ${name} lets nobody in`, async (t) => {
    const app = await notesUnder(t, { ...tokens, ...part })
    const reply = await app.post('/api/note/', { message: 'x' }, bearer('b'))
    t.ok([401, 403, 500].includes(reply.statusCode), String(reply.statusCode))
    t.notMatch(reply.body, 'secret')
    t.strictSame(await app.rowsOf('note'), [note])
    t.equal((await (await notesUnder(t, tokens)).post('/api/note/', { message: 'x' }, bearer('b'))).statusCode, 201)
  })
}

test("a policy's authenticator is made once for each container, at setup, with what it needs", async (t) => {
  const made: unknown[] = []
  const counting: Policy = {
    ...tokens,
    authenticator: ({ db, credentials, passwords }) => {
      made.push(Object.keys({ db, credentials, passwords }))
      return async (request, reply) => {
        const given = await credentials(request, reply)
        return given?.username === given?.password && given !== undefined ? { id: 2, admin: true } : null
      }
    }
  }
  const app = await buildApp(t, {
    rows, register: (registry) => { registry.register(Note, { auth: counting }).register(Message, { auth: counting }) }
  })
  t.equal(made.length, 1)
  t.strictSame(await statusesOf(app, { as: 'anybody' }), done)
  t.equal((await app.post('/api/note/', { message: 'x' }, { as: ['a', 'b'] })).statusCode, 401)
  t.equal((await app.post('/api/note/', { message: 'x' })).statusCode, 401)
  t.equal(made.length, 1)
})

test('to a policy that reads passwords elsewhere, half a surrogate pair is never a password', async (t) => {
  const stored = await hash('a\ufffd')
  const app = await notesUnder(t, {
    ...tokens,
    authenticator: ({ passwords }) => async ({ headers }) => {
      const password = JSON.parse(String(headers['x-password'])) as string
      return await passwords.matches({ username: 'alice', password }, { stored }) ? { id: 2, admin: false } : null
    }
  })
  const status = async (password: string) =>
    (await app.post('/api/note/', { message: 'x' }, { headers: { 'x-password': password } })).statusCode
  t.strictSame([await status('"a\\ufffd"'), await status('"a\\ud800"'), await status('"a\\udfff"')], [201, 401, 401])
})

test('a remembered login is not another whose name, password and stored value make up the same text', async (t) => {
  const logins = [
    ['a', 'b c', 'd'], ['a b', 'c', 'd'], ['a', 'b', 'c d'], ['a', 'b c', 'd '], ['a', 'b c', null]
  ] as const
  const asked: unknown[] = []
  const verify = (password: string, stored: string): boolean => {
    asked.push([password, stored])
    return password === 'b c' && stored === 'd'
  }
  const app = await notesUnder(t, {
    ...tokens,
    authenticator: ({ passwords }) => async ({ headers }) => {
      const [username, password, stored] = JSON.parse(String(headers['x-login'])) as [string, string, string | null]
      return await passwords.matches({ username, password }, { stored, verify }) ? { id: 2, admin: false } : null
    }
  })
  for (const time of ['first', 'second']) {
    const statuses: number[] = []
    for (const login of logins) {
      statuses.push(
        (await app.post('/api/note/', { message: 'x' }, { headers: { 'x-login': JSON.stringify(login) } })).statusCode
      )
    }
    t.strictSame(statuses, [201, 401, 401, 401, 401], time)
  }
  t.same(asked.filter((one) => isDeepStrictEqual(one, ['b c', 'd'])).length, 1, 'the one that matched is remembered')
  t.equal(asked.length, 1 + 2 * 3)
})

test('the read-only policy permits nobody, should anybody be made out, and makes out nobody', async (t) => {
  t.equal(readOnlyAuth().permits({ id: 1, admin: true }, 'create'), false)
  t.equal(openAuth().permits({ id: 1, admin: false }, 'create'), true)
  const findNobody = readOnlyAuth().authenticator({} as PolicySetting)
  t.equal(await findNobody({} as FastifyRequest, {} as FastifyReply), null)
})

test('a password matches nothing where a policy of JavaScript knows of no stored one', async (t) => {
  const careless: Policy = {
    open: [],
    permits: () => true,
    authenticator: ({ credentials, passwords }) => async (request, reply) => {
      const given = credentials(request, reply)
      return given !== undefined && await passwords.matches(given, { stored: undefined as unknown as null })
        ? { id: 1, admin: true }
        : null
    }
  }
  const { get } = await buildApp(t, {
    models: [Note], register: (registry) => { registry.register(Note, { auth: careless }) }
  })
  for (const time of ['first', 'second']) {
    t.equal((await get('/api/note/', { as: ['alice', 'anything'] })).statusCode, 401, time)
  }
})
