// @once: about bodies, which are read before any statement

import assert from 'node:assert/strict'
import fc from 'fast-check'
import { test } from 'tap'
import { userAuth } from '../../lib/index.js'
import { share } from '../support/share.js'
import { buildApp, User, type TestApp } from '../support/site.js'
import {
  bodies, bodyText, clashes, faultyFields, fieldOf, Paper, paperRows, rules, Shelf, takenToken, type Entry
} from './bodies.js'
import { holds } from './holds.js'
import { queryString } from './world.js'

const build = async (t: Parameters<typeof buildApp>[0]): Promise<TestApp> => await buildApp(t, {
  models: [User, Shelf, Paper],
  register: (registry) =>
    registry.register(Shelf).register(Paper, { auth: userAuth(User), ownerField: 'owner', readOnly: ['stamp'] }),
  rows: paperRows
})

/** The ways in which a body may be sent. */
const ways: ReadonlyArray<(text: string) => { body: string, headers: Record<string, string> }> = [
  (body) => ({ body, headers: { 'content-type': 'application/json' } }),
  (body) => ({ body, headers: { 'content-type': 'text/plain' } }),
  (body) => ({ body, headers: {} }),
  (text) => ({
    body: queryString([['data', text]]), headers: { 'content-type': 'application/x-www-form-urlencoded; charset=utf-8' }
  })
]

/** Statuses that the rules permit for a body, and the fields that the answer must name. */
function verdict (entries: readonly Entry[], operation: 'create' | 'update'): { statuses: number[], fields: string[] } {
  const faulty = [...faultyFields(entries, operation)].sort()
  if (faulty.length > 0) return { statuses: [400], fields: faulty }
  const clashing = clashes(entries)
  if (clashing.length === 0) return { statuses: [operation === 'create' ? 201 : 200], fields: [] }
  return { statuses: clashing.map((field) => field === 'token' ? 409 : 400), fields: clashing }
}

const reset = async ({ db }: TestApp): Promise<void> => {
  await db.deleteFrom('paper').execute()
  await db.insertInto('paper').values(paperRows.paper).execute()
}

for (const operation of ['create', 'update'] as const) {
  test(`${operation}: a body is accepted exactly if the rules say so, and all its faults are named`, async (t) => {
    const app = await build(t)
    const seen = { accepted: 0, refused: 0, clashing: 0 }
    await holds(t, 2000, fc.asyncProperty(bodies, fc.constantFrom(...ways), async (entries, way) => {
      await reset(app)
      const text = bodyText(entries)
      const { body, headers } = way(text)
      const reply = operation === 'create'
        ? await app.post('/api/paper/', body, { as: 'alice', headers })
        : await app.put('/api/paper/1/', body, { as: 'alice', headers })
      const { statuses, fields } = verdict(entries, operation)
      assert.ok(
        statuses.includes(reply.statusCode),
        `${text} should be ${statuses.join(' or ')}: ${reply.statusCode} ${reply.body}`
      )
      const named =
        [...new Set<string>((reply.json().details ?? []).map(({ field }: { field: string }) => fieldOf(field)))].sort()
      if (faultyFields(entries, operation).size > 0) assert.deepEqual(named, fields, text)
      else {
        assert.ok(
          named.length === Math.min(1, fields.length) && named.every((field) => fields.includes(field)),
          `${text}: ${reply.body}`
        )
      }
      seen[reply.statusCode < 300
        ? 'accepted'
        : statuses[0] === 400 && clashes(entries).length === 0 ? 'refused' : 'clashing'] += 1
    }))
    for (const [kind, count] of Object.entries(seen)) t.ok(count > 50 * share, `${count} bodies were ${kind}`)
  })
}

test('each value on either side of a rule is judged by the rule alone', async (t) => {
  const app = await build(t)
  const right: Record<string, unknown> = { title: 'ab', count: 0, data: 1, shelf: 1 }
  for (const [field, { right: accepted, wrong, isNullable }] of Object.entries(rules)) {
    const values = [
      ...accepted.map((value) => [value, 201]), ...wrong.map((value) => [value, 400]),
      ...(isNullable ? [[null, 201]] : [])
    ]
    for (const [value, status] of values) {
      const reference = value === 3 && ['shelf', 'next'].includes(field)
      const expected = reference ? 400 : value === takenToken ? 409 : status
      const text = bodyText(Object.entries({ ...right, [field]: value }))
      const reply = await app.post('/api/paper/', text, { as: 'alice' })
      assert.equal(reply.statusCode, expected, `${text} ${reply.body}`)
      await reset(app)
    }
  }
  t.pass(`${Object.keys(rules).length} fields`)
})
