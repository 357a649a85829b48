import { test, type Test } from 'tap'
import { version as versionOf } from 'uuid'
import {
  datetime, defineModel, foreignKey, text, userAuth, uuid, type CreateOf, type UpdateOf
} from '../../lib/index.js'
import { engine } from '../support/database.js'
import { buildApp, client, User, type Rows } from '../support/site.js'

const Team = defineModel('Team', { name: text() })
const Task = defineModel('Task', {
  id: uuid({ clientGenerated: true }),
  team: foreignKey(() => Team, { nullable: true }),
  title: text({ unique: true, maxLength: 20 }),
  made: datetime({ default: 'now' })
})
/** The same with keys that the server makes alone. */
const Job = defineModel('Job', { id: uuid(), title: text() })
const Odd = defineModel('Odd', { id: uuid({ clientGenerated: true, column: 'Uuid' }), title: text() })

const own = '3d6b1c0e-8a1f-4f6a-9b5e-2f1c7d9a0b11'
const other = '0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b'
const absent = 'ffffffff-ffff-4fff-bfff-ffffffffffff'
const made = '2024-01-01 00:00:00'
const rows: Rows = {
  team: [{ id: 1, name: 'a' }, { id: 2, name: 'b' }],
  task: [{ id: other, team_id: 2, title: 'taken', made }]
}
const as = 'alice'

async function build (t: Test) {
  return await buildApp(t, {
    models: [User, Team, Task, Job, Odd],
    rows,
    register: (registry) => {
      registry.register(Task, { auth: userAuth(User) })
      registry.register(Task, {
        auth: userAuth(User, { protect: 'all' }), path: 'mine', scope: () => ({ team__name: 'a' })
      })
      registry.register(Task, { auth: userAuth(User), path: 'fixed', scope: () => ({ id: own }) })
      registry.register(Job, { auth: userAuth(User) })
      registry.register(Odd, { auth: userAuth(User) })
    }
  })
}

test('D-149: a create may bring its own key, of any version and in any case', async (t) => {
  const { post, get, rowsOf } = await build(t)
  const created = await post('/api/task/', { id: own.toUpperCase(), title: 'one' }, { as })
  t.equal(created.statusCode, 201)
  t.match(created.json(), { id: own, title: 'one' })
  t.equal(created.headers.location, `/api/task/${own}/`)
  t.match((await get(`/api/task/${own}/`)).json(), { id: own })
  for (const id of ['00000000-0000-0000-0000-000000000000', absent, '11111111-1111-1111-1111-111111111111']) {
    t.equal((await post('/api/task/', { title: id.slice(0, 8), id }, { as })).json().id, id)
  }
  t.match(await rowsOf('task'), { length: 5 })
  t.equal((await post('/api/odd/', { id: own, title: 'x' }, { as })).json().id, own)
})

test('D-149: without a key the server makes one of version 7', async (t) => {
  const { post } = await build(t)
  const { id } = (await post('/api/task/', { title: 'one' }, { as })).json()
  t.equal(versionOf(id), 7)
})

test('D-149: null, and what is no UUID, are faults of the field', async (t) => {
  const { post, rowsOf } = await build(t)
  for (const [id, message] of [
    [null, 'must not be null'], [1, 'must be a string'], ['', 'must be a UUID'], [[own], 'must be a string'],
    [`${own}0`, 'must be a UUID'], [`{${own}}`, 'must be a UUID'], [own.replaceAll('-', ''), 'must be a UUID'],
    [`${own}\0`, 'must be a UUID']
  ] as const) {
    const reply = await post('/api/task/', { id, title: 'x' }, { as })
    t.match([reply.statusCode, reply.json().details], [400, [{ field: 'id', message }]], JSON.stringify(id))
  }
  t.match((await post('/api/task/', { id: 1, titel: 'x' }, { as })).json().details, [
    { field: 'titel' }, { field: 'title', message: 'is required' }, { field: 'id' }
  ])
  t.same((await rowsOf('task')).length, 1)
})

test('D-149: a key that is taken is a 409 that names it, outside the scope too, and nothing is stored', async (t) => {
  const { post, rowsOf, get } = await build(t)
  for (const url of ['/api/task/', '/api/mine/']) {
    for (const id of [other, other.toUpperCase()]) {
      for (const title of ['new', 'taken']) {
        const reply = await post(url, { id, title, team: 1 }, { as })
        t.match([reply.statusCode, reply.json()], [409, {
          code: 'REST_MODELS_NOT_UNIQUE', details: [{ field: 'id', message: 'is already taken' }]
        }])
      }
    }
  }
  t.equal((await get(`/api/mine/${other}/`, { as })).statusCode, 404)
  const title = await post('/api/task/', { id: own, title: 'taken' }, { as })
  t.match([title.statusCode, title.json().details], [409, [{ field: 'title' }]], 'the key is not blamed for others')
  t.match(await rowsOf('task'), [{ id: other, title: 'taken' }])
  t.equal((await rowsOf('task')).length, 1)
})

test('D-149: the key does not get around a scope', async (t) => {
  const { post, rowsOf } = await build(t)
  const status = async (url: string, body: object) => (await post(url, body, { as })).statusCode
  t.equal(await status('/api/mine/', { id: own, title: 'x', team: 2 }), 403)
  t.equal(await status('/api/fixed/', { id: absent, title: 'x' }), 403)
  t.same((await rowsOf('task')).length, 1)
  t.equal(await status('/api/mine/', { id: absent, title: 'y', team: 1 }), 201)
  t.equal(await status('/api/fixed/', { id: own, title: 'x' }), 201)
})

test('D-149: no update changes a key, but one may repeat it', async (t) => {
  const { put, patch, rowsOf } = await build(t)
  for (const send of [put, patch]) {
    for (const id of [own, null, 1, 'x']) {
      const reply = await send(`/api/task/${other}/`, { id, title: 'x' }, { as })
      t.match([reply.statusCode, reply.json().details], [400, [{ field: 'id' }]])
    }
    t.equal((await send(`/api/task/${other}/`, { id: other.toUpperCase(), title: 'taken' }, { as })).statusCode, 200)
  }
  t.match(await rowsOf('task'), [{ id: other, title: 'taken' }])
})

test('D-149: forms bring keys as JSON does', async (t) => {
  const { post } = await build(t)
  const text = JSON.stringify({ id: own, title: 'form' })
  const form = await post('/api/task/', `data=${encodeURIComponent(text)}`, {
    as, headers: { 'content-type': 'application/x-www-form-urlencoded' }
  })
  t.match([form.statusCode, form.json()], [201, { id: own }])
  const second = JSON.stringify({ id: absent, title: 'parts' })
  const body = `--x\r\nContent-Disposition: form-data; name="data"\r\n\r\n${second}\r\n--x--\r\n`
  const parts = await post('/api/task/', body, { as, headers: { 'content-type': 'multipart/form-data; boundary=x' } })
  t.match([parts.statusCode, parts.json()], [201, { id: absent }])
})

test('D-149: a key that the server makes is refused as before', async (t) => {
  const { post } = await build(t)
  t.match((await post('/api/job/', { id: own, title: 'x' }, { as })).json().details, [
    { field: 'id', message: 'is set by the server' }
  ])
})

test('D-149: fifty creates with one key at once store one record', async (t) => {
  const { app, rowsOf } = await build(t)
  const { post } = client(app)
  const replies = await Promise.all(Array.from({ length: 50 }, async (_, index) =>
    await post('/api/task/', { id: own, title: `${index}` }, { as })))
  const statuses = replies.map(({ statusCode }) => statusCode)
  t.same([statuses.filter((status) => status === 201).length, statuses.filter((status) => status === 409).length],
    [1, 49])
  t.equal((await rowsOf('task')).length, 2)
})

test('D-150: clientGenerated is for the primary key, and true or false', async (t) => {
  const define = (fields: object) => () => defineModel('Thing', fields as { readonly title: ReturnType<typeof text> })
  const title = text()
  t.throws(define({ mark: uuid({ clientGenerated: true }) }),
    { code: 'REST_MODELS_INVALID_MODEL', message: /field 'mark'.*'clientGenerated' is for the primary key 'id' alone/ })
  t.throws(define({ id: uuid({ clientGenerated: 'yes' as never }), title }), { message: /is true or false/ })
  t.throws(define({ id: { kind: 'key', options: { generated: false, clientGenerated: true } }, title }),
    { message: /'column', for key\(\) 'generated', for uuid\(\) 'clientGenerated'/ })
  t.throws(define({ id: { kind: 'uuid', options: { generated: false, clientGenerated: true } }, title }),
    { message: /is the primary key/ })
  t.throws(define({ title: { kind: 'text', options: { clientGenerated: true } } }), { message: /clientGenerated/ })
  t.doesNotThrow(define({ id: uuid({ clientGenerated: false }), title }))
})

test('D-149: the types of a create and an update follow', async (t) => {
  const body: CreateOf<typeof Task> = { id: own, title: 'x' }
  const without: CreateOf<typeof Task> = { title: 'x' }
  // @ts-expect-error -- the server makes this key
  const made: CreateOf<typeof Job> = { id: own, title: 'x' }
  // @ts-expect-error -- no update changes a key
  const change: UpdateOf<typeof Task> = { id: own }
  t.ok(body && without && made && change && engine)
})
