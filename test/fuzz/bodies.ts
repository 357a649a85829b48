import fc from 'fast-check'
import { anyJson } from '../properties/kinds.js'
import type { Operation } from './operations.js'
import { hiddenNames, keys } from './site.js'
import { fitting, hostileText } from './values.js'

/** Bytes, and what they are said to be. */
export interface Body {
  readonly bytes: Buffer
  readonly type: string | undefined
}

const boundary = 'x-0123456789'
const multipart = (text: string): string =>
  `--${boundary}\r\ncontent-disposition: form-data; name="data"\r\n\r\n${text}\r\n--${boundary}--\r\n`
const ways: ReadonlyArray<(json: string) => Body> = [
  (json) => ({ bytes: Buffer.from(json), type: 'application/json' }),
  (json) => ({ bytes: Buffer.from(json), type: undefined }),
  (json) => ({
    bytes: Buffer.from(`data=${encodeURIComponent(json.toWellFormed())}`), type: 'application/x-www-form-urlencoded'
  }),
  (json) => ({ bytes: Buffer.from(multipart(json)), type: `multipart/form-data; boundary=${boundary}` })
]
const types = [
  'text/plain', 'application/json; charset=utf-16', 'APPLICATION/JSON', 'application/vnd.api+json',
  'multipart/form-data', 'multipart/form-data; boundary=', 'multipart/form-data; boundary=x',
  'application/x-www-form-urlencoded', 'text/html', '', '*/*', 'x', 'application/json, text/plain'
]
const noObjects = [
  '', ' ', 'null', '[]', '1', '"a"', '{', '{"a":', '{"a":1}{', '{"a":1,"a":2}', "{'a':1}",
  '{"__proto__":{"admin":true}}', '{"constructor":{"prototype":{"admin":true}}}', '{"content":"\\ud800"}',
  `{"content":${'['.repeat(2000)}`, '{"id":1e999}', 'data', 'data=', 'data={}&data={}', 'data=%ff', 'data=%7B%7D&x=1',
  `--${boundary}`, `--${boundary}\r\ncontent-disposition: form-data; name="data"; filename="a"\r\n\r\n{}`,
  `--${boundary}\r\n\r\n\r\n--${boundary}--`,
  '--x\r\nContent-Disposition: form-data; name="data"\r\nContent-Type: text/plain; charset=utf-16\r\n\r\n{}\r\n--x--'
]

/** Bodies for an operation, most of them near to what the document says. */
export function bodiesOf (operation: Operation): fc.Arbitrary<Body | undefined> {
  const near = fc.tuple(objectOf(operation), fc.constantFrom(...ways)).map(([text, way]) => way(text))
  const far = fc.tuple(
    fc.oneof(fc.constantFrom(...noObjects), fc.json({ maxDepth: 4 })),
    fc.option(fc.constantFrom(...types), { nil: undefined })
  ).map(([text, type]) => ({ bytes: Buffer.from(text), type }))
  const noise = fc.tuple(fc.uint8Array({ maxLength: 200 }), fc.constantFrom(...types, 'application/json'))
    .map(([bytes, type]) => ({ bytes: Buffer.from(bytes), type }))
  const mistyped = fc.tuple(near, fc.constantFrom(...types)).map(([{ bytes }, type]) => ({ bytes, type }))
  return fc.oneof(
    { weight: 12, arbitrary: near }, { weight: 3, arbitrary: far }, { weight: 1, arbitrary: noise },
    { weight: 2, arbitrary: mistyped }, { weight: 1, arbitrary: fc.constant(undefined) }
  )
}

/** JSON of an object. */
function objectOf ({ body }: Operation): fc.Arbitrary<string> {
  const entries = fc.tuple(...body.map(({ name, schema, required }) => {
    const value = fc.oneof({ weight: 30, arbitrary: fitting(schema) }, { weight: 1, arbitrary: hostileText }, {
      weight: 1, arbitrary: anyJson
    })
    // A stored hash takes as long as twenty other requests.
    const isHashed = /hash/.test(String(schema['description']))
    return sometimes(isHashed ? 1 : required ? 30 : 8, fc.tuple(fc.constant(name), value))
  }))
  const strange = sometimes(1, fc.tuple(
    fc.constantFrom(
      'id', 'owner', 'owner_id', 'user', 'user_id', 'from_user', 'admin', 'Content', 'content ', '', ...hiddenNames
    ),
    fc.oneof(fc.constantFrom<unknown>(1, 2, 3, '1', null, true), anyJson)
  ))
  return fc.tuple(entries, strange).map(([entries, strange]) =>
    JSON.stringify(Object.fromEntries([...entries, strange].filter((entry) => entry !== undefined))))
}

/** A value so many times of eight that it is not there. */
function sometimes<Value> (weight: number, value: fc.Arbitrary<Value>): fc.Arbitrary<Value | undefined> {
  return fc.oneof({ weight: 8, arbitrary: fc.constant(undefined) }, { weight, arbitrary: value })
}

/** The same bytes with a few of them changed, cut or doubled. */
export interface Damage {
  readonly kind: 'replace' | 'insert' | 'cut' | 'double'
  /** Where, as a part of the whole. */
  readonly at: number
  readonly bytes: Uint8Array
}

const separators = [
  '\r\n', '\n', '\r', '\0', ' ', '\t', ':', '\r\n\r\n', '\r\n ', ';', '%', 'HTTP/1.1', 'Content-Length: 5\r\n',
  'Transfer-Encoding: chunked\r\n', 'Expect: 100-continue\r\n', 'Upgrade: h2c\r\n', 'GET / HTTP/1.1\r\n\r\n',
  '0\r\n\r\n', keys[0]
]
export const damages: fc.Arbitrary<Damage> = fc.record({
  kind: fc.constantFrom('replace', 'insert', 'cut', 'double'),
  at: fc.double({ min: 0, max: 1, noNaN: true }),
  bytes: fc.oneof(fc.uint8Array({ minLength: 1, maxLength: 6 }), fc.constantFrom(...separators)
    .map((text): Uint8Array => Buffer.from(text)))
})

export function damage (whole: Buffer, { kind, at, bytes }: Damage): Buffer {
  const index = Math.floor(at * whole.length)
  const [before, after] = [whole.subarray(0, index), whole.subarray(index)]
  if (kind === 'cut') return before
  if (kind === 'double') return Buffer.concat([before, after, after])
  return Buffer.concat([before, bytes, kind === 'replace' ? after.subarray(bytes.length) : after])
}
