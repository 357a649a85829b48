import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { sql, type Kysely } from 'kysely'
import { test, type Test } from 'tap'
import { userAuth, type Verify } from '../../lib/index.js'
import type { Tables } from '../../lib/engines/executor.js'
import { engine, openDatabase } from '../support/database.js'
import { readPage } from './page.js'
import { buildApp, insert, Message, User } from '../support/site.js'

const page = readPage('docs/migrating-from-flask-peewee.md')

/** The tables of the example project as peewee 4.3 makes them. */
const types = {
  sqlite: { key: 'integer not null primary key', bool: 'integer', moment: 'datetime' },
  postgres: { key: 'serial not null primary key', bool: 'boolean', moment: 'timestamp' },
  mariadb: { key: 'integer not null auto_increment primary key', bool: 'bool', moment: 'datetime' }
}[engine]
const name = (table: string): string => engine === 'mariadb' ? `\`${table}\`` : `"${table}"`
const definitions = [
  `create table ${name('user')} (id ${types.key}, username varchar(255) not null, password varchar(255) not null, ` +
    `email varchar(255) not null,
    join_date ${types.moment} not null, active ${types.bool} not null, admin ${types.bool} not null)`,
  `create unique index user_username on ${name('user')} (username)`,
  `create table ${name('message')} (id ${types.key}, user_id integer not null, content text not null, ` +
    `pub_date ${types.moment} not null,
    foreign key (user_id) references ${name('user')} (id))`
]

/** What the page says to do with datetimes on this engine. */
function conversion (): string {
  const [, inText] = {
    sqlite: undefined,
    postgres: /`(alter table message [^`]*)`/.exec(page.text),
    mariadb: /`(update message [^`]*)`/.exec(page.text)
  }[engine] ?? []
  return inText ?? String(/UPDATE message[^;]*/.exec(page.text)?.[0])
}

async function oldDatabase (t: Test): Promise<Kysely<Tables>> {
  const db = await openDatabase(t)
  for (const definition of definitions) await sql.raw(definition).execute(db)
  const sha1 = createHash('sha1').update('a1b2cwonderland').digest('hex')
  await insert(db, {
    user: [{
      id: 1,
      username: 'alice',
      password: `a1b2c$${sha1}`,
      email: 'a@example.com',
      join_date: '2026-01-01 10:00:00',
      active: 1,
      admin: 0
    }],
    message: [{ id: 1, user_id: 1, content: 'hello', pub_date: '2026-01-03 10:00:00.358772' }]
  })
  return db
}

async function verifyOf (t: Test, db: Kysely<Tables>): Promise<Verify> {
  const folder = mkdtempSync(join(resolve('dist'), 'page-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  writeFileSync(
    join(folder, 'passwords.mjs'),
    String(page.blocks.find(({ content }) => content.startsWith('// passwords.mjs'))?.content)
  )
  const { movePasswords } = await import(pathToFileURL(join(folder, 'passwords.mjs')).href) as {
    movePasswords: (db: unknown) => Verify
  }
  return movePasswords(db)
}

test('tables of peewee are used as they are, and passwords of flask-peewee are moved at the first login', async (t) => {
  const db = await oldDatabase(t)
  const auth = userAuth(User, { verify: await verifyOf(t, db) })
  const { put, get } = await buildApp(t, {
    models: [],
    options: { db, defaultAuth: auth },
    register: (registry) => {
      registry.register(User, { exclude: ['password'] }).register(Message, { ownerField: 'user' })
    }
  })
  t.equal((await put('/api/message/1/', { content: 'x' }, { as: ['alice', 'wrong'] })).statusCode, 401)
  const stored = async () => await db.selectFrom('user').select('password').executeTakeFirstOrThrow()
  t.match(await stored(), { password: /^a1b2c\$/ })
  for (let time = 0; time < 2; time++) {
    t.equal((await put('/api/message/1/', { content: 'x' }, { as: ['alice', 'wonderland'] })).statusCode, 200)
  }
  t.match(await stored(), { password: /^\$argon2id\$/ })
  t.equal((await get('/api/message/?user__username=alice')).json().objects.length, 1)
})

test('what the page says about datetimes makes them UTC without fractions, so that filters find them', async (t) => {
  const db = await oldDatabase(t)
  const isZoneKnown = engine !== 'mariadb' || (
    await sql<{ at: unknown }>`select convert_tz('2026-01-03 10:00:00', 'Europe/Berlin', 'UTC') as at`.execute(db)
  ).rows[0]?.at !== null
  const statement = isZoneKnown ? conversion() : conversion().replace("'Europe/Berlin', 'UTC'", "'+01:00', '+00:00'")
  t.match(statement, 'pub_date')
  // Of this file's own process: where SQLite looks for the local time.
  process.env['TZ'] = 'Europe/Berlin'
  await sql.raw(statement).execute(db)
  const { get } = await buildApp(t, {
    models: [], options: { db }, register: (registry) => { registry.register(User).register(Message) }
  })
  t.equal((await get('/api/message/1/')).json().pub_date, '2026-01-03 09:00:00')
  t.equal((await get('/api/message/?pub_date=2026-01-03%2009:00:00')).json().objects.length, 1)
})
