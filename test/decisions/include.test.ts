import { test, type Test } from 'tap'
import {
  defineModel, foreignKey, hostAuth, integer, json, openAuth, text, uuid, type Field, type Identity, type Model
} from '../../lib/index.js'
import { sqliteDialect } from '../../lib/engines/sqlite/dialect.js'
import type { ForeignKeyColumn } from '../../lib/model/column.js'
import { IncludedRecords } from '../../lib/resource/included-records.js'
import { buildApp, type BuildOptions, type TestApp } from '../support/site.js'

/** No resource at all. */
const Vault = defineModel('Vault', { code: text() })
const Company = defineModel('Company', {
  name: text(), secret: text({ nullable: true }), vault: foreignKey(() => Vault, { nullable: true })
})
/** A resource whose lists are protected. */
const Diary = defineModel('Diary', { entry: text() })
const Person = defineModel('Person', {
  company: foreignKey(() => Company, { nullable: true }),
  name: text(),
  boss: foreignKey((): Model => Person, { nullable: true }),
  hidden: foreignKey(() => Company, { nullable: true }),
  diary: foreignKey(() => Diary, { nullable: true }),
  extra: json({ nullable: true })
})
const Task = defineModel('Task', {
  id: uuid(),
  owner: foreignKey(() => Person, { nullable: true }),
  title: text(),
  parent: foreignKey((): Model<'Task', { id: Field<'uuid'> }> => Task, { nullable: true }),
  include: integer({ nullable: true })
})

const taskId = (number: number): string => `00000000-0000-7000-8000-00000000000${number}`
const rows = {
  vault: [{ id: 7, code: 'vault secret' }],
  company: [
    { id: 1, name: 'Acme', secret: 'acme secret', vault_id: 7 }, { id: 2, name: 'Globex', secret: null, vault_id: null }
  ],
  diary: [{ id: 1, entry: 'diary secret' }],
  person: [
    { id: 1, company_id: 1, name: 'Ann "A"', boss_id: null, hidden_id: 2, diary_id: 1, extra: '{"a":[1]}' },
    { id: 2, company_id: 2, name: 'Gus', boss_id: 1, hidden_id: 1, diary_id: null, extra: null },
    { id: 3, company_id: null, name: 'Zoe', boss_id: 2, hidden_id: null, diary_id: null, extra: null }
  ],
  task: [
    { id: taskId(1), owner_id: 1, title: 'one', parent_id: null, include: 1 },
    { id: taskId(2), owner_id: 2, title: 'two', parent_id: taskId(1), include: 2 },
    { id: taskId(3), owner_id: null, title: 'three', parent_id: taskId(2), include: null },
    { id: taskId(4), owner_id: 3, title: 'four', parent_id: taskId(3), include: 1 }
  ]
}

interface Member extends Identity { readonly company: number }
const findMember = ({ headers }: { readonly headers: Readonly<Record<string, unknown>> }): Member | null =>
  headers['x-user'] === undefined ? null : { id: 1, company: Number(headers['x-user']) }
const members = hostAuth<Member>(findMember)
const as = (company: number) => ({ headers: { 'x-user': String(company) } })
const strangers = hostAuth(() => null, { protect: 'all' })

const models = [Vault, Company, Diary, Person, Task]

async function build (t: Test, options: BuildOptions = {}): Promise<TestApp> {
  return await buildApp(t, {
    models,
    rows,
    register: (registry) => {
      registry.register(Company, { auth: openAuth(), exclude: ['secret'] })
      registry.register(Diary, { auth: strangers })
      registry.register(Person, { auth: openAuth(), exclude: ['hidden'] })
      registry.register(Person, { auth: openAuth(), exclude: ['name', 'company'], path: 'anybody' })
      registry.register(Task, { auth: openAuth() })
    },
    ...options
  })
}

const invalid = 'REST_MODELS_INVALID_INCLUDE'
const ann = '{"id":1,"company_id":1,"name":"Ann \\"A\\"","boss_id":null,"diary_id":1,"extra":{"a":[1]}}'
const acme = '{"id":1,"name":"Acme","vault_id":7}'
const objectsOf = (body: string): string => body.slice(body.indexOf('"objects":') + '"objects":'.length, -1)

test('D-161: a related record is what the first resource of its model shows, behind its key', async (t) => {
  const { get } = await build(t)
  const one = `{"id":"${taskId(1)}","owner_id":1,"owner":${ann},"title":"one","parent_id":null,"include":1}`
  const answer = await get(`/api/task/${taskId(1)}/?include=owner`)
  t.equal(answer.body, one)
  t.equal(answer.headers['content-type'], (await get(`/api/task/${taskId(1)}/`)).headers['content-type'])
  t.equal(objectsOf((await get('/api/task/?include=owner&include__eq=1&title=one')).body), `[${one}]`)
  t.equal((await get('/api/company/1/?include=vault')).body, '{"id":1,"name":"Acme","vault_id":7,"vault":{"id":7}}')
  t.equal((await get('/api/anybody/2/?include=boss')).body,
    `{"id":2,"boss_id":1,"boss":${ann},"hidden_id":1,"diary_id":null,"extra":null}`)
  t.equal((await get('/api/anybody/1/?include=hidden,boss')).body,
    '{"id":1,"boss_id":null,"boss":null,"hidden_id":2,"hidden":{"id":2,"name":"Globex","vault_id":null},' +
    '"diary_id":1,"extra":{"a":[1]}}')
})

test('D-161: a path brings those before it, also in circles; null behind a reference that is null', async (t) => {
  const { get } = await build(t)
  const withCompany = ann.replace('"company_id":1', `"company_id":1,"company":${acme}`)
  const person = (name: string): string => `/api/person/${name}`
  t.equal((await get(person('2/?include=boss__company'))).body,
    `{"id":2,"company_id":2,"name":"Gus","boss_id":1,"boss":${withCompany},"diary_id":null,"extra":null}`)
  t.equal((await get(person('2/?include=boss,boss__company,boss'))).body,
    (await get(person('2/?include=boss__company'))).body)
  t.match((await get(person('3/?include=boss__boss__boss,company'))).json(), {
    company: null, boss: { id: 2, boss: { id: 1, boss_id: null, boss: null } }
  })
  t.match((await get('/api/task/?ordering=-title&include=owner__company,parent__parent')).json().objects, [
    { id: taskId(2), owner: { company: { name: 'Globex' } }, parent: { id: taskId(1), parent: null } },
    { id: taskId(3), owner: null, parent: { id: taskId(2), parent: { id: taskId(1), parent_id: null } } },
    { id: taskId(1), owner: { company: { name: 'Acme' } }, parent: null },
    { id: taskId(4), owner: { company: null }, parent: { title: 'three' } }
  ])
})

test('D-161: a foreign key may be called as what every object has', async (t) => {
  const Odd: Model = defineModel('Odd', {
    constructor: foreignKey((): Model => Odd, { nullable: true }),
    toString: foreignKey((): Model => Odd, { nullable: true }),
    valueOf: foreignKey(() => Vault, { nullable: true })
  })
  const { get } = await buildApp(t, {
    models: [Vault, Odd],
    rows: {
      vault: rows.vault,
      odd: [
        { id: 1, constructor_id: null, toString_id: null, valueOf_id: 7 },
        { id: 2, constructor_id: 1, toString_id: 1, valueOf_id: null }
      ]
    },
    register: (registry) => registry.register(Odd)
  })
  const one = '{"id":1,"constructor_id":null,"toString_id":null,"valueOf_id":7}'
  t.equal((await get('/api/odd/2/?include=constructor')).body,
    `{"id":2,"constructor_id":1,"constructor":${one},"toString_id":1,"valueOf_id":null}`)
  t.equal((await get('/api/odd/1/?include=valueOf')).body, `${one.slice(0, -1)},"valueOf":{"id":7}}`)
  t.equal(objectsOf((await get('/api/odd/?include=toString__valueOf&id=2')).body),
    '[{"id":2,"constructor_id":1,"toString_id":1,"toString":' +
    `${one.slice(0, -1)},"valueOf":{"id":7}},"valueOf_id":null}]`)
})

test('D-162: what cannot be included is refused in the same words, whatever the reason', async (t) => {
  const { get } = await build(t)
  for (const [resource, path] of [
    ['person', 'nothing'], ['person', 'hidden'], ['person', 'diary'], ['person', 'name'], ['person', 'id'],
    ['person', 'company_id'], ['person', 'company,'], ['person', ' company'], ['person', 'Company'],
    ['task', 'owner__hidden'], ['task', 'owner__diary'], ['task', 'owner__nothing'], ['task', 'owner__name'],
    ['company', 'vault__code'], ['person', 'toString'], ['person', '__proto__']
  ] as const) {
    for (const url of [`/api/${resource}/`, `/api/${resource}/${resource === 'task' ? taskId(1) : 1}/`]) {
      const answer = await get(`${url}?include=${encodeURIComponent(path)}`)
      const { statusCode, code, message, details } = answer.json()
      t.same([statusCode, code, message], [400, invalid, "Invalid 'include'"], `${resource} ${path}`)
      t.same(details, [{
        field: 'include',
        message: 'must be foreign keys by their declared names, separated by commas; ' +
          `'${path === 'company,' ? '' : path}' is not one that this resource can include` +
          (/company/i.test(path) && path !== 'company,' ? ", did you mean 'company'?" : '')
      }], `${resource} ${path}`)
    }
  }
})

test('D-162: a resource without foreign keys answers in the same way', async (t) => {
  const { get } = await buildApp(t, { rows: { note: [{ id: 1, message: 'a', created: '2024-01-01 00:00:00' }] } })
  for (const url of ['/api/note/', '/api/note/1/']) {
    t.equal((await get(`${url}?include=user`)).json().code, invalid)
    t.equal((await get(`${url}?include=`)).statusCode, 200)
  }
})

test('D-162: models that only some users may list can be included by these', async (t) => {
  const some = hostAuth<Member>(findMember, {
    protect: 'all', permits: ({ company }, operation) => operation !== 'list' || company === 1
  })
  const { get } = await build(t, {
    register: (registry) => { registry.register(Diary, { auth: some }).register(Person, { auth: some }) }
  })
  t.match((await get('/api/person/1/?include=diary', as(1))).json(), { diary: { id: 1, entry: 'diary secret' } })
  t.equal((await get('/api/person/1/?include=diary', as(2))).json().code, invalid)
})

test('D-163: related records share the limits of the joins of filters; a path of both counts once', async (t) => {
  const { get } = await build(t, { options: { limits: { joins: 2, totalJoins: 3 } } })
  const tooMuch = async (query: string, message: string): Promise<void> => {
    const { statusCode, code, details } = (await get(`/api/task/?${query}`)).json()
    t.same([statusCode, code, details], [400, 'REST_MODELS_TOO_MUCH', [{ field: 'include', message }]], query)
  }
  const deep = (name: string): string => `follows more than 2 foreign keys in '${name}'`
  await tooMuch('include=owner__boss__company', deep('owner__boss__company'))
  await tooMuch('include=owner__nothing__nothing', deep('owner__nothing__nothing'))
  const many = 'needs more than 3 joins in all, with those of the filters'
  await tooMuch('include=owner__company,parent__owner', many)
  await tooMuch('include=owner__company,parent&parent_id__owner__name=a', many)
  for (const query of [
    'include=owner__company,parent', 'include=owner__company,parent&owner_id__company__name=Acme&parent__title=one',
    'include=owner__company&parent__title=one'
  ]) t.equal((await get(`/api/task/?${query}`)).statusCode, 200, query)
  t.equal((await get(`/api/task/${taskId(1)}/?include=owner__company,parent__owner`)).json().code,
    'REST_MODELS_TOO_MUCH')
})

test('D-163: a statement has no more columns than every engine can give', async (t) => {
  const numbers = Object.fromEntries(
    Array.from({ length: 400 }, (_number, index) => [`n${index}`, integer({ nullable: true })]))
  const Wide: Model = defineModel('Wide', {
    left: foreignKey((): Model => Wide, { nullable: true }),
    right: foreignKey((): Model => Wide, { nullable: true }),
    ...numbers
  })
  const { get } = await buildApp(t, {
    models: [Wide],
    rows: { wide: [{ id: 1, left_id: 1, right_id: 1 }] },
    register: (registry) => registry.register(Wide, { auth: openAuth() })
  })
  for (const path of ['/api/wide/', '/api/wide/1/']) {
    t.equal((await get(`${path}?include=left,right`)).statusCode, 200)
    const { statusCode, body } = await get(`${path}?include=left__left,right`)
    t.equal(statusCode, 400)
    t.match(JSON.parse(body), {
      code: 'REST_MODELS_TOO_MUCH', details: [{ field: 'include', message: 'needs more than 1600 columns in all' }]
    })
  }
})

test('D-163: the most joins that limits may permit are answered on each engine', async (t) => {
  const Node: Model = defineModel('Node', { next: foreignKey((): Model => Node, { nullable: true }) })
  const { get } = await buildApp(t, {
    models: [Node],
    rows: { node: [{ id: 1, next_id: 1 }] },
    options: { limits: { joins: 25, totalJoins: 25 } },
    register: (registry) => registry.register(Node, { auth: openAuth() })
  })
  const path = Array.from({ length: 25 }, () => 'next').join('__')
  const { statusCode, body } = await get(`/api/node/?include=${path}&${path}__id=1`)
  t.equal(statusCode, 200)
  t.equal(body.match(/"next":\{/g)?.length, 25)
})

test('D-163: joins of scopes do not count', async (t) => {
  const { get } = await build(t, {
    options: { limits: { joins: 1, totalJoins: 1 } },
    register: (registry) => {
      registry.register(Person, { auth: members, scope: () => ({ boss__boss__company__name: 'Acme' }) })
      registry.register(Task, { auth: openAuth(), scope: () => ({ owner__company__name__ne: 'x' }) })
    }
  })
  t.match((await get('/api/task/?include=owner')).json().objects, [{ owner: null }, { owner: null }])
  t.match((await get('/api/person/?include=boss', as(1))).json().objects, [])
})

test('D-164: empty is absent, twice is refused; links repeat the parameter', async (t) => {
  const { get } = await build(t)
  const plain = await get('/api/task/?limit=2')
  t.same((await get('/api/task/?include=&limit=2')).body, plain.body)
  for (const url of ['/api/task/', `/api/task/${taskId(1)}/`]) {
    const { code, details } = (await get(`${url}?include=owner&include=`)).json()
    t.same([code, details], [invalid, [{ field: 'include', message: 'must be given once' }]])
  }
  const { next } = (await get('/api/task/?limit=2&include=owner,parent')).json().meta
  t.equal(next, '/api/task/?limit=2&page=2&include=owner%2Cparent')
  const { meta: { previous }, objects } = (await get(next)).json()
  t.equal(previous, '/api/task/?limit=2&page=1&include=owner%2Cparent')
  t.match(objects, [{ owner: null }, { owner: { id: 3 } }])
  const counted = (await get('/api/task/?limit=1&include=owner&count=true&parent__title__ne=x')).json()
  t.match([counted.meta.count, counted.objects], [3, [{ owner: { id: 2 } }]])
})

test('D-164: pages behind a cursor have related records, in any ordering', async (t) => {
  const { get } = await build(t)
  const whole = (await get('/api/task/?include=owner__boss,parent&ordering=-include,title')).json().objects
  t.equal(whole.length, 4)
  let next = '/api/task/?after=&limit=1&include=owner__boss,parent&ordering=-include,title'
  const found: unknown[] = []
  while (next !== '') {
    const { meta, objects } = (await get(next)).json()
    found.push(...objects)
    next = meta.next
    t.ok(next === '' || next.includes('&include=owner__boss%2Cparent'))
  }
  t.strictSame(found, whole)
})

test('D-165: a read takes no other parameter, and a missing record is 404 first', async (t) => {
  const { get, post, put, delete: remove } = await build(t)
  const codeOf = async (url: string): Promise<unknown> => (await get(url)).json().code
  t.equal(await codeOf('/api/person/1/?include=boss&limit=1'), 'REST_MODELS_UNKNOWN_PARAMETER')
  t.equal(await codeOf('/api/person/1/?name=1'), 'REST_MODELS_UNKNOWN_PARAMETER')
  t.equal(await codeOf(`/api/person/1/?include=${'boss,'.repeat(2000)}`), 'REST_MODELS_QUERY_TOO_LONG')
  t.equal(await codeOf('/api/person/1/?include=%ff'), 'REST_MODELS_INVALID_QUERY')
  for (const query of ['include=nothing', 'include=boss', 'name=1', '&']) {
    t.equal(await codeOf(`/api/person/9/?${query}`), 'REST_MODELS_RECORD_NOT_FOUND', query)
  }
  t.equal((await get('/api/person/1/?&')).body, ann)
  for (const answer of [
    await post('/api/person/?include=boss', { name: 'a' }), await put('/api/person/1/?include=boss', {}),
    await remove('/api/person/1/?include=boss')
  ]) t.equal(answer.json().code, 'REST_MODELS_UNKNOWN_PARAMETER')
})

test('D-165: HEAD answers as GET does', async (t) => {
  const { app, get } = await build(t)
  for (const url of ['/api/task/?include=owner', `/api/task/${taskId(1)}/?include=owner`]) {
    const { headers: { date: _date, ...headers } } = await app.inject({ method: 'HEAD', url })
    const { headers: { date, ...expected } } = await get(url)
    t.same(headers, expected)
    t.ok(date)
  }
})

interface SeenTask {
  readonly title: string
  readonly owner: { readonly name: string, readonly company: { readonly name: string } | null } | null
  readonly parent: { readonly title: string } | null
}

test('D-166: a related record outside its scope is null, for each user', async (t) => {
  const { get } = await build(t, {
    register: (registry) => {
      registry.register(Company, { auth: members, scope: (user) => user === null ? { id: 2 } : { id: user.company } })
      registry.register(Person, { auth: members, scope: (user) => ({ company__name__in: user ? ['Acme', 'x'] : [] }) })
      registry.register(Task, { auth: members, scope: (user) => user === null ? {} : { title__ne: 'one' } })
      registry.register(Task, { auth: openAuth(), path: 'open' })
    }
  })
  const see = async (url: string, company?: number): Promise<unknown> => {
    const { objects } = (await get(url, company === undefined ? {} : as(company))).json()
    return objects.map(({ title, owner, parent }: SeenTask) =>
      [title, owner && [owner.name, owner.company?.name], parent?.title])
  }
  const url = '/api/task/?ordering=title&include=owner__company,parent'
  t.strictSame(await see(url, 1), [
    ['four', null, 'three'], ['three', null, 'two'], ['two', null, undefined]
  ])
  const nobody = [['four', null, 'three'], ['one', null, undefined], ['three', null, 'two'], ['two', null, 'one']]
  t.strictSame(await see(url), nobody)
  t.strictSame(await see(url.replace('task', 'open'), 1), nobody, 'another policy: the user is a stranger')
  const boss = '/api/person/?include=company,boss'
  t.match((await get(boss, as(1))).json().objects, [{ id: 1, company: { id: 1 }, boss: null }])
  t.match((await get(boss, as(2))).json().objects, [{ id: 1, company: null, boss: null }])
  t.match((await get('/api/person/1/?include=company', as(2))).json(), { company_id: 1, company: null })
})

const long = 'x'.repeat(3000)

/** Tasks whose owners have long names, on pages that have room for two of them. */
async function buildLong (t: Test): Promise<TestApp> {
  return await build(t, {
    rows: {
      ...rows,
      person: rows.person.map((person) => ({ ...person, name: `${person.name}${long}` })),
      task: rows.task.map((task) => ({ ...task, owner_id: 1 }))
    },
    options: { limits: { pageBytes: 7000 } }
  })
}

test('D-167: long related values count among the bytes of a page', async (t) => {
  const { get, statements, forget } = await buildLong(t)
  t.equal((await get('/api/task/')).json().objects.length, 4)
  forget()
  const { meta: { next }, objects } = (await get('/api/task/?include=owner&after=')).json()
  t.equal(statements.length, 2, 'as for long values of the record itself')
  t.equal(objects.length, 2)
  t.match(objects, [{ owner: { name: `Ann "A"${long}` } }, { owner: { name: `Ann "A"${long}` } }])
  const others = (await get(next)).json()
  t.equal(others.objects.length, 2)
  forget()
  t.equal((await get(`/api/task/${taskId(1)}/?include=owner`)).json().owner.name, `Ann "A"${long}`)
  t.equal(statements.length, 1)
})

test('D-167: the long values are read of the records of the page alone, whatever is sorted for it', async (t) => {
  const { get, statements, forget } = await buildLong(t)
  for (const pages of ['page=1', 'after=']) {
    const titles: string[] = []
    for (let next = `/api/task/?ordering=title&include=owner&limit=2&title__ne=x&${pages}`; next !== '';) {
      forget()
      const { meta, objects } = (await get(next)).json()
      titles.push(...objects.map(({ title }: { readonly title: string }) => title))
      const ids: readonly string[] = objects.map(({ id }: { readonly id: string }) => id)
      const [, { parameters } = { parameters: [] }] = statements
      t.strictSame(parameters.filter((value) => String(value).startsWith('00000000-')), ids)
      t.ok(objects.every(({ owner }: { readonly owner: { readonly name: string } }) => owner.name.endsWith(long)))
      next = meta.next
    }
    t.strictSame(titles, ['four', 'one', 'three', 'two'])
  }
})

test('D-168: a field that is called include is filtered as include__eq', async (t) => {
  const { get } = await build(t)
  t.match((await get('/api/task/?include__eq=2')).json().objects, [{ id: taskId(2) }])
  t.equal((await get('/api/task/?include=2')).json().code, invalid)
})

test('D-165: a hook that fails behind an answer with related records is answered as any failure', async (t) => {
  const { get } = await build(t, {
    prepare: (app) => {
      app.addHook('preSerialization', async (request) => {
        if (request.url.includes('include')) throw Object.assign(new Error('refused'), { statusCode: 418 })
      })
    },
    undocumented: 'a hook of the host answers'
  })
  const answer = await get('/api/task/?include=owner')
  t.equal(answer.statusCode, 418)
  t.match(answer.json(), { message: 'refused' })
})

test('D-252: layouts of records with related records are kept for the paths that were last asked for', (t) => {
  const { columns, name } = Person
  const limits = { pageBytes: 1000, count: 10, statementTime: 1000 }
  const keys = columns.map(({ key }) => key)
  const base = { name, model: Person, visible: columns, searched: [], keys, long: [], limits }
  const records = new IncludedRecords(base, columns, sqliteDialect, new Map())
  const column = columns.find(({ field }) => field === 'boss') as ForeignKeyColumn
  const layoutOf = (path: string) => records.layoutOf([
    { path, alias: 'i1', from: 'base', column, visible: columns, scope: [] }
  ])
  const first = layoutOf('path 0')
  for (let number = 1; number < 32; number++) t.not(layoutOf(`path ${number}`), first)
  t.equal(layoutOf('path 0'), first)
  layoutOf('path 32')
  t.equal(layoutOf('path 0'), first)
  for (let number = 33; number < 65; number++) layoutOf(`path ${number}`)
  t.not(layoutOf('path 0'), first)
  t.end()
})

test('D-252: each set of paths gets its own records, however often they change', async (t) => {
  const { get } = await build(t)
  const paths = ['owner', 'owner__company', 'owner__boss', 'parent', 'parent__owner', 'parent__owner__company']
  const sets = paths.flatMap((one) => paths.map((other) => [...new Set([one, other])].join()))
  const answers = new Map<string, string>()
  for (const set of [...sets, ...sets]) {
    const { body } = await get(`/api/task/?include=${set}`)
    t.equal(answers.get(set) ?? body, body, set)
    answers.set(set, body)
  }
  // Their order changes nothing, and five pairs say no more than the longer path of the two.
  t.equal(new Set(answers.values()).size, answers.size - paths.length * (paths.length - 1) / 2 - 5)
})

test('D-164: a missing record is 404, whatever its query', async (t) => {
  const { get } = await build(t)
  for (const query of ['include=', 'include=nothing', 'include=owner', 'other=1']) {
    t.equal((await get(`/api/task/${taskId(9)}/?${query}`)).statusCode, 404, query)
  }
})

test('D-162: a wrong name is compared with some of very many', async (t) => {
  const names = Array.from({ length: 7 }, (_, index) => `link${index}`)
  const Node = defineModel('Node', Object.fromEntries(
    names.map((name) => [name, foreignKey((): Model => Node, { nullable: true })])))
  const { get } = await buildApp(t, { models: [Node], register: (registry) => { registry.register(Node) } })
  const answer = await get('/api/node/?include=link0__link1,lnk6')
  t.match(answer.json(), { statusCode: 400, code: invalid })
})
