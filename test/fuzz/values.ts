import fc from 'fast-check'
import { anyJson, anyText, texts } from '../properties/kinds.js'
import { keys } from './site.js'

type Schema = Readonly<Record<string, unknown>>

/** Texts that parsers, databases and browsers have been caught with. */
const traps = [
  "' OR '1'='1", "'; drop table message; --", '" or 1=1 --', "1' union select password from user --",
  '$$; select pg_sleep(3) $$', '\\', '%', '_', '\0', 'a\0b', '\ud800', '\udfff\ud800', '\u202e', '\ufeff',
  '../../etc/passwd', '%00', '%2e%2e/', '{{7*7}}', '<script>alert(1)</script>', '\r\nX-Injected: 1', '__proto__',
  'constructor', 'toString', 'hasOwnProperty', 'null', 'NaN', 'Infinity', '-0', '1e400', '0x10', '1.0', '01', '+1',
  '-1', '9007199254740993', '9223372036854775808', '9'.repeat(400), 'true', '[object Object]', '[]', '{}',
  '0000-00-00', '2024-02-30', '2024-02-29 23:59:60', '+275760-09-13', '2024-01-01T00:00:00+99:99', ',', ',,', '"',
  '""', '"a,b"', '"a', 'a"b', '1,2,3', '1,'.repeat(120), '%'.repeat(130), '\u{1f600}'.repeat(40), 'x'.repeat(3000)
]
const datesAndTimes = [
  '2024-02-29 12:30:00', '2000-01-01T00:00:00Z', '1999-12-31T23:59:59.999+05:30', '2024-03-01', '0001-01-01 00:00:00',
  '9999-12-31 23:59:59'
]

/** Any text, much of it hostile. */
export const hostileText: fc.Arbitrary<string> = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...traps) },
  { weight: 2, arbitrary: fc.constantFrom(...texts) },
  { weight: 2, arbitrary: anyText },
  { weight: 1, arbitrary: fc.constantFrom(...keys, ...datesAndTimes) })

/** Values that fit a schema of the document, as far as it says what fits. */
export function fitting (schema: Schema): fc.Arbitrary<unknown> {
  const text = JSON.stringify(schema)
  const known = fits.get(text) ?? arbitraryOf(schema)
  fits.set(text, known)
  return known
}

const fits = new Map<string, fc.Arbitrary<unknown>>()

const ofType: Readonly<Record<string, (schema: Schema) => fc.Arbitrary<unknown>>> = {
  integer: ({ minimum, maximum }) =>
    fc.oneof(fc.constantFrom(1, 2, 3, 5), fc.integer({ min: Number(minimum ?? 0), max: Number(maximum ?? 1000) })),
  number: ({ minimum }) => fc.double({ min: Number(minimum ?? -1e300), noNaN: true, noDefaultInfinity: true }),
  boolean: () => fc.boolean(),
  null: () => fc.constant(null),
  string: ofString
}

function arbitraryOf (schema: Schema): fc.Arbitrary<unknown> {
  if (Array.isArray(schema['enum'])) return fc.constantFrom<unknown>(...schema['enum'])
  const types = [schema['type'] ?? []].flat().map(String)
  return types.length === 0 ? anyJson : fc.oneof(...types.map((type) => ofType[type]?.(schema) ?? anyJson))
}

function ofString ({ pattern, minLength, maxLength, format, description }: Schema): fc.Arbitrary<string> {
  if (format === 'email') return fc.emailAddress()
  if (/date and time|ISO 8601/.test(String(description))) return fc.constantFrom(...datesAndTimes)
  if (pattern !== undefined) return fc.stringMatching(new RegExp(String(pattern)), { size: '-1' })
  const lengths = { minLength: Number(minLength ?? 0), maxLength: Math.min(Number(maxLength ?? 40), 40) }
  return fc.oneof(fc.constantFrom('a', 'ab', 'note 1', 'alice', 'by 2'), fc.string({ ...lengths, unit: 'grapheme' }))
}
