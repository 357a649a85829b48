// @once: opens both servers itself
// @alone: starts a server, and waits for connections that are lost
// @covers: connections that cannot be opened
// @long: starts servers, and waits for connections that are lost

import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import Fastify from 'fastify'
import { CamelCasePlugin, sql, type Kysely } from 'kysely'
import mysql from 'mysql2'
import pg from 'pg'
import { test, type Test } from 'tap'
import { nodeUrls } from '../../lib/engines/server/database-url.js'
import { Nodes } from '../../lib/engines/server/nodes.js'
import { MariadbConnection } from '../../lib/engines/mariadb/connection.js'
import { notSentCode } from '../../lib/engines/statement-failure.js'
import { unprepare, type DriverConnection } from '../../lib/engines/mariadb/driver.js'
import { PostgresConnection } from '../../lib/engines/postgres/connection.js'
import type { DriverClient } from '../../lib/engines/postgres/driver.js'
import { PreparedStatements } from '../../lib/engines/server/prepared-statements.js'
import { StatementNames } from '../../lib/engines/server/statement-names.js'
import restModels, { createTables, defineModel, foreignKey, text, type Model } from '../../lib/index.js'
import { openMariadb } from '../../lib/mariadb.js'
import { openPostgres } from '../../lib/postgres.js'
import { openSqlite } from '../../lib/sqlite.js'
import { readHandle } from '../../lib/database/engine.js'
import type { Tables } from '../../lib/engines/executor.js'
import { executorsOf } from '../../lib/engines/executor.js'
import { driverTimeout } from '../../lib/engines/server/server-options.js'
import { changeSchema } from '../../lib/tables/schema-change.js'
import { dialects } from '../../lib/database/dialects.js'
import { engineNames, type EngineName } from '../support/engines/find-engine.js'
import { lacks, requireDatabase } from '../support/engines/lacks.js'
import { startMariadb } from '../support/engines/mariadb-server.js'
import { startPgbouncer } from '../support/engines/pgbouncer-server.js'
import { runSql } from '../support/engines/sql.js'
import { checkAnswers } from '../support/answers.js'
import { client, insert, registerSite, siteModels, siteUsers } from '../support/site.js'

const openers = { postgres: openPostgres, mariadb: openMariadb }
const seconds = async (count: number): Promise<void> => {
  await new Promise((resolve) => setTimeout(resolve, count * 1000))
}

function open (t: Test, engine: EngineName, ...given: Parameters<typeof openPostgres>) {
  const db = openers[engine](...given)
  t.teardown(async () => { await db.destroy() })
  return db
}

test('the hosts of a URL share everything else', async (t) => {
  t.same(nodeUrls('postgres://me:p%40ss@a:1,b:2,[::1]:3/site?sslmode=require', ['postgres']), [
    'postgres://me:p%40ss@a:1/site?sslmode=require', 'postgres://me:p%40ss@b:2/site?sslmode=require',
    'postgres://me:p%40ss@[::1]:3/site?sslmode=require'
  ])
  t.same(nodeUrls('mariadb://localhost/site', ['mariadb', 'mysql']), ['mariadb://localhost/site'])
})

test('a URL that is none is refused with the right form, and without the password that it may hold', async (t) => {
  const wrong = [
    '', 'site', 'mysql://me:secret@a/site', 'postgres:me:secret@a', 'mysql:me:secret@a/site', 'me:secret@a/site',
    'm:secret@a/site', '//me:secret@a/site', 'postgres://me:secret@a,,b/site', 'postgres://me:secret@/site',
    'postgres://me:secret@a:x/site', 'postgres://me:secret@a', 'postgres://me:secret%@a/site',
    'postgres://me:secret@a/si%te', 'postgres://me:secret@a/site?application_name=50%off'
  ]
  for (const url of wrong) {
    const failure = t.throws(() => openPostgres(url), {
      code: 'REST_MODELS_INVALID_OPTIONS',
      message: /^A database URL has the form postgres:\/\/user:password@host:port\/database/
    }, url)
    t.notMatch(String(failure), 'secret')
  }
  for (const openServer of [openPostgres, openMariadb]) {
    for (const url of [undefined, null, '', ' ', 5, {}, ['postgres://a/site'], new URL('postgres://a/site')]) {
      t.throws(
        () => openServer(url as string),
        { code: 'REST_MODELS_INVALID_OPTIONS', message: /the form \w+:\/\/.*Is an environment variable not set\?/ },
        String(url)
      )
    }
  }
  t.throws(() => openMariadb('postgres://a/site'), { code: 'REST_MODELS_INVALID_OPTIONS', message: /mariadb:\/\// })
})

for (const engine of engineNames) {
  const url = `${engine}://me@127.0.0.1:1/site`

  test(`${engine} refuses every write on a connection that is opened to read only`, async (t) => {
    const at = await requireDatabase(t, engine)
    if (at === undefined) return
    const url = new URL(at)
    if (engine === 'postgres') url.searchParams.set('options', '-c work_mem=5MB')
    const writer = open(t, engine, url.href)
    await sql`create table kept (id integer)`.execute(writer)
    const db = open(t, engine, url.href, { readonly: true, connections: 2 })
    for (const statement of ['insert into kept values (1)', 'create table more (id integer)']) {
      await t.rejects(sql.raw(statement).execute(db), statement)
    }
    await t.rejects(db.transaction()
      .execute(async (transaction) => await sql`insert into kept values (1)`.execute(transaction)))
    await t.rejects(
      async () => { await readHandle(db).executor.execute(sql`insert into kept values (1)`.compile(db)) },
      'past the driver of Kysely'
    )
    t.match((await sql`select * from kept`.execute(db)).rows, [])
    if (engine === 'postgres') {
      t.match((await sql`show work_mem`.execute(db)).rows, [{ work_mem: '5MB' }], 'other options are kept')
    }
    await sql`drop table kept`.execute(writer)
  })

  test(`destroy closes the connections of ${engine} that only the plugin's own executor has used`, async (t) => {
    const at = await requireDatabase(t, engine)
    if (at === undefined) return
    const db = openers[engine](at)
    const one = sql`select 1 as one`.compile(db)
    const { executor } = readHandle(db)
    t.same(await executor.readArrays(one, ['one']), [[1]])
    await db.destroy()
    await t.rejects(async () => { await executor.readArrays(one, ['one']) }, 'the pool is closed')
    await t.resolves(db.destroy(), 'a second time it does nothing')
    const used = openers[engine](at)
    await sql`select 1`.execute(used)
    await t.resolves(used.destroy())
  })

  test(`wrong options of ${engine} are named, with the nearest right ones`, async (t) => {
    const wrong = [
      [{ conections: 5 }, /unknown option 'conections', did you mean 'connections'/],
      [{ connections: 0 }, /'connections' of open\w+\(\) must be a whole number of at least 1/],
      [{ connections: 1.5 }, /'connections'/],
      [{ statementTimeout: -1 }, /'statementTimeout' of open\w+\(\) must be a whole number of at least 0/],
      [{ readonly: 1 }, /'readonly' of open\w+\(\) is true or false/],
      [{ preparedStatements: 'no' }, /'preparedStatements' of open\w+\(\) is true or false/],
      [{ writable: 1 }, /'writable'/]
    ] as const
    for (const [options, message] of wrong) {
      t.throws(() => openers[engine](url, options as object), { code: 'REST_MODELS_INVALID_OPTIONS', message })
    }
    if (engine === 'mariadb') {
      t.throws(() => openMariadb(url, { maxLag: 500 } as object), { message: /unknown option 'maxLag'/ })
    } else {
      t.throws(() => openPostgres(url, { maxLag: 0 }), {
        message: /'maxLag' of openPostgres\(\) must be a whole number of at least 1/
      })
      t.throws(() => openPostgres(url.replace('/site', ',b/site'), { maxLag: 500 }), {
        message: /'maxLag' of openPostgres\(\) is for hosts to read from: set 'writable: false'/
      })
    }
    t.doesNotThrow(() =>
      openers[engine](url, { connections: 1, statementTimeout: 0, preparedStatements: false, writable: true }))
  })

  test(`R-42: ${engine}: a connection whose rollback fails is closed; nobody else gets its transaction`, async (t) => {
    const at = await requireDatabase(t, engine)
    if (at === undefined) return
    const db = open(t, engine, at, { connections: 1 })
    await sql`create table rolled (id integer primary key)`.execute(db)
    const connectionOf = async (handle: typeof db) => {
      const id = engine === 'postgres'
        ? sql<{ id: number }>`select pg_backend_pid() as id`
        : sql<{ id: number }>`select connection_id() as id`
      return (await id.execute(handle)).rows[0]?.id
    }
    // One that the server refuses, and that leaves the transaction open.
    const drive = (engine === 'postgres' ? pg.Client.prototype : mysql.Connection.prototype) as unknown as {
      query: (...given: unknown[]) => unknown
    }
    const { query } = drive
    t.intercept(drive, 'query', {
      value: function (this: unknown, statement: { text?: string } | string, ...given: unknown[]) {
        const refused = 'rollback to savepoint none'
        if (statement === 'rollback') return query.call(this, refused, ...given)
        const isRollback = typeof statement === 'object' && statement.text === 'rollback'
        return query.call(this, isRollback ? { ...statement, text: refused } : statement, ...given)
      }
    })
    let first: number | undefined
    await t.rejects(db.transaction().execute(async (transaction) => {
      first = await connectionOf(transaction)
      await sql`insert into rolled values (1)`.execute(transaction)
      throw new Error('stopped')
    }), { message: /savepoint/i })
    t.not(await connectionOf(db), first)
    t.same((await sql`select * from rolled`.execute(db)).rows, [], 'the transaction ended with its connection')
    await sql`drop table rolled`.execute(db)
  })

  test(`${engine}: what nobody listens to fails when it is first used`, async (t) => {
    await t.rejects(sql`select 1`.execute(open(t, engine, url)), { code: 'ECONNREFUSED' })
  })

  test(`${engine}: dates and times are text, whatever the time zone of the process, and integers safe`, async (t) => {
    const at = await requireDatabase(t, engine)
    if (at === undefined) return
    const db = open(t, engine, at)
    const wide = engine === 'postgres' ? sql`bigint` : sql`signed`
    const moment = engine === 'postgres'
      ? sql`timestamp '2024-03-10 02:30:00'`
      : sql`cast('2024-03-10 02:30:00' as datetime)`
    const { rows: [row] } = await sql`select ${moment} as moment, cast('2024-03-10' as date) as day,
      cast(42 as ${wide}) as small, cast('9007199254740993' as ${wide}) as big`.execute(db)
    t.same(row, { moment: '2024-03-10 02:30:00', day: '2024-03-10', small: 42, big: '9007199254740993' })
  })

  test(`${engine}: a repeated statement is prepared once for each connection, unless that is off`, async (t) => {
    const at = await requireDatabase(t, engine)
    if (at === undefined) return
    const prepared = async (preparedStatements: boolean): Promise<number> => {
      const db = open(t, engine, at, { connections: 1, preparedStatements })
      for (const value of [1, 2, 3]) {
        t.match((await sql`select ${value} + 1 as answer`.execute(db)).rows, [{ answer: value + 1 }])
      }
      const { rows: [row] } = await (engine === 'postgres'
        ? sql`select count(*) as count from pg_prepared_statements`
        : sql`select sum(if(variable_name = 'com_stmt_prepare', variable_value, -variable_value)) as count
          from information_schema.session_status
          where variable_name in ('com_stmt_prepare', 'com_stmt_close')`).execute(db)
      return Number((row as { count: unknown }).count)
    }
    t.equal(await prepared(true), 1)
    t.equal(await prepared(false), 0)
  })

  test(`${engine}: statements that a connection no longer uses are closed, also in a transaction`, async (t) => {
    const at = await requireDatabase(t, engine)
    if (at === undefined) return
    const db = open(t, engine, at, { connections: 1 })
    const ask = async (handle: Kysely<Tables>, number: number) =>
      (await sql`select ${number} + ${sql.raw(String(number))} as answer`.execute(handle)).rows
    const askTwice = async (handle: Kysely<Tables>, first: number, last: number) => {
      for (let number = first; number <= last; number++) {
        for (let time = 1; time <= 2; time++) t.match(await ask(handle, number), [{ answer: 2 * number }])
      }
    }
    const kept = async () => Number((await sql<{ count: unknown }>`select ${engine === 'postgres'
      ? sql`count(*) as count from pg_prepared_statements`
      : sql`sum(if(variable_name = 'com_stmt_prepare', variable_value, -variable_value)) as count
          from information_schema.session_status
          where variable_name in ('com_stmt_prepare', 'com_stmt_close')`}`
      .execute(db)).rows[0]?.count)
    await askTwice(db, 1, 100)
    t.equal(await kept(), 100)
    await db.transaction().execute(async (transaction) => { await askTwice(transaction, 101, 150) })
    t.equal(await kept(), 100)
    await askTwice(db, 1, 1)
    await askTwice(db, 150, 150)
    t.equal(await kept(), 100, 'one that was closed is prepared again, in place of another')
  })

  test(`${engine}: a statement that takes too long is given up, unless the server is to decide`, async (t) => {
    const at = await requireDatabase(t, engine)
    if (at === undefined) return
    const nap = engine === 'postgres'
      ? sql`select pg_sleep(0.6)`
      : sql`select count(*) from seq_1_to_1000 where sleep(0.001) = 0`
    const db = open(t, engine, at, { statementTimeout: 200 })
    await t.rejects(nap.execute(db), /statement timeout|max_statement_time exceeded/)
    t.same((await sql`select 1 as answer`.execute(db)).rows, [{ answer: 1 }], 'the connection is as good as before')
    if (engine === 'postgres') await t.resolves(nap.execute(open(t, engine, at, { statementTimeout: 0 })))
  })

  test(`${engine}: a connection that dies, idle or at work, neither ends the process nor is used again`, async (t) => {
    const at = await requireDatabase(t, engine)
    if (at === undefined) return
    const db = open(t, engine, at, { connections: 1 })
    const own = engine === 'postgres'
      ? sql<{ id: number }>`select pg_backend_pid() as id`
      : sql<{ id: number }>`select connection_id() as id`
    const kill = async (id: number): Promise<void> => {
      await runSql(at, engine === 'postgres' ? `select pg_terminate_backend(${id})` : `kill ${id}`)
    }
    const idOf = async (): Promise<number> => (await own.execute(db)).rows[0]?.id ?? 0
    const idle = await idOf()
    await kill(idle)
    const next = await idOf().catch(idOf)
    t.not(next, idle)
    const nap = engine === 'postgres' ? sql`select pg_sleep(10)` : sql`select sleep(10)`
    const asleep = t.rejects(nap.execute(db))
    const isAsleep = engine === 'postgres'
      ? `select 1 from pg_stat_activity where pid = ${next} and state = 'active'`
      : `select 1 from information_schema.processlist where id = ${next} and info like '%sleep%'`
    while ((await runSql(at, isAsleep)).length === 0);
    await kill(next)
    await asleep
    t.not(await idOf(), next)
  })

  test(`${engine}: tables are made once, however many make them at the same moment`, async (t) => {
    const at = await requireDatabase(t, engine)
    if (at === undefined) return
    await t.resolves(Promise.all([1, 2, 3, 4].map(async () => await createTables(open(t, engine, at), siteModels))))
  })
}

test('a connection of PostgreSQL is closed after 0A000 only if a prepared statement no longer fits', async (t) => {
  const at = await requireDatabase(t, 'postgres')
  if (at === undefined) return
  const db = open(t, 'postgres', at, { connections: 1 })
  const idOf = async () => (await sql<{ id: number }>`select pg_backend_pid() as id`.execute(db)).rows[0]?.id
  await runSql(at, 'create table shelf (id integer); create view ruled as select 1 as id; ' +
    'create rule instead as on insert to ruled do instead nothing')
  const first = await idOf()
  await t.rejects(sql`insert into ruled values (2) returning id`.execute(db), { code: '0A000' })
  t.equal(await idOf(), first)
  const all = sql`select * from shelf where id = ${1}`
  for (let times = 0; times < 3; times++) await all.execute(db)
  await runSql(at, 'alter table shelf add column name text')
  await t.rejects(all.execute(db), { code: '0A000', routine: 'RevalidateCachedQuery' })
  t.not(await idOf(), first)
  t.same((await all.execute(db)).rows, [])
})

test('tables of MariaDB are made by one process at a time, whatever the time-out of its statements', async (t) => {
  const at = await requireDatabase(t, 'mariadb')
  if (at === undefined) return
  const db = open(t, 'mariadb', at, { statementTimeout: 1200 })
  await open(t, 'mariadb', at, { connections: 1 }).connection().execute(async (other) => {
    await sql`select get_lock(concat('rest_models_', database()), 1)`.execute(other)
    const made = createTables(db, siteModels)
    const isWaiting =
      "select 1 from information_schema.processlist where state = 'User lock' and info like '%get_lock%'"
    while ((await runSql(at, isWaiting)).length === 0);
    await sql`select sleep(2)`.execute(other)
    await sql`select release_lock(concat('rest_models_', database()))`.execute(other)
    await t.resolves(made)
  })
})

test('a connection of MariaDB that breaks while tables are made: the error is that of the statement', async (t) => {
  const at = await requireDatabase(t, 'mariadb')
  if (at === undefined) return
  const change = changeSchema(open(t, 'mariadb', at), async (db) => {
    const { rows: [own] } = await sql<{ id: number }>`select connection_id() as id`.execute(db)
    await runSql(at, `kill ${own?.id}`)
    throw new Error('the first error')
  })
  await t.rejects(change, { message: 'the first error' })
})

test('a process that waits for another to make the tables of MariaDB makes them if that one gives up', async (t) => {
  const at = await requireDatabase(t, 'mariadb')
  if (at === undefined) return
  const db = open(t, 'mariadb', at)
  await createTables(db, siteModels)
  await open(t, 'mariadb', at, { connections: 1 }).connection().execute(async (other) => {
    await sql`select get_lock(concat('rest_models_', database()), 1)`.execute(other)
    const made = createTables(db, siteModels)
    const isWaiting =
      "select 1 from information_schema.processlist where state = 'User lock' and info like '%get_lock%'"
    while ((await runSql(at, isWaiting)).length === 0);
    for (const { table } of [...siteModels].reverse()) await other.schema.dropTable(table).execute()
    await sql`select release_lock(concat('rest_models_', database()))`.execute(other)
    await made
  })
  t.equal((await db.introspection.getTables()).length, siteModels.length)
})

/** Nodes of which some are down; how often each was asked whether it serves. */
function fakeNodes (names: readonly [string, ...string[]], { isWatched = false, slow = [] as string[] } = {}) {
  const down = new Set<string>()
  const full = new Set<string>()
  const asked: string[] = []
  const [first, ...others] = names.map((name) => ({ name }))
  const serves = async ({ name }: { readonly name: string }): Promise<string> => {
    if (slow.includes(name)) await seconds(1.2)
    if (down.has(name)) {
      throw Object.assign(new Error(name === 'mute' ? '' : `${name} is down`), { code: 'ECONNREFUSED' })
    }
    return name
  }
  const nodes = new Nodes([first ?? { name: '' }, ...others], {
    check: async (node) => {
      asked.push(node.name)
      if (full.has(node.name)) throw new Error('full')
      await serves(node)
    },
    isFull: (error) => (error as Error).message === 'full',
    isWatched
  })
  const connect = async (): Promise<string> => await nodes.connect(serves)
  const leave = (name: string): void => { nodes.leave(nodes.all.find((node) => node.name === name) ?? nodes.all[0]) }
  return { connect, leave, down, full, asked, used: () => nodes.used.name }
}

test('D-64: of several nodes that of a connection is kept, until it is left or gives none', async (t) => {
  const { connect, leave, down, used } = fakeNodes(['a', 'b', 'c'])
  t.equal(used(), 'a', 'the first one counts as used before one was needed')
  t.same([await connect(), await connect()], ['a', 'a'])
  down.add('a')
  t.same([await connect(), await connect()], ['b', 'b'])
  t.equal(used(), 'b')
  down.delete('a')
  t.equal(await connect(), 'b', 'a node that is back is not gone back to')
  leave('b')
  t.equal(await connect(), 'b', 'a node that was left is kept if it serves')
  down.add('b').add('a')
  leave('b')
  t.equal(await connect(), 'c')
})

test('D-121: when no host serves, the reasons of all are told, in their order', async (t) => {
  const { connect, down } = fakeNodes(['a', 'b'])
  for (const name of ['a', 'b']) down.add(name)
  await t.rejects(connect(), {
    message: 'No host serves: a: a is down; b: b is down', errors: [{ message: 'a is down' }, { message: 'b is down' }]
  })
  const silent = fakeNodes(['a', 'mute'])
  for (const name of ['a', 'mute']) silent.down.add(name)
  await t.rejects(
    silent.connect(), { message: 'No host serves: a: a is down; mute: ECONNREFUSED' }, 'a reason without words'
  )
  for (const engine of engineNames) {
    const failure = await t.rejects(
      sql`select 1`.execute(open(t, engine, `${engine}://me:secret@127.0.0.1:1,127.0.0.1:2/site`)),
      { message: /^No host serves: 127\.0\.0\.1:1: .*ECONNREFUSED.*; 127\.0\.0\.1:2: .*ECONNREFUSED/ }
    )
    t.notMatch(String(failure), 'secret')
  }
})

test('D-121: hosts are looked for once for all who wait, and at most ten times a second', async (t) => {
  const { connect, leave, asked, down } = fakeNodes(['a', 'b'])
  await connect()
  asked.length = 0
  const start = performance.now()
  for (let round = 0; round < 5; round++) {
    leave('a')
    t.same(new Set(await Promise.all(Array.from({ length: 100 }, connect))), new Set(['a']))
  }
  t.same(asked, Array(5).fill('a'))
  t.ok(performance.now() - start > 350)
  down.add('a')
  asked.length = 0
  t.same(new Set(await Promise.all(Array.from({ length: 100 }, connect))), new Set(['b']))
  t.same(asked, ['a', 'b'])
})

test('D-121: a host that is slow to answer costs a quarter of a second, and is preferred afterwards', async (t) => {
  const { connect } = fakeNodes(['a', 'b'], { slow: ['a'] })
  const start = performance.now()
  t.equal(await connect(), 'b')
  t.ok(performance.now() - start < 1100)
  await seconds(1.2)
  t.equal(await connect(), 'a')
})

test('D-121: a host that takes no more connections is kept by those who have some', async (t) => {
  const { connect, leave, full } = fakeNodes(['a', 'b'])
  full.add('a')
  t.equal(await connect(), 'b')
  full.delete('a')
  full.add('b')
  leave('b')
  t.equal(await connect(), 'b')
})

for (const engine of engineNames) {
  test(`D-121: ${engine}: connections that are cut together send requests to the other hosts once`, async (t) => {
    const at = await requireDatabase(t, engine)
    if (at === undefined) return
    let connections = 0
    const dead = createServer((socket) => {
      connections++
      socket.destroy()
    }).listen(0, '127.0.0.1')
    await once(dead, 'listening')
    t.teardown(() => { dead.close() })
    const { host } = new URL(at)
    const db = open(t, engine, at.replace(host, `${host},127.0.0.1:${(dead.address() as AddressInfo).port}`))
    const nap = engine === 'postgres' ? sql`select pg_sleep(0.3)` : sql`select sleep(0.3)`
    const name = new URL(at).pathname.slice(1)
    const kill = engine === 'postgres'
      ? 'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> ' +
        'pg_backend_pid()'
      : `select concat('kill ', id) as kill_it from information_schema.processlist where db = '${name}' and id <> ` +
        'connection_id()'
    for (let round = 0; round < 3; round++) {
      const asked = Array.from({ length: 40 }, async () => {
        try { await readHandle(db).executor.execute(nap.compile(db)) } catch { /* it was cut too often */ }
      })
      await seconds(0.2)
      const killed = await runSql(at, kill)
      if (engine === 'mariadb') {
        for (const { kill_it: statement } of killed) await runSql(at, String(statement)).catch(() => {})
      }
      await Promise.all(asked)
      await t.resolves(sql`select 1`.execute(db))
    }
    t.ok(connections <= 3, `${connections} connections to the host that is dead`)
  })
}

test('D-122: hosts to read from are preferred in their order, and gone back to', async (t) => {
  const { connect, leave, down } = fakeNodes(['a', 'b'], { isWatched: true })
  t.equal(await connect(), 'a')
  down.add('a')
  leave('a')
  t.equal(await connect(), 'b')
  down.delete('a')
  await seconds(1.1)
  t.equal(await connect(), 'b', 'whoever asks does not wait for the search')
  await seconds(0.1)
  t.equal(await connect(), 'a')
  down.add('a')
  await seconds(2.1)
  t.equal(await connect(), 'b', 'but where nobody has asked for long')
})

test('D-104: a statement is worth a name when it is asked for again, and is not heavy', async (t) => {
  const secondName = (text: string, values: readonly unknown[]): string | undefined => {
    const names = new StatementNames()
    t.equal(names.statementOf(text, values), undefined)
    return names.statementOf(text, values)?.name
  }
  const name = secondName('select $1 + 0', [1])
  t.match(name, /^rest_models_[0-9a-f]{40}$/)
  t.equal(secondName('select $1 + 0', [2]), name, 'the same in another process')
  t.not(secondName('select $1 + 1', [1]), name)
  t.equal(secondName('select 1', []), undefined)
  t.ok(secondName('select $140', Array(140).fill(1)))
  t.equal(secondName('select $141', Array(141).fill(1)), undefined)
  t.equal(secondName(`select $1${' '.repeat(17_000)}`, [1]), undefined)
})

test('D-104: names are never used up: whatever clients make up, an ordinary statement gets a name', async (t) => {
  const names = new StatementNames()
  for (let number = 0; number < 5000; number++) {
    for (let time = 1; time <= 2; time++) names.statementOf(`select $1 + ${number}`, [1])
  }
  t.equal(names.statementOf('select $1', [1]), undefined)
  t.ok(names.statementOf('select $1', [1]))
  t.equal(names.statementOf('select $1 + 0', [1]), undefined, 'what nobody has asked for since is forgotten')
})

test('D-64: of several hosts of PostgreSQL the one that accepts writes is found', async (t) => {
  const at = await requireDatabase(t, 'postgres')
  if (at === undefined) return
  await runSql(at, 'create schema standby')
  await runSql(at, 'create function standby.pg_is_in_recovery() returns boolean language sql as $$ select true $$')
  const standby = new URL(at)
  standby.searchParams.set('options', '-c search_path=standby,pg_catalog')
  await t.rejects(sql`select 1`.execute(open(t, 'postgres', standby.href, { writable: true })), {
    code: '25006', message: 'The node is a standby'
  })
  await t.resolves(sql`select 1`.execute(open(t, 'postgres', standby.href)), 'a single host may be one to read from')
  const { host } = new URL(at)
  await t.resolves(sql`select 1`.execute(open(t, 'postgres', at.replace(host, `127.0.0.1:1,${host}`))))
})

test('D-64: of several hosts of MariaDB one that only reads is passed over', async (t) => {
  if (lacks(t, 'mariadb')) return
  const servers = await Promise.all([startMariadb({ settings: { read_only: 'ON' } }), startMariadb()])
  t.teardown(async () => await Promise.all(servers.map(async (server) => { await server.stop() })))
  const [{ port: replica, url }, { port: primary }] = servers
  const both = open(t, 'mariadb', url.replace(`:${replica}`, `:${replica},127.0.0.1:${primary}`))
  t.match((await sql`select @@port as port`.execute(both)).rows, [{ port: primary }])
  await t.rejects(sql`select 1`.execute(open(t, 'mariadb', url, { writable: true })), {
    message: 'The node is read-only'
  })
  t.match(
    (await sql`select @@port as port`.execute(open(t, 'mariadb', url))).rows, [{ port: replica }],
    'a single host may be one to read from'
  )
})

test('a deployer may stream rows of MariaDB', async (t) => {
  const at = await requireDatabase(t, 'mariadb')
  if (at === undefined) return
  const rows: unknown[] = []
  for await (const row of open(t, 'mariadb', at).selectFrom(
    sql<{ n: number }>`(select 1 as n union all select 2)`.as('numbers')
  ).selectAll().stream()) rows.push(row)
  t.same(rows, [{ n: 1 }, { n: 2 }])
})

test('what is not SQL text is handed to the driver as it is, such as a cursor', async (t) => {
  const cursor = { read: async () => [], close: async () => {} }
  const given: unknown[] = []
  const raw = { query: (wanted: unknown) => { given.push(wanted); return wanted } } as DriverClient
  const lease = { raw, release: () => {}, abandon: () => {} }
  t.equal(new PostgresConnection(lease, { timeout: 1000, prepared: undefined, leave: () => {} }).query(cursor), cursor)
  t.same(given, [cursor])
})

test('a table of PostgreSQL may be altered while its statements are prepared', async (t) => {
  const at = await requireDatabase(t, 'postgres')
  if (at === undefined) return
  const db = open(t, 'postgres', at, { connections: 2 })
  await createTables(db, siteModels)
  await insert(db, { note: [{ id: 1, message: 'a', created: '2024-01-01 00:00:00' }] })
  const app = Fastify()
  await checkAnswers(t, app)
  t.teardown(async () => { await app.close() })
  await app.register(restModels, { db })
  registerSite(app.restModels)
  await app.restModels.setup()
  const { get } = client(app)
  const statuses = async () =>
    (await Promise.all([1, 2, 3].map(async () => await get('/api/note/1/')))).map(({ statusCode }) => statusCode)
  t.same(await statuses(), [200, 200, 200])
  await runSql(at, 'alter table note alter column message type varchar(80)')
  t.same(await statuses(), [200, 200, 200])
})

test('behind PgBouncer in transaction mode all requests are answered, if nothing is prepared', async (t) => {
  if (lacks(t, 'pgbouncer')) return
  const at = await requireDatabase(t, 'postgres')
  if (at === undefined) return
  const bouncer = await startPgbouncer(at)
  t.teardown(bouncer.stop)
  const db = open(t, 'postgres', bouncer.url, { preparedStatements: false, statementTimeout: 0 })
  await createTables(db, siteModels)
  await insert(db, { user: await siteUsers() })
  const app = Fastify()
  await checkAnswers(t, app)
  t.teardown(async () => { await app.close() })
  await app.register(restModels, { db })
  registerSite(app.restModels)
  await app.restModels.setup()
  const { get, post } = client(app)
  const ask = async (number: number) => number % 2 === 0
    ? await post('/api/message/', { content: `${number}` }, { as: 'alice' })
    : await get(`/api/message/?content__like=%25&limit=${number % 5 + 1}`)
  const replies: Array<Awaited<ReturnType<typeof ask>>> = []
  // More at a time would wait for two seconds on a busy machine, and be refused.
  for (let first = 0; first < 200; first += 50) {
    replies.push(...await Promise.all(Array.from({ length: 50 }, async (_, index) => await ask(first + index))))
  }
  t.same(new Set(replies.map(({ statusCode }) => statusCode)), new Set([201, 200]))
  t.equal(new Set(replies.filter(({ statusCode }) => statusCode === 201).map((reply) => reply.json().id)).size, 100)
})

test('D-294: behind PgBouncer, the columns of a prepared statement are described at each use', async (t) => {
  if (lacks(t, 'pgbouncer')) return
  const at = await requireDatabase(t, 'postgres')
  if (at === undefined) return
  const bouncer = await startPgbouncer(at, { pool_mode: 'session' })
  t.teardown(bouncer.stop)
  const db = open(t, 'postgres', bouncer.url, { connections: 1, statementTimeout: 0 })
  const described = t.capture(pg.Connection.prototype, 'describe', pg.Connection.prototype.describe)
  for (let times = 0; times < 4; times++) {
    t.same((await sql`select ${5}::integer as n`.execute(db)).rows, [{ n: 5 }])
  }
  t.equal(described().length, 4)
})

test('a connection that is to read only is refused where a pooler drops what says so', async (t) => {
  if (lacks(t, 'pgbouncer')) return
  const at = await requireDatabase(t, 'postgres')
  if (at === undefined) return
  const bouncer = await startPgbouncer(at, { ignore_startup_parameters: 'options' })
  t.teardown(bouncer.stop)
  const db = open(t, 'postgres', bouncer.url, { preparedStatements: false, statementTimeout: 0, readonly: true })
  await t.rejects(sql`create table thing (id integer)`.execute(db), {
    message: /The connection accepts writes/
  })
  await t.resolves(
    sql`create table thing (id integer)`.execute(
      open(t, 'postgres', bouncer.url, { preparedStatements: false, statementTimeout: 0 })
    ),
    'else it would be made'
  )
})

test('a role that reads only may be said to read only also where a pooler drops what says so', async (t) => {
  if (lacks(t, 'pgbouncer')) return
  const at = await requireDatabase(t, 'postgres')
  if (at === undefined) return
  const role = `reader_${randomUUID().replaceAll('-', '')}`
  await runSql(at, `create role ${role} login; alter role ${role} set default_transaction_read_only = on; ` +
    `create table thing (id integer); grant select, insert on thing to ${role}`)
  t.teardown(async () => { await runSql(at, `drop owned by ${role}; drop role ${role}`) })
  const bouncer = await startPgbouncer(Object.assign(new URL(at), { username: role }).href, {
    ignore_startup_parameters: 'options'
  })
  t.teardown(bouncer.stop)
  const db = open(t, 'postgres', bouncer.url, { preparedStatements: false, statementTimeout: 0, readonly: true })
  t.same((await sql`select id from thing`.execute(db)).rows, [])
  await t.rejects(sql`insert into thing values (1)`.execute(db), { code: '25006' })
})

for (const engine of engineNames) {
  const Author = defineModel('Author', { name: text(), best: foreignKey((): Model => Book, { nullable: true }) })
  const Book = defineModel('Book', {
    author: foreignKey((): Model => Author), sequel: foreignKey((): Model => Book, { nullable: true })
  })
  const Shelf = defineModel('Shelf', { first: foreignKey(() => Book) })

  test(`${engine}: tables that refer to each other in a circle are made whole, or none of them`, async (t) => {
    const at = await requireDatabase(t, engine)
    if (at === undefined) return
    const db = open(t, engine, at)
    const countOf = async () => (await db.introspection.getTables()).length
    await t.rejects(createTables(db, [Shelf]), {
      code: 'REST_MODELS_TABLE_MISMATCH',
      message:
        /field 'first' of model 'Shelf' refers to model 'Book', whose table 'book' does not exist: name it in create/
    })
    if (engine === 'mariadb') {
      // The last foreign key fails, because its name is taken: MariaDB has one of each name in a database.
      await sql`create table taken (id bigint primary key, best_id bigint,
        constraint author__best_id__reference foreign key (best_id) references taken (id))`.execute(db)
      await t.rejects(createTables(db, [Shelf, Book, Author]))
      t.equal(await countOf(), 1, 'what was made before the failure is gone')
      await db.schema.dropTable('taken').execute()
    }
    await createTables(db, [Shelf, Book, Author])
    t.equal(await countOf(), 3)
    for (const [table, values] of [
      ['book', { author_id: 99 }], ['author', { name: 'a', best_id: 99 }], ['shelf', { first_id: 99 }]
    ] as const) {
      await t.rejects(db.insertInto(table).values(values).execute(), table)
    }
  })

  test(`${engine}: a pool whose connections are all in use is waited for, and no other host asked`, async (t) => {
    const at = await requireDatabase(t, engine)
    if (at === undefined) return
    const { host } = new URL(at)
    const db = open(t, engine, at.replace(host, `${host},127.0.0.1:1`), { connections: 1 })
    await db.connection().execute(async (held) => {
      await sql`select 1`.execute(held)
      await t.rejects(sql`select 1`.execute(db), { message: 'No connection has become free' })
    })
    await t.resolves(sql`select 1`.execute(db))
  })

  test(`${engine}: a time-out that no timer can hold is refused`, async (t) => {
    t.throws(() => openers[engine](`${engine}://a/site`, { statementTimeout: 2 ** 31 }), {
      code: 'REST_MODELS_INVALID_OPTIONS', message: /'statementTimeout' of open\w+\(\) must be at most/
    })
  })
}

test('of a change that MariaDB gives up, no table that has rows by now is dropped', async (t) => {
  const at = await requireDatabase(t, 'mariadb')
  if (at === undefined) return
  const db = open(t, 'mariadb', at)
  await t.rejects(changeSchema(db, async (connection, made) => {
    for (const table of ['used', 'empty']) {
      await sql`create table ${sql.table(table)} (id bigint primary key)`.execute(connection)
      made.push(table)
    }
    await sql`insert into used values (1)`.execute(db)
    throw new Error('stopped')
  }), { message: 'stopped' })
  t.same((await db.introspection.getTables()).map(({ name }) => name), ['used'])
})

test('a MariaDB that keeps no more prepared statements is asked without', async (t) => {
  if (lacks(t, 'mariadb')) return
  const server = await startMariadb({ settings: { max_prepared_stmt_count: 2 } })
  t.teardown(server.stop)
  const db = open(t, 'mariadb', server.url)
  for (const value of [1, 2, 3, 4, 5]) {
    const ask = async () => (await sql`select ${value} as a, ${sql.raw(String(value))} as b`.execute(db)).rows
    t.same(await ask(), [{ a: value, b: value }])
    t.same(await ask(), [{ a: value, b: value }], 'once more, since what is asked for once is not kept')
  }
})

test('a handle with a schema of withSchema is refused, since its plugins are not used', async (t) => {
  const app = Fastify()
  const db = open(t, 'postgres', 'postgres://127.0.0.1:1/site').withSchema('tenant')
  await t.rejects(async () => { await app.register(restModels, { db }) }, {
    code: 'REST_MODELS_UNSUPPORTED_DATABASE',
    message: /withSchema\(\), which is not supported: name it in the search_path/
  })
})

/** A connection to MariaDB whose driver answers as told. */
function fakeConnection (answer: (done: (error: object | null, result?: unknown) => void) => void) {
  const calls = { closed: 0, released: 0, left: 0, unprepared: 0 }
  const ask = (...given: readonly unknown[]): void => { answer(given.at(-1) as Parameters<typeof answer>[0]) }
  const driver = {
    query: ask,
    execute: ask,
    destroy: () => { calls.closed++ },
    release: () => {},
    unprepare: () => { calls.unprepared++ },
    stream: { destroy: () => {}, writable: true }
  } as unknown as DriverConnection
  const options = {
    connections: 1, readConnections: 1, statementTimeout: 0, preparedStatements: true, writable: true, readonly: false
  }
  const lease = { raw: driver, release: () => { calls.released++ }, abandon: () => {} }
  const setting = { options, prepared: new PreparedStatements(unprepare), leave: () => { calls.left++ } }
  return { connection: new MariadbConnection(lease, setting), calls }
}

test('a failure of MariaDB that the driver tells twice is told once, and its connection is closed', async (t) => {
  const failure = Object.assign(new Error('broken'), { fatal: true })
  const { connection, calls } = fakeConnection((done) => { done(failure); done(failure) })
  const told: unknown[] = []
  connection.query('select ?', [1], (error) => { told.push(error) })
  connection.release()
  t.match(told, [{ code: notSentCode }])
  t.same([told.length, calls], [1, { closed: 1, released: 1, left: 1, unprepared: 0 }])
})

test('a statement that MariaDB is asked for once is closed at once, and kept when it is asked for again', async (t) => {
  const { connection, calls } = fakeConnection((done) => { done(null, []) })
  const ask = (): void => { connection.query('select ?', [1], () => {}) }
  ask()
  const { unprepared } = calls
  t.ok(unprepared > 0)
  ask()
  ask()
  t.equal(calls.unprepared, unprepared)
})

test('a connection to MariaDB that cannot be made ready is closed, and not in use', async (t) => {
  const { connection, calls } = fakeConnection((done) => { done(Object.assign(new Error('not now'), { errno: 1064 })) })
  await t.rejects(connection.makeReady(), { message: 'not now' })
  t.match(calls, { closed: 1, released: 1 })
})

test('a boolean of PostgreSQL that a driver gives as something else passes for neither', async (t) => {
  t.throws(() => dialects.postgres.storage.boolean.decode('t', {}), {
    message: 'The driver returns booleans as another type'
  })
})

test('MariaDB: a value that the driver refuses at once leaves its connection to the others', async (t) => {
  const url = await requireDatabase(t, 'mariadb')
  if (url === undefined) return
  const db = open(t, 'mariadb', url, { connections: 1, statementTimeout: 50 })
  const connection = async () => (await sql<{ id: number }>`select connection_id() as id`.execute(db)).rows[0]?.id
  const before = await connection()
  await t.rejects(sql`select ${undefined}`.execute(db), /must not contain undefined/)
  await seconds(driverTimeout(50) / 1000 + 0.2)
  t.equal(await connection(), before)
})

for (const engine of ['sqlite', ...engineNames] as const) {
  test(`${engine}: what is made of a handle, one connection or a transaction, is asked itself`, async (t) => {
    const url = engine === 'sqlite' ? ':memory:' : await requireDatabase(t, engine)
    if (url === undefined) return
    const db = { ...openers, sqlite: openSqlite }[engine](url)
    t.teardown(async () => { await db.destroy() })
    const isOwn = (handle: object): boolean => executorsOf(handle) !== undefined
    t.equal(isOwn(db), true)
    t.equal(isOwn(db.withPlugin(new CamelCasePlugin())), false)
    await db.transaction().execute(async (transaction) => { t.equal(isOwn(transaction), false) })
    await db.connection().execute(async (one) => {
      await sql`create temporary table mine (id integer)`.execute(one)
      const { row } = await readHandle(one).executor.execute(sql`select count(*) as answer from mine`.compile(one))
      t.equal(Number(row?.['answer']), 0, 'a table that only this connection has')
    })
  })
}
