import { test } from 'tap'
import { createClient, etagOf, RestModelsError } from '../../lib/client.js'
import { bigint, boolean, datetime, decimal, defineModel, number, openAuth, text, uuid } from '../../lib/index.js'
import { messages, serve } from './served.js'

const contents = (page: { readonly objects: ReadonlyArray<{ readonly content: string }> }): string[] =>
  page.objects.map(({ content }) => content)

test('a client creates, reads, updates and deletes records', async (t) => {
  const { as, rowsOf } = await serve(t)
  const { message } = as('alice')
  const created = await message.create({ content: 'hello' })
  t.match(created, { user_id: 2, content: 'hello', pub_date: /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/ })
  t.same(await message.read(created.id), created)
  t.same(await message.update(created.id, { content: 'é' }), { ...created, content: 'é' })
  t.same(await message.update(created.id, {}), { ...created, content: 'é' })
  t.equal(await message.delete(created.id), undefined)
  t.same(await rowsOf('message'), [])
})

test('a list that is awaited is one page, with what was asked for', async (t) => {
  const { as, sent } = await serve(t, { rows: { message: messages } })
  const { message, user } = as()
  const page = await message.list({
    user__username: 'alice', pub_date__gte: new Date('2024-01-03T10:00:00Z'), ordering: '-pub_date', limit: 1
  })
  t.same(page.meta, {
    model: 'message',
    page: 1,
    next:
      '/api/message/?limit=1&page=2&user__username=alice&pub_date__gte=2024-01-03T10%3A00%3A00.000Z&ordering=-pub_date',
    previous: ''
  })
  t.same(page.objects, [messages[4]])
  t.same(contents(await message.list({ ordering: ['user', '-content'], page: 2, limit: 2 })), ['hello', 'last'])
  t.same(Object.keys((await user.list()).objects[0] ?? {}), ['id', 'username', 'join_date', 'active', 'admin'])
  t.equal(sent.length, 3)
})

test('values are written so that the server reads them as they are', async (t) => {
  const { as } = await serve(t, { rows: { message: messages } })
  const { message } = as()
  for (const { content } of messages) {
    t.same(contents(await message.list({ content })), [content])
    t.same(contents(await message.list({ content__in: [content] })), [content])
  }
  const all = messages.map(({ content }) => content)
  t.same(contents(await message.list({ content__in: all })), all)
  t.same(contents(await message.list({ content: all })), all, 'several values: any of them')
  t.same(contents(await message.list({ content__ne: all.slice(1) })), ['hello'])
  t.same(contents(await message.list({ content__in: [] })), [], 'one of no values')
  t.same(contents(await message.list({ content__like: '%\\%%' })), ['é & ü = 100%+1'])
  t.same(contents(await message.list({ id: undefined, user_id__is: null })), [])
})

test('a value of each kind finds the record that has it', async (t) => {
  const Kinds = defineModel('Kinds', {
    id: uuid(),
    title: text({ nullable: true }),
    big: bigint(),
    ratio: number(),
    price: decimal(),
    flag: boolean(),
    moment: datetime()
  })
  const { address } = await serve(t, {
    models: [Kinds],
    register: (registry) => {
      registry.register(Kinds, {
        auth: { open: ['list', 'read', 'create', 'delete'], authenticator: () => async () => null, permits: () => true }
      })
    }
  })
  const { kinds } = createClient<[typeof Kinds]>({ baseUrl: address })
  const { id, ...record } = await kinds.create({
    big: '9007199254740993', ratio: 1e-7, price: '12.50', flag: true, moment: '2024-05-06T09:08:07+02:00'
  })
  t.same(record, {
    title: null, big: '9007199254740993', ratio: 1e-7, price: '12.50', flag: true, moment: '2024-05-06 07:08:07'
  })
  const { objects } = await kinds.list({
    id,
    title__is: null,
    big: 9007199254740993n,
    big__in: ['9007199254740993', 1n],
    ratio: 1e-7,
    price__gte: '12.5',
    flag: true,
    flag__is: true,
    moment: new Date('2024-05-06T07:08:07.900Z')
  })
  t.same(objects, [{ id, ...record }])
  t.same((await kinds.list({ flag: false })).objects, [])
  t.equal((await kinds.read(id)).price, '12.50')
  await kinds.delete(id)
  await t.rejects(kinds.read(id), { code: 'REST_MODELS_RECORD_NOT_FOUND' })
})

test('for await goes through all records, a page at a time, whatever is added and deleted meanwhile', async (t) => {
  const { as, db, sent } = await serve(t, { rows: { message: messages } })
  const seen: string[] = []
  for await (const { content } of as().message.list({ ordering: '-pub_date', limit: 2 })) {
    if (seen.length === 0) await db.deleteFrom('message').where('id', '=', 6).execute()
    seen.push(content)
  }
  t.same(seen, messages.map(({ content }) => content).reverse())
  t.same(sent.map(({ url }) => url.replace(/after=[^&]+/, 'after=…')), [
    '/api/message/?after=&ordering=-pub_date&limit=2', '/api/message/?limit=2&after=…&ordering=-pub_date',
    '/api/message/?limit=2&after=…&ordering=-pub_date'
  ])
})

test('errors are of one class, which tells status, code and faults', async (t) => {
  const { as } = await serve(t, { rows: { message: messages } })
  const failure = async (call: PromiseLike<unknown>): Promise<RestModelsError> => {
    try {
      await call
    } catch (error) {
      if (error instanceof RestModelsError) return error
      throw error
    }
    throw new Error('it did not fail')
  }
  const invalid = await failure(
    as('alice').message.create({ content: 1, contents: 'a' } as unknown as { content: string })
  )
  t.match(invalid, { name: 'RestModelsError', status: 400, code: 'REST_MODELS_INVALID_RECORD', retryAfter: undefined })
  t.match(invalid.details, [
    { field: 'contents', message: /^is not a field of this resource/ },
    { field: 'content', message: 'must be a string' }
  ])
  t.match(await failure(as().message.list({ usr: 1 } as {})), {
    status: 400, code: 'REST_MODELS_UNKNOWN_PARAMETER', message: "Unknown parameter 'usr'", details: [{ field: 'usr' }]
  })
  t.match(await failure(as().message.create({ content: 'a' })), {
    status: 401, code: 'REST_MODELS_AUTHENTICATION_FAILED', message: 'Authentication failed', details: []
  })
  t.match(await failure(as('carol').message.create({ content: 'a' })), { status: 401 }, 'not an active user')
  t.match(await failure(as('alice').message.update(2, { content: 'a' })), {
    status: 403, code: 'REST_MODELS_FORBIDDEN'
  })
  t.match(await failure(as('alice').message.read(99)), {
    status: 404, code: 'REST_MODELS_RECORD_NOT_FOUND', message: 'No such record'
  })
  t.match(await failure(as('admin').user.create({ username: 'alice', password: 'a', email: 'a' })), {
    status: 409, code: 'REST_MODELS_NOT_UNIQUE', details: [{ field: 'username' }]
  })
  t.match(await failure(as('admin').user.delete(2)), { status: 409, code: 'REST_MODELS_STILL_REFERENCED' })
  t.notMatch(JSON.stringify(invalid) + invalid.stack, /alice/)
})

test('D-186: a change with ifMatch is done if nobody else has changed the record since it was returned', async (t) => {
  const Note = defineModel('Note', { message: text() })
  const { address } = await serve(t, {
    models: [Note], register: (registry) => { registry.register(Note, { auth: openAuth(), etag: true }) }
  })
  const { note } = createClient<[{ model: typeof Note, etag: true }]>({ baseUrl: address })
  const created = await note.create({ message: 'a' })
  t.same(created, { id: 1, message: 'a' }, 'the tag is no part of the record')
  const read = await note.read(1)
  t.equal(etagOf(read), etagOf(created))
  const updated = await note.update(1, { message: 'b' }, { ifMatch: created })
  t.not(etagOf(updated), etagOf(created))
  for (const change of [
    async () => await note.update(1, { message: 'c' }, { ifMatch: read }),
    async () => { await note.delete(1, { ifMatch: read }) }
  ]) {
    const failure = await change().then(() => undefined, (error: unknown) => error)
    t.match(failure, { status: 412, code: 'REST_MODELS_PRECONDITION_FAILED' })
    t.ok(failure instanceof RestModelsError)
  }
  t.same(await note.read(1), { id: 1, message: 'b' })
  const again = await note.update(1, { message: 'c' }, { ifMatch: String(etagOf(updated)) })
  await note.update(1, {}, { ifMatch: '*' })
  await note.delete(1, { ifMatch: again })
  t.same((await note.list()).objects, [])
})
