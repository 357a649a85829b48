import assert from 'node:assert/strict'
import fc from 'fast-check'
import { test } from 'tap'
import {
  bigint, boolean, date, defineModel, integer, openAuth, text, uuid, type Json, type Model
} from '../../lib/index.js'
import { buildApp, type TestApp } from '../support/site.js'
import { holds } from './holds.js'
import { anyText, kindModel, texts, type ModelledKind } from './kinds.js'
import { queryString } from './world.js'

/** The kinds of the fields of each key, by the names of the fields. */
const keys: Readonly<Record<string, Readonly<Record<string, ModelledKind>>>> = {
  word: { id: 'text' },
  entry: { word: 'text', rank: 'integer', note: 'text' },
  stamp: { flag: 'boolean', day: 'date', big: 'bigint', code: 'uuid' }
}
const models: readonly Model[] = [
  defineModel('Word', { id: text(), size: integer() }),
  defineModel('Entry', {
    note: text({ maxLength: 60, column: 'Note' }), word: text({ maxLength: 60 }), rank: integer(), size: integer()
  }, { key: ['word', 'rank', 'note'] }),
  defineModel('Stamp', { size: integer(), flag: boolean(), day: date(), big: bigint(), code: uuid() }, {
    key: ['flag', 'day', 'big', 'code']
  })
]
const limits = { options: { limits: { inItems: 100, queryLength: 65_536 } } }
const longPaths = { server: { routerOptions: { maxParamLength: 2000 } } }

const isKey = (value: Json): boolean => typeof value !== 'string' || !['', '.', '..'].includes(value)

/** Values of one field of a key: mostly few, so that they meet. */
const part = (kind: ModelledKind): fc.Arbitrary<Json> => fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...(kind === 'text' ? texts : kindModel(kind).few).filter(isKey)) },
  { weight: 1, arbitrary: (kind === 'text' ? anyText : kindModel(kind).any).filter(isKey) }
)

type Key = readonly Json[]

/** What is sent about a key: a record to create, to change or to delete. */
type Command = readonly [method: 'post' | 'put' | 'delete', key: Key, size: number]

const keyOf = (kinds: readonly ModelledKind[]): fc.Arbitrary<Key> => fc.tuple(...kinds.map(part))
const commands = (kinds: readonly ModelledKind[]): fc.Arbitrary<readonly Command[]> => fc.array(fc.tuple(
  fc.constantFrom('post' as const, 'post' as const, 'post' as const, 'put' as const, 'delete' as const),
  keyOf(kinds), fc.integer({ min: 0, max: 9 })
), { minLength: 1, maxLength: 25 })

/** The id of a record: a text as it is, several values percent-encoded and joined. */
const idOf = (key: Key): string =>
  key.length === 1 ? String(key[0]) : key.map((value) => encodeURIComponent(String(value))).join()

/** The records that there must be, by their ids. */
type Records = Map<string, { readonly key: Key, readonly size: number }>

/** Sends a command, and compares the answer with what it must be. */
async function obey (app: TestApp, table: string, records: Records, [method, key, size]: Command): Promise<void> {
  const id = idOf(key)
  const url = `/api/${table}/${encodeURIComponent(id)}/`
  const names = Object.keys(keys[table] ?? {})
  const isThere = records.has(id)
  if (method === 'post') {
    const values = Object.fromEntries(names.map((name, at) => [name, key[at]]))
    const reply = await app.post(`/api/${table}/`, { ...values, size })
    assert.equal(reply.statusCode, isThere ? 409 : 201, reply.body)
    if (isThere) return
    assert.equal(reply.json().id, id)
    assert.equal(reply.headers.location, key.length === 1 ? url : `/api/${table}/${id}/`)
    records.set(id, { key, size })
    return
  }
  const reply = method === 'put' ? await app.put(url, { size }) : await app.delete(url)
  assert.equal(reply.statusCode, isThere ? method === 'put' ? 200 : 204 : 404, `${method} ${url}: ${reply.body}`)
  if (!isThere) return
  if (method === 'put') records.set(id, { key, size })
  else records.delete(id)
}

const quoted = (id: string): string => `"${id.replaceAll('"', '""')}"`

async function idsOf (app: TestApp, url: string): Promise<string[]> {
  const reply = await app.get(url)
  assert.equal(reply.statusCode, 200, `${url}: ${reply.body}`)
  return reply.json().objects.map(({ id }: { id: string }) => id)
}

/** Ids in the order of their values. */
function sorted (table: string, records: Records): string[] {
  const kinds = Object.values(keys[table] ?? {})
  return [...records].toSorted(([, { key: left }], [, { key: right }]) => kinds.reduce((order, kind, at) =>
    order === 0 ? kindModel(kind).compare(left[at] ?? null, right[at] ?? null) : order, 0)).map(([id]) => id)
}

/** The ids of all pages along their cursors. */
async function walk (app: TestApp, table: string, ordering: string, limit: number): Promise<string[]> {
  const ids: string[] = []
  let url = `/api/${table}/?${queryString([['ordering', ordering], ['limit', String(limit)], ['after', '']])}`
  for (let pages = 0; url !== ''; pages++) {
    assert.ok(pages < 40, 'the pages end')
    const { meta, objects } = (await app.get(url)).json()
    ids.push(...objects.map(({ id }: { id: string }) => id))
    url = meta.next
  }
  return ids
}

for (const [table, fields] of Object.entries(keys)) {
  test(`records whose key is ${Object.values(fields).join(', ')} are those of a map, after any writes`, async (t) => {
    const app = await buildApp(t, {
      models,
      ...limits,
      ...longPaths,
      register: (registry) => { for (const model of models) registry.register(model, { auth: openAuth() }) }
    })
    const others = fc.array(keyOf(Object.values(fields)), { maxLength: 3 })
    await holds(t, 40, fc.asyncProperty(
      commands(Object.values(fields)), others, fc.integer({ min: 1, max: 5 }),
      async (sent, others, limit) => {
        await app.db.deleteFrom(table).execute()
        const records: Records = new Map()
        for (const command of sent) await obey(app, table, records, command)
        const ids = sorted(table, records)
        assert.deepEqual(await walk(app, table, 'id', limit), ids)
        assert.deepEqual(await walk(app, table, '-id', limit), ids.toReversed())
        const named = [...ids.filter((_id, at) => at % 2 === 0), ...others.map(idOf)]
        const isNamed = (id: string): boolean => named.includes(id)
        const list = async (name: string, value: string) =>
          await idsOf(app, `/api/${table}/?${queryString([[name, value], ['ordering', 'id'], ['limit', '100']])}`)
        assert.deepEqual(await list('id__in', named.map(quoted).join()), ids.filter(isNamed))
        for (const id of new Set([...ids, ...named])) {
          assert.deepEqual(await list('id', id), ids.filter((other) => other === id), id)
          assert.deepEqual(await list('id__ne', id), ids.filter((other) => other !== id), id)
          const reply = await app.get(`/api/${table}/${encodeURIComponent(id)}/`)
          const { size } = records.get(id) ?? {}
          assert.deepEqual([reply.statusCode, reply.json().size], [size === undefined ? 404 : 200, size], id)
        }
      }
    ))
  })
}
