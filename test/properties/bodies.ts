import fc from 'fast-check'
import { isDeepStrictEqual } from 'node:util'
import {
  bigint, boolean, date, datetime, decimal, defineModel, foreignKey, integer, json, number, password, text, uuid
} from '../../lib/index.js'
import { User } from '../support/site.js'

export const Shelf = defineModel('Shelf', { name: text() })
/** A model with every rule that a body can break. */
export const Paper = defineModel('Paper', {
  owner: foreignKey(() => User),
  stamp: integer({ default: 7 }),
  title: text({ minLength: 2, maxLength: 5 }),
  status: text({ enum: ['draft', 'final'], default: 'draft' }),
  mail: text({ format: 'email', nullable: true }),
  count: integer({ minimum: -5, maximum: 5 }),
  big: bigint({ nullable: true }),
  ratio: number({ minimum: 0, nullable: true }),
  price: decimal({ precision: 5, scale: 2, nullable: true }),
  flag: boolean({ default: false }),
  moment: datetime({ default: 'now' }),
  day: date({ nullable: true }),
  data: json(),
  token: uuid({ nullable: true, unique: true }),
  shelf: foreignKey(() => Shelf),
  next: foreignKey(() => Shelf, { nullable: true }),
  word: password({ minLength: 3, nullable: true })
})

/** Papers that are there: the first one is alice's, the second one holds a token. */
export const takenToken = '0f8fad5b-d9cb-469f-a165-70867728950e'
const paper = {
  owner_id: 2,
  stamp: 7,
  title: 'ab',
  status: 'draft',
  mail: null,
  count: 0,
  big: null,
  ratio: null,
  price: null,
  flag: 0,
  moment: '2000-01-01 00:00:00',
  day: null,
  data: '1',
  token: null,
  shelf_id: 1,
  next_id: null,
  word: null
}
export const paperRows = {
  shelf: [{ id: 1, name: 'a' }, { id: 2, name: 'b' }],
  paper: [{ id: 1, ...paper }, { id: 2, ...paper, token: takenToken }]
}

/** What is right for a field, and examples of both sides; written down from the rules, not from the plugin. */
interface FieldRule {
  readonly isRequired?: true
  readonly isNullable?: true
  readonly right: readonly unknown[]
  readonly wrong: readonly unknown[]
}

const nul = 'a\0b'
const half = 'ab\ud83d'
const notNumbers = ['1', '', true, [1], {}, '0']
const notTexts = [1, true, ['ab'], {}, 0]

export const rules: Readonly<Record<string, FieldRule>> = {
  title: {
    isRequired: true,
    right: ['ab', 'abcde', '  ', "a'b", '\u{1f600}\u{1f600}\u{1f600}\u{1f600}\u{1f600}'],
    wrong: ['', 'a', 'abcdef', '\u{1f600}', nul, half, null, ...notTexts]
  },
  status: { right: ['draft', 'final'], wrong: ['', 'Draft', 'draft ', 'other', null, ...notTexts] },
  mail: {
    isNullable: true,
    right: ['a@example.com', 'a.b+c@sub.example.org'],
    wrong: ['', 'a', 'a@', '@example.com', 'a b@example.com', 'a@b@example.com', ...notTexts]
  },
  count: { isRequired: true, right: [-5, 0, 5, 1.0], wrong: [-6, 6, 1.5, -0, Infinity, 2 ** 31, null, ...notNumbers] },
  big: {
    isNullable: true,
    right: ['0', '-1', '9223372036854775807', '-9223372036854775808'],
    wrong: [0, 1, '9223372036854775808', '-9223372036854775809', '-0', '01', '1.0', '1e3', ' 1', '', true, ['1'], {}]
  },
  ratio: { isNullable: true, right: [0, 0.5, 1e308, 5e-324], wrong: [-0.1, -0, Infinity, -1, ...notNumbers] },
  price: {
    isNullable: true,
    right: ['0', '1.5', '999.99', '-999.99', '0.00', '0.01'],
    wrong: [
      1, 1.5, '1000', '1000.00', '0.001', '1.500', '-0', '-0.00', '1e2', '.5', '5.', '01', '+1', '', true, ['1'], {}
    ]
  },
  flag: { right: [true, false], wrong: [0, 1, 'true', '', null, [], {}] },
  moment: {
    right: [
      '2000-01-01 00:00:00', '2000-02-29T12:30:00Z', '2000-01-01T00:00:00.5+02:00', '2000-01-01 00:00:00-08',
      '2000-01-01', '0001-01-01 00:00:00', '9999-12-31 23:59:59'
    ],
    wrong: [
      '', 'now', '2001-02-29', '2000-01-01 24:00:00', '2000-01-01 00:00:60', '0000-12-31 23:59:59',
      '9999-12-31T23:59:59-01:00', '9999-12-31T23:59:59-01', '2000-01-01 00:00:00+1', '2000-1-1', 946684800,
      null, true, [], {}
    ]
  },
  day: {
    isNullable: true,
    right: ['2000-02-29', '0001-01-01', '9999-12-31'],
    wrong: ['', 'now', '2001-02-29', '2000-01-01 00:00:00', '2000-1-1', '0000-12-31', 20000101, true, [], {}]
  },
  data: {
    isRequired: true,
    right: [0, 'a', true, false, [], {}, [null, { a: [1.5, 'b'] }], '', { constructor: 1 }, { toString: null }],
    wrong: [null, -0, [-0], { a: Infinity }, nul, [half], { [nul]: 1 }, nested(65)]
  },
  token: {
    isNullable: true,
    right: ['00000000-0000-0000-0000-00000000000a', 'FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF', takenToken],
    wrong: [
      '', '0f8fad5b-d9cb-469f-a165-7086772895', '0f8fad5bd9cb469fa16570867728950e',
      'g0000000-0000-0000-0000-000000000000', ...notTexts
    ]
  },
  shelf: { isRequired: true, right: [1, 2, 3], wrong: [1.5, 2 ** 53, -0, null, ...notNumbers] },
  next: { isNullable: true, right: [1, 2, 3], wrong: [1.5, -(2 ** 53), -0, ...notNumbers] },
  word: {
    isNullable: true, right: ['abc'], wrong: ['', 'ab', 'a'.repeat(1025), 'é'.repeat(513), nul, half, ...notTexts]
  }
}

function nested (depth: number): unknown {
  return depth === 0 ? 0 : [nested(depth - 1)]
}

const foreignKeys = ['owner', 'shelf', 'next']
/** The field that a key of a body names: a foreign key has two names. */
export const fieldOf = (name: string): string =>
  foreignKeys.includes(name.replace(/_id$/, '')) ? name.replace(/_id$/, '') : name

export type Entry = readonly [name: string, value: unknown]
const unknownKeys = [
  'titel', 'Title', 'title ', '', 'toString', 'constructor', 'hasOwnProperty', 'shelf__id', 'shelf_id_id', 'select',
  '0'
]

function entriesOf (field: string): fc.Arbitrary<readonly Entry[]> {
  const { right = [], wrong = [], isNullable } = rules[field] ?? {}
  const value = fc.oneof(
    {
      weight: field === 'word' ? 1 : 40,
      arbitrary: fc.constantFrom(...(field === 'word' ? [null] : right), ...(isNullable ? [null] : []))
    },
    { weight: 1, arbitrary: fc.constantFrom(...wrong) })
  const names = foreignKeys.includes(field)
    ? fc.constantFrom([field], [`${field}_id`], [field, `${field}_id`], [`${field}_id`, field])
    : fc.constant([field])
  const sent = fc.tuple(names, value, value, fc.integer({ max: 30, min: 1 }))
    .map(([names, value, other, die]): readonly Entry[] =>
      names.map((name, index) => [name, index === 1 && die === 1 ? other : value]))
  const absent: fc.Arbitrary<readonly Entry[]> = fc.constant([])
  return fc.oneof({ weight: rules[field]?.isRequired ? 30 : 3, arbitrary: sent }, { weight: 1, arbitrary: absent })
}

const rarely = (entries: fc.Arbitrary<Entry>): fc.Arbitrary<readonly Entry[]> =>
  fc.oneof({ weight: 12, arbitrary: fc.constant<readonly Entry[]>([]) }, {
    weight: 1, arbitrary: entries.map((entry) => [entry])
  })

/** Bodies of papers, about half of them right, as names with values in random order; no name comes twice. */
export const bodies: fc.Arbitrary<readonly Entry[]> = fc.tuple(
  ...Object.keys(rules).map(entriesOf),
  rarely(fc.tuple(fc.constantFrom('id'), fc.constantFrom(1, 2, '1', null))),
  rarely(fc.tuple(fc.constantFrom('stamp'), fc.constantFrom(7, 8, '7', null))),
  rarely(fc.tuple(fc.constantFrom('owner', 'owner_id'), fc.constantFrom(1, 2, 99, '2', null, {}))),
  rarely(fc.tuple(fc.constantFrom(...unknownKeys), fc.constantFrom(1, null)))
).map((entries) => entries.flat()).chain((entries) => fc.shuffledSubarray(entries, { minLength: entries.length }))

/** JSON of a body; `-0` and what overflows are written as a client could write them. */
export function bodyText (entries: readonly Entry[]): string {
  const marks = new Map<string, string>([['\u0001-0', '-0'], ['\u0001Infinity', '1e400']])
  const text = JSON.stringify(Object.fromEntries(entries), (_key, value: unknown) =>
    Object.is(value, -0) ? '\u0001-0' : value === Infinity ? '\u0001Infinity' : value)
  return [...marks].reduce((text, [mark, json]) => text.replaceAll(JSON.stringify(mark), json), text)
}

/** Fields of a body with something wrong, by the rules alone; references and unique values are not looked at. */
export function faultyFields (entries: readonly Entry[], operation: 'create' | 'update'): Set<string> {
  const faulty = new Set<string>()
  const fixed: Readonly<Record<string, unknown>> = { id: 1, owner: 2, stamp: 7 }
  const seen = new Map<string, unknown>()
  for (const [name, value] of entries) {
    const field = fieldOf(name)
    if (field === 'owner' && operation === 'create') continue
    if (seen.has(field) && !isDeepStrictEqual(seen.get(field), value)) faulty.add(field)
    if (!seen.has(field)) seen.set(field, value)
    const rule = Object.hasOwn(rules, field) ? rules[field] : undefined
    const isFixed = Object.hasOwn(fixed, field)
    if (isFixed && (operation === 'create' || value !== fixed[field])) faulty.add(field)
    else if (!isFixed && rule === undefined) faulty.add(name)
    else if (rule !== undefined && !isRight(rule, value)) faulty.add(field)
  }
  if (operation === 'create') {
    for (const [field, { isRequired }] of Object.entries(rules)) if (isRequired && !seen.has(field)) faulty.add(field)
  }
  return faulty
}

function isRight ({ right, isNullable }: FieldRule, value: unknown): boolean {
  return value === null ? isNullable === true : right.some((example) => isDeepStrictEqual(example, value))
}

/** What the database has to say against a body that is right in itself. */
export function clashes (entries: readonly Entry[]): Array<'shelf' | 'next' | 'token'> {
  const valueOf = (field: string): unknown => entries.find(([name]) => fieldOf(name) === field)?.[1]
  return [
    ...(valueOf('shelf') === 3 ? ['shelf' as const] : []),
    ...(valueOf('next') === 3 ? ['next' as const] : []),
    ...(valueOf('token') === takenToken ? ['token' as const] : [])
  ]
}
