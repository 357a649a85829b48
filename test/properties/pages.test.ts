import assert from 'node:assert/strict'
import fc from 'fast-check'
import { test } from 'tap'
import { buildApp, type TestApp } from '../helper.js'
import { holds } from './holds.js'
import { idModel, kindModel, modelledKinds, type ModelledKind } from './kinds.js'
import { fill, queryString, registerWorld, world, worldModels, type WorldRecord } from './world.js'

interface Envelope {
  readonly meta: { readonly model: string, readonly page: number, readonly next: string, readonly previous: string }
  readonly objects: readonly WorldRecord[]
}

const orderable = [...modelledKinds.filter((kind) => kind !== 'json'), 'link', 'link_id', 'twin', 'id']
/** Up to four columns; one that comes twice has the same direction both times. */
const orderings = fc.tuple(fc.array(fc.constantFrom(...orderable), { maxLength: 4 }), fc.func(fc.boolean()))
  .map(([names, isDescending]) => names.map((name) => ({ name, descending: isDescending(name.replace(/_id$/, '')) })))
type Ordering = ReadonlyArray<{ readonly name: string, readonly descending: boolean }>

const written = (ordering: Ordering): string => ordering.map(({ name, descending }) => `${descending ? '-' : ''}${name}`).join(',')

/** The order that was asked for, done with an array: nulls first, the id last. */
function sorted (records: readonly WorldRecord[], ordering: Ordering): WorldRecord[] {
  return records.toSorted((left, right) => {
    for (const { name, descending } of [...ordering, { name: 'id', descending: false }]) {
      const order = compare(name, left, right)
      if (order !== 0) return descending ? -order : order
    }
    return 0
  })
}

function compare (name: string, left: WorldRecord, right: WorldRecord): number {
  const key = name === 'link' || name === 'twin' ? `${name}_id` : name
  const [first = null, second = null] = [left[key], right[key]]
  if (first === null || second === null) return Number(first !== null) - Number(second !== null)
  const { compare } = modelledKinds.includes(key as ModelledKind) ? kindModel(key as ModelledKind) : idModel
  return compare(first, second)
}

async function envelope (app: TestApp, url: string): Promise<Envelope> {
  const reply = await app.get(url)
  if (reply.statusCode !== 200) throw new Error(`${url}: ${reply.body}`)
  return reply.json()
}

/** Pages from a URL on, along their links. */
async function follow (app: TestApp, url: string, link: 'next' | 'previous'): Promise<Envelope[]> {
  const pages: Envelope[] = []
  for (let next = url; next !== ''; next = pages.at(-1)?.meta[link] ?? '') {
    pages.push(await envelope(app, next))
    if (pages.length > 100) throw new Error('the pages do not end')
  }
  return pages
}

test('pages in the order of their links, either way, are the whole list, in the order that was asked for', async (t) => {
  const app = await buildApp(t, { models: worldModels, register: registerWorld })
  await holds(t, 120, fc.asyncProperty(world({ near: 25 }), orderings, fc.integer({ min: 1, max: 12 }), async (rows, ordering, limit) => {
    await fill(app.db, rows)
    const order: Array<[string, string]> = ordering.length === 0 ? [] : [['ordering', written(ordering)]]
    const ids = sorted(rows[0], ordering).map(({ id }) => id)

    const whole = await envelope(app, `/api/near/?${queryString([['limit', '100'], ...order])}`)
    assert.deepEqual(whole.objects.map(({ id }) => id), ids)
    assert.deepEqual([whole.meta.next, whole.meta.previous], ['', ''])

    const forth = await follow(app, `/api/near/?${queryString([['limit', String(limit)], ...order])}`, 'next')
    assert.deepEqual(forth.flatMap(({ objects }) => objects), whole.objects)
    assert.deepEqual(forth.map(({ meta }) => meta.page), forth.map((_page, index) => index + 1))
    assert.ok(forth.slice(0, -1).every(({ objects }) => objects.length === limit), 'every page but the last is full')
    assert.equal(forth.length, Math.ceil(ids.length / limit))

    const back = await follow(app, `/api/near/?${queryString([['page', String(forth.length)], ['limit', String(limit)], ...order])}`, 'previous')
    assert.deepEqual(back.reverse(), forth)
  }))
})

test('the links of a filtered list stay on the filtered list', async (t) => {
  const app = await buildApp(t, { models: worldModels, register: registerWorld })
  const filters = fc.constantFrom<Array<[string, string]>>(
    [['boolean', 'true']], [['text__in', 'a,A,"a,b","""a""",\\,%,é'], ['ordering', '-text']], [['link__text__ne', 'a & b=c#d?']],
    [['integer__gte', '0'], ['integer__gte', '1'], ['ordering', 'date,-id']], [['text__ilike', 'A%'], ['twin__is', 'NULL']])
  await holds(t, 60, fc.asyncProperty(world({ near: 20 }), filters, fc.integer({ min: 1, max: 3 }), async (rows, filter, limit) => {
    await fill(app.db, rows)
    const whole = await envelope(app, `/api/near/?${queryString([...filter, ['limit', '100']])}`)
    const forth = await follow(app, `/api/near/?${queryString([...filter, ['limit', String(limit)]])}`, 'next')
    assert.deepEqual(forth.flatMap(({ objects }) => objects), whole.objects)
  }))
})
