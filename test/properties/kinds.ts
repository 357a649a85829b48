import fc from 'fast-check'
import type { Json } from '../../lib/index.js'

/** A kind of field as the tests know it, without a look at the vocabulary of the plugin. */
export interface KindModel {
  /** Values that exclude each other rarely, so that random rows and filters meet. */
  readonly few: readonly Json[]
  /** Any value, in the form in which it is answered. */
  readonly any: fc.Arbitrary<Json>
  /** What is inserted for a value past the plugin. */
  stored (value: Json): string | number | bigint
  /** Less than, equal to or more than 0, as in a sort. */
  compare (left: Json, right: Json): number
  /** The ways to write a value in a filter. */
  texts (value: Json): readonly string[]
}

const same = (value: Json): string | number => value as string | number
const asWritten = (value: Json): readonly string[] => [String(value)]
const numerically = (left: Json, right: Json): number => Number(left) - Number(right)
const byBytes = (left: Json, right: Json): number =>
  Buffer.compare(Buffer.from(String(left)), Buffer.from(String(right)))

/** Any code point but a surrogate. fast-check's own unit `binary` takes a second of each process that loads it. */
const anyCodePoint = fc.integer({ min: 0, max: 0x10ffff - 0x800 })
  .map((number) => String.fromCodePoint(number < 0xd800 ? number : number + 0x800))

/** Text that can be stored: anything but NUL. */
export const anyText = fc.oneof(
  fc.string({ unit: anyCodePoint, maxLength: 12 }),
  fc.string({ unit: 'grapheme', maxLength: 12 }),
  fc.string({
    unit: fc.constantFrom(...'%_\\[]*?^-\'"`,;:() aA/+&=#\u0001\t\r\n\u007fß\ufeff\ufffd\ufffe\uffff\u{1f600}'),
    maxLength: 12
  })
).map((text) => text.replaceAll('\0', ''))

export const texts = [
  '', ' ', 'a', 'A', 'ab', 'aB', 'a ', ' a', '%', 'a%', '_', 'a_', '\\', '\\\\', 'a\\%', '"', '""', '"a"', 'a,b', ',',
  "it's", "''", '*', 'a*', '?', '[a]', '[', ']', '^',
  'é', 'É', 'null', 'none', 'true', '1', '01', '1.0', '\n', 'a\nb', '\u{1f600}', '\ue000',
  '\ufffd', '\ufffe', '\uffff', 'a\ufffd', 'a\ufffe', 'A\uffff', '\u{10ffff}'
]

const dates = ['0001-01-01', '1999-12-31', '2000-02-29', '2000-03-01', '9999-12-31']
const datetimes = [
  '0001-01-01 00:00:00', '1999-12-31 23:59:59', '2000-01-01 00:00:00', '2000-02-29 12:30:00', '9999-12-31 23:59:59'
]
const formatted = (moment: Date): string => moment.toISOString().slice(0, 19).replace('T', ' ')
const anyMoment = fc.date({
  min: new Date('0001-01-01T00:00:00Z'), max: new Date('9999-12-31T23:59:59Z'), noInvalidDate: true
})

function datetimeTexts (value: Json): readonly string[] {
  const text = String(value)
  const iso = text.replace(' ', 'T')
  const inIndia = formatted(new Date(Date.parse(`${iso}Z`) + 330 * 60_000))
  return [
    text, iso, `${iso}Z`, `${iso}.999`, `${iso}+00:00`, `${text}+00`, `${iso}.5 -00`,
    ...(text.startsWith('9999') ? [] : [`${inIndia}+05:30`]),
    ...(text.endsWith('00:00:00') ? [text.slice(0, 10)] : []),
    ...(text.endsWith(':00') ? [text.slice(0, 16)] : [])
  ]
}

/** A decimal with two digits behind the point, of fifteen in all. */
const anyDecimal = fc.oneof(
  fc.integer({ min: -9999, max: 9999 }), fc.maxSafeInteger().filter((cents) => Math.abs(cents) < 10 ** 15)
)
  .map((cents) => {
    const digits = String(Math.abs(cents)).padStart(3, '0')
    return `${cents < 0 ? '-' : ''}${digits.slice(0, -2)}.${digits.slice(-2)}`
  })

export const anyNumber = fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => value === 0 ? 0 : value)

/** JSON that can be stored unchanged: no NUL, no -0, and no keys that a body must not hold. */
export const anyJson = fc.jsonValue({ maxDepth: 3, stringUnit: 'binary' }).map((value) => clean(value))

function clean (value: unknown): Json {
  if (typeof value === 'string') return value.replaceAll('\0', '')
  if (typeof value === 'number') return value === 0 ? 0 : value
  if (Array.isArray(value)) return value.map(clean)
  if (typeof value !== 'object' || value === null) return value as Json
  return Object.fromEntries(Object.entries(value)
    .filter(([key]) => key !== '__proto__' && key !== 'constructor')
    .map(([key, item]) => [key.replaceAll('\0', ''), clean(item)]))
}

export const kindModels = {
  text: { few: texts, any: anyText, stored: same, compare: byBytes, texts: asWritten },
  integer: {
    few: [-(2 ** 31), -2, -1, 0, 1, 9, 10, 2 ** 31 - 1],
    any: fc.integer(),
    stored: same,
    compare: numerically,
    texts: asWritten
  },
  bigint: {
    few: [
      '-9223372036854775808', '-1', '0', '9', '10', '9007199254740992', '9007199254740993', '9223372036854775806',
      '9223372036854775807'
    ],
    any: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map(String),
    stored: (value) => BigInt(String(value)),
    compare: (left, right) => Number(BigInt(String(left)) - BigInt(String(right))),
    texts: asWritten
  },
  number: {
    few: [-1.5, -1, 0, 0.1, 0.30000000000000004, 1, 1.5, 10, 1e21, 5e-324, Number.MAX_VALUE],
    any: anyNumber,
    stored: same,
    compare: numerically,
    texts: (value) => [String(value), Number(value).toExponential(), Number(value).toPrecision(17)]
  },
  decimal: {
    few: [
      '-9999999999999.99', '-1.10', '-0.01', '0.00', '0.10', '0.30', '1.00', '1.10', '9.00', '10.00',
      '9999999999999.98', '9999999999999.99'
    ],
    any: anyDecimal,
    stored: Number,
    compare: (left, right) => Number(BigInt(String(left).replace('.', '')) - BigInt(String(right).replace('.', ''))),
    texts: (value) => [String(value), String(value).replace(/\.?0+$/, '')]
  },
  boolean: {
    few: [true, false],
    any: fc.boolean(),
    stored: Number,
    compare: numerically,
    texts: (value) => value === true ? ['true', '1'] : ['false', '0']
  },
  datetime: { few: datetimes, any: anyMoment.map(formatted), stored: same, compare: byBytes, texts: datetimeTexts },
  date: {
    few: dates,
    any: anyMoment.map((moment) => formatted(moment).slice(0, 10)),
    stored: same,
    compare: byBytes,
    texts: asWritten
  },
  json: {
    few: [{}, [], '', 0, false, 'null', [null], { a: [1, '2'] }],
    any: anyJson.filter((value) => value !== null),
    stored: (value) => JSON.stringify(value),
    compare: () => { throw new TypeError('JSON is not compared') },
    texts: () => []
  },
  uuid: {
    few: [
      '00000000-0000-0000-0000-000000000000', '0f8fad5b-d9cb-469f-a165-70867728950e',
      'ffffffff-ffff-ffff-ffff-ffffffffffff'
    ],
    any: fc.uuid(),
    stored: same,
    compare: byBytes,
    texts: (value) => [String(value), String(value).toUpperCase()]
  }
} as const satisfies Record<string, KindModel>

export type ModelledKind = keyof typeof kindModels
export const modelledKinds = Object.keys(kindModels) as ModelledKind[]
export const kindModel = (kind: ModelledKind): KindModel => kindModels[kind]

/** How an id and a reference to one compare. */
export const idModel: Pick<KindModel, 'compare' | 'texts'> = { compare: numerically, texts: asWritten }
