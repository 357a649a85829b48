// @once: runs the files of one example, whose program chooses its engine itself
// @alone: starts and ends processes
// @long: waits for programs that end as they are told

import { execFile, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { Agent } from 'node:http'
import { isBuiltin } from 'node:module'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as wait } from 'node:timers/promises'
import { promisify } from 'node:util'
import { validate } from 'dockerfile-utils'
import tap, { test, type Test } from 'tap'
import { readPage } from '../documentation/page.js'
import { freePort } from '../support/engines/free-port.js'
import { lacks, requireDatabase } from '../support/engines/lacks.js'
import { requirePrograms } from '../support/engines/programs.js'
import { waitFor } from '../support/engines/wait-for.js'
import { askAgainAndAgain } from '../support/keep-alive.js'
import { read, readCompose, readManifests, readUnit, type Container, type Probe } from './files.js'
import { build, image, secondsToEnd, start } from './image.js'

tap.setTimeout(60_000)

const run = promisify(execFile)

/** The exit code of a command, run beside the program, with the same variables. */
async function codeOf ([program = '', ...args]: readonly string[], env: Readonly<Record<string, string>>) {
  const file = program === 'node' ? process.execPath : program
  return await run(file, args, { env: { PATH: process.env['PATH'], ...env }, timeout: 10_000 })
    .then(() => 0, (error: { readonly code: unknown }) => error.code)
}

const secondsOf = (text: string): number => Number(/^(\d+)s$/.exec(text)?.[1])

test('the Dockerfile has no fault that its linter knows, and its program is no administrator', (t) => {
  t.same(validate(read('Dockerfile')), [])
  t.equal(image.user, 'node')
  const ignore = read('.dockerignore').split('\n')
  t.equal(ignore.find((line) => !line.startsWith('#')), '*', 'secrets and databases stay out of the image')
  const stages = [...read('Dockerfile').matchAll(/^COPY (?!--from)(.*) \S+$/gm)]
  for (const file of stages.flatMap(([, files = '']) => files.split(' '))) t.ok(ignore.includes(`!${file}`), file)
  t.end()
})

test('what the program imports is what its package.json installs, in the versions that the package permits', (t) => {
  const imported = [...read('site.mjs').matchAll(/from '([^'/]+)/g)].map(([, name = '']) => name)
  const { dependencies } = JSON.parse(read('package.json')) as { dependencies: Record<string, string> }
  const besides = ['better-sqlite3', 'kysely', 'pg']
  t.same(
    [...new Set([...imported.filter((name) => !isBuiltin(name.replace('node:', ''))), ...besides])].sort(),
    Object.keys(dependencies)
  )
  const printed = readPage('docs/deployment.md').blocks.find(({ language }) => language === 'js')?.content
  t.equal(`${printed}\n`, read('site.mjs'))
  t.end()
})

test('D-240: the image starts, its health check says how it is, and every probe is answered', async (t) => {
  const { address, variables } = await start(t)
  t.equal(await codeOf(image.healthcheck, variables), 0)
  t.equal(await codeOf(image.healthcheck, { ...variables, PORT: String(await freePort()) }), 1, 'nobody answers')
  const { startupProbe, readinessProbe, livenessProbe } = containerOf()
  for (const { httpGet: { path } } of [startupProbe, readinessProbe, livenessProbe]) {
    t.equal((await fetch(address + path)).status, 200, path)
  }
  rmSync(variables.DATABASE_URL)
  const statusOf = async ({ httpGet: { path } }: Probe): Promise<number> => (await fetch(address + path)).status
  await waitFor('it is not ready', async () => await statusOf(readinessProbe) === 503, 2000)
  t.equal(await statusOf(livenessProbe), 200, 'a database that is away restarts nothing')
  t.equal(await codeOf(image.healthcheck, variables), 0)
})

/** Whether this machine lets a process be the first of a namespace of its own, as it is in a container. */
const hasNamespaces = spawnSync('unshare', ['--pid', '--fork', 'true']).status === 0

/** Starts the program as the process with the id 1, if the machine permits it. */
async function startFirst (t: Test) {
  const cwd = build(t)
  const port = String(await freePort())
  const namespace = hasNamespaces ? ['unshare', '--pid', '--fork', '--kill-child', '--'] : []
  const [program = '', ...args] = [...namespace, process.execPath, ...image.command.slice(1)]
  const env = { PATH: process.env['PATH'], ...image.env, DATABASE_URL: join(cwd, 'site.db'), PORT: port }
  const child = spawn(program, args, { cwd, env, stdio: ['ignore', 'pipe', 'inherit'] })
  t.teardown(() => { child.kill('SIGKILL') })
  const listening = createInterface(child.stdout)
  for await (const line of listening) if (line.includes('Server listening')) break
  child.stdout.resume()
  const pid = hasNamespaces
    ? Number(spawnSync('pgrep', ['-P', String(child.pid)], { encoding: 'utf8' }).stdout)
    : Number(child.pid)
  return { child, pid, url: `http://127.0.0.1:${port}/api/note/?limit=1` }
}

/** Ends the program, as process 1, while 50 clients ask again at once. */
async function endUnderLoad (t: Test) {
  const { child, pid, url } = await startFirst(t)
  if (hasNamespaces) t.match(readFileSync(`/proc/${pid}/status`, 'utf8'), /^NSpid:\t\d+\t1$/m)
  const agent = new Agent({ keepAlive: true, maxSockets: 50 })
  t.teardown(() => { agent.destroy() })
  const counts: Record<string, number> = {}
  const clients = Promise.all(Array.from({ length: 50 }, async () => { await askAgainAndAgain(url, agent, counts) }))
  while ((counts['200'] ?? 0) < 200) await wait(10)
  const exited = once(child, 'exit')
  const signalled = performance.now()
  process.kill(pid, 'SIGTERM')
  const [exit] = await Promise.all([exited, clients])
  return { exit, counts, took: performance.now() - signalled }
}

test('D-241: as process 1 it ends by SIGTERM with code 0, and resets none of 50 connected clients', async (t) => {
  let ended = await endUnderLoad(t)
  // On a machine that is busy with other tests, the clients may take longer than the second for which they are drained.
  for (let more = 0; more < 5 && 'ECONNRESET' in ended.counts; more++) {
    await wait(2000)
    ended = await endUnderLoad(t)
  }
  t.strictSame(ended.exit, [0, null])
  t.same(Object.keys(ended.counts).sort(), ['200', 'ECONNREFUSED'], JSON.stringify(ended.counts))
  t.ok(ended.took < secondsToEnd * 1000)
})

test('D-241: everything that stops the program gives it the time that it needs', (t) => {
  const [{ spec }] = readManifests() as [ReturnType<typeof readManifests>[0]]
  const [sleep, seconds] = containerOf().lifecycle.preStop.exec.command
  t.equal(sleep, 'sleep')
  t.ok(Number(spec.template?.spec.terminationGracePeriodSeconds) > Number(seconds) + secondsToEnd)
  t.ok(secondsOf(readCompose().services.site.stop_grace_period) > secondsToEnd)
  t.ok(Number(readUnit()['TimeoutStopSec']) > secondsToEnd)
  t.equal(secondsToEnd, 18)
  t.end()
})

// Those of the Compose Specification that the file uses: what Compose does not know, it refuses.
const serviceKeys = [
  'build', 'cap_drop', 'depends_on', 'environment', 'healthcheck', 'image', 'ports', 'read_only', 'restart',
  'security_opt', 'stop_grace_period', 'volumes'
]

test('the site of the compose file runs on PostgreSQL, which its health check finds', async (t) => {
  const { services: { site, postgres }, volumes } = readCompose()
  for (const service of [site, postgres]) t.same(Object.keys(service).filter((key) => !serviceKeys.includes(key)), [])
  t.same([site.build, site.command], ['.', undefined], 'CMD of the image')
  t.same(site.ports, image.ports.map((port) => `127.0.0.1:${port}:${port}`))
  t.same(site.depends_on, { postgres: { condition: 'service_healthy' } })
  t.same(postgres.volumes?.map((volume) => volume.split(':')[0]), Object.keys(volumes))
  const { POSTGRES_USER: user, POSTGRES_PASSWORD: password, POSTGRES_DB: database } = postgres.environment
  t.equal(site.environment['DATABASE_URL'], `postgres://${user}:${password}@postgres:5432/${database}`)
  const url = await requireDatabase(t, 'postgres')
  if (url === undefined) return
  const { address } = await start(t, { ...site.environment, DATABASE_URL: url })
  t.equal((await fetch(`${address}/readyz`)).status, 200)
  const [kind, ...command] = postgres.healthcheck?.test ?? []
  t.equal(kind, 'CMD')
  t.equal(await codeOf(command, { PGPORT: new URL(url).port }), 0)
  t.not(await codeOf(command, { PGPORT: String(await freePort()) }), 0)
})

test('systemd knows every setting of the unit, which starts the program as the image does', async (t) => {
  const unit = readUnit()
  t.equal(unit['ExecStart'], `/usr/bin/${image.command.join(' ')}`)
  t.ok(unit['Environment']?.includes(`DATABASE_URL=/var/lib/${unit['StateDirectory']}/`), 'it may write there')
  if (lacks(t, 'systemd')) return
  const path = join(t.testdir(), 'site.service')
  writeFileSync(path, read('site.service').replace('/usr/bin/node', process.execPath))
  const program = requirePrograms('systemd')['systemd-analyze']
  const { status, stderr } = spawnSync(program, ['verify', path], { encoding: 'utf8' })
  t.same([status, stderr], [0, ''])
})

function containerOf (): Container {
  const container = readManifests()[0]?.spec.template?.spec.containers[0]
  if (container === undefined) throw new Error('the first manifest has no container')
  return container
}

test('the manifests of Kubernetes belong together, and to the image', (t) => {
  const [deployment, service, budget] = readManifests()
  const labels = deployment?.spec.template?.metadata.labels
  t.same(service?.spec.selector, labels)
  for (const each of [deployment, budget]) t.same(each?.spec.selector, { matchLabels: labels })
  const { ports, startupProbe, readinessProbe, livenessProbe } = containerOf()
  t.same(ports.map(({ containerPort }) => String(containerPort)), image.ports)
  for (const port of [startupProbe, readinessProbe, livenessProbe].map(({ httpGet }) => httpGet.port)) {
    t.equal(port, ports[0]?.name)
  }
  t.equal(service?.spec.ports?.[0]?.targetPort, ports[0]?.name)
  t.ok(image.healthcheck.join(' ').includes(livenessProbe.httpGet.path), 'the same in both')
  t.end()
})
