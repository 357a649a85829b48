import { digitsOf, type FieldOptions } from '../values/field-options.js'
import { decimal, type Json } from '../values/values.js'
import { maxPasswordBytes, type FieldKind } from './field-kinds.js'

/** Documentation of the values of a kind, in addition to their schema. */
export interface KindDocumentation {
  /**
   * Keywords of JSON Schema that replace those of the kind in the schema of an answer. Answers show stored values,
   * which may differ from what a body may have: a hash in place of a password. A keyword with the value undefined is
   * removed.
   */
  readonly answer?: Readonly<Record<string, unknown>>
  /** Keywords of JSON Schema that are added for the text of a filter. */
  readonly filter?: Readonly<Record<string, unknown>>
  /**
   * Returns keywords of JSON Schema that replace those of the kind in the schema of a body. They tell rules that
   * `accept` of the kind enforces, as far as a keyword can express them, and describe the rest.
   */
  body? (options: FieldOptions): Readonly<Record<string, unknown>>
  /**
   * Returns an example of a value that a field with these options takes, for the OpenAPI document; undefined if no
   * example can be made.
   */
  example (options: FieldOptions): Json | undefined
}

const uuidOfVersion7 = '018f4d3a-7c1e-7b2a-9d3f-5a6b7c8d9e0f'
const day = '2026-01-31'

/** Example texts, by the option `format` of a text field. A text with another format has no example. */
const textsByFormat: Readonly<Record<string, string>> = {
  email: 'alice@example.com',
  uri: 'https://example.com/',
  url: 'https://example.com/',
  hostname: 'example.com',
  ipv4: '192.0.2.1',
  ipv6: '2001:db8::1',
  uuid: uuidOfVersion7,
  date: day,
  time: '12:30:00Z',
  'date-time': `${day}T12:30:00Z`
}

/** Documentation of each kind of field. */
export const kindDocumentation: Readonly<Record<FieldKind, KindDocumentation>> = {
  text: { example: exampleText },
  integer: { example: (options) => Math.ceil(inRange(1, options)) },
  bigint: { body: () => ({ description: 'A whole number of 64 bits, as text' }), example: () => '9007199254740993' },
  number: { example: (options) => inRange(1.5, options) },
  decimal: {
    body: (options) => ({ pattern: bodyPatternOfDecimals(options) }),
    example: (options) => decimal('1', options) ?? decimal('0', options)
  },
  boolean: { example: () => true },
  datetime: {
    answer: {
      description: 'YYYY-MM-DD HH:MM:SS in UTC',
      maxLength: undefined,
      pattern: '^[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}$'
    },
    body: () => ({ description: 'YYYY-MM-DD HH:MM:SS in UTC, ISO 8601, or a date' }),
    example: () => `${day} 12:30:00`
  },
  date: { answer: { description: 'YYYY-MM-DD' }, filter: { format: 'date' }, example: () => day },
  json: {
    // In OpenAPI 3.0, there is no type of null.
    body: ({ nullable }) => nullable === true ? {} : { not: { enum: [null] } },
    example: () => ({ any: ['JSON'] })
  },
  uuid: { example: () => uuidOfVersion7 },
  password: {
    answer: { description: 'What is stored, a hash', minLength: undefined, maxLength: undefined },
    body: ({ maxLength = maxPasswordBytes }) =>
      ({ description: 'Is stored as a hash', maxLength: Math.min(maxLength, maxPasswordBytes) }),
    example: exampleText
  },
  foreignKey: { example: () => 1 },
  key: { example: () => 1 },
  compositeKey: { example: () => '1,2' }
}

/**
 * Returns the pattern of decimals with no more digits than a field takes. Texts such as `-0.001` have an alternative
 * for each number of zeros, because `-0.00` is refused, and not every program knows lookaheads.
 */
function bodyPatternOfDecimals (options: FieldOptions): string {
  const { precision, scale } = digitsOf(options)
  const fraction = scale === 0 ? '' : `([.][0-9]{1,${scale}})?`
  const fromOne = precision === scale ? [] : [`-?[1-9][0-9]{0,${precision - scale - 1}}${fraction}`]
  const belowZero = Array.from({ length: scale }, (_, zeros) =>
    `-0[.]${'0'.repeat(zeros)}[1-9][0-9]{0,${scale - zeros - 1}}`)
  return `^(${[`0${fraction}`, ...fromOne, ...belowZero].join('|')})$`
}

function exampleText (options: FieldOptions): string | undefined {
  const { enum: choices, format, minLength = 0, maxLength = Infinity } = options
  const fits = (text: string): boolean => {
    const { length } = [...text]
    return length >= minLength && length <= maxLength
  }
  if (choices !== undefined) return choices.find(fits)
  const text = format === undefined
    ? 'some text'.padEnd(Math.min(minLength, 100), '.').slice(0, maxLength)
    : textsByFormat[format] ?? ''
  return fits(text) && (format === undefined || text !== '') ? text : undefined
}

function inRange (value: number, { minimum = -Infinity, maximum = Infinity }: FieldOptions): number {
  return Math.min(Math.max(value, minimum), maximum)
}
