// @once: about requests of a browser, which do not see the engine

import etag from '@fastify/etag'
import type { CrudFilter, DataProvider } from '@refinedev/core'
import { test, type Test } from 'tap'
import { keepEtag } from '../../lib/client/etags.js'
import { KnownTags } from '../../lib/providers/known-tags.js'
import { createDataProvider } from '../../lib/refine.js'
import { errorOf, serveTasks, type Served } from './served.js'

interface Provided extends Served {
  readonly provider: DataProvider
}

async function provide (t: Test, limits?: Parameters<typeof serveTasks>[1]): Promise<Provided> {
  const served = await serveTasks(t, limits)
  return { ...served, provider: createDataProvider(served.client, { maxLimit: 5 }) }
}

const ids = (data: ReadonlyArray<{ readonly id?: unknown }>): unknown[] => data.map(({ id }) => id)
const resource = 'task'

test('a list has the records of its page, and the number of all', async (t) => {
  const { provider } = await provide(t)
  const sorters = [{ field: 'person_id', order: 'desc' }, { field: 'id', order: 'asc' }] as const
  const { data, total, ...rest } = await provider.getList({
    resource, pagination: { currentPage: 2, pageSize: 3 }, sorters: [...sorters]
  })
  t.same(ids(data), [1, 3, 5])
  t.equal(total, 12)
  t.same(rest, { isCapped: false })
  t.equal((await provider.getList({ resource })).data.length, 10, 'ten to a page if refine does not say')
})

test('D-191: without pages of the server, a list has all records, and the number of them', async (t) => {
  const { provider } = await provide(t, { count: 6 })
  for (const mode of ['off', 'client'] as const) {
    const { data, ...rest } = await provider.getList({ resource, pagination: { mode, currentPage: 2, pageSize: 3 } })
    t.equal(data.length, 12, 'refine cuts the pages itself')
    t.same(rest, { total: 12, isCapped: false })
  }
})

test('D-191: a list that the server ends early says so', async (t) => {
  const list = Object.assign(Promise.resolve({ meta: { count: 12, capped: false, next: '' }, objects: [{ id: 1 }] }), {
    async * pages () { yield { objects: [{ id: 1 }] } }
  })
  const provider = createDataProvider({ task: Object({ list: () => list }) })
  const pagination = { mode: 'client' } as const
  t.same(await provider.getList({ resource, pagination }), { data: [{ id: 1 }], total: 1, isCapped: true })
})

test('D-192: the total is the server\'s bound if it has stopped counting', async (t) => {
  const { provider } = await provide(t, { count: 6 })
  t.match(await provider.getList({ resource, pagination: { pageSize: 5 } }), { total: 6, isCapped: true })
})

test('the operators of refine are filters', async (t) => {
  const { provider } = await provide(t)
  const list = async (...filters: CrudFilter[]): Promise<unknown[]> =>
    ids((await provider.getList({ resource, filters, pagination: { mode: 'off' } })).data)
  const by = async (field: string, operator: Exclude<CrudFilter['operator'], 'or' | 'and'>, value: unknown) =>
    await list({ field, operator, value })
  t.same(await by('state', 'eq', 'done'), [1, 4, 7, 10])
  t.same(await by('state', 'eqs', 'done'), [1, 4, 7, 10])
  t.same(await by('id', 'eq', Array.from({ length: 25 }, (_, index) => index + 11)), [11, 12])
  t.same(await by('state', 'ne', 'open'), [1, 4, 7, 10])
  t.same(await by('state', 'nes', 'open'), [1, 4, 7, 10])
  t.same(await by('id', 'in', [2, 4]), [2, 4])
  t.same(await by('id', 'nin', [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]), [11, 12])
  t.equal((await by('id', 'nin', [])).length, 12, 'no value is left out')
  t.same(await by('id', 'lt', 3), [1, 2])
  t.same(await by('id', 'lte', 3), [1, 2, 3])
  t.same(await by('id', 'gt', 10), [11, 12])
  t.same(await by('id', 'gte', 12), [12])
  t.same(await by('id', 'between', [3, 4]), [3, 4])
  t.same(await by('person_id', 'null', true), [4, 8, 12])
  t.same(await by('due', 'nnull', true), [2, 4, 6, 8, 10, 12])
  t.same(await by('title', 'contains', 'ES'), [4, 8, 12])
  t.same(await by('title', 'contains', '%'), [], 'a value stands for itself')
  t.same(await by('title', 'containss', 'es'), [4, 8, 12])
  for (const value of [undefined, '']) {
    t.equal((await by('title', 'contains', value)).length, 12, 'an empty search box leaves nothing out')
  }
  t.same(await by('title', 'startswith', 'COUNT'), [3, 7, 11])
  t.same(await by('title', 'startswiths', 'COUNT'), [])
  t.same(await by('title', 'endswith', ' 4'), [4])
  t.same(await by('title', 'endswiths', '2'), [2, 12])
  t.same(await by('person__name', 'eq', 'Ben'), [2, 6, 10])
  for (const operator of ['eq', 'eqs'] as const) t.same(await by('person_id', operator, null), [4, 8, 12])
  for (const operator of ['ne', 'nes'] as const) t.same(await by('due', operator, null), [2, 4, 6, 8, 10, 12])
  t.same(await by('q', 'contains', 'rest'), [4, 8, 12], 'the search')
  t.equal((await by('q', 'contains', null)).length, 12, 'a search for nothing leaves nothing out')
  const both = [
    { field: 'id', operator: 'gt', value: 3 } as const, { field: 'state', operator: 'eq', value: 'done' } as const
  ]
  t.same(await list({ operator: 'and', value: both }), [4, 7, 10])
})

test('a filter on a field with the name of a parameter is never left out', async (t) => {
  const { provider, sent } = await provide(t)
  for (const field of ['limit', 'page', 'after', 'ordering', 'include', 'count', 'search']) {
    sent.length = 0
    const list = provider.getList({ resource, filters: [{ field, operator: 'eq', value: 'a' }] })
    t.match(await errorOf(list), { statusCode: 400 }, `no task has a field ${field}`)
    t.match(sent[0]?.[0], `?${field}__eq=a&`)
  }
})

test('D-190: filters that the API does not have are errors, and never left out', async (t) => {
  const { provider } = await provide(t)
  type Operator = 'eq' | 'ncontains' | 'contains' | 'between'
  const id = (operator: Operator, value: unknown) => ({ field: 'id', operator, value })
  for (const [filters, message] of [
    [[{ operator: 'or', value: [id('eq', 1), id('eq', 2)] }], "the API has nothing for refine's operator 'or'"],
    [[Object({ ...id('eq', 1), operator: 'constructor' })], "the API has nothing for refine's operator 'constructor'"],
    [[id('ncontains', 1)], "the API has nothing for refine's operator 'ncontains'"],
    [[id('between', 1)], "the value of 'between' must be a list of two"],
    [[id('contains', null)], "the value of a search in 'id' must be a text"],
    [[id('eq', 1), id('eq', 2)], "there are two filters 'id'"]
  ] as ReadonlyArray<[CrudFilter[], string]>) {
    t.match(await errorOf(provider.getList({ resource, filters })), new TypeError(message))
  }
})

test('records are read, created, changed and deleted', async (t) => {
  const { provider, sent } = await provide(t)
  t.match(await provider.create({ resource, variables: { title: 'new' } }), { data: { id: 13, title: 'new' } })
  t.match(await provider.getOne({ resource, id: 13 }), { data: { id: 13, title: 'new' } })
  t.match(await provider.update({ resource, id: '13', variables: { title: 'newer' } }), { data: { title: 'newer' } })
  t.same(await provider.deleteOne({ resource, id: 13 }), { data: { id: 13 } })
  t.same(sent.map(([request]) => request.split(' ')[0]), ['POST', 'GET', 'PUT', 'DELETE'])
  t.same(ids((await provider.getMany!({ resource, ids: [1, 2, 3, 4, 5, 6, 99] })).data), [1, 2, 3, 4, 5, 6])
})

test('D-188: an update is refused if the record was changed since it was read last', async (t) => {
  const { provider, client } = await provide(t)
  const update = async (title: string) => await provider.update({ resource, id: 2, variables: { title } })
  t.match(await update('first'), { data: { title: 'first' } }, 'without a read there is nothing to compare')
  t.match(await update('second'), { data: { title: 'second' } }, 'what a write answers was read')
  await client.task.update(2, { title: 'theirs' })
  t.match(await errorOf(update('third')), { statusCode: 412, message: /changed by somebody else/ })
  await provider.getOne({ resource, id: '2' })
  t.match(await update('third'), { data: { title: 'third' } })
  await client.task.update(2, { title: 'theirs' })
  await provider.getOne({ resource, id: 2, meta: { include: ['person'] } })
  t.match(await update('fourth'), { data: { title: 'fourth' } }, 'a record with related ones was read')
  await provider.getOne({ resource, id: 2, meta: { include: ['person'] } })
  await client.task.update(2, { title: 'theirs' })
  t.match(await errorOf(update('fifth')), { statusCode: 412 }, 'also with related records, a form is protected')
  t.same(await provider.deleteOne({ resource, id: 2 }), { data: { id: 2 } }, 'a delete is not compared')
})

test('D-188: a tag that a plugin of the server made is no condition', async (t) => {
  const { client } = await serveTasks(t, {}, async (app) => { await app.register(etag) })
  const provider = createDataProvider(client)
  await provider.getOne({ resource: 'person', id: 1 })
  for (const name of ['Anna', 'Anne']) {
    t.match(await provider.update({ resource: 'person', id: 1, variables: { name } }), { data: { name } })
  }
})

test('D-188: an update after a list never names a state that is older than what the list has shown', async (t) => {
  const { provider, client } = await provide(t)
  const update = async (title: string) => await provider.update({ resource, id: 2, variables: { title } })
  const lists = [
    async () => await provider.getList({ resource }),
    async () => await provider.getList({ resource, meta: { include: ['person'] } }),
    async () => await provider.getMany!({ resource, ids: [2] })
  ]
  for (const [index, list] of lists.entries()) {
    await provider.getOne({ resource, id: 2 })
    await list()
    await client.task.update(2, { title: `theirs ${index}` })
    t.match(await errorOf(update('mine')), { statusCode: 412 }, 'a list that shows the same keeps the protection')
    await list()
    t.match(await update(`mine ${index}`), { data: { title: `mine ${index}` } })
  }
})

test('D-188: a record that was created counts as read', async (t) => {
  const { provider, client } = await provide(t)
  await provider.create({ resource, variables: { title: 'new' } })
  await client.task.update(13, { title: 'theirs' })
  const update = provider.update({ resource, id: 13, variables: { title: 'mine' } })
  t.match(await errorOf(update), { statusCode: 412 })
})

test('D-188: the tag of a record that was deleted is forgotten, because another may get its id', async (t) => {
  const conditions: unknown[] = []
  const record = { id: 1 }
  keepEtag(record, '"a"')
  const provider = createDataProvider({
    task: Object({
      create: async () => record,
      update: async (_key: unknown, _body: unknown, condition: unknown) => {
        conditions.push(condition)
        return record
      },
      delete: async () => {}
    })
  })
  await provider.create({ resource, variables: {} })
  await provider.update({ resource, id: 1, variables: {} })
  await provider.deleteOne({ resource, id: 1 })
  await provider.update({ resource, id: 1, variables: {} })
  t.same(conditions, [{ ifMatch: '"a"' }, {}])
})

test('a record that was read with related ones can be saved', async (t) => {
  const { provider, sent } = await provide(t)
  const meta = { include: ['person', 'author'] }
  const { data: read } = await provider.getOne({ resource, id: 1, meta })
  t.match(read, { person_id: 1, person: { name: 'Ann' }, authorId: null, author: null })
  const save = async (variables: object) => {
    const { data } = await provider.update({ resource, id: 1, variables })
    return [data['person_id'], data['authorId']]
  }
  t.same(await save({ ...read, title: 'saved' }), [1, null])
  const { person, author, ...alone } = read
  t.same(sent.at(-1)?.[1], { ...alone, title: 'saved' }, 'without the related records')
  t.same(await save({ ...read, person_id: 2, authorId: 2 }), [2, 2], 'the key counts, not the record beside it')
  t.same(await save({ person: { id: 1 }, author: { id: 1 } }), [1, 1], 'a related record alone stands for its key')
  t.same(await save({ person: null, author: 2 }), [null, 2])
  await provider.getList({ resource: 'person', meta: { include: [] } })
  const created = await provider.create({ resource, variables: { title: 'new', person: { id: 2 } } })
  t.match(created, { data: { person_id: 2 } })
})

test('errors have the form in which refine shows them at their fields', async (t) => {
  const { provider } = await provide(t)
  t.match(await errorOf(provider.create({ resource, variables: { state: 'gone' } })), {
    statusCode: 400, message: /title/, errors: { title: /required/, state: /open/ }, cause: { name: 'RestModelsError' }
  })
  t.match(await errorOf(provider.getOne({ resource, id: 99 })), {
    statusCode: 404, message: 'No such record', errors: {}
  })
  const error = await errorOf(provider.getOne({ resource: 'Task', id: 1 }))
  t.match(error, new TypeError("'Task' cannot be the name of a resource"))
})

test('related records are included, and requests are aborted', async (t) => {
  const { provider } = await provide(t)
  const meta = { include: ['person'] }
  const ann = { person: { id: 1, name: 'Ann' } }
  t.match(await provider.getList({ resource, meta }), { data: [ann] })
  t.match(await provider.getMany!({ resource, ids: [1], meta }), { data: [ann] })
  const few = await provider.getMany!({ resource, ids: Object([1, null, undefined, '', 2]) })
  t.same(few.data.map(({ id }) => id).toSorted(), [1, 2], 'references to nothing are left out')
  t.match(await provider.getOne({ resource, id: 1, meta }), { data: ann })
  const aborted = { queryContext: Object({ signal: AbortSignal.abort() }) }
  t.match(await errorOf(provider.getList({ resource, meta: aborted })), { name: 'AbortError' })
  t.match(await errorOf(provider.getOne({ resource, id: 1, meta: aborted })), { name: 'AbortError' })
})

test('the address of the API is an option', async (t) => {
  const { client } = await provide(t)
  t.equal(createDataProvider(client).getApiUrl(), '/api')
  t.equal(createDataProvider(client, { apiUrl: 'https://example.com/api' }).getApiUrl(), 'https://example.com/api')
})

test('D-82: an option of the provider that does not exist is refused by name', async (t) => {
  const { client } = await provide(t)
  const misspelled = { maxLimit: 5, maxLimt: 50 }
  t.throws(() => createDataProvider(client, misspelled), {
    name: 'TypeError', message: "createDataProvider() has an unknown option 'maxLimt'; it takes 'maxLimit', 'apiUrl'"
  })
  t.ok(createDataProvider(client, { ...misspelled, maxLimt: undefined } as {}), 'what is undefined is left out')
})

test('D-187: two hundred tags are kept, and the oldest are forgotten first', async (t) => {
  const tags = new KnownTags()
  for (let id = 0; id < 201; id++) {
    const record = { id }
    keepEtag(record, `"${id}"`)
    tags.keep('task', record)
    if (id === 199) tags.keep('task', record, { id: 0 })
  }
  t.same(tags.condition('task', { id: 0 }), { ifMatch: '"199"' }, 'it was kept again')
  t.same(tags.condition('task', { id: 1 }), {})
  t.same(tags.condition('task', { id: 2 }), { ifMatch: '"2"' })
})
