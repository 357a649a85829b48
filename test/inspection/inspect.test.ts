import Fastify, { type FastifyInstance } from 'fastify'
import { sql, type Kysely, type RawBuilder } from 'kysely'
import { test, type Test } from 'tap'
import restModels, {
  adminAuth, boolean, createTables, decimal, defineModel, foreignKey, hostAuth, integer, json, key, password, text,
  userAuth, uuid, type Model, type Policy, type ResourceRegistry
} from '../../lib/index.js'
import { inspect, type Inspection } from '../../lib/tooling/audit/inspect.js'
import { isSought } from '../../lib/tooling/audit/explain.js'
import { KeyLookups } from '../../lib/tooling/audit/key-lookups.js'
import { planList } from '../../lib/plan/plan-list.js'
import { unscoped } from '../../lib/plan/viewer.js'
import { parseListQuery } from '../../lib/request/list-query.js'
import { maxCounted, TableSizes } from '../../lib/tooling/audit/table-sizes.js'
import { unindexedOf } from '../../lib/tooling/audit/unindexed.js'
import type { Tables } from '../../lib/engines/executor.js'
import { ResourceRegistry as Registry } from '../../lib/plugin/registry.js'
import type { Resource } from '../../lib/resource/resource.js'
import { engine, openDatabase } from '../support/database.js'
import { Message, Note, Relationship, registerSite, siteModels, User } from '../support/site.js'

async function build (
  t: Test, models: readonly Model[], register: (registry: ResourceRegistry) => void,
  { decorator = 'restModels', limits = {} }: { decorator?: string, limits?: Record<string, number> } = {}
): Promise<FastifyInstance> {
  const db = await openDatabase(t)
  await createTables(db, models)
  const app = Fastify()
  t.teardown(async () => { await app.close() })
  await app.register(restModels, { db, decorator, limits })
  const registry = Reflect.get(app, decorator) as ResourceRegistry
  register(registry)
  await registry.setup()
  return app
}

function dangersFrom ({ dangers }: Pick<Inspection, 'dangers'>): string[] {
  return dangers.map(({ resource, field, why }) =>
    `${[resource, field].filter((part) => part !== undefined).join('.')}: ${why}`)
}

test('each foreign key is asked about once, however many paths lead to it', async (t) => {
  const peers = Array.from({ length: 10 }, (_, index) =>
    [`peer${index}`, foreignKey((): Model => index % 2 === 0 ? Knot : Node, { nullable: true })])
  const Knot = defineModel('Knot', Object.fromEntries(peers))
  const Node = defineModel('Node', Object.fromEntries(peers))
  const limits = { joins: 25, totalJoins: 25 }
  const app = await build(t, [Knot, Node], (registry) => { registry.register(Knot).register(Node) }, { limits })
  const { unindexed } = await inspect(app)
  t.notOk(unindexed.some(({ use }) => use === 'include'))
})

test('who may do what with the example is told by resource and field', async (t) => {
  const { resources, dangers } = await inspect(await build(t, siteModels, registerSite))
  t.strictSame(dangers, [])
  const [user, , message, note] = resources
  t.strictSame(user?.operations, {
    list: 'anybody', read: 'anybody', create: 'admins', update: 'admins', delete: 'admins'
  })
  t.strictSame(user?.fields.find(({ field }) => field === 'password'), {
    field: 'password', read: 'nobody', filter: 'nobody', order: 'nobody', create: 'admins', update: 'admins'
  })
  t.strictSame(message?.operations, {
    list: 'anybody', read: 'anybody', create: 'users', update: 'owner', delete: 'owner'
  })
  t.strictSame(message?.fields.map(({ field, create, update }) => [field, create, update]), [
    ['id', 'nobody', 'nobody'], ['user', 'nobody', 'nobody'], ['content', 'users', 'owner'],
    ['pub_date', 'users', 'owner']
  ])
  t.strictSame(note?.operations, {
    list: 'anybody', read: 'anybody', create: 'nobody', update: 'nobody', delete: 'nobody'
  })
})

test('D-149: a key that clients may generate is told as a field of creates', async (t) => {
  const Ticket = defineModel('Ticket', { id: uuid({ clientGenerated: true }), title: text() })
  const { resources: [ticket] } = await inspect(await build(t, [User, Ticket], (registry) => {
    registry.register(Ticket, { auth: userAuth(User) })
  }))
  t.match(ticket?.fields, [{ field: 'id', create: 'users', update: 'nobody' }, { field: 'title', update: 'users' }])
})

test('what is dangerous is flagged, and the same without the mistake is not', async (t) => {
  const Vault = defineModel('Vault', {
    api_key: text(), accessToken: text(), token_count: text(), password_hash: text({ nullable: true }), plain: text()
  })
  const Account = defineModel('Account', {
    user: foreignKey(() => User), role: text({ default: 'x' }), is_admin: boolean({ default: false })
  })
  const models = [...siteModels, Vault, Account]
  const wrong = await inspect(await build(t, models, (registry) => {
    registry.register(User, { auth: userAuth(User) })
    registry.register(Message, { auth: userAuth(User), ownerField: 'user' })
    registry.register(Message, { auth: userAuth(User), path: 'messages' })
    registry.register(Vault, { exclude: ['accessToken'], filterable: ['accessToken'] })
    registry.register(Account, { auth: { ...adminAuth(User), open: ['create'], closed: ['update', 'delete'] } })
  }))
  t.strictSame(dangersFrom(wrong), [
    'user: users may change other users, their passwords too',
    'user.password: looks secret, and anybody may read it',
    'user.admin: gives power over others, and users may write it',
    "messages: users may write each other's records: it refers to users by user, but has no ownerField",
    "messages.user: says who owns a record in resource 'message', and users may write it here",
    'vault.api_key: looks secret, and anybody may read it',
    'vault.accessToken: looks secret, and anybody can find its values out by filters',
    'vault.password_hash: looks secret, and anybody may read it',
    'account: anybody may create without logging in',
    'account.role: gives power over others, and anybody may write it',
    'account.is_admin: gives power over others, and anybody may write it'
  ])
  const right = await inspect(await build(t, models, (registry) => {
    registry.register(User, { auth: adminAuth(User), exclude: ['password'] })
    registry.register(Message, { auth: userAuth(User), ownerField: 'user' })
    registry.register(Message, { auth: adminAuth(User), path: 'messages' })
    registry.register(Vault, { exclude: ['api_key', 'accessToken', 'password_hash'] })
    registry.register(Account, { auth: userAuth(User), ownerField: 'user', readOnly: ['role', 'is_admin'] })
  }))
  t.strictSame(dangersFrom(right), [])
})

test('users who create themselves, and passwords that everybody starts with, are flagged', async (t) => {
  const Person = defineModel('Person', {
    username: text(),
    password: password({ default: 'letmein' }),
    active: boolean({ default: true }),
    note: text({ default: '' })
  })
  const auth = { ...adminAuth(Person, { admin: 'active' }), open: ['list', 'read', 'create'] } satisfies Policy
  const found = await inspect(
    await build(t, [Person], (registry) => { registry.register(Person, { auth, exclude: ['password'] }) })
  )
  t.strictSame(dangersFrom(found), [
    'person: anybody may create without logging in', 'person: anybody may create users who can log in',
    'person.password: is a password with a default',
    'person.active: gives power over others, and anybody may write it'
  ])
})

test('passwords are told of users whose passwords may be changed, and of no others', async (t) => {
  const Person = defineModel('Person', { name: text(), password: password({ nullable: true }) })
  const Guest = defineModel('Guest', { name: text() })
  const auth = hostAuth(async () => null, { users: Person })
  const { dangers } = await inspect(await build(t, [Person, Guest], (registry) => {
    registry.register(Person, { auth, exclude: ['password'] })
    registry.register(Person, { auth, exclude: ['password'], readOnly: ['password'], path: 'people' })
    registry.register(Guest, { auth: hostAuth(async () => null, { users: Guest }) })
  }))
  t.strictSame(dangersFrom({ dangers }), [
    'person: users may change other users, their passwords too', 'people: users may change other users',
    'guest: users may change other users'
  ])
})

test('a policy of one\'s own is asked about a user and an admin, with the keys of its users', async (t) => {
  const Person = defineModel('Person', { id: uuid(), name: text() })
  const asked: unknown[] = []
  const policy: Policy = {
    open: [],
    users: Person,
    authenticator: () => async () => null,
    permits: (user, operation) => {
      asked.push(typeof user.id)
      if (operation === 'delete') throw new TypeError('Who is this?')
      if (operation === 'update' && user.admin) throw new TypeError('Who is this?')
      return operation !== 'create' && (user.admin || operation === 'list')
    }
  }
  const { resources: [person] } = await inspect(
    await build(t, [Person], (registry) => { registry.register(Person, { auth: policy }) })
  )
  t.strictSame(person?.operations, {
    list: 'users', read: 'some users', create: 'some users', update: 'some users', delete: 'some users'
  })
  t.equal(person?.fields[1]?.read, 'users', 'a list shows it as well')
  t.strictSame(new Set(asked), new Set(['string']))
})

test('what a policy closes is for nobody, even if it would permit it', async (t) => {
  const policy: Policy = {
    open: ['list'], closed: ['create', 'update', 'delete'], authenticator: () => async () => null, permits: () => true
  }
  const { resources: [user], dangers } = await inspect(
    await build(t, [User], (registry) => { registry.register(User, { auth: policy, exclude: ['password'] }) })
  )
  t.strictSame(user?.operations, {
    list: 'anybody', read: 'users', create: 'nobody', update: 'nobody', delete: 'nobody'
  })
  t.strictSame(dangers, [])
})

test('D-88: users whom only the policy knows count like users, for what is dangerous', async (t) => {
  const auth: Policy = { ...userAuth(User), permits: ({ id }) => id === 7 }
  const { resources, dangers } = await inspect(await build(t, siteModels, (registry) => {
    registry.register(User, { auth, exclude: ['password'] })
    registry.register(Message, { auth })
    registry.register(Relationship, { auth: { ...auth, closed: ['update'] }, ownerField: 'from_user' })
  }))
  t.strictSame(dangersFrom({ dangers }), [
    'user: some users may change other users, their passwords too',
    'user.admin: gives power over others, and some users may write it',
    "message: some users may write each other's records: it refers to users by user, but has no ownerField"
  ])
  t.match(resources[2]?.operations, { create: 'some users', update: 'nobody', delete: 'some users who own it' })
})

test('D-88: what a policy refuses without a look at the user, or to both kinds, is for nobody', async (t) => {
  const isRead = (operation: string): boolean => ['list', 'read'].includes(operation)
  const readOnly = { permits: (_user: unknown, operation: string) => isRead(operation) }
  const closed = { list: 'users', create: 'nobody', update: 'nobody', delete: 'nobody' }
  for (const [auth, expected] of [
    [userAuth(User, { protect: 'all', ...readOnly }), closed],
    [adminAuth(User, { protect: 'all', ...readOnly }), { ...closed, list: 'admins' }],
    [hostAuth(async () => ({ id: 1, admin: true }), { protect: 'all', ...readOnly }), closed]
  ] as const) {
    const { resources: [message], dangers } = await inspect(
      await build(t, siteModels, (registry) => { registry.register(Message, { auth }) })
    )
    t.match(message?.operations, expected)
    t.ok(message?.fields.every(({ create, update }) => create === 'nobody' && update === 'nobody'))
    t.strictSame(dangers, [])
  }
})

test('D-88: what admins may do, and users by a role as well, is for some users', async (t) => {
  const Member = defineModel('Member', {
    username: text(),
    password: password(),
    role: text({ enum: ['member', 'manager'] }),
    active: boolean(),
    admin: boolean()
  })
  const permits = (user: { role: string, admin: boolean }, operation: string): boolean =>
    operation === 'create' ? user.admin : user.admin || user.role === 'manager'
  for (const auth of [
    userAuth(Member, { fields: ['role'], permits }),
    hostAuth(async () => ({ id: 1, admin: false, role: 'manager' }), { users: Member, permits })
  ]) {
    const { resources: [member], dangers } = await inspect(await build(t, [Member], (registry) => {
      registry.register(Member, { auth: auth as Policy, exclude: ['password'] })
    }))
    t.match(member?.operations, { create: 'admins', update: 'some users', delete: 'some users' })
    t.match(dangersFrom({ dangers })[0], 'member: some users may change other users, their passwords too')
  }
})

test('D-88: a policy that asks for the class of a user looks at the user', async (t) => {
  class Editor { readonly id = 1 }
  const auth = hostAuth(async () => new Editor(), { protect: 'all', permits: (user) => user instanceof Editor })
  const { resources: [message] } = await inspect(
    await build(t, siteModels, (registry) => { registry.register(Message, { auth }) })
  )
  t.match(message?.operations, { list: 'some users', create: 'some users' })
})

interface Staff {
  readonly id: number
  readonly role?: string
  readonly admin?: number
  readonly grants: readonly string[]
}

test('D-88: what a policy refuses after any look at the user may be for some', async (t) => {
  const looks: Readonly<Record<string, (user: Staff) => boolean>> = {
    'at a property': ({ role }) => role === 'editor',
    'at a flag, which may hold more than a boolean': ({ admin }) => admin === 1,
    'by in': (user) => 'grants' in user,
    'by hasOwn': (user) => Object.hasOwn(user, 'grants'),
    'by keys': (user) => Object.keys(user).includes('grants'),
    'whose failure it hides': ({ grants }) => {
      try { return grants.map((grant) => grant).includes('write') } catch { return false }
    }
  }
  for (const [name, permits] of Object.entries(looks)) {
    const auth = hostAuth(async () => undefined as Staff | undefined, { permits })
    const { resources: [message] } = await inspect(
      await build(t, siteModels, (registry) => { registry.register(Message, { auth }) })
    )
    t.equal(message?.operations.create, 'some users', name)
  }
})

test('D-88: records that an admin alone may change if they are his own are said to be so', async (t) => {
  const { resources: [message] } = await inspect(await build(t, siteModels, (registry) => {
    registry.register(Message, { auth: adminAuth(User), ownerField: 'user' })
  }))
  t.match(message?.operations, { create: 'admins', update: 'admins who own it', delete: 'admins who own it' })
  t.equal(message?.fields.find(({ field }) => field === 'content')?.update, 'admins who own it')
})

test('secrets that another resource opens by name are flagged for whoever may filter by them', async (t) => {
  const Holder = defineModel('Holder', { api_key: text(), name: text() })
  const Letter = defineModel('Letter', { holder: foreignKey(() => Holder) })
  const found = async (holders: Policy | undefined, letters: Policy | undefined): Promise<string[]> =>
    dangersFrom(await inspect(await build(t, [User, Holder, Letter], (registry) => {
      registry.register(Holder, { exclude: ['api_key'], ...(holders && { auth: holders }) })
      registry.register(Letter, { filterable: ['holder__api_key', 'holder__name'], ...(letters && { auth: letters }) })
    })))
  const all = { protect: 'all' } as const
  t.strictSame(await found(undefined, undefined), [
    'letter.holder__api_key: looks secret, and anybody can find its values out by filters'
  ])
  t.strictSame(
    await found(userAuth(User, all), undefined), [], 'whoever is not known may not look through what is guarded'
  )
  t.strictSame(await found(userAuth(User, all), userAuth(User, all)), [
    'letter.holder__api_key: looks secret, and users can find its values out by filters'
  ])
  t.strictSame(await found(adminAuth(User, all), userAuth(User, all)), [])
  t.strictSame(await found(userAuth(User, all), adminAuth(User, all)), [])
  const closed: Policy = { ...userAuth(User, all), closed: ['list'] }
  t.strictSame(await found(closed, userAuth(User, all)), [], 'nobody may look through what is closed')
  const { login, ...other } = userAuth(User, all)
  t.strictSame(await found(other, { ...other }), [], 'nor through what knows other people')
  t.strictSame(await found(other, other), [
    'letter.holder__api_key: looks secret, and users can find its values out by filters'
  ])
})

test('what is a secret only in its table is flagged there, as serve hides it', async (t) => {
  const columns = { id: text(), code: text(), data: text() }
  const Session = defineModel('Session', columns)
  const Book = defineModel('Book', columns)
  const Loan = defineModel('Loan', { session: foreignKey(() => Session), book: foreignKey(() => Book) })
  const inspected = await inspect(await build(t, [Session, Book, Loan], (registry) => {
    registry.register(Session, { exclude: ['code'] }).register(Book)
    registry.register(Loan, { filterable: ['session__code', 'book__code'] })
  }))
  t.strictSame(dangersFrom(inspected), [
    'session.id: looks secret, and anybody may read it',
    'session.data: looks secret, and anybody may read it',
    'loan.session: looks secret, and anybody may read it',
    'loan.session__code: looks secret, and anybody can find its values out by filters'
  ])
})

test('the field that tells a policy who is an admin gives power, whatever its name', async (t) => {
  const Person = defineModel('Person', {
    username: text(),
    password: password(),
    active: boolean(),
    chief: boolean({ default: false }),
    tall: boolean({ default: false })
  })
  const admin = adminAuth(Person, { admin: 'chief' })
  const found = await inspect(await build(t, [Person], (registry) => {
    registry.register(Person, { auth: userAuth(Person), exclude: ['password'], path: 'people' })
    registry.register(Person, { auth: admin, exclude: ['password'] })
    registry.register(Person, { auth: { ...admin, login: null }, exclude: ['password'], path: 'others' })
  }))
  t.strictSame(dangersFrom(found), [
    'people: users may change other users, their passwords too',
    'people.chief: gives power over others, and users may write it'
  ])
})

test('D-89: what the limits refuse is not asked about, and a number below 1 is', async (t) => {
  const Share = defineModel('Share', {
    part: decimal({ precision: 4, scale: 4 }), code: uuid(), user: foreignKey(() => User)
  })
  const names = async (limits: Record<string, number>): Promise<string[]> => {
    const { unindexed } = await inspect(await build(
      t, [User, Share], (registry) => { registry.register(Share, { filterable: ['user__email'] }) }, { limits }
    ))
    return unindexed.map(({ use, name }) => `${use} ${name}`).sort()
  }
  const orderings = ['ordering code', 'ordering part']
  t.strictSame(await names({}), ['filter code', 'filter part', 'filter user__email', ...orderings])
  t.strictSame(await names({ joins: 0 }), ['filter code', 'filter part', ...orderings])
  t.strictSame(await names({ totalJoins: 0 }), ['filter code', 'filter part', ...orderings])
  t.strictSame(await names({ valueLength: 35 }), ['filter part', 'filter user__email', ...orderings])
  t.strictSame(await names({ queryLength: 5 }), [])
})

test('D-89: filters and orderings without an index are found by asking the database', async (t) => {
  const Tag = defineModel('Tag', {
    id: uuid(),
    word: text({ unique: true }),
    extra: json({ nullable: true }),
    pointer: text({ format: 'json-pointer' }),
    other: foreignKey((): Model => Tag, { nullable: true })
  })
  const app = await build(t, [...siteModels, Tag], (registry) => {
    registry.register(User, { exclude: ['password', 'email', 'active', 'admin'], filterable: ['email'] })
    registry.register(Message)
    registry.register(Relationship, { filterable: ['to_user__active'] })
    registry.register(Note)
    registry.register(Tag)
  })
  const { unindexed } = await inspect(app)
  const names = unindexed.map(({ resource, use, name }) => `${resource} ${use} ${name}`)
    .filter((name) => !/ordering (?:username|content|message|word|email|pointer)$/.test(name))
  t.strictSame(names.sort(), [
    'message filter content', 'message filter pub_date', 'message filter user__email',
    'message filter user__join_date', 'message ordering pub_date', 'note filter created', 'note filter message',
    'note ordering created', 'relationship filter from_user__email', 'relationship filter from_user__join_date',
    'relationship filter to_user__active', 'relationship filter to_user__email',
    'relationship filter to_user__join_date', 'tag filter extra', 'tag filter other__extra',
    'tag filter other__pointer', 'tag filter pointer',
    ...engine === 'postgres' ? ['tag ordering other'] : [], 'user filter email', 'user filter join_date',
    'user ordering join_date'
  ])
  // On PostgreSQL an index of a nullable column has to say that nulls come first.
  const texts = unindexed.filter(({ use, name }) => use === 'ordering' && ['username', 'word'].includes(name))
  t.same(texts, [], 'the index of a unique text serves its ordering')
})

test('D-249: related records that no index finds are told, once for each foreign key', async (t) => {
  const Holder = defineModel('Holder', { id: uuid(), name: text() })
  const Letter = defineModel('Letter', {
    holder: foreignKey(() => Holder),
    copy: foreignKey(() => Holder, { nullable: true }),
    user: foreignKey(() => User),
    answered: foreignKey((): Model => Letter, { nullable: true })
  })
  const db = await openDatabase(t)
  await createTables(db, [User, Holder, Letter])
  const start = async (limits: Record<string, number> = {}) => {
    const app = Fastify()
    t.teardown(async () => { await app.close() })
    await app.register(restModels, { db, limits })
    app.restModels.register(Letter, { scope: () => ({ user: 1 }) }).register(Holder)
    await app.restModels.setup()
    return async () => (await inspect(app)).unindexed.filter(({ use }) => use === 'include')
  }
  // A later `setup()` would refuse the key without an index.
  const [found, withoutJoins, withShortQueries] =
    [await start(), await start({ joins: 0 }), await start({ queryLength: 10 })] as const
  t.strictSame(await found(), [])
  await withoutKey(db)
  const told = { resource: 'letter', use: 'include', table: 'holder', rows: 0 }
  t.strictSame(await found(), [{ ...told, name: 'holder' }, { ...told, name: 'copy' }], 'in a scope with an index, too')
  t.strictSame(await withoutJoins(), [], 'but not what the limits refuse')
  t.strictSame(await withShortQueries(), [])
})

/** Takes the index from the primary key of the table `holder`. */
async function withoutKey (db: Kysely<Tables>): Promise<void> {
  if (engine === 'sqlite') {
    await sql`pragma foreign_keys = off`.execute(db)
    await sql`drop table holder`.execute(db)
    await sql`create table holder (id text not null, name text not null)`.execute(db)
    await sql`pragma foreign_keys = on`.execute(db)
  } else if (engine === 'postgres') {
    await sql`alter table holder drop constraint holder_pkey cascade`.execute(db)
  } else {
    await sql`set foreign_key_checks = 0`.execute(db)
    await sql`alter table holder drop primary key`.execute(db)
    await sql`set foreign_key_checks = 1`.execute(db)
  }
}

test('D-250: a search has an index if one finds the words in each of its fields', async (t) => {
  const db = await openDatabase(t)
  await createTables(db, [Note, User])
  await sql`insert into note (message, created) values ('a', '2026-01-01 00:00:00')`.execute(db)
  for (let rows = 1; rows < 8192; rows *= 2) {
    await sql`insert into note (message, created) select message, created from note`.execute(db)
  }
  const app = Fastify()
  t.teardown(async () => { await app.close() })
  await app.register(restModels, { db })
  app.restModels.register(Note, { search: ['message'] })
  app.restModels.register(User, { exclude: ['password'], search: ['username', 'email'] })
  await app.restModels.setup()
  const found = async (): Promise<string[]> =>
    (await inspect(app)).unindexed.filter(({ use }) => use === 'search').map(({ name }) => name)
  t.strictSame(await found(), ['message', 'username, email'])
  await sql`create index by_message on note (${sql.raw(engine === 'mariadb' ? 'message(20)' : 'message')})`.execute(db)
  t.strictSame(await found(), ['message', 'username, email'], 'an index of whole texts does not find a word in them')
  if (engine !== 'postgres') return
  await sql`create extension if not exists pg_trgm with schema public`.execute(db)
  await sql`create index by_words on note using gin (lower(message collate "C") public.gin_trgm_ops)`.execute(db)
  await sql`create index by_name on "user" using gin (lower(username collate "C") public.gin_trgm_ops)`.execute(db)
  await sql`analyze note`.execute(db)
  t.strictSame(await found(), ['username, email'])
})

test('D-251: an index finds the few records that have a value, for the page and for the count', async (t) => {
  const Task = defineModel('Task', { rank: integer({ nullable: true }) })
  const db = await openDatabase(t)
  await createTables(db, [Task])
  await sql`insert into task (rank) values (7)`.execute(db)
  for (let rows = 1; rows < 8192; rows *= 2) await sql`insert into task (rank) select null from task`.execute(db)
  const app = Fastify()
  t.teardown(async () => { await app.close() })
  await app.register(restModels, { db })
  app.restModels.register(Task)
  await app.restModels.setup()
  const [resource] = Registry.resourcesOf(app) as readonly [Resource]
  const wanted = parseListQuery('rank__is=notnull', 100, 100)
  const plan = planList(resource, wanted, { ...unscoped, closed: new Set() })
  t.equal(await isSought(resource, plan), false)
  await sql`create index by_rank on task (${sql.ref('rank')})`.execute(db)
  await sql.raw(engine === 'mariadb' ? 'analyze table task' : 'analyze').execute(db)
  t.equal(await isSought(resource, plan), true)
})

test('D-89: a search has no index, and all fields that it looks at are named together', async (t) => {
  const { unindexed } = await inspect(await build(t, siteModels, (registry) => {
    registry.register(Note, { search: ['message'] })
    registry.register(User, { exclude: ['password'], search: ['username', 'email'] })
    const auth = userAuth(User, { protect: 'all' })
    registry.register(Message, { auth, search: ['content'], scope: () => ({ id: 1 }) })
  }))
  t.strictSame(unindexed.filter(({ use }) => use === 'search'), [
    { resource: 'note', use: 'search', name: 'message', table: 'note', rows: 0 },
    { resource: 'user', use: 'search', name: 'username, email', table: 'user', rows: 0 }
  ], 'but for the one that an indexed scope bounds')
})

test('an index that is made is found, on an empty table and on one with rows', async (t) => {
  const db = await openDatabase(t)
  await createTables(db, siteModels)
  await sql`create index by_date on note (created)`.execute(db)
  await sql`create index by_moment on message (pub_date)`.execute(db)
  for (let count = 0; count < 5; count++) await db.insertInto('note').values({ message: `${count}` }).execute()
  const app = Fastify()
  t.teardown(async () => { await app.close() })
  await app.register(restModels, { db })
  app.restModels.register(Note).register(Message)
  await app.restModels.setup()
  const { unindexed } = await inspect(app)
  t.strictSame(unindexed.filter(({ name }) => ['created', 'pub_date'].includes(name)), [])
  t.ok(unindexed.some(({ name }) => name === 'message'))
})

test('the index of a boolean is found, and a boolean without one is told', async (t) => {
  const Job = defineModel('Job', {
    done: boolean(), late: boolean({ nullable: true }), first: boolean(), last: boolean(), bare: boolean()
  })
  const db = await openDatabase(t)
  await createTables(db, [Job])
  for (const columns of ['done', 'late', 'first, last']) {
    await sql`create index ${sql.ref(columns)} on job (${sql.raw(columns)})`.execute(db)
  }
  const app = Fastify()
  t.teardown(async () => { await app.close() })
  await app.register(restModels, { db })
  app.restModels.register(Job)
  await app.restModels.setup()
  const { unindexed } = await inspect(app)
  t.strictSame(unindexed.filter(({ use }) => use === 'filter').map(({ name }) => name), ['last', 'bare'])
})

test('D-177: what has no index names its table and the rows of that table, the largest first', async (t) => {
  const db = await openDatabase(t)
  await createTables(db, siteModels)
  const user = { username: 'a', password: 'x', email: 'a', join_date: '2026-01-01 00:00:00', active: 1, admin: 0 }
  await db.insertInto('user').values({ id: 1, ...user }).execute()
  await db.insertInto('message').values({ user_id: 1, content: 'a', pub_date: '2026-01-01 00:00:00' }).execute()
  for (let half = 1; half < 2 * maxCounted; half *= 2) {
    await sql`insert into note (message, created) select content, pub_date from message`.execute(db)
    if (half > 1) await sql`insert into note (message, created) select message, created from note`.execute(db)
  }
  await db.insertInto('message').values({ user_id: 1, content: 'a', pub_date: '2026-01-01 00:00:00' }).execute()
  const app = Fastify()
  t.teardown(async () => { await app.close() })
  await app.register(restModels, { db })
  app.restModels.register(Relationship).register(Message, { filterable: ['user__email'] }).register(Note)
  await app.restModels.setup()
  const { unindexed } = await inspect(app)
  const tables = unindexed.filter(({ use }) => use === 'filter')
    .map(({ resource, name, table, rows }) => `${resource} ${name}: ${table} ${rows}`)
  t.strictSame(tables, [
    `note message: note ${maxCounted}`, `note created: note ${maxCounted}`, 'message content: message 2',
    'message pub_date: message 2', 'message user__email: user 1'
  ])
  t.strictSame(unindexed.map(({ rows }) => rows), unindexed.map(({ rows }) => rows).sort((one, other) => other - one))
})

test('an index serves the columns with which it begins', async (t) => {
  const Place = defineModel('Place', {
    first: integer(), second: integer(), third: integer({ nullable: true }), fourth: integer()
  })
  const db = await openDatabase(t)
  await createTables(db, [Place])
  await sql`create index several on place (first, second, third)`.execute(db)
  if (engine === 'postgres') await sql`create index every on place using brin (id, fourth)`.execute(db)
  const values =
    Array.from({ length: 500 }, (_, count) => ({ first: count % 7, second: count, third: count, fourth: count }))
  await db.insertInto('place').values(values).execute()
  const app = Fastify()
  t.teardown(async () => { await app.close() })
  await app.register(restModels, { db })
  app.restModels.register(Place)
  await app.restModels.setup()
  const { unindexed } = await inspect(app)
  t.strictSame(unindexed.filter(({ use }) => use === 'filter').map(({ name }) => name), [
    'second', 'third', ...engine === 'postgres' ? [] : ['fourth']
  ])
})

test('the index of a key of several columns serves the first of them', async (t) => {
  const Line = defineModel('OrderLine', { order: integer(), product: integer() }, { key: ['order', 'product'] })
  const app = await build(t, [Line], (registry) => { registry.register(Line) })
  t.strictSame((await inspect(app)).unindexed.map(({ use, name }) => `${use} ${name}`).sort(), [
    'filter product', 'ordering product'
  ])
})

test('a container is found under any name, and records whose keys clients give are created by them', async (t) => {
  const Genre = defineModel('Genre', { id: key({ generated: false }), name: text({ nullable: true }) })
  const { resources: [genre] } = await inspect(await build(t, [Genre], (registry) => {
    registry.register(Genre, {
      auth: { open: ['list', 'create'], authenticator: () => async () => null, permits: () => false }
    })
  }, { decorator: 'music' }))
  t.match(genre, { resource: 'genre', operations: { list: 'anybody', create: 'anybody' } })
})

test('containers in scopes of the app are found, and getters of the host are let alone', async (t) => {
  const db = await openDatabase(t)
  await createTables(db, siteModels)
  const app = Fastify()
  t.teardown(async () => { await app.close() })
  app.decorate('secret', { getter: () => { throw new Error('Nobody may look at this') } })
  for (const prefix of ['/v1', '/v2']) {
    await app.register(async (scope) => {
      await scope.register(restModels, { db })
      scope.restModels.register(User, {
        path: `${prefix.slice(1)}-user`, exclude: prefix === '/v1' ? ['password'] : []
      })
      await scope.restModels.setup()
    }, { prefix })
  }
  const { resources, dangers } = await inspect(app)
  t.strictSame(resources.map(({ resource }) => resource), ['v1-user', 'v2-user'])
  t.strictSame(dangersFrom({ dangers }), [
    'v2-user.password: looks secret, and anybody may read it'
  ])
  const other = Fastify()
  t.teardown(async () => { await other.close() })
  await t.rejects(inspect(other), { code: 'REST_MODELS_INVALID_OPTIONS' }, 'another app has none of them')
})

test('an app without resources is refused with the remedy', async (t) => {
  const app = Fastify()
  t.teardown(async () => { await app.close() })
  await t.rejects(inspect(app), {
    code: 'REST_MODELS_INVALID_OPTIONS', message: /has no resources: register the plugin and models, and call setup\(\)/
  })
})

test('only what the limits refuse is passed over: another failure is told', async (t) => {
  const app = await build(t, siteModels, registerSite)
  const [resource] = Registry.resourcesOf(app) as readonly [Resource]
  const broken = {
    ...resource,
    limits: Object.defineProperty({ ...resource.limits }, 'queryLength', { get: () => { throw new Error('broken') } })
  }
  await t.rejects(unindexedOf(broken, new TableSizes(), new KeyLookups()), { message: 'broken' })
})

test('an index that an engine does not list as one for the column is none', async (t) => {
  const app = await build(t, siteModels, registerSite)
  const [resource] = Registry.resourcesOf(app) as readonly [Resource]
  const told = async (sought: RawBuilder<{ table: string, column: string }>): Promise<string[]> => {
    const { reader } = resource
    const plans = { ...reader.dialect.plans, sought }
    const changed = { ...resource, reader: { ...reader, dialect: { ...reader.dialect, plans } } }
    return (await unindexedOf(changed, new TableSizes(), new KeyLookups()))
      .filter(({ use }) => use === 'filter').map(({ name }) => name)
  }
  t.notOk(
    (await told(sql`select 'user' as ${sql.ref('table')}, 'username' as ${sql.ref('column')}`)).includes('username')
  )
  t.ok((await told(sql`select 'user' as ${sql.ref('table')}, 'other' as ${sql.ref('column')}`)).includes('username'))
})

test('texts that a list shows are named if nothing bounds them', async (t) => {
  const Page = defineModel('Page', {
    title: text({ maxLength: 80 }),
    body: text(),
    slug: text({ unique: true }),
    url: text({ format: 'url' }),
    state: text({ enum: ['a'] }),
    hidden: text(),
    data: json(),
    count: integer(),
    secret: password()
  })
  const { unbounded } = await inspect(await build(t, [...siteModels, Page], (registry) => {
    registry.register(Page, { exclude: ['hidden', 'secret'] })
    registry.register(Note, { auth: { ...adminAuth(User), open: [], closed: ['list'] } })
    registry.register(Message)
  }))
  t.strictSame(unbounded, [{ resource: 'page', field: 'body' }, { resource: 'message', field: 'content' }])
})
