import assert from 'node:assert/strict'
import fc from 'fast-check'
import { test, type Test } from 'tap'
import { boolean, defineModel, foreignKey, hostAuth, integer, text } from '../../lib/index.js'
import { engine } from '../support/database.js'
import { buildApp, type TestApp } from '../support/site.js'
import { share } from '../support/share.js'
import { holds } from './holds.js'
import { texts } from './kinds.js'
import { queryString } from './world.js'

const Shelf = defineModel('Shelf', { name: text(), open: boolean() })
const Book = defineModel('Book', {
  title: text({ nullable: true }),
  author: text({ nullable: true, column: 'select' }),
  code: text(),
  hidden: text({ nullable: true }),
  rank: integer(),
  shelf: foreignKey(() => Shelf, { nullable: true })
})

interface BookRow {
  readonly id: number
  readonly title: string | null
  readonly author: string | null
  readonly code: string
  readonly hidden: string | null
  readonly rank: number
  readonly shelf: number | null
}
const shelves = [{ id: 1, name: 'a', open: 1 }, { id: 2, name: 'b', open: 1 }, { id: 3, name: 'a', open: 0 }]
/** The shelves that everybody sees. */
const openShelves = [1, 2]

const anyText = fc.oneof(
  fc.constantFrom(...texts, 'ann lee', 'Ann', '100 %', 'a_b', 'a\\b', '\\', '%', '*', '[a]', "it's", 'null'),
  fc.string({
    unit: fc.constantFrom('a', 'A', 'b', 'B', ' ', '%', '_', '\\', 'é', '\u{1f600}', '\ufffd'), maxLength: 6
  })
)
const books = fc.array(fc.record({
  title: fc.option(anyText),
  author: fc.option(anyText),
  code: anyText,
  hidden: fc.option(anyText),
  rank: fc.nat(2),
  shelf: fc.constantFrom(null, 1, 2, 3)
}), { minLength: 6, maxLength: 14, size: 'max' })
  .map((rows): readonly BookRow[] => rows.map((row, index) => ({ id: index + 1, ...row })))

/** Words that occur in texts, in another case now and then. */
const word = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom('a', 'A', 'b', '%', '_', '\\', 'é', 'nn', 'LE', '0', 'null', '\ufffd', '*') },
  {
    weight: 2,
    arbitrary: anyText.filter((text) => /\S/.test(text) && text.length < 120)
      .map((text) => text.trim().split(/\s+/)[0] ?? '').map((text) => text === '' ? 'a' : text)
  }
)
const written = fc.tuple(word, fc.constantFrom(' ', '  ', '\t', '\u00a0'))
/** Searches, most of them short, because five words are seldom in one record. */
const searches = fc.oneof(
  { weight: 3, arbitrary: fc.array(written, { maxLength: 1 }) },
  { weight: 1, arbitrary: fc.array(written, { maxLength: 5 }) }
)
  .map((parts) => ({ words: parts.map(([word]) => word), text: parts.flat().join('') }))

type Filter = readonly [query: ReadonlyArray<[string, string]>, matches: (row: BookRow) => boolean]
const everything: Filter = [[], () => true]
const filters: readonly Filter[] = [
  [[['rank__gte', '1']], ({ rank }) => rank >= 1],
  [[['title__is', 'notnull']], ({ title }) => title !== null],
  [[['title__is', 'null'], ['rank', '0'], ['rank', '2']], ({ title, rank }) => title === null && rank !== 1],
  [[['shelf__name', 'a']], ({ shelf }) => shelf === 1],
  [[['shelf__id__is', 'notnull'], ['rank__ne', '1']],
    ({ shelf, rank }) => shelf !== null && openShelves.includes(shelf) && rank !== 1],
  [[['id__in', '1,2,3,5,8,13']], ({ id }) => [1, 2, 3, 5, 8, 13].includes(id)]
]

const foldAscii = (text: string): string => text.replace(/[A-Z]/g, (letter) => letter.toLowerCase())
/** Cases that `ilike` ignores (D-24). */
const fold = { sqlite: foldAscii, postgres: foldAscii, mariadb: (text: string) => text.toLowerCase() }[engine]
const folded = (text: string): string => [...text].map(fold).join('')
const contains = (value: string | null, word: string): boolean => value !== null && folded(value).includes(folded(word))

async function library (t: Test, count: number): Promise<TestApp> {
  const readers = hostAuth<{ id: number, rank: number | null }>(({ headers: { 'x-rank': rank } }) =>
    ({ id: 1, rank: rank === 'all' ? null : Number(rank) }), { protect: 'all' })
  return await buildApp(t, {
    models: [Shelf, Book],
    rows: { shelf: shelves },
    options: { limits: { count } },
    register: (registry) => {
      registry.register(Shelf, { auth: readers, scope: () => ({ open: true }) })
      registry.register(Book, {
        auth: readers,
        exclude: ['hidden'],
        search: ['title', 'author', 'code'],
        scope: ({ rank }) => rank === null ? {} : { rank }
      })
    }
  })
}

async function fill ({ db }: TestApp, rows: readonly BookRow[]): Promise<void> {
  await db.deleteFrom('book').execute()
  const stored = rows.map(({ author, shelf, ...row }) => ({ ...row, select: author, shelf_id: shelf }))
  if (stored.length > 0) await db.insertInto('book').values(stored).execute()
}

const cases = fc.record({
  rows: books,
  search: fc.option(searches, { freq: 4 }),
  filter: fc.constantFrom(everything, everything, everything, ...filters),
  scope: fc.constantFrom('all', 'all', 'all', '0', '1', '9'),
  place: fc.constantFrom<ReadonlyArray<[string, string]>>([], [['after', '']], [['ordering', 'rank'], ['after', '']]),
  limit: fc.integer({ min: 1, max: 6 })
})

for (const most of [100_000, 3]) {
  test(`a search finds what an array would, and the count is that of all pages, up to ${most}`, async (t) => {
    const app = await library(t, most)
    let found = 0
    await holds(t, 1200, fc.asyncProperty(cases, async (drawn) => {
      const { rows, search, filter: [query, matches], scope, place, limit } = drawn
      await fill(app, rows)
      const wanted = rows.filter((row) => matches(row) && (scope === 'all' || row.rank === Number(scope)) &&
        (search?.words ?? []).every((word) =>
          [row.title, row.author, row.code].some((value) => contains(value, word)))).map(({ id }) => id)
      found += wanted.length
      const parameters: Array<[string, string]> = [...query, ...place, ['limit', String(limit)], ['count', 'true']]
      if (search !== null) parameters.push(['search', search.text])
      const seen: number[] = []
      for (let url = `/api/book/?${queryString(parameters)}`; url !== '';) {
        const reply = await app.get(url, { headers: { 'x-rank': scope } })
        assert.equal(reply.statusCode, 200, `${url}: ${reply.body}`)
        const { meta, objects } = reply.json()
        const expected = { count: Math.min(wanted.length, most), capped: wanted.length > most }
        assert.deepEqual({ count: meta.count, capped: meta.capped }, expected, url)
        seen.push(...objects.map(({ id }: { readonly id: number }) => id))
        url = meta.next
      }
      assert.deepEqual(seen.toSorted((a, b) => a - b), wanted, JSON.stringify(search))
    }))
    t.ok(found > 20 * share, `${found} records were found`)
  })
}
