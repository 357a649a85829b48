// @servers: each driver says in its own way why it gives no connection

import { test } from 'tap'
import { createTables, defineModel, errors, text } from '../../lib/index.js'
import { connectionFailure } from '../../lib/engines/server/connection-failure.js'
import { loadDriver } from '../../lib/engines/load-driver.js'
import { openMariadb } from '../../lib/mariadb.js'
import { openPostgres } from '../../lib/postgres.js'
import { readPage } from '../documentation/page.js'
import { emptyDatabase, engine } from '../support/database.js'

const Note = defineModel('Note', { message: text() })

test('a driver that is not installed is named with how to install it; other failures are passed on', (t) => {
  const failing = (error: Error) => () => { throw error }
  const missing = Object.assign(new Error("Cannot find module 'pg'\nRequire stack:"), { code: 'MODULE_NOT_FOUND' })
  t.throws(() => loadDriver('pg', failing(missing)), new errors.UnsupportedDatabase(
    "The package 'pg' is not installed; install it: npm install pg"))
  t.match(readPage('docs/troubleshooting.md').text, "`The package 'better-sqlite3' is not installed; install it: …`")
  t.throws(() => loadDriver('mysql2', failing(missing)), missing)
  t.throws(() => loadDriver('pg', failing(new Error('broken'))), /broken/)
  t.throws(() => loadDriver('no-such-driver'), /install it: npm install no-such-driver/)
  t.end()
})

for (const [open, url, name] of [
  [openPostgres, 'postgres://me:secret@127.0.0.1:1/site', 'PostgreSQL'],
  [openMariadb, 'mariadb://me:secret@127.0.0.1:1/site', 'MariaDB']
] as const) {
  test(`${name} that is not reachable is named with the reason and what to check`, async (t) => {
    const db = open(url)
    t.teardown(async () => { await db.destroy() })
    const failure = await createTables(db, [Note]).catch((error: unknown) => error) as Error
    t.match(failure, {
      code: 'ECONNREFUSED',
      message: `${name} at 127.0.0.1:1 gives no connection: connect ECONNREFUSED 127.0.0.1:1. ` +
        `Check the host and port in the URL that ${open.name}() gets`
    })
    t.notMatch(String(failure.stack), /secret/)
  })
}

test('the reason decides what is to be checked', (t) => {
  const server = { name: 'MariaDB', opener: 'openMariadb()', host: 'db:3306' } as const
  const told = (properties: object) =>
    connectionFailure(Object.assign(new Error('why'), properties), server).message.replace(/.*Check the /, '')
  t.equal(told({ code: 'ER_ACCESS_DENIED_ERROR', errno: 1045 }), 'user and password in the URL that openMariadb() gets')
  t.equal(told({ code: '28P01' }), 'user and password in the URL that openMariadb() gets')
  t.equal(told({ code: '3D000' }), 'database in the URL that openMariadb() gets')
  t.equal(told({ code: 'EAI_AGAIN', errno: -3001 }), 'host and port in the URL that openMariadb() gets')
  t.equal(told({}), 'URL that openMariadb() gets')
  t.match(connectionFailure(Object.assign(new AggregateError([]), { code: 'ECONNREFUSED' }), server).message,
    'MariaDB at db:3306 gives no connection: ECONNREFUSED. Check the host and port')
  t.end()
})

test('a wrong password and an unknown database are told apart', { skip: engine === 'sqlite' }, async (t) => {
  const open = engine === 'postgres' ? openPostgres : openMariadb
  const { url: own, remove } = await emptyDatabase()
  t.teardown(remove)
  for (const [change, part] of [
    [(url: URL) => { url.pathname = '/no_such_database' }, 'database'],
    [(url: URL) => { url.username = 'nobody_of_that_name' }, '(user and password|database)']
  ] as const) {
    const url = new URL(own)
    change(url)
    const db = open(url.href)
    t.teardown(async () => { await db.destroy() })
    const failure = await createTables(db, [Note]).catch((error: unknown) => error) as Error
    t.match(failure.message, new RegExp(`gives no connection: .*Check the ${part} in the URL`))
  }
})
