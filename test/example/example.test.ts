// @once: starts the example, on SQLite
// @alone: starts processes
// @long: starts the example a dozen times

import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import Database from 'better-sqlite3'
import { test, type Test } from 'tap'
import { engineNames } from '../support/engines/find-engine.js'
import { requireEngine } from '../support/engines/lacks.js'
import { createDatabase } from '../support/engines/test-database.js'
import { basic } from '../support/site.js'
import { startServer } from '../support/process.js'

const site = resolve('dist/examples/site/main.js')
const reset = resolve('dist/examples/site/reset.js')

function folderFor (t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), 'site-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  return folder
}

async function listOf (url: string): Promise<Array<Record<string, unknown>>> {
  const { objects } = await (await fetch(url)).json() as { objects: Array<Record<string, unknown>> }
  return objects
}

function post (url: string, body: object, user?: string): Promise<Response> {
  return fetch(url, {
    method: 'POST', body: JSON.stringify(body), headers: user === undefined ? {} : { authorization: basic(user) }
  })
}

test('the example app serves the four models of the specification with their data', async (t) => {
  const folder = folderFor(t)
  const { address } = await startServer(t, site, { cwd: folder })
  const users = await listOf(`${address}/api/user/`)
  t.same(users.map(({ id, username, active, admin }) => [id, username, active, admin]), [
    [1, 'admin', true, true], [2, 'alice', true, false], [3, 'bob', true, false], [4, 'carol', false, false]
  ])
  t.same(
    Object.keys(users[0] ?? {}), ['id', 'username', 'join_date', 'active', 'admin'], 'no password, no e-mail address'
  )
  const messages = await listOf(`${address}/api/message/?limit=100`)
  t.ok(messages.length >= 30)
  t.ok(new Set(messages.map(({ user_id: user }) => user)).size >= 3)
  t.equal((await listOf(`${address}/api/relationship/`)).length, 4)
  t.equal((await listOf(`${address}/api/note/?limit=100`)).length, 25)

  const database = new Database(join(folder, 'site.db'), { readonly: true })
  const passwords = database.prepare('select password from user').pluck().all()
  database.close()
  t.ok(passwords.every((password) => String(password).startsWith('$argon2id$')), 'passwords are stored as hashes')
})

test('the example app applies the policies and owners of the specification', async (t) => {
  const { address } = await startServer(t, site, { cwd: folderFor(t), env: { DATABASE_URL: 'sqlite::memory:' } })
  const user = { username: 'dave', password: 'dave', email: 'dave@example.com' }
  t.equal((await post(`${address}/api/user/`, user, 'alice')).status, 403)
  t.equal((await post(`${address}/api/user/`, user, 'admin')).status, 201)
  t.equal((await post(`${address}/api/message/`, { content: 'x' })).status, 401)
  t.match(await (await post(`${address}/api/message/`, { content: 'x' }, 'dave')).json(), { user_id: 5 })
  t.match(await (await post(`${address}/api/relationship/`, { to_user: 2 }, 'bob')).json(), {
    from_user_id: 3, to_user_id: 2
  })
  t.equal((await post(`${address}/api/note/`, { message: 'x' }, 'admin')).status, 401)
  t.equal((await post(`${address}/api/message/`, { content: 'x' }, 'carol')).status, 401)
})

/** Sends a GET with any text as its target, which fetch would change. */
async function getAsWritten (address: string, path: string): Promise<void> {
  const sent = request(address, { path, agent: false }).end()
  const [reply] = await once(sent, 'response')
  reply.resume()
  await once(reply, 'end')
}

test('the example app listens on its default host if HOST is empty', async (t) => {
  const { address } = await startServer(t, site, { cwd: folderFor(t), env: { HOST: '', PORT: '0' } })
  t.match(address, /^http:\/\/127\.0\.0\.1:\d+$/)
})

test('the example app prints its address, the accounts and three curl lines, and logs no secrets', async (t) => {
  const server = await startServer(t, site, { cwd: folderFor(t), env: { DATABASE_URL: 'sqlite::memory:' } })
  await fetch(`${server.address}/api/message/?content=queryvalue`)
  await fetch(`${server.address}/api/nothing/?content=queryvalue`)
  await post(`${server.address}/api/message/`, { content: 'bodyvalue' }, 'alice')
  await post(`${server.address}/api/message/`, { wrong: 'bodyvalue' }, 'alice')
  await getAsWritten(server.address, server.address.replace('//', '//alice:urlpassword@') + '/api/note/')
  await getAsWritten(server.address, '/api/note/#content=queryvalue')
  t.equal(await server.stop(), 0)
  const output = server.output()
  t.match(output, `The example site is on ${server.address}`)
  t.match(output, /admin \(admin\), alice, bob, carol \(not active\)/)
  t.equal(output.match(/^ {2}curl /gm)?.length, 3)
  const requests = output.split('\n').filter((line) => line.includes('"path"')).map((line) => JSON.parse(line))
  t.match(requests, [
    { method: 'GET', path: '/api/message/', status: 200 },
    { method: 'GET', path: '/api/nothing/', status: 404 },
    { method: 'POST', path: '/api/message/', status: 201 },
    { method: 'POST', path: '/api/message/', status: 400 },
    { method: 'GET', path: '/api/note/' },
    { method: 'GET', path: '/api/note/' }
  ])
  t.equal(requests.length, 6, 'one line a request')
  for (const secret of ['queryvalue', 'bodyvalue', 'urlpassword', basic('alice').slice(6)]) t.notMatch(output, secret)
})

test('the example app keeps an existing database until it is reset', async (t) => {
  const folder = folderFor(t)
  const env = { DATABASE_URL: 'sqlite:./kept.db' }
  const first = await startServer(t, site, { cwd: folder, env })
  await post(`${first.address}/api/message/`, { content: 'kept' }, 'alice')
  await first.stop()
  const second = await startServer(t, site, { cwd: folder, env })
  t.equal((await listOf(`${second.address}/api/message/?content=kept`)).length, 1)
  await second.stop()
  t.equal(spawnSync(process.execPath, [reset], { cwd: folder, env: { ...process.env, ...env } }).status, 0)
  const third = await startServer(t, site, { cwd: folder, env })
  t.equal((await listOf(`${third.address}/api/message/?content=kept`)).length, 0)
  t.equal((await listOf(`${third.address}/api/user/`)).length, 4)
})

test('the example app says plainly which databases it runs on', (t) => {
  const { status, stderr } = spawnSync(process.execPath, [site], {
    env: { ...process.env, DATABASE_URL: 'oracle://localhost/site' }
  })
  t.equal(status, 1)
  t.match(
    stderr.toString(), /DATABASE_URL begins with sqlite:, postgres:\/\/ or mariadb:\/\/, such as sqlite:\.\/site\.db/
  )
  t.end()
})

for (const engine of engineNames) {
  test(`the example app serves the same on ${engine}, from processes that start at once, until reset`, async (t) => {
    const server = await requireEngine(t, engine)
    if (server === undefined) return
    const { url, drop } = await createDatabase(server)
    t.teardown(drop)
    const folder = folderFor(t)
    const env = { DATABASE_URL: url }
    const [first, second] = await Promise.all([
      startServer(t, site, { cwd: folder, env }), startServer(t, site, { cwd: folder, env })
    ])
    t.equal((await post(`${first.address}/api/message/`, { content: 'kept' }, 'alice')).status, 201)
    t.match(await listOf(`${second.address}/api/message/?content=kept&user__username=alice`), [{ content: 'kept' }])
    t.same((await listOf(`${second.address}/api/user/`)).map(({ username }) => username), [
      'admin', 'alice', 'bob', 'carol'
    ])
    t.equal((await listOf(`${second.address}/api/note/?limit=100`)).length, 25)
    t.same(await Promise.all([first.stop(), second.stop()]), [0, 0])
    t.equal(spawnSync(process.execPath, [reset], { cwd: folder, env: { ...process.env, ...env } }).status, 0)
    const third = await startServer(t, site, { cwd: folder, env })
    t.equal((await listOf(`${third.address}/api/message/?content=kept`)).length, 0)
    t.same((await listOf(`${third.address}/api/user/`)).map(({ id, username }) => [id, username]), [
      [1, 'admin'], [2, 'alice'], [3, 'bob'], [4, 'carol']
    ])
    await third.stop()
  })
}
