// @once: about the command line and its server

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type Test } from 'tap'
import { createTables, defineModel, text } from '../../lib/index.js'
import { openSqlite } from '../../lib/sqlite.js'
import { passwordVariable } from '../../lib/tooling/cli/basic-credentials.js'
import { runCommand } from '../../lib/tooling/cli/run.js'
import { serveDatabase, type ServeOptions } from '../../lib/tools.js'

interface Ran {
  readonly code: number
  readonly out: string
  readonly err: string
}

/** Runs `serve` until `act` has done its work with the address. */
async function serve (
  words: readonly string[], act: (address: string) => Promise<void> = async () => {}
): Promise<Ran> {
  const written = { out: '', err: '' }
  const code = await runCommand(['serve', ...words], {
    out: (text) => { written.out += `${text}\n` },
    err: (text) => { written.err += `${text}\n` },
    interrupted: async () => await act(`http://127.0.0.1:${/:(\d+)\/api/.exec(written.out)?.[1] ?? ''}`)
  })
  return { code, ...written }
}

/** A database with a table for each name. */
async function databaseOf (t: Test, ...names: readonly string[]): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'serve-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  const path = join(folder, 'site.db')
  const db = openSqlite(path)
  await createTables(db, names.map((name) => defineModel(name, { title: text() })))
  await db.destroy()
  return `sqlite:${path}`
}

const basic = (user: string, password: string): { headers: { authorization: string } } =>
  ({ headers: { authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}` } })

function setPassword (t: Test, password: string): void {
  process.env[passwordVariable] = password
  t.teardown(() => { delete process.env[passwordVariable] })
}

test('D-217: with --user each request needs the user and the password, and answers are not stored', async (t) => {
  const url = await databaseOf(t, 'Note')
  setPassword(t, 'pä:ss')
  const { code, out, err } = await serve([url, '--user', 'ann', '--port', '0'], async (address) => {
    for (const path of ['/api/note/', '/api/none/', '/documentation/', '/documentation/json', '/']) {
      const refused = await fetch(`${address}${path}`)
      t.equal(refused.status, 401, path)
      t.equal(refused.headers.get('www-authenticate'), 'Basic realm="Login Required"')
      t.equal(await refused.text(), 'Authentication failed')
    }
    const wrong = [
      basic('ann', 'pä:s'), basic('ann', 'pä:sss'), basic('ann', ''), basic('Ann', 'pä:ss'), basic('', 'pä:ss'),
      { headers: { authorization: 'Basic' } }, { headers: { authorization: 'Basic !!' } },
      { headers: { authorization: 'Bearer pä:ss' } }, { headers: { authorization: 'x'.repeat(9000) } }
    ]
    for (const [at, request] of wrong.entries()) {
      const headers = { authorization: encodeURI(request.headers.authorization) }
      t.equal((await fetch(`${address}/api/note/`, { headers })).status, 401, `wrong ${at}`)
    }
    const answer = await fetch(`${address}/api/note/`, basic('ann', 'pä:ss'))
    t.equal(answer.status, 200)
    t.equal(answer.headers.get('cache-control'), 'no-store')
    t.equal((await fetch(`${address}/documentation/json`, basic('ann', 'pä:ss'))).status, 200)
  })
  t.equal(code, 0, err)
  t.notMatch(out + err, 'pä:ss')
})

test('D-217: one of user and password alone is an error, also if the password is in the environment', async (t) => {
  const url = await databaseOf(t, 'Note')
  t.match(await serve([url, '--user', 'ann']), {
    code: 2, err: /There is a user, but no password: set the environment variable REST_MODELS_PASSWORD/
  })
  t.match(await serve([url, '--password', 'x']), { code: 2, err: /There is a password, but no user: add --user/ })
  for (const [user, password] of [['', 'x'], ['a:b', 'x'], ['ann', '']] as const) {
    t.match(await serve([url, `--user=${user}`, `--password=${password}`]), {
      code: 2, err: /name without colons, and a password that is not empty/
    })
  }
  const { code } = await serve([url, '--user', 'ann', '--password', 'x', '--port', '0'], async (address) => {
    t.equal((await fetch(`${address}/api/note/`, basic('ann', 'x'))).status, 200, 'the option comes first')
  })
  t.equal(code, 0)
  setPassword(t, 'secret')
  t.match(await serve([url]), { code: 2, err: /There is a password, but no user/ })
})

test('D-218: an address that others reach is warned of, and writes there need a user', async (t) => {
  const url = await databaseOf(t, 'Note')
  const open = await serve([url, '--host', '0.0.0.0', '--port', '0'])
  t.match(open, { code: 0, err: /^Warning: everybody who reaches the port may read the database; add --user/ })
  const refused = await serve([url, '--host', '0.0.0.0', '--write'])
  t.match(refused, { code: 2, err: /does not listen on '0\.0\.0\.0': add --user/ })
  const words = [url, '--host', '0.0.0.0', '--write', '--port', '0', '--user', 'ann', '--password', 'x']
  const { code, err, out } = await serve(words, async (address) => {
    const body = { method: 'POST', body: '{"title":"x"}' }
    t.equal((await fetch(`${address}/api/note/`, body)).status, 401)
    t.equal((await fetch(`${address}/api/note/`, { ...body, ...basic('ann', 'x') })).status, 201)
    const { headers } = basic('ann', 'x')
    const foreign = { ...body, headers: { ...headers, origin: 'http://evil.example' } }
    t.equal((await fetch(`${address}/api/note/`, foreign)).status, 403, 'a page of another site')
  })
  t.equal(code, 0, err)
  t.match(err, /^Warning: passwords and records are sent without encryption; put a proxy with TLS/)
  t.match(out, ', with writes: note')
  t.notMatch((await serve([url, '--port', '0'])).err, 'Warning')
})

test('D-219: serve prints three lines, whatever the number of tables', async (t) => {
  const few = await serve([await databaseOf(t, 'Note'), '--port', '0'])
  t.match(few.err, /^Nothing is left out\nNo column looks secret, so none is hidden\n$/)
  t.match(few.out, /^Serving 1 table on http:\/\/127\.0\.0\.1:\d+\/api\/, read-only: note; documentation: .*\n$/)
  const names = Array.from({ length: 13 }, (_, at) => `Thing${String.fromCharCode(65 + at)}`)
  const many = await serve([await databaseOf(t, ...names), '--port', '0'])
  t.match(many.out, /read-only: thinga, thingb, thingc, .*, thingi, thingj and 3 more; /)
})

test('serveDatabase takes credentials, too', async (t) => {
  const url = await databaseOf(t, 'Note')
  const { app } = await serveDatabase(url, { credentials: { user: 'ann', password: 'x' } })
  t.teardown(async () => await app.close())
  t.equal((await app.inject('/api/note/')).statusCode, 401)
  t.equal((await app.inject({ url: '/api/note/', ...basic('ann', 'x') })).statusCode, 200)
  await t.rejects(serveDatabase(url, { credentials: { user: 'a:b', password: 'x' } }), {
    code: 'REST_MODELS_INVALID_OPTIONS'
  })
})

/** Options as JavaScript may give them, whatever their types say. */
const untyped = (options: object): ServeOptions => options

test('D-217: serveDatabase refuses credentials that lack a part, such as a variable that is not set', async (t) => {
  const url = await databaseOf(t, 'Note')
  const parts = { user: 'ann', password: 's3cret' }
  for (const [name, value] of [
    ['password', undefined], ['password', null], ['password', ''], ['password', 12345], ['password', ['s3cret']],
    ['user', undefined], ['user', ''], ['user', { includes: () => false }]
  ] as const) {
    const failure = await serveDatabase(url, untyped({ credentials: { ...parts, [name]: value } })).catch(String)
    t.match(failure, /REST_MODELS_INVALID_OPTIONS.* in 'credentials' or by --user and REST_MODELS_PASSWORD/, name)
    t.notMatch(failure, 's3cret')
  }
})

test('D-217: serveDatabase refuses options that it does not have, which might be those of a login', async (t) => {
  const url = await databaseOf(t, 'Note')
  for (const [options, message] of [
    [{ user: 'ann', password: 's3cret' }, "serveDatabase() has an unknown option 'user'"],
    [{ credential: { user: 'ann', password: 's3cret' } }, "option 'credential', did you mean 'credentials'?"],
    [{ credentials: { user: 'ann', pasword: 's3cret' } },
      "'credentials' of serveDatabase() has an unknown option 'pasword', did you mean 'password'?"],
    [{ write: 'false' }, "'write' of serveDatabase() is true or false"]
  ] as const) {
    await t.rejects(serveDatabase(url, untyped(options)), { code: 'REST_MODELS_INVALID_OPTIONS', message })
  }
})

test('D-218: serveDatabase refuses writes without credentials on an address that others reach', async (t) => {
  const url = await databaseOf(t, 'Note')
  for (const host of ['0.0.0.0', '::', 'db.internal', '127.0.0.1.example.com']) {
    await t.rejects(serveDatabase(url, { write: true, host }), {
      code: 'REST_MODELS_INVALID_OPTIONS', message: "add --user, which is 'credentials' of serveDatabase()"
    }, host)
  }
  const credentials = { user: 'ann', password: 'x' }
  for (const options of [
    { write: true, host: '::1' }, { write: true, host: '0.0.0.0', credentials }, { host: '0.0.0.0' }
  ]) await (await serveDatabase(url, options)).app.close()
})
