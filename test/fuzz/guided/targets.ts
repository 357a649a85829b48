import assert from 'node:assert/strict'
import { parseListQuery } from '../../../lib/request/list-query.js'
import { parsePayload } from '../../../lib/request/payload.js'

/** What reads bytes of clients, and what must be true whatever they are. */
export interface Target {
  /** Inputs to begin with. */
  readonly seeds: readonly string[]
  /** Pieces of inputs. */
  readonly words: readonly string[]
  /** Reads an input, bytes as latin1. @throws whatever is no refusal, and if what was read is not as it must be */
  run (input: string): Promise<void>
}

const longestQuery = 8192

const query: Target = {
  seeds: [
    '', 'title=a', 'count__gte=1&count__lt=5', 'token__in="a,b",c', 'owner__username__like=a%25',
    'shelf__name__ilike=%25', 'ordering=-moment,id&limit=5', 'page=2', 'after=', 'moment__gt=2024-01-01T00:00:00Z',
    'price=1.10&big=1', 'flag=true&day__is=null', 'include=owner,shelf__next'
  ],
  words: [
    '&', '=', '__', '-', ',', '"', '%', '+', '%C3%A9', '%ff', '%00', '%ED%A0%80', '\\', ';', '?', '#', 'limit=',
    'page=', 'after=', 'ordering=', 'include=', 'count=true', 'search=', 'eq', 'in', 'is', 'like', 'ilike', 'ne', 'gte',
    'null', 'notnull', 'true', 'id', 'owner', 'owner_id',
    'shelf__', 'next__name', 'title', 'status', 'count', 'big', 'price', 'flag',
    'moment', 'day', 'token', 'mail', 'data', 'WzIsImlkIiwiMSJd', '9007199254740993', '2024-02-29 12:30:00',
    '0f8fad5b-d9cb-469f-a165-70867728950e'
  ],
  run: async (input) => {
    const { filters, ordering, searches, include, limit, page, after, rest } =
      parseListQuery(input, longestQuery, 100)
    const named = filters.flatMap(({ name, text }) => [name, text])
    const texts = [...named, ...ordering, ...searches, ...include, ...rest.flat(), after ?? '']
    assert.ok(texts.every((text) => typeof text === 'string' && text.isWellFormed()))
    assert.ok([limit ?? 1, page].every((number) => Number.isSafeInteger(number) && number >= 1))
    const again = rest.map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`).join('&')
    assert.deepEqual(parseListQuery(again, Infinity, 100).rest, rest, 'links ask for the same')
  }
}

const types = [
  'application/json', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x', '',
  'multipart/form-data', 'multipart/form-data; boundary="', 'text/plain; charset=utf-16'
]
const object = '{"title":"ab","count":1,"data":{"a":[1,"b"]},"shelf":1}'
const part = '--x\r\ncontent-disposition: form-data; name="data"'

/** The first byte says which content type the others have. */
const body: Target = {
  seeds: [
    `0${object}`, `1data=${encodeURIComponent(object)}`, `2${part}\r\n\r\n${object}\r\n--x--\r\n`, `3${object}`,
    '0{}', '1data={}&x=1', `2${part}; filename="a"\r\n\r\nb\r\n--x--`
  ],
  words: [
    '{', '}', '[', ']', '"', ':', ',', '\\u0000', '\\ud800', '\\"', 'null', 'true', '-0', '1e400', '1.5',
    '"__proto__":', '"constructor":{"prototype":{}}', '"title":"ab"', '"status":"final"', '"mail":"a@b.c"',
    '"count":5', '"big":"1"', '"ratio":0.5', '"price":"1.10"', '"flag":true', '"moment":"2024-01-01"',
    '"day":"2024-02-29"', '"token":"0f8fad5b-d9cb-469f-a165-70867728950e"', '"shelf_id":1', '"next":null',
    '"word":"abc"', '"owner":2', '"id":1', 'data=', '&', '%7B', '%ff', '\r\n', '--x', '--x--', part, '; filename="a"',
    "; filename*=utf-8''a", '\r\ncontent-type: text/plain; charset=utf-16', '\r\ncontent-transfer-encoding: base64',
    '\xff', '\xef\xbb\xbf', '\0'
  ],
  run: async (input) => {
    const payload = await parsePayload(
      Buffer.from(input.slice(1), 'latin1'), types[(input.charCodeAt(0) || 0) % types.length]
    )
    assert.ok(typeof payload === 'object' && !Array.isArray(payload) && !Object.hasOwn(payload, '__proto__') &&
      Object.getPrototypeOf(payload) === Object.prototype)
  }
}

export const targets = { query, body } as const satisfies Record<string, Target>
export type TargetName = keyof typeof targets
export const targetNames = Object.keys(targets) as TargetName[]

/** Reads an input; what a client would be refused with is as good as an answer. */
export async function tryInput (target: Target, input: string): Promise<void> {
  try {
    await target.run(input)
  } catch (error) {
    const { code, statusCode } = error as { readonly code?: unknown, readonly statusCode?: unknown }
    if (!(typeof code === 'string' && code.startsWith('REST_MODELS_') && typeof statusCode === 'number' &&
      statusCode >= 400 && statusCode < 500)) throw error
  }
  assert.deepEqual(Object.keys(Object.prototype), [], 'what all objects have is as it was')
}
