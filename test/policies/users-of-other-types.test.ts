import Fastify from 'fastify'
import { sql } from 'kysely'
import { test, type Test } from 'tap'
import restModels, {
  boolean, datetime, defineModel, hashPassword, key, password, text, userAuth
} from '../../lib/index.js'
import { emptyDatabase, engine, openUrl } from '../support/database.js'
import { basic } from '../support/site.js'

const User = defineModel('User', {
  username: text({ unique: true }),
  password: password(),
  active: boolean(),
  admin: boolean(),
  suspended: boolean(),
  role: text(),
  expires: datetime()
})
const Note = defineModel('Note', { id: key(), role: text() })

/** Types of columns that show other values than the driver gives. */
const types = {
  sqlite: { flag: 'boolean', role: 'role', expires: 'datetime', key: 'integer primary key' },
  postgres: { flag: 'boolean', role: 'role char(9)', expires: 'timestamptz', key: 'serial primary key' },
  mariadb: {
    flag: 'bit(1)',
    role: "role enum('guest', 'other') character set binary",
    expires: 'timestamp(3)',
    key: 'integer auto_increment primary key'
  }
}[engine]
const [yes, no] = engine === 'postgres' ? ['true', 'false'] : ['1', '0']
const zone = engine === 'postgres' ? '+00' : ''
// An untyped column of SQLite keeps the number.
const role = engine === 'sqlite' ? 18 : 'guest'

async function openApp (t: Test) {
  const { url, open, remove } = await emptyDatabase()
  const database = new URL(url)
  const options = database.searchParams.get('options')
  if (options !== null) database.searchParams.set('options', `${options} -c timezone=Europe/Berlin`)
  const db = engine === 'postgres' ? openUrl(database.href) : open()
  const app = Fastify()
  t.teardown(async () => {
    await app.close()
    await db.destroy()
    await remove()
  })
  const user = engine === 'mariadb' ? '`user`' : '"user"'
  await sql.raw(`create table ${user} (id ${types.key}, username varchar(20) not null unique, ` +
    `password varchar(200) not null, active ${types.flag} not null, admin ${types.flag} not null, ` +
    `suspended ${types.flag} not null, ${types.role} not null, expires ${types.expires} not null)`).execute(db)
  await sql.raw(`create table note (id ${types.key}, role varchar(9) not null)`).execute(db)
  const given = `'${await hashPassword('alice')}', ${yes}, ${yes}`
  await sql.raw(`insert into ${user} (username, password, active, admin, suspended, role, expires) values
    ('alice', ${given}, ${yes}, ${sqlOf(role)}, '2026-07-01 10:00:00.25${zone}'),
    ('bob', ${given}, ${no}, ${sqlOf(role)}, '2026-07-01 10:00:00.25${zone}')`).execute(db)
  await sql.raw(`insert into note (role) values ('${role}'), ('other')`).execute(db)
  await app.register(restModels, { db })
  const get = async (url: string, name: string) => {
    const reply = await app.inject({ url, headers: { authorization: basic(name, 'alice') } })
    return { status: reply.statusCode, body: reply.statusCode === 401 ? {} : reply.json() }
  }
  return { app, db, get }
}

function sqlOf (value: string | number): string {
  return typeof value === 'number' ? String(value) : `'${value}'`
}

test('D-202: policies and scopes get the values of a user that records show, whatever the types', async (t) => {
  const { app, get } = await openApp(t)
  const seen: object[] = []
  const auth = userAuth(User, {
    protect: 'all',
    fields: ['suspended', 'role', 'expires'],
    permits: (user) => {
      seen.push(user)
      return !user.suspended
    }
  })
  app.restModels.register(User, { auth, exclude: ['password'] })
  app.restModels.register(Note, { auth, scope: ({ role }) => ({ role }) })
  await app.restModels.setup()
  t.match(await get('/api/user/1/', 'alice'), { status: 403 }, 'who is suspended')
  const { body: { username, active, ...bob } } = await get('/api/user/2/', 'bob')
  t.strictSame({ username, active, ...bob }, {
    id: 2,
    username: 'bob',
    active: true,
    admin: true,
    suspended: false,
    role: String(role),
    expires: '2026-07-01 10:00:00'
  })
  t.strictSame(seen.at(-1), bob, 'the policy gets what the record shows')
  t.match(await get('/api/note/', 'bob'), { status: 200, body: { objects: [{ role: String(role) }] } })
})

test('D-129: a user with a value that no record shows cannot log in, because null may let in', async (t) => {
  const { app, db, get } = await openApp(t)
  const auth = userAuth(User, {
    protect: 'all', fields: ['suspended', 'expires'], permits: ({ suspended, expires }) => !suspended && expires !== ''
  })
  app.restModels.register(User, { auth, exclude: ['password'] })
  await app.restModels.setup()
  t.equal((await get('/api/user/2/', 'bob')).status, 200)
  const statements = {
    sqlite: ['update "user" set suspended = 2'],
    postgres: ['update "user" set expires = \'infinity\''],
    mariadb: ['alter table `user` modify suspended tinyint(1)', 'update `user` set suspended = 2']
  }[engine]
  for (const statement of statements) await sql.raw(statement).execute(db)
  t.equal((await get('/api/user/2/', 'bob')).status, 401)
})
