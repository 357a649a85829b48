// @servers: the specification, as SQL of the engine

import t, { test } from 'tap'
import { boolean, defineModel, foreignKey, integer, text } from '../../lib/index.js'
import { buildApp, valuesOf, type Rows } from '../support/site.js'

const rows = {
  message: [
    { id: 1, user_id: 2, content: 'apple', pub_date: '2024-02-01 10:00:00' },
    { id: 2, user_id: 3, content: 'Apple pie', pub_date: '2024-02-02 10:00:00' },
    { id: 3, user_id: 2, content: 'banana', pub_date: '2024-02-03 10:00:00' }
  ],
  relationship: [
    { id: 1, from_user_id: 2, to_user_id: 3 },
    { id: 2, from_user_id: 3, to_user_id: 2 },
    { id: 3, from_user_id: 2, to_user_id: 1 }
  ]
} satisfies Rows

const { get } = await buildApp(t, { rows })
const messages = async (query: string): Promise<unknown[]> => valuesOf(await get(`/api/message/?${query}`), 'id')
const relationships = async (query: string): Promise<unknown[]> =>
  valuesOf(await get(`/api/relationship/?${query}`), 'id')

test('Filtering: filters are query parameters on the list endpoint', async (t) => {
  t.same(await messages(''), [1, 2, 3])
  t.same(await messages('content=banana'), [3])
})

test('Filtering: <field>=<value> gives the records whose column equals the value', async (t) => {
  t.same(await messages('content=apple'), [1])
  t.same(await messages('pub_date=2024-02-02 10:00:00'), [2])
  t.same(await messages('id=3'), [3])
  t.same(await messages('content=cherry'), [])
  t.same(valuesOf(await get('/api/user/?active=false'), 'username'), ['carol'])
})

test('Filtering: <fk>=<id> gives the records whose foreign key refers to that id', async (t) => {
  t.same(await messages('user=2'), [1, 3])
  t.same(await messages('user=3'), [2])
  t.same(await relationships('to_user=1'), [3])
})

test("Filtering: <fk>__<field>=<value> gives the records whose related record's field matches", async (t) => {
  t.same(await messages('user__username=bob'), [2])
  t.same(await messages('user__admin=true'), [])
  t.same(await relationships('to_user__admin=true'), [3])
  t.same(await relationships('from_user__username=alice'), [1, 3])
})

test('Filtering: <field>__<operator>=<value> applies a comparison operator', async (t) => {
  t.same(await messages('id__gt=1'), [2, 3])
  t.same(await messages('user__username__ne=bob'), [1, 3], 'behind a join as well')
})

test('Filtering: eq', async (t) => t.same(await messages('id__eq=2'), [2]))
test('Filtering: lt', async (t) => t.same(await messages('id__lt=2'), [1]))
test('Filtering: lte', async (t) => t.same(await messages('id__lte=2'), [1, 2]))
test('Filtering: gt', async (t) => t.same(await messages('pub_date__gt=2024-02-02 10:00:00'), [3]))
test('Filtering: gte', async (t) => t.same(await messages('pub_date__gte=2024-02-02 10:00:00'), [2, 3]))
test('Filtering: ne', async (t) => t.same(await messages('content__ne=apple'), [2, 3]))
test('Filtering: in', async (t) => t.same(await messages('id__in=1,3,9'), [1, 3]))
test('Filtering: like', async (t) => t.same(await messages('content__like=apple%25'), [1]))
test('Filtering: ilike', async (t) => t.same(await messages('content__ilike=APPLE%25'), [1, 2]))

test('Filtering: is', async (t) => {
  const Task = defineModel('Task', {
    title: text({ nullable: true }), done: boolean(), parent: foreignKey(() => Other, { nullable: true })
  })
  const Other = defineModel('Other', { size: integer() })
  const { get } = await buildApp(t, {
    models: [Other, Task],
    register: (registry) => { registry.register(Task) },
    rows: {
      other: [{ id: 7, size: 1 }],
      task: [{ title: null, done: 1, parent_id: 7 }, { title: 'a', done: 0, parent_id: null }]
    }
  })
  t.same(valuesOf(await get('/api/task/?title__is=null'), 'id'), [1])
  t.same(valuesOf(await get('/api/task/?parent__is=null'), 'id'), [2])
  t.same(valuesOf(await get('/api/task/?title__is=notnull'), 'id'), [2])
  t.same(valuesOf(await get('/api/task/?parent__is=notnull'), 'id'), [1])
  t.same(valuesOf(await get('/api/task/?done__is=true'), 'id'), [1])
  t.same(valuesOf(await get('/api/task/?done__is=false'), 'id'), [2])
})

test('Filtering: no other operator is valid', async (t) => {
  for (const operator of ['contains', 'startswith', 'regexp', 'between', 'not', 'EQ']) {
    t.equal((await get(`/api/message/?content__${operator}=apple`)).statusCode, 400, operator)
  }
  t.equal((await get('/api/message/?content__eq=apple')).statusCode, 200)
})

test('Filtering: several filters can be combined in one query string', async (t) => {
  t.same(await messages('user=2&content__like=%25an%25'), [3])
  t.same(await messages('user=3&content__like=%25an%25'), [])
  t.same(await messages('user__username=alice&id__gte=1&id__lt=3&content__ilike=A%25'), [1])
})

test('Ordering: ordering=<column> sorts ascending by that column', async (t) => {
  t.same(await messages('ordering=content'), [2, 1, 3])
  t.same(await messages('ordering=pub_date'), [1, 2, 3])
})

test('Ordering: the column must be a column of the model', async (t) => {
  for (const column of ['title', 'username', 'user__username']) {
    t.equal((await get(`/api/message/?ordering=${column}`)).statusCode, 400, column)
  }
  t.same(await messages('ordering=user_id'), [1, 3, 2])
})

test('Ordering: ordering=-<column> sorts descending', async (t) => {
  t.same(await messages('ordering=-content'), [3, 1, 2])
  t.same(await messages('ordering=-id'), [3, 2, 1])
})

test('Pagination: limit=<n> sets the page size', async (t) => {
  t.same(await messages('limit=2'), [1, 2])
  t.same(await messages('limit=1'), [1])
})

const manyRows = {
  note: Array.from({ length: 45 }, (_, index) => ({ message: `note ${index}`, created: '2024-01-01 00:00:00' }))
}

for (const heading of [
  'Pagination: the default page size is 20', 'Limits: the default page size of GET list is 20 records per page'
]) {
  test(heading, async (t) => {
    const { get } = await buildApp(t, { rows: manyRows })
    const first = await get('/api/note/')
    t.equal(first.json().objects.length, 20)
    t.equal(first.json().meta.next, '/api/note/?limit=20&page=2')
    t.equal((await get('/api/note/?page=3')).json().objects.length, 5)
  })
}

test('Limits: limit is to return fewer records per page', async (t) => {
  const { get } = await buildApp(t, { rows: manyRows })
  for (const limit of [1, 5, 19]) t.equal((await get(`/api/note/?limit=${limit}`)).json().objects.length, limit)
})

test('Pagination: page=<n> selects the page, starting at 1', async (t) => {
  t.same(await messages('limit=2&page=1'), [1, 2])
  t.same(await messages('limit=2&page=2'), [3])
  t.equal((await get('/api/message/?page=0')).statusCode, 400)
})

test('Pagination: page appears in the next and previous links', async (t) => {
  const { meta } = (await get('/api/message/?limit=1&page=2')).json()
  t.match(meta, { next: /[?&]page=3$/, previous: /[?&]page=1$/ })
})

test('Pagination: the next and previous links carry the limit in use', async (t) => {
  t.match((await get('/api/message/?limit=1&page=2')).json().meta, { next: /[?&]limit=1&/, previous: /[?&]limit=1&/ })
  t.match((await get('/api/message/?page=2')).json().meta, { previous: /[?&]limit=20&/ })
})
