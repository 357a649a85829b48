import assert from 'node:assert/strict'
import fc from 'fast-check'
import { test } from 'tap'
import { adminAuth, defineModel, text, userAuth, type Model } from '../../lib/index.js'
import { engine } from '../support/database.js'
import { basic, buildApp, User, type TestApp } from '../support/site.js'
import { bodies, bodyText, clashes, faultyFields, Paper, paperRows, Shelf } from './bodies.js'
import { holds } from './holds.js'

/** Closed to writes by the default policy. */
const Plaque = defineModel('Plaque', { name: text() })
const models: readonly Model[] = [User, Shelf, Paper, Plaque]

const build = async (t: Parameters<typeof buildApp>[0]): Promise<TestApp> => await buildApp(t, {
  models,
  register: (registry) => registry
    .register(Plaque)
    .register(Shelf, { auth: adminAuth(User) })
    .register(Paper, { auth: userAuth(User), ownerField: 'owner', readOnly: ['stamp'] })
    .register(User, { auth: adminAuth(User), path: 'account' }),
  rows: { ...paperRows, plaque: [{ id: 1, name: 'a' }] }
})

interface Sent {
  readonly method: 'POST' | 'PUT' | 'DELETE' | 'PATCH'
  readonly url: string
  readonly headers: Record<string, string>
  readonly body: string
}

interface Answered {
  readonly status: number
  /** What each statement read: the credentials of a user, or a record by its id; anything else as it is. */
  readonly statements: readonly string[]
}

/** Sends a request that must be refused, and makes sure that no row of any table has changed. */
async function refused (app: TestApp, { method, url, headers, body }: Sent): Promise<Answered> {
  const rows = async (): Promise<unknown> => await Promise.all(models.map(async ({ table }) => await app.rowsOf(table)))
  const before = await rows()
  app.forget()
  const reply = await app.app.inject({ method, url, headers, ...(method === 'DELETE' ? {} : { payload: body }) })
  const statements = app.statements.map(({ sql }) => kindOf(sql))
  assert.ok(reply.statusCode >= 400, `${method} ${url} ${body} is answered ${reply.statusCode}`)
  assert.deepEqual(
    await rows(), before, `${method} ${url} ${body} is refused with ${reply.statusCode} and changes a row`
  )
  return { status: reply.statusCode, statements }
}

/** The statements that a refused request may run. */
const { credentials, record } = {
  sqlite: {
    credentials: /^select [^;]+ from "user" where "username" collate binary = \+\? order by "id" limit 1$/,
    record: /^select [^;]+ from "\w+" where "id" = \?$/
  },
  postgres: {
    credentials:
      /from "user" where \("username" = \$1 and cast\("username" as text\) collate "C" = \$2\) order by "id" limit 1$/,
    record: /^select [^;]+ from "\w+" where "id" = cast\(\$1 as bigint\)$/
  },
  mariadb: {
    credentials: /^select [^;]+ from `user` where `username` = \? order by `id` limit 1$/,
    record: /^select [^;]+ from `\w+` where `id` = \?$/
  }
}[engine]

function kindOf (sql: string): string {
  if (credentials.test(sql)) return 'credentials'
  return record.test(sql) ? 'record' : sql
}

/** Any body, right or wrong, or something that is no JSON object at all. */
const anyBody = fc.oneof(
  { weight: 6, arbitrary: bodies.map(bodyText) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      '', 'null', '[]', '{', '{}', '"a"', '{"__proto__":{}}', '\ufffd', 'data={}', '{"title":"ab"}'
    )
  })

const resources = ['paper', 'shelf', 'plaque', 'account']
/** Every way to write: methods and paths that there are, and some that there are not. */
const writes = (resource: string): fc.Arbitrary<Pick<Sent, 'method' | 'url'>> => fc.constantFrom(
  { method: 'POST', url: `/api/${resource}/` }, { method: 'POST', url: `/api/${resource}` },
  { method: 'PUT', url: `/api/${resource}/1/` }, { method: 'PUT', url: `/api/${resource}/1` },
  { method: 'PUT', url: `/api/${resource}/999/` }, { method: 'PUT', url: `/api/${resource}/a/` },
  { method: 'DELETE', url: `/api/${resource}/1/` }, { method: 'DELETE', url: `/api/${resource}/2` },
  { method: 'DELETE', url: `/api/${resource}/1/?x=%` },
  { method: 'PATCH', url: `/api/${resource}/1/` }, { method: 'PATCH', url: `/api/${resource}/999` },
  { method: 'PATCH', url: `/api/${resource}/` }, { method: 'PUT', url: `/api/${resource}/` },
  { method: 'DELETE', url: `/api/${resource}/` }, { method: 'POST', url: `/api/${resource}/1/` }
)

test('nobody, whatever the body: 401 without a statement', async (t) => {
  const app = await build(t)
  const noCredentials = fc.constantFrom<Record<string, string>>(
    {}, { authorization: '' }, { authorization: 'Basic' }, { authorization: 'Basic !' },
    { authorization: 'Bearer abc' }, { authorization: `Digest ${basic('alice').slice(6)}` },
    { authorization: 'Basic YWxpY2U=' })
  await holds(t, 400, fc.asyncProperty(fc.constantFrom(...resources).chain(writes), noCredentials, anyBody, async (
    write, headers, body
  ) => {
    assert.deepEqual(await refused(app, { ...write, headers, body }), { status: 401, statements: [] })
  }))
})

test('a read-only resource: 401 without a statement, whoever asks', async (t) => {
  const app = await build(t)
  await holds(t, 200, fc.asyncProperty(writes('plaque'), fc.constantFrom(
    'admin', 'alice', 'carol', 'nobody'
  ), anyBody, async (write, name, body) => {
    assert.deepEqual(await refused(app, { ...write, headers: { authorization: basic(name) }, body }), {
      status: 401, statements: []
    })
  }))
})

test('wrong credentials: 401 after one statement, the one that reads them', async (t) => {
  const app = await build(t)
  const wrong = fc.constantFrom(
    basic('carol'), basic('nobody'), basic('alice', 'bob'), basic('alice', ''), basic('ALICE', 'alice'),
    basic('alice ', 'alice'), basic('', ''), basic('%', 'alice')
  )
  await holds(t, 100, fc.asyncProperty(fc.constantFrom('paper', 'shelf', 'account')
    .chain(writes), wrong, anyBody, async (write, authorization, body) => {
    assert.deepEqual(await refused(app, { ...write, headers: { authorization }, body }), {
      status: 401, statements: ['credentials']
    })
  }))
})

test('a user who is no admin, on a resource for admins: 403 after the credentials alone', async (t) => {
  const app = await build(t)
  await holds(t, 300, fc.asyncProperty(fc.constantFrom('shelf', 'account')
    .chain(writes), fc.constantFrom('alice', 'bob'), anyBody, async (write, name, body) => {
    assert.deepEqual(await refused(app, { ...write, headers: { authorization: basic(name) }, body }), {
      status: 403, statements: ['credentials']
    })
  }))
})

test("somebody else's record: 403 after the credentials and the record, admins included", async (t) => {
  const app = await build(t)
  const others = fc.constantFrom<Pick<Sent, 'method' | 'url'>>(
    { method: 'PUT', url: '/api/paper/1/' }, { method: 'PUT', url: '/api/paper/2' },
    { method: 'PATCH', url: '/api/paper/1' },
    { method: 'DELETE', url: '/api/paper/1/' }, { method: 'DELETE', url: '/api/paper/2/?x=1' })
  await holds(t, 300, fc.asyncProperty(others, fc.constantFrom('admin', 'bob'), anyBody, async (write, name, body) => {
    assert.deepEqual(await refused(app, { ...write, headers: { authorization: basic(name) }, body }), {
      status: 403, statements: ['credentials', 'record']
    })
  }))
})

test('a write that a browser sends for another site is 403 without a statement, whoever logs in', async (t) => {
  const app = await build(t)
  const foreign = fc.constantFrom<Record<string, string>>(
    { 'sec-fetch-site': 'cross-site' }, { 'sec-fetch-site': 'same-site' },
    { 'sec-fetch-site': 'cross-site', origin: 'http://localhost:80' }, { 'sec-fetch-site': '' },
    { origin: 'https://evil.example' }, { origin: 'null' }, { origin: 'http://localhost.evil.example' },
    { origin: 'http://localhost:81' }, { origin: '' })
  await holds(t, 400, fc.asyncProperty(
    fc.constantFrom(...resources).chain(writes), foreign, fc.constantFrom('admin', 'alice', 'nobody'), anyBody,
    async (write, headers, name, body) => {
      assert.deepEqual(await refused(app, { ...write, headers: { ...headers, authorization: basic(name) }, body }), {
        status: 403, statements: []
      })
    }))
})

test('a body that breaks a rule, a reference or a unique index is 400 or 409, and no row changes', async (t) => {
  const app = await build(t)
  const wrong = fc.constantFrom('create' as const, 'update' as const).chain((operation) => bodies
    .filter((entries) => clashes(entries).length > 0 || faultyFields(entries, operation).size > 0)
    .map((entries) => ({ operation, body: bodyText(entries) })))
  await holds(t, 500, fc.asyncProperty(wrong, async ({ operation, body }) => {
    const headers = { authorization: basic('alice') }
    const { status } = operation === 'create'
      ? await refused(app, { method: 'POST', url: '/api/paper/', headers, body })
      : await refused(app, { method: 'PUT', url: '/api/paper/1/', headers, body })
    assert.ok([400, 409].includes(status), String(status))
  }))
})

test('a missing record: 404 after the credentials and at most one look', async (t) => {
  const app = await build(t)
  const ids = fc.constantFrom(
    '0', '3', '999', '01', '1.0', '1e0', '-1', '+1', '%201', '1%20', '0x1', 'a', '9007199254740991',
    '9007199254740992', "1'--", '1;drop'
  )
  const methods = fc.constantFrom('PUT', 'PATCH', 'DELETE')
  await holds(t, 200, fc.asyncProperty(ids, methods, anyBody, async (id, method, body) => {
    const { status, statements } = await refused(app, {
      method, url: `/api/paper/${id}/`, headers: { authorization: basic('alice') }, body
    })
    const isKey = /^(0|[1-9]\d*)$/.test(id) && Number(id) <= Number.MAX_SAFE_INTEGER
    assert.deepEqual([status, statements], [404, isKey ? ['credentials', 'record'] : ['credentials']])
  }))
})
