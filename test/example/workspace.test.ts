import { test, type Test } from 'tap'
import { buildNew, listAll, people, refusals, task, type Records, type Workspace } from '../support/workspace.js'

function valuesOf (records: Records, names: readonly string[]): unknown[][] {
  return records.map((record) => names.map((name) => record[name]))
}

const names = ['company', 'member', 'project', 'task', 'comment', 'audit'] as const

test('a new workspace has two companies, their members, projects, tasks and comments', async (t) => {
  const workspace = await buildNew(t)
  const all = async (path: string): Promise<Records> => await listAll(workspace, path, 'root')
  t.same(await all('company/'), [{ id: 1, name: 'Acme' }, { id: 2, name: 'Globex' }])
  const members = await all('member/')
  t.same(
    valuesOf(members, ['id', 'company_id', 'username', 'role', 'active', 'admin']),
    [
      [1, 1, 'root', 'manager', true, true], [2, 1, 'ann', 'manager', true, false],
      [3, 1, 'art', 'member', true, false], [4, 2, 'gus', 'manager', true, false],
      [5, 2, 'gil', 'member', true, false], [6, 1, 'old', 'member', false, false]
    ]
  )
  t.notOk(members.some((member) => 'password' in member))
  t.same(valuesOf(await all('project/'), ['id', 'company_id', 'name', 'archived']), [
    [1, 1, 'Apollo', false], [2, 1, 'Atlas', false], [3, 1, 'Archive', true],
    [4, 2, 'Apollo', false], [5, 2, 'Gamma', false], [6, 2, 'Glacier', false]
  ])
  await t.test('tasks and comments are counted', async (t) => { await countsTasks(t, workspace, members) })
  t.same(await all('audit/'), [])
})

async function countsTasks (t: Test, workspace: Workspace, members: Records): Promise<void> {
  const tasks = await listAll(workspace, 'task/?limit=100', 'root')
  const comments = await listAll(workspace, 'comment/?limit=100', 'root')
  t.same(tasks.map(({ id }) => id), Array.from({ length: 155 }, (_, index) => task(index + 1)), 'numbered in decimal')
  t.same(tasks.map(({ project_id: project }) => project), [30, 30, 5, 30, 30, 30].flatMap((count, index) =>
    Array.from({ length: count }, () => index + 1)), 'in the order of the projects')
  const companyOf = (member: unknown): unknown => members.find(({ id }) => id === member)?.['company_id']
  for (const [index, count, done, free, discussed] of [
    [1, 30, 10, 10, 10], [2, 30, 10, 10, 10], [3, 5, 1, 2, 5], [4, 30, 10, 10, 10], [5, 30, 10, 10, 10],
    [6, 30, 10, 10, 10]
  ] as const) {
    const own = tasks.filter(({ project_id: project }) => project === index)
    const unassigned = own.filter(({ assignee_id: assignee }) => assignee === null)
    t.same([own.length, own.filter((one) => one['done']).length, unassigned.length], [count, done, free])
    t.notOk(unassigned.some((one) => one['done']))
    const companies = own.map(({ assignee_id: assignee }) => assignee).filter((assignee) => assignee !== null)
      .map(companyOf)
    t.same([...new Set(companies)], [index <= 3 ? 1 : 2], 'assigned within the company')
    const remarks = comments.filter((comment) => own.some(({ id }) => id === comment['task_id']))
    t.equal(remarks.length, discussed * 2)
    t.same([...new Set(remarks.map((comment) => comment['task_id']))], own.slice(0, discussed).map(({ id }) => id))
    t.same([...new Set(remarks.map((comment) => companyOf(comment['author_id'])))], [index <= 3 ? 1 : 2])
  }
}

test('members see their own company, and admins see all', async (t) => {
  const workspace = await buildNew(t)
  const seen = async (as: string): Promise<number[]> => await Promise.all(
    names.slice(0, 5).map(async (name) => (await listAll(workspace, `${name}/?limit=100`, as)).length))
  t.same(await seen('root'), [2, 6, 6, 155, 110])
  for (const as of ['ann', 'art']) t.same(await seen(as), [1, 4, 3, 65, 50], as)
  for (const as of ['gus', 'gil']) t.same(await seen(as), [1, 2, 3, 90, 60], as)
  const { get } = workspace
  for (const path of ['company/2', 'member/4', 'project/4', `task/${task(66)}`, 'comment/51', 'project/999']) {
    t.match((await get(`/api/${path}/`, { as: 'art' })).json(), refusals.absent, path)
    t.equal((await get(`/api/${path}/`, { as: 'root' })).statusCode, path === 'project/999' ? 404 : 200, path)
  }
  t.same(await listAll(workspace, 'task/?project__name=Gamma', 'art'), [])
  t.equal((await listAll(workspace, 'task/?project__name=Apollo', 'gil')).length, 30, 'and not those of Acme')
  t.same(await listAll(workspace, 'comment/?author__username=gus', 'ann'), [])
  t.same(await listAll(workspace, 'member/?company__name=Globex', 'ann'), [])
})

test('members, projects and tasks are searched and counted, within the company', async (t) => {
  const { get } = await buildNew(t)
  const found = async (path: string, as: string): Promise<readonly unknown[]> => {
    const reply = await get(`/api/${path}&count=true&limit=1`, { as })
    return [reply.statusCode, reply.json().meta?.count]
  }
  t.same(await found('member/?search=ann', 'art'), [200, 1])
  t.same(await found('member/?search=GUS', 'art'), [200, 0])
  t.same(await found('project/?search=apollo', 'art'), [200, 1])
  t.same(await found('project/?search=apollo', 'root'), [200, 2])
  t.same(await found('task/?project__name=Archive', 'ann'), [200, 5])
  t.same(await found('task/?assignee__is=notnull&project=1', 'ann'), [200, 20])
  t.same(await found('task/?search=no%20such%20words', 'ann'), [200, 0])
  t.equal((await found('company/?search=a', 'root'))[0], 400)
})

test('nobody reads or writes without a password of an active member', async (t) => {
  const { get, post } = await buildNew(t)
  for (const name of names) {
    for (const options of [{}, { as: ['art', 'wrong'] as const }, { as: 'old' }]) {
      for (const reply of [await get(`/api/${name}/`, options), await post(`/api/${name}/`, {}, options)]) {
        t.strictSame([reply.statusCode, reply.body, reply.headers['www-authenticate'], reply.headers['cache-control']],
          [401, 'Authentication failed', 'Basic realm="Login Required"', 'no-store'])
      }
    }
    t.equal((await get(`/api/${name}/`, { as: 'ann' })).headers['cache-control'], 'no-store')
  }
})

test('only admins write companies, and only managers write members and projects', async (t) => {
  const { get, post, put, delete: remove } = await buildNew(t)
  const company = { name: 'Initech' }
  for (const as of ['ann', 'art', 'gus', 'gil']) {
    t.match((await post('/api/company/', company, { as })).json(), refusals.forbidden)
    t.match((await put('/api/company/1/', company, { as })).json(), refusals.forbidden)
    t.match((await remove('/api/company/1/', { as })).json(), refusals.forbidden)
  }
  t.match((await post('/api/company/', company, { as: 'root' })).json(), { id: 3, name: 'Initech' })
  t.equal((await remove('/api/company/3/', { as: 'root' })).statusCode, 204)

  const member = { username: 'amy', password: 'amy', full_name: 'Amy Abbot' }
  const project = { name: 'Aurora' }
  for (const as of ['art', 'gil']) {
    t.match((await post('/api/member/', member, { as })).json(), refusals.forbidden)
    t.match((await put('/api/member/3/', { full_name: 'x' }, { as })).json(), refusals.forbidden)
    t.match((await post('/api/project/', project, { as })).json(), refusals.forbidden)
    t.match((await remove('/api/project/1/', { as })).json(), refusals.forbidden)
  }
  const amy = await post('/api/member/', { ...member, company: 2 }, { as: 'ann' })
  t.match([amy.statusCode, amy.json()], [201, { company_id: 1, role: 'member', active: true, admin: false }])
  t.equal((await get('/api/project/', { as: 'amy' })).statusCode, 200, 'the new member logs in')
  const faulty = await post('/api/member/', { ...member, username: 'eve', admin: true }, { as: 'ann' })
  t.match([faulty.statusCode, faulty.json().details], [400, [{ field: 'admin', message: 'is set by the server' }]])
  t.equal((await put(`/api/member/${amy.json().id}/`, { admin: true }, { as: 'root' })).statusCode, 400)
  t.match((await put(`/api/member/${amy.json().id}/`, { role: 'manager' }, { as: 'ann' })).json(), { role: 'manager' })
  t.equal((await post('/api/project/', project, { as: 'amy' })).statusCode, 201, 'and is a manager at once')
})

test('only admins change members that are admins', async (t) => {
  const { put, delete: remove, get } = await buildNew(t)
  for (const url of ['/api/member/1/', '/api/member/1']) {
    t.equal((await put(url, { password: 'taken over' }, { as: 'ann' })).statusCode, 403)
    t.equal((await remove(url, { as: 'ann' })).statusCode, 403)
  }
  t.equal((await get('/api/project/', { as: ['root', 'taken over'] })).statusCode, 401)
  t.equal((await put('/api/member/1/', { full_name: 'x' }, { as: 'gus' })).statusCode, 404, 'of another company')
  t.equal((await get('/api/company/', { as: 'root' })).statusCode, 200)
  t.equal((await put('/api/member/1/', { full_name: 'The Root' }, { as: 'root' })).statusCode, 200)
  t.equal((await put('/api/member/3/', { full_name: 'Art' }, { as: 'ann' })).statusCode, 200)
})

test('D-246: managers do not change their own role or company (403), and admins do', async (t) => {
  const { get, put, patch } = await buildNew(t)
  const ann = (await get('/api/member/2/', { as: 'ann' })).json()
  t.match((await put('/api/member/2/', { role: 'member' }, { as: 'ann' })).json(), refusals.forbidden)
  t.match((await patch('/api/member/2/', { role: 'member', full_name: 'A' }, { as: 'ann' })).json(), refusals.forbidden)
  for (const body of [{ company: 2 }, { company_id: 2, full_name: 'A' }, { company: 99 }]) {
    for (const url of ['/api/member/2/', '/api/member/2']) {
      t.match((await put(url, body, { as: 'ann' })).json(), refusals.forbidden)
      t.match((await patch(url, body, { as: 'ann' })).json(), refusals.forbidden)
    }
    t.match((await put('/api/member/3/', body, { as: 'ann' })).json(), { statusCode: 400 }, 'of another member')
  }
  t.match((await put('/api/member/2/', { full_name: '' }, { as: 'ann' })).json(),
    { statusCode: 400, details: [{ field: 'full_name' }] })
  t.same((await put('/api/member/2/', ann, { as: 'ann' })).json(), ann, 'a record is sent back as it was read')
  t.match((await put('/api/member/2/', { ...ann, full_name: 'A' }, { as: 'ann' })).json(), { full_name: 'A' })
  t.match((await put('/api/member/3/', { role: 'manager' }, { as: 'ann' })).json(), { role: 'manager' })
  t.match((await put('/api/member/2/', { role: 'member' }, { as: 'art' })).json(), { role: 'member' })
  t.match((await put('/api/member/1/', { role: 'member' }, { as: 'root' })).json(), { role: 'member' })
  t.match((await put('/api/member/1/', { company: 2 }, { as: 'root' })).json(), { company_id: 2 })
})

test('two projects of one company need different names', async (t) => {
  const { post } = await buildNew(t)
  const taken = await post('/api/project/', { name: 'Apollo' }, { as: 'ann' })
  t.match(taken.json(), { statusCode: 409, details: [{ field: 'company_id' }, { field: 'name' }] })
  t.equal((await post('/api/project/', { name: 'Gamma' }, { as: 'ann' })).statusCode, 201, 'Globex has a Gamma too')
})

test('what the company decides is set by the server, and no record leaves it', async (t) => {
  const { post, put, delete: remove } = await buildNew(t)
  const aurora = await post('/api/project/', { name: 'Aurora', company: 2 }, { as: 'ann' })
  t.match([aurora.statusCode, aurora.json()], [201, { company_id: 1, name: 'Aurora', budget: null, archived: false }])
  const url = `/api/project/${aurora.json().id}/`
  t.equal((await put(url, aurora.json(), { as: 'ann' })).statusCode, 200, 'a record is sent back as it was read')
  const moved = [await put(url, { company: 2 }, { as: 'ann' }), await put(url, { company: 99 }, { as: 'ann' })]
  for (const { statusCode, json } of moved) {
    t.match([statusCode, json().details], [400, [{ field: 'company', message: 'cannot be changed' }]])
  }
  t.match((await put(url, { name: 'mine' }, { as: 'gus' })).json(), refusals.absent)
  t.match((await remove(url, { as: 'gus' })).json(), refusals.absent)
  t.equal((await post('/api/project/', { name: 'Borealis' }, { as: 'root' })).statusCode, 400, 'an admin names one')
  t.match((await post('/api/project/', { name: 'Borealis', company: 2 }, { as: 'root' })).json(), { company_id: 2 })
  t.match((await put(url, { company: 2 }, { as: 'root' })).json(), { company_id: 2 }, 'and moves a project to another')
})

test('every member writes tasks, and refers only to what the company has', async (t) => {
  const { post, put, delete: remove } = await buildNew(t)
  for (const as of people.slice(1)) {
    const [own, other] = as.startsWith('a') ? [[1, 3], [4, 5]] as const : [[4, 5], [1, 3]] as const
    const created = await post('/api/task/', { project: own[0], assignee: own[1], title: 'x' }, { as })
    t.match([created.statusCode, created.json()], [201, { project_id: own[0], assignee_id: own[1], done: false }], as)
    const url = `/api/task/${created.json().id}/`
    for (const [name, value] of [['project', other[0]], ['assignee', other[1]]] as const) {
      const body = { project: own[0], title: 'x', [name]: value }
      const missing = { ...body, [name]: 99 }
      const refused = await post('/api/task/', body, { as })
      t.match([refused.statusCode, refused.json().details], [400, [{ field: `${name}_id` }]], `${as}: ${name}`)
      t.equal(refused.body, (await post('/api/task/', missing, { as })).body, 'in the words of what does not exist')
      t.equal((await put(url, { [name]: value }, { as })).statusCode, 400)
    }
    t.equal((await put(url, { done: true }, { as })).statusCode, 200)
    t.equal((await put(url, { done: false, assignee: null }, { as })).statusCode, 200)
    t.match((await put(`/api/task/${task(as.startsWith('a') ? 66 : 1)}/`, { title: 'y' }, { as })).json(),
      refusals.absent)
    t.equal((await remove(url, { as })).statusCode, 204)
  }
})

test('every member comments, and changes own comments only', async (t) => {
  const { get, post, put, delete: remove } = await buildNew(t)
  for (const as of people) {
    const number = as.startsWith('g') ? 66 : 1
    const created = await post('/api/comment/', { task: task(number), text: 'x', author: 2 }, { as })
    t.match([created.statusCode, created.json()], [201, { author_id: people.indexOf(as) + 1, text: 'x' }], as)
    const url = `/api/comment/${created.json().id}/`
    t.match((await put(url, { text: 'y' }, { as })).json(), { text: 'y' })
    for (const other of people.filter((name) => name !== as)) {
      const isSeen = other === 'root' || other.startsWith('g') === as.startsWith('g')
      const refusal = isSeen ? refusals.forbidden : refusals.absent
      t.match((await put(url, { text: 'z' }, { as: other })).json(), refusal, `${other} on ${as}`)
      t.match((await remove(url, { as: other })).json(), refusal)
    }
    if (as === 'art') t.equal((await remove(url, { as })).statusCode, 204)
  }
  t.equal((await post('/api/comment/', { task: task(66), text: 'x' }, { as: 'art' })).statusCode, 400)
  t.equal((await remove(`/api/task/${task(66)}/`, { as: 'gil' })).statusCode, 204)
  const left = await get(`/api/comment/?task=${task(66)}`, { as: 'root' })
  t.same(left.json().objects, [], 'comments go with their task')
})

test('what others refer to stays, and a member who goes leaves tasks without anybody', async (t) => {
  const { get, post, put, delete: remove } = await buildNew(t)
  for (const [path, as] of [['company/1', 'root'], ['project/1', 'ann'], ['member/3', 'ann']] as const) {
    const refused = await remove(`/api/${path}/`, { as })
    t.match([refused.statusCode, refused.json().code], [409, 'REST_MODELS_STILL_REFERENCED'], path)
  }
  const amy = await post('/api/member/', { username: 'amy', password: 'amy', full_name: 'Amy Abbot' }, { as: 'ann' })
  const url = `/api/task/${task(1)}/`
  t.match((await put(url, { assignee: amy.json().id }, { as: 'art' })).json(), { assignee_id: amy.json().id })
  t.equal((await remove(`/api/member/${amy.json().id}/`, { as: 'gus' })).statusCode, 404)
  t.equal((await remove(`/api/member/${amy.json().id}/`, { as: 'ann' })).statusCode, 204)
  t.match((await get(url, { as: 'art' })).json(), { assignee_id: null })
})

test('managers and admins read the audit, and nobody writes it', async (t) => {
  const { get, post, put, delete: remove } = await buildNew(t)
  for (const as of people) {
    const isReader = as !== 'art' && as !== 'gil'
    t.equal((await get('/api/audit/', { as })).statusCode, isReader ? 200 : 403, as)
    t.equal((await get('/api/audit/1/', { as })).statusCode, isReader ? 404 : 403, as)
    const row = { company: 1, operation: 'create', resource: 'task', record: '1' }
    t.match((await post('/api/audit/', row, { as })).json(), refusals.forbidden, as)
    t.match((await put('/api/audit/1/', row, { as })).json(), refusals.forbidden, as)
    t.match((await remove('/api/audit/1/', { as })).json(), refusals.forbidden, as)
  }
})
