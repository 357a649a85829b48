import Fastify, { type FastifyInstance } from 'fastify'
import { sql } from 'kysely'
import { test, type Test } from 'tap'
import restModels, {
  bigint, boolean, createTables, date, datetime, decimal, defineModel, foreignKey, hostAuth, integer, json,
  number, openAuth, password, text, userAuth, uuid, type AnyKysely, type Identity, type Model, type Policy,
  type ResourceRegistry
} from '../../lib/index.js'
import { inspect, type Inspection } from '../../lib/tools.js'
import { openDatabase } from '../support/database.js'

const Company = defineModel('Company', { name: text(), active: boolean({ default: true }) })
const Project = defineModel('Project', { company: foreignKey(() => Company), name: text(), rank: integer() })
const Task = defineModel('Task', {
  project: foreignKey(() => Project), parent: foreignKey((): Model => Task, { nullable: true }), title: text()
})
const Post = defineModel('Post', { published: boolean(), title: text() })
const Comment = defineModel('Comment', { post: foreignKey(() => Post) })
const models = [Company, Project, Task, Post, Comment]

interface Team { readonly id: number, readonly parent?: Team }

interface Member extends Identity {
  readonly company: number
  readonly companies: number[]
  readonly email: string
  readonly organisation: { readonly id: number }
  readonly roles: string[]
  readonly team: Team
  readonly isStaff: boolean
  readonly admin: boolean
}

const find = (): Member | null => null
const members = hostAuth<Member>(find, { protect: 'all' })
const readers = hostAuth<Member>(find)

async function build (
  t: Test, register: (registry: ResourceRegistry) => void,
  { tables = models, prepare }: { tables?: readonly Model[], prepare?: (db: AnyKysely) => Promise<unknown> } = {}
): Promise<FastifyInstance> {
  const db = await openDatabase(t)
  await createTables(db, tables)
  await prepare?.(db)
  const app = Fastify()
  t.teardown(async () => { await app.close() })
  await app.register(restModels, { db })
  register(app.restModels)
  await app.restModels.setup()
  return app
}

/** Returns what made-up users see, as lines such as `project user: company = user.company`. */
function linesOf ({ scopes }: Inspection): string[] {
  return scopes.map((visible) => {
    const { resource, user, sees } = visible
    return `${resource} ${user}: ${
      sees === 'some' ? visible.conditions.join(', ') : sees === 'fails' ? `fails: ${visible.message}` : sees}`
  })
}

function dangersOf ({ dangers }: Inspection): string[] {
  return dangers.map(({ resource, field, why }) => `${resource}${field === undefined ? '' : `.${field}`}: ${why}`)
}

test('what the users of a host see is told by the properties that their scopes ask for', async (t) => {
  const found = await inspect(await build(t, (registry) => {
    registry.register(Company, { auth: members, scope: (user) => user.admin ? {} : { id: user.company } })
    registry.register(Project, {
      auth: members,
      scope: ({ isStaff, roles, companies, email }) => isStaff
        ? null
        : roles.includes('guest') ? {} : { company_id__in: companies, name__like: `%${email}`, rank__gte: 3 }
    })
    registry.register(Task, {
      auth: members,
      scope: ({ organisation, id, email }) => ({
        project__company: organisation.id, title: ['a', String(id)], parent: null, title__ilike: email
      })
    })
    registry.register(Post, { auth: readers, scope: (user) => user === null ? { published: true } : {} })
    registry.register(Post, { auth: openAuth(), path: 'none', scope: () => ({ id: [] }) })
  }))
  t.strictSame(linesOf(found), [
    'company user: id = user.company', 'company admin: everything',
    'project user: company in user.companies, name like "%<user.email>", rank >= 3', 'project admin: nothing',
    ...['user', 'admin'].map((name) => `task ${name}: project__company = user.organisation.id, ` +
      'title in ["a", user.id], parent is null, title ilike user.email'),
    'post nobody: published = true', 'post user: everything', 'post admin: everything',
    'none nobody: nothing', 'none user: nothing', 'none admin: nothing'
  ])
  t.strictSame(found.resources.map(({ resource, scoped }) => [resource, scoped]), [
    ['company', ['list', 'read', 'create', 'update', 'delete']],
    ['project', ['list', 'read', 'create', 'update', 'delete']],
    ['task', ['list', 'read', 'create', 'update', 'delete']],
    ['post', ['list', 'read']],
    ['none', ['list', 'read', 'create', 'update', 'delete']]
  ])
})

test('what is no scope is told as a failure, and a promise that rejects ends nothing', async (t) => {
  class Condition { readonly rank = 1 }
  const given = [() => Promise.reject(new Error('late')), () => new Condition(), () => [{ rank: 1 }]]
  const found = await inspect(await build(t, (registry) => {
    for (const [index, scope] of given.entries()) {
      registry.register(Project, { auth: members, path: `p${index}`, scope: scope as never })
    }
  }))
  await new Promise((resolve) => { setImmediate(resolve) })
  t.strictSame(found.scopes.map(({ sees }) => sees), Array(6).fill('fails'))
})

test('what the users of a model see is told by the fields that the policy reads', async (t) => {
  const fields = {
    team: text(),
    role: text({ enum: ['guest', 'editor'] }),
    company: foreignKey(() => Company),
    token: uuid(),
    born: date(),
    seen: datetime(),
    count: integer(),
    size: bigint(),
    weight: number(),
    price: decimal({ precision: 2, scale: 1 }),
    trusted: boolean(),
    data: json()
  }
  const Person = defineModel('Person', { username: text(), password: password(), active: boolean(), ...fields })
  const Admin = defineModel('Admin', {
    username: text(), password: password(), active: boolean(), admin: boolean(), id: uuid()
  })
  const Thing = defineModel('Thing', { owner: foreignKey(() => Person), ...fields })
  const people = userAuth(Person, {
    fields: [
      'team', 'role', 'company', 'token', 'born', 'seen', 'count', 'size', 'weight', 'price', 'trusted', 'data'
    ],
    protect: 'all'
  })
  const tables = [Company, Person, Admin, Thing]
  const found = await inspect(await build(t, (registry) => {
    registry.register(Thing, {
      auth: people,
      scope: ({ id, admin, role, data, ...user }) => admin || data === null
        ? {}
        : {
            owner: id,
            team: user.team,
            company: user.company,
            token: user.token,
            born: user.born,
            seen: user.seen,
            count: user.count,
            size: user.size,
            weight: user.weight,
            price: user.price,
            trusted: user.trusted,
            role__ne: role
          }
    })
    registry.register(Company, { auth: people, scope: (user) => ({ id: user.team as never }) })
    registry.register(Admin, { auth: userAuth(Admin), exclude: ['password'], scope: (user) => ({ id: user!.id }) })
  }, { tables }))
  const [thing, ...others] = linesOf(found)
  t.equal(thing, 'thing user: owner = user.id, team = user.team, company = user.company, token = user.token, ' +
    'born = user.born, seen = user.seen, count = user.count, size = user.size, weight = user.weight, ' +
    'price = "1.0", trusted = false, role != "guest"')
  t.strictSame(others, [
    "company user: fails: The scope of model 'Company' gives a value of a wrong type for 'id', " +
      'which must be the id of a record',
    "admin nobody: fails: Cannot read properties of null (reading 'id')", 'admin user: id = user.id',
    'admin admin: id = user.id'
  ], 'where there is no field for admins, there is none')
})

test('nobody writes a field that the scope sets for all who may write', async (t) => {
  const Desk = defineModel('Desk', {
    company: foreignKey(() => Company),
    project: foreignKey(() => Project),
    state: text(),
    note: text({ nullable: true })
  })
  const Fellow = defineModel('Fellow', {
    username: text(), password: password(), active: boolean(), company: foreignKey(() => Company), trusted: boolean()
  })
  const fellows = userAuth(Fellow, { fields: ['company', 'trusted'], protect: 'all' })
  const staff = hostAuth<Member>(find, {
    protect: 'all', permits: ({ admin }, operation) => admin || operation === 'list'
  })
  const guests: typeof readers = { ...readers, open: ['create'] }
  const whole = { company: 'users', project: 'users', state: 'users', note: 'users' }
  const rows: Readonly<Record<string, readonly [register: (registry: ResourceRegistry) => unknown, create: object]>> = {
    'its own fields, for each user': [
      (registry) => registry.register(Desk, {
        auth: members, scope: ({ id, company }) => ({ company_id: company, project__name: String(id), state: 'open' })
      }),
      { ...whole, company: 'nobody', state: 'nobody' }
    ],
    'a part of a user, and null': [
      (registry) => registry.register(Desk, {
        auth: members, scope: ({ organisation }) => ({ company: organisation.id, project: organisation.id, note: null })
      }),
      { ...whole, company: 'nobody', project: 'nobody', note: 'nobody' }
    ],
    'fields of the users of a model': [
      (registry) => registry.register(Desk, { auth: fellows, scope: (user) => ({ company: user.company }) }),
      { ...whole, company: 'nobody' }
    ],
    'but not by what a user is trusted with': [
      (registry) => registry.register(Desk, {
        auth: fellows, scope: (user) => user.trusted ? {} : { company: user.company }
      }),
      whole
    ],
    'but not for admins alone, who may write alone': [
      (registry) => registry.register(Desk, {
        auth: staff, scope: (user) => user.admin ? { state: 'open' } : { company: user.company }
      }),
      { company: 'admins', project: 'admins', state: 'nobody', note: 'admins' }
    ],
    'but not for others than admins': [
      (registry) => registry.register(Desk, { auth: members, scope: (user) => user.isStaff ? {} : { state: 'open' } }),
      whole
    ],
    'but not if the scope may be another one for other users': [
      (registry) => registry.register(Desk, {
        auth: members, scope: (user) => user.email === 'ann' ? {} : { company: user.company }
      }),
      whole
    ],
    'nor if a user may have none of what it returns': [
      (registry) => registry.register(Desk, {
        auth: members, scope: (user) => user.company === 0 ? {} : { company: user.company }
      }),
      whole
    ],
    'nor one of several values': [
      (registry) => registry.register(Desk, {
        auth: members, scope: ({ companies }) => ({ company__in: companies, state: ['open', 'done'] })
      }),
      whole
    ],
    'nor if the scope fails': [
      (registry) => registry.register(Desk, { auth: members, scope: () => { throw new Error('x') } }), whole
    ],
    'nor for who is not logged in': [
      (registry) => registry.register(Desk, {
        auth: guests, scope: (user) => user === null ? {} : { company: user.company }
      }),
      Object.fromEntries(Object.keys(whole).map((name) => [name, 'anybody']))
    ]
  }
  for (const [name, [register, create]] of Object.entries(rows)) {
    const { resources: [desk] } = await inspect(
      await build(t, register, { tables: [Company, Project, Fellow, Desk] })
    )
    const fields = desk?.fields.filter(({ field }) => field !== 'id') ?? []
    t.strictSame(Object.fromEntries(fields.map(({ field, create }) => [field, create])), create, name)
    const updates = Object.fromEntries(fields.map(({ field, update }) => [field, update]))
    t.strictSame(updates, name === 'nor for who is not logged in' ? { ...whole, company: 'nobody' } : create, name)
  }
})

test('a field with power that the scope sets is no danger', async (t) => {
  const Seat = defineModel('Seat', { role: text(), title: text() })
  const found = async (scope: () => { role?: string }): Promise<string[]> =>
    dangersOf(await inspect(await build(t, (registry) => { registry.register(Seat, { auth: members, scope }) }, {
      tables: [Seat]
    })))
  t.strictSame(await found(() => ({})), ['seat.role: gives power over others, and users may write it'])
  t.strictSame(await found(() => ({ role: 'guest' })), [])
})

test('a scope that is none is told for each user', async (t) => {
  const none = 'must return an object with names of fields, or null, and no promise'
  const found = await inspect(await build(t, (registry) => {
    registry.register(Company, { auth: members, scope: (async () => ({})) as never })
    registry.register(Project, { auth: members, scope: ({ email }) => ({ compny: email }) as never })
    registry.register(Post, { auth: members, scope: ({ admin }) => admin ? { title__like: 7 } as never : null })
    registry.register(Task, { auth: members, scope: () => { throw new Error('x', { cause: 7 }) } })
    registry.register(Comment, { auth: members, scope: (() => 'post') as never })
    registry.register(Comment, {
      auth: members,
      path: 'climbing',
      scope: (user) => {
        let { team } = user
        while (team.parent) team = team.parent
        return { post: team.id }
      }
    })
    registry.register(Comment, {
      auth: members, path: 'mapped', scope: (user) => ({ post: user.companies.map((company) => company) })
    })
  }))
  t.strictSame(linesOf(found).filter((line) => /^\w+ user:/.test(line)), [
    `company user: fails: The scope of model 'Company' ${none}`,
    "project user: fails: The scope of model 'Project' names 'compny', which leads to no field, " +
      "did you mean 'company'?",
    'post user: nothing',
    'task user: fails: x',
    `comment user: fails: The scope of model 'Comment' ${none}`,
    "climbing user: fails: The scope of model 'Comment' gives undefined for 'post', which must be the id of a record",
    'mapped user: fails: user.companies.map is not a function'
  ])
  t.match(linesOf(found).find((line) => line.startsWith('post admin')), 'a value of a wrong type')
})

test('a resource without a scope is dangerous beside one with a scope, for who sees only a part there', async (t) => {
  const scope = (user: Member) => user.admin ? {} : { company: user.company }
  const admins = hostAuth<Member>(find, { protect: 'all', permits: ({ admin }) => admin })
  const wrong = await inspect(await build(t, (registry) => {
    registry.register(Project, { auth: members, scope })
    registry.register(Project, { auth: members, path: 'projects' })
    registry.register(Task, { auth: members })
    registry.register(Post, { auth: readers, scope: (user) => user === null ? { published: true } : {} })
    registry.register(Comment, { auth: readers })
    registry.register(Task, { auth: readers, path: 'tasks' })
    registry.register(Task, { auth: hostAuth(() => null, { protect: 'all' }), path: 'others' })
  }))
  t.strictSame(dangersOf(wrong), [
    "projects: has no scope, but resource 'project' of the same model has one: " +
      'users may list, read, update, delete all records',
    "task.project: refers to resource 'project', which has a scope, but has none itself: " +
      'users may list, read, update, delete all records',
    "comment.post: refers to resource 'post', which has a scope, but has none itself: " +
      'anybody may list, read all records',
    "tasks.project: refers to resource 'project', which has a scope, but has none itself: " +
      'anybody may list, read and users may update, delete all records',
    "others.project: refers to resource 'project', which has a scope, but has none itself: " +
      'users may list, read, update, delete all records'
  ])
  const right = await inspect(await build(t, (registry) => {
    registry.register(Project, { auth: members, scope })
    registry.register(Project, { auth: admins, path: 'projects' })
    registry.register(Task, { auth: members, scope: ({ company }) => ({ project__company: company }) })
    registry.register(Task, { auth: admins, path: 'tasks' })
    registry.register(Post, { auth: readers, scope: (user) => user === null ? { published: true } : {} })
    registry.register(Comment, { auth: members })
  }))
  t.strictSame(dangersOf(right), [])
})

test('a scope that is not of the first resource is dangerous, if not everybody may list that one', async (t) => {
  const scope = (user: Member) => user.admin ? {} : { company: user.company }
  const admins = hostAuth<Member>(find, { protect: 'all', permits: ({ admin }) => admin })
  const found = async (auth: typeof admins) => dangersOf(await inspect(await build(t, (registry) => {
    registry.register(Project, { auth, path: 'projects' })
    registry.register(Project, { auth: members, scope })
    registry.register(Task, { auth: members, scope: ({ company }) => ({ project__company: company }) })
  })))
  t.strictSame(await found(admins), [
    'projects: is the first resource of its model and has no scope, so clients may refer to records that the scope ' +
      "of resource 'project' hides from them: register that one first"
  ])
  t.notMatch((await found({ ...members, open: ['list', 'read'] } as unknown as typeof admins)).join(), 'is the first')
})

test('a reference to oneself is told once, and an owner is no scope for reads', async (t) => {
  const Person = defineModel('Person', {
    username: text(), password: password(), active: boolean(), admin: boolean(), company: foreignKey(() => Company)
  })
  const Note = defineModel('Note', { author: foreignKey(() => Person), parent: foreignKey((): Model => Note) })
  const people = userAuth(Person, { fields: ['company'], protect: 'all' })
  const found = async (notes: object): Promise<string[]> => dangersOf(await inspect(await build(t, (registry) => {
    registry.register(Person, {
      auth: people, exclude: ['password'], readOnly: ['admin'], scope: ({ id, admin }) => admin ? {} : { id }
    })
    registry.register(Note, { auth: people, ...notes })
    registry.register(Note, { auth: { ...people, closed: ['update', 'delete'] }, path: 'notes' })
  }, { tables: [Company, Person, Note] })))
  t.strictSame(await found({ ownerField: 'author' }), [
    "note.author: refers to resource 'person', which has a scope, but has none itself: " +
      'users may list, read all records',
    "notes.author: refers to resource 'person', which has a scope, but has none itself: " +
      'users may list, read all records',
    "notes.author: says who owns a record in resource 'note', and users may write it here"
  ])
  t.strictSame(await found({ scope: ({ id }: Identity) => ({ author: id }) }), [
    "notes: has no scope, but resource 'note' of the same model has one: users may list, read all records",
    "notes.author: refers to resource 'person', which has a scope, but has none itself: " +
      'users may list, read all records'
  ], 'who sees only own records can write no others')
})

test('a scope is dangerous if it shows all to somebody, but not to users who should see more', async (t) => {
  const found = await inspect(await build(t, (registry) => {
    registry.register(Company, {
      auth: readers, scope: (user) => user === null || user.admin ? {} : { id: user.company }
    })
    registry.register(Post, { auth: members, scope: ({ admin }) => admin ? null : {} })
    registry.register(Project, { auth: readers, scope: () => ({}) })
    registry.register(Task, {
      auth: { ...readers, open: [] } as Policy<Member>, scope: (user) => user?.admin === true ? {} : { title: 'a' }
    })
  }))
  t.strictSame(dangersOf(found), [
    'company: its scope shows every record to anybody without a login, but not to users',
    'post: its scope shows every record to users, but not to admins'
  ])
})

test('D-291: check names what a scope reads of a user and does not return', async (t) => {
  const Person = defineModel('Person', {
    username: text(), password: password(), active: boolean(), admin: boolean(), kind: text(), company: integer()
  })
  const people = userAuth(Person, { fields: ['kind', 'company'], protect: 'all' })
  const found = async (
    scope: (user: Member & { kind: string }) => object | null, auth: unknown = members
  ): Promise<string[]> => {
    const { scopes } = await inspect(await build(t, (registry) => {
      registry.register(Task, { auth: auth as typeof members, scope: scope as never })
    }, { tables: [...models, Person] }))
    return scopes.flatMap(({ user, dependsOn }) => dependsOn.map((name) => `${user} ${name}`))
  }
  for (const auth of [members, people]) {
    t.strictSame(await found((user) => user.kind === 'staff' ? {} : { project: user.company }, auth), [
      'user user.kind', 'admin user.kind'
    ])
    t.strictSame(await found((user) => user.admin || user.kind === 'staff' ? {} : { project: user.company }, auth), [
      'user user.kind'
    ])
    t.strictSame(await found((user) => user.company === 7 ? {} : { project: user.company }, auth), [
      'user user.company', 'admin user.company'
    ])
    t.strictSame(await found((user) => 'kind' in user ? null : {}, auth), ['user user.kind', 'admin user.kind'])
    t.equal((await found(({ ...user }) => user.company === 7 ? {} : null, auth))[0], 'user user.*')
    t.strictSame(await found((user) => user.admin ? {} : { title: 'a', title__like: `%${user.kind}` }, auth), [])
    t.strictSame(await found(({ admin, company }) => admin ? {} : { project__in: [company] }, auth), [])
  }
  t.strictSame(await found(({ organisation }) => ({ project: organisation.id })), [])
})

test('D-291: a scope that shows all to a role that it does not know is dangerous', async (t) => {
  const found = async (scope: (user: Member) => { company: number } | {} | null): Promise<string[]> =>
    dangersOf(await inspect(await build(t, (registry) => { registry.register(Project, { auth: members, scope }) })))
  const seesAll = 'project: its scope shows every record if user.email is a value that it does not know'
  t.strictSame(await found((user) => user.email === 'guest' ? { company: 1 } : {}), [seesAll])
  t.strictSame(await found((user) => user.email === 'staff' ? {} : { company: 1 }), [])
  t.strictSame(await found((user) => user.email === 'guest' ? { company: 1 } : null), [])
})

test('what a scope hides from users that it was not tried with is not judged as seen by them', async (t) => {
  const scope = (user: Member) => user.email === 'guest' ? { company: 1 } : {}
  const found = await inspect(await build(t, (registry) => {
    registry.register(Project, { auth: members, scope })
    registry.register(Project, { auth: members, path: 'projects' })
  }))
  t.match(dangersOf(found), [
    'project: its scope shows every record if user.email is a value that it does not know',
    /^projects: has no scope, but resource 'project' of the same model has one: users may list/
  ])
  const Person = defineModel('Person', { username: text(), password: password(), active: boolean(), kind: text() })
  const people = userAuth(Person, { fields: ['kind'], protect: 'all' })
  t.match(dangersOf(await inspect(await build(t, (registry) => {
    registry.register(Person, {
      auth: people, exclude: ['password'], scope: (user) => user.kind === 'staff' ? {} : { id: user.id }
    })
  }, { tables: [Person] }))), [
    'person: users may change other users, their passwords too'
  ])
})

test('columns that a scope names need an index, and an index of a scope serves every list', async (t) => {
  const unindexed = async (
    auth: Policy<Member>, scope: (user: Member | null) => object | null, prepare?: (db: AnyKysely) => Promise<unknown>
  ): Promise<string[]> => {
    const found = await inspect(await build(t, (registry) => {
      registry.register(Task, { auth, scope: scope as never })
    }, { ...(prepare && { prepare }) }))
    return found.unindexed.map(({ use, name }) => `${use} ${name}`)
      .filter((line) => line.startsWith('scope') || line === 'filter title')
  }
  const free = 'filter title'
  const byTitle = async (db: AnyKysely) => await sql`create index by_title on task (title)`.execute(db)
  const byName = async (db: AnyKysely) => await sql`create index by_name on project (name)`.execute(db)
  t.strictSame(await unindexed(members, () => ({ title: 'a' })), ['scope title', free])
  t.strictSame(await unindexed(members, () => ({ title__in: ['a', 'b'] }), byTitle), [])
  t.strictSame(await unindexed(members, (user) => ({ project: user!.company })), [], 'a foreign key has an index')
  t.strictSame(await unindexed(members, (user) => ({ project__id: user!.company })), [])
  t.strictSame(await unindexed(members, (user) => ({ id: user!.company })), [])
  t.strictSame(await unindexed(members, (user) => ({ project__company: user!.company })), [])
  t.strictSame(
    await unindexed(members, (user) => ({ project__company: user!.company, title: 'a' })), [], 'one index is enough')
  t.strictSame(await unindexed(members, () => ({ project__name: 'a' })), ['scope project__name', free])
  t.strictSame(await unindexed(members, () => ({ project__name: 'a' }), byName), [])
  t.strictSame(await unindexed(members, () => ({ project__rank__gt: 5, title: 'x' })), [
    'scope project__rank', 'scope title', free
  ])
  t.strictSame(await unindexed(members, () => ({})), [free], 'who sees everything reads the whole table')
  t.strictSame(await unindexed(members, () => null), [free], 'nobody sees a record')
  t.strictSame(await unindexed(members, () => { throw new Error('x') }), [free])
  const byProject = (user: Member) => user.admin ? {} : { project: user.company }
  t.strictSame(await unindexed(members, (user) => byProject(user!)), [], 'admins do not count')
  t.strictSame(await unindexed(members, (user) => user!.admin ? { title: 'a' } : null), ['scope title', free])
  t.strictSame(
    await unindexed(readers, (user) => user === null ? { title: 'a' } : byProject(user)), ['scope title', free])
})

test('the audience of an operation is asked for with the same made-up users', async (t) => {
  const asked: unknown[] = []
  const policy = hostAuth<Member>(find, {
    permits: (user, operation) => {
      asked.push(user.isStaff, user.admin)
      return operation === 'create' ? user.roles.includes('writer') : user.isStaff
    }
  })
  const { resources } = await inspect(await build(t, (registry) => { registry.register(Post, { auth: policy }) }))
  t.strictSame(resources[0]?.operations, {
    list: 'anybody', read: 'anybody', create: 'some users', update: 'admins', delete: 'admins'
  })
  t.strictSame(resources[0]?.scoped, [])
  t.strictSame(new Set(asked), new Set([false, true]))
})
