import assert from 'node:assert/strict'
import fc from 'fast-check'
import { test } from 'tap'
import { buildApp, type TestApp } from '../support/site.js'
import { share } from '../support/share.js'
import { holds } from './holds.js'
import { anyText, modelledKinds } from './kinds.js'
import { fill, queryString, registerWorld, world, worldModels, type WorldRecord } from './world.js'

interface Envelope {
  readonly meta: { readonly page: number, readonly next: string, readonly previous: string }
  readonly objects: readonly WorldRecord[]
}

const names = [...modelledKinds.filter((kind) => kind !== 'json'), 'link', 'twin', 'id']
/** Up to six different columns, each in one direction. */
const orderings = fc.uniqueArray(fc.tuple(fc.constantFrom('', '-'), fc.constantFrom(...names)), {
  maxLength: 6, selector: ([, name]) => name
})
  .map((columns) => columns.map((column) => column.join('')).join())
const filters = fc.constantFrom<ReadonlyArray<[string, string]>>(
  [], [], [], [['boolean', 'true']], [['link__text__ne', 'a']], [['integer__gte', '0'], ['text__ilike', 'A%']],
  [['twin__link__is', 'null']])

async function envelope (app: TestApp, parameters: ReadonlyArray<readonly [string, string]>): Promise<Envelope> {
  return await follow(app, `/api/near/?${queryString(parameters)}`)
}

async function follow (app: TestApp, url: string): Promise<Envelope> {
  const reply = await app.get(url)
  assert.equal(reply.statusCode, 200, `${url}: ${reply.body}`)
  return reply.json()
}

test('pages by cursors are the whole list, whatever the records, the ordering and the limit', async (t) => {
  const app = await buildApp(t, { models: worldModels, register: registerWorld })
  await holds(t, 250, fc.asyncProperty(world({ near: 20 }), orderings, filters, fc.integer({ min: 1, max: 9 }), async (
    rows, ordering, filter, limit
  ) => {
    await fill(app.db, rows)
    const query: ReadonlyArray<[string, string]> = [...filter, ['ordering', ordering]]
    const whole = await envelope(app, [...query, ['limit', '100']])
    const pages = [await envelope(app, [...query, ['limit', String(limit)], ['after', '']])]
    for (let next = pages[0]?.meta.next; next !== undefined && next !== ''; next = pages.at(-1)?.meta.next) {
      assert.ok(/[?&]after=/.test(next) || JSON.stringify(pages).includes('\ufffd'), next)
      pages.push(await follow(app, next))
    }
    assert.deepEqual(pages.flatMap(({ objects }) => objects), whole.objects)
    assert.deepEqual(pages.map(({ meta }) => meta.page), pages.map((_page, index) => index + 1))
    assert.equal(pages.length, Math.max(1, Math.ceil(whole.objects.length / limit)))
  }))
})

test('a cursor that was made up leads to a page, or is refused before any statement', async (t) => {
  const app = await buildApp(t, { models: worldModels, register: registerWorld })
  const rows = fc.sample(world({ near: 20 }), { numRuns: 1, seed: 1 })[0]
  if (rows !== undefined) await fill(app.db, rows)
  const encoded = (content: unknown): string => Buffer.from(JSON.stringify(content)).toString('base64url')
  const value = fc.oneof(
    fc.constantFrom(
      null, '1', '-1', '0', 'true', '9007199254740993', '1e308', '2024-02-29', '2024-02-29 10:00:00', '0.10', ''
    ),
    anyText, fc.jsonValue()
  )
  const made = fc.oneof(
    {
      weight: 6,
      arbitrary: fc.tuple(
        orderings, fc.oneof(fc.integer({ min: -1, max: 9 }), fc.double()), fc.array(value, { maxLength: 7 })
      )
    },
    {
      weight: 1,
      arbitrary: fc.tuple(
        orderings, fc.constant(2), fc.array(fc.constantFrom('1', null), { minLength: 1, maxLength: 7 })
      )
    }
  ).map(([ordering, page, values]) => {
    const [named] = ordering.split(/(?<=(?:^|,)-?id),/)
    const full = [named, ...(/(^|,)-?id$/.test(named ?? '') ? [] : ['id'])].filter((name) => name !== '').join()
      .replace(/\b(link|twin)\b/g, '$1_id')
    return { ordering, after: encoded([page, full, ...values]) }
  })
  const anything = fc.oneof(made, fc.record({
    ordering: orderings,
    after: fc.oneof(anyText, fc.base64String(), fc.json().map((text) => Buffer.from(text).toString('base64url')))
  }))
  let answered = 0
  await holds(t, 1500, fc.asyncProperty(anything, async ({ ordering, after }) => {
    app.forget()
    const reply = await app.get(`/api/near/?${queryString([['ordering', ordering], ['after', after], ['limit', '3']])}`)
    assert.ok([200, 400].includes(reply.statusCode), `${reply.statusCode}: ${reply.body}`)
    if (reply.statusCode === 400) assert.equal(reply.json().code, 'REST_MODELS_INVALID_PAGE')
    assert.equal(app.statements.length, reply.statusCode === 200 ? 1 : 0)
    if (reply.statusCode === 200) answered += 1
  }))
  t.ok(answered > 10 * share, `${answered} were answered`)
})
