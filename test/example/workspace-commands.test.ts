// @once: starts the example, on each engine
// @alone: starts processes
// @long: starts the example half a dozen times

import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { test } from 'tap'
import { engineNames } from '../support/engines/find-engine.js'
import { requireDatabase } from '../support/engines/lacks.js'
import { startServer } from '../support/process.js'
import { basic } from '../support/site.js'

const workspace = resolve('dist/examples/workspace/main.js')
const reset = resolve('dist/examples/workspace/reset.js')

async function namesOf (address: string, user: string): Promise<unknown[]> {
  const reply = await fetch(`${address}/api/project/`, { headers: { authorization: basic(user) } })
  const { objects } = await reply.json() as { objects: ReadonlyArray<{ readonly name: string }> }
  return objects.map(({ name }) => name)
}

async function create (address: string, user: string): Promise<number> {
  const headers = { authorization: basic(user) }
  return (await fetch(`${address}/api/project/`, { method: 'POST', body: '{"name": "Aurora"}', headers })).status
}

test('npm run start:workspace and reset:workspace run these files', (t) => {
  const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: Record<string, string> }
  t.equal(scripts['start:workspace'], 'npm run build && exec node dist/examples/workspace/main.js')
  t.equal(scripts['reset:workspace'], 'npm run build && node dist/examples/workspace/reset.js')
  t.end()
})

test('the workspace keeps its own file until it is reset, and says how to try it', async (t) => {
  const cwd = t.testdir()
  const first = await startServer(t, workspace, { cwd })
  t.ok(existsSync(join(cwd, 'workspace.db')))
  t.equal(await create(first.address, 'ann'), 201)
  const page = await (await fetch(`${first.address}/documentation/json`)).json() as { paths: object }
  t.same(Object.keys(page.paths), ['company', 'member', 'project', 'task', 'comment', 'audit'].flatMap((name) =>
    [`/api/${name}/`, `/api/${name}/{id}/`]))
  t.equal((await fetch(`${first.address}/documentation/`)).status, 200)
  t.equal(await first.stop(), 0)
  t.match(first.output(), `The example workspace is on ${first.address}`)
  t.match(first.output(), 'root (Acme, admin), ann (Acme, manager), art (Acme, member), gus (Globex, manager), ' +
    'gil (Globex, member), old (Acme, member, not active)')
  t.match(first.output(), `${first.address}/documentation`)
  t.match(first.output(), '"method":"POST","path":"/api/project/","status":201')

  const second = await startServer(t, workspace, { cwd, env: { LOG_LEVEL: 'warn' } })
  t.same(await namesOf(second.address, 'ann'), ['Apollo', 'Atlas', 'Archive', 'Aurora'])
  await second.stop()
  t.notMatch(second.output(), '"path"', 'LOG_LEVEL decides what is logged')
  t.equal(spawnSync(process.execPath, [reset], { cwd }).status, 0)
  const third = await startServer(t, workspace, { cwd })
  t.same(await namesOf(third.address, 'ann'), ['Apollo', 'Atlas', 'Archive'])
  await third.stop()
})

for (const engine of engineNames) {
  test(`the workspace serves the same on ${engine}, from processes that start at once, until reset`, async (t) => {
    const url = await requireDatabase(t, engine)
    if (url === undefined) return
    const cwd = t.testdir()
    const env = { DATABASE_URL: url }
    const [first, second] = await Promise.all([
      startServer(t, workspace, { cwd, env }), startServer(t, workspace, { cwd, env })
    ])
    t.equal(await create(first.address, 'gus'), 201)
    t.same(await namesOf(second.address, 'gil'), ['Apollo', 'Gamma', 'Glacier', 'Aurora'])
    t.same(await namesOf(second.address, 'art'), ['Apollo', 'Atlas', 'Archive'])
    t.same(await Promise.all([first.stop(), second.stop()]), [0, 0])
    t.equal(spawnSync(process.execPath, [reset], { cwd, env: { ...process.env, ...env } }).status, 0)
    const third = await startServer(t, workspace, { cwd, env })
    t.same(await namesOf(third.address, 'gil'), ['Apollo', 'Gamma', 'Glacier'])
    await third.stop()
    t.notOk(existsSync(join(cwd, 'workspace.db')))
  })
}
