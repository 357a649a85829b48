// @alone: starts and ends processes
// @long: starts and ends many processes

import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { Agent } from 'node:http'
import { join, resolve } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { test, type Test } from 'tap'
import { emptyDatabase, engine } from '../support/database.js'
import { waitFor } from '../support/engines/wait-for.js'
import { askAgainAndAgain, statusOf } from '../support/keep-alive.js'
import { startServer, type ServerProcess } from '../support/process.js'
import { readPage } from './page.js'

/** The program of 'All cores of one machine' runs on every engine. */

const openers = { sqlite: 'openSqlite', postgres: 'openPostgres', mariadb: 'openMariadb' }

/** Writes the program on this process's engine. @returns its folder and its environment */
async function writeProgram (t: Test): Promise<{ cwd: string, env: Record<string, string> }> {
  const program = readPage('docs/scaling.md').blocks.find(({ language }) => language === 'js')?.content ?? ''
  // Inside the package, so that its own name resolves to it.
  const cwd = mkdtempSync(join(resolve('dist'), 'page-'))
  const { url, remove } = engine === 'sqlite' ? { url: 'site.db', remove: async () => {} } : await emptyDatabase()
  writeFileSync(join(cwd, 'site.mjs'), program
    .replaceAll('openPostgres', openers[engine])
    .replace('rest-models/postgres', `rest-models/${engine}`)
    .replace(', { connections }', engine === 'sqlite' ? '' : '$&'))
  t.teardown(async () => {
    rmSync(cwd, { recursive: true })
    await remove()
  })
  return { cwd, env: { DATABASE_URL: url, WEB_CONCURRENCY: '2' } }
}

interface Cluster extends ServerProcess {
  /** Asks once on a new connection. @returns the id of the process that answered, and the status */
  ask (): Promise<{ readonly pid: number, readonly status: string }>
  workers (): number[]
}

async function startCluster (t: Test): Promise<Cluster> {
  const server = await startServer(t, 'site.mjs', await writeProgram(t))
  let asked = 0
  const ask: Cluster['ask'] = async () => {
    const path = `/api/note/?limit=1&id__gt=${++asked}`
    const status = await statusOf(server.address + path, new Agent())
    const line = (): string | undefined => server.output().split('\n').find((text) => text.includes(`"url":"${path}"`))
    await waitFor('the log', async () => line() !== undefined)
    return { pid: (JSON.parse(line() ?? '{}') as { pid: number }).pid, status }
  }
  const cluster = { ...server, ask, workers: () => childrenOf(Number(server.child.pid)) }
  await waitFor('both processes answer', async () => (await pidsOf(cluster)).length === 2)
  return cluster
}

/** The processes that answer some requests, each on a new connection. */
async function pidsOf ({ ask }: Pick<Cluster, 'ask'>): Promise<number[]> {
  const pids = new Set<number>()
  for (let number = 0; number < 10; number++) pids.add((await ask()).pid)
  return [...pids].sort()
}

function childrenOf (pid: number): number[] {
  const rows = execFileSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' }).trim().split('\n')
  return rows.map((row) => row.trim().split(/\s+/).map(Number))
    .filter(([, parent]) => parent === pid).map(([child]) => Number(child)).sort()
}

function isRunning (pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

test('requests are answered by several processes, and one that is killed is replaced after a second', async (t) => {
  const cluster = await startCluster(t)
  const before = cluster.workers()
  t.strictSame(await pidsOf(cluster), before)
  const [killed = 0, kept = 0] = before
  process.kill(killed, 'SIGKILL')
  await waitFor('its end', async () => !isRunning(killed))
  const ended = performance.now()
  t.match(await cluster.ask(), { pid: kept, status: '200' }, 'the other goes on')
  await waitFor('another process', async () => cluster.workers().length === 2)
  t.ok(performance.now() - ended > 900, 'not at once')
  await waitFor('another one answers', async () => (await pidsOf(cluster)).filter((pid) => pid !== kept).length === 1)
  t.strictSame(await pidsOf(cluster), cluster.workers())
  t.match(cluster.output(), `Process ${killed} ended (SIGKILL), another one starts in a second`)
  t.equal(await cluster.stop(), 0)
})

/** Ends the program by SIGTERM to all its processes while 100 clients ask again at once. */
async function endUnderLoad (t: Test) {
  const { address, child, workers } = await startCluster(t)
  const agent = new Agent({ keepAlive: true, maxSockets: 100 })
  t.teardown(() => { agent.destroy() })
  const counts: Record<string, number> = {}
  const url = `${address}/api/note/?limit=1`
  const clients = Promise.all(Array.from({ length: 100 }, async () => { await askAgainAndAgain(url, agent, counts) }))
  while ((counts['200'] ?? 0) < 500) await wait(10)
  const pids = workers()
  const exited = once(child, 'exit')
  const signalled = performance.now()
  // As a service manager does it: the first process passes its signal on, so the others get two.
  for (const pid of [Number(child.pid), ...pids]) process.kill(pid, 'SIGTERM')
  const [exit] = await Promise.all([exited, clients])
  return { counts, exit, took: performance.now() - signalled, left: pids.filter(isRunning) }
}

test('SIGTERM resets none of 100 connected clients, ends all processes, and the code is 0', async (t) => {
  let ended = await endUnderLoad(t)
  // On a machine that is busy with other tests, the clients may take longer than the second for which they are drained.
  for (let more = 0; more < 6 && 'ECONNRESET' in ended.counts; more++) {
    await wait(3000)
    ended = await endUnderLoad(t)
  }
  t.same(Object.keys(ended.counts).sort(), ['200', 'ECONNREFUSED'], JSON.stringify(ended.counts))
  t.strictSame(ended.exit, [0, null])
  t.strictSame(ended.left, [])
  t.ok(ended.took < 10_000, `after ${ended.took} ms`)
})

test('if the first process is killed, the others end', async (t) => {
  const { child, workers } = await startCluster(t)
  const pids = workers()
  child.kill('SIGKILL')
  await waitFor('their end', async () => !pids.some(isRunning))
  t.equal(pids.length, 2)
})
