// @once: about the order of refusals, all of which come before a statement or say no more than that nothing was found

import { test, type Test } from 'tap'
import { adminAuth, readOnlyAuth } from '../../lib/index.js'
import { Message, Note, User, basic, buildApp, type Rows } from '../support/site.js'

/** What a request can be refused for, in the order of the refusals: the status, and what makes a request so. */
const refusals = {
  browser: { status: 403, defect: { site: 'cross-site' } },
  credentials: { status: 401, defect: { password: 'wrong' } },
  policy: { status: 403, defect: { user: 'bob' } },
  missing: { status: 404, defect: { id: '99' } },
  owner: { status: 403, defect: { user: 'admin' } },
  invalid: { status: 400, defect: { query: '?nonsense=1', body: { nonsense: 1 } } },
  method: { status: 405, defect: {} }
} as const
type Refusal = keyof typeof refusals

/** What is asked of messages: only admins may, and only the owner may write. */
const operations = {
  list: { method: 'GET', hasId: false, success: 200, order: ['credentials', 'policy', 'invalid'] },
  read: { method: 'GET', hasId: true, success: 200, order: ['credentials', 'policy', 'missing', 'invalid'] },
  create: { method: 'POST', hasId: false, success: 201, order: ['browser', 'credentials', 'policy', 'invalid'] },
  update: {
    method: 'PUT', hasId: true, success: 200, order: ['browser', 'credentials', 'policy', 'missing', 'owner', 'invalid']
  },
  'update by PATCH': {
    method: 'PATCH',
    hasId: true,
    success: 200,
    order: ['browser', 'credentials', 'policy', 'missing', 'owner', 'invalid']
  },
  delete: {
    method: 'DELETE',
    hasId: true,
    success: 204,
    order: ['browser', 'credentials', 'policy', 'missing', 'owner', 'invalid']
  },
  'a method that a list does not have': {
    method: 'PATCH', hasId: false, success: 405, order: ['browser', 'credentials', 'policy', 'method']
  },
  'a method that a record does not have': {
    method: 'POST', hasId: true, success: 405, order: ['browser', 'credentials', 'policy', 'method']
  }
} as const satisfies Record<string, { method: string, hasId: boolean, success: number, order: readonly Refusal[] }>
type Operation = keyof typeof operations

interface Wanted {
  readonly site?: string
  readonly user: string
  readonly password?: string
  readonly id: string
  readonly query: string
  readonly body: object
}
const faultless: Wanted = { user: 'alice', id: '1', query: '', body: { content: 'x' } }

const rows: Rows = { message: [{ id: 1, user_id: 2, content: 'from alice', pub_date: '2024-02-01 10:00:00' }] }

async function guarded (t: Test) {
  const site = await buildApp(t, {
    rows,
    register: (registry) => {
      registry.register(Message, { auth: adminAuth(User, { protect: 'all' }), ownerField: 'user' })
    }
  })
  await site.db.updateTable('user').set({ admin: 1 }).where('username', '=', 'alice').execute()
  const send = async (operation: Operation, { site: fetchSite, user, password = user, id, query, body }: Wanted) => {
    const { method, hasId } = operations[operation]
    site.forget()
    const { statusCode } = await site.app.inject({
      method: method as 'GET',
      url: `/api/message/${hasId ? `${id}/` : ''}${query}`,
      headers: { authorization: basic(user, password), ...(fetchSite && { 'sec-fetch-site': fetchSite }) },
      ...(method !== 'GET' && { payload: body })
    })
    return { status: statusCode, statements: site.statements.map(({ sql }) => sql) }
  }
  return { ...site, send }
}

/** A request with two defects; a record that is missing has no owner, but a text that is no id may read like one. */
function faulty (first: Refusal, second: Refusal): Wanted {
  const both: Wanted = { ...faultless, ...refusals[second].defect, ...refusals[first].defect }
  return first === 'missing' && second === 'owner' ? { ...both, id: '01' } : both
}

for (const [operation, { order, success }] of Object.entries(operations) as Array<[
  Operation, typeof operations[Operation]
]>) {
  for (const [index, first] of order.slice(0, -1).entries()) {
    const second = order[index + 1] as Refusal
    test(`D-07: ${operation} is refused for ${first} before ${second}`, async (t) => {
      const { send, rowsOf } = await guarded(t)
      const [{ status: both }, { status: one }] = [
        await send(operation, faulty(first, second)),
        await send(operation, { ...faultless, ...refusals[second].defect })
      ]
      t.same([both, one], [refusals[first].status, refusals[second].status])
      t.same(await rowsOf('message'), rows['message'])
      t.equal((await send(operation, faultless)).status, success)
    })
  }

  test(`D-07: ${operation}, when refused, runs no statement but those that its refusal needs`, async (t) => {
    const { send } = await guarded(t)
    const needed: Record<Refusal, number> = {
      browser: 0,
      credentials: 1,
      policy: 1,
      missing: 2,
      owner: 2,
      invalid: ['update', 'update by PATCH', 'delete', 'read'].includes(operation) ? 2 : 1,
      method: 1
    }
    for (const refusal of order) {
      const { status, statements } = await send(operation, { ...faultless, ...refusals[refusal].defect })
      t.equal(status, refusals[refusal].status)
      t.equal(statements.length, needed[refusal], refusal)
      t.ok(statements.every((sql) => sql.startsWith('select')))
    }
    const { statements } = await send(operation, { ...faultless, id: '01' })
    if (order.includes('missing' as never)) {
      t.equal(statements.length, 1, 'a text that is no id needs no look at the table')
    }
  })
}

test('D-07: a body that cannot be read is refused after the owner rule', async (t) => {
  const { app, rowsOf } = await guarded(t)
  const send = async (user: string, payload: string) =>
    (
      await app.inject({ method: 'PUT', url: '/api/message/1/', headers: { authorization: basic(user) }, payload })
    ).statusCode
  t.same([await send('admin', '{'), await send('alice', '{'), await send('alice', '{}')], [403, 400, 200])
  t.same(await rowsOf('message'), rows['message'])
})

test('D-07: under the read-only policy a write is refused before anything is said of records and bodies', async (t) => {
  const { app, get, statements } = await buildApp(t, {
    register: (registry) => { registry.register(Note, { auth: readOnlyAuth() }) }
  })
  for (const [method, url] of [
    ['POST', '/api/note/'], ['POST', '/api/note/?nonsense=1'], ['PUT', '/api/note/99/'], ['PUT', '/api/note/x/'],
    ['DELETE', '/api/note/99/'], ['PATCH', '/api/note/99/']
  ] as const) {
    t.equal((await app.inject({ method, url, payload: '{' })).statusCode, 401, `${method} ${url}`)
  }
  t.same(statements, [])
  t.equal((await get('/api/note/99/')).statusCode, 404)
})
