import assert from 'node:assert/strict'
import fc from 'fast-check'
import { test } from 'tap'
import { defineModel, integer, json, text } from '../../lib/index.js'
import { buildApp, type TestApp } from '../support/site.js'
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

const written = (ordering: Ordering): string =>
  ordering.map(({ name, descending }) => `${descending ? '-' : ''}${name}`).join(',')

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

test('pages by links, in either direction, are the whole list, in the order that was asked for', async (t) => {
  const app = await buildApp(t, { models: worldModels, register: registerWorld })
  await holds(t, 120, fc.asyncProperty(world({ near: 25 }), orderings, fc.integer({ min: 1, max: 12 }), async (
    rows, ordering, limit
  ) => {
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

    const back = await follow(
      app, `/api/near/?${queryString([['page', String(forth.length)], ['limit', String(limit)], ...order])}`,
      'previous'
    )
    assert.deepEqual(back.reverse(), forth)
  }))
})

test('the links of a filtered list stay on the filtered list', async (t) => {
  const app = await buildApp(t, { models: worldModels, register: registerWorld })
  const filters = fc.constantFrom<Array<[string, string]>>(
    [['boolean', 'true']], [['text__in', 'a,A,"a,b","""a""",\\,%,é'], ['ordering', '-text']],
    [['link__text__ne', 'a & b=c#d?']],
    [['integer__gte', '0'], ['integer__gte', '1'], ['ordering', 'date,-id']],
    [['text__ilike', 'A%'], ['twin__is', 'NULL']])
  await holds(
    t, 60,
    fc.asyncProperty(world({ near: 20 }), filters, fc.integer({ min: 1, max: 3 }), async (rows, filter, limit) => {
      await fill(app.db, rows)
      const whole = await envelope(app, `/api/near/?${queryString([...filter, ['limit', '100']])}`)
      const forth = await follow(app, `/api/near/?${queryString([...filter, ['limit', String(limit)]])}`, 'next')
      assert.deepEqual(forth.flatMap(({ objects }) => objects), whole.objects)
    })
  )
})

const Text = defineModel('Text', {
  title: text({ nullable: true }), body: text(), data: json({ nullable: true }), rank: integer()
})
const pageBytes = 1000

test('pages of long records are the whole list, and only a page of one record exceeds the limit', async (t) => {
  const app = await buildApp(t, {
    models: [Text], register: (registry) => registry.register(Text), options: { limits: { pageBytes } }
  })
  const size = fc.oneof({ weight: 3, arbitrary: fc.nat(30) }, { weight: 2, arbitrary: fc.nat(400) }, {
    weight: 1, arbitrary: fc.nat(2500)
  })
  const units = fc.constantFrom('a', 'é', '\u{1f600}', '\u0001')
  const texts = fc.tuple(units, size).map(([unit, size]) => unit.repeat(Math.floor(size / Buffer.byteLength(unit))))
  const rows = fc.array(
    fc.record({
      title: fc.option(texts), body: texts, data: fc.option(texts.map((text) => JSON.stringify(text))), rank: fc.nat(3)
    }),
    { minLength: 1, maxLength: 40 }
  )
  const orderings = fc.constantFrom('id', '-id', 'rank', '-rank,id', 'title', '-title,rank,-id', 'body')
  await holds(t, 150, fc.asyncProperty(rows, orderings, fc.integer({ min: 1, max: 24 }), fc.constantFrom(
    '', '&after='
  ), async (rows, ordering, limit, after) => {
    await app.db.deleteFrom('text').execute()
    await app.db.insertInto('text').values(rows.map((row, index) => ({ id: index + 1, ...row }))).execute()
    const bytesOf = (id: number): number => {
      const { title, body, data } = rows[id - 1] ?? assert.fail()
      return Buffer.byteLength(`${title ?? ''}${body}${data ?? ''}`)
    }
    const url = `/api/text/?limit=${limit}&ordering=${ordering}${after}`
    const pages = await follow(app, url, 'next')
    const found = pages.map(({ objects }) => objects.map(({ id }) => id))
    const key = (name: string) => (record: WorldRecord) => String(record[name] ?? '')
    for (const page of found) {
      assert.ok(
        page.length === 1 || page.reduce((sum, id) => sum + bytesOf(id), 0) <= pageBytes,
        `${page.join()} of ${found.join(' | ')}`
      )
    }
    assert.deepEqual(found.flat().toSorted((a, b) => a - b), rows.map((_row, index) => index + 1))
    for (const { objects } of pages) {
      for (const { id, title, body, data } of objects) {
        assert.deepEqual([title, body, data ?? null], [
          rows[id - 1]?.title, rows[id - 1]?.body, JSON.parse(rows[id - 1]?.data ?? 'null')
        ])
      }
    }
    if (ordering === 'rank') {
      assert.deepEqual(
        pages.flatMap(({ objects }) => objects.map(key('rank'))), rows.map(({ rank }) => String(rank)).sort()
      )
    }
    // A cursor that would be too long, or a page that is told by its number, leads on with a smaller limit.
    if (pages.some(({ meta }) => meta.next.includes('page='))) return
    for (const [index, page] of found.slice(0, -1).entries()) {
      const { [index + 1]: [next = 0] = [] } = found
      assert.ok(
        page.length === limit || page.reduce((sum, id) => sum + bytesOf(id), bytesOf(next)) > pageBytes,
        'no page ends before it is full'
      )
    }
  }))
})
