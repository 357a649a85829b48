// @once: opens PostgreSQL itself
// @alone: starts processes, and needs a build
// @long: waits until a server has failed, and until requests are refused

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { test, type Test } from 'tap'
import { readPage } from '../documentation/page.js'
import { openProxy, type TcpProxy } from '../failover/tcp-proxy.js'
import { requireDatabase } from '../support/engines/lacks.js'
import { waitFor } from '../support/engines/wait-for.js'
import { startServer } from '../support/process.js'

interface Site {
  readonly address: string
  /** What the program has printed. */
  output (): string
  /** Of the log of the plugin. */
  events (): ReadonlyArray<Readonly<Record<string, unknown>>>
  list (): Promise<number>
  create (message: string): Promise<number>
}

/** Starts the program of a section of the page, as it is printed. */
async function startRecipe (t: Test, section: string, url: string): Promise<Site> {
  const block = readPage('docs/observability.md').blocks
    .find((block) => block.section === section && block.language === 'js')
  const folder = mkdtempSync(join(resolve('dist'), 'recipe-'))
  t.teardown(() => { rmSync(folder, { recursive: true }) })
  writeFileSync(join(folder, 'site.mjs'), block?.content ?? '')
  const { address, output } = await startServer(t, 'site.mjs', { cwd: folder, env: { DATABASE_URL: url } })
  const status = async (sent: Promise<Response>): Promise<number> => {
    const answer = await sent
    await answer.arrayBuffer()
    return answer.status
  }
  return {
    address,
    output,
    events: () => output().split('\n').filter((line) => line.includes('"event":'))
      .map((line) => JSON.parse(line) as Record<string, unknown>),
    list: async () => await status(fetch(`${address}/api/note/`)),
    create: async (message) =>
      await status(fetch(`${address}/api/note/`, { method: 'POST', body: JSON.stringify({ message }) }))
  }
}

interface TwoProxies {
  readonly url: string
  readonly proxies: readonly [TcpProxy, TcpProxy]
}

/** A URL of two hosts, which are two proxies in front of the same server. */
async function openTwoProxies (t: Test): Promise<TwoProxies | undefined> {
  const url = await requireDatabase(t, 'postgres')
  if (url === undefined) return undefined
  const proxies = [await openProxy(t, url), await openProxy(t, url)] as const
  const hosts = proxies.map(({ port }) => `127.0.0.1:${port}`).join(',')
  const { username, password, pathname, search } = new URL(url)
  return { url: `postgres://${username}:${password}@${hosts}${pathname}${search}`, proxies }
}

/** Returns a number that `/metrics` shows: the sum over all lines with these labels. */
async function metric ({ address }: Site, name: string, ...labels: readonly string[]): Promise<number> {
  const text = await (await fetch(`${address}/metrics`)).text()
  return text.split('\n').filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `))
    .filter((line) => labels.every((label) => line.includes(label)))
    .reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0)
}

test('R-45: a fail-over and an overload are read from the metrics of Prometheus, and from the log', async (t) => {
  const site = await openTwoProxies(t)
  if (site === undefined) return
  const { url, proxies: [first, second] } = site
  const recipe = await startRecipe(t, 'Prometheus', url)
  const { list, create, events } = recipe
  const requests = 'http_request_duration_seconds_count'
  const statements = 'rest_models_statement_duration_seconds_count'

  await t.test('a list and a create are counted', async (t) => {
    t.same([await create('private 1'), await list(), await list()], [201, 200, 200])
    t.equal(await metric(recipe, requests, 'method="POST"', 'status="201"'), 1)
    t.equal(await metric(recipe, statements, 'operation="create"', 'resource="note"', 'outcome="done"'), 1)
    t.equal(await metric(recipe, statements, 'operation="list"', 'outcome="done"'), 2)
    t.equal(await metric(recipe, requests, 'status="200"', 'route="/api/note/"'), 2)
  })

  await t.test('of a fail-over: what, when, how long, and how many were refused and repeated', async (t) => {
    const statuses: number[] = []
    const before = Date.now()
    // Its answer never comes: nobody knows whether it was done, and it is not repeated.
    const cuts = first.cutBehind('private 5')
    const asked = Array.from({ length: 20 }, async (_, number) => {
      await sleep(number * 10)
      statuses.push(await (number % 2 === 0 ? list() : create(`private ${number + 2}`)))
    })
    await waitFor('a write is cut', async () => cuts() > 0)
    first.close()
    await Promise.all(asked)
    t.equal(await list(), 200)
    const refused = statuses.filter((status) => status === 503).length
    t.ok(refused > 0)
    t.same(statuses.filter((status) => ![200, 201, 503].includes(status)), [])
    t.equal(await metric(recipe, requests, 'status="503"'), refused, `${refused} were refused`)
    const meaning = async (code: string): Promise<number> => await metric(recipe, 'http_unavailable_total', code)
    t.ok(await meaning('REST_MODELS_OUTCOME_UNKNOWN') > 0, 'the write that was cut')
    t.equal(await meaning('REST_MODELS'), refused)
    const [old, fresh] = [first, second].map(({ port }) => `127.0.0.1:${port}`)
    t.equal(await metric(recipe, 'rest_models_node_changes_total', 'state="left"', `node="${old}"`), 1)
    t.equal(await metric(recipe, 'rest_models_node_changes_total', 'state="found"', `node="${fresh}"`), 1)
    const outage = await metric(recipe, 'rest_models_outage_seconds')
    t.ok(outage > 0 && outage < 5, `it took ${outage} s`)
    const repeated = await metric(recipe, 'rest_models_retries_total', 'resource="note"')
    const lines = events().filter(({ time }) => Number(time) >= before)
    t.match(lines.filter(({ event }) => event === 'node').map(({ msg }) => msg), [
      new RegExp(`^Database server ${old} does not serve: (?:CONNECTION_LOST|NO_ANSWER|ECONN)`),
      new RegExp(`^Changed from database server ${old} to ${fresh}, after \\d+ ms$`)
    ])
    t.equal(lines.filter(({ event }) => event === 'retry').length, repeated, `${repeated} were repeated`)
    const found = lines.find(({ state }) => state === 'found')
    t.equal(Number(found?.['duration']) / 1000, outage, 'log and metrics say the same')
  })

  await t.test('of an overload: which queue refuses, and how many', async (t) => {
    const client = new pg.Client({ connectionString: second.url })
    await client.connect()
    await client.query('begin; lock table note in access exclusive mode')
    const asked = Array.from({ length: 90 }, async () => await list())
    await waitFor('connections are missed', async () =>
      await metric(recipe, 'rest_models_queue_duration_seconds_count', 'queue="connections"', 'outcome="late"') > 1)
    await client.query('rollback')
    await client.end()
    await Promise.all(asked)
    const lines = events().filter(({ event }) => event === 'queue')
    t.match(lines, [{ level: 40, queue: 'connections', outcome: 'late', count: 1, msg: /^Refused 1 in queue/ }])
    t.ok(await metric(recipe, 'rest_models_retries_total', 'operation="list"', 'outcome="done"') > 0)
    t.equal(await list(), 200)
  })
  t.ok(events().length > 3)
  t.notMatch(JSON.stringify(events()), /private/, 'no line holds a value')
})

test('spans of statements stand below those of their requests, and a change of the server is an event', async (t) => {
  const site = await openTwoProxies(t)
  if (site === undefined) return
  const { output, list, create } = await startRecipe(t, 'OpenTelemetry', site.url)
  t.same([await create('private 1'), await list()], [201, 200])
  /** The trace and the parent of the last span with a name. */
  const spanOf = (name: string): Readonly<Record<string, string | undefined>> => {
    const text = output().split(/^\{$/m).findLast((part) => part.includes(` name: '${name}'`)) ?? ''
    return {
      ...text.match(/traceId: '(?<trace>\w+)'/)?.groups,
      ...text.match(/ id: '(?<id>\w+)'/)?.groups,
      ...text.match(/spanId: '(?<parent>\w+)'/)?.groups,
      text
    }
  }
  await waitFor('the spans are written', async () => spanOf('list note')['id'] !== undefined)
  for (const name of ['create note', 'list note']) {
    const { trace, parent, text } = spanOf(name)
    t.match(String(parent), /^\w{16}$/, name)
    t.ok(output().includes(` id: '${parent}'`), 'its parent is a span of the request')
    t.ok(output().split(`traceId: '${trace}'`).length > 2, 'and of the same trace')
    t.notMatch(String(text), /select|insert|private/)
  }
  site.proxies[0].close()
  t.equal(await list(), 200)
  await waitFor('an event tells of the other server', async () => /name: 'node'/.test(output()))
  t.match(output(), /state: 'left'/)
})
