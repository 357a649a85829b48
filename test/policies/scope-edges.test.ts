// @servers: scopes are conditions in SQL

import { sql } from 'kysely'
import { test, type Test } from 'tap'
import {
  bigint, boolean, date, datetime, decimal, defineModel, foreignKey, hostAuth, integer, key, number, text, uuid,
  type Field, type Identity, type Model
} from '../../lib/index.js'
import { engine } from '../support/database.js'
import { buildApp } from '../support/site.js'

const Company = defineModel('Company', { name: text({ unique: true }), active: boolean({ default: true }) })
const Project = defineModel('Project', {
  company: foreignKey(() => Company), name: text(), rank: integer({ default: 0 }), secret: text({ default: 's' })
})
const Task = defineModel('Task', {
  id: uuid(),
  project: foreignKey(() => Project),
  title: text(),
  parent: foreignKey((): Model<'Task', { id: Field<'uuid'> }> => Task, { nullable: true })
})

interface Member extends Identity { readonly company: number, readonly admin: boolean }

const rows = {
  company: [{ id: 1, name: 'Acme', active: 1 }, { id: 2, name: 'Globex', active: 1 }],
  project: [
    { id: 1, company_id: 1, name: 'Apollo', rank: 1, secret: 's' },
    { id: 2, company_id: 1, name: 'Atlas', rank: 2, secret: 's' },
    { id: 3, company_id: 2, name: 'Gamma', rank: 3, secret: 's' }
  ],
  task: [
    { id: '00000000-0000-7000-8000-000000000001', project_id: 1, title: 'a', parent_id: null },
    { id: '00000000-0000-7000-8000-000000000002', project_id: 3, title: 'b', parent_id: null }
  ]
}

const members = hostAuth<Member>(({ headers }) => {
  const { 'x-user': user } = headers
  if (typeof user !== 'string') return null
  const [id, company] = user.split(' ').map(Number)
  return { id: id!, company: company!, admin: company === 0 }
}, { protect: 'all', scheme: { type: 'apiKey', in: 'header', name: 'x-user' } })

const as = (company: number) => ({ headers: { 'x-user': `1 ${company}` } })

test('a reference to a record that everybody sees, but that leads out of the scope, is a 403', async (t) => {
  const { post, put, rowsOf } = await buildApp(t, {
    models: [Company, Project],
    rows: { company: rows.company, project: rows.project },
    undocumented: 'scopes with references',
    register: (registry) => {
      registry.register(Company, { auth: members })
      registry.register(Project, { auth: members, scope: () => ({ company__name: 'Acme' }) })
    }
  })
  t.equal((await post('/api/project/', { company: 2, name: 'x' }, as(1))).statusCode, 403)
  t.equal((await put('/api/project/1/', { company: 2 }, as(1))).statusCode, 403)
  t.equal((await post('/api/project/', { company: 99, name: 'x' }, as(1))).statusCode, 400)
  t.equal((await rowsOf('project')).length, 3)
  t.equal((await post('/api/project/', { company: 1, name: 'x' }, as(1))).statusCode, 201)
})

test('scopes take moments, days, bigints and decimals as texts, and no Date, bigint or number for them', async (t) => {
  const Sale = defineModel('Sale', { at: datetime(), day: date(), size: bigint(), cost: decimal() })
  const scopes: Readonly<Record<string, object>> = {
    texts: {
      at__gte: '2026-01-01 10:00:00', day: '2026-01-01', size__gt: '9007199254740992', cost__lte: '12.5'
    },
    moment: { at: '2026-01-01T11:00:00+01:00' },
    later: { day__gt: '2026-01-01' },
    larger: { size__gt: '9007199254740993' },
    at: { at__lt: new Date() },
    day: { day__lt: new Date() },
    size: { size__gt: 1n },
    cost: { cost__gt: 1 }
  }
  const { get } = await buildApp(t, {
    models: [Sale],
    rows: { sale: [{ id: 1, at: '2026-01-01 10:00:00', day: '2026-01-01', size: '9007199254740993', cost: '12.50' }] },
    undocumented: 'scopes with values of each kind',
    register: (registry) => {
      for (const [path, scope] of Object.entries(scopes)) {
        registry.register(Sale, { path, auth: members, scope: () => scope as never })
      }
    }
  })
  const found = Object.keys(scopes).map(async (path) => {
    const { statusCode, body } = await get(`/api/${path}/`, as(1))
    return statusCode === 200 ? JSON.parse(body).objects.length : statusCode
  })
  t.strictSame(await Promise.all(found), [1, 1, 0, 0, 500, 500, 500, 500])
})

test('D-139: two models of one table have scopes of their own for references', async (t) => {
  const [one, two] = [integer({ column: 'one' }), integer({ column: 'two' })]
  const One = defineModel('One', { group: one, other: two }, { table: 'pair' })
  const Two = defineModel('Two', { other: one, group: two }, { table: 'pair' })
  const ToOne = defineModel('ToOne', { ref: foreignKey(() => One) })
  const ToTwo = defineModel('ToTwo', { ref: foreignKey(() => Two) })
  const { post } = await buildApp(t, {
    models: [One, ToOne, defineModel('ToTwo', { ref: foreignKey(() => One) })],
    rows: { pair: [{ id: 1, one: 1, two: 2 }, { id: 2, one: 2, two: 1 }] },
    undocumented: 'hooks',
    register: (registry) => {
      for (const model of [One, Two]) registry.register(model, { auth: members, scope: () => ({ group: 1 }) })
      for (const model of [ToOne, ToTwo]) registry.register(model, { auth: members, beforeWrite: () => {} })
    }
  })
  const create = async (path: string, ref: number) => (await post(`/api/${path}/`, { ref }, as(1))).statusCode
  t.equal(await create('toone', 1), 201)
  t.equal(await create('toone', 2), 400)
  t.equal(await create('totwo', 2), 201)
  t.equal(await create('totwo', 1), 400)
  t.equal(await create('totwo', 99), 400)
})

test('a scope that fixes null sets null, whatever the default is', async (t) => {
  const Ticket = defineModel('Ticket', {
    title: text({ default: 'none' }), closed: text({ nullable: true, default: 'no' })
  })
  const { post } = await buildApp(t, {
    models: [Ticket],
    undocumented: 'scopes with null',
    register: (registry) => {
      registry.register(Ticket, { auth: members, scope: () => ({ closed: null }) })
      registry.register(Ticket, { auth: members, scope: () => ({ title: null }), path: 'untitled' })
    }
  })
  const created = await post('/api/ticket/', { title: 'a', closed: 'yes' }, as(1))
  t.equal(created.statusCode, 201)
  t.same(created.json(), { id: 1, title: 'a', closed: null })
  t.equal((await post('/api/untitled/', { title: 'a' }, as(1))).statusCode, 403, 'no record is without a title')
})

test('a value that its column would change is refused, so that no record is stored outside the scope', async (t) => {
  const Parcel = defineModel('Parcel', { weight: number(), code: text({ maxLength: 6 }) })
  const type = engine === 'mariadb' ? 'float' : 'real'
  const { post, put, get, rowsOf } = await buildApp(t, {
    models: [Parcel],
    undocumented: 'scopes',
    prepare: async (_app, db) => {
      await db.schema.alterTable('parcel').dropColumn('weight').execute()
      await db.schema.alterTable('parcel').dropColumn('code').execute()
      await sql`alter table parcel add column weight ${sql.raw(type)} not null default 0`.execute(db)
      await sql`alter table parcel add column code char(6) not null default ''`.execute(db)
    },
    register: (registry) => {
      registry.register(Parcel, { auth: members, scope: () => ({ weight: [0.1, 3.14159265], code: ['x', 'a '] }) })
    }
  })
  const first = { weight: 0.1, code: 'x' }
  t.equal((await post('/api/parcel/', first, as(1))).statusCode, 201)
  const expected = engine === 'sqlite' ? 200 : 409
  for (const change of [{ weight: 3.14159265 }, { code: 'a ' }]) {
    const { statusCode } = await post('/api/parcel/', { ...first, ...change }, as(1))
    t.equal(statusCode, engine === 'sqlite' ? 201 : 409, JSON.stringify(change))
    t.equal((await put('/api/parcel/1/', change, as(1))).statusCode, expected, JSON.stringify(change))
  }
  if (engine !== 'sqlite') t.equal((await rowsOf('parcel')).length, 1)
  const { body } = await get('/api/parcel/1/', as(1))
  const again = await put('/api/parcel/1/', JSON.parse(body) as object, as(1))
  t.strictSame([again.statusCode, again.json()], [200, JSON.parse(body)], 'what is sent back as it was read stays')
  const found = `/api/parcel/?weight=${again.json().weight}&code=${encodeURIComponent(again.json().code)}`
  t.equal((await get(found, as(1))).json().objects[0].id, 1)
})

test('a record that is its own neighbour cannot be moved out of a scope through that neighbour', async (t) => {
  type Self = Model<'Node', { rank: Field<'integer'> }>
  const Node = defineModel('Node', { rank: integer(), parent: foreignKey((): Self => Node, { nullable: true }) })
  const { put, rowsOf } = await buildApp(t, {
    models: [Node],
    rows: { node: [{ id: 1, rank: 1, parent_id: null }, { id: 2, rank: 5, parent_id: 1 }] },
    undocumented: 'scopes in circles',
    register: (registry) => { registry.register(Node, { auth: members, scope: () => ({ parent__rank: 1 }) }) }
  })
  t.equal((await put('/api/node/2/', { parent: 2, rank: 7 }, as(1))).statusCode, 403)
  t.equal((await put('/api/node/2/', { parent: 2, rank: 1 }, as(1))).statusCode, 200)
  t.equal((await put('/api/node/2/', { rank: 6 }, as(1))).statusCode, 403)
  t.same(await rowsOf('node'), [{ id: 1, rank: 1, parent_id: null }, { id: 2, rank: 1, parent_id: 2 }])
})

test('a list through several foreign keys of equal length obeys the scope behind each of them', async (t) => {
  const Match = defineModel('Match', {
    home: foreignKey(() => Company), guest: foreignKey(() => Company), project: foreignKey(() => Project)
  })
  const { get } = await buildApp(t, {
    models: [Company, Project, Match],
    rows: {
      company: rows.company,
      project: rows.project,
      match: [
        { id: 1, home_id: 1, guest_id: 1, project_id: 1 },
        { id: 2, home_id: 1, guest_id: 2, project_id: 1 },
        { id: 3, home_id: 2, guest_id: 1, project_id: 1 },
        { id: 4, home_id: 1, guest_id: 1, project_id: 2 }
      ]
    },
    undocumented: 'scopes of related models',
    register: (registry) => {
      registry.register(Company, { auth: members, scope: () => ({ name: 'Acme' }) })
      registry.register(Project, { auth: members, scope: () => ({ rank: 1 }) })
      registry.register(Match, { auth: members })
    }
  })
  const idsOf = async (query: string): Promise<readonly number[]> =>
    (await get(`/api/match/?${query}`, as(1))).json().objects.map(({ id }: { id: number }) => id)
  t.same(await idsOf(''), [1, 2, 3, 4], 'a list without filters leads through no foreign key')
  t.same(await idsOf('home__name__like=%25&ordering=id'), [1, 2, 4])
  t.same(await idsOf('home__name__like=%25&guest__name__like=%25&ordering=id'), [1, 4])
  t.same(await idsOf('guest__name__like=%25&home__name__like=%25&ordering=id'), [1, 4])
  t.same(await idsOf('home__name__like=%25&project__name__like=%25&ordering=id'), [1, 2])
  t.same(await idsOf('project__company__name__like=%25&home__name__like=%25&guest__name__like=%25&ordering=id'), [1])
})

test('the scopes behind two paths hold, although the names of their foreign keys run together alike', async (t) => {
  const Left = defineModel('Left', { bc: foreignKey(() => Company) })
  const Right = defineModel('Right', { c: foreignKey(() => Company) })
  const Pair = defineModel('Pair', { a: foreignKey(() => Left), ab: foreignKey(() => Right) })
  const { get } = await buildApp(t, {
    models: [Company, Left, Right, Pair],
    rows: {
      company: rows.company,
      left: [{ id: 1, bc_id: 1 }],
      right: [{ id: 1, c_id: 2 }],
      pair: [{ id: 1, a_id: 1, ab_id: 1 }]
    },
    undocumented: 'scopes of related models',
    register: (registry) => {
      registry.register(Company, { auth: members, scope: () => ({ name: 'Acme' }) })
      for (const model of [Left, Right, Pair]) registry.register(model, { auth: members })
    }
  })
  const count = async (query: string): Promise<number> =>
    (await get(`/api/pair/?${query}`, as(1))).json().objects.length
  t.equal(await count('a__bc__name__like=%25'), 1)
  t.equal(await count('a__bc__name__like=%25&ab__c__name__like=%25'), 0)
  t.equal(await count('ab__c__name__like=%25&a__bc__name__like=%25'), 0)
})

/** A type of a column that stores another spelling: values that a client writes, and what the column stores. */
const respelling = {
  sqlite: {},
  postgres: {
    time: ['9:00', '09:00:00'],
    inet: ['10.0.0.1', '10.0.0.1/32'],
    cidr: ['10.1', '10.1.0.0/16'],
    macaddr: ['08002B010203', '08:00:2b:01:02:03'],
    timetz: ['9:00+2', '09:00:00+02']
  },
  mariadb: { inet6: ['::0001', '::1'], inet4: ['010.0.0.1', '10.0.0.1'] }
}[engine] as Readonly<Record<string, readonly [written: string, stored: string]>>

for (const [type, [written, stored]] of Object.entries(respelling)) {
  test(`D-140: a ${type} that is stored in another spelling cannot leave its scope`, async (t) => {
    const Slot = defineModel('Slot', { at: text(), title: text({ default: '' }) })
    const seen: unknown[] = []
    const { get, post, put, patch, rowsOf } = await buildApp(t, {
      models: [],
      undocumented: 'scopes',
      prepare: async (_app, db) => {
        const id = engine === 'postgres' ? 'id serial' : 'id int auto_increment'
        await sql.raw(`create table slot (${id} primary key, at ${type} not null, title text not null)`).execute(db)
      },
      register: (registry) => {
        const scopes = [[], [written, 'x'], [stored, written], [written]]
        const scope = ({ company }: Member) => ({ at: scopes[company]! })
        registry.register(Slot, { auth: members, scope })
        registry.register(Slot, {
          auth: members,
          path: 'hooked',
          scope,
          beforeWrite: ({ values }) => values['title'] === 'hook' ? { at: written } : undefined,
          afterWrite: ({ record }) => { seen.push(record) }
        })
      }
    })
    const forbidden = { statusCode: 403, code: 'REST_MODELS_FORBIDDEN' }
    for (const path of ['slot', 'hooked']) {
      t.match((await post(`/api/${path}/`, { at: written }, as(1))).json(), forbidden, `${path} ${written}`)
    }
    t.match((await post('/api/slot/', {}, as(3))).json(), forbidden, 'a stamped value')
    t.match((await post('/api/hooked/', { at: stored, title: 'hook' }, as(1))).json(), forbidden, 'of a hook')
    t.same([await rowsOf('slot'), seen], [[], []], 'nothing is stored')
    for (const [index, at] of [written, stored].entries()) {
      const created = await post('/api/slot/', { at }, as(2))
      t.match([created.statusCode, created.json().at], [201, stored], at)
      const url = `/api/slot/${created.json().id}/`
      t.equal((await get(url, as(2))).json().at, stored)
      t.equal((await get(url, as(1))).statusCode, 404)
      for (const write of [put, patch]) {
        const changed = await write(url, { at: written, title: `${index}` }, as(2))
        t.match([changed.statusCode, changed.json()], [200, { at: stored, title: `${index}` }])
      }
    }
    t.equal((await post('/api/hooked/', { at: stored, title: 'hook' }, as(2))).json().at, stored)
    t.equal(seen.length, 1)
  })
}

test('D-140: an update to another spelling that lies outside the scope is a 403', {
  skip: engine === 'sqlite' && 'SQLite stores texts as they are'
}, async (t) => {
  const Slot = defineModel('Slot', { id: key({ generated: false }), at: text() })
  const [type, inside, written] = engine === 'postgres' ? ['time', '10:00:00', '9:00'] : ['inet6', '::2', '::0001']
  const { put, patch, rowsOf } = await buildApp(t, {
    models: [],
    undocumented: 'scopes',
    prepare: async (_app, db) => {
      await sql.raw(`create table slot (id int primary key, at ${type} not null)`).execute(db)
      await sql.raw(`insert into slot values (1, '${inside}')`).execute(db)
    },
    register: (registry) => {
      const scope = () => ({ at: [inside, written] })
      registry.register(Slot, { auth: members, scope })
      registry.register(Slot, { auth: members, scope, path: 'hooked', afterWrite: () => {} })
    }
  })
  for (const path of ['slot', 'hooked']) {
    for (const write of [put, patch]) {
      t.equal((await write(`/api/${path}/1/`, { at: written }, as(1))).statusCode, 403)
      t.equal((await write(`/api/${path}/1/`, { at: inside }, as(1))).statusCode, 200)
    }
  }
  t.match(await rowsOf('slot'), [{ id: 1, at: inside }])
})

test('D-202: a text of which its column would cut blanks is refused, so that it cannot leave a scope', {
  skip: engine === 'sqlite' && 'SQLite keeps texts of any length'
}, async (t) => {
  const Parcel = defineModel('Parcel', { code: text() })
  const { post, put, rowsOf, statements, forget } = await buildApp(t, {
    models: [],
    undocumented: 'scopes',
    prepare: async (_app, db) => {
      const id = engine === 'postgres' ? 'id serial' : 'id int auto_increment'
      await sql.raw(`create table parcel (${id} primary key, code varchar(2) not null)`).execute(db)
    },
    register: (registry) => {
      registry.register(Parcel, { auth: members, scope: () => ({ code: ['ab ', 'ab\t', 'x ', 'abc'] }) })
    }
  })
  t.equal((await post('/api/parcel/', { code: 'x ' }, as(1))).statusCode, 201, 'a blank that fits')
  for (const code of ['ab ', 'ab\t', 'abc']) {
    const refused = { statusCode: 409, code: 'REST_MODELS_CONSTRAINT' }
    t.match((await post('/api/parcel/', { code }, as(1))).json(), refused, code)
    t.match((await put('/api/parcel/1/', { code }, as(1))).json(), refused, code)
  }
  forget()
  t.equal((await put('/api/parcel/1/', { code: 'x ' }, as(1))).json().code, 'x ')
  t.match(statements.map(({ sql }) => sql).join(), /update/, 'a value that fits is written again')
  t.match(await rowsOf('parcel'), [{ code: 'x ' }])
})

/** Collations of a column of UUIDs: one that ignores case, and one that does not. */
const collations = {
  sqlite: { ignoring: 'nocase', exact: 'binary' },
  postgres: { ignoring: 'ignoring', exact: '"C"' },
  mariadb: { ignoring: 'utf8mb4_general_ci', exact: 'utf8mb4_bin' }
}[engine]

const capitals = '0F8FAD5B-D9CB-469F-A165-70867728950E'
const asUser = (id: string) => ({ headers: { 'x-user': id } })

/** Serves jobs whose owner is a UUID in capitals, in a column with a collation. */
async function serveCapitals (t: Test, collation: string) {
  const Person = defineModel('Person', { id: uuid(), name: text() })
  const Job = defineModel('Job', { id: key({ generated: false }), owner: foreignKey(() => Person), title: text() })
  const auth = hostAuth(({ headers: { 'x-user': id } }) => typeof id === 'string' ? { id } : null)
  return await buildApp(t, {
    models: [],
    undocumented: 'capitals',
    prepare: async (_app, db) => {
      const icu = "provider = icu, locale = 'und-u-ks-level2', deterministic = false"
      if (engine === 'postgres') await sql.raw(`create collation ignoring (${icu})`).execute(db)
      const column = `varchar(36) collate ${collation}`
      await sql.raw(`create table person (id ${column} primary key, name text not null)`).execute(db)
      await sql.raw(`create table job (id int primary key, title text not null,
        owner_id ${column} not null references person (id))`).execute(db)
      await sql.raw(`insert into person values ('${capitals}', 'Ann')`).execute(db)
      await sql.raw(`insert into job values (1, 'a', '${capitals}')`).execute(db)
    },
    register: (registry) => {
      registry.register(Person, { auth })
      registry.register(Job, { auth, ownerField: 'owner' })
      registry.register(Job, { auth, ownerField: 'owner', path: 'hooked', beforeWrite: () => {} })
      registry.register(Job, { auth, path: 'own', scope: (user) => ({ owner: user?.id ?? null }) })
    }
  })
}

test('D-65: who owns a record by a UUID in capitals may change it if the column ignores case', async (t) => {
  const { get, put, patch, delete: remove, rowsOf } = await serveCapitals(t, collations.ignoring)
  const lower = capitals.toLowerCase()
  for (const id of [lower, capitals]) {
    t.equal((await get(`/api/person/${id}/`)).json().name, 'Ann')
    // SQLite compares the values of filters and scopes without the collation of the column.
    const found = engine === 'sqlite' ? 0 : 1
    t.equal((await get(`/api/job/?owner=${id}`)).json().objects.length, found)
    t.equal((await get('/api/own/', asUser(id))).json().objects.length, found, 'by a scope')
    for (const path of engine === 'sqlite' ? ['job', 'hooked'] : ['job', 'hooked', 'own']) {
      t.equal((await put(`/api/${path}/1/`, { title: `${path} ${id}` }, asUser(id))).json().title, `${path} ${id}`)
      const whole = (await get(`/api/${path}/1/`, asUser(id))).json() as object
      t.equal((await patch(`/api/${path}/1/`, whole, asUser(id))).statusCode, 200, 'sent back as it was read')
    }
  }
  t.equal((await put('/api/job/1/', { title: 'x' }, asUser(lower.replace('0', '1')))).statusCode, 403)
  t.equal((await remove('/api/job/1/', asUser(lower.replace('0', '1')))).statusCode, 403)
  t.match(await rowsOf('job'), [{ owner_id: capitals, title: new RegExp(capitals) }])
  t.equal((await remove('/api/job/1/', asUser(lower))).statusCode, 204)
})

test('D-65: a UUID in capitals is another text if the column does not ignore case', async (t) => {
  const { get, put, delete: remove } = await serveCapitals(t, collations.exact)
  const user = asUser(capitals)
  t.equal((await get(`/api/person/${capitals}/`)).statusCode, 404)
  t.equal((await get(`/api/job/?owner=${capitals}`)).json().objects.length, 0)
  t.equal((await get('/api/own/', user)).json().objects.length, 0)
  for (const path of ['job', 'hooked']) {
    t.equal((await put(`/api/${path}/1/`, { title: 'x' }, user)).statusCode, 403)
    t.equal((await remove(`/api/${path}/1/`, user)).statusCode, 403)
  }
})
