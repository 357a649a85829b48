// @once: opens all engines itself
// @alone: takes as long as a group

import fc, { type GeneratorValue } from 'fast-check'
import tap, { test } from 'tap'
import { Contestant, openers, type Answer, type EngineName } from './contestants.js'
import { Draw } from './draw.js'
import { drawRequest, isReference, listAll, type Request } from './requests.js'
import { drawRows, type Row } from './rows.js'
import { deletesDiffer, models, type ModelSpec } from './specs.js'
import { atTheTime } from './stopped-time.js'
import { requireEngine } from '../support/engines/lacks.js'
import { createDatabase } from '../support/engines/test-database.js'
import { share } from '../support/share.js'

/**
 * Every run sends the same requests; `PROPERTY_SEED=…` sends others, with `PROPERTY_SCENARIO=…` those of one scenario
 * only.
 */
const seed = Number(process.env['PROPERTY_SEED'] ?? 20240229)
const onlyScenario = process.env['PROPERTY_SCENARIO']

/** More than other random tests try: in `npm test` no other compares the engines. */
const part = Math.max(share, 1 / 4)
const requestsEach = 75
/** Some scenarios end early, so there are more than this takes. */
const requestsInAll = 1500 * part
const scenarios = 42

/** Milliseconds after which the search for fewer requests that differ is given up. */
const longest = 20_000

/** On a machine with much else to do. */
tap.setTimeout(240_000)

/** Random models, their first rows, and what is asked of them. */
interface Scenario {
  readonly specs: readonly ModelSpec[]
  readonly rows: ReadonlyArray<readonly Row[]>
  readonly requests: readonly Request[]
}

function drawScenario (generate: GeneratorValue): Scenario {
  const draw = new Draw(generate)
  const specs = draw.any(models)
  const rows = drawRows(draw, specs)
  const requests = Array.from({ length: requestsEach }, () => drawRequest(draw, { models: specs, rows }))
  return { specs, rows, requests: [...requests, ...specs.map((_spec, model) => listAll(model))] }
}

type Servers = ReadonlyMap<EngineName, string>
type Note = (request: Request, answer: Answer, spec: ModelSpec | undefined) => void

/**
 * Plays a scenario on all engines at once, up to the first request whose answers differ: what was asked, and the
 * answers, or what failed before.
 */
async function play (servers: Servers, scenario: Scenario, note: Note = () => {}): Promise<string | undefined> {
  const contestants = await Promise.all([...servers].map(async ([name, server]) =>
    new Contestant(name, scenario.specs, await openers[name](server))))
  try {
    return await compare(contestants, scenario, note)
  } catch (error) {
    return error instanceof Error ? error.stack : String(error)
  } finally {
    await Promise.all(contestants.map(async (contestant) => { await contestant.close() }))
  }
}

async function compare (
  contestants: readonly Contestant[], { specs, rows, requests }: Scenario, note: Note
): Promise<string | undefined> {
  await Promise.all(contestants.map(async (contestant) => { await contestant.prepare(rows) }))
  for (const [number, request] of requests.entries()) {
    const answers = await atTheTime(number, async () =>
      await Promise.all(contestants.map(async (contestant) => await contestant.send(request))))
    const [answer] = answers as [Answer]
    // What one database has deleted and another has not would differ from here on.
    if (request.method === 'DELETE' && isDecided(answers) && deletesDiffer(specs, request.model)) return undefined
    if (answer.status >= 500 || answers.some((other) => !isEqual(answer, other))) {
      return [
        JSON.stringify(request),
        ...answers.map((answer, index) => `${contestants[index]?.name}: ${JSON.stringify(answer)}`)
      ].join('\n')
    }
    note(request, answer, specs[request.model])
    if (isRefusedCreate(request, answer)) {
      await Promise.all(
        contestants.map(async (contestant) => { await contestant.skipTo(request.model, (number + 2) * 100) })
      )
    }
  }
  return undefined
}

const isEqual = (left: Answer, right: Answer): boolean => JSON.stringify(left) === JSON.stringify(right)

/** D-67: whether records that go as well can refuse a delete is up to the engine. */
function isDecided (answers: readonly Answer[]): boolean {
  const statuses = new Set(answers.map(({ status, body }) =>
    status === 409 && body.includes('REST_MODELS_STILL_REFERENCED') ? 'refused' : status))
  return statuses.size === 2 && statuses.has(204) && statuses.has('refused')
}

/** A create that the database has refused uses up a key on some engines. */
function isRefusedCreate ({ method }: Request, { body }: Answer): boolean {
  return method === 'POST' && /"REST_MODELS_(NOT_UNIQUE|UNKNOWN_REFERENCE|CONSTRAINT)"/.test(body)
}

/** The scenario with as few requests as still differ. */
async function shrink (servers: Servers, scenario: Scenario): Promise<Scenario> {
  const deadline = performance.now() + longest
  let smallest = scenario
  for (let size = Math.ceil(scenario.requests.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let start = 0; start < smallest.requests.length && performance.now() < deadline;) {
      const smaller = { ...smallest, requests: smallest.requests.toSpliced(start, size) }
      if (await play(servers, smaller) === undefined) start += size
      else smallest = smaller
    }
  }
  return smallest
}

async function explain (servers: Servers, scenario: Scenario): Promise<string> {
  const { specs, rows, requests } = await shrink(servers, scenario)
  const difference = await play(servers, { specs, rows, requests })
  return [
    'models:', ...specs.map((spec) => JSON.stringify(spec)), 'rows:', ...rows.map((all) => JSON.stringify(all)),
    'requests:', ...requests.map((request) => JSON.stringify(request)), 'differs:', difference
  ].join('\n')
}

/** What a request was about, and how it was answered. */
function kindsOf (request: Request, { status, headers, body }: Answer, spec: ModelSpec | undefined): string[] {
  const { method, path, query } = request
  const isList = method === 'GET' && status === 200 && body.startsWith('{"meta"')
  const hasRecords = isList && !body.includes('"objects":[]')
  const includes = valueOf(query, 'include').split(',').map((path) => path.split('__')[0])
  return [
    `${status}`, `${method} ${status}`,
    ...path.some(isReference) && status < 300 ? [`${method} by ${spec?.key} key`] : [],
    ...headers['etag'] === undefined ? [] : ['with a tag'],
    ...isList ? [hasRecords ? 'list with records' : 'empty list'] : [],
    ...hasRecords && includes.some((name) => body.includes(`"${name}":{`)) ? ['list with related records'] : [],
    ...hasRecords && valueOf(query, 'search').trim() !== '' ? ['search with records'] : [],
    ...isList && body.includes('"capped":') ? ['list with a count'] : []
  ]
}

/** The value of a parameter as text; empty if it is not there. */
function valueOf (query: Request['query'], name: string): string {
  if (typeof query === 'string') return ''
  const [, value = []] = query.find(([own]) => own === name) ?? []
  return value.map((part) => isReference(part) ? 'key' : part).join('')
}

/** How often at least each of these has to come, lest refusals alone be compared. */
const expected = Object.entries({
  'list with records': 240,
  'empty list': 100,
  'list with a count': 25,
  'list with related records': 6,
  'search with records': 2,
  200: 500,
  201: 40,
  'PUT 200': 15,
  'PATCH 200': 15,
  204: 15,
  400: 250,
  401: 60,
  403: 15,
  404: 80,
  409: 35,
  412: 2,
  'with a tag': 40,
  'POST 400': 40,
  'POST 409': 15,
  'DELETE 409': 4,
  'GET by text key': 5,
  'GET by fields key': 5
})

test('D-59: all engines answer random requests to random models with the same status, headers and bytes', async (t) => {
  const urls = { postgres: await requireEngine(t, 'postgres'), mariadb: await requireEngine(t, 'mariadb') }
  const servers = new Map<EngineName, string>([['sqlite', '']])
  for (const name of ['postgres', 'mariadb'] as const) {
    const { [name]: server } = urls
    if (server === undefined) continue
    const { url, drop } = await createDatabase(server)
    t.teardown(drop)
    servers.set(name, url)
  }
  if (servers.size === 1) return
  const counts = new Map<string, number>()
  let total = 0
  const note: Note = (request, answer, spec) => {
    total += 1
    for (const kind of kindsOf(request, answer, spec)) counts.set(kind, (counts.get(kind) ?? 0) + 1)
  }
  for (const [
    number, generate
  ] of fc.sample(fc.gen(), { seed, numRuns: Math.max(scenarios, Number(onlyScenario ?? 0) + 1) }).entries()) {
    if (onlyScenario === undefined ? total >= requestsInAll : number !== Number(onlyScenario)) continue
    const scenario = drawScenario(generate)
    const difference = await play(servers, scenario, note)
    if (difference !== undefined) {
      t.fail(`PROPERTY_SEED=${seed} PROPERTY_SCENARIO=${number}`, {
        difference, smallest: await explain(servers, scenario)
      })
    }
  }
  t.comment(
    `${total} requests with seed ${seed}: ${[...counts].sort().map(([kind, count]) => `${kind}: ${count}`).join(', ')}`
  )
  if (onlyScenario !== undefined) return
  t.ok(total >= requestsInAll, `${total} requests`)
  for (const [kind, wanted] of expected) {
    // A part of the requests varies more.
    const least = part === 1 ? wanted : Math.floor(wanted * part / 3)
    t.ok((counts.get(kind) ?? 0) >= least, `${kind}: ${counts.get(kind) ?? 0}, of at least ${least}`)
  }
})
