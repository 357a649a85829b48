import assert from 'node:assert/strict'
import { formatNames, fullFormats } from 'ajv-formats/dist/formats.js'
import fc from 'fast-check'
import { test } from 'tap'
import { defineModel, text } from '../../lib/index.js'
import type { Column } from '../../lib/model/column.js'
import { checkCompiler } from '../../schemas/check.js'
import { valueSchema } from '../../schemas/shapes.js'
import { share } from '../support/share.js'
import { attack } from './security-helper.js'

/** The milliseconds of processor time that something takes, the least of some rounds: others use the machine, too. */
async function held (send: () => Promise<unknown>, rounds = 3): Promise<number> {
  const times: number[] = []
  for (let round = 0; round < rounds; round++) {
    const start = process.cpuUsage()
    await send()
    const { user, system } = process.cpuUsage(start)
    times.push((user + system) / 1000)
  }
  return Math.min(...times)
}

const pumps = [
  'a', '1', 'a:', ':', ':a', '::', '@', 'a@', '.a', 'a.', '.', '-a', 'a-', '/', '//a', '%41', '%', '[', '{a}', '{',
  ',a', '~0', '~', '#', '?', '\\', ' ', '\n', '\u00a1', '=', '+', 'AA==', '1Y', '255.', '(', '(?:', '(a*)*', '|',
  '127.'
]
const starts = [
  '', 'http://', 'http://a@', 'http://a:a@', 'http://a.', 'http://a.bc/', 'http://[', 'a@', 'a@a.', 'P', 'PT', '#/',
  '0/', '{', '{+a,', '::', '1:', '2024-01-01T00:00:00.', '00:00:00.', 'urn:uuid:', 'a:', '//', '('
]
const ends = ['!', ' \u{1f600}']
/** Texts of a length on which an expression may have to go back often. */
const worstTexts = (length: number, ends: readonly string[]) =>
  starts.flatMap((start) => pumps.flatMap((pump) => ends.map((end) =>
    start + pump.repeat(Math.floor((length - start.length - end.length) / pump.length)) + end)))

test('T-109: no format takes long for a text of any length', async (t) => {
  // Texts of two units a character are the longest that formats are asked about.
  const texts = [
    ...worstTexts(2 * 2048, ends), ...worstTexts(2048, ['']),
    ...worstTexts(2 ** 20, ['!']).filter((_text, index) => index % 97 === 0)
  ].filter((_text, index) => index % Math.round(1 / share) === 0)
  for (const format of formatNames) {
    const { columns: [, column] } = defineModel('Thing', { text: text({ format }) })
    const check = checkCompiler().ofValue(valueSchema(column as Column))
    let longest = 0
    for (const worst of texts) {
      const time = await held(async () => check(worst), 1)
      longest = Math.max(longest, time < 25 ? time : await held(async () => check(worst)))
      if (longest >= 50) break
    }
    t.ok(longest < 50, `${format}: ${longest} ms`)
  }
})

test('T-109: a URL is what ajv-formats takes for one', async (t) => {
  const { columns: [, column] } = defineModel('Thing', { text: text({ format: 'url' }) })
  const check = checkCompiler().ofValue(valueSchema(column as Column))
  const part = fc.constantFrom(
    'http://', 'https://', 'ftp://', 'HTTP://', 'a', 'b', '.', '-', ':', '@', '/', '?', '#', 'example', 'com', '10',
    '127', '192.168', '172.16', '8', '80', '255', '[', ']', 'é', '\u{1f600}', ' ', '\n', '%', 'user', '//', ''
  )
  const parts = fc.tuple(fc.constantFrom('http://', 'https://', ''), fc.array(part, { maxLength: 14 }))
    .map(([scheme, rest]) => scheme + rest.join(''))
  const likely = fc.tuple(
    fc.constantFrom('', 'a@', 'a:b@', 'a:@', ':a@', '@', 'a@b@', 'a:b:c@', '\u00a1@'),
    fc.constantFrom('example.com', 'a.b', '8.8.8.8', '10.0.0.1', 'a-b.cd', 'a--b.cd', '-a.cd', 'localhost'),
    fc.constantFrom('', ':80', ':8', ':123456', ':'), fc.constantFrom('', '/', '/a@b', '/a b', '?a', '#a', '/é')
  )
    .map((all) => `http://${all.join('')}`)
  let accepted = 0
  fc.assert(fc.property(fc.oneof(parts, likely), (url) => {
    const isUrl = (fullFormats.url as RegExp).test(url)
    if (isUrl) accepted += 1
    assert.equal(check(url) === undefined, isUrl, url)
  }), { numRuns: 20_000 })
  t.ok(accepted > 500, `${accepted} are`)
})

test('T-110: a page of long records is short, whoever wrote them, and costs little memory', async (t) => {
  const content = 'a'.repeat(2 ** 20)
  const { app, get, ids } = await attack(t, {
    undocumented: 'to compare long answers with a schema takes long',
    rows: {
      message: Array.from(
        { length: 60 }, (_, index) => ({ id: index + 1, user_id: 2, content, pub_date: '2024-02-01 10:00:00' })
      )
    }
  })
  /** On a machine that is slow a list is put off. */
  const longPage = async (url: string): Promise<string> => {
    const { statusCode, body } = await app.inject({ url })
    return statusCode === 503 ? await longPage(url) : body
  }
  const before = process.memoryUsage().rss
  const queries = ['', '&ordering=-pub_date', '&user__username=alice', '&after=', '&content__gt=a', '&ordering=content']
  for (let round = 0; round < 2; round++) {
    const bodies = await Promise.all(queries.map(async (query) => await longPage(`/api/message/?limit=100${query}`)))
    for (const [index, body] of bodies.entries()) {
      t.ok(body.length > 2 ** 20 && body.length < 4.5 * 2 ** 20, `${queries[index]}: ${body.length} bytes`)
    }
  }
  const grown = (process.memoryUsage().rss - before) / 2 ** 20
  t.ok(grown < 250, `${grown} MiB`)
  const found: number[] = []
  for (let next = '/api/message/?limit=100&after='; next !== '';) {
    found.push(...await ids(next))
    next = (await get(next)).json().meta.next
  }
  t.same(found, Array.from({ length: 60 }, (_, index) => index + 1))
})

const multipart = { 'content-type': 'multipart/form-data; boundary=x' }

test('T-111: a body of a million empty parts, fields or brackets is refused at once', async (t) => {
  const { post, unchanged } = await attack(t)
  const fill = (part: string) => part.repeat(Math.floor((2 ** 20 - 200) / part.length))
  const part = '--x\r\nContent-Disposition: form-data; name="data"\r\n\r\n{"content":"a"}\r\n'
  const bodies = [
    ...[
      '--x\r\n', '--x\r\n\r\n', '\r\n--x\r\n\r\n', '--x\r\na: b\r\n\r\nc\r\n',
      '--x\r\nContent-Disposition: form-data; name="data"\r\n\r\na\r\n'
    ].flatMap((empty) =>
      ['', part].flatMap((first) =>
        ['', '--x--\r\n'].map((end) => [`${first}${fill(empty)}${end}`, multipart] as const))),
    ...['&', 'a&', '%&', '+', '=&'].map((field) =>
      [fill(field), { 'content-type': 'application/x-www-form-urlencoded' }] as const),
    ...['[],', '{},', '"",', '1,'].map((value) =>
      [`{"content":[${fill(value)}1]}`, { 'content-type': 'application/json' }] as const)
  ]
  await unchanged(async () => {
    for (const [payload, headers] of bodies) {
      const name = `${payload.slice(0, 20)} … ${payload.slice(-10)}`
      const time = await held(async () =>
        t.equal((await post('/api/message/', payload, { as: 'alice', headers })).statusCode, 400, name))
      t.ok(time < 300, `${name}: ${time} ms`)
    }
  })
  t.equal((await post('/api/message/', `${part}--x--`, { as: 'alice', headers: multipart })).statusCode, 201)
})
