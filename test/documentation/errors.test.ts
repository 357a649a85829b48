// @once: compares a table with the documentation

import { STATUS_CODES } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'
import type { FastifyError, FastifyInstance, LightMyRequestResponse } from 'fastify'
import { sql } from 'kysely'
import { test, type Test } from 'tap'
import { errors, userAuth } from '../../lib/index.js'
import { isRead } from '../../lib/engines/retry.js'
import { beforeDirect } from '../support/database.js'
import { waitFor } from '../support/engines/wait-for.js'
import { readPage } from './page.js'
import { buildApp, Message, registerSite, User, type TestApp } from '../support/site.js'

type ErrorName = keyof typeof errors
const startUpErrors = [
  'InvalidOptions', 'InvalidModel', 'UnknownOptionField', 'DuplicateResource', 'NotSetUp', 'AlreadySetUp',
  'TableMismatch', 'UnsupportedDatabase'
] as const satisfies ErrorName[]
type RequestError = Exclude<ErrorName, typeof startUpErrors[number]>

/** An example of every error, with the code and the status that its constructor gives. */
const table = Object.entries(errors).map(([name, Constructor]) => {
  const { code, statusCode, message } = new (Constructor as new (text: string) => FastifyError)('x')
  return { name: name as ErrorName, code, statusCode, message }
})

const message = { id: 1, user_id: 2, content: 'a', pub_date: '2024-01-01 00:00:00' }
const build = async (
  t: Test, prepare?: (app: FastifyInstance) => void, logger?: object, undocumented?: string
): Promise<TestApp> => await buildApp(t, {
  rows: { message: [message] },
  register: (registry) => {
    registerSite(registry)
    registry.register(Message, { path: 'tagged', auth: userAuth(User), etag: true })
  },
  ...(prepare && { prepare }),
  ...(undocumented !== undefined && { undocumented }),
  ...(logger && { server: { logger, genReqId: () => 'request-7' } })
})
const as = (as: string) => ({ as })

/**
 * Does what a client must do for each error that a request can end in, with the site as it is or after something broke.
 */
const provocations: Readonly<Record<Exclude<RequestError, 'TooManyLogins' | 'MisdirectedRequest' | 'ClientGone'>, (
  app: TestApp
) => Promise<LightMyRequestResponse>>> = {
  InvalidQuery: async ({ get }) => await get('/api/note/?message=%ff'),
  UnknownParameter: async ({ get }) => await get('/api/note/?nothing=1'),
  UnknownOperator: async ({ get }) => await get('/api/note/?id__like=1'),
  InvalidValue: async ({ get }) => await get('/api/note/?id=one'),
  InvalidPage: async ({ get }) => await get('/api/note/?limit=0'),
  InvalidOrdering: async ({ get }) => await get('/api/note/?ordering=nothing'),
  InvalidInclude: async ({ get }) => await get('/api/note/?include=user'),
  TooMuch: async ({ get }) => await get(`/api/note/?${'id=1&'.repeat(21)}`),
  InvalidBody: async ({ post }) => await post('/api/message/', '[', as('alice')),
  InvalidRecord: async ({ post }) => await post('/api/message/', { content: 1, contents: 'a' }, as('alice')),
  InvalidPrecondition: async ({ put }) =>
    await put('/api/message/1/', {}, { as: 'alice', headers: { 'if-match': '"x"' } }),
  UnknownReference: async ({ post }) => await post('/api/relationship/', { to_user: 99 }, as('alice')),
  AuthenticationFailed: async ({ post }) => await post('/api/note/', { message: 'a' }),
  Forbidden: async ({ put }) => await put('/api/message/1/', { content: 'b' }, as('bob')),
  RecordNotFound: async ({ get }) => await get('/api/message/99/'),
  MethodNotAllowed: async ({ put }) => await put('/api/message/', {}, as('alice')),
  NotUnique: async ({ put }) => await put('/api/user/2/', { username: 'bob' }, as('admin')),
  StillReferenced: async (app) => await app.delete('/api/user/2/', as('admin')),
  Constraint: async ({ db, post }) => {
    await sql`create trigger closed before insert on message begin select raise(abort, 'secret rule'); end`.execute(db)
    return await post('/api/message/', { content: 'a' }, as('alice'))
  },
  PreconditionFailed: async ({ put }) =>
    await put('/api/tagged/1/', {}, { as: 'alice', headers: { 'if-match': '"x"' } }),
  QueryTooLong: async ({ get }) => await get(`/api/note/?message=${'a'.repeat(9000)}`),
  Internal: async ({ db, get }) => {
    await db.schema.alterTable('note').renameTo('secret_table').execute()
    return await get('/api/note/')
  },
  Unavailable: async ({ db, post }) => {
    await sql`pragma query_only = on`.execute(db)
    return await post('/api/message/', { content: 'a' }, as('alice'))
  },
  OutcomeUnknown: async ({ db, post }) => {
    beforeDirect(db, (query) => {
      if (!isRead(query)) throw Object.assign(new Error('disk I/O error'), { code: 'SQLITE_IOERR_FSYNC' })
    })
    return await post('/api/message/', { content: 'a' }, as('alice'))
  }
}

/** The rows of the table under "## Codes" of the page about errors: codes and statuses. */
function documented (page: string): Array<[code: string, status: number]> {
  const [, section = ''] = /^## Codes\n([\s\S]*?)(?:^## |$(?![\s\S]))/m.exec(page) ?? []
  return [...section.matchAll(/^\| `?(REST_MODELS_\w+)`? \| (\d+) \|/gm)]
    .map(([, code = '', status]) => [code, Number(status)])
}

test('every error has a code of its own with the prefix of the plugin, and a status', async (t) => {
  for (const { name, code, statusCode } of table) {
    t.match(code, /^REST_MODELS_[A-Z]+(_[A-Z]+)*$/, name)
    t.ok(
      // Nobody gets an answer with 499, so HTTP does not define it.
      statusCode !== undefined && statusCode >= 400 && (statusCode === 499 || STATUS_CODES[statusCode] !== undefined),
      `${name} has status ${statusCode}`
    )
    t.equal(
      code.slice('REST_MODELS_'.length).replaceAll('_', '').toLowerCase(), name.toLowerCase(),
      'the name of the constructor is that of the code'
    )
  }
  t.equal(new Set(table.map(({ code }) => code)).size, table.length, 'no code comes twice')
  t.ok(
    table.filter(({ name }) => (startUpErrors as readonly string[]).includes(name))
      .every(({ statusCode }) => statusCode === 500),
    'start-up errors are no client\'s fault'
  )
})

test('the page about errors lists every error with its status, once, and no other', async (t) => {
  const listed = documented(readPage('docs/errors.md').text)
  const byCode = (left: readonly [string, number], right: readonly [string, number]): number =>
    left[0] < right[0] ? -1 : 1
  t.same(listed.sort(byCode), table.map(({ code, statusCode }) => [code, statusCode] as [string, number]).sort(byCode))
})

test('the page about errors shows an answer for every code that can be one, and explains the others', async (t) => {
  const { text, blocks } = readPage('docs/errors.md')
  const printed = blocks.filter(({ language }) => language === 'console').map(({ content }) => content).join('\n')
  const [, unshown = ''] = /^## What no single request shows\n([\s\S]*?)^## /m.exec(text) ?? []
  for (const { name, code } of table) {
    const isShown = name === 'AuthenticationFailed'
      ? printed.includes('401 Unauthorized')
      : new RegExp(`${code}\\b`).test(printed)
    t.not(isShown, unshown.includes(`\`${code}\``), code)
  }
})

test('the table of a page is found in its section alone', async (t) => {
  t.same(documented('# A\n\n| REST_MODELS_A | 400 |\n\n## Codes\n\n| Code | Status |\n|---|---|\n| `REST_MODELS_B` | ' +
    '404 | x |\n| REST_MODELS_C | 500 |\n\n## More\n\n| REST_MODELS_D | 400 |\n'),
  [['REST_MODELS_B', 404], ['REST_MODELS_C', 500]])
  t.same(documented('## Codes\n\n| REST_MODELS_A | 400 |'), [['REST_MODELS_A', 400]])
  t.same(documented('# A\n'), [])
})

test('every error that a request can end in is provoked below', async (t) => {
  t.same(
    [...Object.keys(provocations), 'TooManyLogins', 'MisdirectedRequest', 'ClientGone', ...startUpErrors].sort(),
    Object.keys(errors).sort()
  )
})

/** Makes sure that an answer is the error and tells what it should, and nothing else. */
function requireError (t: Test, name: RequestError, reply: LightMyRequestResponse): void {
  const { code, statusCode = 0 } = table.find((row) => row.name === name) ?? { code: '' }
  const body = reply.json()
  t.equal(reply.statusCode, statusCode)
  t.equal(reply.headers['content-type'], 'application/json; charset=utf-8')
  t.same(Object.keys(body).filter((key) => key !== 'details').sort(), ['code', 'error', 'message', 'statusCode'])
  t.match(body, { code, statusCode, error: STATUS_CODES[statusCode] ?? '', message: /^[^\n]{5,120}$/ })
  for (const detail of body.details ?? []) t.same(Object.keys(detail).sort(), ['field', 'message'])
  t.notMatch(
    reply.body, /secret|select|sqlite|trigger|\.ts|node_modules|\bat \//i,
    'nothing of the database, its rows or the code'
  )
}

const withDetails: readonly RequestError[] = [
  'UnknownParameter', 'UnknownOperator', 'InvalidValue', 'InvalidPage', 'InvalidOrdering', 'InvalidInclude', 'TooMuch',
  'InvalidRecord', 'UnknownReference', 'NotUnique'
]

for (const [name, provoke] of Object.entries(provocations) as Array<[
  keyof typeof provocations, (app: TestApp) => Promise<LightMyRequestResponse>
]>) {
  if (name === 'AuthenticationFailed') continue
  test(`${name} is answered as JSON in the shape of Fastify's errors`, async (t) => {
    const reply = await provoke(await build(t))
    requireError(t, name, reply)
    t.equal(
      reply.json().details !== undefined, withDetails.includes(name),
      'faults of parameters and fields are listed, and only those'
    )
    t.equal(reply.headers['retry-after'], ['Unavailable', 'OutcomeUnknown'].includes(name) ? '1' : undefined)
  })
}

test('AuthenticationFailed alone is a plain text', async (t) => {
  const reply = await provocations.AuthenticationFailed(await build(t))
  t.match(reply, {
    statusCode: 401,
    body: 'Authentication failed',
    headers: { 'content-type': 'text/html; charset=utf-8', 'www-authenticate': 'Basic realm="Login Required"' }
  })
})

test('TooManyLogins is answered with Retry-After only while too many passwords are being checked', async (t) => {
  let open = (): void => {}
  const gate = new Promise<boolean>((resolve) => { open = () => resolve(true) })
  const app = await buildApp(t, {
    register: (registry) => registry.register(Message, { auth: userAuth(User, { verify: async () => await gate }) })
  })
  await app.db.updateTable('user').set({ password: 'of another system' }).execute()
  const login = async (password: string) =>
    await app.post('/api/message/', { user: 2, content: 'a' }, { as: ['alice', password] })
  const waiting = Array.from({ length: 200 }, async (_, index) => await login(`password ${index}`))
  const refused = await Promise.race(waiting)
  open()
  requireError(t, 'TooManyLogins', refused)
  t.equal(refused.headers['retry-after'], '1')
  // On a machine that is busy with other things some are put off for too long (D-96).
  const statuses = (await Promise.all(waiting)).map(({ statusCode }) => statusCode).filter((status) => status !== 503)
  t.same([...new Set(statuses)].sort(), [201, 429])
  t.ok(statuses.filter((status) => status === 201).length >= 128, 'those that waited are let in')
  t.equal((await login('another password')).statusCode, 201)
})

test("the app's error handler sees an error with its code, status and details, and its answer is sent", async (t) => {
  const seen: FastifyError[] = []
  const app = await build(t, (host) => {
    host.setErrorHandler(async (error: FastifyError, _request, reply) => {
      seen.push(error)
      return await reply.code(418).header('x-host', 'yes')
        .send({ reason: error.code, faults: (error as { details?: unknown }).details ?? null })
    })
  }, undefined, "the host's error handler answers")
  const reply = await provocations.InvalidRecord(app)
  const [error] = seen
  t.ok(error instanceof errors.InvalidRecord)
  t.match(error, { name: 'FastifyError', code: 'REST_MODELS_INVALID_RECORD', statusCode: 400 })
  t.equal(reply.statusCode, 418)
  t.equal(reply.headers['x-host'], 'yes')
  t.same(reply.json(), {
    reason: 'REST_MODELS_INVALID_RECORD',
    faults: [
      { field: 'contents', message: "is not a field of this resource, did you mean 'content'?" },
      { field: 'content', message: 'must be a string' }
    ]
  })
  await provocations.Internal(app)
  t.ok(seen[1] instanceof errors.Internal)
  t.match(seen[1]?.cause, { code: 'SQLITE_ERROR' }, 'the host alone learns the cause')
  await provocations.AuthenticationFailed(app)
  t.equal(seen.length, 2, 'a refusal is not an error')
})

test('an unknown failure is answered with the id of its request alone; the log has its cause and the id', async (t) => {
  const lines: string[] = []
  const app = await build(t, undefined, { stream: { write: (line: string) => { lines.push(line) } } })
  const reply = await provocations.Internal(app)
  t.same(reply.json(), {
    statusCode: 500,
    code: 'REST_MODELS_INTERNAL',
    error: 'Internal Server Error',
    message: 'Internal error in request request-7'
  })
  const logged = lines.map((line) => JSON.parse(line)).find(({ level, reqId }) => level === 50 && reqId === 'request-7')
  t.match(logged?.err, { code: 'REST_MODELS_INTERNAL', stack: /no such table: note/ })
})

test("errors of Fastify itself stay Fastify's", async (t) => {
  const app = await buildApp(t, { server: { bodyLimit: 100 }, register: registerSite })
  const reply = await app.post('/api/message/', { content: 'a'.repeat(200) }, as('alice'))
  t.match(reply.json(), { statusCode: 413, code: 'FST_ERR_CTP_BODY_TOO_LARGE', error: 'Payload Too Large' })
})

test("a write may be made although Fastify's handlerTimeout has answered it with 503", async (t) => {
  const app = await buildApp(t, {
    server: { handlerTimeout: 300 },
    register: (registry) => {
      const beforeWrite = async () => { await wait(600) }
      registry.register(Message, { auth: userAuth(User), ownerField: 'user', beforeWrite })
    },
    undocumented: "Fastify's own timeout answers"
  })
  const reply = await app.post('/api/message/', { content: 'late' }, as('alice'))
  t.match(reply.json(), { statusCode: 503, code: 'FST_ERR_HANDLER_TIMEOUT' })
  t.equal(reply.headers['retry-after'], undefined)
  t.strictSame(await app.rowsOf('message'), [])
  await waitFor('the write is made', async () => (await app.rowsOf('message')).length === 1)
  t.equal((await app.get('/api/message/')).statusCode, 200)
})

test('an error that a policy throws is answered as it is if it has a status, else as an internal one', async (t) => {
  const policyThat = (fail: () => never) => ({ open: [], authenticator: () => async () => fail(), permits: () => true })
  const teapot = Object.assign(new Error('short and stout'), { statusCode: 418, code: 'TEAPOT' })
  const app = await buildApp(t, {
    register: (registry) => registry
      .register(User, { auth: policyThat(() => { throw teapot }) })
      .register(Message, { auth: policyThat(() => { throw new Error('secret') }) }),
    undocumented: 'a policy answers with a status of its own'
  })
  t.same((await app.get('/api/user/')).json(), {
    statusCode: 418, code: 'TEAPOT', error: "I'm a Teapot", message: 'short and stout'
  })
  requireError(t, 'Internal', await app.get('/api/message/'))
})
