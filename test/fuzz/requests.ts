import { METHODS } from 'node:http'
import fc from 'fast-check'
import { basic } from '../support/site.js'
import { bodiesOf, type Body } from './bodies.js'
import type { Operation } from './operations.js'
import { callers, hiddenNames, keys, type Caller } from './site.js'
import { fitting, hostileText } from './values.js'

/** A request as it is written, before anything is done to its bytes. */
export interface FuzzedRequest {
  readonly method: string
  /** Path and query. */
  readonly target: string
  readonly headers: ReadonlyArray<readonly [name: string, value: string]>
  readonly body: Buffer | undefined
}

const usual = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']
const mostly = <Value>(
  likely: fc.Arbitrary<Value>, weight: number, ...others: ReadonlyArray<fc.Arbitrary<Value>>
): fc.Arbitrary<Value> =>
    fc.oneof({ weight, arbitrary: likely }, ...others.map((arbitrary) => ({ weight: 1, arbitrary })))

/** Requests of a caller: an operation of the document each, with changes to any part. */
export function requestsOf (operations: readonly Operation[], caller: Caller): fc.Arbitrary<FuzzedRequest> {
  return fc.oneof(...operations.map((operation) => ({
    // A list has as many parameters as all others have fields.
    weight: operation.query.length > 0 ? 4 : operation.body.length > 0 ? 2 : 1,
    arbitrary: requestOf(operation, caller)
  })))
}

function requestOf (operation: Operation, caller: Caller): fc.Arbitrary<FuzzedRequest> {
  const withBody = operation.method === 'GET'
    ? mostly<Body | undefined>(fc.constant(undefined), 20, bodiesOf(operation))
    : bodiesOf(operation)
  return fc.record({
    method: mostly(
      fc.constant(operation.method), 20, fc.constantFrom(...usual),
      fc.constantFrom(...METHODS.filter((method) => method !== 'CONNECT'))
    ),
    path: pathOf(operation, caller),
    query: queryOf(operation),
    who: authorizationOf(caller),
    others: fc.array(otherHeaders, { maxLength: 2 }),
    body: withBody
  }).map(({ method, path, query, who, others, body }) => ({
    method,
    target: query === '' ? path : `${path}?${query}`,
    headers: [
      ...who === undefined ? [] : [['authorization', who] as const],
      ...body?.type === undefined ? [] : [['content-type', body.type] as const],
      ...others.flat()
    ],
    body: body?.bytes
  }))
}

function pathOf ({ path }: Operation, caller: Caller): fc.Arbitrary<string> {
  // The records of a caller have the id of the caller.
  const known = fc.constantFrom<string>(
    ...keys, String(callers[caller]), String(callers[caller]), '999', '12345678-1234-4234-8234-123456789abc'
  )
  const id = mostly(known, 8, hostileText.map((text) => encodeURIComponent(text.toWellFormed())))
  const right = id.map((id) => path.replace('{id}', id))
  const bent = fc.tuple(right, fc.constantFrom<(path: string) => string>(
    (path) => path.replace(/\/$/, ''), (path) => `/${path}`, (path) => `${path}/`, (path) => path.toUpperCase(),
  (path) => path.replace(/[a-z]/, (letter) => `%${letter.charCodeAt(0).toString(16)}`),
  (path) => path.replace('/api/', '/api/note/../'), (path) => path.replaceAll('/', '%2f'), (path) => `${path};x=1`,
  (path) => `${path}%00`, (path) => `${path}%ff`, (path) => path.slice(0, -3), () => '/', () => '/api', () => '*',
  () => '/api/__proto__/', () => '/api/vault/1/'
  )).map(([path, bend]) => bend(path))
  return mostly(right, 12, bent)
}

const escapes: ReadonlyArray<(text: string) => string> = [
  (text) => encodeURIComponent(text.toWellFormed()), (text) => encodeURIComponent(text.toWellFormed()),
  (text) => encodeURIComponent(encodeURIComponent(text.toWellFormed())),
  (text) => encodeURIComponent(text.toWellFormed()).replaceAll('%20', '+'),
  (text) => text.replaceAll(/[^\u0021-\u007e]|[#?]/gu, '%'), (text) => `${encodeURIComponent(text.toWellFormed())}%c3`
]

function queryOf ({ query }: Operation): fc.Arbitrary<string> {
  const strange = fc.tuple(
    fc.constantFrom(
      ...hiddenNames, 'select', 'where[password]', 'fields', 'id[]', '', '__proto__', 'id__regexp', 'id__id',
      'limit ', 'PAGE', 'ordering', 'count', 'search', 'include'
    ),
    hostileText
  )
  const known = query.length === 0
    ? strange
    : fc.oneof(...query.map(({ name, schema }) =>
      fc.tuple(fc.constant(name), mostly(fitting(schema).map(String), 6, hostileText))))
  const parameter =
    fc.tuple(mostly(known, 12, strange), mostly(fc.constant(escapes[0] ?? String), 12, fc.constantFrom(...escapes)))
      .map(([[name, value], escape]) => `${escape(name)}=${escape(value)}`)
  const some = query.length === 0
    ? mostly(fc.constant<string[]>([]), 20, fc.array(parameter, { maxLength: 2 }))
    : fc.array(parameter, { maxLength: 4 })
  return some.map((parts) => parts.join('&'))
}

function authorizationOf (caller: Caller): fc.Arbitrary<string | undefined> {
  const right = fc.constant(caller === 'nobody' ? undefined : basic(caller))
  const wrong = fc.oneof(
    {
      weight: 12,
      arbitrary: fc.constantFrom(
        basic('alice', 'wrong'), basic('dora', 'dora'), basic('ALICE', 'alice'), basic('alice ', 'alice'), 'Basic',
        'Basic !', 'Bearer x', '', 'Basic Og==', `Basic ${'A'.repeat(5000)}`, basic('admin', '')
      )
    },
    { weight: 1, arbitrary: hostileText.map((name) => basic(name, 'alice')) })
  return mostly(right, 12, wrong, fc.constant(undefined))
}

const otherHeaders: fc.Arbitrary<ReadonlyArray<readonly [string, string]>> =
  mostly<ReadonlyArray<readonly [string, string]>>(fc.constant([]), 8, fc.constantFrom(
    [['origin', 'http://evil.example']], [['origin', 'null']], [['sec-fetch-site', 'cross-site']],
    [['sec-fetch-site', 'same-origin']], [['content-encoding', 'gzip']], [['x-http-method-override', 'DELETE']],
    [['accept', 'text/html']], [['accept', 'application/xml;q=0.9']],
    [['if-none-match', '*']], [['if-match', '*']], [['if-match', '"x", W/"y"']], [['if-match', ',"']],
    [['range', 'bytes=0-10']], [['x-forwarded-for', '127.0.0.1']],
    [['x-original-url', '/api/user/']], [['cookie', 'a=b; __proto__=c']], [['x-long', 'x'.repeat(4000)]],
    [['x-empty', '']], [['content-type', 'text/plain']], [['authorization', basic('nobody')]],
    [['transfer-encoding', 'gzip']], [['content-length', '3']], [['host', 'evil.example']], [['host', '']],
    [['connection', 'upgrade'], ['upgrade', 'websocket']], [['expect', '100-continue']],
    [['te', 'trailers'], ['trailer', 'x']], [['x-\u00fc', '\u00ff']]
  ))
