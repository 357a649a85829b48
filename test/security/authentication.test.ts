// @once: about headers and what hashing costs; logging in is in security/logins.test.ts
// @alone: compares times
// @long: compares times

import { hash, verify } from '@node-rs/argon2'
import type { FastifyInstance } from 'fastify'
import { connect, type AddressInfo } from 'node:net'
import { availableParallelism } from 'node:os'
import { test } from 'tap'
import { defineModel, foreignKey, hashPassword, userAuth, type Policy } from '../../lib/index.js'
import { reads } from '../../lib/policy/operations.js'
import { dummyHash, StoredHashes } from '../../lib/policy/stored-hashes.js'
import { basic, buildApp, Message, siteModels, User, type TestApp } from '../support/site.js'
import { attack, siteRows } from './security-helper.js'

const encoded = (text: string | Buffer) => Buffer.from(text as string).toString('base64')
const challenge = 'Basic realm="Login Required"'

/** What a careless policy may give or throw. */
const careless = [undefined, null, false, 0, '', 'yes', 1, true, {}, { statusCode: 200 }] as const
const ways = [
  (value: unknown) => async () => value, (value: unknown) => async () => { throw value },
  (value: unknown) => () => { throw value }
]

const carelessly = ways.flatMap((way) => careless.map((value) => ({ way, value })))

test('T-51: a policy that fails without a reason lets nobody in', async (t) => {
  const { app, rowsOf } = await buildApp(t, {
    rows: siteRows,
    register: (registry) => {
      for (const [index, { way, value }] of carelessly.entries()) {
        registry.register(Message, {
          path: `message${index}`,
          auth: { open: reads, permits: () => true, authenticator: () => way(value) } as unknown as Policy
        })
      }
    }
  })
  for (const [index, { way, value }] of carelessly.entries()) {
    const { statusCode } = await app.inject({ method: 'DELETE', url: `/api/message${index}/1/` })
    t.equal(statusCode, way === ways[0] ? 401 : 500, `${String(way)} ${String(value)}`)
    t.equal((await rowsOf('message')).length, 3)
  }
  const auth = { open: reads, permits: () => true, authenticator: () => async () => ({ id: 2, admin: false }) }
  const { delete: remove } = await attack(t, { register: (registry) => registry.register(Message, { auth }) })
  t.equal((await remove('/api/message/1/')).statusCode, 204)
})

test('T-51: whoever has neither a whole number nor a text for an id is nobody', async (t) => {
  for (const id of [undefined, null, Number.NaN, 1.5, '', 'x'.repeat(256), {}]) {
    const auth = {
      open: reads, permits: () => true, authenticator: () => async () => ({ id, admin: true })
    } as unknown as Policy
    const { post, put } = await attack(t, {
      register: (registry) => registry.register(Message, { auth, ownerField: 'user' })
    })
    t.equal((await post('/api/message/', { content: 'x' })).statusCode, 401, String(id))
    t.equal((await put('/api/message/1/', {})).statusCode, 401, String(id))
  }
})

test('T-51: a text is not the user whose number it reads like', async (t) => {
  const auth = { open: reads, permits: () => true, authenticator: () => async () => ({ id: '2', admin: true }) }
  const lines: string[] = []
  const Draft = defineModel('Draft', { user: foreignKey(() => User) })
  const { app, put, delete: remove } = await attack(t, {
    models: [...siteModels, Draft],
    rows: { ...siteRows, draft: [{ id: 1, user_id: 2 }] },
    register: (registry) => registry.register(Draft, { auth, ownerField: 'user' }),
    server: { logger: { level: 'warn', stream: { write: (line: string): void => { lines.push(line) } } } }
  })
  t.equal((await put('/api/draft/1/', {})).statusCode, 403)
  t.equal((await remove('/api/draft/1/')).statusCode, 403)
  const reason = "The policy gives a user whose id is no key of model 'User', to which the owner field 'user' " +
    'refers: the id is a string, and keys are of the type number'
  t.equal(lines.filter((line) => line.includes(reason)).length, 1, 'the log says why, once')
  t.equal((await app.inject({ method: 'POST', url: '/api/draft/', payload: {} })).statusCode, 500)
  t.equal(lines.filter((line) => line.includes(reason)).length, 2)
})

test('T-51: a policy that permits by a promise permits nothing, and the log says so once', async (t) => {
  for (const permits of [async () => true, async () => false, () => 'yes', () => undefined, () => false]) {
    const auth = { ...userAuth(User), permits } as unknown as Policy
    const lines: string[] = []
    const { put } = await attack(t, {
      register: (registry) => registry.register(Message, { auth }),
      server: { logger: { level: 'warn', stream: { write: (line: string): void => { lines.push(line) } } } }
    })
    for (let count = 0; count < 2; count++) {
      t.equal((await put('/api/message/1/', {}, { as: 'alice' })).statusCode, 403)
    }
    t.equal(lines.filter((line) => line.includes("'permits' of a policy must return true or false")).length,
      permits() === false ? 0 : 1)
  }
})

test('T-52: a check of passwords that gives or throws nonsense neither hangs nor ends the process', async (t) => {
  const { app, db } = await buildApp(t, {
    rows: siteRows,
    register: (registry) => {
      for (const [index, { way, value }] of carelessly.entries()) {
        registry.register(Message, {
          path: `message${index}`, auth: userAuth(User, { verify: way(value) as unknown as () => boolean })
        })
      }
    }
  })
  await db.updateTable('user').set({ password: 'plain' }).where('id', '=', 3).execute()
  for (const [index, { way, value }] of carelessly.entries()) {
    const { statusCode } = await app.inject({
      method: 'PUT', url: `/api/message${index}/2/`, payload: '{}', headers: { authorization: basic('bob', 'plain') }
    })
    t.equal(statusCode, way !== ways[0] ? 500 : value === true ? 200 : 401, `${String(way)} ${String(value)}`)
  }
})

test('T-52: a check that never ends is a 503 after five seconds, and others then have their turn', async (t) => {
  const { app, db } = await buildApp(t, {
    rows: siteRows,
    register: (registry) => {
      registry.register(Message, { auth: userAuth(User, { verify: async () => await new Promise<boolean>(() => {}) }) })
    }
  })
  await db.updateTable('user').set({ password: 'plain' }).where('username', '=', 'bob').execute()
  const start = performance.now()
  const login = async (name: string, password: string) => (await app.inject({
    method: 'PUT', url: '/api/message/1/', payload: '{}', headers: { authorization: basic(name, password) }
  })).statusCode
  const cores = availableParallelism()
  const hanging = Array.from({ length: cores }, async (_login, index) => await login('bob', `${index}`))
  t.equal(await login('alice', 'alice'), 200)
  t.ok(performance.now() - start > 4900)
  t.same(new Set(await Promise.all(hanging)), new Set([503]))
})

test('T-53: the challenge is the one that is specified', async (t) => {
  const { put, unchanged } = await attack(t)
  await unchanged(async () => {
    for (const options of [{}, { as: 'carol' }, { as: ['älice', 'pässword'] as const }]) {
      const { headers, body, statusCode } = await put('/api/message/1/', { content: 'a' }, options)
      t.equal(statusCode, 401)
      t.equal(headers['www-authenticate'], challenge)
      t.equal(headers['content-type'], 'text/html; charset=utf-8')
      t.equal(body, 'Authentication failed')
    }
  })
})

const malformed = [
  '', ' ', 'Basic', 'Basic ', 'Basic  ', 'Basic =', 'Basic ====', 'Basic !!!!', 'Basic ' + encoded('alice'),
  'Basic ' + encoded(''), 'Basic ' + encoded(':'), 'Basic ' + encoded('alice:'), 'Basic ' + encoded(':alice'),
  'Basic ' + encoded('alice\0:alice'), 'Basic ' + encoded('alice:alice\n'), 'Basic ' + encoded('\x7falice:alice'),
  'Basic ' + encoded(Buffer.from([0xff, 0xfe, 0x3a, 0xff])), 'Basic alice:alice', 'Bearer ' + encoded('alice:alice'),
  'Digest username="alice"', encoded('alice:alice'), 'Basic' + encoded('alice:alice'),
  'Basic ' + encoded('alice:alice') + ', ' + basic('admin'), 'Basic ' + encoded('alice:alice') + ' x', 'Negotiate x',
  'Basic ' + 'A'.repeat(9000), 'Basic ' + encoded('alice:' + 'x'.repeat(6000)), 'Basic ' + encoded('alice:alice:'),
  'undefined', 'null', '[object Object]'
]

test('T-54: malformed credentials are refused like wrong ones', async (t) => {
  const { app, unchanged, post, put } = await attack(t)
  const refusal = await put('/api/message/1/', {}, { as: ['alice', 'wrong'] })
  const routes = [
    ['POST', '/api/message/'], ['PUT', '/api/message/1/'], ['PATCH', '/api/message/1/'],
    ['DELETE', '/api/message/1/'], ['POST', '/api/user/'],
    ['DELETE', '/api/user/4/'], ['PUT', '/api/relationship/1/'], ['DELETE', '/api/note/1/']
  ] as const
  await unchanged(async () => {
    for (const [method, url] of routes) {
      for (const authorization of malformed) {
        const { statusCode, body, headers } = await app.inject({
          method, url, payload: { content: 'a' }, headers: { authorization }
        })
        t.equal(statusCode, 401, `${method} ${url} ${authorization.slice(0, 50)}`)
        t.equal(body, refusal.body)
        t.equal(headers['www-authenticate'], challenge)
      }
    }
  })
  t.equal((await post(
    '/api/message/', { content: 'a' }, { headers: { authorization: `basic ${encoded('alice:alice')}` } }
  )).statusCode, 201, 'the scheme in any case')
})

test('T-55: an unknown, an inactive and a hash-less user cost as much as a wrong password', async (t) => {
  const { put, db } = await attack(t, { realHashes: true })
  await db.updateTable('user').set({ password: 'plain' }).where('id', '=', 3).execute()
  const names = ['alice', 'nobody', 'carol', 'bob', '', 'x'.repeat(500)]
  const times = names.map(() => [] as number[])
  for (let round = 0; round < 9; round++) {
    for (const [index, username] of names.entries()) {
      const start = performance.now()
      t.equal((await put('/api/message/1/', {}, { as: [username, `wrong${round}`] })).statusCode, 401)
      times[index]?.push(performance.now() - start)
    }
  }
  const [known = 0, ...others] = times.map((taken) => taken.toSorted((a, b) => a - b)[4] ?? 0)
  for (const cost of others) t.ok(cost > known / 3 && cost < known * 3, `${cost} ms and ${known} ms`)
  t.equal((await put('/api/message/1/', {}, { as: 'alice' })).statusCode, 200)
})

test('T-55: the dummy hash has the parameters and lengths of a real one, and no password matches it', async (t) => {
  const form = (hash: string): string[] =>
    hash.split('$').map((part, index) => index < 4 ? part : `${part.length} characters`)
  t.same(form(dummyHash()), form(await hashPassword('alice')))
  t.not(dummyHash(), dummyHash(), 'nobody knows it')
  t.equal(await verify(dummyHash(), 'alice'), false, 'argon2 reads it, and compares')
})

test('T-55: a refusal costs as much as the costliest hash seen, whoever made the hash of the user', async (t) => {
  const hashes = new StoredHashes()
  const costly = await hash('alice', { memoryCost: 98304, timeCost: 3, parallelism: 2 })
  const kinds = [costly, await hashPassword('bob'), undefined, '$argon2id$v=19$m=19456,t=2,p=1$nonsense']
  t.equal(await hashes.match('alice', costly), true)
  t.equal(await hashes.match('bob', kinds[1]), true)
  const times = kinds.map(() => Infinity)
  for (let round = 0; round < 5; round++) {
    for (const [index, kind] of kinds.entries()) {
      const start = performance.now()
      t.equal(await hashes.match('wrong', kind), false)
      times[index] = Math.min(times[index] ?? 0, performance.now() - start)
    }
  }
  const [known = 0, ...others] = times
  // Without the work that is added, the others take an eighth of the time, or less.
  for (const taken of others) t.ok(taken > known / 2 && taken < known * 2, `${taken} ms and ${known} ms`)
})

test('T-55: one hash that costs more than the limit does not slow down the refusals of others', async (t) => {
  const hashes = new StoredHashes()
  const costly = await hash('alice', { memoryCost: 1024, timeCost: 2 ** 12 })
  t.equal(await hashes.match('wrong', costly), false)
  const before = process.cpuUsage()
  t.equal(await hashes.match('wrong', undefined), false)
  const { user, system } = process.cpuUsage(before)
  t.ok(user + system < 200_000, `${user + system} µs of processor time`)
})

test('T-57: guessing does not keep others from reading', async (t) => {
  const { put, get } = await attack(t, { realHashes: true })
  const guesses = Array.from({ length: 40 }, async (_, index) =>
    await put('/api/message/1/', {}, { as: ['alice', `guess${index}`] }))
  const latencies: number[] = []
  for (let index = 0; index < 20; index++) {
    const start = performance.now()
    t.equal((await get('/api/message/')).statusCode, 200)
    latencies.push(performance.now() - start)
  }
  t.ok(Math.max(...latencies) < 1000, `${Math.max(...latencies)} ms`)
  for (const { statusCode } of await Promise.all(guesses)) t.ok([401, 429].includes(statusCode))
  t.equal((await put('/api/message/1/', {}, { as: 'alice' })).statusCode, 200)
})

test('T-58: a long password is not hashed', async (t) => {
  const { put, post, get } = await attack(t, { realHashes: true })
  const longest = 'ü'.repeat(512)
  t.equal(
    (await post('/api/user/', { username: 'dora', password: longest, email: '' }, { as: 'admin' })).statusCode, 201
  )
  t.equal((await put('/api/message/1/', {}, { as: ['dora', longest] })).statusCode, 403, '1024 bytes are a password')
  t.equal(
    (await post('/api/user/', { username: 'eve', password: longest + 'x', email: '' }, { as: 'admin' })).statusCode,
    400
  )
  t.equal((await get('/api/user/?username=eve')).json().objects.length, 0)
  const cost = async (wrong: string) => {
    const start = performance.now()
    for (let index = 0; index < 20; index++) {
      t.equal((await put('/api/message/1/', {}, { as: ['dora', `${wrong}${index}`] })).statusCode, 401)
    }
    return performance.now() - start
  }
  const [long, short] = [await cost(longest), await cost('wrong')]
  t.ok(long < short / 2, `${long} ms and ${short} ms`)
  t.equal((await put('/api/message/1/', {}, { as: ['alice', 'x'.repeat(9000)] })).statusCode, 401)
})

test('T-62: of two Authorization headers the first counts', async (t) => {
  const site = await attack(t)
  const lines = (first: string, second: string) => [`Authorization: ${basic(first)}`, `Authorization: ${basic(second)}`]
  await listen(site)
  t.match(await raw(site.app, lines('wrong', 'alice')), /^HTTP\/1.1 401 /)
  t.match(await raw(site.app, lines('bob', 'alice')), /^HTTP\/1.1 403 /)
  t.match(await raw(site.app, lines('alice', 'wrong')), /^HTTP\/1.1 200 /)
})

async function listen ({ app }: TestApp): Promise<void> {
  await app.listen({ port: 0, host: '127.0.0.1' })
}

/** The answer to a request that is written to a socket as it stands. */
async function raw (app: FastifyInstance, headers: readonly string[]): Promise<string> {
  const { port } = app.server.address() as AddressInfo
  return await new Promise((resolve, reject) => {
    let answer = ''
    const socket = connect(port, '127.0.0.1', () => {
      socket.write([
        'PUT /api/message/1/ HTTP/1.1', 'Host: localhost', 'Connection: close', 'Content-Length: 2', ...headers, '',
        '{}'
      ].join('\r\n'))
    })
    socket.setEncoding('utf8').setTimeout(3000, () => socket.destroy(new Error('no answer')))
    socket.on('data', (chunk: string) => { answer += chunk }).on('end', () => resolve(answer)).on('error', reject)
  })
}
