// @once: on SQLite; npm run fuzz sends more, on any engine
// @alone: takes as long as a group, and listens for failures of its process
// @long: belongs to the fuzzers

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import fc from 'fast-check'
import { test } from 'tap'
import { batches } from './batch.js'
import { openFuzzed } from './database.js'
import { deliver } from './deliver.js'
import { faultOf } from './judges.js'
import { operationsOf } from './operations.js'
import { marker, openSite } from './site.js'
import { answersIn, bytesOf, exchange } from './socket.js'

const json = 'content-type: application/json; charset=utf-8'

test('an answer that shows a fault is found out', (t) => {
  const error = (statusCode: number, message: string) => JSON.stringify({ statusCode, error: 'Bad Request', message })
  t.equal(faultOf({ status: 200, head: json, body: '{"objects":[]}' }), undefined)
  t.equal(faultOf({ status: 400, head: json, body: error(400, "Unknown parameter 'select a from b'") }), undefined)
  t.equal(faultOf({ status: 404, head: json, body: error(404, 'Route GET:/select a from b not found') }), undefined)
  t.match(faultOf({ status: 503, head: json, body: error(503, 'Busy') }), /it is a 503/)
  t.match(faultOf({ status: 0, head: 'garbage', body: '' }), /no answer/)
  t.match(faultOf({ status: 400, head: json, body: error(401, 'x') }), /another form/)
  t.match(faultOf({ status: 400, head: json, body: '{}' }), /another form/)
  t.match(faultOf({ status: 409, head: json, body: error(409, 'UNIQUE: SQLITE_CONSTRAINT') }), /inside/)
  t.match(faultOf({ status: 200, head: json, body: `{"email":"a@${marker}"}` }), /it tells/)
  t.match(faultOf({ status: 200, head: `x: ${marker}`, body: '' }), /it tells/)
  const cursor = Buffer.from(JSON.stringify([marker])).toString('base64url')
  t.match(faultOf({ status: 200, head: json, body: `{"next":"/?after=${cursor}"}` }), /it tells/, 'in a cursor')
  t.end()
})

test('answers that come on one connection are told apart', (t) => {
  const first = 'HTTP/1.1 400 Bad Request\r\ncontent-length: 2\r\n\r\n{}'
  const head = 'HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\n'
  t.same(answersIn(`HTTP/1.1 100 Continue\r\n\r\n${first}${head}${first}`).map(({ status, body }) => [status, body]), [
    [400, '{}'], [200, ''], [400, '{}']
  ])
  t.same(answersIn('').length, 0)
  t.equal(answersIn('nonsense')[0]?.status, 0)
  t.end()
})

test('what is written to a connection is what was drawn, and what comes back is kept', async (t) => {
  const request = { method: 'POST', target: '/a?b=%', headers: [['x', 'y']] as const, body: Buffer.from('{}') }
  t.equal(
    String(bytesOf({ requests: [request], damages: [], cuts: [] })),
    'POST /a?b=% HTTP/1.1\r\nhost: localhost\r\nx: y\r\nconnection: close\r\ncontent-length: 2\r\n\r\n{}'
  )
  const server = createServer((_request, response) => { response.end('late') })
  await new Promise<void>((resolve) => { server.listen(0, '127.0.0.1', resolve) })
  t.teardown(() => server.close())
  const { port } = server.address() as AddressInfo
  t.match(await exchange(port, { requests: [request], damages: [], cuts: [0.3, 0.5] }), /^HTTP\/1\.1 200 OK[^]+late$/)
})

test('a seed draws the same requests each time', async (t) => {
  const site = await openSite(await openFuzzed('sqlite'))
  t.teardown(site.close)
  const operations = operationsOf(site.document)
  t.ok(operations.length >= 30)
  const drawn = () => JSON.stringify(fc.sample(batches(operations), { seed: 7, numRuns: 3 }))
  t.equal(drawn(), drawn())
  await site.reset()
  t.equal((await deliver(site.app, {
    injected: { method: 'GET', target: '/api/user/', headers: [], body: undefined }
  }))[0]?.status, 200)
  t.not(
    JSON.stringify(await site.rowsBeyond('alice')), JSON.stringify(await site.rowsBeyond('bob')),
    'each one has rows of their own'
  )
})
