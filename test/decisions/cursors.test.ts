import { CompiledQuery, sql, type Kysely } from 'kysely'
import { test, type Test } from 'tap'
import {
  bigint, boolean, createTables, date, datetime, decimal, defineModel, foreignKey, integer, number, text, userAuth,
  uuid, type Model
} from '../../lib/index.js'
import type { Tables } from '../../lib/engines/executor.js'
import { engine, openDatabase } from '../support/database.js'
import { buildApp, siteModels, User, valuesOf, type Rows, type TestApp, type BuildOptions } from '../support/site.js'

/** Every kind of field that can be ordered by; every second one may be null. */
const Thing = defineModel('Thing', {
  title: text(),
  nick: text({ nullable: true }),
  count: integer({ nullable: true }),
  big: bigint(),
  ratio: number({ nullable: true }),
  price: decimal(),
  done: boolean(),
  seen: boolean({ nullable: true }),
  at: datetime(),
  day: date({ nullable: true }),
  code: uuid(),
  user: foreignKey(() => User, { nullable: true })
})

const texts = ['a', 'A', 'a ', ' a', 'B', 'b', 'é', '', 'ab', 'a%']
const bigs = ['9007199254740993', '9007199254740992', '-9223372036854775808', '9223372036854775807', '0']
const pick = <Value>(values: readonly Value[], index: number): Value => values[index % values.length] as Value

/** Things with many ties and nulls. */
const things = (count: number): Rows[string] => Array.from({ length: count }, (_, index) => ({
  id: index + 1,
  title: pick(texts, index * 7),
  nick: index % 3 === 0 ? null : pick(texts, index * 3),
  count: index % 4 === 0 ? null : index % 5 - 2,
  big: BigInt(pick(bigs, index * 3)),
  ratio: index % 5 === 0 ? null : pick([0.1, 0.30000000000000004, 1e21, -1.5, 5e-324], index),
  price: pick([0.1, -0.1, 12.5, 9999999999999.99], index),
  done: index % 2,
  seen: pick([null, 0, 1], index),
  at: `2024-02-0${index % 3 + 1} 10:00:00`,
  day: index % 6 === 0 ? null : `2024-02-0${index % 4 + 1}`,
  code: `0000000${index % 7}-0000-4000-8000-000000000000`,
  user_id: pick([2, null, 3], index)
}))

const build = async (t: Test, rows: Rows[string], others: Parameters<typeof buildApp>[1] = {}) => await buildApp(t, {
  models: [...siteModels, Thing],
  rows: { thing: rows ?? [] },
  register: (registry) => {
    registry.register(Thing, { auth: userAuth(User) }).register(User, { exclude: ['password', 'email'] })
  },
  ...others
})

interface Meta { readonly page: number, readonly next: string, readonly previous: string }

/** The ids of each page from a URL on, and what their envelopes say. */
async function walk (
  { get }: Pick<TestApp, 'get'>, url: string, between: (page: number) => Promise<void> = async () => {}
) {
  const pages: unknown[][] = []
  const metas: Meta[] = []
  for (let next = url; next !== ''; next = metas.at(-1)?.next ?? '') {
    const reply = await get(next)
    if (reply.statusCode !== 200 || pages.length > 200) throw new Error(`${next}: ${reply.body}`)
    pages.push(valuesOf(reply, 'id'))
    metas.push(reply.json().meta)
    await between(pages.length)
  }
  return { pages, metas, ids: pages.flat() }
}

const cursorOf = (url: string): string => new URL(url, 'http://localhost').searchParams.get('after') ?? ''
const decoded = (url: string): unknown[] => JSON.parse(Buffer.from(cursorOf(url), 'base64url').toString())
const encoded = (content: unknown): string => Buffer.from(JSON.stringify(content)).toString('base64url')

test('D-68: an empty after asks for the first page, and next leads on with a cursor', async (t) => {
  const app = await build(t, things(5))
  const { meta, objects } = (await app.get('/api/thing/?ordering=-at&limit=2&after=&done__in=true,false')).json()
  t.match(meta, {
    page: 1, previous: '', next: /^\/api\/thing\/\?limit=2&after=[\w-]+&ordering=-at&done__in=true%2Cfalse$/
  })
  t.same(objects, (await app.get('/api/thing/?ordering=-at&limit=2')).json().objects)
  const { pages, metas } = await walk(app, '/api/thing/?after=&limit=2')
  t.same(pages, [[1, 2], [3, 4], [5]])
  t.same(metas.map(({ page }) => page), [1, 2, 3], 'pages are counted')
  t.same(metas.map(({ previous }) => previous), ['', '', ''], 'there is no way back')
})

test('D-68: pages told by their numbers are as they were', async (t) => {
  const app = await build(t, things(5))
  t.same((await app.get('/api/thing/?limit=2&page=2&ordering=-id')).json().meta, {
    model: 'thing',
    page: 2,
    next: '/api/thing/?limit=2&page=3&ordering=-id',
    previous: '/api/thing/?limit=2&page=1&ordering=-id'
  })
  t.same((await walk(app, '/api/thing/?limit=2')).pages, [[1, 2], [3, 4], [5]])
})

const orderings = [
  '', '-id', 'title', '-title', 'nick', '-nick', 'count', '-count', 'big', '-big', 'ratio', '-ratio', 'price',
  '-price', 'done', '-done', 'seen', '-seen', 'at', '-at', 'day', '-day', 'code', '-code', 'user', '-user_id',
  'done,-at', '-seen,nick', 'seen,-count,title', '-user,day,-ratio', 'done,seen,at,nick,-count',
  '-nick,-day,seen,-user,-count,ratio', 'done,-id,title', 'title,title'
]

test('D-68: next leads through all records, each once, in every ordering', async (t) => {
  const app = await build(t, things(60))
  for (const ordering of orderings) {
    const whole = valuesOf(await app.get(`/api/thing/?limit=100&ordering=${ordering}`), 'id')
    t.equal(whole.length, 60)
    for (const limit of [1, 7, 30, 60]) {
      const { ids, metas } = await walk(app, `/api/thing/?limit=${limit}&after=&ordering=${ordering}`)
      t.same(ids, whole, `${ordering} by ${limit}`)
      t.ok(metas.every(({ next }) => next === '' || next.includes('&after=')), 'with cursors all the way')
    }
  }
})

test('D-68: the same under filters, through joins and of any operator', async (t) => {
  const app = await build(t, things(60))
  const filters = [
    'user__username=alice', 'user__username__like=%25o%25&done=true', 'title__in=a,A,b&title__ne=b', 'nick__is=null',
    'seen__is=false&seen__is=null',
    'count__gte=0&user__admin=false&user__username__ilike=A%25'
  ]
  for (const filter of filters) {
    for (const ordering of ['id', 'at', '-seen,title', '-nick,user']) {
      const query = `${filter}&ordering=${ordering}`
      const whole = valuesOf(await app.get(`/api/thing/?limit=100&${query}`), 'id')
      t.ok(whole.length > 3, String(whole.length))
      t.same((await walk(app, `/api/thing/?limit=3&after=&${query}`)).ids, whole, query)
    }
  }
})

test('D-105: with more than 64 values in its filters a list goes on as well, and does not repeat them', async (t) => {
  const app = await build(t, things(80))
  const ids = (count: number): string => Array.from({ length: count }, (_, index) => index + 1).join()
  for (const ordering of ['at', '-seen,title', '-nick,user']) {
    for (const [count, isRepeated] of [[64, true], [70, false]] as const) {
      const query = `id__in=${ids(count)}&ordering=${ordering}`
      const whole = valuesOf(await app.get(`/api/thing/?limit=100&${query}`), 'id')
      t.equal(whole.length, count)
      t.same((await walk(app, `/api/thing/?limit=30&after=&${query}`)).ids, whole, query)
      t.equal(app.statements.at(-1)?.sql.includes(' union all '), isRepeated, `${count} values by ${ordering}`)
    }
  }
})

test('D-68: records that come and go in between neither repeat nor hide others', async (t) => {
  for (const ordering of ['id', 'at', '-at,title', 'nick', '-count']) {
    const { db, get } = await build(t, things(40))
    const before = valuesOf(await get(`/api/thing/?limit=100&ordering=${ordering}`), 'id')
    const gone = new Set<unknown>()
    const { ids } = await walk({ get }, `/api/thing/?limit=4&after=&ordering=${ordering}`, async (page) => {
      const row = things(40)?.[page % 40] ?? {}
      await db.insertInto('thing').values({ ...row, id: 1000 + page }).execute()
      // The record that the cursor was made of, and one that has been seen.
      for (const id of [before[page * 4 - 1], before[page]].filter((id) => id !== undefined)) {
        await db.deleteFrom('thing').where('id', '=', id as number).execute()
        gone.add(id)
      }
    })
    t.equal(new Set(ids).size, ids.length, `${ordering}: each once`)
    t.same(before.filter((id) => !gone.has(id) && !ids.includes(id)), [], `${ordering}: all that stayed`)
  }
})

test('D-68: keys that are UUIDs', async (t) => {
  const Tag = defineModel('Tag', { id: uuid(), name: text({ nullable: true }) })
  const rows = Array.from({ length: 20 }, (_, index) =>
    ({ id: `0000000${index * 7 % 10}-0000-4000-8000-0000000000${index + 10}`, name: pick([null, 'a', 'A'], index) }))
  const app = await buildApp(t, {
    models: [Tag], rows: { tag: rows }, register: (registry) => { registry.register(Tag) }
  })
  for (const ordering of ['', '-id', 'name', '-name']) {
    const whole = valuesOf(await app.get(`/api/tag/?limit=100&ordering=${ordering}`), 'id')
    t.same((await walk(app, `/api/tag/?limit=3&after=&ordering=${ordering}`)).ids, whole, ordering)
  }
})

test('D-68: keys that differ in their case alone', async (t) => {
  const Pair = defineModel('Pair', { name: text(), Name: text({ column: 'other' }) })
  const app = await buildApp(t, {
    models: [Pair],
    rows: { pair: [{ name: 'a', other: 'z' }, { name: 'b', other: 'y' }, { name: 'b', other: 'x' }] },
    register: (registry) => { registry.register(Pair) }
  })
  for (const ordering of ['name', 'Name', '-name,Name']) {
    const whole = (await app.get(`/api/pair/?ordering=${ordering}`)).json().objects
    const { next } = (await app.get(`/api/pair/?ordering=${ordering}&limit=1&after=`)).json().meta
    t.same((await app.get(next.replace('limit=1', 'limit=9'))).json().objects, whole.slice(1))
  }
})

test('D-68: the number of records that may be skipped is no bound', async (t) => {
  const app = await build(t, things(30), { options: { limits: { offset: 4 } } })
  t.equal((await walk(app, '/api/thing/?limit=2')).ids.length, 6)
  t.equal((await walk(app, '/api/thing/?limit=2&after=')).ids.length, 30)
})

test('D-68: a page of an ordering is one statement, and skips nothing', async (t) => {
  const app = await build(t, things(30))
  const { next } = (await app.get('/api/thing/?ordering=-seen,at,nick,count,ratio&limit=5&after=')).json().meta
  app.forget()
  const [first] = await Promise.all([app.get(next)])
  t.equal(first.statusCode, 200)
  t.equal(app.statements.length, 1)
  t.notMatch(app.statements[0]?.sql, /offset/)
  t.ok((app.statements[0]?.sql.match(/union all/g)?.length ?? 0) < 7, 'and is no longer than three columns make it')
})

test('D-68: rows that are equal in a column are not ordered by it, because not every engine sees that', async (t) => {
  const app = await build(t, things(30))
  const { next } = (await app.get('/api/thing/?ordering=at&limit=5&after=')).json().meta
  app.forget()
  await app.get(next)
  const [later = '', equal = ''] = String(app.statements[0]?.sql).split(' union all ')
    .map((part) => /order by (.*?) limit/.exec(part)?.[1])
  t.match(later, /\bat\b.*\bid\b/)
  t.match(equal, /^\S*\bid\b/)
})

if (engine === 'sqlite') {
  test('D-68: with an index, a page is a stretch of it for each column that may differ, and no more', async (t) => {
    const app = await build(t, things(30))
    for (const columns of ['at', 'count', 'done', 'title', 'at desc, id', 'seen desc, id', 'done, day']) {
      await sql`create index ${sql.ref(`by ${columns}`)} on thing (${sql.raw(columns)})`.execute(app.db)
    }
    const plans = {
      id: ['INTEGER PRIMARY KEY (rowid>?)'],
      '-id': ['INTEGER PRIMARY KEY (rowid<?)'],
      at: ['INDEX by at (at>?)', 'INDEX by at (at=? AND rowid>?)'],
      '-at': ['INDEX by at desc, id (at<?)', 'INDEX by at (at=? AND rowid>?)'],
      title: ['INDEX by title (title>?)', 'INDEX by title (title=? AND rowid>?)'],
      count: ['INDEX by count (count>?)', 'INDEX by count (count=? AND rowid>?)'],
      '-seen': [
        'INDEX by seen desc, id (seen<?)', 'INDEX by seen desc, id (seen=?)',
        'INDEX by seen desc, id (seen=? AND id>?)'
      ],
      'done,day': [
        'INDEX by done, day (done>?)', 'INDEX by done, day (done=? AND day>?)',
        'INDEX by done, day (done=? AND day=? AND rowid>?)'
      ]
    }
    const full = (await app.get('/api/thing/?limit=100')).json().objects
      .find((record: object) => !Object.values(record).includes(null))
    for (const [ordering, expected] of Object.entries(plans)) {
      const total = ordering.endsWith('id') ? ordering : `${ordering},id`
      const cursor = encoded([2, total, ...total.split(',').map((name) => String(full[name.replace('-', '')]))])
      app.forget()
      t.equal((await app.get(`/api/thing/?ordering=${ordering}&after=${cursor}`)).statusCode, 200)
      const [statement] = app.statements
      const { rows } = await app.db.executeQuery<{ detail: string }>(
        CompiledQuery.raw(`explain query plan ${statement?.sql}`, [...statement?.parameters ?? []])
      )
      const steps = rows.map(({ detail }) => detail).filter((detail) => detail.includes('t0'))
      t.same(steps, expected.map((step) => `SEARCH t0 USING ${step}`), ordering)
      const sorts = rows.filter(({ detail }) => detail.includes('TEMP B-TREE'))
      t.equal(sorts.length, expected.length > 1 ? 1 : 0, 'only the first rows of all stretches are sorted')
    }
  })
}

test('D-69: after is given once, and not beside page', async (t) => {
  const { get, statements } = await build(t, things(3))
  for (const query of ['after=&after=', 'after=&page=1', 'page=2&after=abc']) {
    const reply = await get(`/api/thing/?${query}`)
    t.equal(reply.statusCode, 400, query)
    t.match(reply.json(), {
      code: 'REST_MODELS_INVALID_PAGE', message: "Invalid 'after'", details: [{ field: 'after' }]
    })
  }
  t.equal((await get('/api/thing/?after=&limit=101')).json().details[0].field, 'limit')
  t.equal(statements.length, 0)
})

test('D-69: what is not a cursor of this ordering is 400 before any statement', async (t) => {
  const { get, forget, statements } = await build(t, things(9))
  const { next } = (await get('/api/thing/?ordering=at,-count&limit=2&after=')).json().meta
  t.same(decoded(next), [2, 'at,-count,id', '2024-02-01 10:00:00', '-1', '7'])
  const [page, name, at, count, id] = decoded(next)
  const wrong = [
    [page, 'at,count,id', at, count, id], [page, name, at, count], [page, name, at, count, id, id],
    [page, name, count, at, id], [name, at, count, id],
    [2 ** 52, name, at, count, id], [0, name, at, count, id], [-2, name, at, count, id], [2.5, name, at, count, id],
    ['2', name, at, count, id], [null, name, at, count, id],
    [Number.MAX_SAFE_INTEGER, name, at, count, id], [page, name, null, count, id], [page, name, at, count, null],
    [page, name, at, 1, id], [page, name, [at], count, id],
    [page, name, { at }, count, id], [page, name, at, '1.5', id], [page, name, at, '99999999999', id],
    [page, name, at, count, '1e3'], [page, name, '2024-02-31 10:00:00', count, id],
    [page, name, at, count, 'x'.repeat(2000)], [page], [], {}, null, 'text', 7, true, { length: 5 }
  ]
  forget()
  for (const after of ['x', '%F0%9F%98%80', '%00', 'null', '[]', '{}', '=', next, ...wrong.map(encoded)]) {
    const reply = await get(`/api/thing/?ordering=at,-count&after=${encodeURIComponent(after)}`)
    t.equal(reply.statusCode, 400, after)
    t.match(reply.json(), {
      code: 'REST_MODELS_INVALID_PAGE',
      details: [{ field: 'after', message: /^must be empty, or what the link to a next page has/ }]
    })
  }
  for (const ordering of ['', 'at', 'at,count', '-at,-count', 'at,-count,-id']) {
    t.equal((await get(`/api/thing/?ordering=${ordering}&after=${cursorOf(next)}`)).statusCode, 400, ordering)
  }
  t.equal(statements.length, 0)
  for (const good of [
    [page, name, at, count, id], [7, name, at, null, '-5'], [page, name, '2024-02-01T10:00:00Z', count, id]
  ]) {
    t.equal((await get(`/api/thing/?ordering=at,-count&after=${encoded(good)}`)).statusCode, 200, JSON.stringify(good))
  }
  t.equal(
    (await get(`/api/thing/?ordering=at,-count,id,title&after=${cursorOf(next)}`)).statusCode, 200,
    'what stands behind the key decides nothing'
  )
})

test('D-69: text that cannot be stored is no value of a cursor', async (t) => {
  const { get } = await build(t, things(3))
  for (const title of ['a\0', '\ud800']) {
    t.equal((await get(`/api/thing/?ordering=title&after=${encoded([2, 'title,id', title, '1'])}`)).statusCode, 400)
  }
  for (const title of ['', '\u{1f600}', "'; drop table thing --"]) {
    t.equal((await get(`/api/thing/?ordering=title&after=${encoded([2, 'title,id', title, '1'])}`)).statusCode, 200)
  }
})

test('D-69: a cursor goes with any filter, as a number of a page does', async (t) => {
  const { get } = await build(t, things(9))
  const { next } = (await get('/api/thing/?limit=4&after=')).json().meta
  t.same(valuesOf(await get(`/api/thing/?after=${cursorOf(next)}&done=true&limit=2`), 'id'), [6, 8])
  t.same(valuesOf(await get(`/api/thing/?after=${cursorOf(next)}&id__lt=3`), 'id'), [])
})

test('D-70: an ordering by a column that records do not show has no cursors, which would show it', async (t) => {
  const app = await buildApp(t, {
    register: (registry) => {
      registry.register(User, { exclude: ['password', 'email', 'admin'], filterable: ['email'] })
    }
  })
  for (const ordering of ['email', '-email', 'username,email']) {
    const reply = await app.get(
      `/api/user/?ordering=${ordering}&after=${encoded([2, 'email,id', 'alice@example.com', '2'])}&limit=2`
    )
    t.equal(reply.statusCode, 400)
    t.match(reply.json(), {
      code: 'REST_MODELS_INVALID_PAGE', details: [{ field: 'after', message: /records do not show/ }]
    })
  }
  t.equal(app.statements.length, 0)
  const { meta: { next: second } } = (await app.get('/api/user/?ordering=-email&after=&limit=3')).json()
  t.equal(second, '/api/user/?limit=3&page=2&ordering=-email', 'its pages are linked by their numbers')
  t.match((await app.get(second)).json(), { meta: { next: '' }, objects: [{ username: 'admin' }] })
  t.equal((await app.get('/api/user/?ordering=email&limit=2')).statusCode, 200)
  const { next } = (await app.get('/api/user/?after=&ordering=username&email__like=%25e%25&limit=2')).json().meta
  t.same(decoded(next), [2, 'username,id', 'alice', '2'])
  const closed = await app.get('/api/user/?ordering=admin&after=')
  t.same(
    closed.body, (await app.get('/api/user/?ordering=nonsense&after=')).body,
    'a hidden column is one that does not exist'
  )
})

test('D-71: a cursor that would make the link too long gives way to the number of the page', async (t) => {
  const rows =
    Array.from({ length: 6 }, (_, index) => ({ ...things(1)?.[0], id: index + 1, title: 'x'.repeat(4000 + index) }))
  const app = await build(t, rows, { options: { limits: { queryLength: 4096 } } })
  const { metas, ids } = await walk(app, '/api/thing/?ordering=title&limit=2&after=')
  t.same(ids, [1, 2, 3, 4, 5, 6])
  t.match(metas, [
    { next: '/api/thing/?limit=2&page=2&ordering=title', previous: '' },
    { previous: '/api/thing/?limit=2&page=1&ordering=title' }, {}
  ])
  t.ok((await app.get('/api/thing/?ordering=id&limit=2&after=')).json().meta.next.includes('after='))
  const small = await build(t, rows, { options: { limits: { offset: 2, queryLength: 4096 } } })
  t.same(
    (await walk(small, '/api/thing/?ordering=title&limit=2&after=')).ids, [1, 2, 3, 4],
    'as far as records may be skipped'
  )
})

test('D-71: records are lost neither if the limit changes on the way: fewer are then linked at once', async (t) => {
  const rows = Array.from({ length: 30 }, (_, index) => ({
    ...things(1)?.[0], id: index + 1, title: `${String(index).padStart(3, '0')}${index === 14 ? 'x'.repeat(5000) : ''}`
  }))
  const app = await build(t, rows, { options: { limits: { queryLength: 4096 } } })
  const first = (await app.get('/api/thing/?ordering=title&limit=3&after=')).json().meta
  t.match(first, { page: 1, next: /after=/ })
  const second = (await app.get(`/api/thing/?ordering=title&limit=12&after=${cursorOf(first.next)}`)).json()
  t.same(second.objects.map(({ id }: { id: number }) => id), [4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15])
  t.match(second.meta, { page: 1, next: '/api/thing/?limit=3&page=6&ordering=title' })
  t.same((await walk(app, second.meta.next)).ids, rows.slice(15).map(({ id }) => id))
})

test('D-71: as far as cursors can count', async (t) => {
  const app = await build(t, things(9))
  const cursor = encoded([2 ** 52 - 2, 'id', '2'])
  t.match((await app.get(`/api/thing/?limit=1&after=${cursor}`)).json().meta, { page: 2 ** 52 - 1, next: /after=/ })
  t.match((await app.get(`/api/thing/?limit=2&after=${cursor}`)).json().meta, { next: '' })
})

if (engine === 'sqlite') {
  test('D-71: bytes that are no text are passed by the number of the page', async (t) => {
    const Word = defineModel('Word', { value: text() })
    const app = await buildApp(t, { models: [Word], register: (registry) => { registry.register(Word) } })
    for (const value of [sql`'a'`, sql`cast(x'61ff' as text)`, sql`'z'`]) {
      await app.db.insertInto('word').values({ value }).execute()
    }
    for (const ordering of ['value', '-value']) {
      t.same(
        (await walk(app, `/api/word/?ordering=${ordering}&limit=1&after=`)).ids,
        ordering === 'value' ? [1, 2, 3] : [3, 2, 1]
      )
    }
  })
}

const unreadable = 'such values are answered as they are stored'
const moments = { sqlite: ['soon'], postgres: ['infinity', '0044-03-15 00:00:00 BC'], mariadb: [] }[engine]
const floats = { sqlite: [], postgres: ['real', 'numeric(30, 20)'], mariadb: ['float', 'decimal(30, 20)'] }[engine]

/** Gives a table another column `value`, as if it was made elsewhere. */
async function replaceColumn (
  db: Kysely<Tables>, { table }: Model, type: string, values: ReadonlyArray<string | Buffer | null>
): Promise<void> {
  if (engine === 'sqlite') await sql`drop index if exists ${sql.ref(`${table}__value__foreign`)}`.execute(db)
  await sql`alter table ${sql.table(table)} drop column ${sql.ref('value')}`.execute(db)
  await sql`alter table ${sql.table(table)} add column ${sql.ref('value')} ${sql.raw(type)}`.execute(db)
  for (const value of values) await db.insertInto(table).values({ value }).execute()
}

/** An app on a table whose column `value` was made elsewhere. */
async function foreign (
  t: Test, Model: Model, type: string, values: ReadonlyArray<string | Buffer | null>,
  more: Pick<BuildOptions, 'undocumented'> = {}
) {
  const db = await openDatabase(t)
  await createTables(db, [Model])
  await replaceColumn(db, Model, type, values)
  return await buildApp(t, {
    models: [], options: { db }, register: (registry) => { registry.register(Model) }, ...more
  })
}

const At = defineModel('At', { other: integer({ nullable: true }), value: datetime({ nullable: true }) })
const Ratio = defineModel('Ratio', { other: integer({ nullable: true }), value: number({ nullable: true }) })

for (const moment of moments) {
  test(`D-71: a datetime that another program stored as ${moment} is passed by the number of the page`, async (t) => {
    const type = { sqlite: 'datetime', postgres: 'timestamp', mariadb: 'datetime(6)' }[engine]
    const app = await foreign(
      t, At, type,
      [null, moment, moment, moment, '2024-02-01 10:00:01', '2024-02-01 10:00:01', '2024-02-01 10:00:02'],
      moment === 'soon' ? { undocumented: unreadable } : {}
    )
    for (const ordering of ['value', '-value']) {
      const whole = valuesOf(await app.get(`/api/at/?ordering=${ordering}`), 'id')
      t.equal(whole.length, 7)
      const { ids, metas } = await walk(app, `/api/at/?ordering=${ordering}&limit=1&after=`)
      t.same(ids, whole)
      t.ok(metas.some(({ next }) => next.includes('page=')))
      if (ordering === 'value') t.match(metas[0], { next: /after=/ }, 'but not where it is not in the way')
    }
  })
}

if (engine === 'sqlite') {
  const rounded = ['9007199254740993', '9007199254740993', '9007199254740992', '-9007199254740993']
  const others = ['9223372036854775807', '9223372036854775806', '1e21', '-0.5', '0x10', '', '7', '1.1']
  for (const [kind, type] of [['decimal', 'decimal(15, 2)'], ['number', 'numeric'], ['number', 'bigint']] as const) {
    test(`D-71: what ${type} stores and is not read exactly for a ${kind} is passed by the page number`, async (t) => {
      const value = kind === 'decimal' ? decimal({ nullable: true }) : number({ nullable: true })
      const Sum = defineModel('Sum', { other: integer({ nullable: true }), value })
      const app = await foreign(t, Sum, type, [...rounded, ...others, Buffer.from('12')], { undocumented: unreadable })
      for (const ordering of ['value', '-value']) {
        const whole = valuesOf(await app.get(`/api/sum/?ordering=${ordering}&limit=99`), 'id')
        t.equal(whole.length, 13)
        for (const limit of [1, 2, 3]) {
          const { ids } = await walk(app, `/api/sum/?ordering=${ordering}&limit=${limit}&after=`)
          t.same(ids, whole, `${ordering} by ${limit}`)
        }
      }
      const cursors = { 1: false, 2: true, 4: true, 5: false, 9: false, 10: true, 11: false, 12: false }
      for (const [limit, hasCursor] of Object.entries(cursors)) {
        const { next } = (await app.get(`/api/sum/?ordering=value&limit=${limit}&after=`)).json().meta
        t.equal(next.includes('after='), hasCursor, `after ${limit}`)
      }
    })
  }
}

for (const type of floats) {
  test(`D-71: a number stored as ${type} is passed by the number of the page, unless it is exact`, async (t) => {
    const app = await foreign(t, Ratio, type, ['0.1', '0.1', '0.2', '0.5', '0.30000000000000000001', '0.3', null])
    for (const ordering of ['value', '-value']) {
      const whole = valuesOf(await app.get(`/api/ratio/?ordering=${ordering}`), 'id')
      t.same((await walk(app, `/api/ratio/?ordering=${ordering}&limit=1&after=`)).ids, whole)
    }
  })
}

test('D-71: a UUID that another program stored in capitals is passed by the number of the page', async (t) => {
  const Token = defineModel('Token', { other: integer({ nullable: true }), value: uuid({ nullable: true }) })
  const values = ['A', 'b', 'C', 'C'].map((digit) => `${digit.repeat(8)}-0000-7000-8000-000000000000`)
  const type = engine === 'mariadb' ? 'varchar(36)' : 'text'
  const app = await foreign(t, Token, type, values, { undocumented: unreadable })
  const whole = valuesOf(await app.get('/api/token/?ordering=value'), 'id')
  const { ids, metas } = await walk(app, '/api/token/?ordering=value&limit=1&after=')
  t.same(ids, whole)
  t.match(metas.map(({ next }) => next)[whole.indexOf(1)], /page=/)
})

test('D-71: a null of another program in a column that should have none is passed by the page number', async (t) => {
  const Due = defineModel('Due', { other: integer({ nullable: true }), value: datetime() })
  const type = { sqlite: 'datetime', postgres: 'timestamp', mariadb: 'datetime' }[engine]
  const app = await buildApp(t, {
    models: [Due], register: (registry) => { registry.register(Due) }, undocumented: unreadable
  })
  await replaceColumn(app.db, Due, type, [null, null, '2024-02-01 10:00:00'])
  const { next } = (await app.get('/api/due/?ordering=value&limit=2&after=')).json().meta
  t.match(next, /&page=2&/)
})

test('D-28: texts with the same long beginning are ordered by their ends, and no page overlaps another', async (t) => {
  const Long = defineModel('Long', {
    content: text(), code: text({ unique: true, maxLength: 500 }), name: text({ maxLength: 400 })
  })
  for (const length of [256, 2100, 5000]) {
    const ends = [...'0123456789'].map((end) => String((Number(end) * 7) % 10))
    const rows = ends.map((end) => ({
      content: 'x'.repeat(length) + end,
      code: 'é'.repeat(Math.min(length, 499)) + end,
      name: 'x'.repeat(Math.min(length, 399)) + end
    }))
    const { app } = await buildApp(t, {
      models: [Long], rows: { long: rows }, register: (registry) => { registry.register(Long) }
    })
    for (const ordering of ['content', '-content', 'code', '-code', 'name', '-name,content', 'content,name']) {
      for (const first of ['page=1&limit=3', 'after=&limit=1', 'after=&limit=3', 'after=&limit=7']) {
        const seen: string[] = []
        for (let url = `/api/long/?ordering=${ordering}&${first}`; url !== '' && seen.length < 20;) {
          const { meta, objects } = (await app.inject(url)).json()
          seen.push(...objects.map(({ name }: { readonly name: string }) => name.at(-1)))
          url = meta.next
        }
        const ascending = [...'0123456789']
        t.strictSame(
          seen, ordering.startsWith('-') ? ascending.reverse() : ascending, `${ordering} by ${first} of ${length}`)
      }
    }
  }
})

test('D-59: a cursor holds a decimal as the record shows it, if that is all that is stored', async (t) => {
  const Bill = defineModel('Bill', { total: decimal(), rate: decimal({ scale: 4 }) })
  const { app, db } = await buildApp(t, {
    models: [Bill],
    rows: { bill: [{ total: 10, rate: 0.5 }, { total: -1.25, rate: 0 }, { total: 100000, rate: 7 }] },
    register: (registry) => { registry.register(Bill) }
  })
  const cursor = async (ordering: string) => {
    const { meta } = (await app.inject(`/api/bill/?ordering=${ordering}&limit=1&after=`)).json()
    return JSON.parse(Buffer.from(String(meta.next.match(/[?&]after=([^&]+)/)?.[1]), 'base64url').toString())
  }
  t.strictSame(await cursor('total'), [1, 'total,id', '-1.25', '2'])
  t.strictSame(await cursor('-total,rate'), [1, '-total,rate,id', '100000.00', '7.0000', '3'])
  if (engine !== 'sqlite') return
  await db.insertInto('bill').values({ total: -3.3000000000000003, rate: 0 }).execute()
  t.strictSame(await cursor('total'), [1, 'total,id', '-3.3000000000000003', '4'])
})
