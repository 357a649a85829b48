// @once: about the command line; what it reads of databases is in introspection/ and inspection/
// @alone: starts processes
// @covers: the commands
// @long: starts forty processes

import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import Database from 'better-sqlite3'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { sql } from 'kysely'
import { test, type Test } from 'tap'
import { addDocumentation } from '../../lib/tooling/cli/documentation.js'
import { loadApp } from '../../lib/tooling/cli/load-app.js'
import { openDatabase } from '../../lib/tooling/cli/open-database.js'
import { openExcept } from '../../lib/tooling/cli/closed-writes.js'
import { runCommand } from '../../lib/tooling/cli/run.js'
import { processTerminal } from '../../lib/tooling/cli/terminal.js'
import { announce } from '../../lib/tooling/cli/serve.js'
import { serveDatabase, type ServedDatabase } from '../../lib/tooling/cli/serve-database.js'
import { inspect } from '../../lib/tooling/audit/inspect.js'
import { describeNote } from '../../lib/tooling/introspect/describe-notes.js'
import restModels, {
  boolean, createTables, defineModel, foreignKey, hostAuth, integer, key, openAuth, text, uuid,
  type PolicySetting
} from '../../lib/index.js'
import { isSecretName } from '../../lib/model/secret-names.js'
import { openSqlite } from '../../lib/sqlite.js'
import { makeChinook } from '../support/chinook.js'
import '../support/checked-apps.js'
import { engineNames } from '../support/engines/find-engine.js'
import { requireDatabase } from '../support/engines/lacks.js'
import { siteModels } from '../support/site.js'
import { startServer } from '../support/process.js'

const main = resolve('dist/lib/tooling/cli/main.js')

/** For the modules that tests write: Node itself cannot import the sources. */
const library = {
  restModels, boolean, createTables, defineModel, foreignKey, hostAuth, integer, key, openAuth, text, openSqlite
}
Object.assign(globalThis, { library })

/** A command as a shell runs it, and what it wrote. */
async function run (...words: string[]): Promise<{ code: number, out: string, err: string }> {
  return await runUntil(async () => {}, ...words)
}

async function runUntil (
  interrupted: (out: () => string) => Promise<unknown>, ...words: string[]
): Promise<{ code: number, out: string, err: string }> {
  const written = { out: '', err: '' }
  const code = await runCommand(words, {
    out: (text) => { written.out += `${text}\n` },
    err: (text) => { written.err += `${text}\n` },
    interrupted: async () => await interrupted(() => written.out)
  })
  return { code, ...written }
}

function folderFor (t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), 'command-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  return folder
}

async function siteFile (t: Test): Promise<string> {
  const path = join(folderFor(t), 'site.db')
  const db = openSqlite(path)
  await createTables(db, siteModels)
  await db.insertInto('user').values({ username: 'alice', password: 'x', email: 'alice@example.com' }).execute()
  await db.destroy()
  return path
}

async function chinookFile (t: Test): Promise<string> {
  const path = join(folderFor(t), 'chinook.db')
  const db = openSqlite(path)
  await makeChinook(db, 'sqlite')
  await sql`create table Visit (Page text)`.execute(db)
  await db.destroy()
  return path
}

test('help and version are no mistakes; nothing, an unknown command and an unknown option are', async (t) => {
  for (const words of [['--help'], ['serve', '--help'], ['help', 'check']]) {
    const { code, out } = await run(...words)
    t.equal(code, 0, words.join(' '))
    t.match(out, /Usage: fastify-rest-models/)
  }
  t.match(await run('--version'), { code: 0, out: `${JSON.parse(readFileSync('package.json', 'utf8')).version}\n` })
  t.match(await run(), { code: 2, err: /introspect.*serve.*check/s })
  t.match(await run('introspct', 'x'), { code: 2, err: /unknown command 'introspct'.*introspect/s })
  t.match(await run('introspect'), { code: 2, err: /missing required argument 'database-url'/ })
  t.match(await run('serve', 'sqlite:x', '--wirte'), { code: 2, err: /unknown option '--wirte'.*--write/s })
})

test('a database that cannot be opened is said to be so, with the remedy, and no file is made', async (t) => {
  const folder = folderFor(t)
  t.match(await run('introspect', 'oracle://localhost/x'), {
    code: 2, err: /begins with 'sqlite:', 'postgres:\/\/' or 'mariadb:\/\/'/
  })
  t.match(await run('introspect', 'site.db'), { code: 2, err: /begins with 'sqlite:'/ })
  t.match(await run('introspect', `sqlite:${folder}/none.db`), {
    code: 2, err: /The database file '.*none\.db' does not exist/
  })
  t.match(await run('introspect', 'sqlite::memory:'), { code: 2, err: /in memory is empty/ })
  t.match(await run('serve', `sqlite:${folder}/none.db`, '--write'), {
    code: 2, err: /The database file '.*none\.db' does not exist/
  })
  t.strictSame(readdirSync(folder), [])
  writeFileSync(join(folder, 'text.db'), 'this is no database, although it is long enough to be looked at')
  t.match(await run('introspect', `sqlite:${folder}/text.db`), { code: 1, err: /file is not a database/ })
  t.match(await run('introspect', 'postgres://me:secret@127.0.0.1:1/site'), {
    code: 1,
    err: /PostgreSQL at 127\.0\.0\.1:1 gives no connection: connect ECONNREFUSED.* Check the host and port in the URL/
  })
  t.notMatch((await run('introspect', 'postgres://me:secret@/site')).err, /secret/)
})

test('openDatabase refuses options that it does not have, which might be that of writes', async (t) => {
  const url = `sqlite:${await siteFile(t)}`
  const options: object = { readonly: false }
  await t.rejects(openDatabase(url, options), {
    code: 'REST_MODELS_INVALID_OPTIONS',
    message: "openDatabase() has an unknown option 'readonly', did you mean 'readOnly'?"
  })
})

test('introspect writes a file, or to standard output, and says beside it what is left out', async (t) => {
  const path = await chinookFile(t)
  const before = readFileSync(path)
  const shown = await run('introspect', `sqlite:${path}`)
  t.match(shown, {
    code: 0,
    err: /^Table 'Visit' is left out: it has no primary key and no unique index without nulls; add one\n$/
  })
  t.match(shown.out, "export const Artist = defineModel('Artist', {\n  id: key({ column: 'ArtistId' }),")
  const file = join(folderFor(t), 'models.ts')
  t.match(await run('introspect', `sqlite:${path}`, '--output', file, '--table', 'Artist', 'Genre'), {
    code: 0, out: '', err: /Wrote 2 models to .*models\.ts/
  })
  t.match(readFileSync(file, 'utf8'), 'export const models = [Artist, Genre] as const\n')
  writeFileSync(file, 'mine')
  t.match(await run('introspect', `sqlite:${path}`, '--output', file), {
    code: 2, err: /The file '.*models\.ts' exists already; add --force to replace it/
  })
  t.equal(readFileSync(file, 'utf8'), 'mine')
  t.match(await run('introspect', `sqlite:${path}`, '--output', file, '--force'), { code: 0 })
  t.match(readFileSync(file, 'utf8'), 'export const Artist')
  for (const name of ['models.js', 'models.mjs']) {
    const script = join(folderFor(t), name)
    t.match(await run('introspect', `sqlite:${path}`, '--output', script, '--table', 'Artist'), { code: 0 })
    t.match(readFileSync(script, 'utf8'), 'export const models = [Artist]\n', 'D-220: JavaScript')
  }
  t.match(await run('introspect', '--table', 'Artist', `sqlite:${path}`), {
    code: 2, err: /missing required argument 'database-url'; give it before options with several values/
  })
  t.match(await run('check'), { code: 2, err: /missing required argument '[a-z-]+'\n/ }, 'no option can have taken it')
  t.match(await run('introspect', `sqlite:${path}`, '--table', 'Artst'), {
    code: 2, err: /no table 'Artst', did you mean 'Artist'/
  })
  t.match(await run('introspect', `sqlite:${path}`, '--schema', 'x'), { code: 2, err: /named for PostgreSQL only/ })
  t.match(await run('introspect', 'postgres://127.0.0.1/x', '--schema', 'x y'), { code: 2, err: /name of a schema/ })
  const nested = join(dirname(file), 'new', 'folder', 'models.ts')
  t.match(await run('introspect', `sqlite:${path}`, '--output', nested, '--table', 'Genre'), { code: 0 })
  t.ok(existsSync(nested), 'with its folder')
  t.match(await run('introspect', `sqlite:${path}`, '--output', '/dev/null/x.ts'), { code: 1, err: /EEXIST|ENOTDIR/ })
  t.same(readFileSync(path), before, 'the database is as it was')
})

test('D-220: introspect writes no file whose name is that of another language, and opens no database', async (t) => {
  const folder = folderFor(t)
  const names = ['models.cjs', 'models.json', 'models', 'models.tsx', 'models.ts.bak', 'models.d.ts', 'models.d.mts']
  for (const name of names) {
    for (const more of [[], ['--force']]) {
      t.match(await run('introspect', 'sqlite:./nowhere.db', '--output', join(folder, name), ...more), {
        code: 2, err: /--output is the name of a file that ends in '\.ts', '\.mts', '\.cts', '\.js' or '\.mjs'/
      }, name)
    }
  }
  t.strictSame(readdirSync(folder), [])
  const url = `sqlite:${await siteFile(t)}`
  for (const name of ['a.ts', 'a.mts', 'a.cts']) {
    t.match(await run('introspect', url, '--output', join(folder, name)), { code: 0 }, name)
    t.match(readFileSync(join(folder, name), 'utf8'), 'as const\n')
  }
})

test('introspect of a database without a table that can have a model writes nothing, and fails', async (t) => {
  const folder = folderFor(t)
  const db = openSqlite(join(folder, 'site.db'))
  await sql`create table visit (page text)`.execute(db)
  await db.destroy()
  const output = join(folder, 'models.ts')
  t.strictSame(await run('introspect', `sqlite:${join(folder, 'site.db')}`, '--output', output), {
    code: 1,
    out: '',
    err: "Table 'visit' is left out: it has no primary key and no unique index without nulls; add one\n" +
      'There is no table that can have a model, so nothing is written\n'
  })
  t.notOk(existsSync(output))
})

test('the schema of --schema is asked of PostgreSQL, beside the options of the URL', async (t) => {
  const asked: string[] = []
  const server = createServer((socket) => {
    socket.once('data', (data) => {
      asked.push(data.toString().split('\0').find((word) => word.includes('search_path')) ?? '')
      socket.destroy()
    })
  })
  await new Promise<void>((resolve) => { server.listen(0, '127.0.0.1', resolve) })
  t.teardown(() => server.close())
  const { port } = server.address() as { port: number }
  const url = `postgres://me@127.0.0.1:${port}/site`
  t.match(await run('introspect', url, '--schema', 'a-b'), {
    code: 2, err: /The name of a schema consists of letters, digits and underscores/
  })
  t.strictSame(asked, [])
  t.match(await run('introspect', url, '--schema', 'shop'), { code: 1 })
  t.match(await run('introspect', `${url}?options=-c%20work_mem%3D8MB`, '--schema', 'shop'), { code: 1 })
  t.match(asked[0], /search_path="shop"/)
  t.match(asked.at(-1), /-c work_mem=8MB -c search_path="shop"/)
  const several = url.replace('me@', 'me:secret@127.0.0.1:1,')
  const before = asked.length
  const { code, err } = await run('introspect', several, '--schema', 'shop')
  t.match(asked.slice(before), [/search_path="shop"/], 'of each of several hosts')
  t.same([code, /secret|Invalid URL/.test(err)], [1, false])
})

test('D-86: serve serves a database read-only, without what looks secret, with a page, until a signal', async (t) => {
  const path = await siteFile(t)
  const before = readFileSync(path)
  const { code, out, err } = await runUntil(async (out) => {
    const address = /http:\/\/127\.0\.0\.1:\d+/.exec(out())?.[0] ?? ''
    t.match(await (await fetch(`${address}/api/user/`)).json(), {
      objects: [{ id: 1, username: 'alice', email: 'alice@example.com' }]
    })
    t.notOk('password' in (await (await fetch(`${address}/api/user/1/`)).json() as object))
    t.equal((await fetch(`${address}/api/note/`, { method: 'POST', body: '{"message":"x"}' })).status, 401)
    t.equal((await fetch(`${address}/documentation/`)).status, 200)
    const document = await (await fetch(`${address}/documentation/json`)).json() as { paths: object }
    t.ok('/api/user/{id}/' in document.paths)
    t.notOk(/password|"post"|"delete"/.test(JSON.stringify(document)), 'neither hidden names nor what nobody may do')
  }, 'serve', `sqlite:${path}`, '--port', '0')
  t.equal(code, 0, err)
  t.match(out, /Serving 4 tables on/)
  t.match(err, /Hidden, because they look secret: user\.password/)
  t.same(readFileSync(path), before, 'the database is as it was')
})

test('D-87: serve writes only if it is told to, and only on this machine', async (t) => {
  const path = await siteFile(t)
  for (const host of ['0.0.0.0', '::', 'example.com', '127.0.0.1.example.com']) {
    t.match(await run('serve', `sqlite:${path}`, '--write', '--host', host), {
      code: 2, err: /With --write, everybody who reaches the port may write/
    })
  }
  const { code } = await runUntil(async (out) => {
    const address = /http:\/\/[^/]+/.exec(out())?.[0] ?? ''
    const made = await fetch(`${address}/api/note/`, { method: 'POST', body: '{"message":"x"}' })
    t.equal(made.status, 201)
    t.equal((await fetch(`${address}${made.headers.get('location')}`, { method: 'DELETE' })).status, 204)
  }, 'serve', `sqlite:${path}`, '--write', '--port', '0', '--host', 'localhost', '--table', 'note')
  t.equal(code, 0)
})

test('serve shows what looks secret if it is named, and knows its columns and ports', async (t) => {
  const path = await siteFile(t)
  const { app, hidden } = await serveDatabase(`sqlite:${path}`, { include: ['user.password'] })
  t.match((await app.inject('/api/user/1/')).json(), { password: 'x' })
  t.strictSame(hidden, [])
  await app.close()
  t.match(await run('serve', `sqlite:${path}`, '--include', 'user.pasword'), {
    code: 2,
    err: /'user\.pasword' is not a column of a served table, written as table\.column, did you mean 'user\.password'/
  })
  for (const port of ['http', '-1', '65536', '1.5']) {
    t.match(await run('serve', `sqlite:${path}`, `--port=${port}`), {
      code: 2, err: /--port is a number from 0 to 65535/
    })
  }
  const taken = createServer().listen(0, '127.0.0.1')
  t.teardown(() => taken.close())
  await new Promise((resolve) => taken.once('listening', resolve))
  const { port } = taken.address() as { port: number }
  t.match(await run('serve', `sqlite:${path}`, '--port', String(port)), { code: 1, err: /EADDRINUSE/ })
})

/**
 * Tables whose keys are secrets, one of which refers to the other, and what refers to them: by that key, by a unique
 * column, by several columns.
 */
const vault = (text: string): string[] => [
  `create table session (token ${text} not null primary key, site integer not null, user_name varchar(9))`,
  `create table refresh (origin ${text} not null primary key, word varchar(9), ` +
    'foreign key (origin) references session (token))',
  `create table person (id integer not null primary key, api_key ${text} unique, name varchar(9), unique (id, ` +
    'api_key))',
  `create table visit (id integer not null primary key, sess ${text}, whose ${text}, who integer, proof ${text}, ` +
    `page varchar(9),
    foreign key (sess) references session (token), foreign key (whose) references person (api_key), ` +
    'foreign key (who, proof) references person (id, api_key))',
  "insert into session values ('0f8fad5b-d9cb-469f-a165-70867728950e', 1, 'ann')",
  "insert into refresh values ('0f8fad5b-d9cb-469f-a165-70867728950e', 'x')",
  "insert into person values (1, '0f8fad5b-d9cb-469f-a165-70867728951e', 'ann')",
  "insert into visit values (1, '0f8fad5b-d9cb-469f-a165-70867728950e', '0f8fad5b-d9cb-469f-a165-70867728951e', 1, " +
    "'0f8fad5b-d9cb-469f-a165-70867728951e', 'home')"
]

async function requireVault (t: Test, served: ServedDatabase): Promise<void> {
  t.strictSame(served.models.map(({ name }) => name).sort(), ['Person', 'Visit'])
  t.strictSame(served.notes.filter(({ column }) => column === undefined).map(describeNote).sort(), [
    "Table 'refresh' is left out: it has a primary key 'origin' that looks secret, " +
      'or that refers to a secret column (to serve the table, add --include refresh.origin)',
    "Table 'session' is left out: it has a primary key 'token' that looks secret, " +
      'or that refers to a secret column (to serve the table, add --include session.token)'
  ])
  t.strictSame([...served.hidden].sort(), ['person.api_key', 'visit.proof', 'visit.sess', 'visit.whose'])
  t.same((await served.app.inject('/api/visit/')).json().objects, [{ id: 1, who: 1, page: 'home' }])
  t.equal((await served.app.inject('/api/session/')).statusCode, 404)
  for (const path of ['visit/?sess=x', 'visit/?sess__user_name=ann', 'visit/?ordering=whose']) {
    t.equal((await served.app.inject(`/api/${path}`)).statusCode, 400, path)
  }
  const { body } = await served.app.inject('/documentation/json')
  t.notOk(
    /token|api_key|whose|proof|sess/.test(body.replace(/"(?:summary|description|operationId|tags)":/g, '')),
    'the document does not name them'
  )
}

test('D-86: a table whose primary key looks secret is not served, nor is what refers to it', async (t) => {
  const path = join(folderFor(t), 'vault.db')
  const db = openSqlite(path)
  for (const statement of vault('text')) await sql.raw(statement).execute(db)
  await db.destroy()
  const served = await serveDatabase(`sqlite:${path}`)
  t.teardown(async () => { await served.app.close() })
  await requireVault(t, served)
  const named = await serveDatabase(`sqlite:${path}`, { include: ['session.token'] })
  t.teardown(async () => { await named.app.close() })
  t.match((await named.app.inject('/api/session/')).json(), {
    objects: [{ id: '0f8fad5b-d9cb-469f-a165-70867728950e', user_name: 'ann' }]
  })
  t.match(
    (await named.app.inject('/api/visit/')).json(),
    { objects: [{ sess_id: '0f8fad5b-d9cb-469f-a165-70867728950e' }] }, 'what refers to it neither is a secret then'
  )
  t.strictSame([...named.hidden].sort(), ['person.api_key', 'visit.proof', 'visit.whose'])
})

for (const engine of engineNames) {
  test(`D-86: the same on ${engine}`, async (t) => {
    const url = await requireDatabase(t, engine)
    if (url === undefined) return
    const db = await openDatabase(url, { readOnly: false })
    for (const statement of vault(engine === 'postgres' ? 'uuid' : 'char(36)')) await sql.raw(statement).execute(db)
    await db.destroy()
    const served = await serveDatabase(url)
    await requireVault(t, served)
    await served.app.close()
  })
}

test('D-86: a table of sessions whose key is the cookie is not served, and the reason names the remedy', async (t) => {
  const path = join(folderFor(t), 'sessions.db')
  const db = openSqlite(path)
  for (const statement of [
    'create table session (id text not null primary key, user_id integer, expires_at integer)',
    'create table visit (id integer primary key, session text references session, page text)',
    'create table meeting_session (id integer primary key, title text)',
    "insert into session values ('c00kie', 1, 2)", "insert into visit values (1, 'c00kie', 'home')"
  ]) await sql.raw(statement).execute(db)
  await db.destroy()
  const { app, models, notes, hidden } = await serveDatabase(`sqlite:${path}`)
  t.teardown(async () => { await app.close() })
  t.strictSame(models.map(({ table }) => table), ['meeting_session', 'visit'])
  t.strictSame(hidden, ['visit.session'])
  t.strictSame(notes.map(describeNote), [
    "Table 'session' is left out: it has a primary key 'id' that looks secret, or that refers to a secret column " +
      '(to serve the table, add --include session.id)'
  ])
  t.equal((await app.inject('/api/session/')).statusCode, 404)
  t.notMatch((await app.inject('/api/visit/')).body, 'c00kie')
  const named = await serveDatabase(`sqlite:${path}`, { include: ['session.id'] })
  t.teardown(async () => { await named.app.close() })
  t.strictSame(named.notes, [])
  t.match((await named.app.inject('/api/session/c00kie/')).json(), { id: 'c00kie' })
})

/** Columns as somebody declares them who does not quote their names. */
const unquoted = [
  'create table Account (Id integer not null primary key, Name varchar(9), PasswordHash varchar(99), ' +
    'PasswordSalt varchar(99), SessionId varchar(99), Session_Id varchar(99), PasswordChanged date)',
  "insert into Account values (1, 'ann', 'h4sh', 's4lt', 's3ss', 's3ss', '2024-01-01')"
]

async function requireUnquoted (t: Test, url: string): Promise<void> {
  const { app, hidden } = await serveDatabase(url)
  const { body } = await app.inject('/api/account/')
  t.notMatch(body, /h4sh|s4lt|s3ss/)
  t.match(body, /ann.*2024-01-01/)
  t.equal(hidden.length, 4)
  for (const name of hidden) {
    t.equal((await app.inject(`/api/account/?${name.split('.')[1]}__like=h%25`)).statusCode, 400, name)
  }
  await app.close()
}

test('D-86: secrets whose names are written without quotes are not shown', async (t) => {
  const path = join(folderFor(t), 'account.db')
  const db = openSqlite(path)
  for (const statement of unquoted) await sql.raw(statement).execute(db)
  await db.destroy()
  await requireUnquoted(t, `sqlite:${path}`)
})

for (const engine of engineNames) {
  test(`D-86: secrets whose names ${engine} folds are not shown`, async (t) => {
    const url = await requireDatabase(t, engine)
    if (url === undefined) return
    const db = await openDatabase(url, { readOnly: false })
    for (const statement of unquoted) await sql.raw(statement).execute(db)
    await db.destroy()
    await requireUnquoted(t, url)
  })
}

test('what serve cannot answer is told on standard error, without values', async (t) => {
  const path = await siteFile(t)
  const { code, err } = await runUntil(async (out) => {
    const address = /http:\/\/[^/]+/.exec(out())?.[0] ?? ''
    const db = openSqlite(path)
    await sql`alter table user rename column username to called`.execute(db)
    await db.destroy()
    t.equal((await fetch(`${address}/api/user/?email=bob@example.com`)).status, 500)
    t.equal((await fetch(`${address}/api/user/?nothing=bob@example.com`)).status, 400)
  }, 'serve', `sqlite:${path}`, '--port', '0')
  t.equal(code, 0)
  const lines = err.split('\n').filter((line) => line.startsWith('{'))
  t.equal(lines.length, 1)
  t.match(JSON.parse(String(lines[0])), {
    level: 50,
    req: { method: 'GET', route: '/api/user/' },
    err: { code: 'REST_MODELS_INTERNAL', cause: { type: 'SqliteError', at: [/^at /] } },
    msg: /^Internal error in request/
  })
  t.notMatch(lines[0], /bob@/)
})

test('Chinook is served: keys of other names, joins, decimals', async (t) => {
  const { app, models, notes } = await serveDatabase(`sqlite:${await chinookFile(t)}`)
  t.teardown(async () => { await app.close() })
  t.equal(models.length, 11)
  t.match(notes, [{ table: 'Visit' }])
  t.match((await app.inject('/api/track/?Genre__Name=Rock')).json(), {
    objects: [{ id: 1, Name: 'Fence Posts', UnitPrice: '0.99' }]
  })
})

for (const engine of engineNames) {
  test(`Chinook is served from ${engine}`, async (t) => {
    const url = await requireDatabase(t, engine)
    if (url === undefined) return
    const db = await openDatabase(url, { readOnly: false })
    await makeChinook(db, engine)
    await db.destroy()
    const Tag = defineModel('Tag', { id: uuid(), word: text({ nullable: true }), small: integer({ nullable: true }) })
    const writing = await openDatabase(url, { readOnly: false })
    await createTables(writing, [Tag])
    await writing.insertInto('tag').values({ id: '0f8fad5b-d9cb-469f-a165-70867728950e' }).execute()
    // Other engines do not tell these columns apart.
    if (engine === 'postgres') await sql`create table twice (id serial primary key, a text, "A" text)`.execute(writing)
    await writing.destroy()
    const reading = await openDatabase(url)
    await t.rejects(
      reading.insertInto('tag').values({ id: '0f8fad5b-d9cb-469f-a165-70867728951e' }).execute(),
      'what is only to be read is told so'
    )
    await reading.destroy()
    const { app, models, notes } = await serveDatabase(url)
    t.equal(
      notes.some(({ column, why }) => column === 'A' &&
        why.includes('same name as another column, except for its case')),
      engine === 'postgres'
    )
    t.match(models.find(({ name }) => name === 'Tag')?.columns[0].kind, 'uuid')
    const { unindexed } = await inspect(app)
    const of = (resource: string, use: string): string[] =>
      unindexed.filter((found) => found.resource === resource && found.use === use).map(({ name }) => name).sort()
    t.strictSame(of('tag', 'filter'), ['small', 'word'])
    t.strictSame(of('tag', 'ordering'), ['small', 'word'])
    t.equal(
      of('album', 'filter').includes('Artist'), engine === 'postgres', 'PostgreSQL makes no index for a foreign key'
    )
    t.equal(of('album', 'ordering').includes('Artist'), engine === 'postgres')
    t.match((await app.inject('/api/album/?Artist__Name__like=Null%25')).json(), {
      objects: [{ id: 2, Title: 'Undefined Behaviour', ArtistId: 2 }]
    })
    t.match((await app.inject('/api/customer/1/')).json(), { id: 1, SupportRepId: 2, Country: 'Norway' })
    await app.close()
  })
}

/** Serves, with writes, a database that some statements make. Its foreign keys may lead nowhere. */
async function serveMade (t: Test, ...statements: readonly string[]) {
  const path = join(t.testdir(), 'site.db')
  const database = new Database(path)
  database.pragma('foreign_keys = off')
  for (const statement of statements) database.exec(statement)
  database.close()
  const served = await serveDatabase(`sqlite:${path}`, { write: true })
  t.teardown(async () => { await served.app.close() })
  return served
}

test('D-113: a table whose records would lack a value is served without creates, which is said', async (t) => {
  const { app, notes } = await serveMade(
    t,
    'create table place (id integer primary key, name text not null, area blob not null)',
    "insert into place values (1, 'here', x'00')"
  )
  t.match(notes, [
    { column: 'area', why: /^left out/ },
    { table: 'place', column: 'area', why: 'must have a value and has no default, so that no record can be created' }
  ])
  t.equal((await app.inject({ method: 'POST', url: '/api/place/', payload: { name: 'there' } })).statusCode, 401)
  t.equal((await app.inject({ method: 'PUT', url: '/api/place/1/', payload: { name: 'there' } })).statusCode, 200)
})

test('D-273: serve --write closes creates of a table whose key the database computes, which is said', async (t) => {
  const { app, notes } = await serveMade(
    t,
    'create table place (id integer primary key, name text)',
    "create table word (v text not null, k text as ('k' || v) stored not null unique, n integer)",
    "insert into word (v) values ('a')"
  )
  t.match(notes.filter(({ why }) => why.startsWith('takes no')), [
    { table: 'word', why: "takes no create: the database computes its key 'k'" }
  ])
  t.equal((await app.inject({ method: 'POST', url: '/api/word/', payload: { id: 'kb', v: 'b' } })).statusCode, 401)
  t.match((await app.inject({ method: 'PUT', url: '/api/word/ka/', payload: { v: 'a', n: 1 } })).json(), { n: 1 })
  t.equal((await app.inject({ method: 'POST', url: '/api/place/', payload: { name: 'b' } })).statusCode, 201)
})

test('D-270: serve --write closes what SQLite would refuse because of a foreign key, which is said', async (t) => {
  const { app, notes } = await serveMade(
    t,
    'create table place (id integer primary key, name text, land text references nowhere (code))',
    "insert into place (name) values ('here')",
    'create table sum (id integer primary key, one integer, two integer as (one * 2) stored)'
  )
  t.strictSame((await app.inject({ method: 'POST', url: '/api/sum/', payload: { one: 1 } })).json(), {
    id: 1, one: 1, two: 2
  })
  t.equal((await app.inject({ method: 'PUT', url: '/api/sum/1/', payload: { one: 2 } })).json().two, 4)
  t.match(notes.filter(({ why }) => why.startsWith('takes no')), ['create', 'update', 'delete'].map((operation) =>
    ({ table: 'place', why: `takes no ${operation}: no such table: main.nowhere` })))
  t.equal((await app.inject({ method: 'POST', url: '/api/place/', payload: { name: 'there' } })).statusCode, 401)
  t.equal((await app.inject('/api/place/1/')).statusCode, 200)
})

test('D-87: a page of another site whose name leads here reads and writes nothing', async (t) => {
  const hostsOf = async (options: { host?: string }, names: readonly string[]) => {
    const { app } = await serveDatabase(`sqlite:${await siteFile(t)}`, options)
    app.undocumented = 'a hook of the command answers'
    t.teardown(async () => { await app.close() })
    return await Promise.all(names.map(async (host) =>
      (await app.inject({ url: '/api/note/', headers: { host } })).statusCode))
  }
  const own = ['localhost', 'LOCALHOST:3000', '127.0.0.1:3000', '127.1.2.3', '[::1]', '[::1]:3000']
  t.strictSame(await hostsOf({}, own), own.map(() => 200))
  const others = [
    'evil.example:3000', 'localhost.evil.example', '127.0.0.1.evil.example', '10.0.0.1', 'a@localhost', 'localhost/x',
    '[::2]'
  ]
  t.strictSame(await hostsOf({}, others), others.map(() => 421))
  t.strictSame(await hostsOf({ host: '0.0.0.0' }, ['10.0.0.1:3000', 'evil.example']), [200, 421])
  t.strictSame(await hostsOf({ host: 'Db.internal' }, ['db.internal:3000', '10.0.0.1']), [200, 421])
  const { app } = await serveDatabase(`sqlite:${await siteFile(t)}`, { write: true })
  app.undocumented = 'a hook of the command answers'
  t.teardown(async () => { await app.close() })
  const headers = { host: 'evil.example:3000', origin: 'http://evil.example:3000' }
  const written = await app.inject({ method: 'POST', url: '/api/note/', headers, payload: { message: 'x' } })
  t.match([written.statusCode, written.json()], [421, { code: 'REST_MODELS_MISDIRECTED_REQUEST' }])
  for (const url of ['/documentation/json', '/nothing']) t.equal((await app.inject({ url, headers })).statusCode, 421)
})

test('a URL without a command before it is not repeated', async (t) => {
  const { code, err } = await run('postgres://me:secret@localhost/site')
  t.equal(code, 2)
  t.match(err, 'put a command in front of the URL')
  t.notMatch(err, 'secret')
  t.match(await run('introspect', 'constructor:x'), { code: 2, err: /A database URL begins with/ })
})

test('no command repeats a password, wherever a URL stands', async (t) => {
  const urls = [
    'postgres://me:s3cret@localhost:1/site', 'postgresql://me:s3cret@localhost/site',
    'mariadb://me:s3cret@localhost:1/site', 'mysql://me:s3cret@localhost:1/site', 'postgres://me:s3cret',
    'postgres://me:s3cret@/', 'postgres://me:s3cret@[::', 'postgres://me:s3cret@localhost:99999/site',
    'postgres://me:a/s3cret@localhost/site', 'postgres://me:a s3cret@localhost/site',
    'mariadb://me:a#s3cret@localhost/site', 'postgres://localhost:1/site?password=s3cret',
    'mariadb://localhost:1/site?user=me&password=s3cret', 'oracle://me:s3cret@localhost/site',
    'POSTGRES://me:s3cret@localhost/site', 'jdbc:mysql://me:s3cret@localhost/site',
    'sqlite:postgres://me:s3cret@localhost/site', 'mysql:me:s3cret@localhost/site',
    'sqlite:mysql:me:s3cret@localhost/site', 'sqlite:m:s3cret@localhost', 'me:s3cret@localhost/site',
    'me:s3cret@tcp(localhost)/site', 'host=localhost password=s3cret', 'Server=localhost;Pwd=s3cret'
  ]
  const places: ReadonlyArray<(url: string) => readonly string[]> = [
    ...['introspect', 'serve', 'check', 'nothing'].map((command) => (url: string) => [command, url]),
    (url) => [url],
    (url) => ['introspect', 'sqlite:./nowhere.db', url],
    (url) => ['introspect', `--url=${url}`],
    (url) => ['serve', url, '--port', url],
    (url) => ['serve', 'sqlite:./nowhere.db', '--write', '--host', url],
    (url) => ['check', 'nowhere.js', '--export', url],
    (url) => ['check', moduleFor(t, 'export const one = 1'), '--export', url]
  ]
  for (const url of urls) {
    for (const place of places) {
      const words = place(url)
      const { code, out, err } = await run(...words)
      t.not(code, 0, words.join(' '))
      t.notMatch(out + err, 's3cret', words.join(' '))
    }
  }
  for (const words of [['-u', 'me:s3cret'], ['--user=me:s3cret'], ['--pasword=s3cret'], ["--pasword='s3cret'"],
    ['--pasword:s3cret']]) {
    const { code, out, err } = await run('serve', 'sqlite:./nowhere.db', ...words)
    t.equal(code, 2)
    t.notMatch(out + err, 's3cret', words.join(' '))
  }
  const path = await siteFile(t)
  t.match(await run('introspect', `sqlite:${path}`, '--table', 'a://me:s3cret@b'), { code: 2, err: /has no table '…'/ })
  t.match(await run('check', 'postgres://me:s3cret@localhost/site'), {
    code: 2, err: /check takes a JavaScript file that exports an app, not the URL of a database/
  })
})

test('D-86: names of secrets are known however they are written, and others are not taken for them', async (t) => {
  const secret = [
    'password', 'passwords', 'password_hash', 'user_pass', 'userpassword', 'DBPassword', 'passphrases', 'apiKey',
    'api_keys', 'APIToken', 'accesstoken', 'AccessToken', 'reset_token', 'clientsecret', 'JWTSecret', 'session_key',
    'auth_key', 'user_activation_key', 'recovery_codes', 'hashes', 'salt', 'pin'
  ]
  for (const name of secret) t.ok(isSecretName(name), name)
  for (const name of [
    'compass', 'passenger', 'keyboard', 'hashtag', 'monkey', 'token_count', 'tokenType', 'pinned', 'salty', 'key',
    'name', 'passed', 'secretary', 'class'
  ]) {
    t.notOk(isSecretName(name), name)
  }
})

test('without the packages of the page, serve goes on and says what to install', async (t) => {
  const missing = (name: string) => async (): Promise<never> => {
    throw Object.assign(new Error(`Cannot find package '${name}'`), { code: 'ERR_MODULE_NOT_FOUND' })
  }
  const packages = { swagger: missing('@fastify/swagger'), swaggerUi: missing('@fastify/swagger-ui') }
  const served = await serveDatabase(`sqlite:${await chinookFile(t)}`, {}, packages)
  t.teardown(async () => { await served.app.close() })
  t.equal((await served.app.inject('/api/genre/')).statusCode, 200)
  let said = ''
  announce('http://x', { ...served, write: false }, {
    out: () => {}, err: (text) => { said += `${text}\n` }, interrupted: async () => {}
  })
  t.match(said, /^Table 'Visit' is left out/)
  t.match(said, 'There is no documentation page; to add it, run: npm install @fastify/swagger @fastify/swagger-ui')
  const broken = { ...packages, swagger: async () => { throw new TypeError('broken') } }
  await t.rejects(addDocumentation(served.app, broken), { message: 'broken' })
})

const site = `
import Fastify from 'fastify'
import restModels, { adminAuth, createTables, userAuth } from 'fastify-rest-models'
import { openSqlite } from 'fastify-rest-models/sqlite'
import { models, User, Message } from '${resolve('dist/examples/site/models.js')}'
`
const body = `
  const db = openSqlite(':memory:')
  await createTables(db, models)
  app.addHook('onClose', () => db.destroy())
  await app.register(restModels, { db })
  app.restModels.register(User, { auth: userAuth(User) })
  await app.restModels.setup()
`

/** A module beside the package, which it imports by its name. */
function moduleFor (t: Test, text: string): string {
  const folder = mkdtempSync(resolve('.tap', 'module-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  const path = join(folder, 'app.mjs')
  writeFileSync(path, text)
  return path
}

test('D-88: check prints who may do what, what is dangerous and what has no index; --strict fails on danger', (t) => {
  const path = moduleFor(t, `${site} export default async function (app) {${body}}`)
  const check = (...options: string[]) => spawnSync(process.execPath, [main, 'check', path, ...options])
  const { status, stdout, stderr } = check('--all')
  t.equal(status, 0, stderr.toString())
  const text = stdout.toString()
  t.match(text, 'user: list anybody, read anybody, create users, update users, delete users')
  t.match(text, /│ password +│ anybody +│ - +│ - +│ users +│ users +│/)
  t.match(text, /│ user +│ admin +│ gives power over others, and users may write it/)
  t.match(text, /│ user +│ ordering +│ .*join_date/)
  t.match(text, /Lists show these texts, which have no 'maxLength'; set one if the texts are short:/)
  t.equal(check('--strict').status, 1)
  t.end()
})

test('check looks at what a plugin that calls back registers', async (t) => {
  const text = body.replaceAll('await ', '')
    .replace('createTables(db, models)', 'createTables(db, models).then(() => {')
    .replace('app.restModels.register', 'app.after(() => { app.restModels.register')
    .replace('app.restModels.setup()', 'app.restModels.setup(); })\n done() }, done)')
  const path = moduleFor(t, `${site} export default function (app, options, done) {${text}}`)
  const { status, stdout, stderr } = spawnSync(process.execPath, [main, 'check', path])
  t.equal(status, 0, stderr.toString())
  t.match(stdout.toString(), 'user: list anybody')
  t.end()
})

test('check ends although the app keeps timers and servers, when all that it wrote has arrived', (t) => {
  const kept =
    "import { createServer } from 'node:net'\nsetInterval(() => {}, 1000)\ncreateServer().listen(0, '127.0.0.1')\n"
  const wide = Array.from(
    { length: 60 }, (_, count) => `app.restModels.register(User, { auth: userAuth(User), path: 'people${count}' })`
  ).join('\n')
  const path = moduleFor(t, `${kept}${site} export default async function (app) ` +
    `{${body.replace('await app.restModels.setup()', `${wide}\nawait app.restModels.setup()`)}}`)
  const program = (file: string, ...words: string[]) =>
    spawnSync(process.execPath, [file, 'check', path, ...words], { timeout: 60_000, maxBuffer: 2 ** 28 })
  const { status, stdout, signal } = program(main, '--strict', '--all')
  t.strictSame([status, signal], [1, null])
  const [unindexed = '', texts = ''] = stdout.toString().split(/(?<=┘\n)(?=Lists show these texts)/)
  t.match(unindexed, /people59: .*These filters and orderings have no index.*│ people59 +│ ordering +│ .*admin.*┘\n$/s)
  t.match(texts, /^Lists show these texts.*│ people59 +│ \w+ +│\n└[─┴]+┘\n$/s)
  const link = join(folderFor(t), 'fastify-rest-models')
  symlinkSync(main, link)
  t.strictSame(program(link, '--export', 'nothing').status, 2, 'by a link as well, as npx has it')
  t.end()
})

test('a module may export an app, a function that gives one, or a plugin', async (t) => {
  const path = (text: string): string => moduleFor(t, text)
  const start = "import Fastify from 'fastify'\n"
  const app = await loadApp(path(`${start} export const app = Fastify()`))
  t.type(app.inject, 'function')
  t.type((await loadApp(path(`${start} export default Promise.resolve(Fastify())`))).inject, 'function')
  const compiled = path('')
  writeFileSync(compiled.replace(/mjs$/, 'cjs'), "exports.__esModule = true; exports.default = require('fastify')()")
  t.type((await loadApp(compiled.replace(/mjs$/, 'cjs'))).inject, 'function', 'compiled to CommonJS')
  t.match(
    spawnSync(process.execPath, [main, 'check', compiled.replace(/mjs$/, 'cjs')]).stderr.toString(),
    'The app has no resources'
  )
  t.type((await loadApp(path(`${start} export const make = async () => Fastify()`), 'make')).inject, 'function')
  t.ok((await loadApp(
    path("export default (app, options, done) => { setTimeout(() => { app.decorate('mine', 1); done() }, 20) }")
  )).hasDecorator('mine'), 'a plugin that calls back')
  await t.rejects(
    loadApp(path("export default (app, options, done) => { done(new Error('not today')) }")), { message: 'not today' }
  )
  await t.rejects(
    loadApp(path('export default async (app, options, done) => {}')), { message: /must not return a promise/ },
    'which Fastify refuses, too'
  )
  t.ok((await loadApp(path("export default async (app) => { app.decorate('mine', 1) }"))).hasDecorator('mine'))
})

test('check says what is wrong with a module, and checks an app that is safe', async (t) => {
  t.match(await run('check', 'nowhere.js'), { code: 2, err: /There is no file 'nowhere\.js'/ })
  t.match(await run('check', moduleFor(t, 'export const x = 1')), {
    code: 2, err: /has no export 'default' or 'app': end it with 'export default app', and call listen\(\) in/
  })
  t.match(await run('check', moduleFor(t, 'export const build = 1'), '--export', 'biuld'), {
    code: 2, err: /has no app or function under 'biuld', did you mean 'build'/
  })
  t.match(await run('check', moduleFor(t, "throw new Error('no database here')")), {
    code: 1, err: /cannot be imported: no database here/
  })
  t.match(await run('check', moduleFor(t, 'throw 1')), { code: 1, err: /cannot be imported: 1/ })
  const typescript = join(folderFor(t), 'app.ts')
  writeFileSync(typescript, 'export const app: = 1')
  t.match(await run('check', typescript), { code: 1, err: /for TypeScript, compile it first/ })
  t.match(await run('check', moduleFor(
    t,
    "export default () => { throw new Error('first', { cause: new AggregateError([new Error('a'), new Error('b')]) }) }"
  )), { code: 1, err: 'error: first: a; b' })
  t.match(await run('check', moduleFor(t, 'export default () => { throw 7 }')), { code: 1, err: 'error: 7' })
  const empty = moduleFor(t, "import Fastify from 'fastify'\n export default () => Fastify()")
  t.match(await run('check', empty), { code: 2, err: /The app has no resources/ })
  const safe = moduleFor(t, `
    const { restModels, openSqlite, createTables, defineModel, key } = library
    export const app = async (app) => {
      const db = openSqlite(':memory:')
      app.addHook('onClose', () => db.destroy())
      const Thing = defineModel('Thing', { id: key() })
      await createTables(db, [Thing])
      await app.register(restModels, { db })
      app.restModels.register(Thing)
      await app.restModels.setup()
    }`)
  const unsafe = moduleFor(t, readFileSync(safe, 'utf8').replace('{ id: key() }', '{ id: key(), api_key: text() }')
    .replace('key }', 'key, text }'))
  const dangerous = await run('check', unsafe, '--strict', '--all')
  t.match(dangerous, { code: 1, out: /Dangerous:\n.*│ thing +│ api_key +│ looks secret, and anybody may read it/s })
  t.match(dangerous.out, /These filters and orderings have no index.*│ thing +│ filter +│ api_key/s)
  const { code, out } = await run('check', safe, '--strict')
  t.equal(code, 0, out)
  t.match(out, /Nothing dangerous was found\.\n$/)
})

test('D-177: check leaves out what has no index on tables below 1,000 rows, and groups the rest', async (t) => {
  const names = Array.from({ length: 12 }, (_, index) => `column_${index}`)
  const app = (more: string) => moduleFor(t, `
    const { restModels, openSqlite, createTables, defineModel, foreignKey, integer, openAuth } = library
    export const app = async (app) => {
      const db = openSqlite(':memory:')
      app.addHook('onClose', () => db.destroy())
      const Kind = defineModel('Kind', { rank: integer() })
      const columns = { ${names.map((name) => `${name}: integer()`)} }
      const Item = defineModel('Item', { kind: foreignKey(() => Kind), ...columns })
      await createTables(db, [Kind, Item])
      await db.insertInto('kind').values({ rank: 1 }).execute()
      const values = { kind_id: 1, ${names.map((name) => `${name}: 1`)} }
      const add = (count) => db.insertInto('item').values(Array(count).fill(values)).execute()
      await app.register(restModels, { db })
      ${more}
      app.restModels.register(Item).register(Kind)
      await app.restModels.setup()
    }`)
  t.match(await run('check', app('await add(999)')), {
    code: 0,
    out: 'Nothing dangerous was found.\nLeft out: 27 filters and orderings without an index on tables that have ' +
      'fewer than 1,000 rows, which are read fast. --all lists them, for tables that will grow\n'
  })
  const large = app('await add(999); await add(1)')
  const { out } = await run('check', large)
  t.match(out, 'These filters and orderings have no index, so each reads its whole table:\n')
  const [first = '', second = ''] = [names.slice(0, 6), names.slice(6)].map((part) => part.join(', '))
  for (const use of ['filter', 'ordering']) {
    t.match(out, new RegExp(`│ item +│ ${use} +│ ${first}, +│ item +│ 1,000 │\\n│ +│ +│ ${second} +│ +│ +│\\n`))
  }
  t.match(out, '\nLeft out: 3 filters and orderings without an index')
  const all = await run('check', large, '--all')
  t.match(all.out, /│ item +│ filter +│ kind__rank +│ kind +│ 1 +│\n│ kind +│ filter +│ rank +│ kind +│ 1 +│\n/)
  const huge = await run('check', app('for (let count = 0; count < 100; count++) await add(1_000)'))
  t.match(huge.out, /│ item +│ filter +│ column_0, .*│ item +│ 100,000 or more │/)
})

test('check prints what made-up users see, what leaks beside a scope, and scopes without an index', async (t) => {
  const { code, out } = await run('check', moduleFor(t, `
    const { restModels, openSqlite, boolean, createTables, defineModel, foreignKey, hostAuth, text } = library
    export const app = async (app) => {
      const db = openSqlite(':memory:')
      app.addHook('onClose', () => db.destroy())
      const Project = defineModel('Project', { company: text(), title: text() })
      const Task = defineModel('Task', { project: foreignKey(() => Project) })
      const Post = defineModel('Post', { published: boolean() })
      await createTables(db, [Project, Task, Post])
      await app.register(restModels, { db })
      const find = () => null
      const members = hostAuth(find, { protect: 'all' })
      const scope = (user) => user.admin ? {} : { company: user.company, title__ne: 'x' }
      app.restModels.register(Project, { auth: members, scope, search: ['title', 'company'] })
      app.restModels.register(Task, { auth: members })
      app.restModels.register(Post, { auth: hostAuth(find), scope: (user) => user.id ? null : {} })
      await app.restModels.setup()
    }`), '--strict', '--all')
  t.equal(code, 1, out)
  t.match(out, 'project: list users, read users, create users, update users, delete users; ' +
    'a scope bounds list, read, create, update, delete\n')
  t.match(out, 'task: list users, read users, create users, update users, delete users\n')
  t.match(out, `
Scopes, for made-up users:
project: a user sees company = user.company and title != "x"
project: an admin sees everything
post: for nobody it fails: Cannot read properties of null (reading 'id')
post: a user sees nothing, but this depends on user.id
post: an admin sees nothing, but this depends on user.id
`)
  t.match(out, /│ task +│ project +│ refers to resource 'project', which has a scope, but has none itself: users may/)
  t.match(out, /These scopes, searches, filters and orderings have no index.*│ project +│ scope +│ company, title +│/s)
  t.match(out, /│ project +│ search +│ title, company +│/)
  const open = moduleFor(t, `
    const { restModels, openSqlite, boolean, createTables, defineModel } = library
    export const app = async (app) => {
      const db = openSqlite(':memory:')
      app.addHook('onClose', () => db.destroy())
      const Post = defineModel('Post', { published: boolean() })
      await createTables(db, [Post])
      await app.register(restModels, { db })
      app.restModels.register(Post, { scope: (user) => user === null ? { published: true } : {} })
      await app.restModels.setup()
    }`)
  t.match((await run('check', open, '--strict')), {
    code: 0, out: /\npost: who is not logged in sees published = true\npost: a user sees everything\n/
  })
})

test('the program itself serves until SIGTERM, introspects, and ends with the code of what it did', async (t) => {
  const path = await siteFile(t)
  const introspected = spawnSync(process.execPath, [main, 'introspect', `sqlite:${path}`])
  t.equal(introspected.status, 0)
  t.match(introspected.stdout.toString(), 'export const models = [User, Message, Note, Relationship] as const')
  t.equal(spawnSync(process.execPath, [main, 'introspect', 'nothing']).status, 2)
  const script = join(moduleFor(t, ''), '..', 'serve.mjs')
  writeFileSync(
    script, `process.argv.push('serve', 'sqlite:${path}', '--port', '0')\nawait import(${JSON.stringify(main)})`
  )
  const server = await startServer(t, script, { cwd: folderFor(t) })
  t.equal((await fetch(`${server.address}/api/note/`)).status, 200)
  t.equal(await server.stop(), 0)
  t.ok(existsSync(path))
})

test('the terminal of a process writes to its outputs, and is interrupted by SIGTERM and SIGINT', async (t) => {
  const said = t.capture(console, 'log')
  const complained = t.capture(console, 'error')
  processTerminal.out('100 %d')
  processTerminal.err('not 100 %d')
  t.strictSame(said().map(({ args }) => args), [['100 %d']])
  t.strictSame(complained().map(({ args }) => args), [['not 100 %d']])
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    const interrupted = processTerminal.interrupted()
    process.emit(signal)
    await interrupted
  }
})

test('what fails in a served database is written to the standard error', async (t) => {
  const path = await siteFile(t)
  const { app } = await serveDatabase(`sqlite:${path}`)
  t.teardown(async () => { await app.close() })
  const db = openSqlite(path)
  await db.schema.dropTable('note').execute()
  await db.destroy()
  const written = t.capture(process.stderr, 'write')
  t.equal((await app.inject('/api/note/')).statusCode, 500)
  t.match(written().map(({ args }) => String(args[0])).join(''), '"type":"SqliteError","code":"SQLITE_ERROR"')
})

test('a policy for tables that take no writes knows nobody, and permits nobody', async (t) => {
  const policy = openExcept(['create'])
  t.equal(policy.permits({ id: 1, admin: true }, 'create'), false)
  const findNobody = policy.authenticator({} as PolicySetting)
  t.equal(await findNobody({} as FastifyRequest, {} as FastifyReply), null)
})

test('the program is run with the words of its process', async (t) => {
  const { argv, exitCode } = process
  t.teardown(() => Object.assign(process, { argv, exitCode }))
  process.argv = [String(argv[0]), resolve('lib/tooling/cli/main.ts'), '--version']
  const said = t.capture(console, 'log')
  const exits = t.capture(process, 'exit', (() => {}) as unknown as typeof process.exit)
  await import('../../lib/tooling/cli/main.js')
  t.strictSame(said().map(({ args }) => args), [[JSON.parse(readFileSync('package.json', 'utf8')).version]])
  t.equal(process.exitCode, 0)
  t.equal(exits().length, 1, 'whatever else goes on in it')
})
