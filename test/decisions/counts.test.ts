// @servers: each engine counts in its own way

import { sql } from 'kysely'
import { test, type Test } from 'tap'
import { defineModel, foreignKey, hostAuth, integer, text, type ResourceOptions } from '../../lib/index.js'
import { engine } from '../support/database.js'
import { beforeStatements } from '../support/interleaving.js'
import { buildApp, valuesOf, type TestApp } from '../support/site.js'

const Group = defineModel('Group', { name: text() })
const Entry = defineModel('Entry', {
  title: text(), rank: integer(), group: foreignKey(() => Group, { nullable: true })
})
const rows = {
  group: [{ id: 1, name: 'a' }, { id: 2, name: 'b' }],
  entry: Array.from({ length: 12 }, (_, index) =>
    ({ id: index + 1, title: `entry ${index}`, rank: index % 3, group_id: index < 9 ? index % 2 + 1 : null }))
}

async function entries (
  t: Test, limits: Readonly<Record<string, number>> = {}, options: ResourceOptions<typeof Entry> = {}
): Promise<TestApp> {
  return await buildApp(t, {
    models: [Group, Entry],
    rows,
    options: { limits },
    register: (registry) => { registry.register(Group).register(Entry, options) }
  })
}

const metaOf = async ({ get }: TestApp, query: string) => (await get(`/api/entry/?${query}`)).json().meta
const total = async (app: TestApp, query: string): Promise<readonly unknown[]> => {
  const { count, capped } = await metaOf(app, query)
  return [count, capped]
}

test('D-171: count=true adds count and capped to meta, and nothing else changes', async (t) => {
  const app = await entries(t)
  const { count, capped, ...others } = await metaOf(app, 'limit=5&count=true')
  t.same([count, capped], [12, false])
  t.same(others, {
    model: 'entry', page: 1, next: '/api/entry/?limit=5&page=2&count=true', previous: ''
  })
  const body = (await app.get('/api/entry/?count=true')).body
  t.match(body, /^\{"meta":\{"model":"entry","page":1,"next":"","previous":"","count":12,"capped":false\},"objects":/)
  t.notMatch((await app.get('/api/entry/')).body, /"count"|"capped"/)
})

test('D-171: filters hold, through foreign keys too, on every page and with cursors', async (t) => {
  const app = await entries(t)
  for (const [query, count] of [
    ['rank=1', 4], ['rank__gt=5', 0], ['group__name=a', 5], ['group__name=a&rank=0', 2], ['id__in=1,2,99', 2],
    ['title__ilike=ENTRY%25', 12], ['group__is=null', 3], ['group__name__is=notnull', 9], ['ordering=-rank', 12]
  ] as const) {
    for (const place of ['limit=1', 'limit=100', 'limit=2&page=2', 'limit=1&page=50', 'limit=1&after=', 'after=']) {
      t.same(await total(app, `${query}&${place}&count=true`), [count, false], `${query} ${place}`)
    }
  }
  const { next } = await metaOf(app, 'ordering=rank&limit=5&after=&count=true')
  t.match(next, /after=[^&]+&ordering=rank&count=true$/)
  t.match((await app.get(next)).json().meta, { page: 2, count: 12, capped: false }, 'the whole list')
})

test('D-171: anything but true is 400, and so is count twice', async (t) => {
  const app = await entries(t)
  app.forget()
  for (const query of ['count', 'count=', 'count=True', 'count=false', 'count=1', 'count=true%20']) {
    t.match((await app.get(`/api/entry/?${query}`)).json(), {
      statusCode: 400, code: 'REST_MODELS_INVALID_VALUE', details: [{ field: 'count', message: 'must be true' }]
    }, query)
  }
  t.match((await app.get('/api/entry/?count=true&count=true')).json(), {
    statusCode: 400, details: [{ field: 'count', message: 'must be given once' }]
  })
  t.match((await app.get('/api/entry/1/?count=true')).json(), { code: 'REST_MODELS_UNKNOWN_PARAMETER' })
  t.same(app.statements.filter(({ sql }) => /count|offset/.test(sql)), [])
})

test('D-171: beyond limits.count that number is told, and that there are more', async (t) => {
  for (const [limit, expected] of [[12, [12, false]], [11, [11, true]], [3, [3, true]], [0, [0, true]]] as const) {
    const app = await entries(t, { count: limit })
    for (const place of ['limit=1', 'limit=100', 'limit=5&page=2', 'limit=4&page=3', 'limit=4&after=', 'page=9']) {
      t.same(await total(app, `count=true&${place}`), expected, `${limit} ${place}`)
    }
    t.same(await total(app, 'rank=7&count=true'), [0, false])
  }
})

test('D-171: the statement stops one record beyond limits.count', async (t) => {
  const app = await entries(t, { count: 3 })
  app.forget()
  t.same(await total(app, 'rank__gte=0&limit=1&count=true'), [3, true])
  const [, { sql: counting = '', parameters = [] } = {}] = app.statements
  t.match(counting, /^select count\(\*\) as .count. from \(select 1 as .row. from .*entry. as .t0. where .* limit /)
  t.equal(parameters.at(-1), 4)
  t.notMatch(counting, /order by|offset/)
})

test('D-171: the statement runs after that of the page, without a snapshot that both share', async (t) => {
  const app = await entries(t)
  await beforeStatements(t, app.db, async (statement, execute) => {
    if (statement.startsWith('select count')) await execute(sql`delete from entry where id > 6`.compile(app.db))
  })
  const reply = await app.get('/api/entry/?limit=8&count=true')
  t.equal(valuesOf(reply, 'id').length, 8)
  t.match(reply.json().meta, { count: 6, capped: false })
})

test('D-172: a page that shows the end of the list is counted without a statement', async (t) => {
  const app = await entries(t)
  const statements = async (query: string, count = 12): Promise<number> => {
    app.forget()
    t.same(await total(app, `${query}&count=true`), [count, false], query)
    return app.statements.length
  }
  for (const query of ['limit=12', 'limit=100', 'limit=5&page=3', 'limit=6&page=2', 'after=', 'limit=12&after=']) {
    t.equal(await statements(query), 1, query)
  }
  t.equal(await statements('rank=7', 0), 1, 'an empty first page is the end')
  t.equal(await statements('rank=1&limit=2&page=2', 4), 1)
  for (const query of ['limit=11', 'limit=5&page=2', 'limit=11&after=']) t.equal(await statements(query), 2, query)
  t.equal(await statements('limit=6&page=3'), 2, 'an empty page behind the end does not tell where that is')
  const { next } = await metaOf(app, 'limit=11&after=')
  t.equal(await statements(next.slice(next.indexOf('?') + 1)), 2, 'a cursor may say any number of records before it')
})

test('D-172: a page that shows more than limits.count is counted without a statement', async (t) => {
  const app = await entries(t, { count: 4 })
  app.forget()
  t.same(await total(app, 'limit=4&count=true'), [4, true])
  t.same(await total(app, 'limit=2&page=3&count=true'), [4, true])
  t.equal(app.statements.length, 2)
  t.same(await total(app, 'limit=3&count=true'), [4, true])
  t.equal(app.statements.length, 4)
})

test('D-172: a list without count runs the statements that it ran before', async (t) => {
  const app = await entries(t)
  app.forget()
  await app.get('/api/entry/?limit=2')
  await app.get('/api/entry/?rank=1&limit=2&after=')
  t.equal(app.statements.length, 2)
})

test('D-171: a scope holds, of the resource and of what a filter leads through', async (t) => {
  const viewers = hostAuth<{ id: number, rank: number }>(({ headers: { 'x-rank': rank } }) =>
    ({ id: 1, rank: Number(rank) }), { protect: 'all' })
  const { get } = await buildApp(t, {
    models: [Group, Entry],
    rows,
    register: (registry) => {
      registry.register(Group, { auth: viewers, scope: () => ({ name: 'a' }) })
      registry.register(Entry, { auth: viewers, scope: ({ rank }) => rank < 0 ? null : { rank } })
    }
  })
  const counted = async (query: string, rank: number): Promise<number> =>
    (await get(`/api/entry/?limit=1&count=true&${query}`, { headers: { 'x-rank': String(rank) } })).json().meta.count
  t.equal(await counted('', 0), 4)
  t.equal(await counted('', 9), 0)
  t.equal(await counted('', -1), 0)
  t.equal(await counted('group__id__gt=0', 0), 2)
  t.equal(await counted('group__name=b', 0), 0)
})

test('D-171: the count keeps within the deadline of the list', async (t) => {
  if (engine !== 'sqlite') return
  const app = await entries(t, { statementTime: 0 })
  await sql`insert into entry (title, rank) select 'x', 0 from json_each(${JSON.stringify(Array(2000).fill(0))})`
    .execute(app.db)
  t.equal((await app.get('/api/entry/?limit=1')).statusCode, 200)
  t.match((await app.get('/api/entry/?limit=1&count=true')).json(), { code: 'REST_MODELS_UNAVAILABLE' })
})

test('D-171: a text that the column cannot hold is counted, too', async (t) => {
  if (engine !== 'mariadb') return
  const latin = sql`alter table entry modify title varchar(50) character set latin1 collate latin1_swedish_ci not null`
  const app = await buildApp(t, {
    models: [Group, Entry],
    rows,
    prepare: async (_app, db) => { await latin.execute(db) },
    register: (registry) => { registry.register(Group).register(Entry) }
  })
  t.same(await total(app, `title__ne=${encodeURIComponent('\u{1f600}')}&limit=1&count=true`), [12, false])
})
