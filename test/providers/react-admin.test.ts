// @once: about requests of a browser, which do not see the engine

import etag from '@fastify/etag'
import type { DataProvider } from 'ra-core'
import { test, type Test } from 'tap'
import { createDataProvider } from '../../lib/react-admin.js'
import { errorOf, labels, serveTasks, type Served } from './served.js'

interface Provided extends Served {
  readonly provider: DataProvider
}

async function provide (t: Test, limits?: Parameters<typeof serveTasks>[1]): Promise<Provided> {
  const served = await serveTasks(t, limits)
  return { ...served, provider: createDataProvider(served.client, { maxLimit: 5 }) }
}

const ids = (data: ReadonlyArray<{ id: number }>): number[] => data.map(({ id }) => id)
const byId = { field: 'id', order: 'ASC' } as const
const page = (page: number, perPage: number) => ({ pagination: { page, perPage }, sort: byId })

test('a list has the records of its page, and the number of all', async (t) => {
  const { provider, sent } = await provide(t)
  const { data, total, pageInfo } = await provider.getList('task', page(2, 5))
  t.same(ids(data), [6, 7, 8, 9, 10])
  t.equal(total, 12)
  t.same(pageInfo, { hasNextPage: true, hasPreviousPage: true })
  t.match(await provider.getList('task', page(3, 5)), { total: 12, pageInfo: { hasNextPage: false } })
  t.equal(sent.length, 2, 'one request for each')
  t.match(await provider.getList('task', page(4, 5)), { data: [], total: 12 })
  t.match(await provider.getList('task', {}), { total: 12 }, 'all parameters are optional')
})

test('a list is filtered, searched and ordered', async (t) => {
  const { provider } = await provide(t)
  const list = async (filter: object, sort = byId as { field: string, order: 'ASC' | 'DESC' }): Promise<number[]> =>
    ids((await provider.getList('task', { ...page(1, 5), filter, sort })).data)
  t.same(await list({ person_id: 1, state: 'done' }), [1, 7])
  t.same(await list({ id__gte: 11 }), [11, 12])
  t.same(await list({ person__name: 'Ben' }, { field: 'id', order: 'DESC' }), [10, 6, 2])
  t.same(await list({ person_id: null }), [4, 8, 12], 'null is no value, but the absence of one')
  t.same(await list({ person__is: null }), [4, 8, 12])
  t.same(await list({ due__eq: null, person_id: 1 }), [1, 3, 5, 7, 9])
  t.same(await list({ due__ne: null, id__lte: 6 }), [2, 4, 6])
  t.same(await list({ id: [3, 5] }), [3, 5])
  t.same(await list({ q: 'rest' }), [4, 8, 12])
  for (const q of ['', null, undefined]) t.same(await list({ q }), [1, 2, 3, 4, 5])
  t.same(await list({ id__in: [] }), [])
  const many = Array.from({ length: 25 }, (_, index) => index + 11)
  t.same(await list({ id: many }), [11, 12], 'more values than a request may have filters')
  t.same(await list({ state: ['a,b', ...many.map((value) => `"${value}`), 'done'], id__lte: 3 }), [1])
  const twice = { ...page(1, 5), filter: { id: many, id__in: [1] } }
  t.match(await errorOf(provider.getList('task', twice)), new TypeError("there are two filters 'id__in'"))
})

test('a filter on a field with the name of a parameter is never left out', async (t) => {
  const { provider, sent } = await provide(t)
  for (const name of ['limit', 'page', 'after', 'ordering', 'include', 'count', 'search']) {
    sent.length = 0
    const filter = provider.getList('task', { ...page(1, 5), filter: { [name]: 'a', q: 'b' } })
    t.match(await errorOf(filter), { status: 400 }, `no task has a field ${name}`)
    t.match(sent[0]?.[0], `${name}__eq=a&search=b&`)
  }
  const reference = provider.getManyReference('task', { ...page(1, 5), target: 'count', id: 1, filter: {} })
  t.match(await errorOf(reference), { status: 400 })
  t.match(sent[1]?.[0], 'count__eq=1&')
})

test('D-191: a list of more records than a page may have takes several requests', async (t) => {
  const { provider, sent } = await provide(t)
  t.match(await provider.getList('task', page(1, 7)), { total: 12, pageInfo: { hasNextPage: true } })
  const second = await provider.getList('task', page(2, 7))
  t.same(ids(second.data), [8, 9, 10, 11, 12])
  t.match(second, { total: 12, pageInfo: { hasNextPage: false, hasPreviousPage: true } })
  sent.length = 0
  t.same((await provider.getList('task', page(1, 1000))).data.length, 12, 'an export')
  t.equal(sent.length, 4, 'the number, and three pages')
  t.match(sent[1]?.[0], /after=/, 'with cursors, which do not read the records before them again')
})

test('a page that the server ends early, because its records are long, is completed', async (t) => {
  const { provider } = await provide(t, { pageBytes: 30 })
  const { data, total, pageInfo } = await provider.getList('task', page(2, 5))
  t.same(ids(data), [6, 7, 8, 9, 10])
  t.same([total, pageInfo], [12, { hasNextPage: true, hasPreviousPage: true }])
})

test('D-192: there is no total if the server has stopped counting', async (t) => {
  const { provider } = await provide(t, { count: 6 })
  const list = await provider.getList('task', page(1, 5))
  t.notOk('total' in list, 'react-admin then shows "1-5 of more than 5"')
  t.match(list, { pageInfo: { hasNextPage: true } })
  t.match(await provider.getList('task', page(1, 8)), { pageInfo: { hasNextPage: true } })
  t.match(await provider.getList('task', page(3, 5)), { pageInfo: { hasNextPage: false } })
})

test('records are read by their keys, in pieces that the server permits', async (t) => {
  const { provider, sent } = await provide(t)
  const { data } = await provider.getMany('task', { ids: [1, 2, 3, 4, 5, 6, 99] })
  t.same(ids(data).sort((one, other) => one - other), [1, 2, 3, 4, 5, 6])
  t.equal(sent.length, 2)
  t.same(await provider.getMany('task', { ids: [] }), { data: [] })
})

test('records are read by long keys, in pieces whose query is not too long', async (t) => {
  const { client, sent } = await serveTasks(t)
  const [first = '', last = ''] = labels
  const absent = Array.from({ length: 10 }, (_, index) => '漢'.repeat(98) + index)
  const { data } = await createDataProvider(client).getMany('label', { ids: [first, ...absent, last] })
  t.same(data, [{ id: first }, { id: last }])
  t.equal(sent.length, 3)
})

test('records are read by no more keys at once than a filter may have', async (t) => {
  const { client, sent } = await serveTasks(t)
  const ids = Array.from({ length: 150 }, (_, index) => `k${index}`)
  t.same(await createDataProvider(client, { maxLimit: 500 }).getMany('label', { ids }), { data: [] })
  t.equal(sent.length, 2)
})

test('the records that refer to another are a list', async (t) => {
  const { provider } = await provide(t)
  const { data, total } = await provider.getManyReference('task', {
    ...page(1, 2), target: 'person_id', id: 1, filter: { state: 'open' }
  })
  t.same(ids(data), [3, 5])
  t.equal(total, 4)
})

test('D-189: a record is created with the defaults of what was left empty', async (t) => {
  const { provider, sent } = await provide(t)
  const { data } = await provider.create('task', { data: { title: 'new', state: null, due: null, urgent: true } })
  t.match(data, { id: 13, title: 'new', state: 'open', due: null, urgent: true })
  t.same(sent, [['POST /api/task/', { title: 'new', urgent: true }]])
})

test('D-189: an update sends only what was changed', async (t) => {
  const { provider, sent } = await provide(t)
  const { data: previousData } = await provider.getOne('task', { id: 2 })
  const { data } = await provider.update('task', {
    id: 2, data: { ...previousData, title: 'changed', due: null, secret: undefined }, previousData
  })
  t.match(data, { id: 2, title: 'changed', due: null, person_id: 2, created: '2026-01-01 10:00:00' })
  t.same(sent.at(-1), ['PUT /api/task/2/', { title: 'changed', due: null }])
  const other = { id: 3, data: { title: 'other' }, previousData: undefined }
  t.match(await provider.update('task', other), { data: { title: 'other' } })
})

test('D-189: null clears a field that records do not show', async (t) => {
  const { provider, sent } = await provide(t)
  const { data: previousData } = await provider.getOne('task', { id: 2 })
  await provider.update('task', { id: 2, data: { ...previousData, secret: null }, previousData })
  t.same(sent.at(-1), ['PUT /api/task/2/', { secret: null }])
})

test('D-187: an update of a record that somebody else has changed is refused', async (t) => {
  const { provider, client } = await provide(t)
  const { data: previousData } = await provider.getOne('task', { id: 2 })
  // react-admin copies records, and may show one as a list had it.
  const copy = structuredClone(previousData)
  await client.task.update(2, { title: 'theirs' })
  const update = async (seen: object) =>
    await provider.update('task', { id: 2, data: { ...seen, due: null }, previousData: seen })
  t.match(await errorOf(update(copy)), { status: 412, message: /changed by somebody else/ })
  t.match(await errorOf(provider.delete('task', { id: 2, previousData: copy })), { status: 412 })
  t.match(await client.task.read(2), { title: 'theirs', due: '2026-03-02' })
  const { data: read } = await provider.getOne('task', { id: 2 })
  t.match(await errorOf(update(copy)), { status: 412 }, 'what the form shows counts, not what was read last')
  t.match(await update(read), { data: { due: null } })
  t.match(await provider.delete('task', { id: 2, previousData: (await provider.getOne('task', { id: 2 })).data }), {
    data: { id: 2 }
  })
})

test('D-187: a form that shows related records is protected, too', async (t) => {
  const { provider, client, sent } = await provide(t)
  const meta = { include: ['person'] }
  const { data: previousData } = await provider.getOne('task', { id: 2, meta })
  t.match(previousData, { person: { name: 'Ben' } })
  await client.task.update(2, { title: 'theirs' })
  const update = provider.update('task', { id: 2, data: { ...previousData, due: null }, previousData })
  t.match(await errorOf(update), { status: 412 })
  const { data: shown } = await provider.getOne('task', { id: 2, meta })
  const mine = { ...shown, title: 'mine' }
  const { data: saved } = await provider.update('task', { id: 2, data: mine, previousData: shown })
  await client.task.update(2, { title: 'theirs' })
  // react-admin merges the answer with the record that the form has.
  const merged = { ...shown, ...saved }
  const again = provider.update('task', { id: 2, data: { ...merged, title: 'again' }, previousData: merged })
  t.match(await errorOf(again), { status: 412 }, 'also when it saves a second time')
  await provider.getOne('person', { id: 1, meta: { include: [] } })
  sent.length = 0
  await provider.getOne('person', { id: 1, meta: { include: [] } })
  t.equal(sent.length, 1, 'records without tags are read once')
})

test('D-187: after a write the record counts as read', async (t) => {
  const { provider, client } = await provide(t)
  for (const write of [
    async () => await provider.create('task', { data: { title: 'new' } }),
    async () => await provider.update('task', { id: 13, data: { title: 'newer' }, previousData: undefined })
  ]) {
    const { data: previousData } = await write()
    await client.task.update(13, { title: 'theirs' })
    t.match(await errorOf(provider.update('task', { id: 13, data: { urgent: true }, previousData })), { status: 412 })
  }
})

test('D-187: a tag that a plugin of the server made is no condition', async (t) => {
  const { client, sent } = await serveTasks(t, {}, async (app) => { await app.register(etag) })
  const provider = createDataProvider(client)
  const { data: previousData } = await provider.create('person', { data: { name: 'Cyd' } })
  const { data: saved } = await provider.update('person', { id: 3, data: { name: 'Cy' }, previousData })
  t.match(saved, { name: 'Cy' })
  const { data: again } = await provider.update('person', { id: 3, data: { name: 'Cyn' }, previousData: saved })
  t.same(sent.filter(([request]) => request.startsWith('PUT')).length, 3, 'only the first update is repeated')
  await provider.getOne('person', { id: 1, meta: { include: [] } })
  sent.length = 0
  await provider.getOne('person', { id: 1, meta: { include: [] } })
  t.equal(sent.length, 1, 'a record is not read twice for its tag')
  t.match(await provider.delete('person', { id: 3, previousData: again }), { data: { name: 'Cyn' } })
  const { data: task } = await provider.getOne('task', { id: 2 })
  await client.task.update(2, { title: 'theirs' })
  const update = provider.update('task', { id: 2, data: { title: 'mine' }, previousData: task })
  t.match(await errorOf(update), { status: 412 }, 'resources with tags of their own are protected')
})

test('D-187: a delete is repeated without the tag of a plugin, too', async (t) => {
  const { client } = await serveTasks(t, {}, async (app) => { await app.register(etag) })
  const provider = createDataProvider(client)
  const { data: previousData } = await provider.create('person', { data: { name: 'Cyd' } })
  t.same(await provider.delete('person', { id: 3, previousData }), { data: previousData })
  t.match(await errorOf(client.person.read(3)), { status: 404 })
})

test('several records are updated and deleted', async (t) => {
  const { provider, client } = await provide(t)
  t.same(await provider.updateMany('task', { ids: [1, 2], data: { urgent: true } }), { data: [1, 2] })
  t.same(await provider.deleteMany('task', { ids: [3, 4] }), { data: [3, 4] })
  const { objects } = await client.task.list({ urgent: true })
  t.same(objects.map(({ id }) => id), [1, 2])
  await provider.updateMany('task', { ids: [1, 2], data: { person_id: null } })
  t.same((await client.task.list({ person__is: null })).objects.map(({ id }) => id), [1, 2, 8, 12])
  t.same(await provider.delete('task', { id: 6 }), { data: { id: 6 } })
})

test('if one of several records fails, all others are tried before the error is thrown', async (t) => {
  const done: unknown[] = []
  const write = async (key: unknown) => {
    if (key === 'bad' || key === 'worse') throw new Error(key)
    await new Promise(setImmediate)
    done.push(key)
  }
  const provider = createDataProvider({ task: Object({ update: write, delete: write }) })
  const ids = [1, 'bad', 'worse', 2]
  t.match(await errorOf(provider.updateMany('task', { ids, data: {} })), new Error('bad'))
  t.match(await errorOf(provider.deleteMany('task', { ids })), new Error('bad'))
  t.same(done, [1, 2, 1, 2])
})

test('errors have the form in which react-admin shows them at their fields', async (t) => {
  const { provider } = await provide(t)
  t.match(await errorOf(provider.create('task', { data: { state: 'gone', person_id: 9 } })), {
    status: 400,
    message: /title/,
    body: {
      code: 'REST_MODELS_INVALID_RECORD',
      errors: { title: /required/, state: /open/, root: { serverError: /title/ } }
    },
    cause: { name: 'RestModelsError' }
  })
  const error = await errorOf(provider.getOne('task', { id: 99 }))
  t.ok(error instanceof Error)
  t.match(error, { status: 404, body: { message: 'No such record' } })
  t.notOk(Object.hasOwn(Object(Object(error).body), 'errors'))
})

test('other errors are passed on', async (t) => {
  const { provider } = await provide(t)
  t.match(await errorOf(provider.getList('Task', page(1, 5))), new TypeError("'Task' cannot be the name of a resource"))
  const signal = AbortSignal.abort()
  t.equal(provider.supportAbortSignal, true)
  for (const read of [
    provider.getList('task', { ...page(1, 5), signal }), provider.getMany('task', { ids: [1], signal }),
    provider.getOne('task', { id: 1, signal })
  ]) t.match(await errorOf(read), { name: 'AbortError' })
})

test('related records are included', async (t) => {
  const { provider } = await provide(t)
  const meta = { include: ['person'] }
  const ann = { person: { id: 1, name: 'Ann' } }
  t.match(await provider.getList('task', { ...page(1, 1), meta }), { data: [ann] })
  t.match(await provider.getMany('task', { ids: [1], meta }), { data: [ann] })
  t.match(await provider.getOne('task', { id: 1, meta }), { data: ann })
})

test('D-82: an option of the provider that does not exist is refused by name', async (t) => {
  const { client } = await provide(t)
  const misspelled = { maxLimit: 5, maxLimt: 50 }
  t.throws(() => createDataProvider(client, misspelled), {
    name: 'TypeError', message: "createDataProvider() has an unknown option 'maxLimt'; it takes 'maxLimit'"
  })
  t.ok(createDataProvider(client, { ...misspelled, maxLimt: undefined } as {}), 'what is undefined is left out')
})

test('the provider is one object of functions, so an app can replace some of them', async (t) => {
  const { provider } = await provide(t)
  const own: DataProvider = { ...provider, search: async () => [] }
  t.match(await own.getList('task', page(1, 1)), { total: 12 })
})
