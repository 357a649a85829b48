import { join } from 'node:path'
import Database from 'better-sqlite3'
import Fastify, { type FastifyInstance } from 'fastify'
import { DummyDriver, Kysely, MssqlAdapter, MssqlIntrospector, MssqlQueryCompiler, sql } from 'kysely'
import tap, { test, type Test } from 'tap'
import restModels, {
  adminAuth, bigint, boolean, createTables, date, datetime, decimal, defineModel, foreignKey, integer, password,
  readOnlyAuth, text, userAuth, uuid,
  type Field, type Model, type ResourceOptions, type ResourceRegistry, type RestModelsOptions
} from '../../lib/index.js'
import type { Tables } from '../../lib/engines/executor.js'
import { openSqlite } from '../../lib/sqlite.js'
import { checkAnswers } from '../support/answers.js'
import { engine, openDatabase } from '../support/database.js'
import { buildApp, Message, Note, Relationship, siteModels, User } from '../support/site.js'

/** A mistake of a deployer, what its error must name, and the same without the mistake. */
interface Mistake {
  readonly wrong: unknown
  readonly right: unknown
  readonly code: string
  readonly names: readonly string[]
}

type Attempt = (given: unknown) => Promise<unknown>

async function requireRefusal (t: Test, attempt: Attempt, { wrong, right, code, names }: Mistake): Promise<void> {
  const error: unknown = await attempt(wrong).then(() => undefined, (error: unknown) => error)
  t.match(error, { code: `REST_MODELS_${code}`, statusCode: 500 })
  if (!(error instanceof Error)) return
  for (const name of names) t.ok(error.message.includes(name), `'${error.message}' says ${name}`)
  await t.resolves(attempt(right), 'the same without the mistake starts')
}

/** A database whose tables were made by hand. */
async function legacy (t: Test, ...statements: string[]): Promise<Kysely<Tables>> {
  const db = await openDatabase(t)
  for (const statement of statements) await sql.raw(statement).execute(db)
  return db
}

const Post = defineModel('Post', {
  author: foreignKey(() => User),
  note: foreignKey(() => Note, { nullable: true }),
  title: text(),
  secret: text({ default: '' })
})

let site: Promise<Kysely<Tables>> | undefined

/** The tables of the example project and of posts, for tests that look at what is told before any row is. */
async function siteTables (): Promise<Kysely<Tables>> {
  site ??= openDatabase(tap).then(async (db) => {
    await createTables(db, [...siteModels, Post])
    return db
  })
  return await site
}

const onlyNote = (registry: ResourceRegistry): void => { registry.register(Note) }

const wrongPluginOptions: Record<string, Mistake> = {
  'an unknown option': {
    wrong: { maxLimits: 50 },
    right: { maxLimit: 50 },
    code: 'INVALID_OPTIONS',
    names: ["'maxLimits'", "did you mean 'maxLimit'?"]
  },
  'no database': {
    wrong: { db: undefined }, right: {}, code: 'INVALID_OPTIONS', names: ["'db'", 'Kysely', 'openSqlite()']
  },
  'a database that is no Kysely': {
    wrong: { db: {} }, right: {}, code: 'INVALID_OPTIONS', names: ["'db'", 'Kysely', 'openSqlite()']
  },
  'a policy that is none': {
    wrong: { defaultAuth: userAuth },
    right: { defaultAuth: userAuth(User) },
    code: 'INVALID_OPTIONS',
    names: ["'defaultAuth'", 'userAuth(User)']
  },
  'a policy that is null': {
    wrong: { defaultAuth: null },
    right: { defaultAuth: readOnlyAuth() },
    code: 'INVALID_OPTIONS',
    names: ["'defaultAuth'", 'readOnlyAuth()']
  },
  'a prefix without its slash': {
    wrong: { prefix: 'api' }, right: { prefix: '/v1/api' }, code: 'INVALID_OPTIONS', names: ["'prefix'", "'/api'"]
  },
  'a prefix with a final slash': {
    wrong: { prefix: '/api/' }, right: { prefix: '' }, code: 'INVALID_OPTIONS', names: ["'prefix'", 'final slash']
  },
  'a prefix with a parameter': {
    wrong: { prefix: '/:tenant' }, right: { prefix: '/tenant' }, code: 'INVALID_OPTIONS', names: ["'prefix'"]
  },
  'no record per page': {
    wrong: { defaultLimit: 0 },
    right: { defaultLimit: 1 },
    code: 'INVALID_OPTIONS',
    names: ["'defaultLimit'", 'at least 1']
  },
  'half a record per page': {
    wrong: { maxLimit: 99.5 }, right: { maxLimit: 99 }, code: 'INVALID_OPTIONS', names: ["'maxLimit'", 'whole number']
  },
  'more records by default than at most': {
    wrong: { defaultLimit: 50, maxLimit: 20 },
    right: { defaultLimit: 20, maxLimit: 50 },
    code: 'INVALID_OPTIONS',
    names: ["'defaultLimit'", "'maxLimit'"]
  },
  'an unknown limit': {
    wrong: { limits: { join: 2 } },
    right: { limits: { joins: 2 } },
    code: 'INVALID_OPTIONS',
    names: ["'limits'", "'join'", "did you mean 'joins'?"]
  },
  'a limit below 0': {
    wrong: { limits: { joins: -1 } },
    right: { limits: { joins: 0 } },
    code: 'INVALID_OPTIONS',
    names: ["'limits.joins'", 'from 0 to 25']
  },
  ...Object.fromEntries(['patternLength', 'valueLength', 'queryLength'].map((name) => [`a ${name} of 0`, {
    wrong: { limits: { [name]: 0 } },
    right: { limits: { [name]: 1 } },
    code: 'INVALID_OPTIONS',
    names: [`'limits.${name}'`, 'at least 1']
  }])),
  'more joins than an engine takes': {
    wrong: { limits: { totalJoins: 26 } },
    right: { limits: { totalJoins: 25 } },
    code: 'INVALID_OPTIONS',
    names: ["'limits.totalJoins'", 'from 0 to 25']
  },
  'a limit that is a text': {
    wrong: { limits: { joins: '3' } },
    right: { limits: { joins: 3 } },
    code: 'INVALID_OPTIONS',
    names: ["'limits.joins'", 'whole number']
  },
  'an origin with a path': {
    wrong: { allowedOrigins: ['https://a.example/'] },
    right: { allowedOrigins: ['https://a.example'] },
    code: 'INVALID_OPTIONS',
    names: ["'allowedOrigins'", "'https://a.example/'", "'https://app.example.com'"]
  },
  ...Object.fromEntries([
    'capacitor://localhost/', 'capacitor://LOCALHOST', 'Capacitor://localhost', 'https://*.example.com', 'ionic://*',
    'tauri://user@localhost', 'https://a.example:443', 'file://', 'localhost', 'null', '*', 'data:text/html,a', 5
  ].map((origin) => [`the origin ${origin}`, {
    wrong: { allowedOrigins: [origin] },
    right: { allowedOrigins: ['capacitor://localhost', 'tauri://localhost:1420', 'http://[::1]:8080'] },
    code: 'INVALID_OPTIONS',
    names: ["'allowedOrigins'", `'${origin}'`, "'https://app.example.com'"]
  }])),
  'one origin without a list': {
    wrong: { allowedOrigins: 'https://a.example' },
    right: { allowedOrigins: [] },
    code: 'INVALID_OPTIONS',
    names: ["'allowedOrigins'", 'a list']
  }
}

for (const [name, mistake] of Object.entries(wrongPluginOptions)) {
  test(`the plugin refuses ${name}`, async (t) => {
    const db = await siteTables()
    await requireRefusal(t, async (options) => await buildApp(t, {
      models: [], register: onlyNote, options: { db, ...options as Partial<RestModelsOptions> }
    }), mistake)
  })
}

const wrongResourceOptions: Record<string, Mistake> = {
  'an unknown option': {
    wrong: { excluded: ['title'] },
    right: { exclude: ['title'] },
    code: 'INVALID_OPTIONS',
    names: ["'Post'", "'excluded'", "did you mean 'exclude'?"]
  },
  'an unknown field in exclude': {
    wrong: { exclude: ['titel'] },
    right: { exclude: ['title'] },
    code: 'UNKNOWN_OPTION_FIELD',
    names: ["'exclude'", "'Post'", "'titel'", "did you mean 'title'?"]
  },
  'the key of a foreign key in exclude': {
    wrong: { exclude: ['author_id'] },
    right: { exclude: ['author'] },
    code: 'UNKNOWN_OPTION_FIELD',
    names: ["'exclude'", "'Post'", "'author_id'", "did you mean 'author'?"]
  },
  'the primary key in exclude': {
    wrong: { exclude: ['id'] },
    right: { exclude: ['author'] },
    code: 'UNKNOWN_OPTION_FIELD',
    names: ["'exclude'", "'Post'", "'id'", 'which is the key']
  },
  'exclude that is no list': {
    wrong: { exclude: 'title' },
    right: { exclude: ['title'] },
    code: 'INVALID_OPTIONS',
    names: ["'exclude'", "'Post'", 'a list']
  },
  'an unknown field in readOnly': {
    wrong: { readOnly: ['secrets'] },
    right: { readOnly: ['secret'] },
    code: 'UNKNOWN_OPTION_FIELD',
    names: ["'readOnly'", "'Post'", "'secrets'", "did you mean 'secret'?"]
  },
  'a read-only field that no create could fill': {
    wrong: { readOnly: ['title'], auth: userAuth(User) },
    right: { readOnly: ['note', 'secret'], auth: userAuth(User) },
    code: 'INVALID_OPTIONS',
    names: ["'readOnly'", "'Post'", "'title'", 'no default']
  },
  'readOnly that is no list': {
    wrong: { readOnly: 'secret' },
    right: { readOnly: ['secret'] },
    code: 'INVALID_OPTIONS',
    names: ["'readOnly'", "'Post'", 'a list']
  },
  'an unknown field in filterable': {
    wrong: { exclude: ['title'], filterable: ['titel'] },
    right: { exclude: ['title'], filterable: ['title'] },
    code: 'UNKNOWN_OPTION_FIELD',
    names: ["'filterable'", "'Post'", "'titel'", "did you mean 'title'?"]
  },
  'an unknown path in filterable': {
    wrong: { filterable: ['author__mail'] },
    right: { filterable: ['author__email'] },
    code: 'UNKNOWN_OPTION_FIELD',
    names: ["'filterable'", "'Post'", "'author__mail'", "did you mean 'email'?"]
  },
  'an unknown foreign key in filterable': {
    wrong: { filterable: ['auhtor__email'] },
    right: { filterable: ['author__email'] },
    code: 'UNKNOWN_OPTION_FIELD',
    names: ["'filterable'", "'Post'", "'auhtor__email'", "did you mean 'author'?"]
  },
  'a path through no foreign key in filterable': {
    wrong: { filterable: ['title__email'] },
    right: { filterable: ['author_id__email'] },
    code: 'UNKNOWN_OPTION_FIELD',
    names: ["'filterable'", "'Post'", "'title__email'"]
  },
  'a password in filterable': {
    wrong: { filterable: ['author__password'] },
    right: { filterable: ['author__username'] },
    code: 'INVALID_OPTIONS',
    names: ["'filterable'", "'Post'", "'author__password'", 'password can never']
  },
  'filterable that is no list': {
    wrong: { filterable: 'title' },
    right: { filterable: ['title'] },
    code: 'INVALID_OPTIONS',
    names: ["'filterable'", "'Post'", 'a list']
  },
  'an unknown owner field': {
    wrong: { ownerField: 'autor' },
    right: { ownerField: 'author' },
    code: 'UNKNOWN_OPTION_FIELD',
    names: ["'ownerField'", "'Post'", "'autor'", "did you mean 'author'?"]
  },
  'an owner field that is no foreign key': {
    wrong: { ownerField: 'title' },
    right: { ownerField: 'author' },
    code: 'INVALID_OPTIONS',
    names: ["'ownerField'", "'Post'", "'title'", 'not a foreign key']
  },
  "an owner that is not one of the policy's users": {
    wrong: { ownerField: 'note', auth: userAuth(User) },
    right: { ownerField: 'author', auth: userAuth(User) },
    code: 'INVALID_OPTIONS',
    names: ["'ownerField'", "'Post'", "'note'", "model 'Note'", "model 'User'"]
  },
  'an owner where anybody writes': {
    wrong: { ownerField: 'author', auth: { ...userAuth(User), open: ['list', 'read', 'create'] } },
    right: { ownerField: 'author', auth: userAuth(User) },
    code: 'INVALID_OPTIONS',
    names: ["'ownerField'", "'Post'", 'a policy that knows who writes']
  },
  'a policy that is none': {
    wrong: { auth: 'user' },
    right: { auth: adminAuth(User) },
    code: 'INVALID_OPTIONS',
    names: ["'auth'", "'Post'", 'adminAuth(User)']
  },
  'a path with capitals': {
    wrong: { path: 'Posts' },
    right: { path: 'posts' },
    code: 'INVALID_OPTIONS',
    names: ["'path'", "'Post'", 'lower-case']
  },
  'a limit of no records': {
    wrong: { maxLimit: 0 },
    right: { maxLimit: 100 },
    code: 'INVALID_OPTIONS',
    names: ["'maxLimit'", "'Post'", 'at least 1']
  },
  'more records by default than at most': {
    wrong: { defaultLimit: 101 },
    right: { defaultLimit: 100 },
    code: 'INVALID_OPTIONS',
    names: ["'defaultLimit'", "'Post'", "'maxLimit'"]
  }
}

test('D-221: where nobody creates records, a read-only field needs no default', async (t) => {
  const { post } = await buildApp(t, {
    models: [],
    options: { db: await siteTables() },
    register: (registry) => {
      registry.register(Post, { auth: { ...userAuth(User), closed: ['create'] }, readOnly: ['title'] })
    }
  })
  t.equal((await post('/api/post/', { title: 'x' }, { as: 'alice' })).statusCode, 401)
})

for (const [name, mistake] of Object.entries(wrongResourceOptions)) {
  test(`register() refuses ${name}`, async (t) => {
    const db = await siteTables()
    await requireRefusal(t, async (resource) => await buildApp(t, {
      models: [],
      options: { db },
      register: (registry) => { registry.register(Post, resource as ResourceOptions<typeof Post>) }
    }), mistake)
  })
}

test('register() refuses what is not a model', async (t) => {
  const register = (model: unknown) =>
    async () => await buildApp(t, { register: (registry) => { registry.register(model as Model) } })
  for (const model of [undefined, null, {}, 'Note']) {
    await t.rejects(register(model)(), {
      code: 'REST_MODELS_INVALID_OPTIONS', message: /register\(\).*defineModel\(\)/
    })
  }
  await t.resolves(register(Note)())
})

const Legacy = defineModel('Legacy', {
  name: text(), born: date({ nullable: true }), user: foreignKey(() => User, { nullable: true })
})

/** How each engine writes what the tables below need, and how it gives the types back. */
const {
  id, clob, quoted, reported
} = {
  sqlite: {
    id: 'id integer primary key',
    clob: 'clob',
    quoted: '"',
    reported: { integer: 'INTEGER', text: 'TEXT', blob: 'BLOB' }
  },
  postgres: {
    id: 'id integer generated by default as identity primary key',
    clob: 'varchar',
    quoted: '"',
    reported: { integer: 'integer', text: 'text', blob: 'bytea' }
  },
  mariadb: {
    id: 'id integer auto_increment primary key',
    clob: 'mediumtext',
    quoted: '`',
    reported: { integer: 'int', text: 'text', blob: 'blob' }
  }
}[engine]

const wrongTables: Record<string, Mistake> = {
  'a missing table': {
    wrong: `create table other (${id})`,
    right: `create table legacy (${id}, name text not null, born date, user_id integer)`,
    code: 'TABLE_MISMATCH',
    names: ["model 'Legacy'", "table 'legacy'", 'createTables()']
  },
  'a missing column': {
    wrong: `create table legacy (${id}, name text not null, user_id integer)`,
    right: `create table legacy (${id}, name varchar(40) not null, born date, user_id integer, more text)`,
    code: 'TABLE_MISMATCH',
    names: ["field 'born'", "model 'Legacy'", "column 'born'", "table 'legacy'"]
  },
  'bytes for a text': {
    wrong: `create table legacy (${id}, name ${reported.blob} not null, born date, user_id integer)`,
    right: `create table legacy (${id}, name ${clob} not null, born date, user_id integer)`,
    code: 'TABLE_MISMATCH',
    names: ["field 'name'", 'is text', reported.blob]
  },
  'an id that the database does not generate': {
    wrong: `create table legacy (id ${engine === 'sqlite' ? 'integer' : 'integer primary key'}, name text not null, ` +
      'born date, user_id integer)',
    right: `create table legacy (${id}, name text not null, born date, user_id integer)`,
    code: 'TABLE_MISMATCH',
    names: ["field 'id'", "model 'Legacy'", 'primary key']
  },
  'a missing primary key': {
    wrong: 'create table legacy (name text not null, born date, user_id integer)',
    right: `create table legacy (${id}, name text not null, born date, user_id integer)`,
    code: 'TABLE_MISMATCH',
    names: ["field 'id'", "model 'Legacy'", "column 'id'"]
  },
  'a column under the name of its field': {
    wrong: `create table legacy (${id}, name text not null, born date, ${quoted}user${quoted} integer)`,
    right: `create table legacy (${id}, name text not null, born date, user_id integer)`,
    code: 'TABLE_MISMATCH',
    names: ["field 'user'", "model 'Legacy'", "column 'user_id'"]
  },
  'a column of another type': {
    wrong: `create table legacy (${id}, name integer not null, born date, user_id integer)`,
    right: `create table legacy (${id}, name ${clob} not null, born date, user_id bigint)`,
    code: 'TABLE_MISMATCH',
    names: ["field 'name'", "model 'Legacy'", 'is text', `column 'name' is ${reported.integer}`, "table 'legacy'"]
  },
  'a column that may be null and must not': {
    wrong: `create table legacy (${id}, name text, born date, user_id integer)`,
    right: `create table legacy (${id}, name text not null, born date, user_id integer)`,
    code: 'TABLE_MISMATCH',
    names: ["field 'name'", "model 'Legacy'", 'is not nullable', "column 'name' is nullable"]
  },
  'a column that must not be null and may': {
    wrong: `create table legacy (${id}, name text not null, born date, user_id integer not null)`,
    right: `create table legacy (${id}, name text not null, born date, user_id integer)`,
    code: 'TABLE_MISMATCH',
    names: ["field 'user'", "model 'Legacy'", 'is nullable', "column 'user_id' is not null"]
  },
  // Only SQLite has columns without a type, and keeps dates as text.
  ...(engine === 'sqlite' && {
    'a column without a type, on SQLite': {
      wrong: 'create table legacy (id integer primary key, name text not null, born, user_id integer)',
      right: 'create table legacy (id integer not null primary key, name not null, born text, user_id integer)',
      code: 'TABLE_MISMATCH',
      names: ["field 'born'", 'is date', 'of no type']
    }
  })
}

for (const [name, mistake] of Object.entries(wrongTables)) {
  test(`setup() refuses ${name}`, async (t) => {
    await requireRefusal(t, async (table) => {
      const db = await legacy(t, table as string)
      await createTables(db, [User])
      return await buildApp(t, { models: [], options: { db }, register: (registry) => { registry.register(Legacy) } })
    }, mistake)
  })
}

test('setup() lists all that does not fit at once, also of models that are only referred to', async (t) => {
  const db = await legacy(t, `create table message (${id}, user_id text not null, content text)`)
  const start = async () =>
    await buildApp(t, { models: [], options: { db }, register: (registry) => { registry.register(Message) } })
  const message = await start().then(() => 'started', (error: Error) => error.message)
  t.equal(message, [
    'The database does not fit the models:',
    "- field 'user' of model 'Message' is foreignKey, but column 'user_id' is " + `${reported.text} in table 'message'`,
    "- field 'content' of model 'Message' is not nullable, but column 'content' is nullable in table 'message'",
    "- field 'pub_date' of model 'Message' needs column 'pub_date' of table 'message', which does not exist; " +
      "add it by a migration, or name another with 'column'",
    "- model 'User' needs table 'user', which does not exist; createTables() creates it" +
      (engine === 'postgres' ? ', or the search path has to name its schema' : '')
  ].join('\n'))
})

test("setup() needs the table of a policy's users, though no resource shows them", async (t) => {
  const db = await openDatabase(t)
  await createTables(db, [Note])
  const start = async () =>
    await buildApp(t, { models: [], options: { db, defaultAuth: userAuth(User) }, register: onlyNote })
  await t.rejects(start(), { code: 'REST_MODELS_TABLE_MISMATCH', message: /model 'User' needs table 'user'/ })
  await createTables(db, [User])
  await t.resolves(start())
})

// The other engines enforce foreign keys unless an administrator forbids it.
if (engine === 'sqlite') {
  test('D-277: setup() refuses a file of SQLite in UTF-16, also to read, and says how to convert it', async (t) => {
    const folder = t.testdir()
    const start = async (options: Pick<RestModelsOptions, 'db' | 'readDb'>) =>
      await buildApp(t, { models: [], options, register: onlyNote })
    const fileIn = async (encoding: string) => {
      const path = join(folder, `${encoding}.db`)
      const made = new Database(path)
      made.exec(`pragma encoding = '${encoding}'`)
      made.exec('create table other (id integer primary key)')
      made.close()
      const handles = [openSqlite<Tables>(path), openSqlite<Tables>(path, { readonly: true })] as const
      t.teardown(async () => { await Promise.all(handles.map(async (handle) => { await handle.destroy() })) })
      await createTables(handles[0], [Note])
      return handles
    }
    const [db, readDb] = await fileIn('UTF-8')
    await t.resolves(start({ db, readDb }))
    for (const encoding of ['UTF-16le', 'UTF-16be']) {
      const [other, otherReader] = await fileIn(encoding)
      for (const options of [{ db: other }, { db, readDb: otherReader }]) {
        await t.rejects(start(options), {
          code: 'REST_MODELS_UNSUPPORTED_DATABASE', message: /UTF-16.*'sqlite3 old.db .dump \| sqlite3 new.db'/
        })
      }
    }
  })

  test('setup() refuses a connection of SQLite that does not enforce foreign keys', async (t) => {
    const db = await legacy(t, 'pragma foreign_keys = off')
    await createTables(db, siteModels)
    const start = async () => await buildApp(t, { models: [], options: { db } })
    await t.rejects(start(), {
      code: 'REST_MODELS_UNSUPPORTED_DATABASE', message: /foreign keys.*'pragma foreign_keys = on'.*openSqlite/
    })
    await sql`pragma foreign_keys = on`.execute(db)
    await t.resolves(start())
  })
}

test('an engine that is not supported is named, with those that are', async (t) => {
  const db = new Kysely<never>({
    dialect: {
      createAdapter: () => new MssqlAdapter(),
      createDriver: () => new DummyDriver(),
      createIntrospector: (db) => new MssqlIntrospector(db),
      createQueryCompiler: () => new MssqlQueryCompiler()
    }
  })
  const message = /'db' runs on MssqlAdapter; supported: sqlite, postgres, mariadb/
  await t.rejects(buildApp(t, { options: { db } }), { code: 'REST_MODELS_UNSUPPORTED_DATABASE', message })
  await t.rejects(createTables(db, [Note]), { code: 'REST_MODELS_UNSUPPORTED_DATABASE', message })
  await t.resolves(buildApp(t))
})

const Account = defineModel('Account', {
  login: text({ unique: true }), pin: password(), enabled: boolean({ default: true }), root: boolean({ default: false })
})
const accountColumns = { username: 'login', password: 'pin', active: 'enabled', admin: 'root' } as const

const wrongUsers: Record<string, Mistake> = {
  'a user model without the columns of a login': {
    wrong: {},
    right: accountColumns,
    code: 'UNKNOWN_OPTION_FIELD',
    names: ["model 'Account'", "'username'", "policy's options"]
  },
  'a user model without a password': {
    wrong: { username: 'login', active: null },
    right: { username: 'login', password: 'pin', active: null },
    code: 'UNKNOWN_OPTION_FIELD',
    names: ["model 'Account'", "'password'"]
  },
  'a user model without active': {
    wrong: { username: 'login', password: 'pin' },
    right: { username: 'login', password: 'pin', active: null },
    code: 'UNKNOWN_OPTION_FIELD',
    names: ["model 'Account'", "'active'; name another", 'or set active: null']
  },
  'an unknown admin field': {
    wrong: { ...accountColumns, admin: 'rot' },
    right: accountColumns,
    code: 'UNKNOWN_OPTION_FIELD',
    names: ["model 'Account'", "'rot'", "did you mean 'root'?"]
  },
  'a password field that is not password()': {
    wrong: { ...accountColumns, password: 'login' },
    right: accountColumns,
    code: 'INVALID_OPTIONS',
    names: ["'login'", "model 'Account'", 'password()', 'text()']
  },
  'an active field that is not boolean()': {
    wrong: { ...accountColumns, active: 'login' },
    right: accountColumns,
    code: 'INVALID_OPTIONS',
    names: ["'login'", "model 'Account'", 'boolean()', 'text()']
  },
  'a user name that is not text()': {
    wrong: { ...accountColumns, username: 'enabled' },
    right: accountColumns,
    code: 'INVALID_OPTIONS',
    names: ["'enabled'", "model 'Account'", 'text()']
  },
  'an unknown option': {
    wrong: { ...accountColumns, user: 'login' },
    right: accountColumns,
    code: 'INVALID_OPTIONS',
    names: ["A policy has an unknown option 'user', did you mean"]
  },
  'something else to protect': {
    wrong: { ...accountColumns, protect: 'reads' },
    right: { ...accountColumns, protect: 'all' },
    code: 'INVALID_OPTIONS',
    names: ["'protect'", "'writes' or 'all'"]
  }
}

for (const [name, mistake] of Object.entries(wrongUsers)) {
  test(`userAuth() refuses ${name}`, async (t) => {
    await requireRefusal(t, async (options) => await buildApp(t, {
      models: [Account, Note],
      register: onlyNote,
      options: { defaultAuth: userAuth(Account, options as typeof accountColumns) }
    }), mistake)
  })
}

test('adminAuth() needs a field that tells who is an admin; userAuth() does not', async (t) => {
  const Plain = defineModel('Plain', { username: text(), password: password() })
  t.throws(() => adminAuth(Plain, { active: null }), {
    code: 'REST_MODELS_UNKNOWN_OPTION_FIELD', message: /model 'Plain'.*'admin'/
  })
  t.doesNotThrow(() => userAuth(Plain, { active: null }))
})

const wrongDefaults: Record<string, readonly [wrong: Field, right: Field]> = {
  'a number for text': [text({ default: 1 as never }), text({ default: '1' })],
  'text that is too long': [text({ maxLength: 2, default: 'abc' }), text({ maxLength: 2, default: 'ab' })],
  'text that is no choice': [text({ enum: ['a', 'b'], default: 'c' }), text({ enum: ['a', 'b'], default: 'b' })],
  'half a surrogate pair': [text({ default: '\ud800' }), text({ default: '\u{1f600}' })],
  'a fraction for an integer': [integer({ default: 1.5 }), integer({ default: 1 })],
  'a number out of bounds': [integer({ minimum: 1, default: 0 }), integer({ minimum: 1, default: 1 })],
  'a word for a bigint': [bigint({ default: 'many' }), bigint({ default: '9223372036854775807' })],
  'a bigint of 65 bits': [bigint({ default: '9223372036854775808' }), bigint({ default: '-9223372036854775808' })],
  'now for a bigint': [bigint({ default: 'now' }), bigint({ default: '0' })],
  'too many digits for a decimal': [decimal({ scale: 1, default: '0.25' }), decimal({ scale: 1, default: '0.2' })],
  'a word for a boolean': [boolean({ default: 'yes' as never }), boolean({ default: true })],
  'a day that does not exist': [
    datetime({ default: '2023-02-29' }), datetime({ default: '2024-02-29T00:00:00+02:00' })
  ],
  'a moment for a day': [date({ default: '2024-02-29 10:00:00' }), date({ default: 'now' })],
  'a word for a UUID': [uuid({ default: 'none' }), uuid({ default: 'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11' })]
}

for (const [name, [wrong, right]] of Object.entries(wrongDefaults)) {
  test(`a default does not fit its field: ${name}`, async (t) => {
    const models = (field: Field) => [defineModel('Thing', { size: field })] as const
    const createAndStart = async (field: unknown) => {
      const [Thing] = models(field as Field)
      return await buildApp(t, { models: [Thing], register: (registry) => { registry.register(Thing) } })
    }
    const start = async (field: unknown) => {
      const [Thing] = models(field as Field)
      const db = await legacy(t)
      await createTables(db, models({ ...(field as Field), options: {} }))
      return await buildApp(t, { models: [], options: { db }, register: (registry) => { registry.register(Thing) } })
    }
    const mistake = {
      wrong, right, code: 'INVALID_MODEL', names: ["field 'size'", "model 'Thing'", 'the default must']
    }
    await requireRefusal(t, createAndStart, mistake)
    await requireRefusal(t, start, mistake)
  })
}

/** An app with the plugin, on a database with the example project's tables. */
async function plugged (t: Test, options: Partial<RestModelsOptions> = {}): Promise<FastifyInstance> {
  const app = Fastify()
  await checkAnswers(t, app)
  t.teardown(async () => { await app.close() })
  await app.register(restModels, { db: await siteTables(), ...options })
  return app
}

test('an app whose models have no endpoints, because setup() was forgotten, does not become ready', async (t) => {
  const expected = { code: 'REST_MODELS_NOT_SET_UP', message: /'Note', 'Message'.*await app\.restModels\.setup\(\)/ }
  const ready = await plugged(t)
  ready.restModels.register(Note).register(Message)
  await t.rejects(Promise.resolve(ready.ready()), expected)
  const listening = await plugged(t)
  listening.restModels.register(Note).register(Message)
  await t.rejects(listening.listen({ port: 0, host: '127.0.0.1' }), expected)
  t.equal(listening.server.listening, false)
})

test('an app without models needs no setup()', async (t) => {
  const app = await plugged(t)
  await t.resolves(Promise.resolve(app.ready()))
})

test('setup() is called once', async (t) => {
  const app = await plugged(t)
  app.restModels.register(Note)
  await app.restModels.setup()
  await t.rejects(app.restModels.setup(), { code: 'REST_MODELS_ALREADY_SET_UP', message: /setup\(\).*twice/ })
  t.equal((await app.inject('/api/note/')).statusCode, 200)
})

test('register() and setup() come before the app is ready', async (t) => {
  const app = await plugged(t)
  await app.ready()
  t.throws(() => app.restModels.register(Note), {
    code: 'REST_MODELS_ALREADY_SET_UP', message: /'Note'.*ready.*before/
  })
  await t.rejects(app.restModels.setup(), { code: 'REST_MODELS_ALREADY_SET_UP', message: /setup\(\).*ready.*before/ })
})

test('register() comes before setup()', async (t) => {
  const app = await plugged(t)
  app.restModels.register(Note)
  const setup = app.restModels.setup()
  t.throws(() => app.restModels.register(Message), { code: 'REST_MODELS_ALREADY_SET_UP', message: /'Message'.*before/ })
  await setup
  t.throws(() => app.restModels.register(Message), { code: 'REST_MODELS_ALREADY_SET_UP', message: /'Message'.*before/ })
  t.equal((await app.inject('/api/note/')).statusCode, 200)
  t.equal((await app.inject('/api/message/')).statusCode, 404)
})

test('two resources need two paths', async (t) => {
  const app = await plugged(t)
  const Other = defineModel('NOTE', { message: text(), created: datetime() }, { table: 'note' })
  app.restModels.register(Note)
  t.throws(() => app.restModels.register(Note), {
    code: 'REST_MODELS_DUPLICATE_RESOURCE', message: /'Note' and 'Note'.*'note'.*another 'path'/
  })
  t.throws(() => app.restModels.register(Other), {
    code: 'REST_MODELS_DUPLICATE_RESOURCE', message: /'Note' and 'NOTE'.*'note'.*another 'path'/
  })
  t.throws(() => app.restModels.register(Message, { path: 'note' }), {
    code: 'REST_MODELS_DUPLICATE_RESOURCE', message: /'Note' and 'Message'.*'note'/
  })
  app.restModels.register(Other, { path: 'others' })
  await app.restModels.setup()
  t.equal((await app.inject('/api/note/')).statusCode, 200)
  t.equal((await app.inject('/api/others/')).json().meta.model, 'others')
})

test('a refused registration leaves no trace', async (t) => {
  const app = await plugged(t)
  t.throws(() => app.restModels.register(Note, { exclude: ['creatd' as 'created'] }))
  app.restModels.register(Note, { exclude: ['created'] })
  await app.restModels.setup()
  t.equal((await app.inject('/api/note/')).statusCode, 200)
})

test('setup() that is not awaited still makes the routes before the app listens', async (t) => {
  const app = await plugged(t)
  app.restModels.register(Note)
  const setup = app.restModels.setup()
  await app.ready()
  t.equal((await app.inject('/api/note/')).statusCode, 200)
  await setup
})

for (const [name, begin] of Object.entries<(app: FastifyInstance) => Promise<unknown>>({
  'awaited, and its rejection is swallowed': async (app) => { await app.restModels.setup().catch(() => {}) },
  'not awaited, and its rejection is swallowed': async (app) => { app.restModels.setup().catch(() => {}) }
})) {
  test(`a setup() that fails keeps the app from listening: it is ${name}`, async (t) => {
    const app = await plugged(t)
    app.restModels.register(Note)
    app.restModels.register(defineModel('Missing', { name: text() }))
    await begin(app)
    await t.rejects(app.listen({ port: 0, host: '127.0.0.1' }), {
      code: 'REST_MODELS_TABLE_MISMATCH', message: /'Missing' needs table 'missing'/
    })
    t.equal(app.server.listening, false)
  })
}

interface LogLine { readonly level: number, readonly msg: string }

/** What is logged at the level of a warning, or above, while an app starts. */
async function warningsOf (t: Test, register: (registry: ResourceRegistry) => void): Promise<string[]> {
  const lines: LogLine[] = []
  const stream = { write: (line: string) => { lines.push(JSON.parse(line) as LogLine) } }
  await buildApp(t, { register, server: { logger: { level: 'info', stream } } })
  return lines.filter(({ level }) => level >= 40).map(({ msg }) => msg)
}

test('exposing a stored password is warned of', async (t) => {
  t.strictSame(
    await warningsOf(t, (registry) => { registry.register(User).register(Note) }),
    ["Resource 'user' serializes the stored password 'password'; add it to 'exclude' if that is not meant"])
  t.strictSame(
    await warningsOf(t, (registry) => { registry.register(User, { exclude: ['password'] }).register(Note) }), []
  )
})

test('opening an excluded field is warned of, directly and through a join', async (t) => {
  t.strictSame(
    await warningsOf(t, (registry) => {
      registry.register(User, { exclude: ['password', 'email'], filterable: ['email'] })
    }),
    ["Resource 'user' excludes 'email', but 'filterable' lets clients find out its values"])
  t.strictSame(await warningsOf(t, (registry) => {
    registry.register(User, { exclude: ['password', 'email'], filterable: ['username'] })
  }), [])
  const [warning, ...others] = await warningsOf(t, (registry) => {
    registry.register(User, { exclude: ['password', 'email'] })
    registry.register(Relationship, { filterable: ['from_user__email', 'to_user__username'] })
  })
  t.match(warning, /'user' excludes 'email'.*'from_user__email'.*'relationship'/)
  t.strictSame(others, [])
})

test('a foreign key to a model that is not there yet names the field', async (t) => {
  const Lost = defineModel('Lost', { link: foreignKey((): Model => undefined as unknown as Model) })
  const db = await openDatabase(t)
  await t.rejects(createTables(db, [Lost]), {
    code: 'REST_MODELS_INVALID_MODEL', message: /field 'link' of model 'Lost' refers to no model/
  })
})

test('register() takes options in an object', async (t) => {
  const wrong = buildApp(t, { register: (registry) => { registry.register(Note, null as never) } })
  await t.rejects(wrong, {
    code: 'REST_MODELS_INVALID_OPTIONS', message: /register\(\) of model 'Note' takes options in an object/
  })
})

test('a maxLimit below the default page size brings the default with it', async (t) => {
  const app = await buildApp(t, {
    options: { maxLimit: 10 }, register: (registry) => { registry.register(Note).register(Message, { maxLimit: 5 }) }
  })
  t.equal((await app.get('/api/note/?limit=11')).statusCode, 400)
  t.match((await app.get('/api/note/?page=2')).json().meta.previous, 'limit=10')
  t.match((await app.get('/api/message/?page=2')).json().meta.previous, 'limit=5')
})

const careless: Record<string, { wrong: () => unknown, code: string, names: RegExp }> = {
  'a model without a name': {
    wrong: () => defineModel(5 as never, { a: text() }), code: 'INVALID_MODEL', names: /model '5'/
  },
  'a model without fields': {
    wrong: () => defineModel('X', undefined as never), code: 'INVALID_MODEL', names: /model 'X' needs its fields/
  },
  'nullable as a word': {
    wrong: () => defineModel('X', { a: text({ nullable: 'yes' as never }) }),
    code: 'INVALID_MODEL',
    names: /field 'a'.*'nullable' is true or false/
  },
  'unique as a word': {
    wrong: () => defineModel('X', { a: text({ unique: 'true' as never }) }),
    code: 'INVALID_MODEL',
    names: /field 'a'.*'unique' is true or false/
  },
  'a minimum above the maximum': {
    wrong: () => defineModel('X', { a: integer({ minimum: 5, maximum: 1 }) }),
    code: 'INVALID_MODEL',
    names: /field 'a'.*'minimum' is more than 'maximum'/
  },
  'a length above the longest': {
    wrong: () => defineModel('X', { a: text({ minLength: 5, maxLength: 1 }) }),
    code: 'INVALID_MODEL',
    names: /field 'a'.*'minLength' is more than 'maxLength'/
  },
  'users that are not there yet': {
    wrong: () => adminAuth(undefined as never), code: 'INVALID_OPTIONS', names: /import each other in a circle/
  },
  'a verify that is no function': {
    wrong: () => userAuth(User, { verify: 'x' as never }), code: 'INVALID_OPTIONS', names: /'verify'/
  }
}

for (const [mistake, { wrong, code, names }] of Object.entries(careless)) {
  test(`${mistake} is told at once`, (t) => {
    t.throws(wrong, { code: `REST_MODELS_${code}`, message: names })
    t.end()
  })
}

test('a model may have only one bound', (t) => {
  t.doesNotThrow(() => defineModel('X', {
    a: integer({ minimum: 5 }),
    b: integer({ maximum: 5 }),
    c: text({ nullable: false }),
    d: integer({ minimum: 1, maximum: 1 })
  }))
  t.end()
})

test('careless options of the plugin and of resources are told at start-up', async (t) => {
  const policy = (change: object) => ({ ...readOnlyAuth(), ...change }) as never
  for (const [options, names] of [
    [{ limits: 5 as never }, /'limits' must be an object/],
    [{ decorator: '' }, /'decorator'/],
    [{ decorator: 5 as never }, /'decorator'/],
    [
      { defaultAuth: policy({ authenticator: undefined }) },
      /'defaultAuth' is not a policy, because it lacks the function 'authenticator'; use hostAuth\(/
    ],
    [{ defaultAuth: policy({ permits: true }) }, /'defaultAuth' is not a policy.* lacks the function 'permits';/],
    [{ defaultAuth: policy({ open: 'list' }) }, /'defaultAuth' is not a policy, because it lacks the list 'open';/],
    [{ defaultAuth: null as never }, /lacks the function 'authenticator', the function 'permits', the list 'open';/],
    [{ db: Promise.resolve() as never }, /'db' must be a Kysely instance, but is a promise: await it/],
    [
      { defaultAuth: policy({ open: ['reed'] }) },
      /'defaultAuth' opens an unknown operation 'reed', did you mean 'read'\?/
    ],
    [{ defaultAuth: policy({ closed: ['writ'] }) }, /'defaultAuth' closes an unknown operation 'writ'/],
    [{ defaultAuth: policy({ closed: 'create' }) }, /'defaultAuth' needs a list of operations as 'closed'/],
    [{ defaultAuth: policy({ fields: 'org' }) }, /'defaultAuth' needs a list of names as 'fields'/],
    [{ defaultAuth: policy({ closed: ['read'] }) }, /'defaultAuth' both opens and closes 'read'/],
    [{ defaultAuth: policy({ scheme: 'bearer' }) }, /'defaultAuth' needs a security scheme of OpenAPI as 'scheme'/],
    [
      { defaultAuth: policy({ scheme: { scheme: 'bearer' } }) },
      /'defaultAuth' needs a security scheme of OpenAPI as 'scheme'/
    ],
    [{ defaultAuth: policy({ scheme: null }) }, /'defaultAuth' needs a security scheme of OpenAPI as 'scheme'/],
    [{ defaultAuth: policy({ scheme: { type: 'apiKey', in: 'query', name: 'key' } }) },
      /'defaultAuth' needs 'header' or 'cookie' as 'in' of its scheme/],
    [{ defaultAuth: policy({ scheme: { type: 'apiKey', in: 'cookie' } }) },
      /'defaultAuth' needs the name of the cookie as 'name' of its scheme/],
    [{ defaultAuth: policy({ scheme: { type: 'apiKey', in: 'header', name: '' } }) },
      /'defaultAuth' needs the name of the header as 'name' of its scheme/],
    [{ defaultAuth: policy({ authenticator: async () => async () => null }) }, /authenticator\(\) must give a function/]
  ] as const) {
    await t.rejects(buildApp(t, { options, register: onlyNote }), {
      code: 'REST_MODELS_INVALID_OPTIONS', message: names
    })
  }
  const ownerless = buildApp(t, {
    register: (registry) => { registry.register(Message, { ownerField: null as never }) }
  })
  await t.rejects(ownerless, {
    code: 'REST_MODELS_UNKNOWN_OPTION_FIELD', message: /'ownerField' of resource 'Message'/
  })
})

test('a second container under the name of the first is told to take another', async (t) => {
  const { app, db } = await buildApp(t)
  const again = Fastify()
  t.teardown(async () => { await again.close() })
  await again.register(restModels, { db })
  await t.rejects(async () => await again.register(restModels, { db }), {
    code: 'REST_MODELS_INVALID_OPTIONS', message: /already has a decorator 'restModels'.*option 'decorator'/
  })
  t.ok(app.hasDecorator('restModels'))
})
