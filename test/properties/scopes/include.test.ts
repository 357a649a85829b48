// @alone: takes as long as a group

import assert from 'node:assert/strict'
import fc from 'fast-check'
import tap, { test } from 'tap'
import { Draw } from '../../differential/draw.js'
import { engine } from '../../support/database.js'
import { share } from '../../support/share.js'
import { Included, isRefused } from './included.js'
import { drawIncludes, drawRequest, drawSender, type Request } from './requests.js'
import { drawResources, toObject, userOf, viewOf, type World } from './scopes.js'
import { drawModels, drawRows, type Rows } from './specs.js'
import { Twin } from './twins.js'

/** Every run sends the same requests; `PROPERTY_SEED=…` sends others, with `PROPERTY_SCENARIO=…` those of one world. */
const seed = Number(process.env['PROPERTY_SEED'] ?? 20240229)
const onlyScenario = process.env['PROPERTY_SCENARIO']
const worlds = Math.ceil(40 * share * { sqlite: 1, postgres: 1 / 3, mariadb: 1 / 3 }[engine])
const requestsEach = 60

/** On a machine with much else to do. */
tap.setTimeout(280_000)

/** How often at least each of these has to come in forty worlds, lest refusals alone be compared. */
const expected = Object.entries({
  list: 300,
  read: 50,
  'next page': 60,
  record: 500,
  'null reference': 50,
  'null outside': 250,
  refused: 300,
  'too much': 40
})

/** Some resources hide a foreign key. */
function drawWorld (draw: Draw): { readonly world: World, readonly rows: Rows } {
  const models = drawModels(draw)
  const rows = drawRows(draw, models)
  const resources = drawResources(draw, models, rows).map((resource) => {
    const links = models[resource.model]?.fields
      .filter((field) => field.kind === 'foreignKey' && field !== resource.owner) ?? []
    return links.length > 0 && draw.chance(20)
      ? { ...resource, exclude: [...resource.exclude, draw.one(links).name] }
      : resource
  })
  return { world: { models, resources }, rows }
}

async function play (draw: Draw, note: (kind: string) => void): Promise<string | undefined> {
  const { world, rows } = drawWorld(draw)
  const twin = await Twin.build(world, true)
  const asked: string[] = []
  try {
    await twin.fill(rows)
    for (let count = 0; count < requestsEach; count++) {
      const request = drawRead(draw, world, rows)
      const paths = drawPaths(draw, world, request)
      asked.push(`${request.sender} ${request.resource.path} ${String(request.id)} ${request.query} ${paths.join()}`)
      await new Included({ world, rows, twin, note }, request, paths).compare()
    }
    return undefined
  } catch (error) {
    const resources = world.resources.map(({ scopes, owner, ...resource }) => JSON.stringify({
      ...resource,
      owner: owner?.name,
      scopes: scopes && Object.fromEntries([...scopes].map(([user, scope]) => [user, toObject(scope)]))
    }))
    const reason = error instanceof Error ? error.stack : String(error)
    return [
      ...world.models.map((model) => JSON.stringify(model)), ...resources, ...rows.map((all) => JSON.stringify(all)),
      asked.at(-1), reason
    ].join('\n')
  } finally {
    await twin.close()
  }
}

/** Paths that are permitted, more often than not. */
function drawPaths (draw: Draw, world: World, { resource }: Request): readonly string[] {
  const drawn = Array.from({ length: 6 }, () => drawIncludes(draw, world.models, resource.model))
  return drawn.find((paths) => !isRefused(world, resource, paths)) ?? drawn[0] as readonly string[]
}

/** A list or a read without related records. */
function drawRead (draw: Draw, world: World, rows: Rows): Request {
  for (;;) {
    const [resource, sender] = [draw.one(world.resources), drawSender(draw)]
    const view = viewOf(world, resource, userOf(resource, sender, true))
    const request = drawRequest(draw, { world, rows, view }, resource, sender)
    if (request.method === 'GET') {
      return { ...request, query: request.query.split('&').filter((part) => !part.startsWith('include=')).join('&') }
    }
  }
}

test('related records are what their own resource answers to the same user, or null where it is 404', async (t) => {
  const counts = new Map<string, number>()
  const note = (kind: string): void => { counts.set(kind, (counts.get(kind) ?? 0) + 1) }
  const total = Math.max(worlds, Number(onlyScenario ?? 0) + 1)
  for (const [number, generate] of fc.sample(fc.gen(), { seed, numRuns: total }).entries()) {
    if (onlyScenario !== undefined && number !== Number(onlyScenario)) continue
    const difference = await play(new Draw(generate), note)
    if (difference !== undefined) {
      t.fail(`PROPERTY_SEED=${seed} PROPERTY_SCENARIO=${number}: ${difference}`)
      break
    }
  }
  t.comment([...counts].sort().map(([kind, count]) => `${kind}: ${count}`).join(', '))
  if (onlyScenario !== undefined) return
  for (const [kind, least] of expected) {
    const wanted = Math.floor(least * worlds / 40)
    t.ok((counts.get(kind) ?? 0) >= wanted, `${kind}: ${counts.get(kind) ?? 0}, of at least ${wanted}`)
  }
})

test('the model of what is refused knows the simple cases', async () => {
  const base = { path: 'a', model: 0, exclude: [], owner: undefined, search: [], scopes: undefined }
  const models = [{
    name: 'Alpha',
    hasUuidKey: false,
    together: [],
    fields: [{
      name: 'one', key: 'one_id', kind: 'foreignKey' as const, nullable: true, unique: false, target: 0
    }]
  }]
  const world = { models, resources: [{ ...base, policy: 'open' as const }] }
  const [resource] = world.resources
  assert.equal(isRefused(world, resource as never, ['one__one']), false)
  assert.equal(isRefused(world, resource as never, ['one_id']), true)
  assert.equal(isRefused(world, { ...base, policy: 'open', exclude: ['one'] }, ['one']), true)
})
