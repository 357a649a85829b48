import type { ErrorObject } from 'ajv'
import type { FormatName } from 'ajv-formats'
import { fieldKinds } from '../lib/fields/field-kinds.js'
import { keyPattern } from '../lib/values/field-options.js'

type Keyword =
  'required' | 'type' | 'enum' | 'format' | 'pattern' | 'minLength' | 'maxLength' | 'minimum' | 'maximum'

/** Maximum number of values of an `enum` that a message lists. If there are more, it lists none. */
const maxChoices = 20

/**
 * Messages of faults of values, by the keyword of JSON Schema that finds the fault. They follow a field's name. Each
 * takes the parameters that Ajv gives to the keyword. The schemas of fields have no other keywords.
 */
const messages: Readonly<Record<Keyword, (limits: ErrorObject['params']) => string>> = {
  required: () => 'is required',
  type: ({ type }) => `must be ${either([type].flat().flatMap((name: string) => types[name] ?? name))}`,
  enum: ({ allowedValues }) => allowedValues.length > maxChoices
    ? 'must be one of the values that the field takes'
    : `must be ${either(allowedValues.map((choice: unknown) => JSON.stringify(choice)))}`,
  format: ({ format }) => `must be ${formatWords[format as FormatName]}`,
  pattern: ({ pattern }) => `must be ${String(patternWords.get(pattern))}`,
  minLength: ({ limit }) => `must have at least ${characters(limit)}`,
  maxLength: ({ limit }) => `must have at most ${characters(limit)}`,
  minimum: ({ limit }) => `must be at least ${limit}`,
  maximum: ({ limit }) => `must be at most ${limit}`
}

/** Types of JSON Schema, in words. */
const types: Readonly<Record<string, string | readonly string[]>> = {
  string: 'a string', integer: 'an integer', number: 'a number', boolean: ['true', 'false']
}

/** Words for the patterns of field kinds and keys. The options of a field do not change the pattern of its kind. */
const patternWords: ReadonlyMap<unknown, string> = new Map([
  ...Object.values(fieldKinds).map(({ schema, expects }) => [schema({})['pattern'], expects] as const),
  [keyPattern, "a text other than '.' and '..', which paths cannot hold"]
])

/** The formats of `ajv-formats`, in words. */
const formatWords: Readonly<Record<FormatName, string>> = {
  date: 'a date as YYYY-MM-DD',
  time: 'a time with a time zone, such as 12:30:00Z',
  'date-time': 'a date and time with a time zone, such as 2026-01-31T12:30:00Z',
  'iso-time': 'a time, such as 12:30:00',
  'iso-date-time': 'a date and time, such as 2026-01-31T12:30:00',
  duration: 'a duration, such as P1DT12H',
  uri: 'a URI, such as https://example.com/',
  'uri-reference': 'a URI or a part of one, such as /path?query',
  'uri-template': 'a URI template, such as /path/{id}',
  url: 'a URL, such as https://example.com/',
  email: 'an e-mail address',
  hostname: 'a host name',
  ipv4: 'an IPv4 address',
  ipv6: 'an IPv6 address',
  regex: 'a regular expression',
  uuid: 'a UUID',
  'json-pointer': 'a JSON pointer, such as /a/0',
  'json-pointer-uri-fragment': 'a JSON pointer as a URI fragment, such as #/a/0',
  'relative-json-pointer': 'a relative JSON pointer, such as 1/a',
  byte: 'text in Base64',
  int32: 'an integer of 32 bits',
  int64: 'an integer of 64 bits',
  float: 'a number',
  double: 'a number',
  password: 'a password',
  binary: 'binary data'
}

/** Returns the message of a fault that Ajv found. It names limits of the schema, and never a value of the client. */
export function messageOf ({ keyword, params }: ErrorObject): string {
  return messages[keyword as Keyword](params)
}

function characters (count: number): string {
  return count === 1 ? '1 character' : `${count} characters`
}

/** Joins alternatives: `a`, `a or b`, `a, b or c`. */
function either (choices: readonly string[]): string {
  const last = String(choices.at(-1))
  return choices.length === 1 ? last : `${choices.slice(0, -1).join(', ')} or ${last}`
}
