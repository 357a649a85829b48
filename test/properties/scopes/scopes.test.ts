// @alone: takes as long as a group

import fc from 'fast-check'
import tap, { test } from 'tap'
import { Draw } from '../../differential/draw.js'
import { engine } from '../../support/database.js'
import { share } from '../../support/share.js'
import { Match, type Note } from './match.js'
import { drawResources, toObject, type World } from './scopes.js'
import { drawModels, drawRows, type Rows } from './specs.js'

/** Every run sends the same requests; `PROPERTY_SEED=…` sends others, with `PROPERTY_SCENARIO=…` those of one world. */
const seed = Number(process.env['PROPERTY_SEED'] ?? 20240229)
const onlyScenario = process.env['PROPERTY_SCENARIO']

/**
 * A server takes a way through sockets for each of the many statements that compare all rows: a minute for 5,000
 * requests. With a seed of your own it gets them all.
 */
const engineShare = process.env['PROPERTY_SEED'] !== undefined || engine === 'sqlite' ? 1 : 1 / 4
const requestsInAll = 5000 * share * engineShare
const requestsEach = 120
const lastRequests = 10

/** On a machine with much else to do. */
tap.setTimeout(280_000)

/** How often at least each of these has to come among 5,000 requests, lest refusals alone be compared. */
const expected = Object.entries({
  'list with records': 400,
  'list through a foreign key': 30,
  'empty list': 250,
  'next page': 70,
  'list with a count': 50,
  search: 10,
  'read 200': 100,
  'read 404 outside': 30,
  'POST 201': 90,
  'POST 201 stamped': 25,
  'POST 400 for a reference outside': 40,
  'POST would leave the scope': 50,
  'PUT 200': 120,
  'PUT 400 for a fixed field': 4,
  'PUT 400 for a reference outside': 12,
  'PUT 404 outside': 120,
  'PUT 404 meanwhile': 30,
  'PUT would leave the scope': 4,
  'DELETE 204': 25,
  'DELETE 404 outside': 30,
  'DELETE 404 meanwhile': 12,
  'DELETE 409 for rows outside': 8,
  '409 for a value outside': 8,
  'missing as outside': 200
})

/** Statements of other engines are interleaved in the tests of races. */
const onlySqlite = / meanwhile$/

/** Plays a scenario. Gives what differs, and what led there. */
async function play (draw: Draw, note: Note, isOver: () => boolean): Promise<string | undefined> {
  const models = drawModels(draw)
  const rows = drawRows(draw, models)
  const world = { models, resources: drawResources(draw, models, rows) }
  const match = await Match.start(world, rows, note)
  try {
    while (!isOver()) await match.playSome(draw)
    return undefined
  } catch (error) {
    const reason = error instanceof Error ? error.stack : String(error)
    return [...describe(world, rows), 'requests:', ...match.log.slice(-lastRequests), 'differs:', reason].join('\n')
  } finally {
    await match.end()
  }
}

function describe ({ models, resources }: World, rows: Rows): readonly string[] {
  return [
    'models:', ...models.map((model) => JSON.stringify(model)),
    'resources:', ...resources.map(({ scopes, owner, ...resource }) => JSON.stringify({
      ...resource,
      owner: owner?.name,
      scopes: scopes && Object.fromEntries([...scopes].map(([user, scope]) => [user, toObject(scope)]))
    })),
    'rows:', ...rows.map((all) => JSON.stringify(all))
  ]
}

test('each answer is that of a database from which all records outside the scopes were deleted', async (t) => {
  const counts = new Map<string, number>()
  let total = 0
  const note = (kind: string): void => {
    if (/^\d+$/.test(kind)) total += 1
    counts.set(kind, (counts.get(kind) ?? 0) + 1)
  }
  const scenarios = Math.max(2 * requestsInAll / requestsEach, Number(onlyScenario ?? 0) + 1)
  for (const [number, generate] of fc.sample(fc.gen(), { seed, numRuns: Math.ceil(scenarios) }).entries()) {
    if (onlyScenario === undefined ? total >= requestsInAll : number !== Number(onlyScenario)) continue
    const last = total + requestsEach
    const difference = await play(new Draw(generate), note, () => total >= last)
    if (difference !== undefined) {
      t.fail(`PROPERTY_SEED=${seed} PROPERTY_SCENARIO=${number}, request ${total}: ${difference}`)
      break
    }
  }
  t.comment(
    `${total} requests with seed ${seed}: ${[...counts].sort().map(([kind, count]) => `${kind}: ${count}`).join(', ')}`
  )
  if (onlyScenario !== undefined) return
  t.ok(total >= requestsInAll, `${total} requests`)
  for (const [kind, least] of expected) {
    if (engine !== 'sqlite' && onlySqlite.test(kind)) continue
    const wanted = Math.floor(least * share * engineShare)
    t.ok((counts.get(kind) ?? 0) >= wanted, `${kind}: ${counts.get(kind) ?? 0}, of at least ${wanted}`)
  }
})
