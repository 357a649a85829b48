import { setTimeout } from 'node:timers/promises'
import type { LightMyRequestResponse } from 'fastify'
import { test } from 'tap'
import { engine, openUrl } from '../support/database.js'
import { buildNew, listAll, refusals, task, type Workspace } from '../support/workspace.js'

const url = (number: number): string => `/api/task/${task(number)}/`
const ifMatch = (tag: unknown) => ({ headers: { 'if-match': String(tag) } })
const own = '01890a5d-ac96-774b-bcce-b302099a8057'

const unassigned = {
  statusCode: 400,
  code: 'REST_MODELS_INVALID_RECORD',
  details: [{ field: 'assignee_id', message: 'must be set before the task is done' }]
}
const archived = {
  statusCode: 400,
  code: 'REST_MODELS_INVALID_RECORD',
  details: [{ field: 'project_id', message: 'must not lead to an archived project' }]
}

function countOf (replies: readonly LightMyRequestResponse[], status: number): number {
  return replies.filter(({ statusCode }) => statusCode === status).length
}

/** Rows of the audit: who did which operation on which record, and for which company. */
async function auditOf (workspace: Workspace): Promise<unknown[][]> {
  return (await listAll(workspace, 'audit/?ordering=id&limit=100', 'root')).map((row) =>
    ['member_id', 'operation', 'resource', 'record', 'company_id'].map((name) => row[name]))
}

test('a task is done only if it is assigned', async (t) => {
  const workspace = await buildNew(t)
  const { get, post, put, patch, delete: remove } = workspace
  const as = 'art'
  for (const body of [{ done: true }, { done: true, assignee: null }]) {
    t.match((await post('/api/task/', { project: 1, title: 'x', ...body }, { as })).json(), unassigned)
  }
  t.match((await put(url(1), { done: true }, { as })).json(), unassigned, 'nobody has the first task')
  t.match((await patch(url(3), { assignee: null }, { as })).json(), unassigned, 'the third is done')
  t.match((await put(url(3), { assignee: null, done: false }, { as })).json(), { assignee_id: null, done: false })
  t.match((await put(url(3), { assignee: 3, done: true }, { as })).json(), { assignee_id: 3, done: true })
  t.match((await put(url(2), { done: true }, { as })).json(), { done: true })
  t.equal((await post('/api/task/', { project: 1, title: 'x', done: true, assignee: 2 }, { as })).statusCode, 201)

  const amy = await post('/api/member/', { username: 'amy', password: 'amy', full_name: 'Amy' }, { as: 'ann' })
  await put(url(3), { assignee: amy.json().id }, { as })
  t.equal((await remove(`/api/member/${amy.json().id}/`, { as: 'ann' })).statusCode, 204)
  t.match((await get(url(3), { as })).json(), { assignee_id: null, done: true })
  t.match((await put(url(3), { title: 'y' }, { as })).json(), unassigned, 'the record as it would be stored')
  t.equal((await remove(url(3), { as })).statusCode, 204, 'it can be deleted')
})

test('an archived project takes no new tasks, and its tasks can be edited', async (t) => {
  const { post, put, patch, delete: remove } = await buildNew(t)
  for (const as of ['root', 'ann', 'art']) {
    t.match((await post('/api/task/', { project: 3, title: 'x' }, { as })).json(), archived, as)
    t.match((await put(url(1), { project: 3 }, { as })).json(), archived, 'none is moved into it')
  }
  t.match((await post('/api/task/', { project: 3, title: 'x' }, { as: 'gil' })).json(),
    { statusCode: 400, code: 'REST_MODELS_UNKNOWN_REFERENCE' }, 'other companies do not learn that it is archived')
  t.match((await patch(url(61), { title: 'x' }, { as: 'art' })).json(), { title: 'x', project_id: 3 })
  t.match((await put(url(61), { title: 'y', project: 3 }, { as: 'art' })).json(), { title: 'y', project_id: 3 })
  t.match((await put(url(61), { project: 2 }, { as: 'art' })).json(), { project_id: 2 }, 'moved out of it')
  t.match((await put(url(61), { project: 3 }, { as: 'art' })).json(), archived)
  t.equal((await remove(url(62), { as: 'art' })).statusCode, 204)
  t.equal((await put('/api/project/3/', { archived: false }, { as: 'ann' })).statusCode, 200)
  t.equal((await post('/api/task/', { project: 3, title: 'x' }, { as: 'art' })).statusCode, 201)
})

test('no task is created in a project, or moved into it, after it was archived', async (t) => {
  const workspace = await buildNew(t)
  const { post, put } = workspace
  const writes = Array.from({ length: 20 }, async (_, index) => index % 2 === 0
    ? await post('/api/task/', { project: 1, title: 'x' }, { as: 'art' })
    : await put(url(31 + index), { project: 1 }, { as: 'art' }))
  const archive = put('/api/project/1/', { archived: true }, { as: 'ann' })
  const more = Array.from({ length: 20 }, async () =>
    await post('/api/task/', { project: 1, title: 'x' }, { as: 'art' }))
  t.equal((await archive).statusCode, 200)
  const replies = await Promise.all([...writes, ...more])
  for (const reply of replies) if (reply.statusCode >= 400) t.match(reply.json(), archived)
  const written = countOf(replies, 201) + countOf(replies, 200)
  t.equal((await listAll(workspace, 'task/?project=1&limit=100', 'art')).length, 30 + written)
  const operations = (await auditOf(workspace)).map(([, , resource]) => resource)
  t.same(operations, [...Array.from({ length: written }, () => 'task'), 'project'], 'the archive is the last write')
  t.match((await post('/api/task/', { project: 1, title: 'x' }, { as: 'art' })).json(), archived)
})

test('a task waits until somebody else has archived its project', async (t) => {
  if (engine === 'sqlite') {
    t.pass('SQLite has one writer at a time')
    return
  }
  const { post, put, url: database } = await buildNew(t)
  const db = openUrl(database)
  t.teardown(async () => { await db.destroy() })
  const waiting = await db.transaction().execute(async (transaction) => {
    await transaction.selectFrom('project').select('id').where('id', '=', 1).forUpdate().execute()
    const archived = engine === 'postgres' ? true : 1
    await transaction.updateTable('project').set({ archived }).where('id', '=', 1).execute()
    const writes = [
      post('/api/task/', { project: 1, title: 'x' }, { as: 'art' }), put(url(31), { project: 1 }, { as: 'art' })
    ]
    await setTimeout(300)
    return { writes }
  })
  for (const reply of await Promise.all(waiting.writes)) t.match(reply.json(), archived)
})

test('the audit has who created, changed and deleted projects, tasks and comments', async (t) => {
  const workspace = await buildNew(t)
  const { get, post, put, patch, delete: remove } = workspace
  const project = `/api/project/${(await post('/api/project/', { name: 'P' }, { as: 'ann' })).json().id}/`
  const projectId = project.split('/')[3]
  await put(project, { name: 'Q' }, { as: 'root' })
  await post('/api/task/', { id: own.toUpperCase(), project: 4, title: 'x' }, { as: 'gil' })
  await patch(`/api/task/${own}/`, { title: 'y' }, { as: 'gus' })
  const comment = (await post('/api/comment/', { task: own, text: 'x' }, { as: 'gil' })).json()
  await put(`/api/comment/${comment.id}/`, { text: 'y' }, { as: 'gil' })
  await remove(`/api/comment/${comment.id}/`, { as: 'gil' })
  await post('/api/comment/', { task: own, text: 'goes with its task' }, { as: 'gus' })
  await put(`/api/task/${own}/`, { project: Number(projectId) }, { as: 'root' })
  await remove(`/api/task/${own}/`, { as: 'art' })
  await remove(project, { as: 'ann' })
  const [next] = (await auditOf(workspace)).slice(7, 8)
  t.same(await auditOf(workspace), [
    [2, 'create', 'project', projectId, 1], [1, 'update', 'project', projectId, 1],
    [5, 'create', 'task', own, 2], [4, 'update', 'task', own, 2],
    [5, 'create', 'comment', String(comment.id), 2], [5, 'update', 'comment', String(comment.id), 2],
    [5, 'delete', 'comment', String(comment.id), 2], [4, 'create', 'comment', next?.[3], 2],
    [1, 'update', 'task', own, 1], [3, 'delete', 'task', own, 1], [2, 'delete', 'project', projectId, 1]
  ])
  const [row] = (await get('/api/audit/?ordering=id&limit=1', { as: 'ann' })).json().objects
  t.match(row.at, /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/)
  t.ok(Math.abs(Date.parse(`${row.at}Z`) - Date.now()) < 60_000, 'in UTC')
  t.same((await listAll(workspace, 'audit/', 'ann')).map(({ company_id: company }) => company), [1, 1, 1, 1, 1])
  t.equal((await listAll(workspace, 'audit/?resource=task', 'gus')).length, 2)
  t.match((await get('/api/audit/?include=member,company&limit=1', { as: 'gus' })).json().objects,
    [{ member: { username: 'gil' }, company: { name: 'Globex' } }])
})

test('nothing is audited if nothing is written', async (t) => {
  const workspace = await buildNew(t)
  const { get, post, put, delete: remove } = workspace
  const stored = (await get(url(1), { as: 'art' })).json()
  const project = (await get('/api/project/1/', { as: 'ann' })).json()
  for (const [status, reply] of [
    [200, await put(url(1), {}, { as: 'art' })],
    [200, await put(url(1), stored, { as: 'art' })],
    [200, await put('/api/project/1/', project, { as: 'ann' })],
    [400, await put(url(1), { done: true }, { as: 'art' })],
    [400, await put(url(1), { project: 3 }, { as: 'art' })],
    [400, await post('/api/task/', { project: 3, title: 'x' }, { as: 'art' })],
    [400, await post('/api/task/', { project: 1 }, { as: 'art' })],
    [403, await post('/api/project/', { name: 'x' }, { as: 'art' })],
    [403, await put('/api/comment/1/', { text: 'x' }, { as: 'root' })],
    [404, await remove(url(1), { as: 'gil' })],
    [409, await post('/api/task/', { id: task(1), project: 1, title: 'x' }, { as: 'art' })],
    [409, await post('/api/project/', { name: 'Apollo' }, { as: 'ann' })],
    [409, await remove('/api/project/1/', { as: 'ann' })],
    [412, await put(url(1), { title: 'x' }, { as: 'art', ...ifMatch('"x"') })],
    [412, await remove(url(1), { as: 'art', ...ifMatch('"x"') })],
    [200, await put('/api/member/3/', { full_name: 'x' }, { as: 'ann' })]
  ] as const) t.equal(reply.statusCode, status, reply.body)
  t.same(await auditOf(workspace), [])
  t.same((await get(url(1), { as: 'art' })).json(), stored)
})

test('of twenty who write one task with one tag, one succeeds', async (t) => {
  const workspace = await buildNew(t)
  const { get, put } = workspace
  const read = await get(url(2), { as: 'art' })
  const tag = ifMatch(read.headers.etag)
  const writers = Array.from({ length: 20 }, async (_, index) =>
    await put(url(2), { title: `title ${index}` }, { as: index % 2 === 0 ? 'art' : 'ann', ...tag }))
  const replies = await Promise.all(writers)
  t.same([countOf(replies, 200), countOf(replies, 412)], [1, 19])
  t.equal((await auditOf(workspace)).length, 1)
  const winner = replies.find(({ statusCode }) => statusCode === 200)
  const now = await get(url(2), { as: 'art' })
  t.same([now.body, now.headers.etag], [winner?.body, winner?.headers.etag])
  const unchanged = await get(url(2), { as: 'ann', headers: { 'if-none-match': String(now.headers.etag) } })
  t.equal(unchanged.statusCode, 304)
  const refused = await put(url(2), { title: 5 }, { as: 'art', ...tag })
  t.equal(refused.json().code, 'REST_MODELS_PRECONDITION_FAILED', 'before the 400 of the body')
})

test('a task has the id that its client chose, once, and the moment of its last change', async (t) => {
  const { get, post, put } = await buildNew(t)
  const body = { id: own.toUpperCase(), project: 1, title: 'x' }
  const created = await post('/api/task/', body, { as: 'art' })
  t.match([created.statusCode, created.headers.location, created.json().id], [201, `/api/task/${own}/`, own])
  for (const as of ['art', 'ann']) {
    t.match((await post('/api/task/', body, { as })).json(), { statusCode: 409, details: [{ field: 'id' }] })
  }
  t.match((await post('/api/task/', { ...body, project: 4 }, { as: 'gil' })).json(), { details: [{ field: 'id' }] })
  const before = (await get(url(2), { as: 'art' })).json()
  t.equal(before.updated_at, before.created_at)
  const after = (await put(url(2), { title: 'x' }, { as: 'art' })).json()
  t.ok(after.updated_at > before.updated_at)
  t.equal(after.created_at, before.created_at)
  t.match((await put(url(2), { updated_at: before.updated_at }, { as: 'art' })).json(),
    { statusCode: 400, details: [{ field: 'updated_at' }] })
})

test('what a task refers to is included', async (t) => {
  const { get } = await buildNew(t)
  for (const as of ['root', 'ann', 'art']) {
    const query = '?include=project,assignee,project__company&project=1&ordering=id&limit=2'
    const [first, second] = (await get(`/api/task/${query}`, { as })).json().objects
    t.match(first, { id: task(1), project: { name: 'Apollo', company: { name: 'Acme' } }, assignee: null })
    t.match(second, { assignee: { username: 'art', full_name: 'Art Atkins' } })
    t.notOk('password' in second.assignee)
  }
  const hidden = await get(`/api/task/${task(66)}/?include=project`, { as: 'art' })
  t.match(hidden.json(), refusals.absent)
  t.equal((await get('/api/audit/?include=member', { as: 'art' })).statusCode, 403)
})
