// @once: about what the client sends, and the compiler; what servers answer to it is in client.test.ts

import { inspect } from 'node:util'
import { test } from 'tap'
import {
  createClient, etagOf, RestModelsError, type Client, type ClientOptions, type FetchInit
} from '../../lib/client.js'
import { boolean, defineModel, integer, text } from '../../lib/index.js'
import { basic, Message, User } from '../support/site.js'
import { messages, serve } from './served.js'

type Site = [typeof User, typeof Message]
interface Answer {
  readonly status?: number
  readonly statusText?: string
  readonly body?: string
  readonly headers?: Record<string, string>
}

/** A client whose requests are kept, and answered by these answers in turn, the last of them again and again. */
function scripted (
  answers: readonly Answer[], options: Partial<ClientOptions> = {}
): { client: Client<Site>, sent: Array<FetchInit & { url: string }> } {
  const sent: Array<FetchInit & { url: string }> = []
  const client = createClient<Site>({
    baseUrl: 'https://example.com',
    fetch: async (url, init) => {
      const { status = 200, statusText = '', body = '{}', headers = {} } =
        answers[Math.min(sent.length, answers.length - 1)] ?? {}
      sent.push({ url, ...init })
      return {
        ok: status < 300, status, statusText, headers: { get: (name) => headers[name] ?? null }, text: async () => body
      }
    },
    ...options
  })
  return { client, sent }
}

async function failureOf (answer: Answer): Promise<RestModelsError> {
  const failure: unknown = await scripted([answer]).client.message.read(1).catch((error: unknown) => error)
  if (failure instanceof RestModelsError) return failure
  throw new Error('it did not fail with a RestModelsError')
}

test('a request goes to its path under the base URL and the prefix, with the body as JSON', async (t) => {
  const { client, sent } = scripted([{}])
  await client.message.read(7)
  await client.message.create({ user_id: 1, content: 'a' })
  t.same(sent, [
    {
      url: 'https://example.com/api/message/7/',
      method: 'GET',
      headers: { accept: 'application/json' },
      credentials: 'same-origin',
      redirect: 'error'
    },
    {
      url: 'https://example.com/api/message/',
      method: 'POST',
      headers: { accept: 'application/json', 'content-type': 'application/json' },
      credentials: 'same-origin',
      redirect: 'error',
      body: '{"user_id":1,"content":"a"}'
    }
  ])
  for (const [baseUrl, prefix, url] of [
    ['https://example.com/', undefined, 'https://example.com/api/message/7/'],
    ['https://example.com/shop/', '/v1/api/', 'https://example.com/shop/v1/api/message/7/'],
    [new URL('http://localhost:3000/shop'), 'rest', 'http://localhost:3000/shop/rest/message/7/'],
    ['https://example.com', '/', 'https://example.com/message/7/']
  ] as const) {
    const other = scripted([{}], { baseUrl, ...prefix !== undefined && { prefix } })
    await other.client.message.read(7)
    t.equal(other.sent[0]?.url, url)
  }
})

test('a prefix is the one of the server, whatever its characters', async (t) => {
  for (const prefix of ['/100%', '/a%20b', '/é', '/a@b,c+d', '']) {
    const { as } = await serve(t, { rows: { message: messages }, options: { prefix } })
    t.match(await as('alice', { prefix }).message.read(1), { id: 1 }, prefix)
  }
})

test('D-81 credentials are sent as UTF-8, alone, and are not told by the client', async (t) => {
  const { client, sent } = scripted([{}], { username: 'jürgen', password: 'pä:ß€😀' })
  await client.user.read(1)
  t.match(
    sent[0], { credentials: 'omit', headers: { authorization: basic('jürgen', 'pä:ß€😀') } },
    'a browser neither adds a login of its own nor asks for one'
  )
  t.notMatch(
    inspect({ client, user: client.user }, { depth: null, showHidden: true }) +
      JSON.stringify({ client, user: client.user }),
    /rgen|Basic|anV/
  )

  const bearer = scripted([{}], { token: 'abc', headers: { 'X-Tenant': 'one' }, credentials: 'include' })
  await bearer.client.user.read(1)
  t.match(bearer.sent[0], { credentials: 'include', headers: { authorization: 'Bearer abc', 'x-tenant': 'one' } })

  let count = 0
  const renewed = scripted([{}], { headers: async () => ({ Authorization: `Bearer ${++count}` }) })
  await renewed.client.user.read(1)
  await renewed.client.user.read(1)
  t.same(renewed.sent.map(({ headers }) => headers['authorization']), ['Bearer 1', 'Bearer 2'])
})

test('a name and a password that are not ASCII log in', async (t) => {
  const { as, db } = await serve(t)
  await db.updateTable('user').set({ username: 'jürgen€' }).where('id', '=', 2).execute()
  const { message } = as(undefined, { username: 'jürgen€', password: 'alice' })
  t.match(await message.create({ content: 'a' }), { user_id: 2 })
})

test('options that cannot be used are refused by name, without their values', async (t) => {
  const refused = (options: Partial<ClientOptions>, message: string): void => {
    t.throws(() => createClient({ baseUrl: 'https://example.com', ...options }), { name: 'TypeError', message })
  }
  for (const baseUrl of ['', '/api', 'example.com', 'ftp://example.com', undefined as unknown as string]) {
    refused({ baseUrl }, "'baseUrl' must be an absolute URL of http or https")
  }
  refused(
    { baseUrl: 'https://alice:secret@example.com' },
    "'baseUrl' must not hold credentials; give 'username' and 'password'"
  )
  for (const baseUrl of ['https://example.com/?a', 'https://example.com/#a']) {
    refused({ baseUrl }, "'baseUrl' must not have a query or a fragment")
  }
  for (const prefix of ['/api?x=', '/a#b', '/a b', '/\ud800']) refused({ prefix }, "'prefix' must be a path")
  refused({ username: 'alice' }, "'username' and 'password' must be given together")
  refused({ password: 'secret' }, "'username' and 'password' must be given together")
  refused({ token: 'secret', username: 'alice' }, "'token' cannot be given beside 'username' and 'password'")
  refused({ username: 'a:b', password: 'secret' }, "'username' must not hold a colon")
  for (const headers of [new Headers({ a: 'secret' }), [['a', 'secret']]] as unknown as Array<Record<string, string>>) {
    await t.rejects(scripted([{}], { headers }).client.user.read(1), {
      name: 'TypeError', message: "'headers' must be a plain object of texts"
    })
  }
  await t.rejects(scripted([{}], { token: 'secret\n' }).client.user.read(1), {
    name: 'TypeError', message: "the header 'authorization' has characters that cannot be sent"
  })
})

test('D-82 values and keys that cannot be written are refused by name, and nothing is sent', async (t) => {
  const { client: { message }, sent } = scripted([{}])
  await t.rejects(message.list({ user: [] }).catch((error: unknown) => { throw error }), {
    name: 'TypeError', message: "'user' needs a value; only 'in' takes an empty list, which matches nothing"
  })
  await t.rejects(message.list({ pub_date: new Date(NaN) }).pages().next(), {
    name: 'TypeError', message: "'pub_date' is an invalid date"
  })
  await t.rejects(message.list({ content: {} as string }).finally(), {
    name: 'TypeError', message: "'content' must be a text, a number, a boolean, a date or null, or a list of them"
  })
  await t.rejects(message.list({ content: '\ud800' }).then(), {
    name: 'TypeError', message: "'content' holds half a surrogate pair"
  })
  await t.rejects(async () => await message.list({ content: null as unknown as string }), {
    name: 'TypeError', message: "'content' cannot be null; only 'is' tests that"
  })
  await t.rejects(message.update(1, { user_id: NaN }), {
    name: 'TypeError', message: "'user_id' must be a finite number, because JSON has no others"
  })
  await t.rejects(message.read('\ud800' as unknown as number), {
    name: 'TypeError', message: "'key' holds half a surrogate pair"
  })
  await t.rejects(scripted([{}], { headers: { 'x-a': undefined as unknown as string } }).client.user.read(1), {
    name: 'TypeError', message: "the header 'x-a' has characters that cannot be sent"
  })
  for (const key of ['', '.', '..']) {
    await t.rejects(message.delete(key as unknown as number), {
      name: 'TypeError', message: "'key' must be the id of a record"
    })
  }
  t.same(sent, [])
  await message.read('../user/1' as unknown as number)
  t.equal(sent[0]?.url, 'https://example.com/api/message/..%2Fuser%2F1/', 'a key never leaves its resource')
})

test('D-82 an option that does not exist is refused by name, and nothing is sent', async (t) => {
  const { client: { message }, sent } = scripted([{ body: '{"meta":{"next":""},"objects":[]}' }])
  const refusedBy = (where: string, name: string, permitted: string) => ({
    name: 'TypeError', message: `${where} has an unknown option '${name}'; it takes ${permitted}`
  })
  const header = { baseUrl: 'https://example.com', header: { 'x-a': 'secret' } }
  t.throws(() => createClient(header), refusedBy('createClient()', 'header',
    "'baseUrl', 'prefix', 'username', 'password', 'token', 'headers', 'credentials', 'fetch'"))
  const tag = { ifmatch: '"a"', signal: undefined, ifMatch: undefined }
  await t.rejects(message.update(1, {}, tag), refusedBy('update()', 'ifmatch', "'signal', 'ifMatch'"))
  await t.rejects(message.delete(1, tag), refusedBy('delete()', 'ifmatch', "'signal', 'ifMatch'"))
  await t.rejects(message.read(1, tag), refusedBy('read()', 'ifmatch', "'signal', 'include'"))
  const ifMatch = { signal: undefined, ifMatch: '"a"' }
  for (const id of [undefined, '8d8ac610-566d-4ef0-9c22-186b2a5ed793']) {
    const body = { ...id !== undefined && { id }, user_id: 1, content: 'a' }
    await t.rejects(message.create(body, ifMatch), refusedBy('create()', 'ifMatch', "'signal'"))
  }
  await t.rejects(message.list({}, ifMatch).catch((error: unknown) => { throw error }),
    refusedBy('list()', 'ifMatch', "'signal'"))
  await t.rejects(message.list({}, ifMatch).pages().next(), refusedBy('list()', 'ifMatch', "'signal'"))
  // @ts-expect-error a signal itself is no option
  await t.rejects(message.read(1, new AbortController().signal), refusedBy('read()', 'aborted', "'signal', 'include'"))
  const inherited = Object.create({ ifMatch: '"a"' }) as {}
  await t.rejects(message.read(1, inherited), refusedBy('read()', 'ifMatch', "'signal', 'include'"))
  t.same(sent, [])

  createClient({ ...header, header: undefined } as ClientOptions)
  const ofAll: object = Object.prototype
  Object.defineProperty(ofAll, 'added', { value: 1, enumerable: true, configurable: true })
  try {
    createClient({ baseUrl: 'https://example.com' })
  } finally {
    Reflect.deleteProperty(ofAll, 'added')
  }
  await message.read(1, { signal: undefined, include: undefined, ifMatch: undefined } as {})
  await message.update(1, {}, { method: undefined, body: undefined } as {})
  await message.list({ unknown: 1 } as {})
  t.match(sent, [{ method: 'GET' }, { method: 'PUT', body: '{}' }, { url: /\?unknown=1$/ }],
    'what is undefined is left out, and the server knows the names of filters')
})

test('an error that is not of the server is told as far as it can be', async (t) => {
  t.match(await failureOf({ status: 502, statusText: 'Bad Gateway', body: '<h1>secret</h1>' }), {
    status: 502, code: undefined, message: 'HTTP 502 Bad Gateway', details: []
  })
  t.match(await failureOf({ status: 504, body: '' }), { status: 504, message: 'HTTP 504' })
  t.match(
    await failureOf({
      status: 413, body: '{"statusCode":413,"code":"FST_ERR_CTP_BODY_TOO_LARGE","message":"too large"}'
    }),
    { status: 413, code: 'FST_ERR_CTP_BODY_TOO_LARGE', message: 'too large' }
  )
  t.match(
    await failureOf({
      status: 418,
      body: '{"code":1,"message":null,"details":[1,null,{"field":"a","message":"b"},{"field":1,"message":"b"}]}'
    }),
    { code: undefined, message: 'HTTP 418', details: [{ field: 'a', message: 'b' }] }
  )
  t.match(await failureOf({ status: 500, body: 'null' }), { message: 'HTTP 500' })
  const failure = await failureOf({ body: '<!doctype html>' })
  t.match(failure, { status: 200, code: undefined, message: "The answer is not JSON; check 'baseUrl'" })
  t.ok(failure.cause instanceof SyntaxError)
  t.match(await failureOf({ body: '' }), { status: 200, message: "The answer is not JSON; check 'baseUrl'" })
})

test('retryAfter is told in seconds, if at all', async (t) => {
  const after = async (header: string) =>
    (await failureOf({ status: 503, headers: { 'retry-after': header } })).retryAfter
  t.equal(await after('3'), 3)
  const seconds = await after(new Date(Date.now() + 60_000).toUTCString())
  t.ok(seconds !== undefined && seconds > 50 && seconds <= 60)
  t.equal(await after('Wed, 21 Oct 2015 07:28:00 GMT'), 0)
  for (const invalid of ['soon', 'soon 3', '-5', '1.5', '+1', 'soon GMT']) t.equal(await after(invalid), undefined)
})

test('what fails before there is an answer stays what fetch throws', async (t) => {
  const gone = createClient<Site>({ baseUrl: 'http://127.0.0.1:1', username: 'alice', password: 'secret' })
  const failure: unknown = await gone.message.read(1).catch((error: unknown) => error)
  t.ok(failure instanceof TypeError && !(failure instanceof RestModelsError))
  t.notMatch(inspect(failure, { depth: null }), /secret|Basic/)
})

test('a signal ends a request, and the requests of a loop', async (t) => {
  const { as, sent } = await serve(t, { rows: { message: messages } })
  const { message } = as('alice')
  const ended = AbortSignal.abort()
  for (const call of [
    message.list({}, { signal: ended }), message.read(1, { signal: ended }),
    message.create({ content: 'a' }, { signal: ended }),
    message.update(1, {}, { signal: ended }), message.delete(1, { signal: ended })
  ]) await t.rejects(Promise.resolve(call), { name: 'AbortError' })
  t.same(sent, [])
  const controller = new AbortController()
  const seen: number[] = []
  await t.rejects(async () => {
    for await (const { id } of message.list({ limit: 2 }, { signal: controller.signal })) {
      seen.push(id)
      controller.abort()
    }
  }, { name: 'AbortError' })
  t.same(seen, [1, 2], 'the page that had arrived')
})

test('D-81 a redirect is not followed: a write would arrive as a read, and credentials elsewhere', async (t) => {
  const { address, sent } = await serve(t, {
    prepare: (app) => {
      app.get('/old/api/message/1/', async (_request, reply) => await reply.redirect('/api/message/1/'))
    }
  })
  await t.rejects(createClient<Site>({ baseUrl: `${address}/old` }).message.read(1), TypeError)
  t.same(sent.map(({ url }) => url), ['/old/api/message/1/'])
})

const page = (ids: readonly number[], next = ''): Answer =>
  ({
    body: JSON.stringify({
      meta: { model: 'message', page: 1, next, previous: '' }, objects: ids.map((id) => ({ id }))
    })
  })

test('D-78 a list sends nothing before it is awaited or gone through, and then each request once', async (t) => {
  const { client, sent } = scripted([page([1, 2], '/api/message/?limit=2&after=x'), page([3])])
  const list = client.message.list()
  t.equal(sent.length, 0)
  const [one, two] = await Promise.all([list, list])
  t.equal(one, two)
  t.equal(sent.length, 1)

  const looped = scripted([page([1, 2], '/api/message/?limit=2&after=x'), page([3])])
  for await (const { id } of looped.client.message.list()) if (id === 2) break
  t.same(looped.sent.map(({ url }) => url), ['https://example.com/api/message/?after='], 'no page that nobody wants')

  const paged = scripted([page([1, 2], '/api/message/?limit=2&after=x'), page([3])])
  const pages: number[][] = []
  for await (const { objects } of paged.client.message.list({ limit: 2 }).pages()) {
    pages.push(objects.map(({ id }) => id))
  }
  t.same(pages, [[1, 2], [3]])
})

test('D-78 a list has the methods of a promise', async (t) => {
  const page = JSON.stringify({ meta: { next: '' }, objects: [] })
  const found = scripted([{ body: page }])
  let settled = 0
  t.match(await found.client.message.list().finally(() => { settled++ }), { objects: [] })
  t.match(await found.client.message.list().catch(() => 'none'), { objects: [] })
  const failing = scripted([{ status: 404 }]).client.message
  t.match(await failing.list().catch((error: unknown) => error), { status: 404 })
  await t.rejects(failing.list().finally(() => { settled++ }), RestModelsError)
  t.equal(settled, 2)
})

test('D-78 a loop begins where the query says, and does not leave the resource, wherever a link points', async (t) => {
  const gateway = scripted(
    [page([1], '/inner/api/message/?limit=1&page=2'), page([2], 'https://evil.example/?limit=1&page=3'), page([3])],
    { baseUrl: 'https://example.com/shop' }
  )
  const ids: number[] = []
  for await (const { id } of gateway.client.message.list({ page: 1, limit: 1 })) ids.push(id)
  t.same(ids, [1, 2, 3])
  t.same(gateway.sent.map(({ url }) => url), [1, 2, 3].map((number) =>
    `https://example.com/shop/api/message/?${number === 1 ? 'page=1&limit=1' : `limit=1&page=${number}`}`))

  const cursor = scripted([page([1])])
  for await (const { id } of cursor.client.message.list({ limit: 1, after: 'WzFd' })) t.equal(id, 1)
  t.equal(cursor.sent[0]?.url, 'https://example.com/api/message/?limit=1&after=WzFd')
  t.match(await cursor.client.message.list().then((first) => first.objects, () => []), [{ id: 1 }])
  await t.rejects(Promise.resolve(scripted([{ status: 500 }]).client.message.list()), {
    name: 'RestModelsError', message: 'HTTP 500'
  })
})

test('a client can be awaited, compared, printed and taken apart', async (t) => {
  const { client, sent } = scripted([{}])
  const anything = client as unknown as Record<string | symbol, unknown>
  t.equal(await Promise.resolve(client), client, 'it is no promise')
  t.equal(client.message, client.message)
  t.equal(JSON.stringify(client), '{}')
  t.equal(inspect(client), '{}')
  for (const name of [
    'then', 'toJSON', 'toString', '$$typeof', 'constructor', '__proto__', 'valueOf', '', '../user', 'Message',
    Symbol.iterator, Symbol.toPrimitive
  ]) {
    t.equal(anything[name], undefined)
  }
  t.throws(() => { anything['message'] = 1 }, TypeError)
  const { read } = client.message
  await read(1)
  t.equal(sent.length, 1)
})

test('a field that is called page is no page', async (t) => {
  const Book = defineModel('Book', { page: boolean() })
  const sent: string[] = []
  const client = createClient<[typeof Book]>({
    baseUrl: 'https://example.com', fetch: async (url) => { sent.push(url); throw new Error('enough') }
  })
  const list = client.book.list({ page__eq: true })
  await t.rejects(list.pages().next())
  t.same(sent, [`https://example.com/api/${Book.table}/?after=&page__eq=true`])
})

test('a field whose name ends like an operator takes several values as any other field does', async (t) => {
  const Fish = defineModel('Fish', { fin: integer(), min: text(), fin_in: integer() })
  const sent: string[] = []
  const { fish } = createClient<[typeof Fish]>({
    baseUrl: 'https://example.com', fetch: async (url) => { sent.push(url); throw new Error('enough') }
  })
  await t.rejects(fish.list({ fin: [1, 2], min: ['a', 'b'], fin_in: [3, 4], fin__in: [5, 6] }).then())
  t.same(sent, [`https://example.com/api/${Fish.table}/?fin=1&fin=2&min=a&min=b&fin_in=3&fin_in=4&fin__in=5%2C6`])
})

test('the function that sends requests is called without a receiver, as browsers want it', async (t) => {
  const receivers: unknown[] = []
  const { user } = createClient<Site>({
    baseUrl: 'https://example.com',
    fetch: async function (this: unknown) {
      receivers.push(this)
      throw new Error('enough')
    }
  })
  await t.rejects(user.read(1))
  t.same(receivers, [undefined])
})

test('D-186: ifMatch is sent as If-Match: the tag of the record, strong even if a proxy made it weak', async (t) => {
  type Tagged = [{ model: typeof Message, etag: true }]
  const scriptedTags = (etag: string) => {
    const { client, sent } = scripted([{ headers: { etag } }])
    return { message: (client as unknown as Client<Tagged>).message, sent }
  }
  const conditionOf = (sent: ReadonlyArray<FetchInit>) => sent.at(-1)?.headers['if-match']
  for (const tag of ['"a"', 'W/"a"']) {
    const { message, sent } = scriptedTags(tag)
    const record = await message.read(1)
    t.equal(etagOf(record), '"a"')
    t.equal(conditionOf(sent), undefined)
    await message.update(1, {}, { ifMatch: record })
    t.equal(conditionOf(sent), '"a"')
    await message.delete(1, { ifMatch: tag })
    t.equal(conditionOf(sent), '"a"')
    await message.update(1, {}, { ifMatch: undefined })
    t.equal(conditionOf(sent), undefined)
  }
})

test('D-186: a page, and a record with related ones, have no tag, whatever plugin adds one', async (t) => {
  const { client: { message } } = scripted([{ body: '{"meta":{},"objects":[]}', headers: { etag: '"a"' } }])
  for (const answer of [await message.list(), await message.read(1, { include: ['user'] })]) {
    t.equal(etagOf(answer), undefined)
  }
})

test('D-186: ifMatch without a tag is a TypeError, and nothing is sent', async (t) => {
  const { client, sent } = scripted([{ body: '{"meta":{},"objects":[{"id":1}]}' }])
  const { message } = client as unknown as Client<[{ model: typeof Message, etag: true }]>
  const { objects: [listed] } = await message.list()
  const untagged = await message.read(1)
  for (const ifMatch of [listed, { ...untagged }, untagged, null, 7, '', 'a', '"a', '"a"\n', '"a", "b"'] as string[]) {
    await t.rejects(message.update(1, {}, { ifMatch }), { name: 'TypeError', message: /^'ifMatch' / })
    await t.rejects(message.delete(1, { ifMatch }), { name: 'TypeError', message: /^'ifMatch' / })
  }
  t.equal(sent.length, 2)
})
