import { test } from 'tap'
import { userAuth } from '../../lib/index.js'
import { engine } from '../support/database.js'
import { Message, Note, User, buildApp } from '../support/site.js'

const as = 'alice'
const rows = {
  message: [{ id: 1, user_id: 2, content: 'a', pub_date: '2024-02-01 10:00:00' }],
  note: [{ id: 1, message: 'a', created: '2024-02-01 10:00:00' }]
}

test('a list is one statement, whatever it asks for', async (t) => {
  const { get, statements } = await buildApp(t, { rows })
  for (const query of [
    '', '?limit=1&page=3', '?ordering=-content',
    '?user__username=alice&content__like=%25a%25&id__in=1,2&ordering=user,-id', '?include=user',
    '?include=user&user__username=alice&after=&ordering=-content'
  ]) {
    statements.length = 0
    t.equal((await get(`/api/message/${query}`)).statusCode, 200)
    t.equal(statements.length, 1, query)
  }
})

test('a read is one statement, whether there is a record or not', async (t) => {
  const { get, statements, forget } = await buildApp(t, { rows })
  for (const [path, status] of [
    ['1/', 200], ['99/', 404], ['1/?include=user', 200], ['99/?include=user', 404], ['99/?include=nothing', 404]
  ] as const) {
    forget()
    t.equal((await get(`/api/message/${path}`)).statusCode, status)
    t.equal(statements.length, 1, path)
  }
})

test('an authenticated list or read is one statement more', async (t) => {
  const { get, statements, forget } = await buildApp(t, {
    rows, register: (registry) => { registry.register(Message, { auth: userAuth(User, { protect: 'all' }) }) }
  })
  for (const path of ['', '1/']) {
    forget()
    t.equal((await get(`/api/message/${path}`, { as })).statusCode, 200)
    t.equal(statements.length, 2)
  }
})

test('D-112: a login asks for one user, however many have the name', async (t) => {
  const { get, statements, forget } = await buildApp(t, {
    rows, register: (registry) => { registry.register(Message, { auth: userAuth(User, { protect: 'all' }) }) }
  })
  forget()
  t.equal((await get('/api/message/', { as })).statusCode, 200)
  t.match(statements[0]?.sql, /from .user. where .* order by .id. limit 1$/)
})

/** MariaDB cannot give back what an update changed: it is read in the same transaction. */
const update = {
  sqlite: { title: 'two statements', statements: ['update'] },
  postgres: { title: 'two statements', statements: ['update'] },
  mariadb: { title: 'a statement and a transaction of two', statements: ['begin', 'update', 'select', 'commit'] }
}[engine]

const shapes = {
  'with an owner': { path: 'message', body: { content: 'x' } },
  'without an owner': { path: 'note', body: { message: 'x' } }
}

for (const [shape, { path, body }] of Object.entries(shapes)) {
  const site = {
    rows,
    register: (registry) => {
      registry.register(Message, { auth: userAuth(User), ownerField: 'user' }).register(Note, { auth: userAuth(User) })
    }
  } satisfies Parameters<typeof buildApp>[1]

  test(`a create is one statement, and one for who creates, ${shape}`, async (t) => {
    const { post, statements } = await buildApp(t, site)
    t.equal((await post(`/api/${path}/`, body, { as })).statusCode, 201)
    t.same(statements.map(({ sql }) => sql.split(' ')[0]), ['select', 'insert'])
  })

  test(`an update is ${update.title}, and one for who updates, ${shape}`, async (t) => {
    const { put, statements } = await buildApp(t, site)
    t.equal((await put(`/api/${path}/1/`, body, { as })).statusCode, 200)
    t.same(statements.map(({ sql }) => sql.split(' ')[0]), ['select', 'select', ...update.statements])
  })

  test(`an update that changes nothing is one statement, and one for who updates, ${shape}`, async (t) => {
    const { put, statements } = await buildApp(t, site)
    t.equal((await put(`/api/${path}/1/`, {}, { as })).statusCode, 200)
    t.same(statements.map(({ sql }) => sql.split(' ')[0]), ['select', 'select'])
  })

  test(`a delete is two statements, and one for who deletes, ${shape}`, async (t) => {
    const { delete: remove, statements } = await buildApp(t, site)
    t.equal((await remove(`/api/${path}/1/`, { as })).statusCode, 204)
    t.same(statements.map(({ sql }) => sql.split(' ')[0]), ['select', 'select', 'delete'])
  })
}
