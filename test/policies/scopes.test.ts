import Fastify from 'fastify'
import { sql } from 'kysely'
import { test, type Test } from 'tap'
import restModels, {
  boolean, datetime, defineModel, foreignKey, hostAuth, integer, json, openAuth, password, readOnlyAuth, text, uuid,
  type Field, type Identity, type Model, type ResourceRegistry
} from '../../lib/index.js'
import { openEngine, type Engine } from '../../lib/database/engine.js'
import { Unwritten } from '../../lib/database/explain-failure.js'
import { inTransaction } from '../../lib/database/transaction.js'
import { requirePermittedReferences } from '../../lib/database/permitted-references.js'
import type { ForeignKeyColumn } from '../../lib/model/column.js'
import type { ScopeOf } from '../../lib/model/scope-of.js'
import type { StatementShape } from '../../lib/sql/statements.js'
import { engine } from '../support/database.js'
import { buildApp, type TestApp } from '../support/site.js'

const Company = defineModel('Company', { name: text({ unique: true }), active: boolean({ default: true }) })
const Project = defineModel('Project', {
  company: foreignKey(() => Company), name: text(), rank: integer({ default: 0 }), note: text({ nullable: true })
})
const Task = defineModel('Task', {
  id: uuid(),
  project: foreignKey(() => Project),
  title: text(),
  parent: foreignKey((): Model<'Task', { id: Field<'uuid'> }> => Task, { nullable: true, onDelete: 'cascade' }),
  at: datetime({ default: 'now' })
})
const models = [Company, Project, Task]

interface Member extends Identity {
  readonly company: number
  readonly admin: boolean
}

const taskId = (number: number): string => `00000000-0000-7000-8000-00000000000${number}`
const at = '2026-01-01 00:00:00'
const rows = {
  company: [{ id: 1, name: 'Acme', active: 1 }, { id: 2, name: 'Globex', active: 1 }],
  project: [
    { id: 1, company_id: 1, name: 'Apollo', rank: 1, note: null },
    { id: 2, company_id: 1, name: 'Atlas', rank: 2, note: 'n' },
    { id: 3, company_id: 2, name: 'Gamma', rank: 3, note: null }
  ],
  task: [
    { id: taskId(1), project_id: 1, title: 'a', parent_id: null, at },
    { id: taskId(2), project_id: 3, title: 'b', parent_id: null, at },
    { id: taskId(3), project_id: 1, title: 'c', parent_id: taskId(2), at }
  ]
}

/** Finds the user in a header of an id and a company; company 0 is that of an admin. */
const findMember = ({ headers }: { readonly headers: Readonly<Record<string, unknown>> }): Member | null => {
  const { 'x-user': company } = headers
  return company === undefined || company === 'wrong'
    ? null
    : { id: 1, company: Number(company), admin: company === '0' }
}
const scheme = { type: 'apiKey', in: 'header', name: 'x-user' } as const
const members = hostAuth<Member>(findMember, { protect: 'all', scheme })
const readers = hostAuth<Member>(findMember, { scheme })

const as = (company: number | string) => ({ headers: { 'x-user': String(company) } })
const ids = (answer: { json (): { readonly objects: ReadonlyArray<{ readonly id: unknown }> } }): unknown[] =>
  answer.json().objects.map(({ id }) => id)

async function appOf (t: Test, register: (registry: ResourceRegistry) => void): Promise<TestApp> {
  return await buildApp(t, { models, rows, register })
}

async function tenants (t: Test): Promise<TestApp> {
  return await appOf(t, (registry) => {
    registry.register(Company, { auth: members, scope: (user) => user.admin ? {} : { id: user.company } })
    registry.register(Project, { auth: members, scope: (user) => user.admin ? {} : { company: user.company } })
    registry.register(Task, { auth: members, scope: (user) => user.admin ? {} : { project__company: user.company } })
  })
}

test('D-137: lists leave out what lies outside the scope, and reading, changing and deleting it is 404', async (t) => {
  const { get, put, delete: remove, rowsOf } = await tenants(t)
  t.same(ids(await get('/api/project/', as(1))), [1, 2])
  t.same(ids(await get('/api/project/', as(2))), [3])
  t.same(ids(await get('/api/project/', as(0))), [1, 2, 3])
  t.same(ids(await get('/api/task/?ordering=id', as(1))), [taskId(1), taskId(3)])
  const missing = await get('/api/project/99/', as(1))
  for (const answer of [
    await get('/api/project/3/', as(1)),
    await put('/api/project/3/', { name: 'x' }, as(1)),
    await put('/api/project/3/', {}, as(1)),
    await remove('/api/project/3/', as(1))
  ]) t.same([answer.statusCode, answer.body], [404, missing.body])
  t.equal((await remove(`/api/task/${taskId(2)}/`, as(1))).statusCode, 404)
  t.equal((await get('/api/project/3/', as(2))).statusCode, 200)
  t.equal((await remove(`/api/task/${taskId(3)}/`, as(1))).statusCode, 204)
  t.equal((await rowsOf('project')).length, 3)
  t.equal((await rowsOf('task')).length, 2)
})

test('D-137: a scope costs no statement, but for references on MariaDB', async (t) => {
  const { get, post, put, delete: remove, statements, forget } = await tenants(t)
  const count = async (answer: Promise<{ readonly statusCode: number }>): Promise<number[]> => {
    forget()
    const { statusCode } = await answer
    return [statusCode, statements.length]
  }
  // MariaDB's updates return no row: a transaction reads it.
  const update = engine === 'mariadb' ? 6 : 2
  // A write of MariaDB locks the records that it reads, so the reference is checked before.
  const create = engine === 'mariadb' ? 2 : 1
  t.same(await count(get('/api/task/?project__name=Apollo', as(1))), [200, 1])
  t.same(await count(get(`/api/task/${taskId(1)}/`, as(1))), [200, 1])
  t.same(await count(post('/api/project/', { name: 'x' }, as(1))), [201, 1])
  t.same(await count(post('/api/task/', { title: 'x', project: 1 }, as(1))), [201, create])
  t.same(await count(put(`/api/task/${taskId(1)}/`, { title: 'x', project: 2 }, as(1))), [200, update])
  t.same(await count(remove(`/api/task/${taskId(1)}/`, as(1))), [204, 2])
})

test('D-271: MariaDB checks a reference to a model with a scope by a read before the write', async (t) => {
  const { post, statements, forget } = await tenants(t)
  forget()
  t.equal((await post('/api/task/', { title: 'x', project: 1 }, as(1))).statusCode, 201)
  const [first, second] = engine === 'mariadb' ? ['select', 'insert'] : ['insert']
  t.same(statements.map(({ sql }) => sql.split(' ', 1)[0]), [first, second].filter((verb) => verb !== undefined))
})

test('D-271: such a read finds permitted references alone, and is left out in a transaction', async (t) => {
  const { db } = await tenants(t)
  const opened = await openEngine(db)
  const locking = { ...opened, dialect: { ...opened.dialect, subqueriesLockRows: true } }
  const column = Task.byName.get('project') as ForeignKeyColumn
  const target = { name: 'task', model: Task } as unknown as StatementShape
  const check = async (value: number, inside: Engine = locking) =>
    await requirePermittedReferences(inside, target, [{ column, value, visible: [], required: [] }])
  await t.resolves(check(3))
  t.ok(await check(99).catch((failure: unknown) => failure) instanceof Unwritten)
  await t.resolves(inTransaction(locking, async (executor) => await check(99, { ...locking, executor })))
})

test('D-138: what the scope fixes is set by the server, and cannot be changed', async (t) => {
  const { post, put } = await tenants(t)
  for (const company of [undefined, 1, 2, 99, 'x', null]) {
    const { statusCode, body } = await post('/api/project/', { name: 'x', company }, as(1))
    t.equal(statusCode, 201, body)
    t.equal(JSON.parse(body).company_id, 1)
  }
  t.equal((await post('/api/project/', { name: 'x' }, as(0))).statusCode, 400, 'an admin says which company')
  t.equal((await post('/api/project/', { name: 'x', company: 2 }, as(0))).json().company_id, 2)
  t.equal((await put('/api/project/1/', { company: 1, name: 'y' }, as(1))).statusCode, 200)
  const [exists, missing] = [
    await put('/api/project/1/', { company: 2 }, as(1)), await put('/api/project/1/', { company: 99 }, as(1))
  ]
  t.match(exists.json(), { statusCode: 400, details: [{ field: 'company', message: 'cannot be changed' }] })
  t.equal(exists.body, missing.body)
})

test('D-138: the scope sets fields that are read-only or hidden, null too', async (t) => {
  const { get, post, rowsOf } = await appOf(t, (registry) => {
    registry.register(Project, {
      auth: members,
      exclude: ['company'],
      readOnly: ['company'],
      scope: (user) => ({ company: user.company, note: null })
    })
  })
  t.same(ids(await get('/api/project/', as(1))), [1])
  const created = await post('/api/project/', { name: 'x', note: 'n' }, as(1))
  t.match(created.json(), { id: Number, name: 'x', note: null })
  t.match((await rowsOf('project')).at(-1), { company_id: 1, note: null })
})

test('D-139: a reference leads to a record inside its scope, or is answered as one that does not exist', async (t) => {
  const { post, put, get, rowsOf } = await tenants(t)
  const before = await rowsOf('task')
  const [foreign, missing] = [
    await post('/api/task/', { title: 'x', project: 3 }, as(1)),
    await post('/api/task/', { title: 'x', project: 99 }, as(1))
  ]
  t.match(foreign.json(), { code: 'REST_MODELS_UNKNOWN_REFERENCE', details: [{ field: 'project_id' }] })
  t.equal(foreign.statusCode, 400)
  t.equal(foreign.body, missing.body)
  const url = `/api/task/${taskId(1)}/`
  t.equal((await put(url, { project: 3 }, as(1))).body, (await put(url, { project: 99 }, as(1))).body)
  t.equal((await put(url, { parent: taskId(2) }, as(1))).statusCode, 400)
  t.same(await rowsOf('task'), before)
  const hidden = await get(`/api/task/${taskId(3)}/`, as(1))
  t.equal(hidden.json().parent_id, taskId(2), 'the value is shown as it is stored')
  t.equal((await put(`/api/task/${taskId(3)}/`, hidden.json(), as(1))).statusCode, 200, 'and may be sent back')
  t.same(ids(await get('/api/task/?parent__title=b', as(1))), [], 'but nothing behind it is found')
  t.same(ids(await get('/api/task/?parent__parent__is=null', as(1))), [])
  t.same(ids(await get(`/api/task/?parent=${taskId(2)}`, as(1))), [taskId(3)])
})

const Node = defineModel('Node', {
  id: text({ maxLength: 40 }),
  company: integer({ default: 1 }),
  parent: foreignKey((): Model<'Node', { id: Field<'text'> }> => Node),
  note: text({ default: '' })
})

test('D-139: a new record may refer to itself if it lies inside the scope, otherwise it is 403', async (t) => {
  const { post, rowsOf } = await buildApp(t, {
    models: [Node],
    register: (registry) => {
      const register = (path: string, scope: (user: Member) => ScopeOf<typeof Node>) =>
        registry.register(Node, { auth: members, path, scope })
      register('node', (user) => user.admin ? {} : { company: user.company })
      register('free', () => ({}))
      register('several', (user) => ({ company__in: [user.company, 3] }))
      register('through', (user) => ({ parent__company: user.company, parent__parent__note__ne: 'x' }))
      registry.register(Node, {
        auth: members,
        path: 'hooked',
        readOnly: ['note'],
        scope: () => ({ parent__note: 'set' }),
        beforeWrite: ({ values }) => ({ note: values.company === 1 ? 'set' : 'other' })
      })
    }
  })
  const create = async (path: string, id: string, others: object = {}, user = 1) =>
    (await post(`/api/${path}/`, { id, parent: id, ...others }, as(user))).statusCode
  t.equal(await create('node', 'a'), 201)
  t.equal(await create('node', 'b', {}, 0), 201, 'somebody who sees all')
  for (const path of ['free', 'several', 'through', 'hooked']) {
    t.equal(await create(path, path), 201, path)
    t.equal(await create(path, `${path}2`, { company: 2 }), 403, `${path}: outside`)
  }
  t.equal(await create('through', 'c', { note: 'x' }), 403)
  t.same((await rowsOf('node')).map((row) => (row as { id: string }).id).sort(),
    ['a', 'b', 'free', 'hooked', 'several', 'through'])
  t.equal(await create('node', 'a', {}, 2), 409, 'a taken key is told')
  t.equal(await create('node', 'd', { parent: 'a' }, 2), 400, 'other records must be seen')
})

test('D-139: of a taken value and a reference outside the scope the taken value is told', async (t) => {
  const Badge = defineModel('Badge', { code: text({ unique: true }), project: foreignKey(() => Project) })
  const { post } = await buildApp(t, {
    models: [...models, Badge],
    rows: { ...rows, badge: [{ id: 1, code: 'a', project_id: 1 }] },
    register: (registry) => {
      registry.register(Project, { auth: members, scope: (user) => ({ company: user.company }) })
      registry.register(Badge, { auth: members })
    }
  })
  t.match((await post('/api/badge/', { code: 'a', project: 3 }, as(1))).json(), { statusCode: 409 })
  t.match((await post('/api/badge/', { code: 'b', project: 3 }, as(1))).json(), { statusCode: 400 })
})

test('T-122: a reference outside the scope tells nothing of what is unique behind it', async (t) => {
  const Sheet = defineModel('Sheet', { project: foreignKey(() => Project), title: text() }, {
    unique: [['project', 'title']]
  })
  const Plan = defineModel('Plan', {
    project: foreignKey(() => Project, { unique: true }), code: text({ unique: true })
  })
  const { post, put, rowsOf } = await buildApp(t, {
    models: [...models, Sheet, Plan],
    rows: {
      ...rows,
      sheet: [{ id: 1, project_id: 1, title: 'Layoffs' }, { id: 2, project_id: 3, title: 'Layoffs' }],
      plan: [{ id: 1, project_id: 1, code: 'a' }, { id: 2, project_id: 3, code: 'b' }]
    },
    register: (registry) => {
      registry.register(Project, { auth: members, scope: (user) => ({ company: user.company }) })
      registry.register(Sheet, { auth: members, scope: (user) => ({ project__company: user.company }) })
      registry.register(Plan, {
        auth: members, scope: (user) => ({ project__company: user.company, project__rank__lt: 3 })
      })
    }
  })
  const before = [await rowsOf('sheet'), await rowsOf('plan')]
  const bodyOf = async (answer: Promise<{ readonly statusCode: number, readonly body: string }>) => {
    const { statusCode, body } = await answer
    return [statusCode, body]
  }
  for (const [path, body] of [['sheet', { title: 'Layoffs' }], ['plan', { code: 'c' }]] as const) {
    const missing = await bodyOf(post(`/api/${path}/`, { ...body, project: 99 }, as(1)))
    t.equal(missing[0], 400)
    t.same(await bodyOf(post(`/api/${path}/`, { ...body, project: 3 }, as(1))), missing)
    t.same(await bodyOf(put(`/api/${path}/1/`, { project: 3 }, as(1))), missing, 'an update')
  }
  t.equal((await post('/api/sheet/', { title: 'Layoffs', project: 1 }, as(1))).statusCode, 409, 'inside it is told')
  t.match((await post('/api/plan/', { code: 'a', project: 3 }, as(1))).json(), { details: [{ field: 'code' }] },
    'and so is what is unique without the reference')
  t.equal((await post('/api/plan/', { code: 'c', project: 3 }, as(2))).statusCode, 403, 'the scope, not the reference')
  t.same([await rowsOf('sheet'), await rowsOf('plan')], before)
})

test('D-140: a record that would lie outside the scope is 403, and nothing is stored', async (t) => {
  const { post, put, rowsOf, statements, forget } = await appOf(t, (registry) => {
    registry.register(Project, {
      auth: members, scope: (user) => ({ company__in: [user.company, 2], rank__lt: 5, name__ne: 'forbidden' })
    })
    registry.register(Task, { auth: members, scope: () => ({ project__rank__lte: 2 }) })
  })
  const before = [await rowsOf('project'), await rowsOf('task')]
  const forbidden = async (answer: Promise<{ readonly statusCode: number, readonly body: string }>) => {
    const { statusCode, body } = await answer
    t.equal(statusCode, 403, body)
  }
  await forbidden(post('/api/project/', { name: 'x', company: 1, rank: 7 }, as(1)))
  await forbidden(post('/api/project/', { name: 'forbidden', company: 1 }, as(1)))
  await forbidden(put('/api/project/1/', { rank: 9 }, as(1)))
  await forbidden(put('/api/project/1/', { company: 1, name: 'forbidden' }, as(1)))
  await forbidden(post('/api/task/', { title: 'x', project: 3 }, as(1)))
  await forbidden(put(`/api/task/${taskId(1)}/`, { project: 3 }, as(1)))
  t.same([await rowsOf('project'), await rowsOf('task')], before)
  forget()
  t.equal((await post('/api/project/', { name: 'x', company: 2, rank: 4 }, as(1))).statusCode, 201)
  t.equal(statements.filter(({ sql }) => !/^(begin|commit)/.test(sql)).length, 2, 'one more statement, which checks')
  t.equal((await put('/api/project/1/', { rank: 2 }, as(1))).json().rank, 2)
  t.equal((await put(`/api/task/${taskId(1)}/`, { project: 2 }, as(1))).statusCode, 200)
})

test('D-140: values alone tell that a record would lie outside: lists, null and the key', async (t) => {
  const { post, put, statements, forget } = await appOf(t, (registry) => {
    registry.register(Project, { auth: members, scope: () => ({ name: ['a', 'b'], note__is: null, company__in: [1] }) })
    registry.register(Company, { auth: members, scope: (user) => ({ id: user.company }) })
    registry.register(Task, { auth: members, scope: () => ({ id: [taskId(1), taskId(3)], parent__title: 'b' }) })
  })
  forget()
  t.equal((await post('/api/project/', { name: 'c' }, as(1))).statusCode, 403)
  t.equal((await post('/api/task/', { title: 'x', project: 1, parent: taskId(2) }, as(1))).statusCode, 403)
  t.equal(statements.length, 0)
  t.equal((await post('/api/project/', { name: 'a' }, as(1))).statusCode, 201)
  t.equal((await post('/api/company/', { name: 'c' }, as(1))).statusCode, 403)
  t.equal((await put(`/api/task/${taskId(3)}/`, { parent: null }, as(1))).statusCode, 403)
  t.equal((await put(`/api/task/${taskId(3)}/`, { title: 'y' }, as(1))).statusCode, 200)
})

test('D-141: null in place of the object is no record, {} is all, and null as a value is "is null"', async (t) => {
  const { get, post } = await appOf(t, (registry) => {
    registry.register(Project, { auth: members, scope: (user) => user.admin ? {} : null })
    registry.register(Project, { auth: members, path: 'unnoted', scope: () => ({ note: null }) })
    registry.register(Project, { auth: members, path: 'empty', scope: () => ({ company: [] }) })
    registry.register(Task, { auth: members })
  })
  t.same(ids(await get('/api/project/', as(1))), [])
  t.equal((await get('/api/project/1/', as(1))).statusCode, 404)
  t.same(ids(await get('/api/project/', as(0))), [1, 2, 3])
  t.same(ids(await get('/api/unnoted/', as(1))), [1, 3])
  t.same(ids(await get('/api/empty/', as(1))), [])
  t.same(ids(await get('/api/task/?project__name=Apollo', as(1))), [], 'as the first resource shows projects')
  t.equal((await post('/api/task/', { title: 'x', project: 1 }, as(1))).statusCode, 400)
  t.equal((await post('/api/task/', { title: 'x', project: 1 }, as(0))).statusCode, 201)
})

test('D-141: null means that a field has no value, also in a field that holds JSON', async (t) => {
  const Draft = defineModel('Draft', {
    body: json({ nullable: true }), twin: foreignKey((): Model => Draft, { nullable: true })
  })
  const { get } = await buildApp(t, {
    models: [Draft],
    rows: {
      draft: [
        { id: 1, body: null, twin_id: null }, { id: 2, body: '{}', twin_id: 1 }, { id: 3, body: '{}', twin_id: 2 }
      ]
    },
    register: (registry) => {
      registry.register(Draft, { auth: members, scope: () => ({ body: null }) })
        .register(Draft, { path: 'twin', auth: members, scope: () => ({ twin__body: null }) })
    }
  })
  t.same(ids(await get('/api/draft/', as(1))), [1])
  t.same(ids(await get('/api/twin/', as(1))), [2])
})

test('D-141: a scope may use every operator, several values, and fields that are hidden', async (t) => {
  const scopes: ReadonlyArray<readonly [scope: Record<string, unknown>, found: readonly number[]]> = [
    [{ rank__gt: 1, rank__lte: 3 }, [2, 3]], [{ rank: [1, 3] }, [1, 3]], [{ rank__ne: 2 }, [1, 3]],
    [{ rank__ne: [1, 2] }, [3]], [{ name__like: 'A%' }, [1, 2]], [{ name__ilike: ['%mm%', 'AT%'] }, [2, 3]],
    [{ note__is: 'notnull' }, [2]], [{ company__name__is: 'notnull', rank: 3 }, [3]],
    [{ note__is: null }, [1, 3]], [{ company__active: true, rank__in: [3] }, [3]],
    [{ company__active__is: true, rank__in: [3] }, [3]], [{ company__name: 'Globex' }, [3]],
    [{ company_id: 2 }, [3]], [Object.assign(Object.create(null), { rank__lt: 2 }), [1]],
    [{ id: Array.from({ length: 200 }, (_, index) => index + 2) }, [2, 3]]
  ]
  for (const [scope, found] of scopes) {
    const { get, put } = await appOf(t, (registry) => {
      registry.register(Project, { auth: members, exclude: ['rank'], scope: () => scope as {} })
    })
    t.same(ids(await get('/api/project/', as(1))), found, JSON.stringify(scope).slice(0, 60))
    for (const id of [1, 2, 3]) {
      const status = found.includes(id) ? 200 : 404
      t.equal((await get(`/api/project/${id}/`, as(1))).statusCode, status)
      const changed = scope['note__is'] === null && status === 200 ? 400 : status
      t.equal((await put(`/api/project/${id}/`, { note: 'x' }, as(1))).statusCode, changed)
    }
  }
})

test('D-170: a scope that asks for any value fixes none, and a write must give one', async (t) => {
  const { post, put, rowsOf, statements, forget } = await appOf(t, (registry) => {
    registry.register(Project, { auth: members, scope: () => ({ note__is: 'notnull' }) })
  })
  const before = await rowsOf('project')
  forget()
  t.equal((await post('/api/project/', { name: 'x', company: 1 }, as(1))).statusCode, 403)
  t.equal((await post('/api/project/', { name: 'x', company: 1, note: null }, as(1))).statusCode, 403)
  t.equal(statements.length, 0, 'the values alone tell')
  t.equal((await put('/api/project/2/', { note: null }, as(1))).statusCode, 403)
  t.same(await rowsOf('project'), before)
  t.equal((await put('/api/project/2/', { note: 'other' }, as(1))).json().note, 'other')
  t.equal((await post('/api/project/', { name: 'x', company: 1, note: 'notnull' }, as(1))).json().note, 'notnull')
})

test('D-142: three lists of 16,384 values are answered', async (t) => {
  const id = Array.from({ length: 16_384 }, (_, index) => index + 1)
  const { get } = await appOf(t, (registry) => {
    registry.register(Project, { auth: members, scope: () => ({ id, company: id, company__id__in: id }) })
  })
  t.equal((await get('/api/project/2/', as(1))).statusCode, 200)
  t.ok((await get('/api/project/', as(1))).json().objects.length > 0)
})

test('D-142: a list of 2,000 patterns or bounds is answered', async (t) => {
  const patterns = Array.from({ length: 2000 }, (_, index) => `${index}%`)
  const bounds = Array.from({ length: 2000 }, (_, index) => index + 10)
  const { get, put } = await appOf(t, (registry) => {
    registry.register(Project, {
      auth: members,
      scope: () => ({ name__like: [...patterns, '%'], name__ilike: [...patterns, '%'], rank__lt: bounds })
    })
  })
  t.equal((await get('/api/project/2/', as(1))).statusCode, 200)
  t.ok((await get('/api/project/', as(1))).json().objects.length > 0)
  t.equal((await put('/api/project/2/', { note: 'x' }, as(1))).statusCode, 200)
})

const wrongScopes: ReadonlyArray<readonly [scope: () => unknown, log: RegExp]> = [
  [() => ({ company: undefined }), /'Project' gives undefined for 'company'/],
  [() => ({ compnay: 1 }), /'compnay'.*did you mean 'company'/],
  [() => ({ company: '1' }), /wrong type for 'company'/],
  [() => ({ id: Array.from({ length: 16_385 }, (_, index) => index) }), /gives more than 16384 values for 'id'/],
  [() => ({ company: [1, null] }), /gives a list with null for 'company', which must be /],
  [() => ({ name: 5 }), /wrong type for 'name'/],
  [() => ({ rank__ne: [] }), /wrong type for 'rank__ne'/],
  [() => ({ rank__in: 1 }), /wrong type for 'rank__in'/],
  [() => ({ name__like: 'a\\' }), /wrong type for 'name__like'/],
  [() => ({ note__is: 'null' }), /wrong type for 'note__is', which must be null or the text 'notnull'/],
  [() => ({ note__is: 'NOTNULL' }), /wrong type for 'note__is'/],
  [() => ({ company__active__is: 'true' }), /'company__active__is', which must be null, 'notnull', true or false/],
  [() => ({ name__like: 5 }), /wrong type for 'name__like', which must be a pattern/],
  [() => ({ rank__in: 1 }), /wrong type for 'rank__in', which must be a list, and each value in it/],
  [() => ({ company__active__like: 'a' }), /'active' does not have the operator 'like'/],
  [() => ({ company__active__near: 'a' }), /'active' does not have the operator 'near'/],
  [() => ({ company__near: 'a' }), /which leads to no field/],
  [() => undefined, /must return an object/],
  [async () => ({}), /must return an object/],
  [() => [], /must return an object/],
  [() => { throw new Error('no tenant') }, /scope of model 'Project' failed/]
]

test('D-142: a wrong scope is a 500 that the log explains, on every operation, and no row is shown', async (t) => {
  for (const [scope, log] of wrongScopes) {
    const lines: string[] = []
    const { get, post, put, delete: remove, rowsOf } = await buildApp(t, {
      models,
      rows,
      server: { logger: { stream: { write: (line: string) => { lines.push(line) } } } },
      register: (registry) => {
        registry.register(Project, { auth: members, scope: scope as () => {} })
        registry.register(Task, { auth: members })
      }
    })
    const before = await rowsOf('project')
    for (const answer of [
      await get('/api/project/', as(1)), await get('/api/project/1/', as(1)), await post('/api/project/', {}, as(1)),
      await put('/api/project/1/', { name: 'x' }, as(1)), await remove('/api/project/1/', as(1)),
      await get('/api/task/?project__name=Apollo', as(1)), await post('/api/task/', { project: 1, title: 'x' }, as(1))
    ]) t.match(answer.json(), { statusCode: 500, code: 'REST_MODELS_INTERNAL' })
    t.same(await rowsOf('project'), before)
    t.match(lines.join(''), log)
  }
})

test('D-139: a trigger that drops a write in silence is a 409, although its references are right', async (t) => {
  const { db, post } = await tenants(t)
  // Only SQLite's triggers can drop a write without a word.
  if (engine === 'sqlite') {
    await sql`create trigger quiet before insert on task begin select raise(ignore); end`.execute(db)
  }
  const { statusCode } = await post('/api/task/', { title: 'x', project: 1 }, as(1))
  t.equal(statusCode, engine === 'sqlite' ? 409 : 201)
})

test("D-142: 'scope' must be a function", async (t) => {
  await t.rejects(appOf(t, (registry) => { registry.register(Project, { scope: {} as never }) }), {
    code: 'REST_MODELS_INVALID_OPTIONS', message: /'scope' of resource 'Project' must be a function/
  })
})

test('D-143: where an operation is open, credentials that are sent decide what is seen', async (t) => {
  const { get, post } = await appOf(t, (registry) => {
    registry.register(Project, {
      auth: readers, scope: (user) => user === null ? { rank: 1 } : user.admin ? {} : { company: user.company }
    })
  })
  const nobody = await get('/api/project/')
  t.same(ids(nobody), [1])
  t.equal(nobody.headers['cache-control'], 'no-store')
  t.same(ids(await get('/api/project/', as(2))), [3])
  t.equal((await get('/api/project/', as('wrong'))).statusCode, 401)
  t.equal((await get('/api/project/1/', as('wrong'))).statusCode, 401)
  t.equal((await get('/api/project/2/')).statusCode, 404)
  t.equal((await post('/api/project/', { name: 'x' })).statusCode, 401)
})

test('D-143: a policy that knows no users calls no credentials wrong', async (t) => {
  for (const auth of [readOnlyAuth(), openAuth()]) {
    const { get } = await appOf(t, (registry) => {
      registry.register(Project, { auth, scope: (user) => user === null ? { rank: 1 } : {} })
    })
    const answer = await get('/api/project/', { headers: { authorization: 'Basic YWxpY2U6YQ==' } })
    t.equal(answer.statusCode, 200)
    t.same(ids(answer), [1])
    t.equal(answer.headers['cache-control'], 'no-store')
  }
})

test('D-142: a scope or a verdict that is a promise is a mistake, and its rejection ends nothing', async (t) => {
  const fails = async (): Promise<never> => { throw new Error('late') }
  const { get, post } = await appOf(t, (registry) => {
    registry.register(Project, { auth: readers, scope: fails as never })
    registry.register(Company, { auth: hostAuth(() => ({ id: 1 }), { permits: fails as never }) })
  })
  t.equal((await get('/api/project/', as(2))).statusCode, 500)
  t.equal((await post('/api/company/', { name: 'x' })).statusCode, 403)
  const { get: getScoped } = await appOf(t, (registry) => {
    registry.register(Project, { auth: readers, scope: () => ({ id: fails(), name: fails() }) as never })
  })
  t.equal((await getScoped('/api/project/', as(2))).statusCode, 500)
  await new Promise((resolve) => { setImmediate(resolve) })
})

test('D-143: credentials are looked for where the scheme says', async (t) => {
  for (const [place, headers] of [
    ['cookie', { cookie: 'a=b; session=x' }], ['header', { session: 'x' }],
    ['http', { authorization: 'Bearer x' }], [undefined, { authorization: 'x' }]
  ] as const) {
    const { get } = await appOf(t, (registry) => {
      registry.register(Project, {
        auth: hostAuth<Member>(() => null, {
          ...(place !== undefined && {
            scheme: place === 'http'
              ? { type: 'http', scheme: 'bearer' }
              : { type: 'apiKey', in: place, name: 'session' }
          })
        }),
        scope: () => ({ rank: 1 })
      })
    })
    t.equal((await get('/api/project/1/', { headers })).statusCode, 401, String(place))
    t.equal((await get('/api/project/1/', { headers: { cookie: 'sessions=x' } })).statusCode, 200)
  }
})

test('D-144: the scope of a related model is that of the same users, or of nobody', async (t) => {
  const others = hostAuth<Member>(({ headers }) => findMember({ headers }), { protect: 'all', scheme })
  const { get, post } = await appOf(t, (registry) => {
    registry.register(Company, { auth: members, scope: (user) => ({ id: user.company }) })
    registry.register(Project, { auth: readers, scope: (user) => user === null ? { rank: 1 } : {} })
    registry.register(Task, { auth: others })
    registry.register(Project, { auth: others, path: 'others' })
  })
  t.equal((await post('/api/task/', { title: 'x', project: 1 }, as(1))).statusCode, 201, 'nobody sees this project')
  t.equal((await post('/api/task/', { title: 'x', project: 2 }, as(1))).statusCode, 400, 'and not that one')
  t.same(ids(await get('/api/task/?project__name__like=%25', as(1))).length, 3)
  t.equal((await post('/api/others/', { name: 'x', company: 1 }, as(1))).statusCode, 400, 'nobody may list companies')
})

test('D-144: an open list finds the users of related scopes only if it has a scope itself', async (t) => {
  for (const scope of [undefined, () => ({})]) {
    const { get } = await appOf(t, (registry) => {
      registry.register(Project, { auth: readers, scope: (user) => user === null ? { rank: 1 } : {} })
      registry.register(Task, { auth: readers, ...scope && { scope } })
    })
    const seen = async (options?: object): Promise<unknown> =>
      (await get('/api/task/?include=project&ordering=project_id', options)).json().objects.map(
        ({ project }: { readonly project: { readonly id: number } | null }) => project?.id)
    const all = scope === undefined ? [1, 1, undefined] : [1, 1, 3]
    t.same([await seen(), await seen(as(1))], [[1, 1, undefined], all])
    t.equal((await get('/api/task/', as('wrong'))).statusCode, scope === undefined ? 200 : 401)
  }
})

test('D-144: an open list forgets the user whom a guard of the host has found before all routes', async (t) => {
  const strangers = hostAuth<Member>(({ headers }) => findMember({ headers }), { protect: 'all', scheme })
  const { db } = await buildApp(t, { models, rows, register: (registry) => { registry.register(Company) } })
  const app = Fastify()
  await app.register(restModels, { db })
  app.restModels.register(Company, { auth: strangers })
    .register(Project, { auth: readers, scope: (user) => user === null ? { rank: 1 } : {} })
    .register(Task, { auth: readers })
  await app.restModels.setup()
  for (const hook of app.restModels.guard(Company, 'list')) app.addHook('preHandler', hook)
  const get = async (url: string, options?: object) => await app.inject({ url, ...options })
  const { objects } = (await get('/api/task/?include=project&ordering=project_id', as(1))).json()
  const seen = objects.map(({ project }: { readonly project: { readonly id: number } | null }) => project?.id)
  t.same(seen, [1, 1, undefined])
  t.same(ids(await get('/api/task/?project__rank=3', as(1))), [])
  t.equal((await get('/api/task/')).statusCode, 401, 'the guard is in force')
  await app.close()
})

test('D-145: a related model is seen as its first registered resource shows it', async (t) => {
  const { get } = await appOf(t, (registry) => {
    registry.register(Project, { auth: members, exclude: ['rank'] })
    registry.register(Project, { auth: hostAuth(() => null), path: 'second', exclude: ['name'], scope: () => null })
    registry.register(Task, { auth: members })
  })
  t.equal((await get('/api/task/?project__name=Apollo', as(1))).statusCode, 200)
  t.equal((await get('/api/task/?project__rank=1', as(1))).statusCode, 400)
  t.equal(ids(await get('/api/task/?project__name=Apollo', as(1))).length, 2)
})

test('D-146: owners and scopes together: 404 before 403, and the owner is set beside the scope', async (t) => {
  const Person = defineModel('Person', { company: foreignKey(() => Company), password: password() })
  const Post = defineModel('Post', {
    author: foreignKey(() => Person), company: foreignKey(() => Company), text: text()
  })
  const auth = hostAuth<Member>(({ headers }) => {
    const [id, company] = String(headers['x-user']).split(' ').map(Number)
    return { id: id!, company: company!, admin: false }
  }, { protect: 'all', scheme, users: Person })
  const { post, put, delete: remove } = await buildApp(t, {
    models: [Company, Person, Post],
    rows: {
      company: rows.company,
      person: [1, 2, 3].map((id) => ({ id, company_id: id === 3 ? 2 : 1, password: '' })),
      post: [1, 2, 3].map((id) => ({ id, author_id: id, company_id: id === 3 ? 2 : 1, text: 'x' }))
    },
    register: (registry) => {
      registry.register(Post, {
        auth, ownerField: 'author', scope: (user) => ({ company: user.company, author__company: user.company })
      })
    }
  })
  t.equal((await put('/api/post/3/', { text: 'y' }, as('1 1'))).statusCode, 404)
  t.equal((await put('/api/post/2/', { text: 'y' }, as('1 1'))).statusCode, 403)
  t.equal((await put('/api/post/1/', { text: 'y' }, as('1 1'))).statusCode, 200)
  const created = await post('/api/post/', { text: 'y', author: 3, company: 2 }, as('1 1'))
  t.match(created.json(), { author_id: 1, company_id: 1 })
  t.equal((await post('/api/post/', { text: 'y' }, as('3 1'))).statusCode, 403, 'an author of another company')
  t.equal((await remove('/api/post/2/', as('1 1'))).statusCode, 403)
  t.equal((await remove('/api/post/1/', as('1 1'))).statusCode, 204)
})
