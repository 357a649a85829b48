// @once: about bodies, which are read before any statement; what is stored of them is in security/texts.test.ts

import { connect, type AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import type { FastifyInstance } from 'fastify'
import { test } from 'tap'
import { basic } from '../support/site.js'
import { attack, bodyWays, field, form, multipart } from './security-helper.js'

test('T-73: keys of prototypes are refused, wherever the JSON stands', async (t) => {
  const { post, put, unchanged } = await attack(t)
  const keys = [
    '"__proto__":{"content":"a"}', '"\\u005f_proto__":{"content":"a"}', '"__pr\\u006fto__":null',
    '"content":"a","__proto__":{"admin":true}', '"constructor":{"prototype":{"admin":true}}',
    '"content":"a","constructor":{"prototype":{}}', '"content":{"__proto__":{"x":1}}', '"content":[{"__proto__":1}]',
    '"\\u0063onstructor":{"proto\\u0074ype":{"x":1}}'
  ]
  await unchanged(async () => {
    for (const way of bodyWays) {
      for (const key of keys) {
        const { payload, headers } = way(`{${key}}`)
        t.equal((await post('/api/message/', payload, { as: 'alice', headers })).statusCode, 400, key)
        t.equal((await put('/api/message/1/', payload, { as: 'alice', headers })).statusCode, 400, key)
      }
    }
  })
  t.equal(({} as Record<string, unknown>)['admin'], undefined)
  for (const way of bodyWays) {
    const { payload, headers } = way('{"content":"__proto__ constructor prototype"}')
    t.equal((await post('/api/message/', payload, { as: 'alice', headers })).statusCode, 201)
  }
})

test('T-74: a body is one JSON object', async (t) => {
  const { post, put, unchanged } = await attack(t)
  const others = [
    '', ' ', 'null', '[]', '[{"content":"a"}]', '1', '"a"', 'true', 'undefined', 'NaN',
    '{"content":"a"}{"content":"b"}', '{"content":"a"} x', '{"content":"a"}/*c*/', '//c\n{"content":"a"}',
    '{"content":"a"', '{"content":"a', '{"content":"a",}', "{'content':'a'}", '{content:"a"}', '{"content":"a\n"}',
    '{"content":"\\x41"}', '{"content":"\\u12"}', '{"content":01}', '<a/>', 'content=a', '\u0000{"content":"a"}',
    '{"content":"a"}\u0000', '{,}', '{"":"a"}', '{"content":"a","content":undefined}'
  ]
  await unchanged(async () => {
    for (const way of bodyWays) {
      for (const json of others) {
        const { payload, headers } = way(json)
        t.equal((await post('/api/message/', payload, { as: 'alice', headers })).statusCode, 400, json)
        t.equal((await put('/api/message/1/', payload, { as: 'alice', headers })).statusCode, 400, json)
      }
    }
    t.equal((await post('/api/message/', undefined, { as: 'alice' })).statusCode, 400)
  })
  for (const way of bodyWays) {
    const { payload, headers } = way(' \r\n{ "content" : "a" }\t')
    t.equal((await post('/api/message/', payload, { as: 'alice', headers })).statusCode, 201)
  }
})

test('T-75: a key that is given twice deceives nobody, a second data is refused', async (t) => {
  const { post, put, unchanged } = await attack(t)
  for (const json of [
    '{"user_id":2,"user_id":1,"content":"a"}', '{"user_id":1,"content":"b","user_id":2}',
    '{"content":"x","content":"a"}'
  ]) {
    t.equal((await post('/api/message/', json, { as: 'alice' })).json().user_id, 2)
  }
  await unchanged(async () => {
    t.equal((await put('/api/message/1/', '{"user_id":2,"user_id":1}', { as: 'alice' })).statusCode, 400)
    t.equal((await put('/api/message/1/', '{"id":1,"id":2}', { as: 'alice' })).statusCode, 400)
    const json = '{"content":"a"}'
    const twice = [
      [`data=${json}&data=${json}`, form], [`data=${json}&Data=${json}`, form], [`x=1&data=${json}`, form],
      [`data=${json}&x`, form], ['', form], ['data', form], ['data=', form], [`DATA=${json}`, form],
      [`data[]=${json}`, form], [`${field(json)}${field(json)}--x--`, multipart],
      [`${field(json)}${field('1', 'x')}--x--`, multipart], [`${field('1', 'x')}${field(json)}--x--`, multipart],
      [`${field(json, 'dat')}--x--`, multipart], ['--x--', multipart]
    ] as const
    for (const [payload, headers] of twice) {
      t.equal((await post('/api/message/', payload, { as: 'alice', headers })).statusCode, 400, payload)
    }
  })
  t.equal((await post('/api/message/', 'data={"content":"a"}&', { as: 'alice', headers: form })).statusCode, 201)
})

test('T-76: deep nesting is refused', async (t) => {
  const { post, put, unchanged } = await attack(t)
  await unchanged(async () => {
    for (const depth of [1000, 50_000, 400_000]) {
      for (const deep of [
        '['.repeat(depth) + ']'.repeat(depth), '['.repeat(depth),
        '{"a":'.repeat(depth / 4) + '1' + '}'.repeat(depth / 4)
      ]) {
        for (const json of [deep, `{"content":${deep}}`]) {
          t.equal((await post('/api/message/', json, { as: 'alice' })).statusCode, 400)
          t.equal((await put('/api/message/1/', `data=${json}`, { as: 'alice', headers: form })).statusCode, 400)
        }
      }
    }
  })
  t.equal((await post('/api/message/', { content: '['.repeat(50_000) }, { as: 'alice' })).statusCode, 201)
})

test('T-77: a large body is refused, and costs little memory', async (t) => {
  const { post, unchanged } = await attack(t)
  const before = process.memoryUsage().rss
  await unchanged(async () => {
    const large = JSON.stringify({ content: 'a'.repeat(3 * 2 ** 20) })
    for (let round = 0; round < 20; round++) {
      const { statusCode, headers } = await post('/api/message/', large, {
        as: 'alice', headers: round % 2 === 0 ? form : {}
      })
      t.equal(statusCode, 413)
      t.match(headers['content-type'], 'application/json')
    }
  })
  t.ok(process.memoryUsage().rss - before < 200 * 2 ** 20)
  t.equal((await post(
    '/api/message/', JSON.stringify({ content: 'a'.repeat(65_536) }).padEnd(2 ** 20), { as: 'alice' }
  )).statusCode, 201)
})

test('T-78: no content type leads past the checks', async (t) => {
  const { post, unchanged } = await attack(t)
  const types = [
    'application/json', 'application/json\t', ' application/json', 'APPLICATION/JSON',
    'application/json; charset=utf-8', 'application/json;charset=utf-16', 'application/vnd.api+json',
    'application/json, text/plain', 'text/plain', 'application/json;', 'application/jsonx', 'x', '', '/',
    'application/', 'application/json a=b', 'application/x-www-form-urlencoded, application/json', '*/*', '__proto__',
    'constructor', 'multipart/form-data', 'multipart/form-data; boundary=', 'multipart/mixed; boundary=x'
  ]
  await unchanged(async () => {
    for (const type of types) {
      for (const body of [
        '{"content":1}', '{"content":"a","admin":true}', '{"content":"a","__proto__":{}}', '{"content":"\\ud800"}'
      ]) {
        const { statusCode } = await post('/api/message/', body, { as: 'alice', headers: { 'content-type': type } })
        t.ok([400, 415].includes(statusCode), `${type}: ${statusCode}`)
      }
    }
  })
  for (const type of types.slice(0, 9)) {
    t.ok(
      [201, 415].includes(
        (await post('/api/message/', '{"content":"a"}', { as: 'alice', headers: { 'content-type': type } })).statusCode
      ),
      type
    )
  }
  t.equal((await post(
    '/api/message/', '{"content":"a"}', { as: 'alice', headers: { 'content-type': 'application/vnd.api+json' } }
  )).statusCode, 201)
})

test('T-79: a body is never unpacked', async (t) => {
  const { post, unchanged } = await attack(t)
  const bomb = gzipSync(JSON.stringify({ content: 'a'.repeat(50 * 2 ** 20) }))
  await unchanged(async () => {
    for (const encoding of ['gzip', 'deflate', 'br', 'x-gzip', 'gzip, gzip']) {
      for (const type of ['application/json', form['content-type'], multipart['content-type']]) {
        const { statusCode } = await post('/api/message/', bomb, {
          as: 'alice', headers: { 'content-encoding': encoding, 'content-type': type }
        })
        t.ok([400, 415].includes(statusCode), `${encoding}: ${statusCode}`)
      }
    }
  })
  t.equal((await post(
    '/api/message/', '{"content":"a"}', { as: 'alice', headers: { 'content-encoding': 'identity' } }
  )).statusCode, 201)
})

test('T-80: a request whose end is not certain is refused and ends the connection', async (t) => {
  const { app, rowsOf } = await attack(t)
  await app.listen({ port: 0, host: '127.0.0.1' })
  const body = '{"content":"a"}'
  const smuggled = `GET /api/user/ HTTP/1.1\r\nHost: x\r\nX: ${basic('alice')}\r\n\r\n`
  const heads = [
    [`Content-Length: ${body.length}`, 'Transfer-Encoding: chunked'],
    ['Transfer-Encoding: chunked', `Content-Length: ${body.length}`], ['Content-Length: 15', 'Content-Length: 16'],
    ['Content-Length: 15, 16'], ['Transfer-Encoding: unknown'],
    ['Transfer-Encoding: chunked, identity'], ['Transfer-Encoding : chunked'], ['Transfer-Encoding: \x0bchunked'],
    ['Content-Length: +15'], ['Content-Length: -1'], ['Content-Length: 0x0f'], ['Content-Length: 1 5'],
    ['Content-Length : 15'],
    ['Content-Length: 15', ' folded: 1'], ['Content-Length: 15', 'X: a\0b'], ['Content-Length: 15', 'no colon']
  ]
  for (const head of heads) {
    const answer = await send(app, `${start}${head.join('\r\n')}\r\n\r\n${body}${smuggled}`)
    t.equal(answer.match(/^HTTP\/1\.1 \d+/gm)?.length, 1, `one answer, and no more: ${head.join(' | ')}`)
    t.match(answer, /^HTTP\/1\.1 400 /, head.join(' | '))
    t.notMatch(answer, /alice/)
  }
  t.match(
    await send(app, `${start}Content-Length: 15\r\n\r\n${body}`.replaceAll('\r\n', '\n')), /^HTTP\/1\.1 400 /,
    'bare line feeds'
  )
  t.match(
    await send(app, `${start}Transfer-Encoding: chunked\r\n\r\nz\r\n${body}`), /^HTTP\/1\.1 400 /,
    'a chunk without a size'
  )
  t.equal((await rowsOf('message')).length, 3)
  t.match(await send(app, `${start}Connection: close\r\nContent-Length: 15\r\n\r\n${body}`), /^HTTP\/1\.1 201 /)
  t.match(
    await send(app, `${start}Connection: close\r\nTransfer-Encoding: chunked\r\n\r\nf\r\n${body}\r\n0\r\n\r\n`),
    /^HTTP\/1\.1 201 /
  )
})

const start = `POST /api/message/ HTTP/1.1\r\nHost: localhost\r\nAuthorization: ${basic('alice')}\r\n`

/** All that comes back on a connection until it is closed. */
async function send (app: FastifyInstance, text: string): Promise<string> {
  const { port } = app.server.address() as AddressInfo
  return await new Promise((resolve, reject) => {
    let answer = ''
    const socket = connect(port, '127.0.0.1', () => socket.write(text, 'latin1'))
    socket.setEncoding('utf8')
      .setTimeout(3000, () => socket.destroy(new Error(`The connection stays open after: ${text}`)))
    socket.on('data', (chunk: string) => { answer += chunk }).on('close', (failed) => { if (!failed) resolve(answer) })
      .on('error', reject)
  })
}

test('T-81: multipart bodies of any form are answered', async (t) => {
  const { post, rowsOf } = await attack(t)
  const piece = fc.constantFrom(
    '--x', '--x--', '\r\n', '\n', '\r', '--', 'Content-Disposition: form-data; name="data"',
    'Content-Disposition: form-data', 'Content-Disposition: attachment; filename="a"', '; filename="a"',
    '; filename*=utf-8\'\'a', '; name*=utf-8\'\'%ff', '; name="__proto__"',
    'Content-Type: text/plain; charset=utf-16', 'Content-Type: text/plain; charset=nonsense',
    'Content-Type: application/octet-stream', 'Content-Type: multipart/mixed; boundary=y',
    'Content-Transfer-Encoding: base64', ':', '"', '\\', '{"content":"a"}', 'x'.repeat(70_000), '\u0000', ''
  )
  const contentTypes = fc.constantFrom(
    'multipart/form-data; boundary=x', 'multipart/form-data; boundary="x"', 'multipart/form-data; boundary=',
    'multipart/form-data', 'multipart/form-data; boundary=x; boundary=y', 'multipart/form-data; boundary=\u00ff',
    'multipart/form-data; boundary*=utf-8\'\'x', `multipart/form-data; boundary=${'x'.repeat(5000)}`
  )
  await fc.assert(fc.asyncProperty(fc.array(piece, { maxLength: 16 }), contentTypes, async (pieces, type) => {
    const { statusCode } = await post('/api/message/', pieces.join(''), {
      as: 'alice', headers: { 'content-type': type }
    })
    if (![201, 400, 415].includes(statusCode)) throw new Error(String(statusCode))
    await new Promise(setImmediate)
  }), { numRuns: 1500, seed: 81 })
  t.ok((await rowsOf('message')).length >= 3)
})
