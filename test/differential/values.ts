import fc from 'fast-check'
import type { Json } from '../../lib/index.js'
import type { FieldOptions } from '../../lib/values/field-options.js'
import { anyText, kindModel, texts } from '../properties/kinds.js'
import type { FieldSpec } from './specs.js'

/** Texts that engines like to take for one another, beside those of the properties. */
const strange = [
  ...texts, 'ss', 'ß', 'ẞ', 'a\u0301', 'á', 'a\t', 'a\u00a0', '\u0001', '\u007f', '\ufeff', 'a\ufffe', 'a\uffff',
  'a\ufffd', 'I', 'i', 'ı', 'İ', '\u212a', 'k', 'Å', '\u212b', 'Σ', 'σ', 'ς', 'ﬁ', 'fi', '𝔞',
  '\u{1f468}\u200d\u{1f469}', 'A_', 'a%b', '\\%', '\\_', '0', '-1', '1e3', ' ', '  ', '\r\n', 'x'.repeat(300), '{}',
  '[]', 'a=b&c', '+', '%41', '#', '/', 'z'.repeat(501)
]
/** Texts that are different, though some collations do not think so. */
const alike = [
  'a', 'A', 'a ', ' a', 'a\t', 'á', 'Á', 'a\u0301', 'à', 'ss', 'ß', 'ẞ', 'SS', 'ae', 'æ', 'i', 'I', 'ı', 'İ', 'k',
  '\u212a', '', ' ', 'a\u00a0', 'a\u200b', '\u{1f600}', '\u{1f601}'
]
const formatted: Readonly<Record<string, readonly string[]>> = {
  email: ['a@example.com', 'A@example.com', 'b.c+d@sub.example.org'],
  date: ['2000-02-29', '1999-12-31', '0001-01-01'],
  ipv4: ['127.0.0.1', '255.255.255.255', '1.2.3.4']
}
const lengthOf = (text: string): number => [...text].length

function textsOf ({ enum: choices, format, minLength = 0, maxLength, unique }: FieldOptions): fc.Arbitrary<string> {
  if (choices !== undefined) return fc.constantFrom(...choices)
  if (format !== undefined) return fc.constantFrom(...formatted[format] ?? [])
  const most = maxLength ?? (unique === true ? 500 : Infinity)
  const fits = (text: string): boolean => lengthOf(text) >= minLength && lengthOf(text) <= most
  const few = unique === true ? [{ weight: 15, arbitrary: fc.constantFrom(...alike.filter(fits)) }] : []
  return fc.oneof(...few, { weight: 5, arbitrary: fc.constantFrom(...strange.filter(fits)) }, {
    weight: 1, arbitrary: anyText.map((text) => fits(text) ? text : 'abc')
  })
}

function within<Value extends number> (
  values: readonly Value[], { minimum = -Infinity, maximum = Infinity }: FieldOptions
): Value[] {
  return values.filter((value) => value >= minimum && value <= maximum)
}

function integersOf (options: FieldOptions): fc.Arbitrary<number> {
  const { minimum = -(2 ** 31), maximum = 2 ** 31 - 1 } = options
  return fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom(...within(kindModel('integer').few as number[], options)) },
    { weight: 1, arbitrary: fc.integer({ min: Math.ceil(minimum), max: Math.floor(maximum) }) })
}

const numbers = [
  ...kindModel('number').few as number[], 0.2, 1e-7, 123456789.12345678, 2 ** 53 + 2, 2 ** 53, -1e-300, 1e22,
  0.1 + 0.7
]

function numbersOf (options: FieldOptions): fc.Arbitrary<number> {
  const { minimum = -Number.MAX_VALUE, maximum = Number.MAX_VALUE } = options
  const positive = (value: number): number => value === 0 ? 0 : value
  return fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom(...within(numbers, options)) },
    { weight: 1, arbitrary: fc.double({ min: minimum, max: maximum, noNaN: true }).map(positive) })
}

function decimalsOf ({ precision = 15, scale = 2 }: FieldOptions): fc.Arbitrary<string> {
  const most = 10 ** precision - 1
  const few = [0, 1, -1, 10, 15, 100, most, -most, most - 1].filter((units) => Math.abs(units) <= most)
  return fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...few) }, {
    weight: 1, arbitrary: fc.integer({ min: -most, max: most })
  }).map((units) => {
    const digits = String(Math.abs(units)).padStart(scale + 1, '0')
    return `${units < 0 ? '-' : ''}${scale === 0 ? digits : `${digits.slice(0, -scale)}.${digits.slice(-scale)}`}`
  })
}

/** Values of a field in the one form in which they are answered; never null. */
export function canonical ({ kind, options }: FieldSpec): fc.Arbitrary<Json> {
  if (kind === 'text') return textsOf(options)
  if (kind === 'integer') return integersOf(options)
  if (kind === 'number') return numbersOf(options)
  if (kind === 'decimal') return decimalsOf(options)
  if (kind === 'password' || kind === 'foreignKey') throw new TypeError(`${kind} has values of its own`)
  const { few, any } = kindModel(kind)
  return fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...few) }, { weight: 1, arbitrary: any })
}

/** What is inserted for a value. */
export function stored ({ kind }: FieldSpec, value: Json): string | number | bigint | null {
  if (value === null) return null
  return kind === 'password' || kind === 'foreignKey' ? value as string | number : kindModel(kind).stored(value)
}

/** The ways to write a value in a body. */
export function spellings ({ kind }: FieldSpec, value: Json): readonly Json[] {
  if (typeof value !== 'string') return [value]
  if (kind === 'decimal') return [value, value.includes('.') ? value.replace(/\.?0+$/, '') : value]
  if (kind === 'uuid') return [value, value.toUpperCase()]
  if (kind === 'datetime') return kindModel('datetime').texts(value)
  return [value]
}

/** The ways to write a value in a filter. */
export function filterTexts ({ kind }: FieldSpec, value: Json): readonly string[] {
  if (kind === 'password' || kind === 'foreignKey' || kind === 'json' || kind === 'decimal' || value === null) {
    return [value === null ? '' : typeof value === 'object' ? JSON.stringify(value) : String(value)]
  }
  return kindModel(kind).texts(value)
}

/** Values that are hardly right for any field. */
export const oddValues: readonly unknown[] = [
  null, null, '', ' ', 'a', 'now', 'null', 'true', '1', '01', '1.0', '-0', 'a\0b', '\0', '\ud83d', 'ab\udc00',
  'x'.repeat(501), '\u{1f600}'.repeat(501), 0, -0, 1, -1, 1.5, Infinity, -Infinity, 2 ** 31, -(2 ** 31) - 1,
  2 ** 53, 1e21, 5e-324, true, false, [], {}, [1], { a: 1 }, ['\0'], { '\0': 1 }, [-0], '9223372036854775807',
  '9223372036854775808', '-9223372036854775809', '9999999999999.999', '99999999999999999',
  '2000-02-30', '2000-02-29', '2000-02-29T23:59:60Z', '9999-12-31T23:59:59-00:01', '0001-01-01T00:00:00+00:01',
  '0000-12-31', '0999-12-31', '10000-01-01', '2000-01-01T00:00:00.9999999', '2000-01-01 24:00:00',
  '00000000-0000-0000-0000-000000000000', 'FFFFFFFF-ffff-ffff-ffff-ffffffffffff',
  '{00000000-0000-0000-0000-000000000000}', '00000000000000000000000000000000', nested(64), nested(65), '\ud83d\ude00'
]

/** Texts for filters that are hardly right for any field. */
export const oddTexts: readonly string[] = [
  ...new Set(oddValues.filter((value) => typeof value === 'string' && value.isWellFormed()) as string[]), '1e3',
  '1,2', '0x1', '1_000', '٣', 'NaN', 'Infinity', '-Infinity', '1e999', '1e308', '4.9e-324', '1e-999', '-1e-999', '.5',
  '5.', '+1', '2147483648', '9007199254740993', '-9007199254740993', '1e21', '0.1', '0.10', 'TRUE', 'True', 'false',
  'none', '0001-01-01', '9999-12-31 23:59:59', '2000-01-01T00:00', '"', '""', '"a', 'a"b', '"a"b', ',', ',,', '"",""',
  '%', '%%', '_', '__', '\\', '\\\\', 'a\\', '%\\', '\\%%', '%a%', '_\\__', '[a]', '*', '?', 'a'.repeat(129),
  `${'a'.repeat(127)}%`, 'b'.repeat(1025), Array(101).fill('1').join(','), Array(100).fill('1').join(',')
]

function nested (depth: number): unknown {
  return depth === 0 ? 0 : [nested(depth - 1)]
}
