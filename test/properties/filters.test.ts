import assert from 'node:assert/strict'
import fc from 'fast-check'
import { test } from 'tap'
import type { Json } from '../../lib/index.js'
import { stopClock } from '../support/clock.js'
import { engine } from '../support/database.js'
import { buildApp } from '../support/site.js'
import { holds } from './holds.js'
import { idModel, kindModel, modelledKinds, texts, type KindModel, type ModelledKind } from './kinds.js'
import { fill, linksAt, queryString, registerWorld, world, worldModels, type World, type WorldRecord } from './world.js'

/** A filter as it is sent, and what it means: whether the value of a column matches. */
interface Filter {
  /** Names of the foreign keys, as the model declares them. */
  readonly joins: readonly string[]
  readonly column: string
  readonly name: string
  readonly texts: readonly string[]
  matches (value: Json): boolean
}

type Compare = KindModel['compare']
const equal = (compare: Compare) =>
  (value: Json, operands: readonly Json[]) => operands.some((operand) => compare(value, operand) === 0)
const ordered = (holds: (order: number) => boolean) => (compare: Compare) =>
  (value: Json, operands: readonly Json[]) => operands.some((operand) => holds(compare(value, operand)))

/** What the operators that compare mean for a value that is not null. */
const meanings = {
  eq: equal,
  ne: (compare) => (value, operands) => !equal(compare)(value, operands),
  in: equal,
  lt: ordered((order) => order < 0),
  lte: ordered((order) => order <= 0),
  gt: ordered((order) => order > 0),
  gte: ordered((order) => order >= 0)
} as const satisfies Record<string, (compare: Compare) => (value: Json, operands: readonly Json[]) => boolean>
type ComparingOperator = keyof typeof meanings

interface Target {
  readonly model: Pick<KindModel, 'compare' | 'texts'>
  readonly operands: readonly Json[]
  readonly any: fc.Arbitrary<Json>
}

const ids: Target = { model: idModel, operands: [0, 1, 2, 3], any: fc.integer({ min: -1, max: 9 }) }
const targetOf = (column: string): Target => {
  if (!modelledKinds.includes(column as ModelledKind)) return ids
  const model = kindModel(column as ModelledKind)
  return { model, operands: model.few, any: model.any }
}

/** Text of an `in` list: quoted if it must be, or if it may be. */
function listItem ([text, isQuoted]: readonly [text: string, isQuoted: boolean]): string {
  return isQuoted || text.includes(',') || text.startsWith('"') ? `"${text.replaceAll('"', '""')}"` : text
}

function comparing (
  operator: ComparingOperator, { model, operands, any }: Target
): fc.Arbitrary<Pick<Filter, 'texts' | 'matches'>> {
  const operand = fc.oneof({ weight: 5, arbitrary: fc.constantFrom(...operands) }, { weight: 1, arbitrary: any })
  const spelled = operand.chain((value) =>
    fc.record({ value: fc.constant(value), text: fc.constantFrom(...model.texts(value)), isQuoted: fc.boolean() }))
  const lists = operator === 'in' ? fc.array(spelled, { maxLength: 5 }) : fc.tuple(spelled)
  return fc.array(lists, { minLength: 1, maxLength: 3 }).map((given) => ({
    texts: given.map((list) => operator === 'in'
      ? list.length === 1 && list[0]?.text === ''
        ? '""'
        : list.map(({ text, isQuoted }) => listItem([text, isQuoted])).join(',')
      : list[0]?.text ?? ''),
    matches: (value: Json) =>
      value !== null && meanings[operator](model.compare)(value, given.flat().map((item) => item.value))
  }))
}

/** `is`: null and notnull on every column, true and false on booleans, in any case. */
function constant (column: string): fc.Arbitrary<Pick<Filter, 'texts' | 'matches'>> {
  const any = ['notnull', 'NotNull']
  const words = column === 'boolean' ? ['null', 'NONE', 'True', 'false', 'FALSE'] : ['null', 'Null', 'none']
  const meant: Readonly<Record<string, Json>> = { null: null, none: null, true: true, false: false }
  return fc.subarray([...words, ...any], { minLength: 1 }).map((given) => ({
    texts: given,
    matches: (value: Json) =>
      given.some((word) => any.includes(word) ? value !== null : meant[word.toLowerCase()] === value)
  }))
}

type PatternToken = string | { readonly wildcard: '%' | '_' }

/**
 * A pattern made from a text that it may match: characters kept, escaped or not, replaced, swapped in case, or left
 * out.
 */
const pattern: fc.Arbitrary<readonly PatternToken[]> = fc.constantFrom(...texts)
  .chain((text) => fc.tuple(...[...text].map((character) => fc.oneof(
    { weight: 6, arbitrary: fc.constant<PatternToken>(character) },
    fc.constant<PatternToken>({ wildcard: '%' }),
    fc.constant<PatternToken>({ wildcard: '_' }),
    fc.constant<PatternToken>(
      character === character.toLowerCase() ? character.toUpperCase() : character.toLowerCase()
    ),
    fc.constant<PatternToken>('')
  )), fc.constantFrom<PatternToken>({ wildcard: '%' }, '', { wildcard: '_' })))

function patternText (tokens: readonly PatternToken[], escapesAll: boolean): string {
  return tokens.map((token) => typeof token === 'object'
    ? token.wildcard
    : [...token].map((character) => escapesAll || '%_\\'.includes(character) ? `\\${character}` : character).join(''))
    .join('')
}

/** Whole-value matching of code points, by trying every way that a `%` could stretch. */
function isLike (value: readonly string[], tokens: readonly PatternToken[], fold: (text: string) => string): boolean {
  const [token, ...rest] = tokens
  if (token === undefined) return value.length === 0
  if (typeof token === 'string') {
    const characters = [...token]
    return characters.every((character, index) => fold(character) === fold(value[index] ?? '')) &&
      isLike(value.slice(characters.length), rest, fold)
  }
  if (token.wildcard === '_') return value.length > 0 && isLike(value.slice(1), rest, fold)
  return Array.from({ length: value.length + 1 }, (_, skipped) => skipped)
    .some((skipped) => isLike(value.slice(skipped), rest, fold))
}

const foldAscii = (text: string): string => text.replace(/[A-Z]/g, (letter) => letter.toLowerCase())
/**
 * What `ilike` ignores: the case of ASCII letters everywhere, of other letters where the engine knows no less (D-24).
 */
const foldCase = { sqlite: foldAscii, postgres: foldAscii, mariadb: (text: string) => text.toLowerCase() }[engine]

function matching (operator: 'like' | 'ilike'): fc.Arbitrary<Pick<Filter, 'texts' | 'matches'>> {
  const fold = operator === 'ilike' ? foldCase : (text: string) => text
  return fc.array(fc.tuple(pattern, fc.boolean()), { minLength: 1, maxLength: 2 }).map((given) => ({
    texts: given.map(([tokens, escapesAll]) => patternText(tokens, escapesAll)),
    matches: (value: Json) => typeof value === 'string' && given.some(([tokens]) => isLike([...value], tokens, fold))
  }))
}

type Operator = ComparingOperator | 'is' | 'like' | 'ilike'
const comparingOperators = Object.keys(meanings) as ComparingOperator[]
const operatorsOf = (column: string): readonly Operator[] =>
  column === 'json'
    ? ['is']
    : column === 'text' ? [...comparingOperators, 'is', 'like', 'ilike'] : [...comparingOperators, 'is']

/** Every column with every operator that it has, for a number of foreign keys before it. */
const casesAt = (depth: number): ReadonlyArray<readonly [column: string, operator: Operator]> =>
  [...modelledKinds, 'id', ...(linksAt[depth] ?? [])].flatMap((column) =>
    operatorsOf(column).map((operator) => [column, operator] as const))

const joinsOf = (depth: number): fc.Arbitrary<readonly string[]> =>
  fc.tuple(...Array.from({ length: depth }, (_, at) => fc.constantFrom(...(linksAt[at] ?? []))))

function meaningOf (column: string, operator: Operator): fc.Arbitrary<Pick<Filter, 'texts' | 'matches'>> {
  if (operator === 'is') return constant(column)
  return operator === 'like' || operator === 'ilike' ? matching(operator) : comparing(operator, targetOf(column))
}

/** `_id` may stand behind the name of a foreign key, and `__eq` may be left out. */
function filterOf (depth: number, column: string, operator: Operator): fc.Arbitrary<Filter> {
  return fc.tuple(joinsOf(depth), meaningOf(column, operator), fc.boolean(), fc.boolean())
    .map(([joins, meaning, usesKeys, isShort]) => {
      const names = [...joins, column].map((name) =>
        usesKeys && (name === 'link' || name === 'twin') ? `${name}_id` : name)
      const name = [...names, ...(isShort && operator === 'eq' ? [] : [operator])].join('__')
      return { joins, column, name, ...meaning }
    })
}

/** Ids of the nearest records that match all filters; a record whose foreign key is null has nothing behind it. */
function expected (world: World, filters: readonly Filter[]): number[] {
  return world[0].filter((record) => filters.every(({ joins, column, matches }) => {
    const reached = joins.reduce<WorldRecord | undefined>(
      (from, name, depth) => world[depth + 1]?.find(({ id }) => id === from?.[`${name}_id`]), record)
    return reached !== undefined &&
      matches(reached[column === 'link' || column === 'twin' ? `${column}_id` : column] ?? null)
  })).map(({ id }) => id)
}

const manyJoins = { options: { limits: { totalJoins: 6 } } }
const query = (filters: readonly Filter[]): string =>
  queryString([['limit', '100'], ...filters.flatMap(({ name, texts }) => texts.map((text) => [name, text] as const))])

for (const depth of [0, 1, 2, 3]) {
  test(`every operator on every kind of field, behind ${depth} foreign keys, selects as an array would`, async (t) => {
    const app = await buildApp(t, { models: worldModels, register: registerWorld })
    const cases = casesAt(depth)
    await holds(t, depth === 0 ? 30 : 10, fc.asyncProperty(
      world({ near: 8 }), fc.tuple(...cases.map(([column, operator]) => filterOf(depth, column, operator))),
      async (rows, filters) => {
        await fill(app.db, rows)
        for (const filter of filters) {
          const reply = await app.get(`/api/near/?${query([filter])}`)
          assert.equal(reply.statusCode, 200, `${filter.name} ${JSON.stringify(filter.texts)}: ${reply.body}`)
          assert.deepEqual(
            reply.json().objects.map(({ id }: WorldRecord) => id), expected(rows, [filter]),
            `${filter.name} ${JSON.stringify(filter.texts)}`
          )
        }
      }))
  })
}

test('a pattern matches the texts that it describes, of many', async (t) => {
  const app = await buildApp(t, { models: worldModels, register: registerWorld })
  const rows: World = [
    [...texts, 'aa', 'b', 'aab', 'ba', '[', '[b]', '%%', '\\%'].map((text, index) => ({ id: index + 1, text })),
    [{ id: 1 }], [{ id: 1 }], [{ id: 1 }]
  ]
  await fill(app.db, rows)
  await holds(t, 2000, fc.asyncProperty(fc.constantFrom('like' as const, 'ilike' as const)
    .chain((operator) => filterOf(0, 'text', operator)), async (filter) => {
    const reply = await app.get(`/api/near/?${query([filter])}`)
    assert.equal(reply.statusCode, 200, reply.body)
    assert.deepEqual(reply.json().objects.map(({ id }: WorldRecord) => id), expected(rows, [filter]))
  }))
})

test('several filters select what matches all of them, whichever foreign keys they follow', async (t) => {
  const app = await buildApp(t, { models: worldModels, register: registerWorld, ...manyJoins })
  const anyFilter = fc.integer({ min: 0, max: 3 }).chain((depth) =>
    fc.constantFrom(...casesAt(depth)).chain(([column, operator]) => filterOf(depth, column, operator)))
  const filters = fc.uniqueArray(anyFilter, {
    selector: ({ joins, column }) => [...joins, column].join('__'), minLength: 2, maxLength: 4
  })
  await holds(t, 300, fc.asyncProperty(world({ near: 12 }), filters, async (rows, filters) => {
    await fill(app.db, rows)
    const reply = await app.get(`/api/near/?${query(filters)}`)
    assert.equal(reply.statusCode, 200, reply.body)
    assert.deepEqual(reply.json().objects.map(({ id }: WorldRecord) => id), expected(rows, filters))
  }))
})

test('D-104: an in list of any length, of every kind of field, selects what an array would', async (t) => {
  const app = await buildApp(t, {
    models: worldModels, register: registerWorld, options: { limits: { inItems: 300, queryLength: 65_536 } }
  })
  for (const kind of modelledKinds.filter((name) => name !== 'json')) {
    const { few, texts } = kindModel(kind)
    const near = [...few, null].map((value, index) => ({ id: index + 1, [kind]: value }))
    await fill(app.db, [near, [{ id: 1 }], [{ id: 1 }], [{ id: 1 }]])
    const wanted = few.filter((_value, index) => index % 2 === 0)
    for (const count of [1, 2, 3, 60, 128, 129, 300]) {
      const values = Array.from({ length: count }, (_, index) => wanted[index % wanted.length] as Json)
      const listed = values.map((value) => `"${texts(value)[0]?.replaceAll('"', '""')}"`).join()
      const reply = await app.get(`/api/near/?limit=100&${queryString([[`${kind}__in`, listed]])}`)
      assert.equal(reply.statusCode, 200, reply.body)
      const ids = near.filter((record) => values.includes(record[kind] as Json)).map(({ id }) => id)
      assert.deepEqual(reply.json().objects.map(({ id }: WorldRecord) => id), ids, `${kind}, ${count} values`)
    }
    t.pass(kind)
  }
})

/** Text that is not of the kind, or that an engine would read as another value. */
const misfits: Readonly<Record<ModelledKind | 'id' | 'link', readonly string[]>> = {
  text: ['a\0', '\0'],
  integer: [
    '', ' 1', '1 ', '+1', '01', '-0', '1.0', '1e1', '0x1', '2147483648', '-2147483649', '١', 'null', 'true', '1,2',
    '1_000'
  ],
  bigint: ['', '9223372036854775808', '-9223372036854775809', '-0', '00', '1.0', '1e3', '+1', ' 1', '0x10', '1n'],
  number: [
    '', 'NaN', 'Infinity', '-Infinity', '1e999', '-0', '-0.0', '.5', '5.', '01', '0x1', '1_0', ' 1', '1,5', 'true'
  ],
  decimal: ['', '1.234', '10000000000000.00', '-0', '-0.00', '1e1', '01', '.5', '5.', '+1', ' 1', 'NaN'],
  boolean: ['', 'TRUE', 'True', 'yes', 'on', 't', '2', '-1', ' true', 'null', '1.0'],
  datetime: [
    '', 'now', '2000-02-30', '2000-1-1', '2000-01-01 24:00:00', '2000-01-01 00:60:00', '2000-01-01 00:00:60',
    '0000-12-31 23:59:59', '9999-12-31T23:59:59-00:01', '0001-01-01T00:00:00+00:01', '2000-01-01 00:00:00 ',
    '946684800', '2000-01-01T00:00:00+24:00', '2000-01-01T00:00:00+24', '10000-01-01 00:00:00'
  ],
  date: [
    '', 'now', '2000-02-30', '1999-02-29', '2000-1-1', '2000-01-01 00:00:00', '20000101', '0000-12-31', '2000-00-10',
    '2000-13-01', ' 2000-01-01'
  ],
  json: [],
  uuid: [
    '', '0f8fad5b-d9cb-469f-a165-7086772895', '{0f8fad5b-d9cb-469f-a165-70867728950e}',
    '0f8fad5bd9cb469fa16570867728950e', 'g0000000-0000-0000-0000-000000000000'
  ],
  id: ['', '1.0', '1e0', '01', '-0', '9007199254740992', '0x1', ' 1', 'a'],
  link: ['', '1.0', '1e0', '01', '-0', '9007199254740992', '0x1', ' 1', 'a', 'null']
}

test('text that is not of the kind of a field is refused before any statement, also in lists and joins', async (t) => {
  stopClock(t)
  const app = await buildApp(t, { models: worldModels, register: registerWorld })
  const sound: Readonly<Record<string, string>> = { id: '1', link: '1' }
  for (const [column, misfit] of Object.entries(misfits)) {
    for (const text of misfit) {
      const model = kindModel(column as ModelledKind)
      const listed = `"${sound[column] ?? model.texts(model.few[0] ?? '')[0]}","${text}"`
      const filters = [
        ...comparingOperators.filter((operator) => operator !== 'in')
          .map((operator) => [`${column}__${operator}`, text] as const),
        [column, text] as const, [`link__${column}`, text] as const, [`link__link__${column}__gt`, text] as const,
        [`${column}__in`, listed] as const
      ]
      for (const [name, value] of filters) {
        const reply = await app.get(`/api/near/?${queryString([[name, value]])}`)
        const { code, details: [detail] } = reply.json()
        assert.deepEqual(
          [reply.statusCode, code, detail.field], [400, 'REST_MODELS_INVALID_VALUE', name],
          `${name}=${JSON.stringify(value)}`
        )
      }
    }
  }
  t.same(app.statements, [])
})
