import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import Database from 'better-sqlite3'

/**
 * What `npm run sqlmap` runs: sqlmap against the example app, which is to find nothing, and against a route that it
 * must find open.
 */

interface Target {
  readonly name: string
  readonly path: string
  readonly options?: readonly string[]
}

const targets: readonly Target[] = [
  { name: 'filters, and the headers User-Agent and Referer', path: '/api/message/?id=1&content__like=by' },
  { name: 'a filter through a join', path: '/api/message/?user__username=alice' },
  { name: 'an ordering and a page', path: '/api/message/?ordering=id&limit=5&page=1' },
  { name: 'an id in a path', path: '/api/message/1*/' },
  {
    name: 'a JSON body',
    path: '/api/message/',
    options: [
      '--method=POST', '--data={"content":"a"}', '--header=Content-Type: application/json', '--auth-type=basic',
      '--auth-cred=alice:alice', '-p', 'content'
    ]
  }
]
/** Milliseconds for one target. */
const longest = 240_000

const folder = mkdtempSync(join(tmpdir(), 'sqlmap-'))
try {
  process.exitCode = await run() ? 0 : 1
} finally {
  rmSync(folder, { recursive: true })
}

async function run (): Promise<boolean> {
  if (spawnSync('sqlmap', ['--version'], { stdio: 'ignore' }).error !== undefined) {
    console.error('sqlmap is missing; Debian has it: apt-get install sqlmap')
    return false
  }
  const found = await controlIsFound()
  console.log('a route that puts a parameter into its SQL: ' +
    `${found ? 'found open, as it is' : 'not found open, so this proves nothing'}`)
  const site = await startSite()
  let clean = true
  for (const { name, path, options = [] } of targets) {
    const verdict = await sqlmap(`${site.address}${path}`, options)
    console.log(`${name}: ${verdict}`)
    clean &&= verdict === 'nothing found'
  }
  const [requests, failures] = await site.stop()
  console.log(`${requests} requests, ${failures} of them answered with 5xx`)
  return found && clean && failures === 0 && requests > 1000
}

type Verdict = 'nothing found' | 'INJECTABLE' | `no result: ${string}`

async function sqlmap (url: string, options: readonly string[]): Promise<Verdict> {
  const child = spawn('sqlmap', [
    '-u', url, '--level=3', '--risk=2', '--batch', '--flush-session', '--threads=4', '--disable-coloring',
    `--output-dir=${folder}`, ...options
  ], { env: { ...process.env, TMPDIR: folder }, stdio: ['ignore', 'pipe', 'pipe'], timeout: longest })
  let said = ''
  child.stdout.on('data', (chunk: Buffer) => { said += chunk.toString() })
  child.stderr.resume()
  await once(child, 'close')
  if (/identified the following injection point|is vulnerable/.test(said)) return 'INJECTABLE'
  return /all tested parameters do not appear to be injectable/.test(said)
    ? 'nothing found'
    : `no result: ${said.trim().split('\n').slice(-4).join(' ')}`
}

/** Whether sqlmap, used as it is below, finds what is there to be found. */
async function controlIsFound (): Promise<boolean> {
  const db = new Database(':memory:')
  db.exec("create table message (id integer primary key, content text); insert into message values (1, 'a'), (2, 'b')")
  const server = createServer((request, response) => {
    const id = new URL(request.url ?? '/', 'http://localhost').searchParams.get('id')
    try {
      response.setHeader('content-type', 'application/json')
        .end(JSON.stringify(db.prepare(`select content from message where id = ${id}`).all()))
    } catch {
      response.writeHead(400).end()
    }
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const verdict = await sqlmap(`http://127.0.0.1:${(server.address() as AddressInfo).port}/?id=1`, [
    '-p', 'id', '--technique=B'
  ])
  server.closeAllConnections()
  server.close()
  db.close()
  return verdict === 'INJECTABLE'
}

interface Site {
  readonly address: string
  /** Ends it. @returns how many requests it has answered, and how many of them with 5xx */
  stop (): Promise<readonly [requests: number, failures: number]>
}

/** The example app on a free port and an empty database. */
async function startSite (): Promise<Site> {
  const main = fileURLToPath(new URL('../../dist/examples/site/main.js', import.meta.url))
  const child: ChildProcess = spawn(process.execPath, [main], {
    env: { ...process.env, PORT: '0', DATABASE_URL: `sqlite:${join(folder, 'site.db')}` },
    stdio: ['ignore', 'pipe', 'inherit']
  })
  if (child.stdout === null) throw new Error('There is no output to read')
  const statuses: number[] = []
  const address = await new Promise<string>((resolve, reject) => {
    child.once('exit', () => { reject(new Error('The example app does not start')) })
    createInterface(child.stdout as NodeJS.ReadableStream).on('line', (line) => {
      const status = /"status":(\d{3})/.exec(line)?.[1]
      if (status !== undefined) statuses.push(Number(status))
      const found = /The example site is on (\S+)/.exec(line)?.[1]
      if (found !== undefined) resolve(found)
    })
  })
  return {
    address,
    stop: async () => {
      child.kill()
      await once(child, 'close')
      return [statuses.length, statuses.filter((status) => status >= 500).length]
    }
  }
}
