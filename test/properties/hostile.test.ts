import assert from 'node:assert/strict'
import fc from 'fast-check'
import { test } from 'tap'
import { basic, buildApp, Message, Note, registerSite, siteModels, User, type TestApp } from '../support/site.js'
import { defineModel, foreignKey, json, text, userAuth } from '../../lib/index.js'
import { holds } from './holds.js'
import { anyText } from './kinds.js'
import { queryString } from './world.js'

const fragments = [
  "'", '"', '`', ';', '--', '/*', '*/', '#', '\\', '%', '_', '[', ']', '(', ')', '?', '$1', ':a', '@a', '*', '{}',
  '$' + '{1}', '%s', '%00', '\u0001', '\u001b[0m', '\r\n', '\t', '\u0085', '\u2028', '\u202e', '\ufeff', '\u{1f600}',
  'e\u0301', '\u0130', 'ſ', "' or 1=1 --", '" or ""="', "'); drop table note; --", 'union select password from user',
  'null', '\\\'', '0x27', '&x=1', '+', ','
]
const hostile = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.array(fc.oneof(fc.constantFrom(...fragments), anyText), { minLength: 1, maxLength: 4 })
      .map((parts) => parts.join(''))
  },
  { weight: 1, arbitrary: anyText }
)
const quoted = (text: string): string => `"${text.replaceAll('"', '""')}"`
const escaped = (text: string): string => text.replace(/[%_\\]/g, '\\$&')

/** The SQL of all statements that a request runs. */
async function sqlOf (app: TestApp, send: () => Promise<unknown>): Promise<string[]> {
  app.forget()
  await send()
  return app.statements.map(({ sql }) => sql)
}

const Paper = defineModel('Paper', {
  author: foreignKey(() => User),
  title: text(),
  subtitle: text({ nullable: true, unique: true }),
  data: json({ nullable: true })
})

const buildPapers = async (t: Parameters<typeof buildApp>[0]) => await buildApp(t, {
  models: [...siteModels, Paper],
  register: (registry) => registry
    .register(User, { exclude: ['password', 'email'] }).register(Message, { auth: userAuth(User), ownerField: 'user' })
    .register(Note).register(Paper, { auth: userAuth(User), ownerField: 'author' })
})

test('any text as the value of a filter leaves the SQL as it is, and becomes a parameter of it', async (t) => {
  const app = await buildPapers(t)
  const parameters = [
    (value: string) => ['title', value], (value: string) => ['title__ne', value],
    (value: string) => ['subtitle__lt', value], (value: string) => ['subtitle__gte', value],
    (value: string) => ['title__in', `${quoted(value)},${quoted(value)}`],
    (value: string) => ['title__like', escaped(value)], (value: string) => ['subtitle__ilike', escaped(value)],
    (value: string) => ['author__username', value], (value: string) => ['author__username__in', quoted(value)],
    (value: string) => ['author_id__username__ilike', escaped(value)]
  ] as ReadonlyArray<(value: string) => readonly [string, string]>
  const ask = async (parameter: readonly [string, string]) => await sqlOf(app, async () => {
    const reply = await app.get(`/api/paper/?${queryString([parameter])}`)
    assert.equal(reply.statusCode, 200, reply.body)
  })
  // On SQLite, patterns with a character that it confuses, or with a wildcard of its own first, have SQL of their own.
  const harmlessAs = (value: string): string =>
    `${/^[*?[]/.test(value) ? '?' : ''}harmless${/[\ufffd-\uffff]/.test(value) ? '\ufffd' : ''}`
  const expected = new Map<string, string[][]>()
  for (const harmless of ['', '\ufffd', '?', '?\ufffd'].map(harmlessAs)) {
    const all: string[][] = []
    for (const parameter of parameters) all.push(await ask(parameter(harmless)))
    expected.set(harmless, all)
  }
  await holds(t, 120, fc.asyncProperty(hostile, async (value) => {
    for (const [index, parameter] of parameters.entries()) {
      assert.deepEqual(await ask(parameter(value)), expected.get(harmlessAs(value))?.[index], parameter(value)[0])
      assert.ok(app.statements[0]?.parameters.some((bound) => typeof bound === 'string'), 'the value is a parameter')
    }
  }))
})

test('any text is answered, found, matched and changed as exactly what was written', async (t) => {
  const app = await buildPapers(t)
  const as = { as: 'alice' }
  await holds(t, 100, fc.asyncProperty(hostile, hostile, async (value, other) => {
    const created = await app.post('/api/paper/', { title: value, data: { [value]: [value] } }, as)
    const changed = await sqlOf(app, async () =>
      await app.put(`/api/paper/${created.json().id}/`, { title: other, subtitle: null }, as))
    const restored = await sqlOf(app, async () =>
      await app.put(`/api/paper/${created.json().id}/`, { title: value, subtitle: null }, as))
    assert.deepEqual(changed, restored)
    const { id, ...record } = (await app.get(`/api/paper/${created.json().id}/`)).json()
    assert.deepEqual(record, { author_id: 2, title: value, subtitle: null, data: { [value]: [value] } })
    assert.deepEqual(created.json(), { id, ...record })
    const finds = [
      ['title', value], ['title__in', quoted(value)], ['title__like', escaped(value)],
      ['title__ilike', escaped(value)]
    ] as const
    for (const parameter of finds) {
      const { objects, meta } =
        (await app.get(`/api/paper/?${queryString([['limit', '1'], ['id', String(id)], parameter])}`)).json()
      assert.deepEqual(objects, [{ id, ...record }], parameter[0])
      assert.equal(meta.next, '')
    }
    await app.delete(`/api/paper/${id}/`, as)
  }))
  t.same(await app.rowsOf('paper'), [])
})

test('any text in a body leaves the SQL of a create as it is, whether JSON or a form', async (t) => {
  const app = await buildPapers(t)
  const form = { as: 'alice', headers: { 'content-type': 'application/x-www-form-urlencoded' } }
  const boundary = { as: 'alice', headers: { 'content-type': 'multipart/form-data; boundary=x-0123456789' } }
  const multipart = (text: string): string =>
    `--x-0123456789\r\ncontent-disposition: form-data; name="data"\r\n\r\n${text}\r\n--x-0123456789--\r\n`
  await app.post('/api/paper/', { title: 'harmless' }, { as: 'alice' })
  const harmless = await sqlOf(app, async () => await app.post('/api/paper/', { title: 'harmless' }, { as: 'alice' }))
  await holds(t, 100, fc.asyncProperty(hostile, async (value) => {
    const body = JSON.stringify({ title: value, data: value })
    const ways = [
      () => app.post('/api/paper/', body, { as: 'alice' }),
      () => app.post('/api/paper/', queryString([['data', body]]), form),
      () => app.post('/api/paper/', multipart(body), boundary)
    ]
    for (const send of ways) {
      const sql = await sqlOf(app, async () => {
        const reply = await send()
        assert.equal(reply.statusCode, 201, reply.body)
        assert.deepEqual([reply.json().title, reply.json().data], [value, value])
      })
      assert.deepEqual(sql, harmless)
    }
  }))
})

test('a unique text that is taken is told as such, whatever it is', async (t) => {
  const app = await buildPapers(t)
  await holds(t, 60, fc.asyncProperty(hostile, async (value) => {
    await app.db.deleteFrom('paper').execute()
    const [first, second] = [
      await app.post('/api/paper/', { title: '', subtitle: value }, { as: 'alice' }),
      await app.post('/api/paper/', { title: '', subtitle: value }, { as: 'alice' })
    ]
    assert.deepEqual([first.statusCode, second.statusCode, second.json().code], [201, 409, 'REST_MODELS_NOT_UNIQUE'])
    assert.ok(
      value.length < 8 || !second.body.includes(JSON.stringify(value).slice(1, -1)),
      'an error does not repeat a value'
    )
  }))
})

test('any text as a name, an ordering, a page or an id runs no statement and is refused', async (t) => {
  const app = await buildApp(t, { register: registerSite })
  const known = ['', 'id', 'message', 'created', 'limit', 'page', 'ordering', '.', '..']
  const strange = hostile.filter((value) => !known.includes(value) && !/^\d+$/.test(value))
  await holds(t, 200, fc.asyncProperty(strange, async (value) => {
    const name = encodeURIComponent(value)
    const statuses = []
    for (const url of [
      `?${name}=1`, `?message__${name}=1`, `?ordering=${name}`, `?ordering=-id,${name}`, `?limit=${name}`,
      `?page=${name}`, `?include=${name}`
    ]) {
      statuses.push((await app.get(`/api/note/${url}`)).statusCode)
    }
    assert.deepEqual(statuses, [400, 400, 400, 400, 400, 400, 400])
    assert.equal((await app.get(`/api/note/${name}/`)).statusCode, 404)
    assert.deepEqual(app.statements, [])
  }))
})

test('any text as a name or a password leaves the SQL of a login as it is', async (t) => {
  const app = await buildApp(t)
  const login = async (authorization: string) => await sqlOf(app, async () => {
    const reply = await app.post('/api/message/', { content: '' }, { headers: { authorization } })
    assert.equal(reply.statusCode, 401)
  })
  const harmless = await login(basic('nobody', 'secret'))
  assert.equal(harmless.length, 1)
  await holds(t, 25, fc.asyncProperty(hostile, hostile, async (username, password) => {
    // RFC 7617: control characters cannot be sent, and a colon ends the name. The parser does not read line separators
    // either.
    const clean = (value: string): string => value.replace(/[\p{Cc}\u2028\u2029]/gu, '')
    const name = clean(username).replaceAll(':', '')
    assert.deepEqual(await login(basic(name, clean(password))), harmless)
    // Where an index serves only its own collation, the name is compared twice.
    assert.deepEqual(new Set(app.statements[0]?.parameters), new Set([name]))
  }))
})
