import { inspect } from 'node:util'
import Fastify from 'fastify'
import { sql } from 'kysely'
import { test } from 'tap'
import restModels, {
  datetime, defineModel, foreignKey, integer, json, text, userAuth, type Policy
} from '../../lib/index.js'
import { errors, unavailable } from '../../lib/errors.js'
import { engine, openDatabase, recordStatements, skipKeys } from '../support/database.js'
import { Message, siteModels, User } from '../support/site.js'
import { attack } from './security-helper.js'

const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)

test('T-101: a file that ends in the middle of a multipart body is refused', async (t) => {
  const { post, unchanged } = await attack(t)
  const start = '--x\r\nContent-Disposition: form-data; name="data"'
  const headers = { 'content-type': 'multipart/form-data; boundary=x' }
  const cut = [
    '; filename="a"\r\n\r\nabc', '; filename="a"\r\n\r\n', '; filename="a"\r\n\r\nabc\r\n--x',
    '\r\nContent-Type: application/octet-stream\r\n\r\nabc', '\r\n\r\nabc', '\r\n', ''
  ]
  await unchanged(async () => {
    for (const rest of cut) {
      t.equal((await post('/api/message/', start + rest, { as: 'alice', headers })).statusCode, 400, rest)
      await new Promise(setImmediate)
    }
  })
  t.equal(
    (await post('/api/message/', `${start}\r\n\r\n{"content":"a"}\r\n--x--`, { as: 'alice', headers })).statusCode,
    201
  )
})

test('T-102: two names of one field with deeply nested values are refused', async (t) => {
  const { post, put, unchanged } = await attack(t)
  await unchanged(async () => {
    for (const depth of [10, 10_000, 250_000]) {
      const body = `{"to_user":${nested(depth)},"to_user_id":${nested(depth)}}`
      t.equal((await post('/api/relationship/', body, { as: 'alice' })).statusCode, 400)
      t.equal((await put('/api/relationship/1/', body, { as: 'alice' })).statusCode, 400)
    }
  })
  t.equal((await post('/api/relationship/', { to_user: 3, to_user_id: 3 }, { as: 'alice' })).statusCode, 201)
})

test('T-103: fields may be called like what every object has', async (t) => {
  const Odd = defineModel('Odd', {
    constructor: text(),
    toString: text({ nullable: true }),
    valueOf: integer({ default: 1 }),
    then: text({ default: 'x' }),
    hasOwnProperty: json({ nullable: true })
  })
  const { get, post, put, ids } = await attack(t, {
    models: [...siteModels, Odd],
    register: (registry) => registry.register(Odd, { auth: userAuth(User), exclude: ['hasOwnProperty'] })
  })
  const missing = await post('/api/odd/', {}, { as: 'alice' })
  t.same(missing.json().details, [{ field: 'constructor', message: 'is required' }])
  const record = { id: 1, constructor: 'a', toString: null, valueOf: 1, then: 'x' }
  t.same((await post('/api/odd/', { constructor: 'a' }, { as: 'alice' })).json(), record)
  t.same((await put('/api/odd/1/', { then: 'y' }, { as: 'alice' })).json(), { ...record, then: 'y' })
  t.same(await ids('/api/odd/?constructor=a&ordering=-valueOf'), [1])
  t.equal((await get('/api/odd/?hasOwnProperty__is=null')).statusCode, 400)
})

test('T-104: a read-only field that is excluded cannot be guessed by sending it', async (t) => {
  const { put, unchanged, rowsOf } = await attack(t, {
    register: (registry) => registry.register(User, {
      auth: userAuth(User), exclude: ['password', 'email', 'admin'], readOnly: ['join_date', 'admin']
    })
  })
  await unchanged(async () => {
    const [right, wrong] = await Promise.all([true, false].map(async (admin) =>
      await put('/api/user/1/', { admin }, { as: 'bob' })))
    t.equal(right?.statusCode, 400)
    t.equal(right?.body, wrong?.body)
    t.equal(
      (await put('/api/user/1/', { join_date: '2024-01-01 10:00:00' }, { as: 'bob' })).statusCode, 200,
      'what was read can be sent back'
    )
    t.equal((await put('/api/user/1/', { join_date: '2024-01-01 10:00:01' }, { as: 'bob' })).statusCode, 400)
  })
  t.equal((await put('/api/user/1/', { username: 'root' }, { as: 'bob' })).statusCode, 200)
  t.match((await rowsOf('user'))[0], { username: 'root', admin: 1 })
})

test('T-105: the right password of an inactive user costs as much as a wrong one, also the second time', async (t) => {
  const { put, db, unchanged } = await attack(t, { realHashes: true })
  await put('/api/message/2/', {}, { as: 'bob' })
  await db.updateTable('user').set({ active: 0 }).where('id', '=', 3).execute()
  const timed = async (credentials: readonly [string, string]) => {
    const start = performance.now()
    t.equal((await put('/api/message/2/', {}, { as: credentials })).statusCode, 401)
    return performance.now() - start
  }
  await unchanged(async () => {
    for (const name of ['carol', 'bob']) {
      const right: number[] = []
      const wrong: number[] = []
      for (let round = 0; round < 7; round++) {
        right.push(await timed([name, name]))
        wrong.push(await timed([name, `wrong${round}`]))
      }
      t.ok(median(right) > median(wrong) / 3, `${name}: ${median(right)} ms and ${median(wrong)} ms`)
    }
  })
  await db.updateTable('user').set({ active: 1 }).where('id', '=', 3).execute()
  t.equal((await put('/api/message/2/', {}, { as: 'bob' })).statusCode, 200)
})

function median (times: readonly number[]): number {
  return times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] ?? 0
}

test('T-106: whom another login would not let in cannot look through a join', async (t) => {
  const site = async (everyone: boolean) => await attack(t, {
    register: (registry) => registry
      .register(User, { auth: userAuth(User, { protect: 'all' }), exclude: ['password'] })
      .register(Message, { auth: userAuth(User, { protect: 'all', ...(everyone && { active: null }) }) })
  })
  const lax = await site(true)
  t.equal((await lax.get('/api/user/', { as: 'carol' })).statusCode, 401)
  t.equal((await lax.get('/api/message/', { as: 'carol' })).statusCode, 200)
  for (const filter of ['user__email=alice%40example.com', 'user__email=x', 'user__username__like=%25']) {
    t.equal(
      (await lax.get(`/api/message/?${filter}`, { as: 'carol' })).json().code, 'REST_MODELS_UNKNOWN_PARAMETER', filter
    )
  }
  const strict = await site(false)
  t.equal((await strict.get('/api/message/?user__email=alice%40example.com', { as: 'bob' })).json().objects.length, 1)
})

test('T-117: a cursor tells of a moment only its fraction of a second, and leads to no other texts', async (t) => {
  const Event = defineModel('Event', { at: datetime() })
  const db = await openDatabase(t)
  const type = { sqlite: 'datetime', postgres: 'timestamptz', mariadb: 'datetime(6)' }[engine]
  const key = {
    sqlite: 'integer primary key autoincrement',
    postgres: 'bigint generated by default as identity primary key',
    mariadb: 'bigint auto_increment primary key'
  }[engine]
  await sql`create table event (id ${sql.raw(key)}, at ${sql.raw(type)} not null)`.execute(db)
  for (const fraction of ['.25', '.5', '.75']) {
    await db.insertInto('event').values({ at: `2026-01-01 09:00:00${fraction}${engine === 'postgres' ? '+00' : ''}` })
      .execute()
  }
  const { get } = await attack(t, { models: [], options: { db }, register: (registry) => registry.register(Event) })
  const { next } = (await get('/api/event/?ordering=at&after=&limit=1')).json().meta
  const cursorOf = (url: string): unknown =>
    JSON.parse(Buffer.from(String(new URL(url, 'http://localhost').searchParams.get('after')), 'base64url').toString())
  t.same(cursorOf(next), [1, 'at,id', '2026-01-01 09:00:00.25', '1'])
  t.same((await get(next.replace('limit=1', 'limit=9'))).json().objects.map(({ id }: { id: number }) => id), [2, 3])
  const statements = await recordStatements(t, db)
  for (const at of [
    'now', 'infinity', '2026-02-31 09:00:00', '2026-01-01 09:00:00.25 BC', "2026-01-01 09:00:00.'", '0000-12-31',
    '2026-01-01 09:00:00.1234567890', '', '1767258000', '2026-01-01 09:00:00+99:00'
  ]) {
    const cursor = Buffer.from(JSON.stringify([2, 'at,id', at, '1'])).toString('base64url')
    t.equal((await get(`/api/event/?ordering=at&after=${cursor}`)).statusCode, 400, at)
  }
  t.equal(statements.length, 0)
})

test('T-107: a cursor shows nothing that is hidden, and one that was made up does no more than a filter', async (t) => {
  const { get, statements, forget } = await attack(t, {
    register: (registry) =>
      registry.register(User, { exclude: ['password', 'email'], filterable: ['email'] }).register(Message)
  })
  t.equal((await get('/api/user/?ordering=password&after=')).statusCode, 400)
  t.equal((await get(
    `/api/user/?ordering=email&after=${Buffer.from('[2,"email,id","a","1"]').toString('base64url')}`
  )).statusCode, 400)
  for (const ordering of ['email', '-email,id']) {
    t.equal(
      (await get(`/api/user/?ordering=${ordering}&after=&limit=1`)).json().meta.next,
      `/api/user/?limit=1&page=2&ordering=${encodeURIComponent(ordering)}`
    )
  }
  forget()
  const cursor = (...values: unknown[]) =>
    Buffer.from(JSON.stringify([2, 'content,id', ...values])).toString('base64url')
  t.equal(statements.length, 0)
  const sqlOf = async (...values: unknown[]) => {
    forget()
    t.equal((await get(`/api/message/?ordering=content&after=${cursor(...values)}`)).statusCode, 200, String(values))
    return statements.map(({ sql }) => sql)
  }
  const harmless = await sqlOf('a', '1')
  for (const text of ["' or 1=1 --", '"; drop table message; --', '%', '\\', '$1', '']) {
    t.same(await sqlOf(text, '1'), harmless)
  }
  forget()
  for (const values of [
    ['a', '1 or 1=1'], ['a', 1], ['a', { toString: '1' }], [['a'], '1'], [null, '1'], ['a\0', '1'], ['a', '1', '1'],
    ['__proto__']
  ]) {
    t.equal(
      (await get(`/api/message/?ordering=content&after=${cursor(...values)}`)).statusCode, 400, JSON.stringify(values)
    )
  }
  for (const text of ['['.repeat(3000), '{"length":4}', '[2', '"\\ud800"']) {
    t.equal(
      (await get(`/api/message/?ordering=content&after=${Buffer.from(text).toString('base64url')}`)).statusCode, 400
    )
  }
  t.equal(statements.length, 0)
})

test('T-112: long names are cut wherever they are repeated, in answers and in the log', async (t) => {
  const lines: string[] = []
  const { app, get, post, unchanged } = await attack(t, {
    server: { logger: { level: 'info', stream: { write: (line: string) => { lines.push(line) } } } }
  })
  const told = () => lines.splice(0).filter((line) => line.includes('"err"'))
  const longest = (texts: readonly string[]) => Math.max(...texts.map((text) => Buffer.byteLength(text)))
  await unchanged(async () => {
    for (const name of [
      'k'.repeat(900_000), '\u{1f600}'.repeat(200_000), '\u0001'.repeat(170_000),
      `${'k'.repeat(99)}\u{1f600}${'k'.repeat(1000)}`
    ]) {
      const { statusCode, body } = await post('/api/message/', JSON.stringify({ content: 'a', [name]: 1 }), {
        as: 'alice', headers: { 'content-type': 'application/json' }
      })
      t.equal(statusCode, 400)
      t.ok(Buffer.byteLength(body) < 2000, `an answer of ${Buffer.byteLength(body)} bytes`)
      const { details: [{ field }], message } = JSON.parse(body)
      t.ok(
        field.endsWith('…') && field.length <= 101 && field.isWellFormed() && name.startsWith(field.slice(0, -1)),
        field
      )
      t.equal(message, `Invalid '${field}'`)
      const logged = told()
      t.equal(logged.length, 1)
      t.ok(longest(logged) < (name.startsWith('\u0001') ? 4000 : 2000), `a line of ${longest(logged)} bytes`)
    }
    const many = Object.fromEntries(Array.from({ length: 5000 }, (_, index) => [`${index}`.padStart(200, 'k'), 1]))
    t.ok(longest([(await post('/api/message/', many, { as: 'alice' })).body]) < 10_000)
    t.ok(longest(told()) < 20_000)
  })
  const long = 'p'.repeat(4000)
  const long2 = `${'user__'.repeat(600)}user`
  for (const query of [
    `${long}=1`, `content__${long}=1`, `${long}__like=1`, `${long2}=1`, `ordering=${long}`,
    `ordering=content,${long}`, `after=${long}`, `limit=${long}`, `content=${long}`, `id=${long}`, `id__in=${long}`
  ]) {
    const { statusCode, body } = await get(`/api/message/?${query}`)
    t.equal(statusCode, 400, query.slice(0, 30))
    t.ok(Buffer.byteLength(body) < 600, `an answer of ${Buffer.byteLength(body)} bytes to ${query.slice(0, 30)}`)
    t.ok(longest(told()) < 2000)
  }
  for (const method of ['GET', 'DELETE', 'PUT'] as const) {
    const { body } = await app.inject({ method, url: `/api/note/1/?${long}=1` })
    t.ok(Buffer.byteLength(body) < 600, `an answer of ${Buffer.byteLength(body)} bytes`)
  }
})

test('T-152: refusals of a crowd leave short lines in the log, with the stack of a cause alone', async (t) => {
  const lines: string[] = []
  const app = Fastify({ logger: { level: 'info', stream: { write: (line: string) => { lines.push(line) } } } })
  t.teardown(async () => { await app.close() })
  const cause = new Error('the cause')
  const refusals = [new errors.TooManyLogins(), new errors.ClientGone(), unavailable(), unavailable({ cause })]
  for (const [index, refusal] of refusals.entries()) app.get(`/${index}`, async () => { throw refusal })
  for (const index of refusals.keys()) await app.inject(`/${index}`)
  const logged = lines.filter((line) => line.includes('"err"'))
  t.equal(logged.length, refusals.length)
  const [brief, told] = [logged.slice(0, -1), logged.at(-1) ?? '']
  for (const line of brief) t.ok(Buffer.byteLength(line) < 600, line)
  t.match(told, 'caused by: Error: the cause\\n    at ')
})

test('T-113: what a policy closes to everybody, nobody reads through a join from another resource', async (t) => {
  const everybody = userAuth(User, { protect: 'all' })
  const closed: Policy = { ...everybody, closed: ['list'] }
  const site = async (messages: Policy, users: Policy) => await attack(t, {
    register: (registry) =>
      registry.register(User, { auth: users, exclude: ['password'] }).register(Message, { auth: messages })
  })
  const filters = ['user__email__like=a%25', 'user__id=2', 'user__active=true', 'user_id__username=alice']
  const { get } = await site(everybody, closed)
  t.equal((await get('/api/user/', { as: 'admin' })).statusCode, 401)
  for (const filter of filters) {
    const [name = ''] = filter.split('=')
    const refused = await get(`/api/message/?${filter}`, { as: 'admin' })
    const unknown = await get('/api/message/?user__nowhere=1', { as: 'admin' })
    t.same([refused.statusCode, refused.body.replaceAll(name, 'user__nowhere')], [400, unknown.body], filter)
  }
  const own = await site(closed, closed)
  t.equal((await own.get('/api/message/', { as: 'admin' })).statusCode, 401)
  const open = await site(everybody, { ...closed, closed: ['read'] })
  for (const filter of filters) {
    t.equal(
      (await open.get(`/api/message/?${filter}`, { as: 'admin' })).statusCode, 200,
      'a closed read says nothing of the list'
    )
  }
})

test('T-114: whom a policy without a login makes out is nobody to another one, though both say nothing', async (t) => {
  const by = (header: string, more: Partial<Policy> = {}): Policy => ({
    open: [],
    users: User,
    permits: () => true,
    authenticator: () => async ({ headers }) => header in headers ? { id: 2, admin: true } : null,
    ...more
  })
  const site = async (messages: Policy, users: Policy) => await attack(t, {
    register: (registry) =>
      registry.register(User, { auth: users, exclude: ['password'] }).register(Message, { auth: messages })
  })
  const status = async (messages: Policy, users: Policy) => {
    const { get } = await site(messages, users)
    t.equal((await get('/api/message/', { headers: { lax: 'x' } })).statusCode, 200)
    return (await get('/api/message/?user__email__like=a%25', { headers: { lax: 'x' } })).statusCode
  }
  const lax = by('lax')
  t.equal((await (await site(lax, by('strict'))).get('/api/user/', { headers: { lax: 'x' } })).statusCode, 401)
  t.equal(await status(lax, by('strict')), 400)
  t.equal(await status(lax, by('lax')), 400, 'another object')
  t.equal(await status(by('lax', { login: undefined }), by('lax', { login: undefined })), 400)
  t.equal(
    await status(
      by('lax', { login: null as unknown as undefined }), by('lax', { login: null as unknown as undefined })
    ),
    400
  )
  t.equal(await status(by('lax', { login: 'a' }), by('strict', { login: 'b' })), 400)
  t.equal(await status(lax, lax), 200, 'the same policy')
  t.equal(
    await status(
      by('lax', { login: { of: 'lax' } }), by('lax', { login: { of: 'lax' }, permits: ({ admin }) => admin })
    ),
    200, 'the same login'
  )
})

test('T-115: values for a hidden field that nobody may write do not tell it from an unknown field', async (t) => {
  const Account = defineModel('Account', {
    name: text(),
    limit_of: integer({ default: 100, minimum: 100, maximum: 200 }),
    plan: text({ default: 'free', enum: ['free', 'gold'] }),
    coupon: text({ default: 'K-1', unique: true }),
    owner: foreignKey(() => User)
  })
  const { post, put, unchanged, get } = await attack(t, {
    models: [...siteModels, Account],
    register: (registry) => registry.register(Account, {
      auth: userAuth(User),
      ownerField: 'owner',
      exclude: ['limit_of', 'plan', 'coupon', 'owner'],
      readOnly: ['limit_of', 'plan', 'coupon']
    })
  })
  t.equal((await post('/api/account/', { name: 'a' }, { as: 'alice' })).statusCode, 201)
  await unchanged(async () => {
    for (const [name, values] of Object.entries({
      limit_of: [1, 150, 'x'], plan: ['gold', 'x', 1], coupon: ['K-1', 'K-2'], owner: [2, 3, 'x'], owner_id: [2, null]
    })) {
      for (const value of values) {
        for (const send of name.startsWith('owner') ? [put] : [post, put]) {
          const url = send === post ? '/api/account/' : '/api/account/1/'
          const [hidden, unknown] = await Promise.all([name, 'nowhere'].map(async (name) =>
            await send(url, { name: 'b', [name]: value }, { as: 'alice' })))
          t.same([hidden?.statusCode, hidden?.body.replaceAll(name, 'nowhere')], [400, unknown?.body], name)
        }
      }
    }
    t.notMatch(
      (await post('/api/account/', { name: 'b' }, { as: 'alice' })).body, /coupon|K-1/, 'a default that is taken'
    )
  })
  t.same((await get('/api/account/')).json().objects, [{ id: 1, name: 'a' }])
})

/** A table whose rules are narrower than those of the model, and which says what it refuses. */
const narrow: Readonly<Record<typeof engine, readonly string[]>> = {
  sqlite: [
    'create table narrow (id integer primary key autoincrement, word text, short text check (length(short) < 5), ' +
      `latin text,
      ruled text, raised text, number integer constraint small_number check (number < 1000), day text)`,
    'create unique index words on narrow (word)',
    'create trigger raises before insert on narrow when new.raised is not null begin select raise(abort, ' +
      '\'not this one\'); end',
    'create trigger raises_too before update on narrow when new.raised is not null begin select raise(abort, ' +
      '\'not this one\'); end',
    'create trigger rules before insert on narrow when new.ruled is not null begin insert into narrow (id, ' +
      'word) values (1, new.ruled); end',
    'create trigger rules_too before update on narrow when new.ruled is not null begin insert into narrow (id, ' +
      'word) values (1, new.ruled); end'
  ],
  postgres: [
    'create table narrow (id bigint generated by default as identity primary key, word text, short varchar(4), ' +
      `latin text constraint is_plain check (latin !~ 'latin'),
      ruled text, raised text, number smallint, day text)`,
    'create unique index words on narrow (word)',
    `create function refuse() returns trigger language plpgsql as $$ begin
      if new.ruled is not null then raise exception 'not %', new.ruled using errcode = '23514', detail = new.ruled, ` +
      `hint = new.ruled; end if;
      if new.raised is not null then raise exception 'not %', new.raised using detail = new.raised; end if;
      if new.day is not null then perform new.day::date; end if;
      return new; end $$`,
    'create trigger refuses before insert or update on narrow for each row execute function refuse()'
  ],
  mariadb: [
    'create table narrow (id bigint auto_increment primary key, word varchar(40), short varchar(4), ' +
      `latin varchar(40) character set latin1,
      ruled varchar(40), raised varchar(40), number smallint, day varchar(40)) default character set utf8mb4 collate ` +
      'utf8mb4_nopad_bin',
    'create unique index words on narrow (word)',
    ...['insert', 'update'].map((write) => `create trigger refuses_${write} before ${write} on narrow for each row begin
      declare told varchar(99);
      declare day date;
      if new.raised is not null then set told = concat('not ', new.raised); signal sqlstate '45000' set message_text ` +
      `= told; end if;
      if new.ruled is not null then set told = concat('not ', new.ruled); signal sqlstate '45000' set message_text = ` +
      `told, mysql_errno = 1292; end if;
      if new.day is not null then set day = new.day; end if;
    end`)
  ]
}

test('T-116: no value that an engine refuses is in the log, however much of an error is logged', async (t) => {
  const Narrow = defineModel('Narrow', Object.fromEntries(
    ['word', 'short', 'latin', 'ruled', 'raised', 'day'].map((name) => [name, text({ nullable: true })])
  ))
  const Counted = defineModel('Counted', { number: integer({ nullable: true }) }, { table: 'narrow' })
  const db = await openDatabase(t)
  for (const statement of narrow[engine]) await sql.raw(statement).execute(db)
  await sql`insert into narrow (id, word) values (1, 'first')`.execute(db)
  await sql`insert into narrow (id, word) values (2, 'marker-word')`.execute(db)
  await skipKeys(db, 'narrow')
  const lines: string[] = []
  const errors: unknown[] = []
  const app = Fastify({
    logger: {
      level: 'trace',
      stream: { write: (line: string) => { lines.push(line) } },
      serializers: {
        err: (error: Error) => {
          errors.push(error.cause)
          return { type: error.name, message: error.message, stack: inspect(error, { depth: null, showHidden: true }) }
        }
      }
    }
  })
  t.teardown(async () => { await app.close() })
  const everybody: Policy = {
    open: ['list', 'read', 'create', 'update', 'delete'], authenticator: () => async () => null, permits: () => false
  }
  await app.register(restModels, { db, defaultAuth: everybody })
  app.restModels.register(Narrow).register(Counted)
  await app.restModels.setup()
  const values = {
    word: 'marker-word',
    short: 'marker-short',
    latin: '\u2603marker-latin',
    ruled: 'marker-ruled',
    raised: 'marker-raised',
    day: 'marker-day'
  }
  const bodies = [
    ...Object.entries(values).map(([name, value]) => ['narrow', { [name]: value }] as const),
    ['counted', { number: 987_654 }] as const
  ]
  // What SQLite takes.
  const taken = engine === 'sqlite' ? ['latin', 'day'] : []
  for (const [resource, body] of bodies) {
    for (const [method, url] of [['POST', `/api/${resource}/`], ['PUT', `/api/${resource}/1/`]] as const) {
      const count = lines.length
      const { statusCode } = await app.inject({ method, url, payload: body })
      const where = `${method} ${JSON.stringify(body)}`
      if (taken.includes(Object.keys(body)[0] ?? '')) t.ok(statusCode < 300, where)
      else t.ok(statusCode >= 400, `${where}: ${statusCode}`)
      t.notMatch(lines.slice(count).join(), /marker|987.?654/, where)
    }
  }
  t.ok(errors.length > 8, `${errors.length} errors were logged`)
  t.match(
    lines.join(), engine === 'mariadb' ? /1406|Data too long for column/ : /small_number|is_plain/,
    'the rule that refuses is named'
  )
})

/** Tables whose triggers make words, numbers and statements of what they are given, by its first letter. */
const telling: Readonly<Record<typeof engine, readonly string[]>> = {
  sqlite: [
    'create table telling (id integer primary key autoincrement, word text)',
    "create trigger tells before insert on telling begin select raise(abort, 'not this one'); end"
  ],
  postgres: [
    'create table telling (id bigint generated by default as identity primary key, word text)',
    `create function tell() returns trigger language plpgsql as $$ declare
      rest text := substr(new.word, 2);
      found integer;
    begin
      case left(new.word, 1)
        when 'a' then assert false, rest;
        when 'b' then select id into strict found from telling where word = rest;
        when 'c' then select s into strict found from generate_series(1, 2) s;
        when 'd' then case rest when 'no' then null; end case;
        when 'e' then found := (select s from generate_series(1, 2) s);
        when 'f' then raise exception '%', rest using errcode = '42P01';
        when 'x' then execute rest;
        when 'y' then execute 'select ' || rest;
        when 'z' then execute 'select * from ' || rest;
      end case;
      return new;
    end $$`,
    'create trigger tells before insert on telling for each row execute function tell()'
  ],
  mariadb: [
    'create table telling (id bigint auto_increment primary key, word varchar(40))',
    `create trigger tells before insert on telling for each row begin
      declare told varchar(99) default concat('not ', substr(new.word, 2));
      declare found integer;
      case left(new.word, 1)
        when 'a' then signal sqlstate '45000' set message_text = told, mysql_errno = 30001;
        when 'b' then signal sqlstate '23000' set message_text = told, mysql_errno = 1452;
        when 'c' then begin
          declare exit handler for sqlexception resignal set message_text = told;
          set found = (select 1 from no_such);
        end;
        when 'd' then select seq into found from seq_1_to_2;
        when 'e' then set found = (select seq from seq_1_to_2);
        when 'f' then case substr(new.word, 2) when 'no' then set found = 1; end case;
        when 'g' then signal sqlstate '02000' set message_text = told;
        when 'x' then signal sqlstate '42S22' set message_text = told, mysql_errno = 1054;
      end case;
    end`
  ]
}
/** What is answered by the first letter: a fault of the trigger is a 500, whatever value makes it one. */
const answers = {
  sqlite: { a: 409 },
  postgres: { a: 409, b: 409, c: 409, d: 409, e: 409, f: 409, x: 500, y: 500, z: 500 },
  mariadb: { a: 409, b: 409, c: 500, d: 409, e: 409, f: 409, g: 409, x: 500 }
}[engine]

test('T-116: the log has no value that a trigger puts into words or SQL; what it refuses is a 409', async (t) => {
  const Telling = defineModel('Telling', { word: text({ nullable: true }) })
  const db = await openDatabase(t)
  for (const statement of telling[engine]) await sql.raw(statement).execute(db)
  const lines: string[] = []
  const app = Fastify({
    logger: {
      level: 'trace',
      stream: { write: (line: string) => { lines.push(line) } },
      serializers: {
        err: (error: Error) =>
          ({ type: error.name, message: error.message, stack: inspect(error, { depth: null, showHidden: true }) })
      }
    }
  })
  t.teardown(async () => { await app.close() })
  const everybody: Policy = { open: ['create'], authenticator: () => async () => null, permits: () => false }
  await app.register(restModels, { db, defaultAuth: everybody })
  app.restModels.register(Telling)
  await app.restModels.setup()
  for (const [letter, status] of Object.entries(answers)) {
    const { statusCode } = await app.inject({
      method: 'POST', url: '/api/telling/', payload: { word: `${letter}marker` }
    })
    t.equal(statusCode, status, letter)
  }
  t.notMatch(lines.join(), /marker/)
})
